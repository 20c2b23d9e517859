// Which linears are modules, are quantised, get an adapter, and how each is held then.
#include <algorithm>

#include "core/memory/parameters/module_names.h"
#include "core/memory/parameters/parameters.h"
#include "core/memory/parameters/stacked_adapters.h"
#include "core/model/layers_apart.h"
#include "core/recipe/implementations.h"
#include "core/recipe/tasks.h"

namespace plimsoll::memory {

using model::Module;
using model::Role;

namespace {

// Unsloth puts linears in the place of gpt-oss's experts, which are one parameter, so that bitsandbytes can
// pack them (unslothai/unsloth-zoo unsloth_zoo/temporary_patches/gpt_oss.py). No other family's experts have
// biases.
bool is_unpacked_expert(const model::Linear& linear, const recipe::Recipe& recipe) {
  return linear.expert && linear.bias && recipe::implementation_of(recipe).unpacks_experts &&
         recipe.quantization.load_in_4bit;
}

bool is_quantised(const model::Linear& linear, const recipe::Recipe& recipe) {
  const bool packed_expert = linear.expert && recipe.quantization.quantize_moe_experts;
  return recipe.quantized() &&
         (is_module(linear, recipe) || is_unpacked_expert(linear, recipe) || packed_expert) &&
         ((linear.role != Role::head && !linear.unread) || recipe.quantization.quantize_lm_head) &&
         !model::is_skipped(linear.path, recipe.quantization.llm_int8_skip_modules);
}

// LFM2's in_proj has the role of a fused projection, but none of those names.
bool feeds_convolution(const model::Linear& linear, const model::Stack& stack) {
  return std::any_of(stack.groups.begin(), stack.groups.end(), [&linear](const model::LayerGroup& group) {
    return group.attention == model::AttentionKind::short_convolution &&
           model::find(group, Role::qkv) == &linear;
  });
}

bool is_named(const model::Linear& linear, const std::vector<std::string>& names,
              const recipe::Recipe& recipe) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return answers(linear, name, recipe); });
}

}  // namespace

bool is_module(const model::Linear& linear, const recipe::Recipe& recipe) {
  if (linear.expert && recipe.model_args.linearized_experts) return true;
  if (linear.module == Module::parameter) return false;
  const bool until_5 = linear.expert || linear.module == Module::linear_until_5;
  return !until_5 || !recipe::version_at_least(recipe.versions.transformers, "5");
}

bool is_saved_in_full(const std::string& path, const recipe::Recipe& recipe) {
  if (!recipe.peft.on) return false;
  // It is put on the model after its adapters.
  if (recipe.model_args.value_head && path == "v_head.summary") return true;
  // PEFT trains the new head of a classifier in full, and whatever module's name ends so ("pre_classifier"):
  // tuners_utils.py, TaskType.SEQ_CLS; utils/other.py _set_trainable.
  const bool within = path.rfind("classifier.", 0) == 0;
  if ((within || path.ends_with("score") || path.ends_with("classifier")) &&
      !recipe::task_of(recipe).vocabulary)
    return true;
  return named_in(path, recipe.peft.modules_to_save);
}

bool trains_tokens(const model::Table& table, const model::Stack& stack, const recipe::Recipe& recipe) {
  return recipe.peft.on && recipe.peft.num_trainable_tokens > 0 && !table.positions &&
         !model::is_tower(stack);
}

bool saves_embedding(const model::Stack& stack, const recipe::Recipe& recipe) {
  return std::any_of(stack.tables.begin(), stack.tables.end(), [&recipe](const model::Table& table) {
    return !table.positions && is_saved_in_full(table.path, recipe);
  });
}

bool is_table_target(const model::Table& table, const recipe::Recipe& recipe) {
  return recipe.peft.on && named_in(table.path, recipe.peft.target_modules);
}

