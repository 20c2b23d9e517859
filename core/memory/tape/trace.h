// What a tape did, written down: tensors made, freed, and what they became.
//
//     std::vector<Event> events;
//     tape.trace = &events;
//     run_layer(tape, program, x);
//     for (const Event& e : events) print(e.kind, e.tensor, e.bytes, e.what);
//
// A tensor is told by its number. Tensors of no bytes are left out, and views: they have no storage.
#pragma once

#include <cstdint>
#include <vector>

namespace plimsoll::memory {

enum class Component : uint8_t;

/// All of it is given when one is made: without defaults, lists of them are copied at one go.
struct Event {
  enum class Kind : uint8_t {
    allocate,
    release,
    become,  ///< another component: a result that autograd now keeps, scores over the vocabulary
  } kind;
  Component component;
  bool whole;  ///< false: tensors that the list leaves out are alive after it (drawn_forms.h)
  uint32_t tensor;
  double bytes;      ///< of the tensor, in every kind of event
  const char* what;  ///< the operation that made it
};

using Trace = std::vector<Event>;

}  // namespace plimsoll::memory
