// A request understood: the network, the resolved recipe, the GPU, and the replay of its step. Reports, plans
// and comparisons all begin here.
//
//     json::Errors errors;
//     std::optional<Run> run = read_run(request_text, catalog, errors);
//     if (!run) ...                                 // errors says what was wrong
//     run->replay.at_peak().phase;
#pragma once

#include <optional>
#include <string_view>

#include "core/hardware/gpu.h"
#include "core/memory/allocator/card.h"
#include "core/memory/step/replay.h"
#include "core/memory/step/replay_memo.h"
#include "core/run/catalog.h"

namespace plimsoll::run {

struct Run {
  recipe::Request given;
  model::Architecture network;
  /// The same with adapters on all of it, where full fine-tuning trains some layers alone.
  std::optional<model::Architecture> adapted_network;
  const ModelEntry* entry = nullptr;  ///< null for a pasted config
  const recipe::StackPreset* stack = nullptr;
  std::vector<std::string> dynamic_modules;  ///< core/run/dynamic_checkpoint.h
  recipe::Resolved resolved;
  const hardware::Gpu* gpu = nullptr;  ///< null when no GPU was chosen
  memory::Machine machine;
  hardware::Context context;
  memory::Replay replay;
  memory::Simulator simulator;                        ///< of the caching allocator; none in a quick run
  std::optional<memory::SimulatedReserve> simulated;  ///< where there is one, and the run can be simulated
  std::vector<Nearest> nearest;                       ///< measured runs
  Span allocated_span;                                ///< of the allocated peak, as shares of the estimate
  double widening = 1;  ///< of the high end of the band, where nothing near was measured
};

/// Nothing when there is an error: every one that can be told at once is in `errors`.
/// `memo` receives what the replay of this run may leave to those that follow; it is for as long as the run
/// lives.
std::optional<Run> read_run(std::string_view request, const Catalog& catalog, json::Errors& errors,
                            memory::ReplayMemo* memo = nullptr);
std::optional<Run> read_run(recipe::Request given, const Catalog& catalog, json::Errors& errors,
                            memory::ReplayMemo* memo = nullptr);
/// The same with the usual reserve where the caching allocator would be simulated: a tenth of the time.
std::optional<Run> read_quick_run(std::string_view request, const Catalog& catalog, json::Errors& errors,
                                  memory::ReplayMemo* memo = nullptr);
std::optional<Run> read_quick_run(recipe::Request given, const Catalog& catalog, json::Errors& errors,
                                  memory::ReplayMemo* memo = nullptr);
/// Another request, its reserve found as that of `run`.
std::optional<Run> read_like(const Run& run, recipe::Request given, const Catalog& catalog,
                             json::Errors& errors);

/// The request with another of the presets as its model, its reserve found as that of `run`: defaults follow the model.
std::optional<Run> with_model(const Run& run, const ModelEntry& entry, const Catalog& catalog);

/// What the network weighs; null where the replay has joined it with a value network's.
const memory::Parameters* known_parameters(const Run& run);

/// The machine of a run with its memo, and with what the network weighs.
memory::Machine with_memo(const Run& run, memory::ReplayMemo& memo);

/// What defaults depend on besides the request.
recipe::ModelTraits model_traits(const Run& run);

/// The same run on another card, replayed; its allocator is not simulated yet.
Run on_gpu(const Run& run, const hardware::Gpu& gpu);
/// Simulates the allocator, where the run has a simulator and can be simulated.
void simulate(Run& run);

/// What driver, kernels and, with several cards, NCCL hold of one of them, or what the request states.
hardware::Context context_on(const hardware::Gpu& gpu, const recipe::Hardware& request, uint64_t cards);

/// Sizes of an instant of this run, and of its peak.
memory::Sizes sizes_of(const memory::Instant& instant, const Run& run);
memory::Sizes sizes_at_peak(const Run& run);
/// The same on a card that is large enough, for other sizes than the chosen one: that it dies on this one says
/// nothing of them.
memory::Sizes sizes_with_room(const Run& run);
/// On a card of another size, of which a colocated vLLM takes its share.
memory::Sizes sizes_on(const Run& run, const hardware::Tier& tier);
/// The chosen card, with the simulator of the run.
memory::Card card_of(const Run& run);
/// Whether it fits that card, simulated as far as the usual reserve leaves it open.
bool fits(const Run& run);
/// A replay with another recipe or network as this run's: its widening, with memory::fits and the like.
memory::ReplayedRun like(const Run& run, const model::Architecture& network, const recipe::Recipe& recipe,
                         const memory::Replay& replay);
/// What the chosen memory size leaves to this run: usable bytes less what other programs hold.
double usable_for(const Run& run, uint64_t usable_bytes);

/// The same of the chosen card; infinite where none was chosen.
double usable_on_card(const Run& run);

/// What a checkpoint to resume from takes on disk: the trained weights and, unless save_only_model, the states of all
/// ranks; a few files more of no size.
double checkpoint_bytes(const Run& run);

/// Whether the run is written down tensor by tensor for the timeline (core/memory/step/unroll.h).
bool unrolls(const Run& run);

/// Whether the request asks for an optional part of the report ("plans", "limits", ...).
bool wants(const Run& run, std::string_view part);

}  // namespace plimsoll::run
