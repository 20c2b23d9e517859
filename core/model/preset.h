// One file of presets/models: a published config.json with the names it goes by and the count it must give.
//
//     json::Errors errors;
//     auto preset  = model::read_model_preset(*json::parse(file.text, errors), "models/gpt2.json", errors);
//     auto network = model::read_config(preset->config, preset->hf_id, "/model", errors);
//
// Adding a model of a known family is adding such a file; its id is the last part of the hub id in lower
// case.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::model {

struct ModelPreset {
  std::string id;     ///< "mistral-7b-v0.3"
  std::string hf_id;  ///< "mistralai/Mistral-7B-v0.3"
  std::string family;
  std::vector<std::string> aliases;      ///< further short names: "llama-2-7b"
  std::vector<std::string> same_shapes;  ///< hub ids of other checkpoints that this config describes as well
  /// Of those that read further or less far: hub id and max_position_embeddings.
  std::map<std::string, std::size_t, std::less<>> positions;
  json::Json config;
  uint64_t parameters = 0;            ///< what parameter_count must give
  uint64_t published_parameters = 0;  ///< as published; 0: nobody has published an exact count
  int64_t adjustment = 0;             ///< published + adjustment = parameters
  std::string adjustment_reason;
  bool verified = false;  ///< the published count, adjusted, equals ours
  std::string note;
  std::vector<std::string> sources;        ///< of the config
  std::vector<std::string> count_sources;  ///< of the published count
};

/// Strict. Error pointers are those of the file; messages begin with its name.
std::optional<ModelPreset> read_model_preset(const json::Json& value, const std::string& file,
                                             json::Errors& errors);

}  // namespace plimsoll::model
