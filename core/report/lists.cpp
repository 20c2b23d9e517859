// What the presets hold, for lists and forms.
#include "core/report/report.h"

namespace plimsoll::report {

namespace {

using json::Json;

std::string_view kind_name(model::Kind kind) {
  switch (kind) {
    case model::Kind::decoder:
      return "decoder";
    case model::Kind::encoder:
      return "encoder";
    case model::Kind::encoder_decoder:
      return "encoder-decoder";
    case model::Kind::vlm:
      break;
  }
  return "vlm";
}

}  // namespace

std::string models_text(const Catalog& catalog) {
  Json rows = Json::array();
  for (const ModelEntry& entry : catalog.models) {
    Json row = Json::object();
    row["id"] = entry.preset.id;
    row["hf_id"] = entry.preset.hf_id;
    row["family"] = entry.preset.family;
    row["kind"] = std::string(kind_name(entry.network.kind));
    row["model_type"] = entry.network.model_type;
    row["parameters"] = model::parameter_count(entry.network);
    row["verified"] = entry.preset.verified;
    row["aliases"] = entry.preset.aliases;
    rows.push_back(std::move(row));
  }
  Json out = Json::object();
  out["models"] = std::move(rows);
  return json::write(out);
}

std::string gpus_text(const Catalog& catalog) {
  Json gpus = Json::array();
  for (const hardware::Gpu& gpu : catalog.gpus) {
    Json row = Json::object();
    row["id"] = gpu.id;
    row["name"] = gpu.name;
    row["vendor"] = gpu.vendor;
    row["segment"] = gpu.segment;
    row["architecture"] = gpu.architecture;
    row["compute_capability"] = gpu.compute_capability;
    row["tier_gib"] = gpu.tier_gib;
    row["usable_bytes"] = gpu.usable_bytes;
    row["usable_source"] = gpu.usable_source;
    row["bf16"] = gpu.bf16;
    row["flash_attention_2"] = gpu.flash_attention_2;
    gpus.push_back(std::move(row));
  }
  Json tiers = Json::array();
  for (const hardware::Tier& tier : catalog.tiers) {
    Json row = Json::object();
    row["gib"] = tier.gib;
    row["usable"] = tier.usable_bytes;
    row["gpus"] = tier.gpus;
    tiers.push_back(std::move(row));
  }
  Json out = Json::object();
  out["gpus"] = std::move(gpus);
  out["tiers"] = std::move(tiers);
  return json::write(out);
}

std::string scenarios_text(const Catalog& catalog) {
  Json out = Json::object();
  out["scenarios"] = catalog.scenarios;
  return json::write(out);
}

std::string fields_text(const Catalog& catalog) {
  Json fields = Json::array();
  for (const recipe::FieldInfo& field : recipe::fields()) {
    Json row = Json::object();
    row["pointer"] = field.pointer;
    row["type"] = field.type;
    row["allowed"] = field.allowed;
    row["what"] = field.what;
    fields.push_back(std::move(row));
  }
  Json stacks = Json::array();
  for (const recipe::StackPreset& stack : catalog.stacks) {
    Json row = Json::object();
    row["id"] = stack.id;
    row["name"] = stack.name;
    row["summary"] = stack.summary;
    stacks.push_back(std::move(row));
  }
  Json out = Json::object();
  out["fields"] = std::move(fields);
  out["stacks"] = std::move(stacks);
  return json::write(out);
}

}  // namespace plimsoll::report
