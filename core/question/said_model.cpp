// Which model a text names.
#include <string>
#include <string_view>
#include <vector>

#include "core/json/ascii.h"
#include "core/question/said_request.h"

namespace plimsoll::question {

namespace {

using ascii::is_digit;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_' ||
         c == '.' || c == '/';
}

// "7b", "1.5B", "8x7B"
bool is_parameter_count(std::string_view word) {
  if (word.size() < 2 || (word.back() != 'b' && word.back() != 'B') || !is_digit(word.front())) return false;
  word.remove_suffix(1);
  return word.find_first_not_of("0123456789.xX") == std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size() && out.size() < most;) {
    if (!is_name(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    std::string_view word = text.substr(at, end - at);
    at = end;
    while (!word.empty() && (word.back() == '.' || word.back() == '/')) word.remove_suffix(1);
    if (!word.empty()) out.push_back(word);
  }
  return out;
}

constexpr std::size_t longest_name = 100, most_joined = 4;

// "llama", "3.1", "8b" from `first` up to `end`; the release with or without a hyphen before it.
std::string joined(const std::vector<std::string_view>& words, std::size_t first, std::size_t end,
                   std::string_view before_release) {
  std::string out(words[first]);
  for (std::size_t k = first + 1; k < end; ++k) {
    out += k == first + 1 ? before_release : std::string_view("-");
    out += words[k];
  }
  return out;
}

// "Llama 3.1 8B", "qwen 2.5 7b", "Qwen3 30B A3B": words that end in a size, or in one word behind it.
std::string with_size(const std::vector<std::string_view>& words, const run::Catalog& catalog) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!is_parameter_count(words[i])) continue;
    const bool active = i + 1 < words.size() &&
                        (words[i + 1].front() == 'a' || words[i + 1].front() == 'A') &&
                        is_parameter_count(words[i + 1].substr(1));
    for (std::size_t end = active ? i + 2 : i + 1; end > i; --end) {
      for (std::size_t first = end > most_joined ? end - most_joined : 0; first < i; ++first) {
        for (const char* release : {"-", ""}) {
          const std::string name = joined(words, first, end, release);
          if (name.size() <= longest_name && !is_digit(name.front()) && catalog.find_model(name) != nullptr)
            return name;
        }
      }
    }
  }
  return "";
}

// "mistral nemo", "llama 4 scout", "tinyllama": how the names of one model begin, and of no other.
std::string begun(const std::vector<std::string_view>& words, const run::Catalog& catalog) {
  constexpr std::size_t most_words = 60, shortest = 5;
  if (words.size() > most_words) return "";
  for (std::size_t count = most_joined; count > 0; --count) {
    for (std::size_t first = 0; first + count <= words.size(); ++first) {
      const std::string begin = ascii::lower(joined(words, first, first + count, "-")) + "-";
      if (begin.size() <= shortest) continue;
      const run::ModelEntry* found = nullptr;
      bool several = false;
      for (auto name = catalog.names.lower_bound(begin);
           name != catalog.names.end() && name->first.compare(0, begin.size(), begin) == 0; ++name) {
        const run::ModelEntry* one = &catalog.models[name->second];
        several = several || (found != nullptr && found != one);
        found = one;
      }
      if (found != nullptr && !several) return found->preset.hf_id;
    }
  }
  return "";
}

}  // namespace

std::string model_in(std::string_view text, const run::Catalog& catalog) {
  constexpr std::size_t most_bytes = 200000, most_words = 20000;
  const std::vector<std::string_view> words = words_of(text.substr(0, most_bytes), most_words);
  for (const std::string_view word : words) {
    const bool digit = word.find_first_of("0123456789") != std::string_view::npos;
    const bool hyphen = word.find('-') != std::string_view::npos;
    if (digit && hyphen && word.size() <= longest_name && catalog.find_model(word) != nullptr)
      return std::string(word);
  }
  const std::string sized = with_size(words, catalog);
  return sized.empty() ? begun(words, catalog) : sized;
}

}  // namespace plimsoll::question
