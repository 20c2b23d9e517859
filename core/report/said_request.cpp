#include "core/report/said_request.h"

#include <algorithm>

#include "core/diagnosis/cards_said.h"
#include "core/diagnosis/facts_said.h"
#include "core/diagnosis/prose.h"
#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"
#include "core/run/model_names.h"

namespace plimsoll::report {

namespace {

using ascii::is_digit;
using ascii::is_lower;
using diagnosis::says_any;

// Who asks is brief, and what stands in a log is no question.
constexpr std::size_t longest_said = 32U << 10U, most_cards = 4;

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

// A number at `at`, "8,192" and "64k" included; 0: none.
double number_at(std::string_view text, std::size_t at) {
  double value = 0;
  std::size_t end = at;
  for (; end < text.size() && end < at + 9; ++end) {
    const bool group = text[end] == ',' && end > at && end + 3 < text.size() && is_digit(text[end + 1]) &&
                       is_digit(text[end + 2]) && is_digit(text[end + 3]);
    if (group) continue;
    if (!is_digit(text[end])) break;
    value = value * 10 + (text[end] - '0');
  }
  return end < text.size() && text[end] == 'k' ? value * 1024 : value;
}

// The number before one of `names`: "2048 tokens", "64k context".
double number_before(std::string_view folded, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (std::size_t at = folded.find(name); at != std::string_view::npos; at = folded.find(name, at + 1)) {
      std::size_t end = at;
      while (end > 0 && (folded[end - 1] == ' ' || folded[end - 1] == '-')) --end;
      if (end > 0 && folded[end - 1] == 'k') --end;
      std::size_t begin = end;
      while (begin > 0 && (is_digit(folded[begin - 1]) || folded[begin - 1] == ',')) --begin;
      const bool part = begin > 0 && (is_lower(folded[begin - 1]) || folded[begin - 1] == '.');
      if (begin < end && !part) return number_at(folded, begin);
    }
  }
  return 0;
}

// "QLoRA of an 8B on a 4090 at 4k", but no "photos at 4k resolution".
double length_behind_at(std::string_view folded) {
  for (std::size_t at = folded.find(" at "); at != std::string_view::npos; at = folded.find(" at ", at + 1)) {
    std::size_t end = at + 4;
    while (end < folded.size() && is_digit(folded[end])) ++end;
    const bool thousands = end > at + 4 && folded.substr(end, 1) == "k";
    const std::string_view behind = folded.substr(std::min(end + 1, folded.size()), 5);
    const bool other = !behind.empty() && ascii::is_word(behind.front());
    if (thousands && !other && behind != " reso") return number_at(folded, at + 4);
  }
  return 0;
}

// The variant that stands behind a board's number: "3060 Ti", "4080 super", "4070 ti super".
std::string_view variant_of(const hardware::Gpu& gpu) {
  for (const std::string_view one : {"-ti-super", "-ti", "-super", "-ada", "-laptop", "-maxq"}) {
    if (gpu.id.find(one) != std::string::npos) return one.substr(1);
  }
  return "";
}

// Whether the words behind a board's name are those of this variant and of no other.
bool is_variant(const hardware::Gpu& gpu, std::string_view folded) {
  const std::string_view wanted = variant_of(gpu);
  const std::size_t digit = gpu.id.find_first_of("0123456789");
  const std::string number =
      digit == std::string::npos ? "" : gpu.id.substr(digit, gpu.id.find('-', digit) - digit);
  if (wanted == "ada" || wanted == "laptop" || wanted == "maxq")
    return folded.find(wanted) != std::string_view::npos;
  const auto behind = [&](std::string_view variant) {
    const std::string spaced = number + " " + std::string(variant), joined = number + std::string(variant);
    return folded.find(spaced) != std::string_view::npos || folded.find(joined) != std::string_view::npos;
  };
  const bool both = behind("ti super"), ti = behind("ti"), super = behind("super");
  if (wanted == "ti-super") return both;
  if (wanted == "ti") return ti && !both;
  if (wanted == "super") return super && !both;
  return !ti && !super;
}

bool says_size(const hardware::Gpu& gpu, std::string_view folded) {
  const std::string size = std::to_string(gpu.tier_gib);
  return says_any(folded, {size + "g", size + " g"});
}

// The card that a clause names; of several sizes the one that is said, of several sockets the usual one.
const hardware::Gpu* card_in(std::string_view folded, const run::Catalog& catalog) {
  std::vector<const hardware::Gpu*> named;
  for (const hardware::Gpu& gpu : catalog.gpus) {
    const bool counts = gpu.vendor != "Apple" && gpu.segment != "slice" && gpu.usable_bytes > 0;
    // "6000" alone may be a number of tokens.
    const bool round = gpu.id.find("000") != std::string::npos && !says_any(folded, {"rtx", "ada", "quadro"});
    if (counts && !round && diagnosis::is_named(gpu, folded) && is_variant(gpu, folded))
      named.push_back(&gpu);
  }
  const bool sized = std::any_of(named.begin(), named.end(),
                                 [&](const hardware::Gpu* gpu) { return says_size(*gpu, folded); });
  if (sized) std::erase_if(named, [&](const hardware::Gpu* gpu) { return !says_size(*gpu, folded); });
  if (named.empty()) return nullptr;
  const auto usual = [](const hardware::Gpu* gpu) { return gpu->id.find("sxm") != std::string::npos; };
  const auto first = std::find_if(named.begin(), named.end(), usual);
  const hardware::Gpu* chosen = first == named.end() ? named.front() : *first;
  // "A100", and nobody says of how many gigabytes.
  const bool open = std::any_of(named.begin(), named.end(), [&](const hardware::Gpu* gpu) {
    const uint64_t less = std::min(gpu->tier_gib, chosen->tier_gib);
    return gpu->id.substr(0, 4) == chosen->id.substr(0, 4) &&
           3 * less < 2 * std::max(gpu->tier_gib, chosen->tier_gib);
  });
  return open && !sized ? nullptr : chosen;
}

bool is_one(std::string_view folded) {
  return says_any(folded,
                  {"single", "one ", " 1x ", "1 x ", "单张", "单卡", "一张", "eine ", "einer ", "einem "});
}

void read_cards(const diagnosis::Text& text, const run::Catalog& catalog, SaidRequest& out) {
  std::string_view rest = text.folded_lines;
  rest = rest.substr(0, longest_said);
  constexpr std::string_view between[] = {" or ", " vs ", " vs. ", " oder ", "还是"};
  while (!rest.empty() && out.cards.size() < most_cards) {
    std::size_t end = rest.size(), next = rest.size();
    for (const std::string_view word : between) {
      const std::size_t at = rest.find(word);
      if (at < end) {
        end = at;
        next = at + word.size();
      }
    }
    const std::string_view clause = rest.substr(0, end);
    rest.remove_prefix(next);
    const hardware::Gpu* gpu = card_in(clause, catalog);
    if (gpu == nullptr) continue;
    const bool known = std::any_of(out.cards.begin(), out.cards.end(),
                                   [gpu](const SaidCards& one) { return one.gpu == gpu; });
    const double count = diagnosis::cards_in_words(diagnosis::clean(clause)).value_or(is_one(clause) ? 1 : 0);
    if (!known) out.cards.push_back({gpu, count});
  }
  if (out.cards.size() != 1) return;
  out.values["/hardware/gpu"] = out.cards.front().gpu->id;
  if (out.cards.front().count == 0) {
    out.cards.front().count = diagnosis::cards_in_words(text).value_or(is_one(text.folded_lines) ? 1 : 0);
  }
  if (out.cards.front().count > 0)
    out.values["/parallel/num_gpus"] = static_cast<uint64_t>(out.cards.front().count);
}

void read_method(std::string_view folded, SaidRequest& out) {
  const bool qlora = says_any(folded, {"qlora"});
  const std::size_t four = std::min(folded.find("4-bit"), std::min(folded.find("4bit"), folded.find("nf4")));
  const std::size_t eight =
      std::min(folded.find("8-bit"), std::min(folded.find("8bit"), folded.find("int8")));
  const bool optimizer = says_any(folded, {"8-bit adam", "8bit adam", "adamw_8bit", "8-bit optim", "adam 8"});
  if (qlora || four < eight) {
    out.values["/quantization/load_in_4bit"] = true;
  } else if (eight < four && !optimizer) {
    out.values["/quantization/load_in_8bit"] = true;
  }
  const bool adapters = qlora || diagnosis::says_unless_denied(folded, {"lora"});
  const bool full = diagnosis::read_prose(folded).says(diagnosis::Say::full) != nullptr;
  if (adapters) out.values["/peft"] = true;
  out.method = adapters || full;
}

void read_task(std::string_view folded, SaidRequest& out) {
  for (const std::string_view task : {"grpo", "dpo", "orpo", "kto", "ppo"}) {
    if (diagnosis::is_the_subject(folded, task) ||
        says_any(folded.substr(0, 80), {std::string(task) + " "})) {
      out.values["/task"] = std::string(task);
      break;
    }
  }
  if (const double n = number_before(folded, {"generations", "completions per", "rollouts per"}); n >= 2)
    out.values["/rl/num_generations"] = static_cast<uint64_t>(n);
  if (out.values.count("/task") != 0 && says_any(folded, {"vllm"})) out.values["/rl/use_vllm"] = true;
}

// One way of sharing; where two are weighed, none is said.
void read_strategy(std::string_view folded, SaidRequest& out) {
  std::string found;
  const auto say = [&](bool said, const char* strategy) {
    if (said) found = found.empty() ? strategy : "several";
  };
  say(says_any(folded, {"zero-3", "zero3", "zero 3", "stage 3", "stage3"}), "zero3");
  say(says_any(folded, {"zero-2", "zero2", "zero 2", "stage 2", "stage2"}), "zero2");
  say(says_any(folded, {"zero-1", "zero1", "zero 1"}), "zero1");
  say(says_any(folded, {"fsdp"}), "fsdp");
  say(diagnosis::says_unless_denied(folded, {"ddp"}), "ddp");
  if (!found.empty() && found != "several") out.values["/parallel/strategy"] = found;
}

void read_sizes(std::string_view folded, SaidRequest& out) {
  double length = number_before(folded, {"tokens", "token", "context", "ctx", "seq", "上下文"});
  if (length < 16)  // of "ZeRO-3, sequence length 2048" the 3 is none
    length = diagnosis::setting_in_words(
                 folded, {"max_length", "max length", "max_seq_length", "cutoff_len", "sequence length",
                          "seq_len", "context length", "context", "length", "l\xC3\xA4nge", "长度"})
                 .value_or(0);
  if (length < 16) length = length_behind_at(folded);
  if (length >= 16) out.values["/training/max_length"] = static_cast<uint64_t>(length);
  const auto batch =
      diagnosis::setting_in_words(folded, {"per_device_train_batch_size", "micro-batch", "micro batch",
                                           "batch size", "batch_size", "batchsize", "batch", "bs=", "bs ="});
  // "Works with batch 1, but with batch 8 ...": of two none is said to be the run's.
  const std::size_t first = folded.find("batch");
  const std::string_view behind =
      first == std::string_view::npos ? std::string_view() : folded.substr(first + 5);
  const double other = diagnosis::setting_in_words(behind, {"batch size", "batch"}).value_or(0);
  if (batch && *batch < 4096 && (other == 0 || other == *batch))
    out.values["/training/per_device_train_batch_size"] = static_cast<uint64_t>(*batch);
  const std::initializer_list<std::string_view> checkpointing = {"gradient checkpointing",
                                                                 "gradient_checkpointing"};
  if (says_any(folded, checkpointing))
    out.values["/training/gradient_checkpointing"] = diagnosis::says_unless_denied(folded, checkpointing);
}

void name_the_unknown(SaidRequest& out) {
  const auto miss = [&](const char* pointer, const char* what) {
    if (out.values.count(pointer) == 0) out.unknown.push_back({pointer, what});
  };
  if (!out.method) out.unknown.push_back({"/peft", "whether adapters or all weights are trained"});
  if (out.cards.size() < 2) miss("/hardware/gpu", "the card (and of an A100 or V100 its size)");
  if (out.cards.size() < 2) miss("/parallel/num_gpus", "how many cards");
  miss("/training/max_length", "the length of a sample in tokens");
  miss("/training/per_device_train_batch_size", "the micro-batch");
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
  // "Llama 3.1 8B": words that end in a size.
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!is_parameter_count(words[i])) continue;
    for (std::size_t first = i + 1 > most_joined ? i + 1 - most_joined : 0; first < i; ++first) {
      std::string joined;
      for (std::size_t k = first; k <= i; ++k) joined += (joined.empty() ? "" : "-") + std::string(words[k]);
      if (joined.size() <= longest && !is_digit(joined.front()) && catalog.find_model(joined) != nullptr)
        return joined;
    }
  }
  return "";
}

