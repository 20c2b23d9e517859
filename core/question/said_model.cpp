// Which model a text names.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/facts.h"
#include "core/json/ascii.h"
#include "core/model/not_replayed.h"
#include "core/question/said_cards.h"
#include "core/question/said_request.h"
#include "core/question/said_words.h"
#include "core/run/model_names.h"

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

// "Whisper large v3", "SmolVLM": a whole name, of which others are longer. A short word alone may be any word.
std::string whole(const std::vector<std::string_view>& words, const run::Catalog& catalog) {
  constexpr std::size_t shortest_alone = 7;
  if (!is_brief(words)) return "";
  for (std::size_t count = most_joined; count > 0; --count) {
    for (std::size_t first = 0; first + count <= words.size(); ++first) {
      const std::string name = joined(words, first, first + count, "-");
      const bool digit = name.find_first_of("0123456789") != std::string::npos;
      const bool own = count > 1 ? digit : name.size() >= shortest_alone;
      if (own && name.size() <= longest_name && catalog.find_model(name) != nullptr) return name;
    }
  }
  return "";
}

// "Llama3-8B": a spelling of one's own, with a size in it.
std::string spelled(const std::vector<std::string_view>& words, const run::Catalog& catalog) {
  if (!is_brief(words)) return "";
  for (const std::string_view word : words) {
    const std::size_t hyphen = word.rfind('-');
    const bool sized = hyphen != std::string_view::npos && word.size() <= longest_name &&
                       word.find_first_of("bB", word.find_first_of("0123456789")) != std::string_view::npos;
    if (!sized || !ascii::is_letter(word.front())) continue;
    if (const run::NamedModel named = run::find_by_name(catalog, word); named.entry != nullptr)
      return named.entry->preset.hf_id;
  }
  for (std::size_t i = 1; i < words.size(); ++i) {  // "llama3 8b"
    if (!is_parameter_count(words[i]) || !ascii::is_letter(words[i - 1].front())) continue;
    if (words[i - 1].find_first_of("0123456789") == std::string_view::npos) continue;
    const run::NamedModel named = run::find_by_name(catalog, joined(words, i - 1, i + 1, "-"));
    if (named.entry != nullptr) return named.entry->preset.hf_id;
  }
  return "";
}

// "the 14B Qwen2.5", "8B的InternVL2.5": the size stands first.
std::string turned(const std::vector<std::string_view>& words, const run::Catalog& catalog) {
  constexpr std::size_t most_behind = 2;
  if (!is_brief(words)) return "";
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!is_parameter_count(words[i]) || !ascii::is_letter(words[i + 1].front())) continue;
    for (std::size_t end = std::min(i + 1 + most_behind, words.size()); end > i + 1; --end) {
      const std::string name = joined(words, i + 1, end, "-") + "-" + std::string(words[i]);
      if (name.size() > longest_name) continue;
      if (catalog.find_model(name) != nullptr) return name;
      if (name.find_first_of("0123456789") >= name.size() - words[i].size()) continue;
      if (const run::NamedModel named = run::find_by_name(catalog, name); named.entry != nullptr)
        return named.entry->preset.hf_id;
    }
  }
  return "";
}

// "Nemotron-Nano-9B-v2"
bool holds_a_size(std::string_view word) {
  if (word.size() > longest_name || !ascii::is_letter(word.front())) return false;
  for (std::size_t at = word.find('-'); at != std::string_view::npos; at = word.find('-', at + 1)) {
    const std::string_view part = word.substr(at + 1, word.find('-', at + 1) - at - 1);
    if (is_parameter_count(part)) return true;
  }
  return false;
}

// Whether models are called so: "nemotron" of "nvidia-nemotron-3-nano".
bool is_of_a_name(std::string_view word, const run::Catalog& catalog) {
  const std::string small = ascii::lower(word);
  if (small.size() < 3 || !ascii::is_letter(small.front())) return false;
  return std::any_of(catalog.names.begin(), catalog.names.end(), [&](const auto& name) {
    const std::size_t at = name.first.find(small);
    return at != std::string::npos && (at == 0 || !ascii::is_letter(name.first[at - 1]));
  });
}

// "mistral nemo", "llama 4 scout", "tinyllama": how the names of one model begin, and of no other.
std::string begun(const std::vector<std::string_view>& words, const run::Catalog& catalog) {
  constexpr std::size_t shortest = 5;
  if (!is_brief(words)) return "";
  for (std::size_t count = most_joined; count > 0; --count) {
    for (std::size_t first = 0; first + count <= words.size(); ++first) {
      const std::string begin = ascii::lower(joined(words, first, first + count, "-")) + "-";
      if (begin.size() < shortest) continue;
      // Of several that begin so, the one that is meant where no size is said: "Mixtral" is the 8x7B.
      const double meant = diagnosis::parameters_in_name(begin.substr(0, begin.size() - 1));
      const run::ModelEntry *found = nullptr, *usual = nullptr;
      bool several = false;
      double least = 0.02;  // "BERT" is the uncased one of 110 million
      for (auto name = catalog.names.lower_bound(begin);
           name != catalog.names.end() && name->first.compare(0, begin.size(), begin) == 0; ++name) {
        const run::ModelEntry* one = &catalog.models[name->second];
        several = several || (found != nullptr && found != one);
        found = one;
        const double size = static_cast<double>(one->preset.parameters);
        const double apart = meant > 0 ? std::abs(size / meant - 1) : 1;
        if (apart >= least) continue;
        least = apart;
        usual = one;
      }
      if (several && usual != nullptr) return usual->preset.hf_id;
      const bool long_enough = begin.size() > shortest;  // "open", "seed" are words too
      if (found != nullptr && !several && long_enough) return found->preset.hf_id;
    }
  }
  return "";
}

}  // namespace

