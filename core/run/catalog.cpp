#include "core/run/catalog.h"

#include <algorithm>

#include "core/json/ascii.h"

namespace plimsoll::run {

namespace {

using ascii::lower;

std::string last_part(const std::string& id) { return id.substr(id.rfind('/') + 1); }

void read_model(const json::Json& value, const std::string& path, Catalog& catalog) {
  auto preset = model::read_model_preset(value, path, catalog.errors);
  if (!preset) return;
  auto network = model::read_config(preset->config, preset->hf_id, "/config", catalog.errors);
  if (!network) return;
  // In the order of their files, each once.
  const auto before = [](const ModelEntry& entry, const std::string& file) {
    return entry.preset.id + ".json" < file;
  };
  const auto place =
      std::lower_bound(catalog.models.begin(), catalog.models.end(), preset->id + ".json", before);
  if (place != catalog.models.end() && place->preset.id == preset->id) return;
  catalog.models.insert(place, {std::move(*preset), std::move(*network)});
}

void read_scenario(const json::Json& value, const std::string& path, Catalog& catalog) {
  json::Object object(value, path, catalog.errors);
  for (const char* key : {"id", "title", "case", "state", "summary"}) {
    if (!object.text(key))
      catalog.errors.push_back({"missing", path + "/" + key, "A scenario needs this.", "a string"});
  }
  if (object.find("request") == nullptr) {
    catalog.errors.push_back({"missing", path + "/request", "A scenario is a request.", "an object"});
  }
  for (const char* key : {"source", "claims"}) object.find(key);
  object.no_other_keys();
  catalog.scenarios.push_back(value);
}

// Ids win over aliases, aliases over other checkpoints of the same shapes.
void index_names(Catalog& catalog) {
  catalog.names.clear();
  catalog.positions.clear();
  for (const ModelEntry& entry : catalog.models) {
    for (const auto& [name, tokens] : entry.preset.positions) {
      catalog.positions.emplace(lower(name), tokens);
      catalog.positions.emplace(lower(last_part(name)), tokens);
    }
  }
  const auto add = [&catalog](const std::string& name, std::size_t index) {
    catalog.names.emplace(lower(name), index);
  };
  for (std::size_t i = 0; i < catalog.models.size(); ++i) {
    add(catalog.models[i].preset.id, i);
    add(catalog.models[i].preset.hf_id, i);
  }
  for (std::size_t i = 0; i < catalog.models.size(); ++i) {
    for (const std::string& alias : catalog.models[i].preset.aliases) add(alias, i);
    for (const std::string& same : catalog.models[i].preset.same_shapes) add(same, i);
  }
  for (std::size_t i = 0; i < catalog.models.size(); ++i) {
    for (const std::string& same : catalog.models[i].preset.same_shapes) add(last_part(same), i);
  }
}

std::size_t common_letters(std::string_view a, std::string_view b) {
  std::size_t shared = 0;
  for (std::size_t i = 0; i + 2 < a.size(); ++i) {
    if (b.find(a.substr(i, 3)) != std::string_view::npos) ++shared;
  }
  return shared;
}

void add_item(std::string& list, const std::string& id, const std::string& name) {
  if (!list.empty()) list += ", ";
  list += id + "\t" + name;
}

}  // namespace

Catalog read_catalog(std::span<const PresetFile> files) {
  Catalog catalog;
  add_presets(catalog, files);
  return catalog;
}

void add_presets(Catalog& catalog, std::span<const PresetFile> files) {
  for (const PresetFile& file : files) {
    const std::string path(file.path);
    const std::size_t before = catalog.errors.size();
    const auto value = json::parse(file.text, catalog.errors);
    const std::string folder = path.substr(0, path.find('/'));
    if (value && folder == "models") read_model(*value, path, catalog);
    if (value && folder == "gpus") {
      if (auto gpu = hardware::read_gpu(*value, path, catalog.errors))
        catalog.gpus.push_back(std::move(*gpu));
    }
    if (value && folder == "clouds") {
      if (auto cloud = hardware::read_cloud(*value, path, catalog.errors))
        catalog.clouds.push_back(std::move(*cloud));
    }
    if (value && folder == "stacks") {
      if (auto stack = recipe::read_stack(*value, catalog.errors))
        catalog.stacks.push_back(std::move(*stack));
    }
    if (value && folder == "evidence") read_evidence(*value, path, catalog.evidence, catalog.errors);
    if (value && folder == "scenarios") read_scenario(*value, path, catalog);
    for (std::size_t i = before; i < catalog.errors.size(); ++i) {
      catalog.errors[i].pointer.insert(0, path + " ");
    }
  }
  catalog.tiers = hardware::tiers(catalog.gpus);
  index_names(catalog);
}

std::vector<PresetFile> packed_files(std::string_view text) {
  std::vector<PresetFile> files;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos) files.push_back({line.substr(0, tab), line.substr(tab + 1)});
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return files;
}

const ModelEntry* Catalog::find_model(std::string_view name) const {
  const auto found = names.find(lower(name));
  return found == names.end() ? nullptr : &models[found->second];
}

const hardware::Gpu* Catalog::find_gpu(std::string_view id) const {
  for (const hardware::Gpu& gpu : gpus) {
    if (gpu.id == id) return &gpu;
  }
  return nullptr;
}

const recipe::StackPreset* Catalog::find_stack(std::string_view id) const {
  for (const recipe::StackPreset& stack : stacks) {
    if (stack.id == id) return &stack;
  }
  return nullptr;
}

std::string model_list(const Catalog& catalog) {
  std::string list;
  for (const ModelEntry& entry : catalog.models) add_item(list, entry.preset.id, entry.preset.hf_id);
  return list;
}

std::string gpu_list(const Catalog& catalog, bool slices) {
  std::string list;
  for (const hardware::Gpu& gpu : catalog.gpus) {
    if (slices || gpu.segment != "slice") add_item(list, gpu.id, gpu.name.substr(0, gpu.name.find(',')));
  }
  return list;
}

std::vector<std::string> similar_models(const Catalog& catalog, std::string_view name, std::size_t count) {
  const std::string wanted = last_part(lower(name));
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const ModelEntry& entry : catalog.models) {
    const std::size_t shared = common_letters(wanted, entry.preset.id);
    if (shared > 0) scored.emplace_back(shared, entry.preset.id);
  }
  std::vector<std::string> names;
  while (names.size() < count && !scored.empty()) {
    // The first of the best.
    const auto best = std::max_element(scored.begin(), scored.end(),
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
    names.push_back(std::move(best->second));
    scored.erase(best);
  }
  return names;
}

}  // namespace plimsoll::run
