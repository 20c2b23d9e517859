// What the ranks of a sharded run gather together: the layers of each group, and what lies outside them.
//
//     const Units units{network, recipe};
//     double outside = all - units.layers();       // bytes
//     units.gather([](double layer) { return GatheredLayer{layer, layer, layer}; });
//
// Of a GPU that holds everything; in the types of the recipe.
#pragma once

#include <vector>

#include "core/memory/sharding/sharding.h"

namespace plimsoll::memory {

double layer_bytes(const model::LayerGroup& group, const model::Stack& stack, const recipe::Recipe& recipe);
double sum_of(const WrappedUnit& unit);
/// One layer of each group, then what lies outside the layers.
std::vector<WrappedUnit> wrapped_units(const model::Architecture& network, const recipe::Recipe& recipe);

struct Units {
  const model::Architecture& network;
  const recipe::Recipe& recipe;

  double layers() const;
  /// Of the text, by which words are looked up.
  double embedding() const;
  double head() const;
  /// By stack and group: what `gathered_layer` makes of a layer's bytes.
  template <class Gathering>
  std::vector<std::vector<GatheredLayer>> gather(Gathering gathered_layer) const {
    std::vector<std::vector<GatheredLayer>> all;
    for (const model::Stack& stack : network.stacks) {
      all.emplace_back();
      for (const model::LayerGroup& group : stack.groups)
        all.back().push_back(gathered_layer(layer_bytes(group, stack, recipe)));
    }
    return all;
  }
};

}  // namespace plimsoll::memory
