#include "core/report/report.h"

#include <algorithm>
#include <cmath>

#include "core/json/writer.h"
#include "core/memory/allocator.h"
#include "core/model/task_head.h"
#include "core/report/components.h"
#include "core/report/notes.h"

namespace plimsoll::report {

namespace {

using json::Errors;
using json::Json;
using json::Writer;

constexpr double gibibyte = 1073741824.0;

int64_t whole(double bytes) { return static_cast<int64_t>(std::llround(bytes)); }

void write_heading(Writer& out, const Errors& errors) {
  out.field("schema", uint64_t{1});
  out.field("core", version());
  out.field("ok", errors.empty());
  out.key("errors");
  out.open_array();
  for (const json::Error& error : errors) {
    out.open_object();
    out.field("code", error.code);
    out.field("pointer", error.pointer);
    out.field("message", error.message);
    out.field("allowed", error.allowed);
    out.close_object();
  }
  out.close_array();
}

std::string refusal(const Errors& errors) {
  Writer out;
  out.open_object();
  write_heading(out, errors);
  out.close_object();
  return out.take();
}

// Everything a report is written from.
struct Run {
  model::Architecture network;
  const ModelEntry* entry = nullptr;
  recipe::Resolved resolved;
  const hardware::Gpu* gpu = nullptr;
  memory::Machine machine;
  hardware::Context context;
  memory::Replay replay;
};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

void find_network(const recipe::Given& given, const Catalog& catalog, Run& run, Errors& errors) {
  if (given.model_config.is_object()) {
    auto network = model::read_config(given.model_config, given.model_name, "/model/config", errors);
    if (network) run.network = std::move(*network);
    return;
  }
  if (given.model_id.empty()) return;
  run.entry = catalog.find_model(given.model_id);
  if (run.entry == nullptr) {
    errors.push_back(
        {"unknown_model", "/model",
         "\"" + given.model_id +
             "\" is not among the presets. Paste its config.json as {\"config\": {...}} instead.",
         joined(similar_models(catalog, given.model_id, 5))});
    return;
  }
  run.network = run.entry->network;
}

const recipe::StackPreset* find_stack(const recipe::Given& given, const Catalog& catalog, Errors& errors) {
  const auto named = given.values.find("/stack");
  const std::string id = named == given.values.end() ? "hf" : named->second.get<std::string>();
  const recipe::StackPreset* stack = catalog.find_stack(id);
  if (stack == nullptr) {
    std::vector<std::string> ids;
    for (const recipe::StackPreset& known : catalog.stacks) ids.push_back(known.id);
    errors.push_back({"unknown_stack", "/stack", "There is no stack called \"" + id + "\".", joined(ids)});
  }
  return stack;
}

void find_gpu(const recipe::Given& given, const Catalog& catalog, Run& run, Errors& errors) {
  const auto named = given.values.find("/hardware/gpu");
  if (named == given.values.end()) return;
  const auto id = named->second.get<std::string>();
  run.gpu = catalog.find_gpu(id);
  if (run.gpu == nullptr) {
    errors.push_back({"unknown_gpu", "/hardware/gpu", "There is no GPU called \"" + id + "\".",
                      "an id that `plimsoll gpus` lists"});
  }
}

// What the contract can say and the replay cannot yet do.
void refuse(const recipe::Recipe& r, Errors& errors) {
  const bool trained = r.task == "sft" || r.task == "pretrain" || r.task == "classification";
  if (!trained) {
    errors.push_back({"unsupported", "/task", "Training for \"" + r.task + "\" is not replayed yet.",
                      "sft, pretrain, classification"});
  }
  if (r.parallel.num_gpus > 1) {
    errors.push_back({"unsupported", "/parallel/num_gpus", "Several GPUs are not replayed yet.", "1"});
  } else if (r.parallel.strategy != "none") {
    errors.push_back({"unsupported", "/parallel/strategy", "Sharding is not replayed yet.", "none"});
  }
}

recipe::Surroundings surroundings(const Run& run) {
  recipe::Surroundings around;
  around.model_type = run.network.model_type;
  around.checkpoint_dtype = run.network.checkpoint_dtype;
  around.max_position_embeddings = run.network.max_position_embeddings;
  around.is_encoder = run.network.kind == model::Kind::encoder;
  around.default_image_size =
      run.network.image.rule == model::ImageTokens::Rule::none ? 0 : run.network.image.default_size;
  around.gpu_chosen = run.gpu != nullptr;
  around.gpu_bf16 = run.gpu == nullptr || run.gpu->bf16;
  return around;
}

// A GPU nobody named is taken as a present-day data-centre card.
void set_machine(Run& run) {
  hardware::Gpu unnamed;
  unnamed.vendor = "NVIDIA";
  unnamed.architecture = "Ampere";
  unnamed.compute_capability = 8.0;
  const hardware::Gpu& gpu = run.gpu == nullptr ? unnamed : *run.gpu;
  run.machine.compute_capability = gpu.compute_capability;
  run.machine.workspace_bytes = static_cast<double>(hardware::cublas_workspace_bytes(gpu));
  run.context = hardware::context(gpu);
}

struct Sizes {
  double allocated, reserved, device, low, high, needed;
};

bool expandable(const recipe::Recipe& r) {
  return r.hardware.cuda_alloc_conf.find("expandable_segments:True") != std::string::npos;
}

Sizes sizes_of(const memory::Instant& instant, const Run& run) {
  const double allocated = instant.live.total();
  const double dynamic = allocated - instant.live[memory::Component::weights];
  const memory::Held held = memory::hold(allocated, dynamic, expandable(run.resolved.recipe));
  Sizes s{};
  s.allocated = allocated;
  s.reserved = held.reserved;
  s.device = held.reserved + static_cast<double>(run.context.typical);
  s.low = allocated + static_cast<double>(run.context.low);
  s.high = held.reserved_high + static_cast<double>(run.context.high);
  s.needed = held.needed + static_cast<double>(run.context.typical);
  return s;
}

void write_peak(Writer& out, const Run& run, const Sizes& s) {
  out.open_object();
  out.field("instant", run.replay.instants[run.replay.peak].id);
  out.field("allocated", whole(s.allocated));
  out.field("reserved", whole(s.reserved));
  out.field("device", whole(s.device));
  out.field("low", whole(s.low));
  out.field("high", whole(s.high));
  out.field("needed", whole(s.needed));
  out.close_object();
}

void write_instants(Writer& out, const Run& run) {
  const Facts facts{&run.network, &run.resolved.recipe, &run.replay};
  out.open_array();
  for (const memory::Instant& instant : run.replay.instants) {
    const Sizes s = sizes_of(instant, run);
    out.open_object();
    out.field("id", instant.id);
    out.field("what", instant.what);
    out.field("allocated", whole(s.allocated));
    out.field("reserved", whole(s.reserved));
    out.field("device", whole(s.device));
    out.key("components");
    out.open_array();
    write_components(out, instant.live, facts);
    write_component(out,
                    {"allocator_slack", s.reserved - s.allocated,
                     "Memory that PyTorch's allocator holds but has given to no tensor.",
                     "a share of what is made and freed during a step; it comes back when memory runs short",
                     "pytorch c10/cuda/CUDACachingAllocator.cpp; published runs that recorded both figures"});
    write_component(out, {"cuda_context", static_cast<double>(run.context.typical),
                          "Driver and kernels, outside PyTorch's count.", "measured, by GPU generation",
                          run.context.source});
    out.close_array();
    out.close_object();
  }
  out.close_array();
}

std::string verdict(const Sizes& s, double usable) {
  if (s.high <= usable) return "fits";
  return s.needed <= usable ? "tight" : "no";
}

// What is left: of the device figure where that fits, else of what the run needs when cached blocks are given
// back.
double headroom(const Sizes& s, double usable) { return usable - (s.device <= usable ? s.device : s.needed); }

void write_tiers(Writer& out, const Run& run, const Catalog& catalog, const Sizes& s) {
  const double in_use = run.resolved.recipe.hardware.in_use_gib * gibibyte;
  out.open_array();
  for (const hardware::Tier& tier : catalog.tiers) {
    const double usable = std::max(0.0, static_cast<double>(tier.usable_bytes) - in_use);
    out.open_object();
    out.field("gib", tier.gib);
    out.field("gpus", tier.gpus);
    out.field("usable", whole(usable));
    out.field("verdict", verdict(s, usable));
    out.field("headroom", whole(headroom(s, usable)));
    out.close_object();
  }
  out.close_array();
}

void write_gpu(Writer& out, const Run& run, const Sizes& s) {
  if (run.gpu == nullptr) return out.null();
  const double in_use = run.resolved.recipe.hardware.in_use_gib * gibibyte;
  const double usable = std::max(0.0, static_cast<double>(run.gpu->usable_bytes) - in_use);
  out.open_object();
  out.field("id", run.gpu->id);
  out.field("name", run.gpu->name);
  out.field("usable", whole(usable));
  out.field("usable_source", run.gpu->usable_source);
  out.field("verdict", verdict(s, usable));
  out.field("headroom", whole(headroom(s, usable)));
  out.close_object();
}

void write_model(Writer& out, const Run& run) {
  const memory::Parameters& p = run.replay.parameters;
  const recipe::Recipe& r = run.resolved.recipe;
  const double share = p.all == 0 ? 0 : static_cast<double>(p.trainable) / static_cast<double>(p.all);
  // A checkpoint to resume from: the trained weights, their optimizer states, and a few files of no size.
  const double saved = r.peft.on ? p.adapter_bytes : p.weight_bytes;
  out.open_object();
  out.field("id", run.entry == nullptr ? run.network.name : run.entry->preset.id);
  out.field("name", run.network.name);
  out.field("parameters", p.base);
  out.field("trainable", p.trainable);
  out.field("all_parameters", p.all);
  out.field("trainable_percent", std::round(1e6 * share) / 1e4);
  out.field("adapter_file_bytes", whole(r.peft.on ? p.adapter_bytes : 0));
  out.field("checkpoint_bytes", whole(saved + run.replay.optimizer_bytes + run.replay.paged_bytes));
  out.close_object();
}

void write_notes(Writer& out, const Run& run) {
  const Facts facts{&run.network, &run.resolved.recipe, &run.replay};
  out.open_array();
  for (const model::Note& note : remarks(facts, run.gpu)) {
    out.open_object();
    out.field("code", note.code);
    out.field("message", note.message);
    out.field("source", note.source);
    out.close_object();
  }
  out.close_array();
}

void write_assumptions(Writer& out, const Run& run) {
  out.open_array();
  for (const recipe::Assumption& assumption : run.resolved.assumptions) {
    out.open_object();
    out.field("pointer", assumption.pointer);
    out.field("value", assumption.value);
    out.field("why", assumption.why);
    out.close_object();
  }
  out.close_array();
}

// What one more of something costs at the peak, by replaying the run with it.
double cost_of(const Run& run, void (*change)(recipe::Recipe&)) {
  recipe::Recipe changed = run.resolved.recipe;
  change(changed);
  const memory::Replay other = memory::replay(run.network, changed, run.machine);
  return other.instants[other.peak].live.total() - run.replay.instants[run.replay.peak].live.total();
}

void write_per_unit(Writer& out, const Run& run) {
  const bool sees = run.network.image.rule != model::ImageTokens::Rule::none;
  const bool adapters = run.resolved.recipe.peft.on;
  out.open_object();
  out.field("sample",
            whole(cost_of(run, [](recipe::Recipe& c) { ++c.training.per_device_train_batch_size; })));
  out.field("token", whole(cost_of(run, [](recipe::Recipe& c) { ++c.training.max_length; })));
  out.field("rank", whole(adapters ? cost_of(run, [](recipe::Recipe& c) { ++c.peft.r; }) : 0));
  out.field("image", whole(sees ? cost_of(run, [](recipe::Recipe& c) { ++c.vision.images_per_sample; }) : 0));
  out.close_object();
}

std::string write_report(const Run& run, const Catalog& catalog) {
  const Sizes peak = sizes_of(run.replay.instants[run.replay.peak], run);
  Writer out;
  out.open_object();
  write_heading(out, {});
  out.key("notes");
  write_notes(out, run);
  out.key("assumptions");
  write_assumptions(out, run);
  out.key("model");
  write_model(out, run);
  out.key("memory");
  out.open_object();
  out.key("peak");
  write_peak(out, run, peak);
  out.key("instants");
  write_instants(out, run);
  out.field("host_bytes", whole(run.replay.host_bytes));
  out.key("per_unit");
  write_per_unit(out, run);
  out.close_object();
  out.key("gpu");
  write_gpu(out, run, peak);
  out.key("tiers");
  write_tiers(out, run, catalog, peak);
  out.close_object();
  return out.take();
}

// PEFT raises when no module answers to any of the names; when some do, the rest is worth a note.
void check_targets(const recipe::Recipe& r, const memory::Parameters& p, Errors& errors) {
  if (!r.peft.on || !p.matched.empty()) return;
  errors.push_back({"unknown_value", "/peft/target_modules",
                    "This model has no module called " + joined(r.peft.target_modules) + ".",
                    "names of its linear layers"});
}

std::string answer(std::string_view text, const Catalog& catalog) {
  Errors errors;
  const auto request = json::parse(text, errors);
  if (!request) return refusal(errors);
  const recipe::Given given = recipe::read_given(*request, errors);
  Run run;
  find_network(given, catalog, run, errors);
  find_gpu(given, catalog, run, errors);
  const recipe::StackPreset* stack = find_stack(given, catalog, errors);
  if (!errors.empty() || stack == nullptr) return refusal(errors);
  run.resolved = recipe::resolve(given, *stack, surroundings(run), errors);
  refuse(run.resolved.recipe, errors);
  if (!errors.empty()) return refusal(errors);
  if (run.resolved.recipe.task == "classification") {
    run.network =
        model::with_classification_head(std::move(run.network), run.resolved.recipe.model_args.num_labels);
  }
  set_machine(run);
  run.replay = memory::replay(run.network, run.resolved.recipe, run.machine);
  check_targets(run.resolved.recipe, run.replay.parameters, errors);
  if (!errors.empty()) return refusal(errors);
  return write_report(run, catalog);
}

}  // namespace

std::string_view version() { return "0.1.0"; }

std::string report_text(std::string_view request, const Catalog& catalog) { return answer(request, catalog); }

}  // namespace plimsoll::report
