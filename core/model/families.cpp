#include "core/model/families.h"

#include <utility>

#include "core/model/expert_traits.h"
#include "core/model/family_table.h"
#include "core/model/not_replayed.h"

namespace plimsoll::model {

namespace {

const Family* find_family(std::string_view model_type) {
  for (const Family& family : family_table()) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

// Read as a Llama, with a note; but not what is known to be none.
void read_unknown(ConfigReader& config, const std::string& model_type, const Frame& frame,
                  Architecture& network) {
  if (const std::string_view what = not_replayed(model_type); !what.empty()) {
    config.fail(
        "model_type", "\"" + model_type + "\" is " + std::string(what) + ", which is not replayed here.",
        "a model that writes text, or an encoder of it: llama, qwen3, gemma3, bert, deberta-v2, t5, ...");
    return;
  }
  const std::string name = model_type.empty() ? "The config has no model_type"
                                              : "The model_type \"" + model_type + "\" is not known here";
  network.notes.push_back({"unknown_model_type",
                           name + "; its fields are those of Llama, so it was read as a Llama.",
                           config.pointer("model_type")});
  families::read_unknown(config, frame, network);
}

}  // namespace

void read_text_model(ConfigReader& config, std::string_view fallback_type, const Frame& frame,
                     Architecture& network) {
  const std::string model_type = config.text("model_type", fallback_type);
  read_checkpoint_dtype(config, network);
  const Family* family = find_family(model_type);
  if (family == nullptr) {
    read_unknown(config, model_type, frame, network);
  } else {
    family->read(config, frame, network);
  }
}

std::optional<Architecture> read_config(const json::Json& value, const std::string& name,
                                        const std::string& pointer, json::Errors& errors) {
  json::Errors found;
  ConfigReader config(value, pointer, found);
  Architecture network;
  if (found.empty()) {
    network.name = name;
    network.model_type = config.text("model_type", "");
    read_checkpoint_dtype(config, network);
    if (const Family* family = find_family(network.model_type)) {
      network.kind = family->kind;
      family->read(config, {}, network);
    } else {
      read_unknown(config, network.model_type, {}, network);
    }
    mark_experts(network.model_type, network);
  }
  if (found.empty()) return network;
  for (json::Error& error : found) errors.push_back(std::move(error));
  return std::nullopt;
}

}  // namespace plimsoll::model
