// What the presets hold, for lists and forms.
#include "core/json/writer.h"
#include "core/recipe/methods.h"
#include "core/recipe/tasks.h"
#include "core/report/report.h"
#include "core/run/usual.h"

namespace plimsoll::report {

namespace {

using json::Writer;

std::string_view kind_name(model::NetworkKind kind) {
  switch (kind) {
    case model::NetworkKind::decoder:
      return "decoder";
    case model::NetworkKind::encoder:
      return "encoder";
    case model::NetworkKind::encoder_decoder:
      return "encoder-decoder";
    case model::NetworkKind::vlm:
      break;
  }
  return "vlm";
}

void write_fields(Writer& out) {
  out.key("fields");
  out.open_array();
  for (const recipe::FieldInfo& field : recipe::fields()) {
    out.open_object();
    out.field("pointer", field.pointer);
    out.field("type", field.type);
    out.field("allowed", field.allowed);
    out.field("what", field.what);
    out.close_object();
  }
  out.close_array();
}

void write_methods(Writer& out) {
  out.key("methods");
  out.open_array();
  for (const recipe::Method& method : recipe::methods()) {
    out.open_object();
    out.field("id", method.id);
    out.field("adapters", method.adapters);
    out.key("quantization");
    out.open_object();
    for (const auto& [pointer, value] : recipe::quantization_of(method, nullptr))
      out.field(pointer.substr(pointer.rfind('/') + 1), value);
    out.close_object();
    out.close_object();
  }
  out.close_array();
}

void write_tasks(Writer& out) {
  out.key("tasks");
  out.open_array();
  for (const recipe::Task& task : recipe::tasks()) {
    out.open_object();
    out.field("id", task.id);
    out.field("online", task.online);
    out.field("reference", task.reference);
    out.field("has_rl", task.has_rl());
    out.field("num_generations", task.num_generations);
    out.close_object();
  }
  out.close_array();
}

}  // namespace

std::string models_text(const run::Catalog& catalog) {
  Writer out;
  out.open_object();
  out.key("models");
  out.open_array();
  for (const run::ModelEntry& entry : catalog.models) {
    out.open_object();
    out.field("id", entry.preset.id);
    out.field("hf_id", entry.preset.hf_id);
    out.field("family", entry.preset.family);
    out.field("kind", kind_name(entry.network.kind));
    out.field("model_type", entry.network.model_type);
    out.field("parameters", model::parameter_count(entry.network));
    out.field("verified", entry.preset.verified);
    std::vector<std::string> aliases = entry.preset.aliases;
    aliases.insert(aliases.end(), entry.preset.same_shapes.begin(), entry.preset.same_shapes.end());
    out.field("aliases", aliases);
    out.close_object();
  }
  out.close_array();
  out.close_object();
  return out.take();
}

std::string gpus_text(const run::Catalog& catalog) {
  Writer out;
  out.open_object();
  out.key("gpus");
  out.open_array();
  for (const hardware::Gpu& gpu : catalog.gpus) {
    out.open_object();
    out.field("id", gpu.id);
    out.field("name", gpu.name);
    out.field("vendor", gpu.vendor);
    out.field("segment", gpu.segment);
    out.field("architecture", gpu.architecture);
    out.field("compute_capability", gpu.compute_capability);
    out.field("tier_gib", gpu.tier_gib);
    out.field("usable_bytes", gpu.usable_bytes);
    out.field("usable_high_bytes", gpu.usable_high_bytes);
    out.field("usable_source", gpu.usable_source);
    out.field("bf16", gpu.bf16);
    out.field("flash_attention_2", gpu.flash_attention_2);
    out.close_object();
  }
  out.close_array();
  out.key("tiers");
  out.open_array();
  for (const hardware::Tier& tier : catalog.tiers) {
    out.open_object();
    out.field("gib", tier.gib);
    out.field("usable", tier.usable_bytes);
    out.field("gpus", tier.gpus);
    out.close_object();
  }
  out.close_array();
  out.close_object();
  return out.take();
}

std::string scenarios_text(const run::Catalog& catalog) {
  Writer out;
  out.open_object();
  out.key("scenarios");
  out.open_array();
  for (const json::Json& scenario : catalog.scenarios) out.value(scenario);
  out.close_array();
  out.close_object();
  return out.take();
}

std::string fields_text(const run::Catalog& catalog) {
  Writer out;
  out.open_object();
  write_fields(out);
  out.key("stacks");
  out.open_array();
  for (const recipe::StackPreset& stack : catalog.stacks) {
    out.open_object();
    out.field("id", stack.id);
    out.field("name", stack.name);
    out.field("summary", stack.summary);
    out.close_object();
  }
  out.close_array();
  write_methods(out);
  write_tasks(out);
  out.close_object();
  return out.take();
}

std::string usual_text(std::string_view request, const run::Catalog& catalog) {
  json::Errors none;
  const std::optional<json::Json> tree = json::parse(request, none);
  Writer out;
  out.open_object();
  out.key("usual");
  out.open_array();
  for (const run::Choice& one : run::usual_choices(tree.value_or(json::Json()), catalog)) {
    out.open_object();
    out.field("pointer", one.pointer);
    out.field("value", one.value);
    out.field("why", one.why);
    out.close_object();
  }
  out.close_array();
  out.close_object();
  return out.take();
}

}  // namespace plimsoll::report
