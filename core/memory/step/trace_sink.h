// A composed run, written down: every tensor that is made and released, layer by layer.
//
//     TraceSink trace(forms, forms);
//     Composer(trace, program, rank).step({});
//     trace.finish().events;
//
// Each kind of layer was walked once (LayerTrace) and is written down as often as the network has it.
#pragma once

#include <array>

#include "core/memory/step/composer.h"
#include "core/memory/step/layer_forms.h"
#include "core/memory/step/unroll.h"

namespace plimsoll::memory {

/// Numbers of a layer's own tape to numbers of the run; some of its tensors belong to its neighbours.
struct Places {
  static constexpr uint32_t none = UINT32_MAX;
  uint32_t base = 0;
  uint32_t own[2] = {none, none}, outside[2] = {none, none};
  uint32_t operator()(uint32_t local) const {
    if (local == own[0]) return outside[0];
    if (local == own[1]) return outside[1];
    return base + local;
  }
};

/// The events of one network's layers, in the order of its runs, and of its head.
struct NetworkForms {
  const NetworkRun* network = nullptr;
  std::vector<const LayerRun*> runs;
  std::vector<LayerForms> layers;
  HeadTrace head;
};
/// What is played of one micro-batch: the one that makes the gradients, or one that adds to them.
using Forms = std::vector<NetworkForms>;

class TraceSink {
 public:
  using Handle = Event;
  static constexpr Event nothing{Event::Kind::allocate, Component::transient, true, Places::none, 0, ""};
  struct Gradients {
    Trace events;
    double bytes = 0;
  };
  struct Layer {
    const Stage* stage = nullptr;
    const LayerRun* run = nullptr;
    const LayerForms* forms = nullptr;
    Places places;
  };
  struct Head {
    const HeadTrace* events = nullptr;
    Places places;
    Event stream = nothing;
    std::vector<const Event*> alive;  // by number
    bool input_released = false;
  };

  TraceSink(const Forms& making, const Forms& adding) : making_(making), adding_(adding) {}
  void reserve(std::size_t events) { out_.events.reserve(out_.events.size() + events); }
  void begin_step(uint8_t step) { step_ = step; }
  Unrolled finish();

  void enter(Phase phase) { phase_ = phase; }
  void section(const char* part, int32_t layer = -1);
  void begin_micro_batch(uint8_t number, bool gradients_exist);

  /// A tensor that no tape made; nothing when it has no bytes.
  Event allocate(Component component, double bytes, const char* what, Stream stream = Stream::computing);
  void release(const Event& event) { push(event, Event::Kind::release); }
  void become(Event& event, Component component);
  void put(Pool pool, const Event& event) { of(pool).push_back(event); }
  void release_all(Pool pool);
  double bytes(Pool pool) const;
  void release(const Gradients& made);
  void keep(const Gradients& made);

  Layer enter(const Stage& stage, const LayerRun& run, const Event& stream);
  Event layer_forward(const Layer& layer);
  Gradients layer_backward(const Layer& layer, Event& gradient);
  /// Of a layer that never goes backward.
  void forget(const Layer& layer);

  Head head_forward(const NetworkRun& network, const Event& stream);
  void loss_known(Head& head);
  Gradients head_backward(Head& head, Event& gradient);

  template <class Body>
  void repeat(int32_t times, Body&& body) {
    for (int32_t i = 0; i < times; ++i) body(i);
  }

 private:
  void push(Event event, Event::Kind kind);
  Trace& of(Pool pool) { return pools_[static_cast<std::size_t>(pool)]; }
  void play(const Trace& events, const Places& places);
  void play(Head& head, std::size_t from, std::size_t to);

  Unrolled out_;
  std::array<Trace, pool_count> pools_;
  const Forms& making_;
  const Forms& adding_;
  const Forms* playing_ = nullptr;
  Phase phase_ = Phase::load;
  uint8_t step_ = 0, micro_batch_ = 0;
};

}  // namespace plimsoll::memory
