#include "core/memory/tape/tape.h"

#include <utility>

namespace plimsoll::memory {

Snapshot operator+(Snapshot a, const Snapshot& b) {
  for (std::size_t i = 0; i < component_count; ++i) a.bytes[i] += b.bytes[i];
  return a;
}

void Tensor::retain() const { tape_->retain(id_); }
void Tensor::release() { std::exchange(tape_, nullptr)->release(id_); }
double Tensor::elements() const { return tape_->tensors_[id_].elements; }
int Tensor::size() const { return tape_->tensors_[id_].size; }
bool Tensor::needs_grad() const { return tape_->tensors_[id_].needs_grad; }

void free_in_order(std::vector<Tensor>& tensors) {
  for (Tensor& tensor : tensors) tensor.free();
  tensors.clear();
}

Tape::~Tape() {
  for (Node& node : nodes_) {
    for (std::size_t i = node.saved.size(); i-- > 0;) node.saved[i].free();
  }
  nodes_.clear();
  free_in_order(cache_);
  free_in_order(weight_gradients_);
  for (Entry& entry : tensors_) entry.grad.free();
}

Tensor Tape::make(double elements, int size, Component component, bool needs_grad) {
  const auto id = static_cast<uint32_t>(tensors_.size());
  Entry& entry = tensors_.emplace_back();
  entry.elements = elements;
  entry.size = size;
  entry.references = 1;
  entry.component = component;
  entry.needs_grad = needs_grad;
  entry.what = doing;
  if (trace != nullptr) note(Event::Kind::allocate, id);
  grow(elements * size, component);
  return Tensor(this, id);
}

Tensor Tape::input(double elements, int size, bool needs_grad, Component component) {
  return make(elements, size, component, needs_grad);
}

Tensor Tape::view(const Tensor& base, double elements) {
  const auto id = static_cast<uint32_t>(tensors_.size());
  const Entry& from = tensors_[base.id()];
  Entry entry;
  entry.elements = elements;
  entry.size = from.size;
  entry.references = 1;
  entry.base = (from.base != 0 ? from.base : base.id() + 1);
  entry.component = from.component;
  entry.needs_grad = from.needs_grad;
  retain(entry.base - 1);
  tensors_.push_back(std::move(entry));
  return Tensor(this, id);
}

Tensor Tape::cached(double elements, int size) {
  Tensor cast = make(elements, size, Component::autocast);
  cached_bytes_ += cast.bytes();
  cache_.push_back(cast);
  return cast;
}

void Tape::end_scope() { free_in_order(cache_); }

void Tape::record(const Tensor& output, std::initializer_list<Tensor> inputs,
                  std::initializer_list<Tensor> saved, std::initializer_list<Step> steps, bool owns_weights) {
  bool wanted = owns_weights;
  for (const Tensor& input : inputs) wanted = wanted || input.needs_grad();
  if (!recording || !wanted) return;
  tensors_[output.id()].needs_grad = true;
  ++tensors_[output.id()].makers;
  Node& node = nodes_.emplace_back();
  node.output = output.id();
  node.first_step = static_cast<uint32_t>(steps_.size());
  for (const Tensor& input : inputs) node.inputs.at(node.input_count++) = input.id();
  for (const Step& step : steps) {
    const bool to_input =
        step.kind == Step::Kind::gradient || step.kind == Step::Kind::pass || step.kind == Step::Kind::reuse;
    if (to_input && !tensors_[node.inputs[step.index]].needs_grad) continue;
    if (step.kind == Step::Kind::weight_gradient && step.bytes == 0) continue;
    steps_.push_back(step);
    ++node.step_count;
  }
  for (const Tensor& tensor : saved) {
    if (!tensor) continue;
    const uint32_t base = tensors_[tensor.id()].base;
    if (base != 0) ++tensors_[tensor.id()].saves;
    count_save(base != 0 ? base - 1 : tensor.id(), true);
    node.saved.at(node.saved_count++) = tensor;
  }
  node.doing = doing;
  if (!std::exchange(saves_inputs_, false) && node.saved_count > 0) {
    peak_until_last_save_ = peak();
    if (trace != nullptr) events_until_last_save_ = trace->size();
  }
}

void Tape::record_unread(const Tensor& output, std::initializer_list<Tensor> inputs,
                         std::initializer_list<Step> steps, bool owns_weights) {
  const std::size_t nodes = nodes_.size();
  record(output, inputs, {}, steps, owns_weights);
  if (nodes_.size() > nodes) nodes_.back().reads = false;
}

void Tape::note(Event::Kind kind, uint32_t id) {
  const Entry& entry = tensors_[id];
  const double bytes = entry.elements * entry.size;
  if (bytes <= 0) return;
  trace->push_back({kind, counted_as(entry), true, id, bytes, entry.what});
}

// Whether autograd keeps it decides what a transient tensor counts as.
void Tape::count_save(uint32_t id, bool begins) {
  Entry& entry = tensors_[id];
  const Component before = counted_as(entry);
  if (begins) {
    ++entry.saves;
  } else {
    --entry.saves;
  }
  const Component after = counted_as(entry);
  if (after == before) return;
  const double bytes = entry.elements * entry.size;
  leave_peak();
  live_[before] -= bytes;
  live_[after] += bytes;
  if (trace != nullptr) note(Event::Kind::become, id);
}

void Tape::mark_as_logits(const Tensor& tensor) {
  Entry& entry = tensors_[tensor.id()];
  if (entry.base == 0) {
    const double bytes = entry.elements * entry.size;
    leave_peak();
    live_[counted_as(entry)] -= bytes;
    live_[Component::logits] += bytes;
  }
  entry.component = Component::logits;
  if (trace != nullptr) note(Event::Kind::become, tensor.id());
}

void Tape::grow(double bytes, Component component) {
  live_bytes_ += bytes;
  live_[component] += bytes;
  if (live_bytes_ <= highest_) return;
  highest_ = live_bytes_;
  is_at_peak_ = true;
}

void Tape::leave_peak() {
  if (std::exchange(is_at_peak_, false)) peak_ = live_;
}

void Tape::mark() {
  highest_ = live_bytes_;
  is_at_peak_ = true;
  peak_until_last_save_ = live_;
}

void Tape::release(uint32_t id) {
  Entry& entry = tensors_[id];
  if (--entry.references > 0) return;
  if (entry.base != 0) {
    release(entry.base - 1);
  } else {
    if (trace != nullptr) note(Event::Kind::release, id);
    leave_peak();
    live_bytes_ -= entry.elements * entry.size;
    live_[counted_as(entry)] -= entry.elements * entry.size;
  }
}

double Tape::gradient_of(uint32_t id) const {
  const Tensor& grad = tensors_[id].grad;
  return grad ? grad.bytes() : 0;
}

Component Tape::component_of(const Tensor& tensor) const {
  return tensors_[tensor.id()].component == Component::logits ? Component::logits : Component::transient;
}

uint32_t Tape::gradient_id(uint32_t id) const {
  const Tensor& grad = tensors_[id].grad;
  return grad ? grad.id() : 0;
}

void Tape::accumulate(uint32_t input, Tensor gradient) {
  Tensor present = std::move(tensors_[input].grad);
  if (!present) {
    tensors_[input].grad = std::move(gradient);
    return;
  }
  if (tensors_[present.id()].references == 1) {  // added in place; the newcomer dies
    tensors_[input].grad = std::move(present);
    return;
  }
  Tensor sum = make(present.elements(), present.size(), tensors_[present.id()].component);
  tensors_[input].grad = std::move(sum);
}

void Tape::run(Node& node) {
  Entry& output = tensors_[node.output];
  Tensor incoming = --output.makers > 0 ? output.grad : std::move(output.grad);
  if (!incoming) return;
  for (uint32_t i = 0; i < node.step_count; ++i) {
    const Step& step = steps_[node.first_step + i];
    switch (step.kind) {
      case Step::Kind::temporary:
        temporaries_.push_back(make(step.bytes, 1, Component::transient));
        break;
      case Step::Kind::end_temporary:
        free_in_order(temporaries_);
        break;
      case Step::Kind::gradient: {
        const Entry& input = tensors_[node.inputs[step.index]];
        const int size = input.size;
        const Component component =
            input.component == Component::logits ? Component::logits : Component::transient;
        accumulate(node.inputs[step.index], make(step.bytes / size, size, component));
        break;
      }
      case Step::Kind::reuse:
        accumulate(node.inputs[step.index], node.saved[0]);
        break;
      case Step::Kind::pass:
        accumulate(node.inputs[step.index], incoming);
        break;
      case Step::Kind::weight_gradient: {
        Tensor made = make(step.bytes, 1, Component::gradients);
        weight_gradient_bytes_ += step.bytes;
        if (!accumulating) weight_gradients_.push_back(std::move(made));
        break;
      }
    }
  }
  free_in_order(temporaries_);
}

uint32_t Tape::seed_gradient(const Tensor& output) {
  Tensor seed = make(output.elements(), output.size(), component_of(output));
  const uint32_t id = seed.id();
  seed_bytes_ = seed.bytes();
  tensors_[output.id()].grad = std::move(seed);
  return id;
}

Tensor Tape::seed(const Tensor& output) {
  seed_gradient(output);
  return tensors_[output.id()].grad;
}

void Tape::backward() {
  const auto at_read = [this](double before) {
    waiting_at_first_read_ = live_bytes_ - before;
    if (trace != nullptr) events_until_first_read_ = trace->size();
    if (hooked) mark();  // what was kept does not exist before
  };
  bool has_read = false;
  const double before = live_bytes_ - seed_bytes_;
  while (!nodes_.empty()) {
    Node& node = nodes_.back();  // a backward function records nothing
    doing = node.doing;
    if (!has_read && node.reads && tensors_[node.output].grad) {
      at_read(before);
      has_read = true;
    }
    run(node);
    for (uint8_t i = 0; i < node.saved_count; ++i) {
      const uint32_t id = node.saved[i].id(), base = tensors_[id].base;
      if (base != 0) --tensors_[id].saves;
      count_save(base != 0 ? base - 1 : id, false);
      node.saved[i].free();
    }
    steps_.resize(node.first_step);
    nodes_.pop_back();
  }
  if (!has_read) at_read(before);
}

}  // namespace plimsoll::memory
