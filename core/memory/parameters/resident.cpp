#include "core/memory/parameters/resident.h"

#include <algorithm>
#include <cmath>

#include "core/memory/parameters/ledger.h"
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

  void linear(const Entry& entry) {
    const LinearSpec& spec = entry.spec;
    const bool one_tensor =
        entry.linear->expert && recipe::version_at_least(recipe.versions.transformers, "5");
    if (spec.storage == Storage::plain) {
      for (double i = 0; i < (one_tensor ? 1 : entry.count); ++i) {
        plain(entry.elements * (one_tensor ? entry.count : 1), spec.size);
        plain(spec.bias ? spec.out : 0, spec.size);
      }
      return;
    }
    for (double i = 0; i < entry.count; ++i) quantised(spec, entry.elements);
  }

  // Packed weights first, then their scales; the 16-bit matrix lives until both exist.
  void quantised(const LinearSpec& spec, double weights) {
    const int size = dtype_size(recipe.model_args.dtype);
    const bool packs_here = spec.storage == Storage::four_bit || spec.storage == Storage::eight_bit;
    const FourBit four = four_bit(weights, spec.double_quant);
    double packed = four.packed, scales = four.scales;
    if (spec.storage == Storage::eight_bit) {
      packed = weights;
      scales = 4 * spec.out;
    } else if (spec.storage == Storage::packed) {
      packed = std::ceil(weights * spec.packed_bits / 8);
      scales = weights / spec.packed_group * spec.packed_scale;
    }
    rows.push_back({packed, packed, packs_here ? weights * size : 0, "weights"});
    rows.push_back({scales, scales, 0, "scales", false});
    if (spec.packed_table > 0) rows.push_back({spec.packed_table, spec.packed_table, 0, "codebook", false});
    if (spec.storage == Storage::four_bit && spec.double_quant)
      rows.push_back({four.scales_of_scales, four.scales_of_scales, 0, "scales of scales", false});
    plain(spec.bias ? spec.out : 0, spec.size);
  }

  void norm(const Entry& entry) {
    plain(entry.elements, entry.norm->frozen ? entry.size : trained_size(recipe, entry.size));
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
    visit_tables(stack, recipe, [&list](const Entry& one) { list.plain(one.elements, one.size); });
    for (const model::LayerGroup& group : stack.groups) {
      List layer{recipe, {}};
      visit_layer(group, stack, recipe, [&](const Entry& one) {
        if (one.linear != nullptr) return layer.linear(one);
        if (one.norm != nullptr) return layer.norm(one);
        layer.plain(one.elements, group.frozen ? one.size : trained_size(recipe, one.size));
      });
      for (uint64_t i = 0; i < group.layers; ++i) {
        list.rows.insert(list.rows.end(), layer.rows.begin(), layer.rows.end());
      }
    }
    visit_after(stack, recipe,
                [&list](const Entry& one) { one.linear != nullptr ? list.linear(one) : list.norm(one); });
    visit_other(stack.other_parameters, recipe,
                [&list](const Entry& one) { list.plain(one.elements, one.size); });
  }
  return std::move(list.rows);
}

std::vector<double> trained_tensors(const Parameters& parameters) {
  std::vector<double> bytes;
  deal(parameters.trained, [&bytes](const Trained& t) { bytes.push_back(t.elements() * t.size); });
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
