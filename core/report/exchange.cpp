#include "core/report/exchange.h"

#include <algorithm>
#include <array>

#include "core/exchange/export.h"
#include "core/exchange/formats.h"
#include "core/exchange/notebook.h"
#include "core/exchange/parts.h"
#include "core/json/at.h"
#include "core/json/near.h"
#include "core/json/writer.h"
#include "core/recipe/fields.h"
#include "core/recipe/stacks.h"
#include "core/report/handout.h"
#include "core/report/heading.h"
#include "core/run/model_names.h"
#include "core/run/run.h"

namespace plimsoll::report {

namespace {

using exchange::Import;
using exchange::Use;
using json::Json;

std::string_view language_name(exchange::Language language) {
  static constexpr std::string_view names[] = {"none", "json", "yaml", "python", "shell", "link"};
  return names[static_cast<int>(language)];
}

}  // namespace

std::string_view language_text(std::string_view text) { return language_name(exchange::language_of(text)); }

std::string parts_text(std::string_view text) {
  json::Writer out;
  out.open_array();
  const std::string files = exchange::is_notebook(text) ? exchange::files_written_in(text) : "";
  for (const std::string_view part : exchange::settings_parts(files.empty() ? text : files)) out.value(part);
  out.close_array();
  return out.take();
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
  if (given.values.count("/peft") == 0 || !lora || format.of_fields) return;
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
  const bool own_names = format.of_fields || &format == &exchange::axolotl || is(on);
  if (own_names || std::none_of(std::begin(kernels), std::end(kernels), named)) return;
  const bool whole = std::all_of(std::begin(kernels), std::end(kernels), named);
  given.values[on] = true;
  for (const char* kernel : kernels) {
    if (whole) given.values.erase(below + kernel);
    if (!whole) given.values.emplace(below + kernel, false);
  }
}

// The fields of a run, by its model where that is known, else by its stack alone.
recipe::Values resolved(const recipe::Request& given, const recipe::StackPreset& stack,
                        const run::Catalog& catalog) {
  json::Errors ignored;
  if (const auto run = run::read_quick_run(given, catalog, ignored)) return run->resolved.values;
  return recipe::resolve(given, stack, recipe::ModelTraits(), ignored).values;
}

// Releases and who loads the model come with a stack, not from a file of settings; and what says how nothing is
// quantised, or no adapter added, says nothing.
bool is_said(const recipe::Values& given, const std::string& pointer) {
  const auto any = [&given](const std::string& section) {
    const auto first = given.lower_bound(section);
    return first != given.end() && first->first.starts_with(section);
  };
  for (const char* section : {"/quantization", "/peft"}) {
    if (pointer.starts_with(section) && !any(section)) return false;
  }
  return pointer != "/stack" && pointer != "/schema" && pointer != "/model_args/loaded_by_trainer" &&
         !pointer.starts_with("/versions/") && !pointer.starts_with("/hardware/");
}

// What the request's stack says by default and the tool's own would say otherwise is written out.
void complete(recipe::Request& given, const exchange::Format& format, const run::Catalog& catalog) {
  const std::string from = recipe::stack_of(given);
  // A command line is Transformers' own or TRL's; what another stack's trainer does TRL's is told.
  const bool command = &format == &exchange::command_line && !recipe::stack_traits(from).plain_trainer;
  const std::string to = command ? "trl" : std::string(format.stack);
  const recipe::StackPreset* theirs = catalog.find_stack(to);
  const recipe::StackPreset* ours = catalog.find_stack(from);
  if (ours == nullptr) return;
  const recipe::Values before = resolved(given, *ours, catalog);
  state_adapter(given, format, before);
  if (recipe::stack_traits(from).names_liger_kernels) switch_liger(given, format);
  const auto sharing = before.find("/parallel/strategy");
  const bool shares = sharing != before.end() && sharing->second != Json("none");
  // Which way is the usual one is a trait of a stack, not a row of its file.
  if (shares && recipe::stack_traits(from).several_gpus != recipe::stack_traits(to).several_gpus)
    given.values.emplace(sharing->first, sharing->second);
  // A script of TRL's loads the model itself.
  const bool loads = &format == &exchange::trl_python;
  if (to.empty() || theirs == nullptr || (from == to && !loads)) return;
  const auto differs = [&](const std::string& pointer, const Json& was, const recipe::Values& after) {
    const auto will = after.find(pointer);
    const bool open = !was.is_null() && given.values.count(pointer) == 0 && is_said(given.values, pointer);
    return open && (will == after.end() || will->second != was) && !exchange::is_idle(given.values, pointer);
  };
  // What one field says may decide another.
  constexpr int most_rounds = 4;
  for (int round = 0; round < most_rounds; ++round) {
    recipe::Request moved = given;
    moved.values["/stack"] = to;
    if (loads) moved.values["/model_args/loaded_by_trainer"] = false;
    const recipe::Values after = resolved(moved, *theirs, catalog);
    const size_t said = given.values.size();
    for (const auto& [pointer, was] : before) {
      if (differs(pointer, was, after)) given.values[pointer] = was;
    }
    if (given.values.size() == said) break;
  }
  given.values["/stack"] = to;
  if (loads) given.values["/model_args/loaded_by_trainer"] = false;
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
  if (errors.empty()) {
    if (!given.model_id.empty()) given.model_id = run::hub_id(catalog, given.model_id);
    complete(given, *format, catalog);
    if (auto refusal = exchange::export_refusal(*format, given)) errors.push_back(std::move(*refusal));
  }
  json::Writer out;
  out.open_object();
  out.field("schema", uint64_t{1});
  out.field("ok", errors.empty());
  if (errors.empty()) {
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
    out.field("language", kind.language);
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
