// The presets, read once: models, GPUs, stacks, scenarios.
//
//     Catalog catalog = read_catalog(preset_files());
//     const ModelEntry* model = catalog.find_model("Mistralai/Mistral-7B-v0.3");   // ids, hub ids, same shapes
//     if (!catalog.errors.empty()) ...                                             // a preset file is wrong
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/hardware/cloud.h"
#include "core/hardware/gpu.h"
#include "core/memory/allocator/reserve.h"
#include "core/model/architecture.h"
#include "core/model/preset.h"
#include "core/recipe/recipe.h"
#include "core/run/evidence.h"
#include "core/run/preset_files.h"

namespace plimsoll::run {

struct ModelEntry {
  model::ModelPreset preset;
  model::Architecture network;
};

struct Catalog {
  std::vector<ModelEntry> models;
  std::vector<hardware::Gpu> gpus;
  std::vector<hardware::Tier> tiers;
  std::vector<hardware::Cloud> clouds;
  std::vector<recipe::StackPreset> stacks;
  std::vector<json::Json> scenarios;
  std::vector<Measured> evidence;                         ///< runs that estimates were held against
  std::map<std::string, std::size_t, std::less<>> names;  ///< lower-case name to index in models
  /// How far a checkpoint reads, where that is not what its preset says: lower-case name to tokens.
  std::map<std::string, std::size_t, std::less<>> positions;
  json::Errors errors;  ///< of the preset files; pointers begin with the path
  /// What the simulated allocator said, for all runs that are read with this catalog; null: each for itself. A page
  /// asks for the report of a run, its plans and its limits one after another. Threads need one each: copies share it.
  std::shared_ptr<memory::ReserveMemo> played = std::make_shared<memory::ReserveMemo>();

  /// By id, alias, hub id, or the hub id of a model with the same shapes, whatever the case. Null when
  /// unknown.
  const ModelEntry* find_model(std::string_view name) const;
  const hardware::Gpu* find_gpu(std::string_view id) const;
  const recipe::StackPreset* find_stack(std::string_view id) const;
};

Catalog read_catalog(std::span<const PresetFile> files);

/// Reads further files into a catalog: a page shows its first answer before it has fetched all models. A
/// model that is there already is passed over. The result does not depend on the order in which files come.
void add_presets(Catalog& catalog, std::span<const PresetFile> files);

/// The files in a text of presets/pack.cmake: a line each, "models/gpt2.json", a tab, and the JSON. Views
/// into `text`.
std::vector<PresetFile> packed_files(std::string_view text);

/// For json::near: every id, and behind a tab the longer name.
std::string model_list(const Catalog& catalog);
std::string gpu_list(const Catalog& catalog, bool slices = true);

/// Up to `count` known names most like `name`, best first.
std::vector<std::string> similar_models(const Catalog& catalog, std::string_view name, std::size_t count);

}  // namespace plimsoll::run
