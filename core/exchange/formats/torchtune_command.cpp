#include "core/exchange/formats/torchtune_command.h"

#include <algorithm>

#include "core/exchange/formats/overrides.h"
#include "core/exchange/formats/torchtune_models.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

// llama3_1/8B_qlora_single_device: torchtune.models.llama3_1.qlora_llama3_1_8b.
void add_published(Node& root, const Node& name) {
  const size_t slash = name.raw.find('/');
  if (slash == std::string::npos || root.find("model") != nullptr) return;
  const std::string family = name.raw.substr(0, slash), rest = ascii::lower(name.raw.substr(slash + 1));
  const auto says = [&rest](std::string_view word) { return rest.find(word) != std::string::npos; };
  const size_t full = rest.find("_full"), low = std::min({rest.find("_lora"), rest.find("_qlora"),
                                                          rest.find("_dora"), rest.find("_qdora")});
  const bool adapters = low < full;
  std::string size = rest.substr(0, std::min(full, low));
  std::replace(size.begin(), size.end(), '.', '_');
  std::string builder = family + "_" + size;
  if (model_of_builder(builder).empty()) builder += "_base";
  if (model_of_builder(builder).empty()) return;
  const char* method = !adapters ? "" : says("_qlora") || says("_qdora") ? "qlora_" : "lora_";
  const std::string component = "torchtune.models." + family + "." + method + builder;
  Node& model = member_of(root, "model", name.span);
  member_of(model, "_component_", name.span) = scalar_node(component, component, false, name.span);
  if (says("dora")) member_of(model, "use_dora", name.span) = scalar_node(true, "true", false, name.span);
}

}  // namespace

bool is_torchtune_command(const Node& command) {
  const Node* words = command.find("$words");
  return words != nullptr && std::any_of(words->items.begin(), words->items.end(),
                                         [](const Node& word) { return word.raw == "tune"; });
}

Node torchtune_command(const Node& command) {
  Node root;
  root.kind = Node::Kind::map;
  root.span = command.span;
  const auto read = [&root](const Node& word, bool config) {
    if (word.raw.find('=') != std::string::npos) return add_override(root, word);
    if (config) add_published(root, word);
  };
  for (const Member& member : command.members) {
    const bool config = member.key == "config";
    if (!config && member.key != "$words") {
      root.members.push_back(member);
      continue;
    }
    if (member.value.is_scalar()) read(member.value, config);
    for (const Node& word : member.value.items) read(word, config);
    if (!config) root.members.push_back(member);
  }
  return root;
}

}  // namespace plimsoll::exchange
