#include "core/recipe/strategies.h"

namespace plimsoll::recipe {

namespace {

// In the order of the enumeration.
constexpr StrategyRow strategy_rows[] = {
    {.id = "none", .strategy = Strategy::none},
    {.id = "ddp", .strategy = Strategy::ddp},
    {.id = "fsdp",
     .strategy = Strategy::fsdp,
     .fsdp = true,
     .shards_states = true,
     .shards_gradients = true,
     .shards_parameters = true},
    {.id = "fsdp2",
     .strategy = Strategy::fsdp2,
     .fsdp = true,
     .shards_states = true,
     .shards_gradients = true,
     .shards_parameters = true},
    // deepspeed/runtime/bf16_optimizer.py: fp32 weights and states in partitions, with ZeRO off as well.
    {.id = "zero0", .strategy = Strategy::zero0, .zero = true, .shards_states = true},
    {.id = "zero1", .strategy = Strategy::zero1, .zero = true, .shards_states = true},
    {.id = "zero2",
     .strategy = Strategy::zero2,
     .zero = true,
     .shards_states = true,
     .shards_gradients = true},
    {.id = "zero3",
     .strategy = Strategy::zero3,
     .zero = true,
     .shards_states = true,
     .shards_gradients = true,
     .shards_parameters = true},
};

const StrategyRow& row_of(Strategy strategy) { return strategy_rows[static_cast<std::size_t>(strategy)]; }

}  // namespace

std::span<const StrategyRow> strategies() { return strategy_rows; }

std::string shared_strategies(std::string_view last) {
  std::string out;
  for (const StrategyRow& row : strategy_rows) {
    if (row.strategy == Strategy::none) continue;
    const bool ends = &row == &strategy_rows[std::size(strategy_rows) - 1];
    if (!out.empty()) out += ends ? last : ", ";
    out += row.id;
  }
  return out;
}

Strategy strategy_of(std::string_view id) {
  for (const StrategyRow& row : strategy_rows) {
    if (row.id == id) return row.strategy;
  }
  return Strategy::none;
}
Strategy strategy_of(const Recipe& recipe) { return strategy_of(recipe.parallel.strategy); }

bool is_fsdp(Strategy strategy) { return row_of(strategy).fsdp; }
bool is_zero(Strategy strategy) { return row_of(strategy).zero; }
bool is_plain(Strategy strategy) { return !is_fsdp(strategy) && !is_zero(strategy); }
bool shards_states(Strategy strategy) { return row_of(strategy).shards_states; }
bool shards_gradients(Strategy strategy) { return row_of(strategy).shards_gradients; }
bool shards_parameters(Strategy strategy) { return row_of(strategy).shards_parameters; }

uint64_t processes(const Recipe& recipe) {
  return strategy_of(recipe) == Strategy::none ? 1 : recipe.parallel.num_gpus;
}

}  // namespace plimsoll::recipe
