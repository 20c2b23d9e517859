#include "core/memory/step/replay.h"

#include <algorithm>

#include "core/memory/parameters/optimizer_states.h"
#include "core/memory/sharding/pipeline.h"
#include "core/memory/step/component_peaks.h"
#include "core/memory/step/evaluation.h"
#include "core/memory/step/gather_stream.h"
#include "core/memory/step/peak_sink.h"
#include "core/memory/step/saving.h"
#include "core/memory/step/step_program.h"
#include "core/memory/step/task_parts.h"
#include "core/recipe/implementations.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::memory {

namespace {

constexpr uint64_t most_devices = 64;  // machines have no more GPUs than that

double quantise_transient(const Plan& plan) {
  if (!plan.recipe.quantized()) return 0;
  const double n = plan.parameters.largest_quantised;
  return n * dtype_size(plan.recipe.model_args.dtype) + absmax_bytes(n);
}

// RAM that this run takes at least, Python and its libraries not counted: weights on their way to the GPU,
// and states in managed memory. Transformers 4 without a device map builds the whole model in RAM first.
double host_bytes(const Plan& plan, const Sharding& rank) {
  const recipe::Recipe& r = plan.recipe;
  const bool whole = !r.quantized() && r.model_args.device_map.empty() &&
                     !recipe::version_at_least(r.versions.transformers, "5");
  const double staged =
      whole ? plan.parameters.loaded_bytes : plan.parameters.largest_linear * dtype_size(r.model_args.dtype);
  // Every process loads its own copy, but for strategies that share the parameters out: those read them once.
  return staged * (shards_parameters(rank.strategy) ? 1 : rank.ranks) + rank.paged * rank.ranks + rank.host;
}

// Unsloth unpacks every 4-bit weight of the forward into one buffer, as large as the largest, and its scales
// into another; they stay. unsloth/kernels/utils.py fast_dequantize(use_global_buffer=True).
double unpacking_buffers(const Plan& plan) {
  const recipe::Recipe& r = plan.recipe;
  if (!recipe::implementation_of(r).keeps_unpacking_buffers || !r.quantization.load_in_4bit ||
      !r.training.fused_lora)
    return 0;
  return plan.parameters.largest_quantised * 2 + absmax_bytes(plan.parameters.largest_quantised);
}

void join(Parameters& policy, const Parameters& value) {
  policy.weight_bytes += value.weight_bytes;
  policy.loaded_bytes += value.loaded_bytes;
  policy.adapter_bytes += value.adapter_bytes;
  policy.trained_bytes += value.trained_bytes;
  policy.largest_trained = std::max(policy.largest_trained, value.largest_trained);
  policy.trained.insert(policy.trained.end(), value.trained.begin(), value.trained.end());
}

// The step of one GPU that is not taken all at once: each parameter in the backward, or on the host, where a
// copy of the parameters and of the gradients goes with the states.
void step_elsewhere(const recipe::Recipe& r, const Parameters& p, Sharding& rank) {
  if (r.training.optimizer_in_backward || r.training.optimizer_offload == "states_and_gradients")
    rank.gradients = p.largest_trained;
  rank.step = step_in_backward(r, rank.step, p.largest_trained);
  if (r.training.optimizer_offload == "none") return;
  rank.host += rank.optimizer + 2 * p.trained_bytes;
  rank.optimizer = rank.step = 0;
}

// Of what is there, the part that one rank keeps.
double share_of(const Parameters& p, const Sharding& rank) {
  return std::min(1.0, p.weight_bytes > 0 ? rank.weights / p.weight_bytes : 1);
}

// There all the time, from the first step on.
Snapshot base_of(const Plan& plan, const TaskParts& parts, const Sharding& rank) {
  Snapshot base = parts.resident;
  base[Component::frozen_models] *= share_of(plan.parameters, rank);  // sharded as the model that is trained
  base[Component::weights] = rank.weights;
  base[Component::adapters] = rank.adapters;
  base[Component::buckets] = rank.buckets;
  base[Component::optimizer] = rank.optimizer;
  base[Component::inputs] = input_bytes(plan);
  base[Component::workspace] = 2 * plan.machine.workspace_bytes + unpacking_buffers(plan);
  base[Component::gradients] = rank.resident_gradients;
  return base;
}

StepProgram step_program_of(const Plan& plan, TaskParts& parts, const Sharding& rank, bool traced) {
  StepProgram program;
  if (parts.value) program.networks.push_back(std::move(parts.value->run));
  program.networks.push_back(replay_network(plan, traced));
  program.base = base_of(plan, parts, rank);
  // A loop of one's own also holds what the reference said: once for a pair, three times for KTO, whose
  // policy and reference score the mismatched batch as well.
  const Snapshot& kept = program.networks.back().head.kept;
  if (parts.score_beside_graph && kept.total() > 0) {
    for (int i = 0; i < (plan.task->unpaired ? 3 : 1); ++i) program.scored = program.scored + kept;
  }
  for (const Stage& stage : program.networks.back().stages)
    for (const LayerRun& run : stage.runs) program.last_graph += run.on_nodes * run.layers;
  program.embedding_gradient = embedding_gradient(plan).total();
  program.gradients_pass = gradients_pass(plan);
  program.head_gradients_pass = head_gradients_pass(plan);
  return program;
}

// What tells of a run tensor by tensor.
void add_tensors(const model::Architecture& network, const recipe::Recipe& recipe, const Parameters& p,
                 StepProgram& program) {
  program.weights = resident_weights(network, recipe);
  program.trained_tensors = trained_tensors(p);
  if (recipe.training.optimizer_offload == "none")
    program.optimizer_states = state_tensors(p, recipe.training.optim);
}

// What stands when a step begins. The optimizer's states come into being in the first step; a run of one step
// never meets them before.
Snapshot standing_of(const StepProgram& program, const recipe::Recipe& recipe) {
  Snapshot standing = program.base;
  standing[Component::inputs] = 0;
  if (recipe.training.max_steps == 1) standing[Component::optimizer] = 0;
  return standing;
}

// A later step: of several micro-batches one that adds to the gradients of those before.
PeakSink later_step(const StepProgram& program, const Sharding& rank, const recipe::Recipe& recipe) {
  PeakSink peaks(standing_of(program, recipe));
  StepPlay play;
  play.finds = program.gradients_outlive_step;
  play.makes_states = recipe.training.max_steps == 1;
  play.follows = recipe.training.max_steps != 1 || recipe.training.gradient_accumulation_steps > 1;
  Composer(peaks, program, rank).step(play);
  return peaks;
}

// The instants of a run as they come one after another.
class Instants {
 public:
  Instants(const Plan& plan, const TaskParts& parts, const Sharding& rank, Replay& result)
      : plan_(plan), parts_(parts), rank_(rank), result_(result) {}

