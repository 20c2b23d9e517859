#include "core/run/components.h"

#include <algorithm>
#include <cmath>

#include "core/json/rounding.h"
#include "core/memory/step/engine.h"
#include "core/recipe/optimizers.h"
#include "core/recipe/quantization_formats.h"
#include "core/recipe/stacks.h"

namespace plimsoll::run {

namespace {

using json::grouped;

using memory::Component;

std::string number(double value) { return json::write(std::round(value * 1000) / 1000); }

std::string tokens(const recipe::Recipe& r) {
  return grouped(static_cast<double>(r.training.per_device_train_batch_size)) + " x " +
         grouped(static_cast<double>(r.training.max_length)) + " tokens";
}

double layers(const model::Architecture& network) {
  double sum = 0;
  for (const model::LayerGroup& group : network.stacks.front().groups)
    sum += static_cast<double>(group.layers);
  return sum;
}

std::string packed_words(const recipe::Quantization& q) {
  if (q.load_in_8bit) return "1 byte and a scale a row";
  if (q.load_in_4bit) {
    return q.bnb_4bit_use_double_quant ? "0.516 bytes (4 bits, scales in 8 bits)"
                                       : "0.5625 bytes (4 bits, a scale for 64)";
  }
  const recipe::QuantizationFormat* packing = recipe::find_quantization_format(q.quant_method);
  if (packing != nullptr && packing->table_bytes > 0)
    return std::to_string(q.bits) + " bits, a scale a row and a codebook a linear";
  if (packing != nullptr && packing->group == 0) {
    if (q.bits == 8) return "1 byte and a scale a row";
    return std::to_string(q.bits) + " bits and a scale a row";
  }
  std::string words = std::to_string(q.bits);
  words += " bits and a scale for ";
  words += std::to_string(q.group_size);
  return words;
}

std::string weights_formula(const Replayed& f) {
  const memory::Parameters& p = f.replay.parameters;
  const auto base = static_cast<double>(p.base);
  const int size = memory::parameter_size(f.recipe);
  const double wide = size == 2 ? (p.weight_bytes - p.buffer_bytes) / 2 - base : 0;
  if (p.quantised == 0 && wide > 0)
    return grouped(base - wide) + " parameters x 2 bytes, " + grouped(wide) + " in fp32 x 4 bytes";
  if (p.quantised == 0) return grouped(base) + " parameters x " + std::to_string(size) + " bytes";
  const recipe::Quantization& q = f.recipe.quantization;
  const std::string packed = packed_words(q);
  return grouped(p.quantised) + " parameters x " + packed + ", " + grouped(base - p.quantised) +
         " others x " + std::to_string(size) + " bytes";
}

std::string adapters_formula(const Replayed& f) {
  return grouped(static_cast<double>(f.replay.parameters.adapter)) + " adapter parameters (rank " +
         grouped(static_cast<double>(f.recipe.peft.r)) + " x (in + out) of each target) x " +
         std::to_string(memory::dtype_size(f.recipe.peft.adapter_dtype)) + " bytes";
}

std::string gradients_formula(const Replayed& f) {
  return "one value for each of " + grouped(static_cast<double>(f.replay.parameters.trainable)) +
         " trained parameters in its own type, as far as they exist at this moment";
}

std::string optimizer_formula(const Replayed& f) {
  const recipe::Optimizer* o = recipe::find_optimizer(f.recipe.training.optim);
  const auto trained = static_cast<double>(f.replay.parameters.trainable);
  std::string words = o == nullptr ? "" : std::string(o->what);
  return words + "; " + number(f.replay.sharding.optimizer / std::max(1.0, trained)) + " bytes x " +
         grouped(trained);
}

std::string boundaries_formula(const Replayed& f) {
  return "the input of each of " + grouped(layers(f.network)) + " layers: " + tokens(f.recipe) + " x " +
         grouped(static_cast<double>(f.network.stacks.front().hidden)) + " values";
}

std::string activations_formula(const Replayed& f) {
  return f.recipe.training.gradient_checkpointing
             ? "what the layer at work keeps for its own backward pass, " + tokens(f.recipe)
             : "what all " + grouped(layers(f.network)) + " layers keep for the backward pass, " +
                   tokens(f.recipe);
}

std::string logits_formula(const Replayed& f) {
  return tokens(f.recipe) + " x " + grouped(static_cast<double>(f.network.vocab_size)) +
         " words, in the copies that the loss holds at this moment (kernel: " +
         f.recipe.training.loss_kernel + ")";
}

std::string autocast_formula(const Replayed&) {
  return "2 bytes for each fp32 weight that autocast cast to 16 bits";
}
std::string transient_formula(const Replayed&) { return "results and gradients in flight at this moment"; }
std::string kv_formula(const Replayed& f) {
  return "K and V of every layer, " + tokens(f.recipe) + " (use_cache is on)";
}
std::string inputs_formula(const Replayed& f) {
  return "ids, masks, labels, rotary tables and pixels of " + tokens(f.recipe);
}
std::string workspace_formula(const Replayed&) {
  return "one cuBLAS workspace for the forward thread, one for the backward thread";
}

std::string gathered_formula(const Replayed& f) {
  return "parameters that the other " + grouped(f.replay.sharding.ranks - 1) +
         " GPUs hold, fetched for the layer at work, the next one, and what lies outside the layers";
}
std::string buckets_formula(const Replayed& f) {
  return "buffers in which gradients travel between " + grouped(f.replay.sharding.ranks) + " GPUs";
}
std::string frozen_formula(const Replayed& f) {
  const bool adapters = f.recipe.rl.reference_model == "adapter_copy";
  return adapters ? "a frozen copy of the adapters" : weights_formula(f) + ", for each frozen network";
}
std::string engine_formula(const Replayed& f) {
  const std::string share = memory::sets_engine_utilization(f.recipe)
                                ? "the share that Unsloth's standby sets by the card"
                                : number(f.recipe.rl.vllm_gpu_memory_utilization) +
                                      " of the GPU's memory, or its weights where these are more";
  const bool shares = recipe::stack_traits(f.recipe.stack).vllm_shares_weights;
  return share + (shares ? ", less the weights, which the trainer reads too" : "");
}

struct Row {
  Component component;
  const char* id;
  const char* what;
  std::string (*formula)(const Replayed&);
  const char* source;
};
constexpr Row rows[] = {
    {Component::weights, "weights", "The base model.", weights_formula,
     "parameter count of the Transformers class; bitsandbytes functional.quantize_4bit; PEFT utils/other.py "
     "prepare_model_for_kbit_training"},
    {Component::adapters, "adapters", "LoRA matrices and modules trained in full beside the base.",
     adapters_formula, "huggingface/peft tuners/lora/layer.py update_layer"},
    {Component::gradients, "gradients", "Gradients of the trained parameters.", gradients_formula,
     "pytorch autograd: .grad has the parameter's dtype and shape; Trainer clears them after each step"},
    {Component::optimizer, "optimizer", "States that the optimizer keeps between steps.", optimizer_formula,
     "pytorch torch/optim; bitsandbytes optim/optimizer.py; transformers optimization.py"},
    {Component::boundaries, "boundaries", "Layer inputs that gradient checkpointing keeps.",
     boundaries_formula, "transformers modeling_layers.py GradientCheckpointingLayer"},
    {Component::activations, "activations", "Tensors that autograd keeps for the backward pass.",
     activations_formula,
     "pytorch tools/autograd/derivatives.yaml; transformers modeling files; peft lora/layer.py"},
    {Component::logits, "logits", "Scores over the vocabulary and what the loss makes of them.",
     logits_formula, "transformers loss/loss_utils.py; accelerate convert_to_fp32; pytorch log_softmax"},
    {Component::autocast, "autocast", "16-bit copies of fp32 weights that autocast makes.", autocast_formula,
     "pytorch aten/src/ATen/autocast_mode.cpp cached_cast"},
    {Component::transient, "transient", "Temporary tensors of the operation at work.", transient_formula,
     "pytorch operator implementations"},
    {Component::kv_cache, "kv_cache", "Keys and values that a cache keeps, also while nothing is generated.",
     kv_formula, "transformers cache_utils.py DynamicCache"},
    {Component::inputs, "inputs", "The batch itself.", inputs_formula,
     "transformers trainer.py get_batch_samples"},
    {Component::frozen_models, "frozen_models",
     "Networks that are only read: the reference, the reward model.", frozen_formula,
     "huggingface/trl trainer/dpo_trainer.py, ppo_trainer.py; one more copy of the weights each"},
    {Component::engine, "engine", "vLLM on the same GPU: its own weights and its key-value cache.",
     engine_formula, "huggingface/trl trainer/grpo_config.py vllm_gpu_memory_utilization"},
    {Component::workspace, "workspace", "Buffers of the matrix library, counted by PyTorch.",
     workspace_formula, "pytorch aten/src/ATen/cuda/CublasHandlePool.cpp"},
    {Component::gathered, "gathered", "Parameters on loan from the other GPUs.", gathered_formula,
     "pytorch torch/distributed/fsdp/_runtime_utils.py; deepspeed "
     "runtime/zero/partitioned_param_coordinator.py"},
    {Component::buckets, "buckets", "Buffers for what the GPUs send each other.", buckets_formula,
     "pytorch torch/nn/parallel/distributed.py, torch/distributed/fsdp/_flat_param.py; deepspeed "
     "runtime/zero"},
};

}  // namespace

std::string_view component_id(Component component) {
  for (const Row& row : rows) {
    if (row.component == component) return row.id;
  }
  return "";
}

std::vector<ComponentRow> component_rows(const memory::Snapshot& live, const Replayed& facts) {
  std::vector<const Row*> order;
  for (const Row& row : rows) {
    if (live[row.component] >= 0.5) order.push_back(&row);
  }
  // Fractions of a byte that sums lose are no order.
  const auto bytes = [&live](const Row* row) { return std::round(live[row->component]); };
  std::stable_sort(order.begin(), order.end(),
                   [&bytes](const Row* a, const Row* b) { return bytes(a) > bytes(b); });
  std::vector<ComponentRow> found;
  for (const Row* row : order)
    found.push_back({row->id, live[row->component], row->what, row->formula(facts), row->source});
  return found;
}

}  // namespace plimsoll::run
