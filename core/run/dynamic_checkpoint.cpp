#include "core/run/dynamic_checkpoint.h"

#include "core/json/ascii.h"
#include "core/run/model_names.h"

namespace plimsoll::run {

namespace {

struct Checkpoint {
  std::string model;   ///< "qwen3-14b"
  bool named = false;  ///< the request names the checkpoint itself, not the model
};

// The model in a name, or of a preset's short name.
Checkpoint checkpoint_of(const Run& run) {
  const std::string& id = run.given.model_id;
  const std::string packing(packing_in(id));
  Checkpoint checkpoint;
  checkpoint.named = packing == "unsloth-bnb-4bit" || packing == "dynamic-bnb-4bit";
  if (!packing.empty() && !checkpoint.named) return checkpoint;
  const bool is_short = run.entry != nullptr && ascii::lower(id) == run.entry->preset.id;
  const std::string& whole = is_short ? run.entry->preset.hf_id : id;
  checkpoint.model = ascii::lower(whole.substr(whole.rfind('/') + 1));
  if (checkpoint.named) checkpoint.model.resize(checkpoint.model.size() - packing.size() - 1);
  return checkpoint;
}

using Rows = recipe::DynamicCheckpoints;

const Rows* row_of(const recipe::StackPreset& stack, const std::string& model) {
  for (const Rows& row : stack.dynamic_4bit) {
    if ((" " + row.names + " ").find(" " + model + " ") != std::string::npos) return &row;
  }
  return nullptr;
}

// A checkpoint that a request names is the same whatever loads it. Null: the stack loads none for this model.
const Rows* row_of(const Run& run, const Catalog& catalog, const Checkpoint& checkpoint) {
  if (checkpoint.model.empty()) return nullptr;
  if (!checkpoint.named) return row_of(*run.stack, checkpoint.model);
  for (const recipe::StackPreset& stack : catalog.stacks) {
    if (const Rows* row = row_of(stack, checkpoint.model)) return row;
  }
  return nullptr;
}

bool is_dense(const model::Linear& linear) {
  return !linear.expert && linear.role != model::Role::head && linear.module != model::Module::parameter;
}

double elements(const model::Linear& linear) {
  return static_cast<double>(linear.in) * static_cast<double>(linear.out) * static_cast<double>(linear.count);
}

double elements(const model::LayerGroup& group) {
  double sum = 0;
  for (const model::Linear& linear : group.linears) sum += is_dense(linear) ? elements(linear) : 0;
  return sum;
}

bool in_mlp(const model::Linear& linear) {
  using model::Role;
  return is_dense(linear) && (linear.role == Role::gate || linear.role == Role::up ||
                              linear.role == Role::gate_up || linear.role == Role::down);
}

// As many linears of one layer's MLP as `wanted` elements still ask for; the last one if that is nearer. Phi-4's
// checkpoint leaves those of layers 1 to 3.
void take_mlp(const model::LayerGroup& group, uint64_t layer, double& wanted,
              std::vector<std::string>& names) {
  for (const model::Linear& linear : group.linears) {
    if (!in_mlp(linear) || wanted < elements(linear) / 2) continue;
    names.push_back(model::in_layer(linear.path, layer));
    wanted -= elements(linear);
  }
}

// "vision_tower" of "model.vision_tower.vision_model.encoder.layers.#.mlp.fc1".
std::string tower_of(const model::Stack& stack) {
  if (stack.groups.empty() || stack.groups.front().linears.empty()) return "";
  std::string path = stack.groups.front().linears.front().path;
  if (path.rfind("model.", 0) == 0) path.erase(0, 6);
  return path.substr(0, path.find('.'));
}

void take_language_model(const model::Stack& stack, double share, std::vector<std::string>& names) {
  double wanted = 0;
  for (const model::LayerGroup& group : stack.groups)
    wanted += share * elements(group) * static_cast<double>(group.layers);
  uint64_t layer = 0;
  for (const model::LayerGroup& group : stack.groups) {
    for (const uint64_t end = layer + group.layers; layer < end; ++layer) {
      if (layer > 0) take_mlp(group, layer, wanted, names);
    }
  }
}

}  // namespace

std::vector<std::string> modules_left(const model::Architecture& network,
                                      const recipe::DynamicCheckpoints& checkpoint) {
  std::vector<std::string> names;
  for (const model::Stack& stack : network.stacks) {
    if (stack.part == model::Part::text) take_language_model(stack, checkpoint.in_16_bits, names);
    if (stack.part == model::Part::vision && checkpoint.vision) names.push_back(tower_of(stack));
  }
  return names;
}

std::vector<std::string> dynamic_modules(const Run& run, const Catalog& catalog) {
  const Rows* row = row_of(run, catalog, checkpoint_of(run));
  return row == nullptr ? std::vector<std::string>() : modules_left(run.network, *row);
}

void note_dynamic_checkpoint(Run& run) {
  if (!checkpoint_of(run).named || !run.resolved.recipe.quantized() ||
      !run.resolved.recipe.quantization.llm_int8_skip_modules.empty())
    return;
  run.network.notes.push_back(
      {"dynamic_checkpoint",
       "A checkpoint whose name ends in \"" + std::string(packing_in(run.given.model_id)) +
           "\" leaves some of its linears in 16 bits: 1.2 GiB of Phi-4. Its config.json "
           "names them; put that list under \"llm_int8_skip_modules\".",
       "/quantization/llm_int8_skip_modules"});
}

}  // namespace plimsoll::run