  // `beside`: what happens between steps or after them.
  void add_all(const StepProgram& program, const std::vector<Aside>& beside) {
    const recipe::Recipe& recipe = plan_.recipe;
    before_training(program);
    has_states_ = recipe.training.max_steps != 1;
    Snapshot base = standing_of(program, recipe);
    base[Component::inputs] = program.base[Component::inputs];
    // What stands in a forward, the layers apart.
    Snapshot standing = base + only(Component::gathered, rank_.root);
    if (program.gradients_outlive_step) standing[Component::gradients] += rank_.accumulated;
    standing = standing + only(Component::gathered, rank_.head);
    Snapshot between = standing;
    if (!recipe.gradients_outlive_optimizer()) between[Component::gradients] = base[Component::gradients];
    if (parts_.generates) add(Phase::generate, base + parts_.generate, "completions are written");
    if (parts_.scores && plan_.task->online && !parts_.score_beside_graph) {
      add(Phase::score, (scores_between_steps() ? between : standing) + parts_.score,
          "old and reference log-probabilities, without a graph");
    }
    const PeakSink peaks = later_step(program, rank_, recipe);
    step(peaks);
    result_.between_steps = between;
    result_.between_steps[Component::inputs] = batch_bytes(plan_);
    if (recipe.evaluates()) {
      const Evaluation eval = replay_evaluation(plan_);
      add(Phase::eval, result_.between_steps + eval.highest,
          "evaluation between two steps: no gradients, a batch size of its own");
      result_.host_bytes += eval.host_bytes;
    }
    add_beside(program, beside);
    has_states_ = true;
    const Snapshot& stepping = peaks.highest(Phase::optimizer_step);
    add(Phase::optimizer_step_first, stepping, "the first step: the states are made");
    add(Phase::optimizer_step, stepping, "every later step");
  }

