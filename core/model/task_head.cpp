#include "core/model/task_head.h"

#include <algorithm>

#include "core/model/builders.h"
#include "core/model/model_types.h"

namespace plimsoll::model {

namespace {

// What a classifier has of its own in place of the base model's pooler; null: nothing.
const char* dense_of(Classifier classifier) {
  switch (classifier) {
    case Classifier::dense_of_its_own:
      return "classifier.dense";
    case Classifier::dense_before:
      return "pre_classifier";
    case Classifier::pooler_of_its_own:
      return "pooler.dense";
    default:
      return nullptr;
  }
}

}  // namespace

Architecture with_classification_head(Architecture network, uint64_t labels) {
  if (network.stacks.empty()) return network;
  for (Stack& stack : network.stacks) {
    auto& linears = stack.linears;
    linears.erase(
        std::remove_if(linears.begin(), linears.end(), [](const Linear& l) { return l.role == Role::head; }),
        linears.end());
  }
  const bool encoder = network.kind == NetworkKind::encoder;
  Stack& stack = network.stacks.front();
  const Classifier classifier = model_type(network.model_type).classifier;
  const bool own_dense = classifier == Classifier::dense_of_its_own;
  if (const char* path = dense_of(classifier); path != nullptr) {
    auto& linears = stack.linears;
    linears.erase(
        std::remove_if(linears.begin(), linears.end(),
                       [&stack](const Linear& l) { return l.role == Role::other && l.in == stack.hidden; }),
        linears.end());
    add_linear(linears, path, stack.hidden, stack.hidden, true, Role::other);
  }
  if (classifier == Classifier::dense_and_norm) {
    Linear dense;
    dense.path = "head.dense";
    dense.in = dense.out = stack.hidden;
    dense.role = Role::other;
    stack.linears.push_back(dense);
    stack.norms.push_back(stack.norms.back());
  }
  Linear head;
  head.path = own_dense ? "classifier.out_proj" : encoder ? "classifier" : "score";
  head.in = stack.hidden;
  head.out = labels;
  head.bias = encoder;
  head.role = Role::head;
  stack.linears.push_back(head);
  network.vocab_size = labels;
  network.tied_head = false;
  return network;
}

Architecture with_value_head(Architecture network) {
  if (network.stacks.empty()) return network;
  for (Stack& stack : network.stacks) {
    for (Linear& linear : stack.linears) {
      if (linear.role != Role::head) continue;
      linear.role = Role::other;
      linear.unread = true;
      network.unread_head = linear;
    }
  }
  Stack& stack = network.stacks.front();
  if (network.tied_head) {
    network.unread_head.path = "lm_head";
    network.unread_head.in = stack.hidden;
    network.unread_head.out = network.vocab_size;
    network.unread_head.unread = true;
  }
  Linear head;
  head.path = "v_head.summary";
  head.in = stack.hidden;
  head.out = 1;
  head.bias = true;
  head.role = Role::head;
  stack.linears.push_back(head);
  network.vocab_size = 1;
  network.tied_head = false;
  return network;
}

namespace {

void freeze(LayerGroup& group) {
  group.frozen = true;
  for (Linear& linear : group.linears) linear.frozen = true;
  for (Norm& norm : group.norms) norm.frozen = true;
}

void freeze_rest(Stack& stack) {
  for (Linear& linear : stack.linears) linear.frozen = true;
  for (Norm& norm : stack.norms) norm.frozen = true;
  for (Table& table : stack.tables) table.trained = false;
}

}  // namespace

Architecture with_trained_layers(Architecture network, uint64_t layers, bool rest) {
  for (Stack& stack : network.stacks) {
    const bool language = stack.part == Part::text || stack.part == Part::decoder;
    if (!rest) freeze_rest(stack);
    uint64_t left = language ? layers : 0;
    std::vector<LayerGroup> groups;  // from the end
    for (auto group = stack.groups.rbegin(); group != stack.groups.rend(); ++group) {
      const uint64_t trained = std::min(left, group->layers);
      left -= trained;
      if (trained > 0) {
        groups.push_back(*group);
        groups.back().layers = trained;
      }
      if (trained == group->layers) continue;
      groups.push_back(*group);
      groups.back().layers = group->layers - trained;
      freeze(groups.back());
    }
    stack.groups.assign(groups.rbegin(), groups.rend());
  }
  return network;
}

Architecture with_new_blocks(Architecture network, uint64_t blocks) {
  for (Stack& stack : network.stacks) {
    const bool language = stack.part == Part::text || stack.part == Part::decoder;
    freeze_rest(stack);
    uint64_t layers = 0;
    for (const LayerGroup& group : stack.groups) layers += group.layers;
    const uint64_t spacing = language && blocks > 0 ? std::max<uint64_t>(1, layers / blocks) : 0;
    std::vector<LayerGroup> groups;
    uint64_t since = 0, made = 0;
    for (const LayerGroup& group : stack.groups) {
      for (uint64_t left = group.layers; left > 0;) {
        const uint64_t run = spacing == 0 || made == blocks ? left : std::min(left, spacing - since);
        groups.push_back(group);
        groups.back().layers = run;
        freeze(groups.back());
        left -= run;
        since += run;
        if (spacing == 0 || made == blocks || since < spacing) continue;
        groups.push_back(group);
        groups.back().layers = 1;
        since = 0;
        ++made;
      }
    }
    stack.groups = std::move(groups);
  }
  return network;
}

}  // namespace plimsoll::model
