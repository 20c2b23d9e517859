// The liveness engine: a forward and backward pass as tensors that are born and die.
//
// A program over the tape reads like the Python it stands for. A Tensor is a counted reference, as a Python
// variable is: when the last one goes, the bytes are free. An operation says what it keeps for its backward,
// and what that backward allocates, in order.
//
//     Tape tape;
//     Tensor x = tape.input(tokens * hidden, 2, /*needs_grad=*/true);
//     Tensor y = activation(tape, mode, silu, linear(tape, mode, x, up));   // silu keeps the linear's result
//     double highest_forward = tape.peak().total();
//     tape.seed_gradient(y);
//     tape.mark();
//     tape.backward();
//     double highest_backward = tape.peak().total();
//
// Rules of autograd that are modelled (PyTorch 2.x torch/csrc/autograd): nodes run newest first; a saved
// tensor is released after its node ran; a gradient that meets another one is added in place when it is not
// shared, else into a new tensor; nodes exist only where a gradient is needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "core/memory/tape/trace.h"

namespace plimsoll::memory {

/// What a live byte is, as the report names it.
enum class Component : uint8_t {
  weights,
  adapters,
  gradients,
  optimizer,
  boundaries,
  activations,
  logits,
  autocast,
  transient,
  kv_cache,
  inputs,
  workspace,
  gathered,       ///< parameters on loan from other ranks
  buckets,        ///< buffers for what ranks send each other
  frozen_models,  ///< beside the one that is trained: reference, reward
  engine,         ///< an inference engine on the same GPU
};
constexpr std::size_t component_count = 16;

/// Live bytes by component at one moment.
struct Snapshot {
  std::array<double, component_count> bytes{};
  double& operator[](Component c) { return bytes[static_cast<std::size_t>(c)]; }
  double operator[](Component c) const { return bytes[static_cast<std::size_t>(c)]; }
  double total() const {
    double sum = 0;
    for (double b : bytes) sum += b;
    return sum;
  }
};
Snapshot operator+(Snapshot a, const Snapshot& b);

/// One component alone.
inline Snapshot only(Component component, double bytes) {
  Snapshot snapshot;
  snapshot[component] = bytes;
  return snapshot;
}

class Tape;

/// A counted reference to a tensor on a tape; empty when default-made.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Tape* tape, uint32_t id) : tape_(tape), id_(id) {}  // takes over one reference
  Tensor(const Tensor& other) : tape_(other.tape_), id_(other.id_) {
    if (tape_ != nullptr) retain();
  }
  Tensor(Tensor&& other) noexcept : tape_(std::exchange(other.tape_, nullptr)), id_(other.id_) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(tape_, other.tape_);
    std::swap(id_, other.id_);
    return *this;
  }
  // Most are moved on and have nothing to give back.
  ~Tensor() { free(); }

  explicit operator bool() const { return tape_ != nullptr; }
  uint32_t id() const { return id_; }
  double elements() const;
  int size() const;  ///< bytes an element
  double bytes() const { return elements() * size(); }
  bool needs_grad() const;
  /// Forgets it now.
  void free() {
    if (tape_ != nullptr) release();
  }

 private:
  void retain() const;
  void release();
  Tape* tape_ = nullptr;
  uint32_t id_ = 0;
};

/// One allocation of a backward function.
struct Step {
  enum class Kind : uint8_t {
    temporary,        ///< lives until the function ends
    end_temporary,    ///< the temporaries so far are free from here on
    gradient,         ///< of input `index`, a new tensor
    reuse,            ///< the first saved tensor, overwritten, becomes the gradient of input `index`
    pass,             ///< the incoming gradient itself goes to input `index`
    weight_gradient,  ///< of a parameter: stays, or is added to the one that is there
  } kind;
  uint8_t index = 0;
  double bytes = 0;
  Component component = Component::transient;
};
inline Step temporary(double bytes) { return {Step::Kind::temporary, 0, bytes, Component::transient}; }
inline Step end_temporary() { return {Step::Kind::end_temporary, 0, 0, Component::transient}; }
inline Step gradient(uint8_t input, double bytes) {
  return {Step::Kind::gradient, input, bytes, Component::transient};
}
inline Step reuse(uint8_t input) { return {Step::Kind::reuse, input, 0, Component::transient}; }
inline Step pass(uint8_t input) { return {Step::Kind::pass, input, 0, Component::transient}; }
inline Step weight_gradient(double bytes) {
  return {Step::Kind::weight_gradient, 0, bytes, Component::gradients};
}

/// First to last. Standard libraries differ in the order in which a vector destroys what it holds, and with
/// it the list of releases would.
void free_in_order(std::vector<Tensor>& tensors);

class Tape {
 public:
  Tape() {
    tensors_.reserve(320);
    nodes_.reserve(128);
    steps_.reserve(256);
  }
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// False inside torch.no_grad(): nothing is kept for backward.
  bool recording = true;
  /// Gradients of parameters exist already (accumulation), so a new one is only passing through.
  bool accumulating = false;
  /// Hooks keep what is saved (non-reentrant checkpointing): a backward gives it up before its results are
  /// cast.
  bool hooked = false;
  /// Where every allocation and release is written down, or null.
  Trace* trace = nullptr;
  /// The operation at work, for the reader of a trace; its backward bears the same name.
  const char* doing = "";

