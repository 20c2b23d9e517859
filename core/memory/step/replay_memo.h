// Layers and heads that were replayed before: plans differ in what lies around a layer far more often than in
// the layer.
//
//     ReplayMemo memo(network);
//     machine.memo = &memo;                   // for as long as the network lives and is not changed
//     memory::replay(network, recipe, machine);       // walks each layer
//     memory::replay(network, other, machine);        // walks those that differ
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/memory/head/head.h"
#include "core/memory/parameters/parameters.h"
#include "core/memory/step/layer_replay.h"

namespace plimsoll::memory {

class ReplayMemo {
 public:
  ReplayMemo() = default;  ///< knows no network
  explicit ReplayMemo(const model::Architecture& network) : stacks_(network.stacks.data()) {}

  /// Layers are known by their address, which moving a network does not change; a copy's are not known.
  bool knows(const model::Architecture& network) const { return stacks_ == network.stacks.data(); }

  /// The linears of a group of the network as a recipe has them, made once for each address of
  /// `known_parameters`: recipes that share one differ in nothing that `specify` reads (parameters.h).
  const Linears& linears(const Parameters& known_parameters, const model::LayerGroup& group,
                         const model::Stack& stack, const recipe::Recipe& recipe);

  /// As replay_layer; `options.trace` must be null.
  const LayerReplay& replay(const LayerProgram& program, const LayerReplayOptions& options);

  /// As replay_head; `program.trace` must be null.
  const HeadReplay& replay(const HeadProgram& program);

  uint64_t walked = 0, reused = 0;  ///< layers

 private:
  struct Entry {
    LayerProgram program;
    LayerReplayOptions options;
    LayerReplay result;
  };
  const model::Stack* stacks_ = nullptr;
  std::map<std::pair<const Parameters*, const model::LayerGroup*>, Linears> linears_;
  struct Head {
    HeadProgram program;
    HeadReplay result;
  };
  std::unordered_map<uint64_t, std::vector<Entry>> entries_;  ///< by hash
  std::unordered_map<uint64_t, std::vector<Head>> heads_;     ///< by hash
};

}  // namespace plimsoll::memory
