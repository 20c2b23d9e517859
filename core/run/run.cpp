#include "core/run/run.h"

#include <algorithm>
#include <limits>

#include "core/json/ascii.h"
#include "core/json/near.h"
#include "core/memory/layers/tuners.h"
#include "core/memory/parameters/stacked_adapters.h"
#include "core/memory/parameters/targets.h"
#include "core/memory/parameters/unfrozen.h"
#include "core/memory/step/unroll.h"
#include "core/model/layers_apart.h"
#include "core/model/not_replayed.h"
#include "core/model/task_head.h"
#include "core/recipe/fields.h"
#include "core/recipe/strategies.h"
#include "core/recipe/tasks.h"
#include "core/run/dynamic_checkpoint.h"
#include "core/run/model_names.h"
#include "core/run/phrases.h"

namespace plimsoll::run {

namespace {

using json::Errors;

void find_network(const recipe::Request& given, const Catalog& catalog, Run& run, Errors& errors) {
  if (given.model_config.is_object()) {
    auto network = model::read_config(given.model_config, given.model_name, "/model/config", errors);
    if (network) run.network = std::move(*network);
    return;
  }
  if (given.model_id.empty()) return;
  const NamedModel named = find_by_name(catalog, given.model_id);
  run.entry = named.entry;
  if (const std::string_view what = model::not_replayed_by_name(given.model_id);
      run.entry == nullptr && !what.empty()) {
    errors.push_back({"unknown_model", "/model",
                      "\"" + given.model_id + "\" is " + std::string(what) + ", which is not replayed here.",
                      ""});
    return;
  }
  if (run.entry == nullptr) {
    errors.push_back({"unknown_model", "/model",
                      "\"" + given.model_id + "\" is not among the presets." +
                          json::did_you_mean(given.model_id, model_list(catalog)) +
                          " Give its config.json instead.",
                      joined(similar_models(catalog, given.model_id, 5))});
    return;
  }
  run.network = run.entry->network;
  if (const auto own = catalog.positions.find(named.known); own != catalog.positions.end())
    run.network.max_position_embeddings = own->second;
  if (!named.how.empty()) run.network.notes.push_back({"model_by_name", named.how, "/model"});
  if (!run.entry->preset.verified) {
    run.network.notes.push_back(
        {"unconfirmed_shapes",
         "No published parameter count confirms the shapes of this preset. Compare the count above "
         "with the model's own, or paste its config.json.",
         "/model"});
  }
}

// A checkpoint that is stored in 4 bits loads in 4 bits, whether the request says so or not.
void note_quantised_checkpoint(Run& run) {
  const std::string format(packing_in(run.given.model_id));
  if (format.empty() || run.resolved.recipe.quantized()) return;
  run.network.notes.push_back({"packed_checkpoint",
                               "The name ends in \"" + format +
                                   "\": the checkpoint is stored quantised, but this request does not "
                                   "quantise. State it under \"quantization\".",
                               "/model"});
}

void tell_converted_targets(Run& run) {
  const recipe::Recipe& recipe = run.resolved.recipe;
  const std::vector<std::string> names = memory::converted_parameters(run.network, recipe);
  constexpr const char* pointer = "/peft/target_parameters";
  if (names.empty() || !recipe.peft.target_parameters.empty()) return;
  run.resolved.assumptions.push_back({pointer, names,
                                      "PEFT 0.19 and later adapts experts that Transformers 5 holds as one "
                                      "parameter under the names they had"});
}

const recipe::StackPreset* find_stack(const recipe::Request& given, const Catalog& catalog, Errors& errors) {
  const std::string id = recipe::stack_of(given);
  const recipe::StackPreset* stack = catalog.find_stack(id);
  if (stack == nullptr) {
    std::vector<std::string> ids;
    for (const recipe::StackPreset& known : catalog.stacks) ids.push_back(known.id);
    const std::string allowed = joined(ids);
    errors.push_back({"unknown_stack", "/stack",
                      "There is no stack called \"" + id + "\"." + json::did_you_mean(id, allowed), allowed});
  }
  return stack;
}

void find_gpu(const recipe::Request& given, const Catalog& catalog, Run& run, Errors& errors) {
  const auto named = given.values.find("/hardware/gpu");
  if (named == given.values.end()) return;
  const auto id = named->second.get<std::string>();
  run.gpu = catalog.find_gpu(id);
  if (run.gpu == nullptr) {
    errors.push_back({"unknown_gpu", "/hardware/gpu",
                      "There is no GPU called \"" + id + "\"." + json::did_you_mean(id, gpu_list(catalog)),
                      "an id that `plimsoll gpus` lists"});
  }
}

// NCCL's communicator lives outside PyTorch's count: 4 MiB for each channel and connection, in reports 0.2 to
// 1.6 GB a process (NVIDIA/nccl issues 391, 864, 986). Seven published FSDP runs of LoRA on two and four A100
// leave 1.1 to 1.9 GiB for it beside the simulated allocator, which meets the same runs on one card within
// 0.3 % (foundation-model-stack/fms-acceleration scripts/benchmarks/refs/a100_80gb_liger.csv).
hardware::Context with_communicators(hardware::Context context) {
  context.low += uint64_t{200} << 20;
  context.typical += uint64_t{1000} << 20;
  context.high += uint64_t{2000} << 20;
  return context;
}

bool trains_some_layers(const recipe::Recipe& r) {
  const recipe::Training& t = r.training;
  const bool named = !t.unfrozen_parameters.empty();
  return r.full() &&
         (named || t.freeze_trainable_layers + t.lisa_activated_layers + t.llamapro_num_new_blocks > 0);
}

// The network as this recipe trains it: its head, its new blocks, and which layers learn.
model::Architecture trained_network(model::Architecture network, const recipe::Recipe& r) {
  const recipe::Task& task = recipe::task_of(r);
  const bool value_head = !task.vocabulary && task.preference && r.model_args.value_head;
  if (!task.vocabulary && !value_head) {
    const uint64_t labels = task.preference ? 1 : r.model_args.num_labels;
    network = model::with_classification_head(std::move(network), labels);
  }
  const recipe::Training& t = r.training;
  const bool named = !t.unfrozen_parameters.empty();
  if (r.full() && !named && t.freeze_trainable_layers + t.lisa_activated_layers > 0) {
    network = model::with_trained_layers(std::move(network),
                                         std::max(t.freeze_trainable_layers, t.lisa_activated_layers),
                                         t.lisa_activated_layers > 0);
  }
  if (r.full() && t.llamapro_num_new_blocks > 0)
    network = model::with_new_blocks(std::move(network), t.llamapro_num_new_blocks);
  // After what is frozen: it is made last, and trained.
  return value_head ? model::with_value_head(std::move(network)) : network;
}

// A GPU nobody named is taken as a present-day data-centre card.
void set_machine(Run& run) {
  hardware::Gpu unnamed;
  unnamed.vendor = "NVIDIA";
  unnamed.architecture = "Ampere";
  unnamed.compute_capability = 8.0;
  const hardware::Gpu& gpu = run.gpu == nullptr ? unnamed : *run.gpu;
  run.machine.compute_capability = gpu.compute_capability;
  run.machine.total_bytes = run.gpu == nullptr ? 0 : static_cast<double>(run.gpu->usable_bytes);
  run.machine.workspace_bytes = static_cast<double>(hardware::cublas_workspace_bytes(gpu));
  const recipe::Recipe& r = run.resolved.recipe;
  run.context = context_on(gpu, r.hardware, recipe::processes(r));
}

// A processor of one size makes a square of every image.
void check_images(const model::Architecture& network, const recipe::Vision& v, Errors& errors) {
  using Rule = model::ImageTokens::Rule;
  const bool oblong = v.image_height > 0 && v.image_height != v.image_size;
  const bool one_size = network.image.rule == Rule::fixed || network.image.rule == Rule::cross;
  if (oblong && one_size && network.image.cut == model::ImageTokens::Cut::never) {
    errors.push_back({"unsupported", "/vision/image_height",
                      "This model's processor makes squares of images.", "image_size, or leave it out"});
  }
}

// PEFT raises when no module answers to any of the names; when some do, the rest is worth a note.
void check_targets(const recipe::Recipe& r, const memory::Parameters& p, Errors& errors) {
  if (!r.peft.on || !p.matched.empty()) return;
  const bool frozen = r.vision.freeze_language_model;
  if (frozen || !r.peft.finetune_language_layers) {
    errors.push_back({"conflict", frozen ? "/vision/freeze_language_model" : "/peft/finetune_language_layers",
                      "Outside the language model no module is called " + joined(r.peft.target_modules) + ".",
                      frozen ? "false, or target modules outside it" : "true, or target modules outside it"});
    return;
  }
  if (r.peft.target_modules.empty() && !r.peft.target_parameters.empty()) {
    errors.push_back({"unknown_value", "/peft/target_parameters",
                      "This model has no parameter called " + joined(r.peft.target_parameters) + ".",
                      "names of its stacked experts, such as mlp.experts.down_proj"});
    return;
  }
  errors.push_back({"unknown_value", "/peft/target_modules",
                    "This model has no module called " + joined(r.peft.target_modules) + ".",
                    "names of its linear layers"});
}

// axolotl-quants/Llama-4-Scout-17B-16E-Linearized-bnb-nf4-bf16 and its like.
bool says_linearized(const std::string& model_id) {
  return ascii::lower(model_id).find("linearized") != std::string::npos;
}

}  // namespace

recipe::ModelTraits model_traits(const Run& run) {
  recipe::ModelTraits traits;
  traits.model_type = run.network.model_type;
  traits.checkpoint_dtype = run.network.checkpoint_dtype;
  traits.max_position_embeddings = run.network.max_position_embeddings;
  const auto& stacks = run.network.stacks;
  traits.hears = std::any_of(stacks.begin(), stacks.end(), [](const auto& one) { return one.frames > 0; });
  traits.sees_images = run.network.image.rule != model::ImageTokens::Rule::none;
  traits.default_image_size = traits.sees_images ? run.network.image.default_size : 0;
  traits.linearized_experts = says_linearized(run.given.model_id);
  traits.dynamic_modules = run.dynamic_modules;
  traits.gpu_bf16 = run.gpu == nullptr || run.gpu->bf16;
  return traits;
}

namespace {

// The network that the resolved recipe trains, and what the network makes of the recipe.
void make_network(Run& run, Errors& errors) {
  check_images(run.network, run.resolved.recipe.vision, errors);
  note_quantised_checkpoint(run);
  note_dynamic_checkpoint(run);
  // Also for the plans that quantise: they are priced on this network.
  std::vector<std::string> apart = run.resolved.recipe.quantization.llm_int8_skip_modules;
  if (apart.empty()) apart = run.dynamic_modules;
  run.network =
      model::with_layers_apart(std::move(run.network), apart, run.resolved.recipe.peft.target_parameters);
  // A stack names the linears of the model that it trains, a classifier's own among them.
  model::Architecture trained = trained_network(run.network, run.resolved.recipe);
  memory::expand_targets(trained, run.resolved.recipe, errors);
  if (!errors.empty()) return;
  tell_converted_targets(run);
  if (trains_some_layers(run.resolved.recipe)) {
    recipe::Recipe adapted = run.resolved.recipe;
    adapted.peft.on = true;
    run.adapted_network = trained_network(run.network, adapted);
  }
  run.network = std::move(trained);
  const recipe::Training& training = run.resolved.recipe.training;
  if (run.resolved.recipe.full() && !training.unfrozen_parameters.empty()) {
    run.network = memory::with_unfrozen(std::move(run.network), training.unfrozen_parameters,
                                        training.freeze_trainable_layers, errors);
  }
}

// How sure the estimate is.
void hold_against_evidence(Run& run, const std::vector<Measured>& evidence) {
  constexpr std::size_t named_runs = 3;
  run.nearest = nearest_runs(run.resolved.recipe, static_cast<double>(run.replay.parameters.base), evidence,
                             evidence.size());
  run.allocated_span = allocated_span(run.nearest, run.replay.sharding.ranks > 1);
  if (run.nearest.size() > named_runs) run.nearest.resize(named_runs);
  run.widening = widening(run.resolved.recipe, run.network, evidence);
}

std::optional<Run> read(recipe::Request given, const Catalog& catalog, Errors& errors,
                        memory::ReplayMemo* memo, memory::Simulator simulator) {
  Run run;
  run.simulator = std::move(simulator);
  run.given = std::move(given);
  find_network(run.given, catalog, run, errors);
  find_gpu(run.given, catalog, run, errors);
  run.stack = find_stack(run.given, catalog, errors);
  if (!errors.empty() || run.stack == nullptr) return std::nullopt;
  run.dynamic_modules = dynamic_modules(run, catalog);
  run.resolved = recipe::resolve(run.given, *run.stack, model_traits(run), errors);
  if (!errors.empty()) return std::nullopt;
  make_network(run, errors);
  if (!errors.empty()) return std::nullopt;
  set_machine(run);
  memory::Machine machine = run.machine;
  machine.memo = memo;
  if (memo != nullptr) *memo = memory::ReplayMemo(run.network);
  run.replay = memory::replay(run.network, run.resolved.recipe, machine);
  check_targets(run.resolved.recipe, run.replay.parameters, errors);
  if (!errors.empty()) return std::nullopt;
  simulate(run);
  hold_against_evidence(run, catalog.evidence);
  return run;
}

}  // namespace

std::optional<Run> read_run(recipe::Request given, const Catalog& catalog, Errors& errors,
                            memory::ReplayMemo* memo) {
  return read(std::move(given), catalog, errors, memo,
              memory::Simulator(memory::simulated_reserve, catalog.played));
}

std::optional<Run> read_quick_run(recipe::Request given, const Catalog& catalog, Errors& errors,
                                  memory::ReplayMemo* memo) {
  return read(std::move(given), catalog, errors, memo, {});
}

std::optional<Run> read_like(const Run& run, recipe::Request given, const Catalog& catalog, Errors& errors) {
  return read(std::move(given), catalog, errors, nullptr, run.simulator);
}

std::optional<Run> with_model(const Run& run, const ModelEntry& entry, const Catalog& catalog) {
  recipe::Request given = run.given;
  given.model_id = entry.preset.id;
  given.model_config = {};
  given.model_name.clear();
  Errors ignored;
  return read_like(run, std::move(given), catalog, ignored);
}

std::optional<Run> read_run(std::string_view text, const Catalog& catalog, Errors& errors,
                            memory::ReplayMemo* memo) {
  const auto request = json::parse(text, errors);
  return request ? read_run(recipe::read_request(*request, errors), catalog, errors, memo) : std::nullopt;
}

std::optional<Run> read_quick_run(std::string_view text, const Catalog& catalog, Errors& errors,
                                  memory::ReplayMemo* memo) {
  const auto request = json::parse(text, errors);
  return request ? read_quick_run(recipe::read_request(*request, errors), catalog, errors, memo)
                 : std::nullopt;
}

const memory::Parameters* known_parameters(const Run& run) {
  return unrolls(run) ? &run.replay.parameters : nullptr;
}

memory::Machine with_memo(const Run& run, memory::ReplayMemo& memo) {
  memory::Machine machine = run.machine;
  machine.memo = &memo;
  machine.known_parameters = known_parameters(run);
  return machine;
}

Run on_gpu(const Run& run, const hardware::Gpu& gpu) {
  Run there = run;
  there.gpu = &gpu;
  set_machine(there);
  there.replay = memory::replay(there.network, there.resolved.recipe, there.machine);
  there.simulated.reset();
  return there;
}

void simulate(Run& run) {
  run.simulated.reset();
  if (!run.simulator || !memory::simulates(run.resolved.recipe, run.replay)) return;
  run.simulated = run.simulator(run.network, run.resolved.recipe, run.machine,
                                {.capacity = memory::capacity_of(run.context, usable_on_card(run))});
}

hardware::Context context_on(const hardware::Gpu& gpu, const recipe::Hardware& request, uint64_t cards) {
  const auto stated = static_cast<uint64_t>(request.context_gib * 1073741824.0);
  if (stated > 0) return {stated, stated, stated, "what the request states"};
  return cards > 1 ? with_communicators(hardware::context(gpu)) : hardware::context(gpu);
}

memory::Card card_of(const Run& run) {
  return {run.machine, run.context, run.simulator, usable_on_card(run)};
}

bool fits(const Run& run) {
  return memory::fits(card_of(run), like(run, run.network, run.resolved.recipe, run.replay),
                      usable_on_card(run));
}

memory::ReplayedRun like(const Run& run, const model::Architecture& network, const recipe::Recipe& recipe,
                         const memory::Replay& replay) {
  return {network, recipe, replay, run.widening};
}

double usable_for(const Run& run, uint64_t usable_bytes) {
  const double in_use = run.resolved.recipe.hardware.in_use_gib * 1073741824.0;
  return std::max(0.0, static_cast<double>(usable_bytes) - in_use);
}

double usable_on_card(const Run& run) {
  return run.gpu == nullptr ? std::numeric_limits<double>::infinity()
                            : usable_for(run, run.gpu->usable_bytes);
}

double checkpoint_bytes(const Run& run) {
  const memory::Parameters& p = run.replay.parameters;
  const recipe::Recipe& r = run.resolved.recipe;
  const double saved = r.peft.on ? p.adapter_bytes : p.weight_bytes - p.buffer_bytes;
  return saved + (r.training.save_only_model ? 0 : run.replay.state_bytes);
}

bool unrolls(const Run& run) { return memory::unrolls(run.resolved.recipe); }

bool wants(const Run& run, std::string_view part) {
  const std::vector<std::string>& wanted = run.resolved.recipe.want;
  return std::find(wanted.begin(), wanted.end(), part) != wanted.end();
}

}  // namespace plimsoll::run