 private:
  // huggingface/trl v1.9.0 trl/trainer/grpo_trainer.py _prepare_inputs: completions are written and scored
  // every steps_per_generation micro-batches. Where these are whole optimizer steps, no gradient waits.
  bool scores_between_steps() const {
    const recipe::Recipe& r = plan_.recipe;
    return r.rl.steps_per_generation % r.training.gradient_accumulation_steps == 0;
  }

  void add(Phase phase, const Snapshot& live, const char* what) {
    result_.instants.push_back({phase, live, what, parts_.outside});
    result_.instants.back().has_states = has_states_;
  }

  // Parameters are no longer gathered then, and the batch is gone with the step.
  void add_beside(const StepProgram& program, const std::vector<Aside>& list) {
    Snapshot standing = result_.between_steps;
    standing[Component::gathered] = standing[Component::inputs] = 0;
    standing[Component::optimizer] = program.base[Component::optimizer];
    for (const Aside& aside : list) {
      Instant& instant = result_.instants.emplace_back();
      instant.phase = aside.phase;
      instant.live = standing + aside.beside;
      instant.what = aside.what;
      instant.outside = parts_.outside;
      instant.has_states = true;
      instant.host_bytes = rank_.host + rank_.paged * rank_.ranks + aside.host_bytes;
      result_.host_bytes = std::max(result_.host_bytes, instant.host_bytes);
    }
  }

  void before_training(const StepProgram& program) {
    const recipe::Recipe& recipe = plan_.recipe;
    const Snapshot& base = program.base;
    Snapshot prepared;
    for (const Component c :
         {Component::weights, Component::adapters, Component::frozen_models, Component::engine})
      prepared[c] = base[c];
    add(Phase::load, only(Component::weights, program.loaded) + only(Component::transient, program.staged),
        "the weights arrive, one tensor after another");
    if (recipe.quantization.prepare_for_kbit_training || recipe.peft.on)
      add(Phase::prepare, prepared, "upcasts are done and adapters are added");
    if (parts_.score_before_training)
      add(Phase::score, prepared + parts_.score,
          "the reference scores the data set before the training begins");
  }

  void step(const PeakSink& peaks) {
    add(Phase::forward, peaks.highest(Phase::forward), "all layers and the head have run, the loss is known");
    if (parts_.score_beside_graph) {
      add(Phase::score, peaks.waiting() + parts_.score,
          "the reference scores the batch while the graph waits");
    }
    add(Phase::loss, peaks.highest(Phase::loss), "the loss goes backward: the logits and their gradients");
    add(Phase::backward, peaks.highest(Phase::backward), "the layers go backward, one after another");
  }

