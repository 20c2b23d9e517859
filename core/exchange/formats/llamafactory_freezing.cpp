// finetuning_type: freeze trains some layers of the network: hiyouga/LLaMA-Factory
// src/llamafactory/model/adapter.py _setup_freeze_tuning, hparams/finetuning_args.py FreezeArguments.
#include <algorithm>

#include "core/exchange/format.h"
#include "core/exchange/formats/llamafactory.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

constexpr const char* last_layers = "/training/freeze_trainable_layers";
constexpr const char* names = "/training/unfrozen_parameters";

// A pattern over the names of the first layers' parameters, whatever the network calls its list of layers.
std::string first_layers(uint64_t count) {
  std::string numbers;
  for (uint64_t i = 0; i < std::min<uint64_t>(count, 1000); ++i)
    numbers += (i == 0 ? "" : "|") + std::to_string(i);
  return "[a-z_.]+.(" + numbers + ").";
}

void finish_llama_pro(Reading& reading, const Leaf& pro) {
  // Published networks have not been expanded; a folder holds what scripts/llama_pro.py wrote, its trained
  // layers among it.
  const Json blocks = reading.values[last_layers];
  if (reading.word("model_name_or_path").find("pro") != std::string::npos) {
    reading.drop(last_layers, "these are the added blocks");
    reading.set("/training/llamapro_num_new_blocks", blocks, &pro);
    reading.notes.emplace_back(
        "The checkpoint is taken as one that scripts/llama_pro.py has expanded: the network it was made "
        "from, with as many blocks more as are trained.");
    return;
  }
  if (!blocks.is_number_unsigned()) return;
  reading.drop(last_layers, "spread over the network");
  reading.set(names, Json::array({first_layers(blocks.get<uint64_t>())}), &pro);
  reading.notes.emplace_back(
      "use_llama_pro trains layers spread over the network; they are taken as the first ones, so that a "
      "little more is kept than in that run.");
}

// One layer at a time has gradients, an fp32 copy and states; in its turn the first one, through all others
// (badam 1.4 block_optim.py BlockOptimizer). Its copy stands beside it in bf16, but its gradient is in bf16
// too.
void finish_badam(Reading& reading) {
  reading.drop(last_layers, "BAdam picks the layers");
  reading.set(names, Json::array({first_layers(1)}), reading.leaf("use_badam"));
  reading.values["/training/upcast_trainable"] = true;
  reading.notes.emplace_back("BAdam trains one layer at a time; it is priced while it trains the first.");
}

// Every parameter is trained whose name holds the module's: "norm" those of all layers.
void finish_extra_modules(Reading& reading) {
  const Leaf* extra = reading.leaf("freeze_extra_modules");
  const auto modules = extra == nullptr ? std::nullopt : value_for(names, *extra->node, "");
  if (!modules || modules->empty()) return;
  Json patterns = reading.has(names) ? reading.values[names] : Json::array();
  for (const Json& module : *modules) patterns.push_back("(.+)?" + module.get<std::string>());
  reading.set(names, patterns, extra);
}

// Its projector is trained with the layers where it is not frozen (COMPOSITE_MODELS of model_utils/visual.py).
void finish_trained_projector(Reading& reading) {
  const Leaf* frozen = reading.leaf("freeze_multi_modal_projector");
  if (frozen == nullptr || reading.is_on(frozen->path)) return;
  Json patterns = reading.has(names) ? reading.values[names] : Json::array();
  for (const char* projector : {"multi_modal_projector", "visual.merger"})
    patterns.push_back(std::string("(.+)?") + projector);
  reading.values[names] = patterns;
}

}  // namespace

void read_trained_layers(Reading& reading, const Leaf& leaf) {
  const Json& value = leaf.node->value;
  if (!value.is_number_integer() || value >= 0) return reading.set(last_layers, leaf);
  reading.set(names, Json::array({first_layers(static_cast<uint64_t>(-value.get<int64_t>()))}), &leaf);
}

void finish_freezing(Reading& reading, const char* kind) {
  if (reading.is_on("use_badam") && reading.word("badam_mode") != "ratio") return finish_badam(reading);
  if (reading.word(kind) != "freeze") {
    reading.drop(names, "read with freeze-tuning alone");
    return reading.drop(last_layers, "read with freeze-tuning alone");
  }
  if (!reading.has(last_layers) && !reading.has(names)) reading.values[last_layers] = uint64_t{2};
  const Leaf* pro = reading.leaf("use_llama_pro");
  if (pro != nullptr && reading.is_on("use_llama_pro") && reading.has(last_layers))
    finish_llama_pro(reading, *pro);
  finish_extra_modules(reading);
  finish_trained_projector(reading);
}

}  // namespace plimsoll::exchange
