#include "core/memory/sharding/units.h"

#include "core/memory/parameters/ledger.h"

namespace plimsoll::memory {

namespace {

WrappedUnit layer_tensors(const model::LayerGroup& group, const model::Stack& stack,
                          const recipe::Recipe& r) {
  WrappedUnit tensors;
  visit_layer(group, stack, r, [&](const Entry& one) { tensors.push_back(one.sharded_bytes()); });
  return tensors;
}

}  // namespace

double sum_of(const WrappedUnit& unit) {
  double sum = 0;
  for (const double bytes : unit) sum += bytes;
  return sum;
}

double layer_bytes(const model::LayerGroup& group, const model::Stack& stack, const recipe::Recipe& r) {
  double sum = 0;
  visit_layer(group, stack, r, [&sum](const Entry& one) { sum += one.sharded_bytes(); });
  return sum;
}

std::vector<WrappedUnit> wrapped_units(const model::Architecture& network, const recipe::Recipe& r) {
  std::vector<WrappedUnit> units;
  WrappedUnit root;
  for (const model::Stack& stack : network.stacks) {
    for (const model::LayerGroup& group : stack.groups) units.push_back(layer_tensors(group, stack, r));
    const auto outside = [&root](const Entry& one) { root.push_back(one.sharded_bytes()); };
    visit_tables(stack, r, outside);
    visit_after(stack, r, outside);
  }
  units.push_back(std::move(root));
  return units;
}

double Units::layers() const {
  double sum = 0;
  for (const model::Stack& stack : network.stacks) {
    for (const model::LayerGroup& group : stack.groups)
      sum += layer_bytes(group, stack, recipe) * static_cast<double>(group.layers);
  }
  return sum;
}

double Units::embedding() const {
  const model::Stack& text = network.stacks.front();
  if (text.tables.empty()) return 0;
  const model::Table& table = text.tables.front();
  return static_cast<double>(table.rows) * static_cast<double>(table.width) * table_size(recipe, text);
}

double Units::head() const {
  for (const model::Stack& stack : network.stacks) {
    for (const model::Linear& linear : stack.linears) {
      if (linear.role == model::Role::head) return linear_bytes(specify(linear, stack, recipe));
    }
  }
  return network.tied_head ? embedding() : 0;
}

}  // namespace plimsoll::memory
