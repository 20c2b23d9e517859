#include "core/question/said_switches.h"

#include <algorithm>

#include "core/question/said_languages.h"

namespace plimsoll::question {

namespace {

struct Words {
  std::string_view phrase;
  std::string_view pointer;
  json::Json value;
  bool brief = false;    ///< an abbreviation, which means something else in a program
  bool package = false;  ///< which may not be there
};

// Settings that their own name says.
const std::vector<Words>& switches() {
  static const std::vector<Words> rows = [] {
    std::vector<Words> out = {
        {"packing", "/training/packing", true},
        {.phrase = "unsloth", .pointer = "/stack", .value = "unsloth", .package = true},
        {.phrase = "liger", .pointer = "/training/use_liger_kernel", .value = true, .package = true},
        {"gc", "/training/gradient_checkpointing", true, true},
    };
    for (const std::string_view phrase : {"flash attention", "flash attn", "fa2", "flash attention 2"}) {
      out.push_back({.phrase = phrase,
                     .pointer = "/model_args/attn_implementation",
                     .value = "flash_attention_2",
                     .package = true});
    }
    for (const SaidPhrase& one : phrases_of(Means::checkpointing))
      out.push_back({one.phrase, "/training/gradient_checkpointing", true});
    return out;
  }();
  return rows;
}

}  // namespace

void lock(std::string_view pointer, SaidRequest& out) {
  json::Json& locks = out.values["/locks"];
  if (!locks.is_array()) locks = json::Json::array();
  std::string dotted(pointer.substr(1));
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  if (std::find(locks.begin(), locks.end(), json::Json(dotted)) == locks.end()) locks.push_back(dotted);
}

bool asks_what_it_brings(const SaidWords& words) { return is_brief(words) && says(words, Means::brings); }

namespace {

// No plan changes what cannot be had.
void rule_out(const Words& row, SaidRequest& out) {
  if (row.value == json::Json(true)) out.values[std::string(row.pointer)] = false;
  lock(row.pointer, out);
}

}  // namespace

void read_switches(const SaidWords& words, SaidRequest& out) {
  for (const Words& row : switches()) {
    const auto& [phrase, pointer, value, brief, package] = row;
    const bool program = !is_brief(words) || says(words, "gc collect");
    if ((brief && program) || !says(words, phrase)) continue;
    const bool attention = pointer == "/model_args/attn_implementation";
    if (rules_out(words, phrase, package)) {
      rule_out(row, out);
    } else if (affirms(words, phrase) && asks_what_it_brings(words) &&
               (attention || value == json::Json(true))) {
      out.weighed[std::string(pointer)] = {value, attention ? json::Json("sdpa") : json::Json(false)};
    } else if (affirms(words, phrase)) {
      out.values[std::string(pointer)] = value;
    } else if (value == json::Json(true)) {
      out.values[std::string(pointer)] = false;
    }
  }
}

}  // namespace plimsoll::question
