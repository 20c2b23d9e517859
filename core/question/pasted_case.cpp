#include "core/question/pasted_case.h"

#include <algorithm>

#include "core/diagnosis/text.h"
#include "core/exchange/versions.h"
#include "core/question/said_upgrade.h"
#include "core/recipe/stacks.h"
#include "core/run/model_names.h"

namespace plimsoll::question {

namespace {

bool is_unsupported(const json::Error& error) { return error.code == "unsupported"; }

// What the text says, where that makes a run; else its model alone.
json::Json of_text(const SaidRequest& said, const run::Catalog& catalog) {
  json::Json request = said.request();
  json::Errors errors;
  if (said.method && run::read_quick_run(json::write(request), catalog, errors)) return request;
  return json::Json{{"model", said.request().at("model")}};
}

bool loads_in_few_bits(const json::Json& request) {
  const auto loads = [&request](const char* pointer) {
    const json::Json::json_pointer at(pointer);
    return request.contains(at) && request.at(at) == json::Json(true);
  };
  return loads("/quantization/load_in_4bit") || loads("/quantization/load_in_8bit");
}

// Bare defaults of the libraries would be the run of nobody: fp32, and a 4-bit base without checkpointing, which
// prepare_model_for_kbit_training turns on. What the failure itself shows is left open (core/diagnosis/taken.h):
// how large the micro-batch is at least, what goes with it, and whether another base was checkpointed.
std::vector<run::Choice> usual_of(const json::Json& request, const run::Catalog& catalog) {
  std::vector<run::Choice> usual = run::usual_choices(request, catalog);
  const bool prepared = loads_in_few_bits(request);
  std::erase_if(usual, [prepared](const run::Choice& one) {
    return one.pointer == "/training/per_device_train_batch_size" ||
           one.pointer == "/training/gradient_accumulation_steps" ||
           (one.pointer == "/training/gradient_checkpointing" && !prepared);
  });
  return usual;
}

// What is loaded most often comes first.
void read_presets(const run::Catalog& catalog, diagnosis::Situation& s) {
  for (const run::ModelEntry& entry : catalog.models) {
    s.models.push_back({entry.preset.id, &entry.network, entry.preset.same_shapes.size()});
  }
  std::stable_sort(s.models.begin(), s.models.end(),
                   [](const auto& a, const auto& b) { return a.copies > b.copies; });
  for (const hardware::Gpu& gpu : catalog.gpus) s.gpus.push_back(&gpu);
}

// Of two releases of a library the run that failed has the newer.
std::optional<SaidUpgrade> add_upgrade(std::string_view folded, PastedCase& out) {
  std::optional<SaidUpgrade> told = upgrade_in(folded);
  if (told && out.given.values.emplace(told->pointer, told->to).second)
    out.versions[told->pointer] = told->to;
  return told;
}

// Releases that the text names, where the request does not.
void add_versions(std::string_view text, PastedCase& out) {
  recipe::Values versions = exchange::versions_in(text);
  const auto stack = out.given.values.find("/stack");
  if (stack != out.given.values.end() && stack->second.is_string() &&
      recipe::stack_traits(stack->second.get_ref<const std::string&>()).monthly_releases) {
    if (std::string release = exchange::unsloth_release(text); !release.empty())
      versions.emplace("/versions/unsloth", std::move(release));
  }
  for (const auto& [pointer, version] : versions) {
    if (out.given.values.emplace(pointer, version).second) out.versions[pointer] = version;
  }
}

// What the replay cannot do is left out: the whole run on one card is still a measure of it.
void replay_what_can_be(const run::Catalog& catalog, PastedCase& out) {
  recipe::Request given = out.given;
  for (int attempt = 0; attempt < 4 && out.errors.empty(); ++attempt) {
    json::Errors errors;
    out.run = run::read_run(given, catalog, errors);
    if (out.run) return;
    if (!std::all_of(errors.begin(), errors.end(), is_unsupported)) {
      out.errors = errors;
      return;
    }
    for (const json::Error& error : errors) {
      given.values.erase(error.pointer);
      out.left_out.push_back(error.pointer);
    }
  }
}

// Of the run, of the model's name, or of its config.
void find_network(const run::Catalog& catalog, PastedCase& out) {
  diagnosis::Situation& s = out.situation;
  if (out.run) {
    s.network = &out.run->network;
    if (out.found_request.empty() || out.said.method) {  // a name alone says nothing of how it is trained
      s.recipe = &out.run->resolved.recipe;
      s.replay = &out.run->replay;
      s.machine = &out.run->machine;
    }
  } else if (const run::NamedModel named = run::find_by_name(catalog, s.model);
             named.entry != nullptr && !s.model.empty()) {
    s.network = &named.entry->network;
  } else if (out.given.model_config.is_object()) {
    json::Errors ignored;
    auto network = model::read_config(out.given.model_config, out.given.model_name, "/model/config", ignored);
    if (network) {
      out.network = std::move(*network);
      s.network = &out.network;
    }
  }
}

}  // namespace

void read_case(std::string_view text, std::string_view given_request, std::string_view phase,
               const run::Catalog& catalog, PastedCase& out) {
  diagnosis::Situation& s = out.situation;
  s.text = text;
  s.phase = diagnosis::phase_named(phase.substr(0, phase.find(' ')));
  s.answers = phase;
  read_presets(catalog, s);
  std::string_view request = given_request;
  out.said = said_in(text, catalog);
  s.said = out.said.values;
  s.is_plan = tells(out.said, text) && !tells_of_a_failure(diagnosis::fold(text));
  if (out.said.method && s.said.count("/peft") == 0) s.said["/peft"] = false;
  std::optional<json::Json> tree;
  if (!request.empty()) tree = json::parse(request, out.errors);
  if (!tree) {  // none was given, or none that can be read
    if (out.said.model.empty()) return;
    tree = of_text(out.said, catalog);
    out.found_request = json::write(*tree);
    if (out.said.method) out.usual = usual_of(*tree, catalog);
    for (const run::Choice& one : out.usual) (*tree)[json::Json::json_pointer(one.pointer)] = one.value;
  }
  out.given = recipe::read_request(*tree, out.errors);
  const std::optional<SaidUpgrade> upgrade = add_upgrade(diagnosis::fold(text.substr(0, longest_said)), out);
  add_versions(text, out);
  s.values = out.given.values;
  for (const run::Choice& one : out.usual) s.values.erase(one.pointer);
  s.model = out.given.model_id.empty() ? out.given.model_name : out.given.model_id;
  const auto gpu = s.values.find("/hardware/gpu");
  if (gpu != s.values.end() && gpu->second.is_string()) {
    json::Errors ignored;
    s.gpu = catalog.find_gpu(json::read_text(gpu->second, "", ignored).value_or(""));
  }
  replay_what_can_be(catalog, out);
  find_network(catalog, out);
  if (upgrade && out.run && s.recipe != nullptr && !s.is_plan) price_upgrade(*upgrade, *out.run, catalog, s);
}

void assume(run::Choice choice, const run::Catalog& catalog, PastedCase& one) {
  one.given.values[choice.pointer] = choice.value;
  one.usual.push_back(std::move(choice));
  replay_what_can_be(catalog, one);
  find_network(catalog, one);
}

}  // namespace plimsoll::question
