#include "core/question/said_log.h"

#include <algorithm>

#include "core/json/rounding.h"

namespace plimsoll::question {

namespace {

// The number behind a name of a log; 0: it is not printed.
double printed(const SaidWords& words, std::string_view name) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::size_t count = phrase_at(words, at, name);
    const std::size_t number = at + count;
    if (count > 0 && number < words.size() && words[number].is_bare() && !words[number - 1].ends)
      return words[number].number;
  }
  return 0;
}

bool prints_true(const SaidWords& words, std::string_view name) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::size_t value = at + phrase_at(words, at, name);
    if (value > at && value < words.size() && words[value].text == "true") return true;
  }
  return false;
}

// "Number of trainable parameters = 41,943,040", PEFT's "trainable params: 41,943,040 || all params: ...": far fewer
// than the model has are adapters.
void read_trainable(const SaidWords& words, const run::Catalog& catalog, SaidRequest& out) {
  const double trained = std::max(printed(words, "trainable parameters"), printed(words, "trainable params"));
  const run::ModelEntry* entry = out.model.empty() ? nullptr : catalog.find_model(out.model);
  if (trained == 0 || out.method || entry == nullptr) return;
  const bool adapters = trained < 0.5 * static_cast<double>(entry->preset.parameters);
  out.method = true;
  out.methods.push_back(adapters ? Method::lora : Method::full);
  if (adapters) out.values["/peft"] = true;
}

}  // namespace

void read_log(const SaidWords& words, const run::Catalog& catalog, SaidRequest& out) {
  read_trainable(words, catalog, out);
  for (const char* type : {"bf16", "fp16"}) {
    const bool on = prints_true(words, std::string(type) + " enabled") ||
                    (std::string_view(type) == "bf16" && prints_true(words, "bfloat16 enabled"));
    if (on) out.values.emplace("/training/" + std::string(type), true);
  }
  const double stage = printed(words, "zero optimization stage");
  if (stage >= 1 && stage <= 3)
    out.values.emplace("/parallel/strategy", "zero" + std::to_string(json::count_of(stage)));
  const double cards = printed(words, "world size");
  if (cards >= 1 && cards <= 1024) out.values.emplace("/parallel/num_gpus", json::count_of(cards));
}

}  // namespace plimsoll::question
