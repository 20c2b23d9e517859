// Measured runs, and which of them are nearest to a request: an estimate is as good as the runs it was held
// against.
//
//     std::vector<Nearest> near = nearest_runs(run.resolved.recipe, parameters, catalog.evidence, 5);
//     near.front().run->id;            // "fms-033"
//     near.front().distance;           // 0: same stack, method and size, library of the same age
//     widening(recipe, network, catalog.evidence);   // 1; more where nothing alike was measured
//
// presets/evidence/runs.json is written by `plimsoll_accuracy --evidence tests/measured/runs.json`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::run {

struct Measured {
  std::string id, source, stack;
  std::string method;                                 ///< full, lora, qlora
  double parameters = 0;                              ///< of the base
  double release = 0;                                 ///< of Transformers, counted in minor releases
  std::optional<double> allocated, reserved, device;  ///< predicted / measured - 1
};

/// Appends the runs of one file.
void read_evidence(const json::Json& value, const std::string& path, std::vector<Measured>& runs,
                   json::Errors& errors);

struct Nearest {
  const Measured* run = nullptr;
  double distance = 0;
};

/// How a recipe is told apart from others: "full", "lora" or "qlora".
std::string method_of(const recipe::Recipe& recipe);

/// Transformers releases counted on: 4.57 is 57, 5.0 comes after it.
double release_of(const std::string& version);

/// Up to `count`, nearest first.
std::vector<Nearest> nearest_runs(const recipe::Recipe& recipe, double parameters,
                                  const std::vector<Measured>& runs, std::size_t count);

/// Where the allocated peak of a run like this one lies, as shares of the estimate: what the nearest runs
/// that recorded it measured, and beyond that, the less the nearer they are, what runs of unknown sources
/// did. `nearest`: all runs, nearest first. It contains nineteen of twenty exactly specified ones
/// (tests/measured).
struct Span {
  double low = 1, high = 1;
};
Span allocated_span(const std::vector<Nearest>& nearest, bool sharded = false);

/// Whether Unsloth runs this model in fp32, as it does with some where the card has no bfloat16.
bool runs_in_fp32_in_unsloth(const recipe::Recipe& recipe, const model::Architecture& network);

/// What the high end of the band is multiplied by: a tenth more for each unit of distance in stack and
/// release to the nearest measured runs, since nothing else says how sure an estimate is. 1.5 for a
/// Transformers more than five releases older than any measured one: who upcasts what, which copies of
/// logits, keys and values exist and what checkpointing keeps changed every few releases, and each of these
/// moves a peak by a tenth to a quarter.
/// 1.5 too for state-space layers, Gemma 3n's streams, and what Unsloth runs in fp32 on cards without bfloat16.
double widening(const recipe::Recipe& recipe, const model::Architecture& network,
                const std::vector<Measured>& runs);

}  // namespace plimsoll::run