  const Plan& plan_;
  const TaskParts& parts_;
  const Sharding& rank_;
  Replay& result_;
  bool has_states_ = false;
};

void find_peak(Replay& run) {
  for (std::size_t i = 0; i < run.instants.size(); ++i) {
    if (run.instants[i].live.total() > run.at_peak().live.total()) run.peak = i;
  }
  if (run.at_peak().phase == Phase::optimizer_step_first) ++run.peak;
  ComponentPeaks peaks;
  for (const Instant& instant : run.instants) {
    if (repeats(instant)) peaks.add(instant.live);
  }
  GatherStream stream(run.sharding);
  for (const Instant& instant : run.instants) stream.add(instant, instant.live);
  for (Instant& instant : run.instants) {
    instant.apart = repeats(instant) ? peaks.apart() : 0;
    instant.gathered_before = stream.kept_at(instant, instant.live);
  }
  Instant& highest = run.instants[run.peak];
  highest.gathered_before = stream.kept_at_peak(highest, highest.live);
}

// One GPU of the run. All ranks of a strategy are alike.
Replay replay_rank(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                   StepProgram* program) {
  Replay result;
  result.parameters = parameters_of(network, recipe, machine);
  const Plan plan = make_plan(network, recipe, machine, result.parameters);
  TaskParts parts = task_parts(plan);
  if (parts.value) join(result.parameters, parts.value->parameters);
  const Parameters& p = result.parameters;
  result.sharding = rank_of(network, recipe, p);
  const Sharding& rank = result.sharding;
  const recipe::Recipe& seen = rank.computing ? *rank.computing : recipe;
  add_passes(plan, seen, parts);
  const Plan here = on_rank(plan, seen, rank);
  result.state_bytes =
      rank.on() ? optimizer_state_bytes(p, recipe.training.optim, nullptr) : rank.optimizer + rank.paged;
  result.host_bytes = host_bytes(plan, rank);

  StepProgram made = step_program_of(here, parts, rank, program != nullptr);
  made.loaded = p.loaded_bytes * share_of(p, rank);
  made.staged = quantise_transient(plan);
  made.gradients_outlive_step = recipe.gradients_outlive_step();
  made.accumulates = recipe.training.gradient_accumulation_steps > 1;
  result.last_graph = made.last_graph;
  result.attention = made.networks.back().stages.back().attention;
  for (const Stage& stage : made.networks.back().stages) result.host_bytes += stage.host_bytes;
  Instants(here, parts, rank, result).add_all(made, asides(plan, rank));
  find_peak(result);
  if (program == nullptr) return result;
  add_tensors(network, recipe, p, made);
  *program = std::move(made);
  return result;
}

}  // namespace

Sharding rank_of(const model::Architecture& network, const recipe::Recipe& recipe,
                 const Parameters& parameters) {
  Sharding rank = shard(network, recipe, parameters);
  if (!rank.on()) step_elsewhere(recipe, parameters, rank);
  return rank;
}

bool repeats(const Instant& instant) {
  return instant.phase != Phase::load && instant.phase != Phase::prepare && !is_aside(instant.phase);
}

FirstStep first_step(const Replay& run, const recipe::Recipe& recipe) {
  FirstStep highest;
  for (const Instant& instant : run.instants) {
    if (instant.phase == Phase::eval || instant.phase == Phase::optimizer_step || is_aside(instant.phase))
      continue;
    double bytes = instant.live.total();
    const bool makes_states = instant.phase == Phase::optimizer_step_first ||
                              (instant.phase == Phase::backward && recipe.training.optimizer_in_backward);
    if (!makes_states) bytes -= instant.live[Component::optimizer];
    if (instant.phase == Phase::forward && recipe.training.gradient_accumulation_steps == 1)
      bytes -= run.last_graph;
    if (bytes > highest.allocated) highest = {instant.phase, bytes};
  }
  if (highest.phase == Phase::optimizer_step_first) highest.phase = Phase::optimizer_step;
  return highest;
}

Replay replay(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
              StepProgram* program) {
  const uint64_t gpus = std::min<uint64_t>(recipe.parallel.num_gpus, most_devices);
  if (strategy_of(recipe) != Strategy::none || gpus <= 1)
    return replay_rank(network, recipe, machine, program);
  Replay fullest;
  std::vector<double> highest;
  for (const model::Architecture& part : split_by_device_map(network, recipe, gpus)) {
    Replay one = replay_rank(part, recipe, machine, nullptr);
    const double total = one.at_peak().live.total();
    const bool higher = highest.empty() || total > *std::max_element(highest.begin(), highest.end());
    highest.push_back(total);
    if (!higher) continue;
    if (program != nullptr) *program = {};
    fullest = program == nullptr ? std::move(one) : replay_rank(part, recipe, machine, program);
  }
  fullest.device_map_peaks = std::move(highest);
  fullest.parameters = count_parameters(network, recipe);
  fullest.state_bytes = optimizer_state_bytes(fullest.parameters, recipe.training.optim, nullptr);
  return fullest;
}

}  // namespace plimsoll::memory