  Tensor make(double elements, int size, Component component, bool needs_grad = false);
  /// An input of the program, owned by the caller.
  Tensor input(double elements, int size, bool needs_grad, Component component = Component::boundaries);
  /// Another name for the storage of `base`, with a gradient of its own (a slice, a transposed view).
  Tensor view(const Tensor& base, double elements);
  /// Bytes held until `end_scope`: autocast's cache of weight casts.
  Tensor cached(double elements, int size);

  /// Records what `output` needs in backward. `inputs` get gradients; `saved` is kept. Nothing happens when
  /// no input needs a gradient and `owns_weights` is false, or when not recording. Frees nothing.
  void record(const Tensor& output, std::initializer_list<Tensor> inputs, std::initializer_list<Tensor> saved,
              std::initializer_list<Step> steps, bool owns_weights = false);

  /// The same for an operation whose backward reads nothing it kept: a sum, a cast, a product with a number.
  void record_unread(const Tensor& output, std::initializer_list<Tensor> inputs,
                     std::initializer_list<Step> steps, bool owns_weights = false);
  /// Said before an operation makes its result, when it keeps its inputs alone: autograd takes them before
  /// the kernel runs, and recomputation that needs nothing later ends there.
  void about_to_save() {
    if (!recording) return;
    peak_until_last_save_ = peak();
    if (trace != nullptr) events_until_last_save_ = trace->size();
    saves_inputs_ = true;
  }
  /// Begins a new measurement: the peak is the live bytes now.
  void mark();
  /// Makes the gradient of `output` with which backward begins; its number.
  uint32_t seed_gradient(const Tensor& output);
  /// The same for one that the caller holds on to.
  Tensor seed(const Tensor& output);
  /// Runs all nodes newest first and frees what they saved.
  void backward();

  const Snapshot& peak() const { return is_at_peak_ ? live_ : peak_; }
  /// The peak at the moment when the last tensor was saved: non-reentrant recomputation stops there.
  const Snapshot& peak_until_last_save() const { return peak_until_last_save_; }
  /// Events of the trace up to that moment.
  std::size_t events_until_last_save() const { return events_until_last_save_; }
  /// Gradients alive when backward first reads something that was kept: non-reentrant recomputation begins
  /// there, in that node's unpack hook (torch/utils/checkpoint.py _checkpoint_hook).
  double waiting_at_first_read() const { return waiting_at_first_read_; }
  /// Events of the trace up to that moment.
  std::size_t events_until_first_read() const { return events_until_first_read_; }
  const Snapshot& live() const { return live_; }
  double cached_bytes() const { return cached_bytes_; }
  double weight_gradient_bytes() const { return weight_gradient_bytes_; }
  /// Bytes of the gradient that a tensor, dead or alive, has received.
  double gradient_of(uint32_t id) const;
  /// The number of that gradient; 0 when there is none.
  uint32_t gradient_id(uint32_t id) const;
  /// Frees it.
  void forget_gradient(uint32_t id) { tensors_[id].grad.free(); }
  void mark_as_logits(const Tensor& tensor);
  /// Logits stay logits through casts and copies; everything else made on the way is transient.
  Component component_of(const Tensor& tensor) const;
  bool is_saved(const Tensor& tensor) const { return tensors_[tensor.id()].saves > 0; }

  /// Drops autocast's cache: the context was left.
  void end_scope();

 private:
  friend class Tensor;
  struct Entry {
    double elements = 0;
    int size = 0;
    uint32_t references = 0;
    uint32_t saves = 0;
    uint32_t base = 0;  // view: 1 + id of the storage
    Component component = Component::transient;
    bool needs_grad = false;
    uint16_t makers = 0;  // nodes that have it as their output, each of which reads its gradient
    const char* what = "";
    Tensor grad;
  };
  /// Whether autograd keeps a transient tensor decides what it counts as.
  static Component counted_as(const Entry& entry) {
    const bool kept = entry.component == Component::transient && entry.saves > 0;
    return kept ? Component::activations : entry.component;
  }
  struct Node {
    uint32_t output = 0;
    std::array<uint32_t, 4> inputs{};
    uint8_t input_count = 0;
    uint32_t first_step = 0, step_count = 0;  // in steps_
    const char* doing = "";
    std::array<Tensor, 6> saved;
    uint8_t saved_count = 0;
    bool reads = true;  // something kept, be it a weight
  };
  void retain(uint32_t id) { ++tensors_[id].references; }
  void release(uint32_t id);
  void grow(double bytes, Component component);
  /// Keeps what is live before it shrinks or is counted otherwise.
  void leave_peak();
  void count_save(uint32_t id, bool begins);
  void note(Event::Kind kind, uint32_t id);
  void run(Node& node);
  void accumulate(uint32_t input, Tensor gradient);

  std::vector<Entry> tensors_;
  std::vector<Node> nodes_;
  std::vector<Step> steps_;
  std::vector<Tensor> temporaries_;  // of the node that runs
  std::vector<Tensor> cache_;
  Snapshot live_;
  double live_bytes_ = 0;
  double highest_ = 0;
  bool is_at_peak_ = false;  // what is live is the peak, and not yet copied to it
  double cached_bytes_ = 0;
  double weight_gradient_bytes_ = 0;
  std::vector<Tensor> weight_gradients_;
  Snapshot peak_, peak_until_last_save_;
  std::size_t events_until_last_save_ = 0;
  bool saves_inputs_ = false;  // the operation that is recorded next
  double seed_bytes_ = 0;
  double waiting_at_first_read_ = 0;
  std::size_t events_until_first_read_ = 0;
};

}  // namespace plimsoll::memory
