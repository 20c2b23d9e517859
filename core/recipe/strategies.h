// The strategy table: how several GPUs share the work of a run, and what that spares each of them.
//
//     const recipe::Strategy strategy = recipe::strategy_of(recipe);
//     recipe::is_zero(strategy);             // true for zero0 to zero3: DeepSpeed trains
//     recipe::shards_parameters(strategy);   // fsdp, fsdp2, zero3: a layer is gathered before it runs
//
// What each of them keeps on a rank and borrows from the others: core/memory/sharding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

enum class Strategy : uint8_t {
  none,
  ddp,    ///< every rank holds all; flat buckets hold a second copy of the gradients
  fsdp,   ///< FullyShardedDataParallel: one flat parameter a layer, gathered before use, freed after
  fsdp2,  ///< fully_shard: the same by parameter, gathered into one buffer and copied out of it
  zero0,  ///< DeepSpeed without ZeRO: its bf16 optimizer, with fp32 gradients that stay
  zero1,  ///< DeepSpeed: fp32 master weights and states in partitions
  zero2,  ///< and gradients
  zero3,  ///< and parameters
};

struct StrategyRow {
  std::string_view id;  ///< as in parallel.strategy
  Strategy strategy;
  bool fsdp = false;               ///< PyTorch's FSDP, of either kind
  bool zero = false;               ///< DeepSpeed or ColossalAI, also where ZeRO is off
  bool shards_states = false;      ///< a rank keeps its share of the optimizer's states
  bool shards_gradients = false;   ///< of the gradients
  bool shards_parameters = false;  ///< and of the parameters
};

std::span<const StrategyRow> strategies();
/// "ddp, fsdp, ... zero2 or zero3": every one that shares the work, `last` before the last of them.
std::string shared_strategies(std::string_view last);

/// `none` for a word that is not in the table.
Strategy strategy_of(std::string_view id);
Strategy strategy_of(const Recipe& recipe);

bool is_fsdp(Strategy strategy);
bool is_zero(Strategy strategy);
/// Neither: PyTorch alone, with the whole model on every GPU.
bool is_plain(Strategy strategy);
bool shards_states(Strategy strategy);
bool shards_gradients(Strategy strategy);
bool shards_parameters(Strategy strategy);

/// Processes that train together. Without a strategy one works, on all layers wherever they lie.
uint64_t processes(const Recipe& recipe);

}  // namespace plimsoll::recipe
