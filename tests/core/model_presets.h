// The presets of presets/models as architectures, read once for all tests:
//
//     const model::Architecture& gpt2 = model::network("gpt2");
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/model/architecture.h"
#include "core/model/preset.h"
#include "core/run/preset_files.h"

namespace plimsoll::model {

struct ReadModel {
  ModelPreset preset;
  Architecture network;
};

inline const std::vector<ReadModel>& all_models() {
  static const std::vector<ReadModel> models = [] {
    std::vector<ReadModel> read;
    for (const PresetFile& file : preset_files()) {
      if (file.path.substr(0, 7) != "models/") continue;
      json::Errors errors;
      const auto tree = json::parse(file.text, errors);
      const auto preset = tree ? read_model_preset(*tree, std::string(file.path), errors) : std::nullopt;
      auto network = preset ? read_config(preset->config, preset->hf_id, "/config", errors) : std::nullopt;
      for (const json::Error& error : errors)
        ADD_FAILURE() << file.path << error.pointer << " " << error.message;
      if (preset && network) read.push_back({*preset, std::move(*network)});
    }
    return read;
  }();
  return models;
}

inline const Architecture& network(const std::string& id) {
  for (const ReadModel& model : all_models()) {
    if (model.preset.id == id) return model.network;
  }
  ADD_FAILURE() << "no model preset " << id;
  static const Architecture none;
  return none;
}

/// PEFT's rule for a name in target_modules: the whole path, or its end after a dot.
inline bool ends_in_name(const std::string& path, const std::string& name) {
  if (path == name) return true;
  return path.size() > name.size() && path.compare(path.size() - name.size(), name.size(), name) == 0 &&
         path[path.size() - name.size() - 1] == '.';
}

}  // namespace plimsoll::model
