#include "core/memory/step/unroll.h"

#include "core/memory/step/drawn_forms.h"
#include "core/memory/step/timeline.h"
#include "core/memory/step/trace_sink.h"
#include "core/recipe/tasks.h"

namespace plimsoll::memory {

namespace {

Forms forms_of(const StepProgram& program) {
  Forms forms;
  for (const NetworkRun& network : program.networks) {
    NetworkForms& of = forms.emplace_back();
    of.network = &network;
    of.head = network.head_trace;
    for (const Stage& stage : network.stages) {
      for (const LayerRun& run : stage.runs) {
        of.runs.push_back(&run);
        of.layers.push_back(layer_forms(run, stage));
      }
    }
  }
  return forms;
}

// Where a drawing has room for one point of each layer's forward and backward alone, one moment is enough.
std::size_t pieces_of(const Forms& forms, int micro_batches) {
  double layers = 0;
  for (const NetworkForms& network : forms)
    for (const LayerRun* run : network.runs) layers += run->layers;
  return layers * 2 * micro_batches * 2 > most_points - component_count - 8 ? 1 : 2;
}

void draw(Forms& forms, std::size_t pieces) {
  for (NetworkForms& network : forms)
    for (LayerForms& layer : network.layers) keep_what_is_drawn(layer, pieces);
}

// The micro-batch that makes the gradients keeps those that one that adds to them does not.
void keep_gradients(Forms& forms, const StepProgram& program) {
  for (NetworkForms& network : forms) {
    for (LayerForms& layer : network.layers)
      if (!program.gradients_pass) memory::keep_gradients(layer);
    if (!program.head_gradients_pass) memory::keep_gradients(network.head);
  }
}

// Of one micro-batch, beside the few that belong to none of them.
std::size_t events_of(const Forms& forms) {
  std::size_t events = 0;
  for (const NetworkForms& network : forms) {
    events += network.head.events.size();
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      const LayerForms& f = network.layers[i];
      const std::size_t layer = f.forward.size() + f.recompute.size() + f.backward.size() + 8;
      events += layer * static_cast<std::size_t>(network.runs[i]->layers);
    }
  }
  return events;
}

// Weights arrive one after another; a matrix that is packed here exists beside its packed form.
void load(TraceSink& sink, const StepProgram& program) {
  const auto section = [&sink](Phase phase, const char* part) {
    sink.enter(phase);
    sink.section(part);
  };
  section(Phase::load, "weights");
  double loaded = 0, kept = 0;
  for (const Resident& row : program.weights) {
    loaded += row.loaded;
    kept += row.kept;
  }
  const double weights = program.base[Component::weights];
  const bool known = loaded <= program.loaded + 0.5 && kept <= weights + 0.5;
  Event staged = TraceSink::nothing;
  Trace arrived;
  for (const Resident& row : program.weights) {
    if (!known) break;
    if (row.staging > 0 || row.first) {
      sink.release(staged);
      staged = sink.allocate(Component::transient, row.staging, "weight before quantization");
    }
    arrived.push_back(sink.allocate(Component::weights, row.loaded, row.what));
  }
  sink.release(staged);
  const double rest = known ? program.loaded - loaded : program.loaded;
  const Event others = sink.allocate(Component::weights, rest, "weights");
  section(Phase::prepare, "weights");
  const double wanted = known ? weights - kept : weights;
  if (wanted != rest) {
    sink.release(others);
    sink.allocate(Component::weights, wanted, "weights");
  }
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const double after = program.weights[i].kept;
    if (after != program.weights[i].loaded) {
      sink.release(arrived[i]);
      sink.allocate(Component::weights, after, "upcast weights");
    }
  }
  const double adapters = program.base[Component::adapters];
  allocate_each(sink, Component::adapters, adapters > 0 ? program.trained_tensors : std::vector<double>(),
                adapters, "adapters");
  sink.allocate(Component::frozen_models, program.base[Component::frozen_models], "frozen models");
  sink.allocate(Component::engine, program.base[Component::engine], "inference engine");
}

}  // namespace

Unrolled unroll(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                Steps wanted) {
  StepProgram program;
  const Replay run = replay(network, recipe, machine, &program);
  Forms adding = forms_of(program);
  Forms making = adding;
  bool gradients_stay = false;  // until the next step
  if (program.gradients_outlive_step) {
    recipe::Recipe one = recipe;
    one.training.gradient_accumulation_steps = 1;
    gradients_stay = one.gradients_outlive_step();
    keep_gradients(making, program);
  }
  if (wanted == Steps::drawn) {
    draw(making, pieces_of(making, 1));
    draw(adding, pieces_of(adding, program.accumulates ? 2 : 1));
  }
  TraceSink sink(making, adding);
  load(sink, program);
  const uint8_t steps = recipe.training.max_steps == 1 ? 1 : 2;
  const bool short_way = wanted != Steps::both && steps == 2 && !gradients_stay;
  sink.reserve((short_way ? 1 : steps) * (events_of(making) + (program.accumulates ? events_of(adding) : 0)));
  Composer composer(sink, program, run.sharding);
  for (uint8_t step = 1; step <= steps; ++step) {
    sink.begin_step(step);
    if (step == 1 && short_way) {
      composer.make_workspaces_and_states();
      continue;
    }
    StepPlay play;
    play.first = play.makes_states = step == 1;
    play.follows = step != 1;
    play.finds = gradients_stay && step == 2;
    play.another = program.accumulates;
    play.keeps = gradients_stay;
    composer.step(play);
  }
  Unrolled unrolled = sink.finish();
  unrolled.wrapped = run.sharding.wrapped;
  unrolled.units_ahead = run.sharding.units_ahead;
  return unrolled;
}

bool unrolls(const recipe::Recipe& recipe) { return !recipe::task_of(recipe).value_model; }

}  // namespace plimsoll::memory
