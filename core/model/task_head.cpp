#include "core/model/task_head.h"

#include <algorithm>

namespace plimsoll::model {

Architecture with_classification_head(Architecture network, uint64_t labels) {
  if (network.stacks.empty()) return network;
  for (Stack& stack : network.stacks) {
    auto& linears = stack.linears;
    linears.erase(
        std::remove_if(linears.begin(), linears.end(), [](const Linear& l) { return l.role == Role::head; }),
        linears.end());
  }
  const bool encoder = network.kind == Kind::encoder;
  Stack& stack = network.stacks.front();
  Linear head;
  head.path = encoder ? "classifier" : "score";
  head.in = stack.hidden;
  head.out = labels;
  head.bias = encoder;
  head.role = Role::head;
  stack.linears.push_back(head);
  network.vocab_size = labels;
  network.tied_head = false;
  return network;
}

}  // namespace plimsoll::model
