// What a network is made of, and what each part takes: said here alone, and read by all that add parameters
// up.
//
//     double bytes = 0;
//     visit_layer(group, stack, recipe, [&](const Entry& one) { bytes += one.bytes(); });
//
// Frozen parts have the type that they are loaded or prepared in. Trained ones may be cast up besides
// (trained_size), which is the business of who asks.
#pragma once

#include "core/memory/parameters/parameters.h"

namespace plimsoll::memory {

/// A parameter, or what else the model counts as one: of linear, norm and table one is there, or none.
struct Entry {
  const model::Linear* linear = nullptr;
  const model::Norm* norm = nullptr;
  const model::Table* table = nullptr;
  LinearSpec spec;      ///< of a linear: how it is stored
  double elements = 0;  ///< of one, a linear's bias not counted
  int size = 0;         ///< bytes of an element that is not quantised
  double count = 1;     ///< equal ones beside each other: the experts of a layer

  double bytes() const { return count * (linear != nullptr ? linear_bytes(spec) : elements * size); }
  /// Without the scales and tables of a quantised weight, which no rank can share out.
  double sharded_bytes() const {
    return count * (linear != nullptr ? linear_bytes(spec) - quant_state_bytes(spec) : elements * size);
  }
};

inline Entry linear_entry(const model::Linear& linear, const model::Stack& stack,
                          const recipe::Recipe& recipe) {
  Entry entry;
  entry.linear = &linear;
  entry.spec = specify(linear, stack, recipe);
  entry.elements = entry.spec.in * entry.spec.out;
  entry.size = entry.spec.size;
  entry.count = static_cast<double>(linear.count);
  return entry;
}

/// Weight and bias are two parameters of the same width.
template <typename Visit>
void visit_norms(const std::vector<model::Norm>& norms, const recipe::Recipe& recipe, Visit visit) {
  for (const model::Norm& norm : norms) {
    Entry entry;
    entry.norm = &norm;
    entry.elements = static_cast<double>(norm.width);
    entry.size = norm_size(recipe);
    for (const bool there : {norm.weight, norm.bias}) {
      if (there) visit(entry);
    }
  }
}

template <typename Visit>
void visit_other(uint64_t parameters, const recipe::Recipe& recipe, Visit visit) {
  Entry entry;
  entry.elements = static_cast<double>(parameters);
  entry.size = parameter_size(recipe);
  visit(entry);
}

/// One layer of a group.
template <typename Visit>
void visit_layer(const model::LayerGroup& group, const model::Stack& stack, const recipe::Recipe& recipe,
                 Visit visit) {
  for (const model::Linear& linear : group.linears) visit(linear_entry(linear, stack, recipe));
  visit_norms(group.norms, recipe, visit);
  visit_other(group.other_parameters, recipe, visit);
}

/// What stands before the layers of a stack.
template <typename Visit>
void visit_tables(const model::Stack& stack, const recipe::Recipe& recipe, Visit visit) {
  for (const model::Table& table : stack.tables) {
    Entry entry;
    entry.table = &table;
    entry.elements = static_cast<double>(table.rows) * static_cast<double>(table.width);
    entry.size = table_size(recipe, stack);
    visit(entry);
  }
}

/// What stands behind them: norms and linears.
template <typename Visit>
void visit_after(const model::Stack& stack, const recipe::Recipe& recipe, Visit visit) {
  visit_norms(stack.norms, recipe, visit);
  for (const model::Linear& linear : stack.linears) visit(linear_entry(linear, stack, recipe));
}

}  // namespace plimsoll::memory
