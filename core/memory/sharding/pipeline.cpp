#include "core/memory/sharding/pipeline.h"

#include <algorithm>

#include "core/memory/parameters/ledger.h"

namespace plimsoll::memory {

namespace {

using model::Part;

// What is placed as one: everything of a stack before its layers, one layer, everything after them.
enum class Piece { before, layer, after };
struct Unit {
  std::size_t stack = 0, group = 0;
  Piece piece = Piece::layer;
  double bytes = 0;
};

// In the order in which a model class names its modules: what the others read comes first.
std::vector<Unit> units_of(const model::Architecture& network, const recipe::Recipe& r) {
  std::vector<Unit> units;
  for (Part part : {Part::audio, Part::vision, Part::projector, Part::encoder, Part::decoder, Part::text}) {
    for (std::size_t i = 0; i < network.stacks.size(); ++i) {
      const model::Stack& stack = network.stacks[i];
      if (stack.part != part) continue;
      Unit before{i, 0, Piece::before, 0}, after{i, 0, Piece::after, 0};
      const auto into = [](Unit& unit) { return [&unit](const Entry& one) { unit.bytes += one.bytes(); }; };
      visit_other(stack.other_parameters, r, into(before));
      visit_tables(stack, r, into(before));
      units.push_back(before);
      for (std::size_t g = 0; g < stack.groups.size(); ++g) {
        Unit layer{i, g, Piece::layer, 0};
        visit_layer(stack.groups[g], stack, r, into(layer));
        units.insert(units.end(), stack.groups[g].layers, layer);
      }
      visit_after(stack, r, into(after));
      units.push_back(after);
    }
  }
  return units;
}

model::Architecture empty(model::Architecture network) {
  network.tied_head = false;
  for (model::Stack& stack : network.stacks) {
    for (model::LayerGroup& group : stack.groups) group.layers = 0;
    stack.tables.clear();
    stack.norms.clear();
    stack.linears.clear();
    stack.other_parameters = 0;
  }
  return network;
}

void place(const Unit& unit, const model::Architecture& network, model::Architecture& part) {
  const model::Stack& from = network.stacks[unit.stack];
  model::Stack& to = part.stacks[unit.stack];
  switch (unit.piece) {
    case Piece::layer:
      ++to.groups[unit.group].layers;
      break;
    case Piece::before:
      to.tables = from.tables;
      to.other_parameters = from.other_parameters;
      if (unit.stack == 0) part.tied_head = network.tied_head && !from.tables.empty();
      break;
    case Piece::after:
      to.norms = from.norms;
      to.linears = from.linears;
      break;
  }
}

void drop_empty_groups(model::Architecture& part) {
  for (model::Stack& stack : part.stacks) {
    stack.groups.erase(std::remove_if(stack.groups.begin(), stack.groups.end(),
                                      [](const model::LayerGroup& group) { return group.layers == 0; }),
                       stack.groups.end());
  }
}

}  // namespace

std::vector<model::Architecture> split_by_device_map(const model::Architecture& network,
                                                     const recipe::Recipe& recipe, uint64_t gpus) {
  const std::vector<Unit> units = units_of(network, recipe);
  double all = 0, block = 0, largest = 0;
  for (const Unit& unit : units) {
    all += unit.bytes;
    if (unit.piece == Piece::layer) block = std::max(block, unit.bytes);
    largest = std::max(largest, unit.bytes);
  }
  const double share = all / static_cast<double>(gpus) + 1.25 * block;
  std::vector<model::Architecture> parts(gpus, empty(network));
  std::size_t at = 0;
  double left = share - largest;
  for (const Unit& unit : units) {
    while (unit.bytes > left && at + 1 < parts.size() && unit.bytes > 0) {
      ++at;
      left = share;
    }
    left -= unit.bytes;
    place(unit, network, parts[at]);
  }
  for (model::Architecture& part : parts) drop_empty_groups(part);
  return parts;
}

}  // namespace plimsoll::memory
