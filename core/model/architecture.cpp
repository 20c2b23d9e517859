#include "core/model/architecture.h"

#include <algorithm>

#include "core/model/saturating.h"

namespace plimsoll::model {

using saturating::plus;
using saturating::times;

namespace {

uint64_t parameter_count(const std::vector<Linear>& linears) {
  uint64_t sum = 0;
  for (const Linear& linear : linears) {
    const uint64_t one = plus(times(linear.in, linear.out), linear.bias ? linear.out : 0);
    sum = plus(sum, times(one, linear.count));
  }
  return sum;
}

uint64_t parameter_count(const std::vector<Norm>& norms) {
  uint64_t sum = 0;
  for (const Norm& norm : norms) {
    sum = plus(sum, times(norm.width, (norm.weight ? 1 : 0) + (norm.bias ? 1 : 0)));
  }
  return sum;
}

}  // namespace

uint64_t parameter_count(const LayerGroup& group) {
  return plus(plus(parameter_count(group.linears), parameter_count(group.norms)), group.other_parameters);
}

uint64_t parameter_count(const Stack& stack) {
  uint64_t sum =
      plus(plus(parameter_count(stack.linears), parameter_count(stack.norms)), stack.other_parameters);
  for (const LayerGroup& group : stack.groups) sum = plus(sum, times(parameter_count(group), group.layers));
  for (const Table& table : stack.tables) sum = plus(sum, times(table.rows, table.width));
  return sum;
}

uint64_t parameter_count(const Architecture& network) {
  uint64_t sum = 0;
  for (const Stack& stack : network.stacks) sum = plus(sum, parameter_count(stack));
  return sum;
}

std::string in_layer(std::string path, uint64_t layer) {
  for (const char mark : {'#', '*'}) {
    const std::size_t at = path.find(mark);
    if (at != std::string::npos) path.replace(at, 1, std::to_string(mark == '#' ? layer : 0));
  }
  return path;
}

std::vector<PlacedLinear> linears(const Architecture& network) {
  std::vector<PlacedLinear> all;
  for (const Stack& stack : network.stacks) {
    for (const LayerGroup& group : stack.groups) {
      for (const Linear& linear : group.linears) {
        all.push_back({&linear, &stack, &group, times(linear.count, group.layers)});
      }
    }
    for (const Linear& linear : stack.linears) all.push_back({&linear, &stack, nullptr, linear.count});
  }
  return all;
}

const Linear* find(const LayerGroup& group, Role role) {
  for (const Linear& linear : group.linears) {
    if (linear.role == role) return &linear;
  }
  return nullptr;
}

const Stack* find(const Architecture& network, Part part) {
  for (const Stack& stack : network.stacks) {
    if (stack.part == part) return &stack;
  }
  return nullptr;
}

uint64_t learned_positions(const Architecture& network) {
  const auto has = [](const Stack& stack) {
    return !is_tower(stack) && stack.frames == 0 &&
           std::any_of(stack.tables.begin(), stack.tables.end(),
                       [](const Table& table) { return table.positions; });
  };
  return std::any_of(network.stacks.begin(), network.stacks.end(), has) ? network.max_position_embeddings : 0;
}

bool has_state_space(const Architecture& network) {
  for (const Stack& stack : network.stacks) {
    for (const LayerGroup& group : stack.groups) {
      if (group.state_space.inner > 0) return true;
    }
  }
  return false;
}

bool has_delta_net(const Architecture& network) {
  return std::any_of(network.stacks.begin(), network.stacks.end(), [](const Stack& stack) {
    return std::any_of(stack.groups.begin(), stack.groups.end(),
                       [](const LayerGroup& group) { return find(group, Role::delta_beta) != nullptr; });
  });
}

}  // namespace plimsoll::model