bool asks(std::string_view folded) {
  for (const std::string_view mark : {"?", "？", "吗", "how much", "will it fit", "is it possible"}) {
    for (std::size_t at = folded.find(mark); at != std::string_view::npos;
         at = folded.find(mark, at + mark.size())) {
      const std::string_view said = diagnosis::sentence_around(folded, at, mark.size(), 160);
      const auto blanks = std::count(said.begin(), said.end(), ' ');
      const bool chinese = static_cast<unsigned char>(mark.front()) > 127;
      if (!says_any(said, {"://", "=", "#", "{"}) && (chinese || blanks >= 2)) return true;
    }
  }
  return false;
}

json::Json SaidRequest::request() const {
  json::Json out = exchange::nest(values);
  if (!model.empty()) out["model"] = model;
  return out;
}

SaidRequest said_request(const diagnosis::Text& text, const run::Catalog& catalog) {
  SaidRequest out;
  const std::string_view folded = std::string_view(text.folded_lines).substr(0, longest_said);
  out.model = model_in(text.lines, catalog);
  read_cards(text, catalog, out);
  read_method(folded, out);
  read_task(folded, out);
  read_strategy(folded, out);
  read_sizes(folded, out);
  name_the_unknown(out);
  return out;
}

}  // namespace plimsoll::report
