#include "core/report/exchange.h"

#include <algorithm>
#include <array>

#include "core/exchange/export.h"
#include "core/exchange/parts.h"
#include "core/exchange/releases.h"
#include "core/json/ascii.h"
#include "core/json/at.h"
#include "core/json/near.h"
#include "core/json/writer.h"
#include "core/question/said_cards.h"
#include "core/recipe/fields.h"
#include "core/recipe/stacks.h"
#include "core/report/handout.h"
#include "core/report/heading.h"
#include "core/report/refused.h"
#include "core/run/essentials.h"
#include "core/run/model_names.h"
#include "core/run/run.h"

namespace plimsoll::report {

namespace {

using exchange::Import;
using exchange::Use;
using json::Json;

// What is unpacked before it is trained (fp8, nvfp4, mxfp4) says nothing here.
// A checkpoint that is stored in 4 bits loads in 4 bits, though no key of the file says so.
void add_packing(Import& import) {
  const std::string packing = ascii::lower(run::packing_in(import.model));
  if (packing.empty() || import.request.contains("quantization")) return;
  const auto says = [&packing](std::string_view part) { return packing.find(part) != std::string::npos; };
  Json quantization;
  for (const char* method : {"gptq", "awq", "aqlm", "hqq"}) {
    if (says(method)) quantization = {{"quant_method", method}};
  }
  if (quantization.is_object()) {
    if (says("8bit") || says("int8")) quantization["bits"] = 8;
    if (says("2bit")) quantization["bits"] = 2;
  } else if (says("bnb") || packing == "4bit" || packing == "8bit" || packing == "nf4") {
    quantization = {{says("8bit") ? "load_in_8bit" : "load_in_4bit", true}};
  }
  if (!quantization.is_object()) return;
  import.request["quantization"] = std::move(quantization);
  std::string note = "The checkpoint's name ends in \"";
  note.append(packing).append("\": its weights are loaded as they are stored.");
  import.notes.push_back(std::move(note));
}

// Whether a model that is guessed has any module that the text gives adapters to.
bool has_its_modules(const Import& import, const std::string& model, const run::Catalog& catalog) {
  Json request = import.request;
  request["model"] = model;
  json::Errors errors;
  (void)run::read_quick_run(json::write(request), catalog, errors);
  return std::none_of(errors.begin(), errors.end(), [](const json::Error& error) {
    return error.pointer == "/peft/target_modules" && error.code == "unknown_value";
  });
}

// A command of somebody's own script: the modules stand in the script, and PEFT has none for such a model. All linear
// layers are the most that they may be, until a person says them.
void ask_for_targets(Import& import, const exchange::Document& document, const run::Catalog& catalog) {
  const bool own = document.language == exchange::Language::shell && import.request.is_object() &&
                   json::at(import.request, "stack") == Json("hf") &&
                   json::at(import.request, "peft").is_object();
  if (!own || import.request["peft"].contains("target_modules")) return;
  json::Errors errors;
  (void)run::read_quick_run(json::write(import.request), catalog, errors);
  if (std::none_of(errors.begin(), errors.end(), [](const json::Error& error) {
        return error.pointer == "/peft/target_modules" && error.code == "missing";
      }))
    return;
  import.request["peft"]["target_modules"] = "all-linear";
  import.missing.push_back(
      {"/peft/target_modules", "They stand in the script that this command starts; say them."});
}

void look_up_model(Import& import, const run::Catalog& catalog) {
  if (import.model.empty() || catalog.find_model(import.model) != nullptr) return;
  const run::NamedModel named = run::find_by_name(catalog, import.model);
  if (named.entry != nullptr && has_its_modules(import, named.entry->preset.hf_id, catalog)) {
    import.notes.push_back(named.how);
    import.request["model"] = named.entry->preset.hf_id;
    return;
  }
  std::string similar;
  for (const std::string& name : run::similar_models(catalog, import.model, 3))
    similar += (similar.empty() ? "" : ", ") + name;
  import.errors.push_back({"unknown_model", "/model",
                           "The configuration is read, but the model \"" + import.model +
                               "\" is not among the presets; give its config.json instead." +
                               json::did_you_mean(import.model, run::model_list(catalog)),
                           similar});
}

// What keeps a run from being: errors, and what its libraries refuse on its card.
std::vector<std::string> obstacles(const Json& request, const run::Catalog& catalog) {
  json::Errors errors;
  std::vector<std::string> found;
  const auto run = run::read_quick_run(json::write(request), catalog, errors);
  for (const json::Error& error : errors) found.push_back(error.message);
  for (const model::Note& note : run ? refused(*run) : std::vector<model::Note>())
    found.push_back(note.message);
  return found;
}

// "A100-80GB:2": the card where the name is that of one alone and the run could be one on it, and how many.
void look_up_card(Import& import, const run::Catalog& catalog) {
  if (import.card.empty() || !import.request.is_object()) return;
  const size_t colon = std::min(import.card.find(':'), import.card.size());
  const std::string name = import.card.substr(0, colon), count = import.card.substr(colon);
  const bool counted = count.size() > 1 && count.size() < 5 && count[1] != '0' &&
                       count.find_first_not_of("0123456789", 1) == std::string::npos;
  if (counted && json::at(json::at(import.request, "parallel"), "num_gpus").is_null())
    import.request["parallel"]["num_gpus"] = static_cast<uint64_t>(std::stoul(count.substr(1)));
  if (!json::at(json::at(import.request, "hardware"), "gpu").is_null()) return;
  const hardware::Gpu* card = question::card_called(name, catalog);
  std::string why = "which is no single GPU";
  if (card != nullptr) {
    Json on_it = import.request;
    on_it["hardware"]["gpu"] = card->id;
    const auto before = obstacles(import.request, catalog), there = obstacles(on_it, catalog);
    if (there.size() <= before.size()) {
      import.request = std::move(on_it);
      import.notes.push_back("The text says that it runs on \"" + name + "\": " + card->name + ".");
      return;
    }
    why = "where this does not run (" + there.back() + ")";
  }
  import.missing.push_back({"/hardware/gpu", "The text names \"" + name + "\", " + why + "; say which."});
}

}  // namespace

namespace {

std::string_view language_name(exchange::Language language) {
  static constexpr std::string_view names[] = {"none", "json", "yaml", "python", "shell", "link"};
  return names[static_cast<int>(language)];
}

}  // namespace

std::string_view language_text(std::string_view text) { return language_name(exchange::language_of(text)); }

std::string parts_text(std::string_view text) {
  json::Writer out;
  out.open_array();
  for (const std::string_view part : exchange::settings_parts(text)) out.value(part);
  out.close_array();
  return out.take();
}

Import import_known(const exchange::Document& document, std::string_view text, const run::Catalog& catalog,
                    std::string_view around) {
  Import import = exchange::import_document(document, text);
  exchange::add_versions(import, document, around.empty() ? text : around);
  if (import.errors.empty()) exchange::add_release(import, document, text);
  if (import.errors.empty() && !import.model.empty()) {
    add_packing(import);
    look_up_model(import, catalog);
    ask_for_targets(import, document, catalog);
  }
  look_up_card(import, catalog);
  if (import.request.is_null()) return import;
  for (run::Missing& one : run::missing_in(import.request, catalog)) {
    const auto same = [&one](const run::Missing& other) { return other.pointer == one.pointer; };
    if (std::none_of(import.missing.begin(), import.missing.end(), same))
      import.missing.push_back(std::move(one));
  }
  return import;
}

std::string write_import(const Import& import) {
  json::Writer out;
  out.open_object();
  out.field("schema", uint64_t{1});
  out.field("ok", import.errors.empty());
  if (import.format != nullptr) {
    out.key("format");
    out.open_object();
    out.field("id", import.format->id);
    out.field("name", import.format->name);
    if (import.command) out.field("command", true);
    out.close_object();
  }
  out.field("partial", import.partial);
  out.key("request");
  if (import.request.is_null()) {
    out.null();
  } else {
    out.value(import.request);
  }
  out.key("missing");
  out.open_array();
  for (const run::Missing& one : import.missing) {
    out.open_object();
    out.field("pointer", one.pointer);
    out.field("message", one.message);
    out.close_object();
  }
  out.close_array();
  std::array<uint64_t, 5> counts{};
  for (const exchange::Finding& found : import.findings) ++counts[static_cast<size_t>(found.use)];
  out.key("counts");
  out.open_object();
  for (const Use use : {Use::used, Use::implied, Use::irrelevant, Use::unsupported, Use::unknown})
    out.field(exchange::use_name(use), counts[static_cast<size_t>(use)]);
  out.close_object();
  out.key("keys");
  out.open_array();
  for (const exchange::Finding& found : import.findings) {
    out.open_object();
    out.field("key", found.path);
    out.field("use", exchange::use_name(found.use));
    if (!found.pointer.empty()) out.field("pointer", found.pointer);
    if (!found.message.empty()) out.field("message", found.message);
    out.field("at", found.at.at);
    out.field("length", found.at.length);
    out.close_object();
  }
  out.close_array();
  out.field("notes", import.notes);
  out.key("errors");
  write_errors(out, import.errors);
  out.close_object();
  return out.take();
}

namespace {

bool says(const exchange::Format& format, std::string_view pointer) {
  return std::any_of(format.sections.begin(), format.sections.end(), [pointer](const auto& section) {
    const auto& rows = section.table->rows;
    return std::any_of(rows.begin(), rows.end(),
                       [pointer](const auto& row) { return row.pointer == pointer; });
  });
}

// Tools differ in what they take where nothing is said of them, and some take nothing.
void state_adapter(recipe::Request& given, const exchange::Format& format, const recipe::Values& resolved) {
  const auto type = resolved.find("/peft/peft_type");
  const bool lora = type == resolved.end() || type->second.is_null() || type->second == Json("LORA");
  if (given.values.count("/peft") == 0 || !lora || format.id == "request") return;
  for (const char* pointer : {"/peft/r", "/peft/lora_alpha"}) {
    const auto found = resolved.find(pointer);
    if (found != resolved.end() && says(format, pointer)) given.values.emplace(pointer, found->second);
  }
}

// Axolotl's plugin takes the kernels that are named. Transformers reads their names only where its switch is on,
// and then takes those too that are not named.
void switch_liger(recipe::Request& given, const exchange::Format& format) {
  constexpr const char* kernels[] = {"rms_norm", "swiglu", "rope", "fused_linear_cross_entropy"};
  const std::string below = "/training/liger_kernel_config/", on = "/training/use_liger_kernel";
  const auto is = [&given](const std::string& pointer) {
    const auto found = given.values.find(pointer);
    return found != given.values.end() && found->second == Json(true);
  };
  const auto named = [&](const char* kernel) { return is(below + kernel); };
  const bool own_names = format.id == "axolotl" || format.id == "request" || is(on);
  if (own_names || std::none_of(std::begin(kernels), std::end(kernels), named)) return;
  const bool whole = std::all_of(std::begin(kernels), std::end(kernels), named);
  given.values[on] = true;
  for (const char* kernel : kernels) {
    if (whole) given.values.erase(below + kernel);
    if (!whole) given.values.emplace(below + kernel, false);
  }
}

// What the request's stack says by default and the tool's own would say otherwise is written out. Only the
// rows of the two stack files are compared: every other default depends on the model and the versions alone.
void complete(recipe::Request& given, const exchange::Format& format, const run::Catalog& catalog) {
  const auto stated = given.values.find("/stack");
  const std::string from = stated == given.values.end() ? "hf" : stated->second.get<std::string>();
  const recipe::StackPreset* theirs = catalog.find_stack(std::string(format.stack));
  const recipe::StackPreset* ours = catalog.find_stack(from);
  if (ours == nullptr) return;
  json::Errors ignored;
  recipe::ModelTraits traits;
  const recipe::Resolved before = recipe::resolve(given, *ours, traits, ignored);
  state_adapter(given, format, before.values);
  if (from == "axolotl") switch_liger(given, format);
  const auto sharing = before.values.find("/parallel/strategy");
  const bool shares = sharing != before.values.end() && sharing->second != Json("none");
  // Which way is the usual one is a trait of a stack, not a row of its file.
  if (shares && recipe::stack_traits(from).several_gpus != recipe::stack_traits(format.stack).several_gpus)
    given.values.emplace(sharing->first, sharing->second);
  if (format.stack.empty() || from == format.stack || theirs == nullptr) return;
  recipe::Request moved = given;
  moved.values["/stack"] = std::string(format.stack);
  const recipe::Resolved after = recipe::resolve(moved, *theirs, traits, ignored);
  for (const recipe::StackPreset* stack : {ours, theirs}) {
    for (const recipe::StackDefault& row : stack->defaults) {
      const auto was = before.values.find(row.pointer), will = after.values.find(row.pointer);
      if (was == before.values.end() || was->second.is_null() || given.values.count(row.pointer) != 0)
        continue;
      if (will != after.values.end() && will->second == was->second) continue;
      if (!exchange::is_idle(given.values, row.pointer)) given.values[row.pointer] = was->second;
    }
  }
  given.values["/stack"] = std::string(format.stack);
}

}  // namespace

namespace {

const HandoutKind* find_handout(std::string_view id) {
  for (const HandoutKind& kind : handout_kinds()) {
    if (kind.id == id) return &kind;
  }
  return nullptr;
}

std::string handout_answer(const HandoutKind& kind, std::string_view request, std::string_view before,
                           const run::Catalog& catalog) {
  json::Errors errors;
  const std::string text = handout(kind.id, request, before, catalog, errors);
  json::Writer out;
  out.open_object();
  out.field("schema", uint64_t{1});
  out.field("ok", errors.empty());
  if (errors.empty()) {
    out.field("format", kind.id);
    out.field("text", text);
    out.field("left_out", std::vector<std::string>());
  }
  out.key("errors");
  write_errors(out, errors);
  out.close_object();
  return out.take();
}

}  // namespace

std::string export_text(std::string_view request, std::string_view id, const run::Catalog& catalog,
                        std::string_view before) {
  if (const HandoutKind* kind = find_handout(id)) return handout_answer(*kind, request, before, catalog);
  json::Errors errors;
  const exchange::Format* format = exchange::find_format(id);
  if (format == nullptr || format->written == exchange::Language::none) {
    std::string allowed;
    for (const exchange::Format* each : exchange::formats()) {
      if (each->written != exchange::Language::none)
        allowed += (allowed.empty() ? "" : ", ") + std::string(each->id);
    }
    for (const HandoutKind& kind : handout_kinds()) allowed += ", " + std::string(kind.id);
    errors.push_back({"unknown_format", "",
                      "No format that can be written is called \"" + std::string(id) + "\"." +
                          json::did_you_mean(id, allowed),
                      allowed});
  }
  const auto tree = json::parse(request, errors);
  recipe::Request given;
  if (tree && errors.empty()) given = recipe::read_request(*tree, errors);
  json::Writer out;
  out.open_object();
  out.field("schema", uint64_t{1});
  out.field("ok", errors.empty());
  if (errors.empty()) {
    if (!given.model_id.empty()) given.model_id = run::hub_id(catalog, given.model_id);
    complete(given, *format, catalog);
    const exchange::Export written = exchange::export_as(*format, given);
    out.field("format", format->id);
    out.field("text", written.text);
    out.field("left_out", written.left_out);
  }
  out.key("errors");
  write_errors(out, errors);
  out.close_object();
  return out.take();
}

std::string formats_text() {
  json::Writer out;
  out.open_object();
  out.key("formats");
  out.open_array();
  for (const exchange::Format* format : exchange::formats()) {
    out.open_object();
    out.field("id", format->id);
    out.field("name", format->name);
    out.field("reads", true);
    out.field("writes", format->written != exchange::Language::none);
    out.field("language", language_name(format->written));
    out.close_object();
  }
  for (const HandoutKind& kind : handout_kinds()) {
    out.open_object();
    out.field("id", kind.id);
    out.field("name", kind.name);
    out.field("reads", false);
    out.field("writes", true);
    out.field("language", kind.id == "environment" ? "shell" : kind.id == "checklist" ? "markdown" : kind.id);
    out.close_object();
  }
  out.close_array();
  out.close_object();
  return out.take();
}

exchange::Document read_with_tree(std::string_view text, std::string_view yaml_tree,
                                  std::string_view command) {
  exchange::Document document = exchange::read_text(text, command);
  if (!document.errors.empty() || document.language != exchange::Language::yaml) return document;
  if (!yaml_tree.empty()) return exchange::from_wire(yaml_tree);
  document.errors.push_back({"needs_tree", "", "This is YAML: it comes with its tree from a YAML parser.",
                             "the tree described in core/exchange/tree.h"});
  return document;
}

std::string import_text(std::string_view text, std::string_view yaml_tree, const run::Catalog& catalog,
                        std::string_view around, std::string_view command) {
  return write_import(import_known(read_with_tree(text, yaml_tree, command), text, catalog, around));
}

}  // namespace plimsoll::report
