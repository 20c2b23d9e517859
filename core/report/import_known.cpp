// What the presets know of an import: its model, its card, what nobody said.
#include <algorithm>

#include "core/exchange/releases.h"
#include "core/exchange/versions.h"
#include "core/json/ascii.h"
#include "core/json/at.h"
#include "core/json/near.h"
#include "core/model/not_replayed.h"
#include "core/question/said_cards.h"
#include "core/recipe/fields.h"
#include "core/recipe/stacks.h"
#include "core/report/exchange.h"
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

void add_packing(Import& import) {
  if (import.request.contains("quantization")) return;
  Json quantization = run::stored_quantization(import.model);
  if (!quantization.is_object()) return;
  import.request["quantization"] = std::move(quantization);
  std::string note = "The checkpoint's name ends in \"";
  note.append(ascii::lower(run::packing_in(import.model)))
      .append("\": its weights are loaded as they are stored.");
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
  const Json& stack = json::at(import.request, "stack");
  const bool own = document.language == exchange::Language::shell && stack.is_string() &&
                   recipe::stack_traits(stack.get_ref<const std::string&>()).plain_trainer &&
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
    // Where the checkpoint reads less far than its preset, by its own name.
    import.request["model"] = catalog.positions.contains(named.known) ? run::hub_id(catalog, named.known)
                                                                      : named.entry->preset.hf_id;
    return;
  }
  if (const std::string_view what = model::not_replayed_by_name(import.model); !what.empty()) {
    import.errors.push_back({"unknown_model", "/model",
                             "The configuration is read, but \"" + import.model + "\" is " +
                                 std::string(what) + ", which is not replayed here.",
                             ""});
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

}  // namespace plimsoll::report