bool is_target(const model::Linear& linear, const model::Stack& stack, const recipe::Recipe& recipe) {
  if (!recipe.peft.on || !is_module(linear, recipe) || is_parameter_name(linear.path, stack, recipe))
    return false;
  if (const Tuner* tuner = find_tuner(recipe.peft); tuner && tuner->place != TunerPlace::linear) {
    return false;
  }
  if (!recipe.peft.finetune_vision_layers && !is_language(stack)) return false;
  if (!recipe.peft.finetune_language_layers && is_language(stack)) return false;
  if (recipe.vision.freeze_multi_modal_projector && stack.part == model::Part::projector) return false;
  if (named_in(linear.path, recipe.peft.exclude_modules) || is_saved_in_full(linear.path, recipe))
    return false;
  const std::vector<std::string>& targets = recipe.peft.target_modules;
  if (targets.size() == 1 && targets[0] == "all-linear") return linear.role != Role::head && !linear.unread;
  if (names_by_role(recipe) && feeds_convolution(linear, stack)) return false;
  return is_named(linear, targets, recipe);
}

namespace {

// LitGPT's adapters on thirds of the fused projection, and on both halves of a fused gate and up. torchtune
// and Unsloth have q, k, v, gate and up apart where the checkpoint of Phi-3 fuses them: Unsloth's notebooks
// train 29,884,416 parameters of it at rank 16, and torchtune adapts those of q, k and v that are named. A tower
// is Transformers' own class.
void specify_parts(const model::Linear& linear, const model::Stack& stack, const recipe::Recipe& recipe,
                   LinearSpec& spec) {
  if (stack.part == model::Part::vision || stack.part == model::Part::audio) return;
  const std::string& code = recipe.model_args.implementation;
  if (code == "torchtune" || code == "unsloth") {
    for (const model::LayerGroup& group : stack.groups) {
      const bool apart = model::find(group, Role::gate_up) != nullptr;
      if (apart && linear.role == Role::gate_up) spec.parts = 2;
      if (apart && model::find(group, Role::qkv) == &linear) spec.parts = 3;
    }
  }
  if (code != "litgpt" && code != "torchtune") return;
  const std::vector<std::string>& targets = recipe.peft.target_modules;
  const auto named = [&targets](const char* name) {
    return std::find(targets.begin(), targets.end(), name) != targets.end() ? 1.0 : 0.0;
  };
  if (code == "litgpt" && linear.role == Role::gate_up) spec.parts = 2;
  const bool all = code == "torchtune" && named("all-linear") > 0;
  const bool by_name = code == "litgpt" || (code == "torchtune" && spec.parts == 3 && !all);
  if (linear.role != Role::qkv || !by_name || feeds_convolution(linear, stack)) return;
  for (const model::LayerGroup& group : stack.groups) {
    if (model::find(group, Role::qkv) != &linear) continue;
    const double head = static_cast<double>(group.head_dim), kv = head * static_cast<double>(group.kv_heads);
    const double q = named("q_proj"), k = named("k_proj"), v = named("v_proj");
    spec.parts = q + k + v;
    spec.adapter_out = q * head * static_cast<double>(group.heads) + (k + v) * kv;
    spec.on_q = q > 0;
    spec.on_k = k > 0;
    spec.on_v = v > 0;
  }
}

void pack(const recipe::QuantizationFormat& packing, LinearSpec& spec) {
  if (packing.group == 0) spec.packed_group = spec.in;
  const double zero = packing.zero == recipe::ZeroPoint::packed        ? spec.packed_bits / 8
                      : packing.zero == recipe::ZeroPoint::sixteen_bit ? 2
                                                                       : 0;
  spec.packed_scale = packing.scale_bytes + zero;
  spec.packed_zero = packing.zero == recipe::ZeroPoint::packed;
  spec.packed_table = packing.table_bytes;
  spec.packed_index = packing.index;
  spec.keeps_input = packing.keeps_input;
  spec.unpacking = packing.unpacking;
}

}  // namespace

