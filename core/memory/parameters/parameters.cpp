#include "core/memory/parameters/parameters.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/memory/parameters/rotary_tables.h"
#include "core/memory/parameters/stacked_adapters.h"
#include "core/model/layers_apart.h"

namespace plimsoll::memory {

namespace {

using model::Module;
using model::Role;

constexpr double small_tensor = 512;  // the allocator's rounding: tables and offsets cost that much each

bool ends_with_name(const std::string& path, const std::string& name) {
  if (path == name) return true;
  if (path.size() <= name.size()) return false;
  return path.compare(path.size() - name.size(), name.size(), name) == 0 &&
         path[path.size() - name.size() - 1] == '.';
}

bool named_in(const std::string& path, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (ends_with_name(path, name)) return true;
  }
  return false;
}

// Unsloth puts linears in the place of gpt-oss's experts, which are one parameter, so that bitsandbytes can
// pack them (unslothai/unsloth-zoo unsloth_zoo/temporary_patches/gpt_oss.py). No other family's experts have
// biases.
bool is_unpacked_expert(const model::Linear& linear, const recipe::Recipe& recipe) {
  return linear.expert && linear.bias && recipe.model_args.implementation == "unsloth" &&
         recipe.quantization.load_in_4bit;
}

bool is_quantised(const model::Linear& linear, const recipe::Recipe& recipe) {
  const bool packed_expert = linear.expert && recipe.quantization.quantize_moe_experts;
  return recipe.quantized() &&
         (is_module(linear, recipe) || is_unpacked_expert(linear, recipe) || packed_expert) &&
         ((linear.role != Role::head && !linear.unread) || recipe.quantization.quantize_lm_head) &&
         !model::is_skipped(linear.path, recipe.quantization.llm_int8_skip_modules);
}

// LitGPT and torchtune have one set of names for all networks.
bool names_by_role(const recipe::Recipe& recipe) {
  return recipe.model_args.implementation == "litgpt" || recipe.model_args.implementation == "torchtune";
}

bool answers(const model::Linear& linear, const std::string& target, const recipe::Recipe& recipe) {
  if (!names_by_role(recipe)) return ends_with_name(linear.path, target);
  struct Named {
    Role role;
    std::string_view name;
  };
  constexpr Named names[] = {
      {Role::q, "q_proj"},       {Role::k, "k_proj"},          {Role::v, "v_proj"},
      {Role::o, "o_proj"},       {Role::qkv, "q_proj"},        {Role::qkv, "k_proj"},
      {Role::qkv, "v_proj"},     {Role::gate, "gate_proj"},    {Role::up, "up_proj"},
      {Role::down, "down_proj"}, {Role::gate_up, "gate_proj"}, {Role::gate_up, "up_proj"},
      {Role::head, "lm_head"},
  };
  return std::any_of(std::begin(names), std::end(names),
                     [&](const Named& n) { return n.role == linear.role && n.name == target; });
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

// By the rows of recipe/packings.cpp.
double packed_bytes(const LinearSpec& spec) {
  const double weights = spec.in * spec.out, share = spec.packed_bits / 8;
  const double groups = weights / spec.packed_group;
  return weights * share + groups * spec.packed_scale + (spec.packed_index ? 4 * spec.in : 0) +
         spec.packed_table;
}

struct Sum {
  Parameters& p;
  const recipe::Recipe& recipe;
  double widest_in = 0, widest_out = 0;  // of the modules that one of PEFT's other methods acts on

  // Whether GaLore or APOLLO projects this linear's gradient: Transformers looks for parts of its name.
  double projected(const std::string& path) const {
    const double rank = recipe.projection_rank();
    if (rank == 0) return 0;
    const std::vector<std::string>& names = recipe.training.optim_target_modules;
    const bool all = names.empty() || (names.size() == 1 && names.front() == "all-linear");
    const bool named = std::any_of(names.begin(), names.end(), [&path](const std::string& name) {
      return path.find(name) != std::string::npos;
    });
    return all || named ? rank : 0;
  }

  void train(double rows, double columns, int size, double count, bool in_layers, bool in_adapter) {
    const double elements = rows * std::max(1.0, columns) * count;
    p.trainable += static_cast<uint64_t>(elements);
    p.trained_bytes += elements * size;
    if (!in_layers) p.outside_layer_gradients += elements * size;
    p.largest_trained = std::max(p.largest_trained, elements / count * size);
    if (in_adapter) {
      p.adapter += static_cast<uint64_t>(elements);
      p.adapter_bytes += elements * size;
    }
    p.trained.push_back({rows, columns, size, count});
  }

  void matched(const std::string& path) {
    const std::string leaf = path.substr(path.rfind('.') + 1);
    if (std::find(p.matched.begin(), p.matched.end(), leaf) == p.matched.end()) p.matched.push_back(leaf);
  }

  void linear(const model::PlacedLinear& at) {
    const model::Linear& l = *at.linear;
    const LinearSpec spec = specify(l, *at.stack, recipe);
    const auto in = static_cast<double>(l.in), out = static_cast<double>(l.out),
               total = static_cast<double>(at.total);
    const bool in_layers = at.group != nullptr;
    LinearSpec loaded = spec;
    if (spec.storage == Storage::plain) loaded.size = dtype_size(recipe.model_args.dtype);
    p.weight_bytes += linear_bytes(spec) * total;
    p.loaded_bytes += linear_bytes(loaded) * total;
    p.replicated_bytes += quant_state_bytes(spec) * total;
    p.largest_linear = std::max(p.largest_linear, in * out);
    if (spec.storage != Storage::plain) {
      p.quantised += in * out * total;
      p.largest_quantised = std::max(p.largest_quantised, in * out);
    }
    if (spec.trainable) {
      train(in, out, spec.size, total, in_layers, false);
      if (in_layers) p.trained.back().rank = projected(l.path);
      if (l.bias) train(out, 0, spec.size, total, in_layers, false);
      return;
    }
    if (l.unread && recipe.full() && !l.frozen) p.trainable += static_cast<uint64_t>(in * out * total);
    if (spec.tuner != nullptr) tuner(spec, l.path, total, in_layers);
    if (spec.r > 0) {
      matched(l.path);
      const double wide = spec.stacked ? static_cast<double>(l.count) : 1;  // one pair for all experts
      train(spec.r * spec.parts * wide, in, spec.adapter_size, total / wide, in_layers, true);
      train(adapted(spec), spec.r * wide, spec.adapter_size, total / wide, in_layers, true);
      if (recipe.peft.peft_type == "ADALORA") train(spec.r, 0, spec.adapter_size, total, in_layers, true);
      if (recipe.peft.lora_bias) train(out, 0, spec.adapter_size, total, in_layers, true);
      if (recipe.peft.use_dora) train(adapted(spec), 0, spec.adapter_size, total, in_layers, true);
    }
    const bool lora_bias =
        recipe.peft.on && (recipe.peft.bias == "all" || (recipe.peft.bias == "lora_only" && spec.r > 0));
    if (lora_bias && l.bias) train(out, 0, spec.size, total, in_layers, false);
    if (is_saved_in_full(l.path, recipe)) {
      train(in, out, spec.size, total, in_layers, true);
      if (l.bias) train(out, 0, spec.size, total, in_layers, true);
    }
  }

  void tuner(const LinearSpec& spec, const std::string& path, double total, bool in_layers) {
    matched(path);
    const TunerShapes shapes = shapes_of(*spec.tuner, spec.tuner_in, spec.tuner_out, recipe.peft);
    for (const auto& [rows, columns] : shapes.trained) {
      train(rows, columns, spec.adapter_size, total, in_layers, true);
    }
    p.adapter_bytes += shapes.frozen * spec.adapter_size * total;
    widest_in = std::max(widest_in, spec.in);
    widest_out = std::max(widest_out, spec.out);
  }

  void plain(double elements, int own_size, bool trained, bool in_layers) {
    const int size = trained ? trained_size(recipe, own_size) : own_size;
    p.weight_bytes += elements * size;
    p.loaded_bytes += elements * dtype_size(recipe.model_args.dtype);
    if (trained && elements > 0) train(elements, 0, size, 1, in_layers, false);
  }

  // A head that is the embedding: PEFT's wrappers make it a copy or a pair of its own.
  void beside_the_tied_head(const model::Linear& head, const model::Stack& stack) {
    const LinearSpec spec = specify(head, stack, recipe);
    const bool with_table = recipe.peft.ensure_weight_tying && saves_embedding(stack, recipe);
    if (is_saved_in_full(head.path, recipe) && !with_table)
      train(spec.in, spec.out, spec.size, 1, false, true);
    if (spec.r == 0) return;
    matched(head.path);
    train(spec.r, spec.in, spec.adapter_size, 1, false, true);
    train(spec.out, spec.r, spec.adapter_size, 1, false, true);
  }

  void table(const model::Table& t, const model::Stack& stack, bool trained) {
    const auto rows = static_cast<double>(t.rows), width = static_cast<double>(t.width);
    const int size = table_size(recipe, stack);
    p.weight_bytes += rows * width * size;
    p.loaded_bytes += rows * width * dtype_size(recipe.model_args.dtype);
    if (trained && t.trained) train(rows, width, size, 1, false, false);
    if (is_saved_in_full(t.path, recipe)) train(rows, width, size, 1, false, true);
    if (is_table_target(t, recipe)) {
      const auto r = static_cast<double>(recipe.peft.r);
      const int adapter = dtype_size(recipe.peft.adapter_dtype);
      matched(t.path);
      train(r, rows, adapter, 1, false, true);
      train(width, r, adapter, 1, false, true);
    }
  }

  // Prompts, prefixes and norms: what PEFT trains without touching a linear.
  void beside_the_linears(const model::Architecture& network) {
    const Tuner* method = find_tuner(recipe.peft);
    if (method == nullptr) return;
    const recipe::TunerSettings& t = recipe.peft.tuner;
    const int size = dtype_size(recipe.peft.adapter_dtype);
    const SharedShapes shared = shared_of(*method, widest_in, widest_out, recipe.peft);
    if (shared.trained > 0) train(shared.trained, 0, size, 1, false, true);
    p.adapter_bytes += shared.frozen * size;
    if (method->place == TunerPlace::linear) return;
    const model::Stack& text = network.stacks.front();
    const auto hidden = static_cast<double>(text.hidden), tokens = static_cast<double>(t.num_virtual_tokens);
    if (method->place == TunerPlace::prompt) train(tokens, hidden, size, 1, false, true);
    if (method->id == "P_TUNING") {  // three linears with biases
      const double wide = t.encoder_hidden_size > 0 ? static_cast<double>(t.encoder_hidden_size) : hidden;
      train(wide, hidden, size, 1, false, true);
      train(wide, wide, size, 1, false, true);
      train(hidden, wide, size, 1, false, true);
      train(2 * wide + hidden, 0, size, 1, false, true);
    }
    for (const model::LayerGroup& group : text.groups) {
      const auto layers = static_cast<double>(group.layers);
      if (method->place == TunerPlace::prefix) {
        train(tokens, 2 * static_cast<double>(group.kv_heads * group.head_dim), size, layers, false, true);
      }
      if (method->place == TunerPlace::attention) {
        const double adapted = static_cast<double>(prompted_layers(text, group, recipe));
        if (adapted == 0) continue;
        const int own = parameter_size(recipe);  // made in the type of the base
        train(static_cast<double>(t.adapter_len), hidden, own, adapted, true, true);
        train(1, 0, own, adapted, true, true);
      }
    }
    matched(std::string(method->id));
  }

  void norm(const model::Norm& n, double count, bool trained, bool in_layers) {
    const auto width = static_cast<double>(n.width);
    plain((n.weight ? width : 0) * count, norm_size(recipe), trained, in_layers);
    plain((n.bias ? width : 0) * count, norm_size(recipe), trained, in_layers);
  }
};

}  // namespace

bool is_module(const model::Linear& linear, const recipe::Recipe& recipe) {
  if (linear.expert && recipe.model_args.linearized_experts) return true;
  if (linear.module == Module::parameter) return false;
  const bool until_5 = linear.expert || linear.module == Module::linear_until_5;
  return !until_5 || !recipe::version_at_least(recipe.versions.transformers, "5");
}

FourBit four_bit(double weights, bool double_quant) {
  const double blocks = std::ceil(weights / 64);
  FourBit tensors{std::ceil(weights / 2), 4 * blocks, 0, small_tensor};
  if (double_quant) {
    tensors.scales = blocks;
    tensors.scales_of_scales = 4 * std::ceil(blocks / 256);
    tensors.tables = 1024 + 2 * small_tensor;
  }
  return tensors;
}

double linear_bytes(const LinearSpec& spec) {
  const double weights = spec.in * spec.out;
  const double bias = spec.bias ? spec.out * spec.size : 0;
  if (spec.storage == Storage::four_bit) return std::ceil(weights / 2) + quant_state_bytes(spec) + bias;
  if (spec.storage == Storage::eight_bit) return weights + 4 * spec.out + bias;
  if (spec.storage == Storage::packed) return packed_bytes(spec) + bias;
  return weights * spec.size + bias;
}

double quant_state_bytes(const LinearSpec& spec) {
  const double weights = spec.in * spec.out;
  if (spec.storage == Storage::four_bit) {
    const FourBit tensors = four_bit(weights, spec.double_quant);
    return tensors.scales + tensors.scales_of_scales + tensors.tables;
  }
  if (spec.storage == Storage::eight_bit) return 4 * spec.out;
  if (spec.storage != Storage::packed) return 0;
  const double share = spec.packed_bits / 8, groups = weights / spec.packed_group;
  return packed_bytes(spec) - weights * share - (spec.packed_zero ? groups * share : 0);
}

int dtype_size(const std::string& dtype) { return dtype == "float32" ? 4 : 2; }

int parameter_size(const recipe::Recipe& recipe) {
  return recipe.quantization.upcast == "all" ? 4 : dtype_size(recipe.model_args.dtype);
}

int norm_size(const recipe::Recipe& recipe) {
  const bool kept = recipe.model_args.keep_in_fp32 == "norms" || recipe.model_args.keep_in_fp32 == "all";
  return recipe.quantization.upcast == "none" && !kept ? dtype_size(recipe.model_args.dtype) : 4;
}

int table_size(const recipe::Recipe& recipe, const model::Stack& stack) {
  const bool kept = recipe.model_args.keep_in_fp32 == "all" && is_language(stack);
  return kept ? 4 : parameter_size(recipe);
}

int trained_size(const recipe::Recipe& recipe, int size) {
  const recipe::Training& t = recipe.training;
  const bool some = t.freeze_trainable_layers + t.llamapro_num_new_blocks > 0;
  return recipe.full() && some && t.upcast_trainable ? 4 : size;
}

bool trains_norms(const recipe::Recipe& recipe) {
  if (!recipe.peft.on) return false;
  // PEFT copies every module whose name ends so, "input_layernorm" too: utils/other.py _set_trainable.
  const std::vector<std::string>& saved = recipe.peft.modules_to_save;
  return recipe.peft.peft_type == "LN_TUNING" || std::find(saved.begin(), saved.end(), "norm") != saved.end();
}

bool is_frozen(const model::Stack& stack, const recipe::Recipe& recipe) {
  const recipe::Vision& v = recipe.vision;
  const bool sees = stack.part == model::Part::vision, joins = stack.part == model::Part::projector;
  return (sees && v.freeze_vision_tower) || (joins && v.freeze_multi_modal_projector) ||
         (is_language(stack) && v.freeze_language_model);
}

bool is_saved_in_full(const std::string& path, const recipe::Recipe& recipe) {
  if (!recipe.peft.on) return false;
  // It is put on the model after its adapters.
  if (recipe.model_args.value_head && path == "v_head.summary") return true;
  // PEFT trains the new head of a classifier in full: tuners_utils.py, TaskType.SEQ_CLS.
  const bool within = path.rfind("classifier.", 0) == 0;
  if ((recipe.task == "classification" || recipe.task == "reward") &&
      (within || ends_with_name(path, "score") || ends_with_name(path, "classifier")))
    return true;
  return named_in(path, recipe.peft.modules_to_save);
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

uint64_t prompted_layers(const model::Stack& stack, const model::LayerGroup& group,
                         const recipe::Recipe& recipe) {
  const Tuner* tuner = find_tuner(recipe.peft);
  if (tuner == nullptr || tuner->place != TunerPlace::attention) return 0;
  uint64_t left = recipe.peft.tuner.adapter_layers;
  if (left == 0) return group.layers;
  for (auto at = stack.groups.rbegin(); at != stack.groups.rend() && &*at != &group; ++at)
    left -= std::min(left, at->layers);
  return std::min(left, group.layers);
}

bool is_language(const model::Stack& stack) {
  return stack.part == model::Part::text || stack.part == model::Part::encoder ||
         stack.part == model::Part::decoder;
}

model::Linear tied_head(const model::Architecture& network) {
  model::Linear head;
  head.path = "lm_head";
  const std::vector<model::Table>& tables = network.stacks.front().tables;
  // Some project what leaves the layers to the width of their embeddings (OPT-350M); others have a second
  // table for the layers (Gemma 4), behind that of the tokens.
  const auto tokens = std::find_if(tables.begin(), tables.end(), [&network](const model::Table& table) {
    return table.rows >= network.vocab_size && !table.positions;
  });
  head.in = tokens == tables.end() ? network.stacks.front().hidden : tokens->width;
  head.out = network.vocab_size;
  head.role = Role::head;
  head.frozen = !tables.empty() && !tables.front().trained;
  return head;
}

bool shares_head(const model::Architecture& network, const recipe::Recipe& recipe) {
  return network.tied_head && recipe.model_args.implementation != "litgpt";
}

namespace {

// LitGPT's adapters on thirds of the fused projection, and on both halves of a fused gate and up. torchtune
// and Unsloth have q, k, v, gate and up apart where the checkpoint of Phi-3 fuses them: Unsloth's notebooks
// train 29,884,416 parameters of it at rank 16, and torchtune adapts those of q, k and v that are named.
void specify_parts(const model::Linear& linear, const model::Stack& stack, const recipe::Recipe& recipe,
                   LinearSpec& spec) {
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

}  // namespace

namespace {

void pack(const recipe::Packing& packing, LinearSpec& spec) {
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
    if (const recipe::Packing* packing = recipe::find_packing(q.quant_method)) pack(*packing, spec);
    spec.size = dtype_size(recipe.model_args.dtype);
    spec.keeps_input |= q.load_in_4bit && !recipe::version_at_least(recipe.versions.bitsandbytes, "0.43.2");
    // Fabric's BitsandbytesPrecision quantises from float16 whatever the type of the run.
    spec.unpacks_to_other_type =
        recipe.model_args.implementation == "litgpt" && q.bnb_4bit_compute_dtype == "bfloat16";
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

bool weighs_nothing(std::string_view pointer) {
  constexpr std::string_view fields[] = {"/training/per_device_train_batch_size",
                                         "/training/per_device_eval_batch_size",
                                         "/training/gradient_accumulation_steps",
                                         "/training/padded_batches",
                                         "/training/max_length",
                                         "/vision/image_size",
                                         "/vision/images_per_sample"};
  return std::find(std::begin(fields), std::end(fields), pointer) != std::end(fields);
}

Parameters weigh(const model::Architecture& network, const recipe::Recipe& recipe) {
  Parameters p;
  p.base = model::parameter_count(network);
  Sum sum{p, recipe, 0, 0};
  const std::vector<model::PlacedLinear> linears = model::linears(network);
  for (const model::PlacedLinear& at : linears) sum.linear(at);
  const model::Linear own_head = tied_head(network);
  if (network.tied_head && !shares_head(network, recipe)) {
    sum.linear({&own_head, &network.stacks.front(), nullptr, 1});
  } else if (network.tied_head) {
    sum.beside_the_tied_head(own_head, network.stacks.front());
  }
  for (const model::Stack& stack : network.stacks) {
    const bool trained = recipe.full() && !is_frozen(stack, recipe);
    const bool norms_trained = trains_norms(recipe) && is_language(stack);
    for (const model::LayerGroup& group : stack.groups) {
      const auto layers = static_cast<double>(group.layers);
      for (const model::Norm& norm : group.norms) {
        sum.norm(norm, layers, (trained && !norm.frozen) || norms_trained, true);
      }
      sum.plain(static_cast<double>(group.other_parameters) * layers, parameter_size(recipe),
                trained && !group.frozen, true);
    }
    for (const model::Table& table : stack.tables) sum.table(table, stack, trained);
    for (const model::Norm& norm : stack.norms) {
      sum.norm(norm, 1, (trained && !norm.frozen) || norms_trained, false);
    }
    sum.plain(static_cast<double>(stack.other_parameters), parameter_size(recipe), trained, false);
  }
  sum.beside_the_linears(network);
  p.buffer_bytes = rotary_table_bytes(network, recipe);
  p.weight_bytes += p.buffer_bytes;
  p.loaded_bytes += p.buffer_bytes;
  p.replicated_bytes += p.buffer_bytes;
  p.all = p.base + p.adapter;
  for (const std::string& target : recipe.peft.target_modules) {
    if (target == "all-linear") continue;
    bool answered = is_parameter_name(target, network.stacks.front(), recipe);
    for (const model::PlacedLinear& at : linears) {
      answered = answered || (is_module(*at.linear, recipe) && answers(*at.linear, target, recipe));
    }
    answered = answered || (network.tied_head && answers(tied_head(network), target, recipe));
    for (const model::Stack& stack : network.stacks) {
      for (const model::Table& table : stack.tables)
        answered = answered || ends_with_name(table.path, target);
    }
    if (!answered) p.unmatched.push_back(target);
  }
  for (const std::string& target : recipe.peft.target_parameters) {
    const bool answered = std::any_of(linears.begin(), linears.end(), [&](const model::PlacedLinear& at) {
      return answers_parameter(*at.linear, *at.stack, target, recipe);
    });
    if (!answered) p.unmatched_parameters.push_back(target);
  }
  return p;
}

}  // namespace plimsoll::memory
