// A run fed to PyTorch's caching allocator: what it holds, and what it could not do without.
//
//     Reserve r = simulate(unroll(network, recipe, machine), {.settings = read_allocator_settings("")});
//     r.reserved;             // torch.cuda.max_memory_reserved()
//     r.allocated;            // max_memory_allocated(): blocks, which may be larger than the tensors in them
#pragma once

#include <array>
#include <memory>
#include <unordered_map>

#include "core/memory/allocator/caching_allocator.h"
#include "core/memory/step/phase.h"
#include "core/memory/step/unroll.h"

namespace plimsoll::memory {

struct AllocatorRun {
  AllocatorSettings settings;
  uint64_t empty_cache_steps = 0;  ///< torch_empty_cache_steps of the Trainer; 0: never
  uint64_t capacity = UINT64_MAX;  ///< bytes that the driver can give
  bool frugal = false;             ///< give back what is free before every new segment
  uint64_t most = UINT64_MAX;      ///< a run that reserves more is not played to its end
};

struct Reserve {
  bool died = false;    ///< a request failed though everything cached was given back
  bool beyond = false;  ///< more than `most` was reserved: a part of the run was played
  uint64_t allocated = 0, reserved = 0;
  uint64_t loaded_allocated = 0, loaded_reserved = 0;  ///< before the first step
  std::array<uint64_t, traced_phases> by_phase{};      ///< highest reserved until the end of it, by Phase
  uint64_t retries = 0;
  /// Where it died: the request that failed, and what was allocated then.
  std::size_t died_in = 0, died_at = 0;  ///< index of the section, of the event
  uint64_t held = 0;
};

Reserve simulate(const Unrolled& run, const AllocatorRun& how);

/// Whether the list of a run tells what its allocator meets, on several cards too: each stream has blocks of
/// its own. Not where saved tensors or DeepSpeed's states are on their way to host memory, nor of compiled
/// layers, which lay out their own memory.
bool simulates(const recipe::Recipe& recipe);
/// Nor where the peak has more bytes than are counted exactly, 2^53.
bool simulates(const recipe::Recipe& recipe, const Replay& replay);

struct Margins {
  double most = 1;  ///< what is reserved may be multiplied with, to contain the runs that were measured
  double sure = 1;  ///< what is needed must be multiplied with, to be enough
};
Margins margins_of(const recipe::Recipe& recipe);

/// What a report says of the allocator.
struct SimulatedReserve {
  Reserve roomy;         ///< with room to spare
  Reserve frugal;        ///< when free segments go back before every new one
  bool pressed = false;  ///< the card has less than `roomy` takes
  Reserve on_card;       ///< then: on that card, cached blocks given back when a request fails
  uint64_t needed = 0;   ///< reserved bytes that it cannot do without
  Margins margins;
};

/// What somebody wants to know of it.
struct ReserveQuestion {
  /// What the card leaves to PyTorch, its context not counted; UINT64_MAX: no card was chosen.
  uint64_t capacity = UINT64_MAX;
  /// fits: whether it lives on the card, and with at most `suffices`. needed: whether `needed` is at most that. No
  /// more is played than decides it: `pressed`, `on_card` and `needed` are as good as they must be, the rest is not.
  /// held: as fits, and where it does, `roomy` is there as well.
  enum class Asked : uint8_t { all, fits, held, needed };
  Asked asked = Asked::all;
  uint64_t suffices = 0;
};

/// Lists that were played before: many questions come to the same list.
using ReserveMemo = std::unordered_map<uint64_t, Reserve>;

/// `memo`: null, or kept between calls.
SimulatedReserve simulated_reserve(const model::Architecture& network, const recipe::Recipe& recipe,
                                   const Machine& machine, const ReserveQuestion& question,
                                   ReserveMemo* memo = nullptr);

/// That function and its memo, or null: handed on so that a program that never simulates need not link it.
class Simulator {
 public:
  Simulator() = default;
  /// `memo`: kept between runs, or null: of this run alone.
  explicit Simulator(decltype(&simulated_reserve) simulate, std::shared_ptr<ReserveMemo> memo = nullptr)
      : simulate_(simulate), memo_(memo ? std::move(memo) : std::make_shared<ReserveMemo>()) {}
  explicit operator bool() const { return simulate_ != nullptr; }
  SimulatedReserve operator()(const model::Architecture& network, const recipe::Recipe& recipe,
                              const Machine& machine, const ReserveQuestion& question) const {
    return simulate_(network, recipe, machine, question, memo_.get());
  }

 private:
  decltype(&simulated_reserve) simulate_ = nullptr;
  std::shared_ptr<ReserveMemo> memo_;
};

}  // namespace plimsoll::memory
