#include "core/exchange/formats/torchtune_command.h"

#include <algorithm>

#include "core/exchange/formats/overrides.h"
#include "core/exchange/formats/torchtune_configurations.h"
#include "core/exchange/formats/torchtune_models.h"
#include "core/exchange/scalar.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

// "loss.beta=0.1", unless the command says that key itself. Nothing of it is written in the command.
void plant(Node& root, std::string_view key, std::string_view value, Span nowhere) {
  const size_t dot = key.find('.');
  if (root.find(key) != nullptr) return;
  Node* place = &member_of(root, std::string(key.substr(0, dot)), nowhere);
  if (dot != std::string_view::npos) {
    // "optimizer=torch.optim.SGD" names the component (torchtune/config/_utils.py _merge_yaml_and_cli_args).
    if (place->is_scalar() && !place->raw.empty()) {
      const Node named = *place;
      *place = Node();
      member_of(*place, "_component_", nowhere) = named;
    }
    place = &member_of(*place, std::string(key.substr(dot + 1)), nowhere);
  }
  if (place->is_scalar() && place->raw.empty()) *place = yaml_scalar(std::string(value), true, nowhere);
}

void plant_all(Node& root, std::string_view keys, Span nowhere) {
  while (!keys.empty()) {
    const size_t end = std::min(keys.find(' '), keys.size());
    const std::string_view pair = keys.substr(0, end);
    const size_t equals = std::min(pair.find('='), pair.size() - 1);
    plant(root, pair.substr(0, equals), pair.substr(equals + 1), nowhere);
    keys.remove_prefix(std::min(end + 1, keys.size()));
  }
}

// llama3_1/8B_qlora_single_device: torchtune.models.llama3_1.qlora_llama3_1_8b.
void add_published(Node& root, const Node& name) {
  const size_t slash = name.raw.find('/');
  const Node* said = root.find("model");
  if (slash == std::string::npos ||
      (said != nullptr && (said->is_scalar() || said->find("_component_") != nullptr)))
    return;
  const std::string family = name.raw.substr(0, slash), rest = ascii::lower(name.raw.substr(slash + 1));
  const auto says = [&rest](std::string_view word) { return rest.find(word) != std::string::npos; };
  const size_t full = rest.find("_full"), low = std::min({rest.find("_lora"), rest.find("_qlora"),
                                                          rest.find("_dora"), rest.find("_qdora")});
  const bool adapters = low < full;
  std::string size = rest.substr(0, std::min({full, low, rest.find("_qat")}));
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
  const auto read = [&root](const Node& word) {
    if (word.raw.find('=') != std::string::npos) add_override(root, word);
  };
  for (const Member& member : command.members) {
    const bool list = member.key == "config" || member.key == "$words";
    if (member.key != "config") root.members.push_back(member);
    if (!list) continue;
    if (member.value.is_scalar()) read(member.value);
    for (const Node& word : member.value.items) read(word);
  }
  // What the file says of the keys that the command leaves to it.
  if (const Node* config = command.find("config"); config != nullptr) {
    const Node& name = config->items.empty() ? *config : config->items.front();
    for (const std::string_view keys : published_keys(name.raw)) plant_all(root, keys, {name.span.at, 0});
    add_published(root, name);
  }
  return root;
}

}  // namespace plimsoll::exchange
