// The highest moments of a composed run, from the numbers of its layers alone.
//
//     PeakSink peaks(standing);
//     Composer(peaks, program, rank).step({});
//     peaks.highest(Phase::loss).total();
//
// From one equal layer to the next everything changes by a constant, so the highest moment is at the first or
// at the last. The first and the last two are played: the layers at the ends of a stack fetch less ahead, and
// differ in what their neighbours leave.
#pragma once

#include <array>
#include <cstdint>

#include "core/memory/step/composer.h"

namespace plimsoll::memory {

class PeakSink {
 public:
  struct Handle {
    Component component;
    double bytes;
  };
  static constexpr Handle nothing{Component::transient, 0};
  struct Gradients {
    double bytes = 0;
  };
  struct Layer {
    const Stage* stage = nullptr;
    const LayerRun* run = nullptr;
  };
  using Head = const NetworkRun*;

  explicit PeakSink(const Snapshot& standing) { now_.live = standing; }

  const Snapshot& highest(Phase phase) const { return highest_[static_cast<std::size_t>(phase)]; }
  /// When the loss is known: all that the backward will need, and outputs still held.
  const Snapshot& waiting() const { return waiting_; }
  const Snapshot& live() const { return now_.live; }

  void enter(Phase phase);
  void section(const char* /*part*/, int32_t /*layer*/ = -1) {}
  void begin_micro_batch(uint8_t /*number*/, bool /*gradients_exist*/) {}

  Handle allocate(Component component, double bytes, const char* what, Stream stream = Stream::computing);
  void release(const Handle& handle) { now_.live[handle.component] -= handle.bytes; }
  void become(Handle& handle, Component component);
  void put(Pool pool, const Handle& handle) { of(pool)[handle.component] += handle.bytes; }
  void release_all(Pool pool);
  double bytes(Pool pool) const { return now_.pools[static_cast<std::size_t>(pool)].total(); }
  void release(const Gradients& made) { now_.live[Component::gradients] -= made.bytes; }
  void keep(const Gradients& made) { of(Pool::gradients)[Component::gradients] += made.bytes; }

  Layer enter(const Stage& stage, const LayerRun& run, const Handle& /*stream*/) { return {&stage, &run}; }
  Handle layer_forward(const Layer& layer);
  Gradients layer_backward(const Layer& layer, Handle& gradient);
  /// Of a layer that never goes backward.
  void forget(const Layer& layer);

  Head head_forward(const NetworkRun& network, const Handle& stream);
  void loss_known(Head head);
  Gradients head_backward(Head head, Handle& gradient);

  template <class Body>
  void repeat(int32_t times, Body&& body) {
    constexpr int32_t ends = 2;
    for (int32_t i = 0; i < times && i < ends - 1; ++i) body(i);
    if (times > 2 * ends) {
      const State before = now_;
      body(ends - 1);
      go_on(before, times - 2 * ends);
    } else if (times >= ends) {
      body(ends - 1);
    }
    for (int32_t i = std::max(ends, times - ends); i < times; ++i) body(i);
  }

  /// Something is as high as that beside what is alive.
  void raise(const Snapshot& beside);

 private:
  struct State {
    Snapshot live;
    std::array<Snapshot, pool_count> pools{};
  };
  Snapshot& of(Pool pool) { return now_.pools[static_cast<std::size_t>(pool)]; }
  void made(Pool pool, Component component, double bytes);
  // As many times more what has changed since `before`.
  void go_on(const State& before, double times);
  void look();
  void drop_remainders();

  State now_;
  Phase phase_ = Phase::forward;
  std::array<Snapshot, traced_phases> highest_{};
  std::array<double, traced_phases> totals_{};
  Snapshot waiting_;
};

}  // namespace plimsoll::memory
