#include "core/memory/parameters/parameters.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/json/rounding.h"
#include "core/memory/parameters/module_names.h"
#include "core/memory/parameters/projected.h"
#include "core/memory/parameters/rotary_tables.h"
#include "core/memory/parameters/stacked_adapters.h"
#include "core/recipe/stacks.h"

namespace plimsoll::memory {

namespace {

using model::Role;

constexpr double small_tensor = 512;  // the allocator's rounding: tables and offsets cost that much each

// By the rows of recipe/quantization_formats.cpp.
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

  // Splits the last trained tensors in those that GaLore or APOLLO projects and the others.
  void project(const std::string& path) {
    const double share = projected_share(path, recipe), rank = recipe.projection_rank();
    if (share == 0 || rank == 0) return;
    Trained others = p.trained.back();
    p.trained.back().rank = rank;
    if (share == 1) return;
    p.trained.back().count *= share;
    others.count *= 1 - share;
    others.idle = 0;
    p.trained.push_back(others);
  }

  void train(double rows, double columns, int size, double count, bool in_layers, bool in_adapter) {
    const double elements = rows * std::max(1.0, columns) * count;
    p.trainable += json::count_of(elements);
    p.trained_bytes += elements * size;
    if (!in_layers) p.outside_layer_gradients += elements * size;
    p.largest_trained = std::max(p.largest_trained, elements / count * size);
    if (in_adapter) {
      p.adapter += json::count_of(elements);
      p.adapter_bytes += elements * size;
    }
    p.trained.push_back({rows, columns, size, count});
    if (!in_layers) p.trained.back().place = Place::behind_layers;
  }

  void matched(const std::string& path) {
    const std::string leaf = path.substr(path.rfind('.') + 1);
    if (std::find(p.matched.begin(), p.matched.end(), leaf) == p.matched.end()) p.matched.push_back(leaf);
  }

  // Of layers that nobody reads: they are trained, and get no gradient, nor states where these come with it.
  static double unread(const model::PlacedLinear& at) {
    const bool last = at.group != nullptr && at.group == &at.stack->groups.back();
    const uint64_t layers = last ? std::min(at.stack->unread_layers, at.group->layers - 1) : 0;
    return static_cast<double>(layers * at.linear->count);
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
    if (spec.trainable && is_one_tensor(at, recipe)) return experts(at, spec);
    if (spec.trainable) {
      const double idle = unread(at);
      train(in, out, spec.size, total - idle, in_layers, false);
      p.trainable += static_cast<uint64_t>((in * out + (l.bias ? out : 0)) * idle);
      if (l.role == Role::down) p.trained.back().place = Place::ends_layer;
      p.trained.back().idle = idle;
      project(l.path);
      if (l.bias) train(out, 0, spec.size, total - idle, in_layers, false);
      return;
    }
    if (l.unread && recipe.full() && !l.frozen) p.trainable += static_cast<uint64_t>(in * out * total);
    adapter(spec, l, total, in_layers);
    const bool lora_bias =
        recipe.peft.on && (recipe.peft.bias == "all" || (recipe.peft.bias == "lora_only" && spec.r > 0));
    if (lora_bias && l.bias) train(out, 0, spec.size, total, in_layers, false);
    if (is_saved_in_full(l.path, recipe)) {
      train(in, out, spec.size, total, in_layers, true);
      if (l.bias) train(out, 0, spec.size, total, in_layers, true);
    }
  }

  void adapter(const LinearSpec& spec, const model::Linear& l, double total, bool in_layers) {
    if (spec.tuner != nullptr) tuner(spec, l.path, total, in_layers);
    if (spec.r == 0) return;
    matched(l.path);
    const double wide = spec.stacked ? static_cast<double>(l.count) : 1;  // one pair for all experts
    train(spec.r * spec.parts * wide, spec.in, spec.adapter_size, total / wide, in_layers, true);
    train(adapted(spec), spec.r * wide, spec.adapter_size, total / wide, in_layers, true);
    if (recipe.peft.peft_type == "ADALORA") train(spec.r, 0, spec.adapter_size, total, in_layers, true);
    if (recipe.peft.lora_bias) train(spec.out, 0, spec.adapter_size, total, in_layers, true);
    if (recipe.peft.use_dora) train(adapted(spec), 0, spec.adapter_size, total, in_layers, true);
  }

  void experts(const model::PlacedLinear& at, const LinearSpec& spec) {
    const model::Linear& l = *at.linear;
    const auto in = static_cast<double>(l.in), out = static_cast<double>(l.out);
    const auto has = [&at](model::Role role) { return model::find(*at.group, role) != nullptr; };
    const double halves = l.role == model::Role::gate && has(model::Role::up) ? 2 : 1;
    if (l.role != model::Role::up || !has(model::Role::gate)) stacked(at, in, halves * out, spec.size);
    if (l.bias) stacked(at, out, 0, spec.size);
  }

  void stacked(const model::PlacedLinear& at, double rows, double columns, int size) {
    train(rows, columns, size, static_cast<double>(at.total), true, false);
    Trained& all = p.trained.back();
    if (at.linear->role == Role::down && columns > 0) all.place = Place::ends_layer;
    all.stacked = static_cast<double>(at.linear->count);
    all.count /= all.stacked;
    p.largest_trained = std::max(p.largest_trained, rows * std::max(1.0, columns) * all.stacked * size);
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
    adapter(spec, head, 1, false);
  }

  void table(const model::Table& t, const model::Stack& stack, bool trained) {
    const auto rows = static_cast<double>(t.rows), width = static_cast<double>(t.width);
    const int size = table_size(recipe, stack);
    const auto train_table = [&](bool in_adapter) {
      train(rows, width, size, 1, false, in_adapter);
      p.trained.back().full_states = recipe::stack_traits(recipe.stack).trainers_optimizer;
    };
    p.weight_bytes += rows * width * size;
    p.loaded_bytes += rows * width * dtype_size(recipe.model_args.dtype);
    if (trained && t.trained) {
      train_table(false);
      p.trained.back().place = Place::before_layers;
    }
    if (is_saved_in_full(t.path, recipe)) train_table(true);
    if (trains_tokens(t, stack, recipe)) {
      train(static_cast<double>(recipe.peft.num_trainable_tokens), width,
            dtype_size(recipe.peft.adapter_dtype), 1, false, true);
    }
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

FourBit four_bit(double weights, bool double_quant) {
  const double blocks = std::ceil(weights / absmax_block);
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
  const bool some =
      t.freeze_trainable_layers + t.llamapro_num_new_blocks > 0 || !t.unfrozen_parameters.empty();
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

Parameters count_parameters(const model::Architecture& network, const recipe::Recipe& recipe) {
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