// "https://huggingface.co/Qwen/Qwen3-14B": owner and name of a model's own page.
std::string linked_model(std::string_view text) {
  for (const std::string_view host : {"huggingface.co/", "hf.co/", "modelscope.cn/models/"}) {
    for (std::size_t at = text.find(host); at != std::string_view::npos; at = text.find(host, at + 1)) {
      const std::vector<std::string_view> words =
          words_of(text.substr(at + host.size(), 2 * longest_name), 1);
      if (words.empty() || !is_name(text[at + host.size()])) continue;
      const std::size_t slash = words[0].find('/');
      const std::string_view owner = words[0].substr(0, slash);
      constexpr std::string_view pages[] = {"docs",        "spaces", "datasets", "blog",   "papers",
                                            "collections", "learn",  "posts",    "models", "spaces"};
      if (slash == std::string_view::npos ||
          std::find(std::begin(pages), std::end(pages), owner) != std::end(pages))
        continue;
      const std::size_t end = std::min(words[0].find('/', slash + 1), words[0].size());
      if (end > slash + 1) return std::string(words[0].substr(0, end));
    }
  }
  return "";
}

std::string model_in(std::string_view text, const run::Catalog& catalog) {
  if (std::string linked = linked_model(text); run::find_by_name(catalog, linked).entry != nullptr)
    return linked;
  constexpr std::size_t most_bytes = 200000, most_words = 20000;
  const std::vector<std::string_view> words = words_of(text.substr(0, most_bytes), most_words);
  for (const std::string_view word : words) {
    const bool hyphen = word.find('-') != std::string_view::npos;
    if (hyphen && word.size() <= longest_name && catalog.find_model(word) != nullptr)
      return std::string(word);
  }
  for (const auto find : {with_size, whole, spelled, turned, begun}) {
    if (std::string name = find(words, catalog); !name.empty()) return name;
  }
  return "";
}

namespace {

// "bge-huge", "clip-vit-base": as the names of models begin, of those that are replayed or not.
bool begins_like_a_model(std::string_view word, const run::Catalog& catalog) {
  if (!model::not_replayed_by_name(word).empty()) return true;
  constexpr std::size_t shortest = 4;
  const std::string stem = ascii::lower(word.substr(0, word.find('-') + 1));
  if (stem.size() < shortest || stem == "all-" || stem == "multi-") return false;  // all-linear, multi-GPU
  const auto name = catalog.names.lower_bound(stem);
  return name != catalog.names.end() && name->first.starts_with(stem);
}

// "Can I fine-tune bge-m3": what is trained, with a name like a model's and no size in it.
std::string object_in(const std::vector<std::string_view>& words, const run::Catalog& catalog) {
  constexpr std::string_view before[] = {"fine-tune", "finetune", "fine-tuning", "finetuning",
                                         "tune",      "tuning",   "train",       "training",
                                         "of",        "lora",     "qlora"};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string verb = ascii::lower(words[i - 1]);
    const bool trained = std::find(std::begin(before), std::end(before), verb) != std::end(before);
    const bool named = ascii::is_letter(words[i].front()) && words[i].find('-') != std::string_view::npos &&
                       (words[i].find_first_of("0123456789") != std::string_view::npos ||
                        begins_like_a_model(words[i], catalog));
    const std::string small = ascii::lower(words[i]);
    const bool setting =
        small.starts_with("zero-") || small.starts_with("fsdp") || small.starts_with("flash");
    if (trained && named && !setting && cards_called(words[i], catalog).empty()) return std::string(words[i]);
  }
  return "";
}

}  // namespace

std::string unknown_model_in(std::string_view text, const run::Catalog& catalog) {
  constexpr std::size_t most_before = 3;
  const std::vector<std::string_view> words = words_of(text, most_asking_words + 1);
  if (!is_brief(words)) return "";
  if (std::string linked = linked_model(text); !linked.empty()) return linked;
  const auto names = [&](std::string_view word) {
    const std::string small = ascii::lower(word);
    constexpr std::string_view methods[] = {"lora", "qlora", "instruct", "chat", "base",
                                            "the",  "and",   "for",      "pro"};
    return std::find(std::begin(methods), std::end(methods), small) == std::end(methods) &&
           is_of_a_name(word, catalog);
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (holds_a_size(words[i])) return std::string(words[i]);
    if (i == 0 || !is_parameter_count(words[i])) continue;
    std::size_t first = i;
    while (first > 0 && i - first < most_before &&
           (names(words[first - 1]) || is_digit(words[first - 1].front())))
      --first;
    while (first < i && is_digit(words[first].front())) ++first;
    if (first < i) {
      std::string name(words[first]);
      for (std::size_t k = first + 1; k <= i; ++k) name += " " + std::string(words[k]);
      return name;
    }
  }
  return object_in(words, catalog);
}

}  // namespace plimsoll::question