LinearSpec specify(const model::Linear& linear, const model::Stack& stack, const recipe::Recipe& recipe) {
  LinearSpec spec;
  spec.in = static_cast<double>(linear.in);
  spec.out = static_cast<double>(linear.out);
  spec.copies = linear.expert ? static_cast<double>(linear.count) : 1;
  spec.bias = linear.bias;
  spec.size = linear.role == Role::head ? table_size(recipe, stack) : parameter_size(recipe);
  spec.compute_size = dtype_size(recipe.quantization.bnb_4bit_compute_dtype);
  spec.double_quant = recipe.quantization.bnb_4bit_use_double_quant;
  if (is_quantised(linear, recipe)) {
    const recipe::Quantization& q = recipe.quantization;
    spec.storage = q.load_in_4bit ? Storage::four_bit : q.load_in_8bit ? Storage::eight_bit : Storage::packed;
    spec.packed_bits = static_cast<double>(q.bits);
    spec.packed_group = static_cast<double>(q.group_size);
    if (const recipe::QuantizationFormat* packing = recipe::find_quantization_format(q.quant_method))
      pack(*packing, spec);
    spec.size = dtype_size(recipe.model_args.dtype);
    spec.keeps_input |= q.load_in_4bit && !recipe::version_at_least(recipe.versions.bitsandbytes, "0.43.2");
    // Fabric's BitsandbytesPrecision quantises from float16 whatever the type of the run.
    spec.unpacks_to_other_type =
        recipe::implementation_of(recipe).unpacks_from_fp16 && q.bnb_4bit_compute_dtype == "bfloat16";
  }
  spec.trainable = recipe.full() && !linear.frozen && !linear.unread && !is_frozen(stack, recipe);
  if (spec.trainable) spec.size = trained_size(recipe, spec.size);
  if (is_target(linear, stack, recipe)) {
    spec.tuner = find_tuner(recipe.peft);
    const bool pruned = recipe.peft.peft_type == "ADALORA";
    if (spec.tuner == nullptr)
      spec.r = static_cast<double>(pruned ? recipe.peft.tuner.init_r : recipe.peft.r);
    const bool scaled_input =
        recipe.peft.peft_type == "IA3" && named_in(linear.path, recipe.peft.tuner.feedforward_modules);
    spec.tuner_scales_input = scaled_input;
    spec.tuner_in = scaled_input ? spec.out : spec.in;
    spec.tuner_out = scaled_input ? spec.in : spec.out;
    if (spec.tuner != nullptr) {
      const TunerShapes shapes = shapes_of(*spec.tuner, spec.tuner_in, spec.tuner_out, recipe.peft);
      for (const auto& [rows, columns] : shapes.trained) spec.tuner_trained += rows * std::max(1.0, columns);
      spec.tuner_rank = shapes.rank;
    }
    spec.adapter_size = dtype_size(recipe.peft.adapter_dtype);
    spec.dropout_module = recipe.peft.lora_dropout > 0;
    spec.dropout = recipe.training.disable_dropout ? 0 : recipe.peft.lora_dropout;
    spec.dora = recipe.peft.use_dora;
    spec.pruned = pruned;
    spec.fused = recipe.training.fused_lora;
    spec.fused_input = spec.fused && linear.role == Role::q;
    specify_parts(linear, stack, recipe, spec);
  } else if (const StackedAdapter adapter = stacked_adapter(linear, stack, recipe); adapter.rank > 0) {
    spec.r = adapter.rank;
    spec.adapter_out = adapter.columns;
    spec.adapter_size = dtype_size(recipe.peft.adapter_dtype);
    spec.stacked = true;
  }
  return spec;
}

// Where the tokens' embedding lies. Some project what leaves the layers to the width of their embeddings
// (OPT-350M); others have a second table for the layers (Gemma 4), behind that of the tokens, or positions.
const model::Table* token_table(const model::Architecture& network) {
  for (const model::Stack& stack : network.stacks) {
    for (const model::Table& table : stack.tables)
      if (table.rows >= network.vocab_size && !table.positions) return &table;
  }
  return nullptr;
}

model::Linear tied_head(const model::Architecture& network) {
  model::Linear head;
  head.path = "lm_head";
  const model::Table* tokens = token_table(network);
  head.in = tokens == nullptr ? network.stacks.front().hidden : tokens->width;
  head.out = network.vocab_size;
  head.role = model::Role::head;
  // A GPU of a network that is spread may hold the head's stack without the tokens.
  const std::vector<model::Table>& first = network.stacks.front().tables;
  head.frozen = tokens != nullptr ? !tokens->trained : !first.empty() && !first.front().trained;
  return head;
}

bool shares_head(const model::Architecture& network, const recipe::Recipe& recipe) {
  return network.tied_head && !recipe::implementation_of(recipe).copies_tied_head;
}

bool copies_head(const model::Architecture& network, const recipe::Recipe& recipe) {
  const bool tokens = recipe.peft.on && recipe.peft.num_trainable_tokens > 0;
  if (!tokens || !shares_head(network, recipe)) return false;
  return !is_saved_in_full(tied_head(network).path, recipe) &&
         !saves_embedding(network.stacks.front(), recipe);
}

}  // namespace plimsoll::memory
