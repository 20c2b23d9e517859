#include "core/memory/parameters/resident.h"

#include <algorithm>
#include <cmath>

#include "core/memory/parameters/optimizer_states.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::memory {

namespace {

struct List {
  const recipe::Recipe& recipe;
  std::vector<Resident> rows;

  void plain(double elements, int kept_size) {
    if (elements <= 0) return;
    rows.push_back({elements * dtype_size(recipe.model_args.dtype), elements * kept_size, 0, "weights"});
  }

  void linear(const model::Linear& l, const model::Stack& stack) {
    const LinearSpec spec = specify(l, stack, recipe);
    const double weights = spec.in * spec.out;
    const auto count = static_cast<double>(l.count);
    const bool one_tensor = l.expert && recipe::version_at_least(recipe.versions.transformers, "5");
    if (spec.storage == Storage::plain) {
      for (double i = 0; i < (one_tensor ? 1 : count); ++i) {
        plain(weights * (one_tensor ? count : 1), spec.size);
        plain(spec.bias ? spec.out : 0, spec.size);
      }
      return;
    }
    for (double i = 0; i < count; ++i) quantised(spec, weights);
  }

  // Packed weights first, then their scales; the 16-bit matrix lives until both exist.
  void quantised(const LinearSpec& spec, double weights) {
    const int size = dtype_size(recipe.model_args.dtype);
    const bool packs_here = spec.storage == Storage::four_bit || spec.storage == Storage::eight_bit;
    const double share = spec.storage == Storage::eight_bit ? 1 : spec.packed_bits / 8;
    const double packed = std::ceil(weights * (spec.storage == Storage::four_bit ? 0.5 : share));
    rows.push_back({packed, packed, packs_here ? weights * size : 0, "weights"});
    double scales = 4 * spec.out;
    if (spec.storage == Storage::four_bit) scales = std::ceil(weights / 64) * (spec.double_quant ? 1 : 4);
    if (spec.storage == Storage::packed) scales = weights / spec.packed_group * spec.packed_scale;
    rows.push_back({scales, scales, 0, "scales", false});
    if (spec.packed_table > 0) rows.push_back({spec.packed_table, spec.packed_table, 0, "codebook", false});
    if (spec.storage == Storage::four_bit && spec.double_quant) {
      const double nested = 4 * std::ceil(std::ceil(weights / 64) / 256);
      rows.push_back({nested, nested, 0, "scales of scales", false});
    }
    plain(spec.bias ? spec.out : 0, spec.size);
  }

  void norms(const std::vector<model::Norm>& norms) {
    for (const model::Norm& norm : norms) {
      const auto width = static_cast<double>(norm.width);
      const int size = norm.frozen ? norm_size(recipe) : trained_size(recipe, norm_size(recipe));
      plain(norm.weight ? width : 0, size);
      plain(norm.bias ? width : 0, size);
    }
  }
};

// Rows that stand for `count` equal tensors, dealt out one of each in turn: a layer's tensors lie together.
template <typename Row, typename Emit>
void deal(const std::vector<Row>& rows, Emit emit) {
  double most = 0;
  for (const Row& row : rows) most = std::max(most, row.count);
  for (double i = 0; i < most; ++i) {
    for (const Row& row : rows) {
      if (i < row.count) emit(row);
    }
  }
}

}  // namespace

std::vector<Resident> resident_weights(const model::Architecture& network, const recipe::Recipe& recipe) {
  List list{recipe, {}};
  for (const model::Stack& stack : network.stacks) {
    for (const model::Table& table : stack.tables) {
      list.plain(static_cast<double>(table.rows) * static_cast<double>(table.width),
                 table_size(recipe, stack));
    }
    for (const model::LayerGroup& group : stack.groups) {
      List layer{recipe, {}};
      for (const model::Linear& linear : group.linears) layer.linear(linear, stack);
      layer.norms(group.norms);
      const int other = parameter_size(recipe);
      layer.plain(static_cast<double>(group.other_parameters),
                  group.frozen ? other : trained_size(recipe, other));
      for (uint64_t i = 0; i < group.layers; ++i) {
        list.rows.insert(list.rows.end(), layer.rows.begin(), layer.rows.end());
      }
    }
    list.norms(stack.norms);
    for (const model::Linear& linear : stack.linears) list.linear(linear, stack);
    list.plain(static_cast<double>(stack.other_parameters), parameter_size(recipe));
  }
  return std::move(list.rows);
}

std::vector<double> trained_tensors(const Parameters& parameters) {
  std::vector<double> bytes;
  deal(parameters.trained,
       [&bytes](const Trained& t) { bytes.push_back(t.rows * std::max(1.0, t.columns) * t.size); });
  return bytes;
}

std::vector<double> state_tensors(const Parameters& parameters, const std::string& optim) {
  std::vector<double> bytes;
  const recipe::Optimizer* o = recipe::find_optimizer(optim);
  if (o == nullptr) return bytes;
  const int pieces = o->state_in_parameter_dtype >= 2 || o->scales >= 2 ? 2 : 1;
  struct States {
    double count, bytes;  // of a tensor
  };
  std::vector<States> states;
  for (const Trained& t : parameters.trained) {
    Parameters one;
    one.trained.push_back(t);
    one.trained.back().count = 1;
    states.push_back({t.count, optimizer_state_bytes(one, optim, nullptr)});
  }
  deal(states, [&bytes, pieces](const States& s) {
    for (int i = 0; i < pieces && s.bytes > 0; ++i) bytes.push_back(s.bytes / pieces);
  });
  return bytes;
}

}  // namespace plimsoll::memory
