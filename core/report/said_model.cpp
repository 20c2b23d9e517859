// Which model a text names.
#include <string>
#include <string_view>
#include <vector>

#include "core/json/ascii.h"
#include "core/report/said_request.h"

namespace plimsoll::report {

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

}  // namespace

std::string model_in(std::string_view text, const run::Catalog& catalog) {
  constexpr std::size_t most_bytes = 200000, longest = 100, most_words = 20000, most_joined = 4;
  const std::vector<std::string_view> words = words_of(text.substr(0, most_bytes), most_words);
  for (const std::string_view word : words) {
    const bool digit = word.find_first_of("0123456789") != std::string_view::npos;
    const bool hyphen = word.find('-') != std::string_view::npos;
    if (digit && hyphen && word.size() <= longest && catalog.find_model(word) != nullptr)
      return std::string(word);
  }
  // "Llama 3.1 8B", "qwen 2.5 7b": words that end in a size, the release with or without a hyphen before it.
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!is_parameter_count(words[i])) continue;
    for (std::size_t first = i + 1 > most_joined ? i + 1 - most_joined : 0; first < i; ++first) {
      for (const char* second : {"-", ""}) {
        std::string joined(words[first]);
        for (std::size_t k = first + 1; k <= i; ++k)
          joined += (k == first + 1 ? second : "-") + std::string(words[k]);
        if (joined.size() <= longest && !is_digit(joined.front()) && catalog.find_model(joined) != nullptr)
          return joined;
      }
    }
  }
  return "";
}

}  // namespace plimsoll::report
