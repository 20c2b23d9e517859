#include "core/memory/unroll.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/memory/drawn_forms.h"
#include "core/memory/layer_forms.h"
#include "core/memory/timeline.h"
#include "core/recipe/tasks.h"

namespace plimsoll::memory {

namespace {

using Kind = Event::Kind;
constexpr std::array<const char*, 7> phase_names = {
    "load", "prepare", "forward", "loss", "backward", "optimizer_step_first", "optimizer_step"};
constexpr uint32_t none = UINT32_MAX;
constexpr Event nothing{Kind::allocate, Component::transient, true, none, 0, ""};

double sum_of(const Trace& events) {
  double bytes = 0;
  for (const Event& event : events) bytes += event.bytes;
  return bytes;
}

// Numbers of a layer's own tape to numbers of the run; some of its tensors belong to its neighbours.
struct Places {
  uint32_t base = 0;
  uint32_t own[2] = {none, none}, outside[2] = {none, none};
  uint32_t operator()(uint32_t local) const {
    if (local == own[0]) return outside[0];
    if (local == own[1]) return outside[1];
    return base + local;
  }
};

// A layer of the network at its place.
struct Layer {
  const LayerForms* forms = nullptr;
  const LayerRun* run = nullptr;
  Places places;
  uint32_t input = none;     // the stream that enters
  Event selected = nothing;  // what is kept beside it
};

using Forms = std::vector<std::vector<LayerForms>>;  // by stage and run

// What is played of one micro-batch: the one that makes the gradients, or one that adds to them.
struct MicroBatch {
  Forms forms;
  HeadTrace head;
};

Forms forms_of(const Script& script) {
  Forms forms;
  for (const Script::Stage& stage : script.stages) {
    forms.emplace_back();
    for (const LayerRun& run : stage.runs) forms.back().push_back(layer_forms(run, stage));
  }
  return forms;
}

// Where a drawing has room for one point of each layer's forward and backward alone, one moment is enough.
std::size_t pieces_of(const Script& script, int micro_batches) {
  double layers = 0;
  for (const Script::Stage& stage : script.stages)
    for (const LayerRun& run : stage.runs) layers += run.layers;
  return layers * 2 * micro_batches * 2 > most_points - component_count - 8 ? 1 : 2;
}

void keep_gradients(Forms& forms) {
  for (std::vector<LayerForms>& stage : forms)
    for (LayerForms& layer : stage) memory::keep_gradients(layer);
}
void draw(Forms& forms, std::size_t pieces) {
  for (std::vector<LayerForms>& stage : forms)
    for (LayerForms& layer : stage) keep_what_is_drawn(layer, pieces);
}

// Of one micro-batch, beside the few that belong to none of them.
std::size_t events_of(const Script& script, const MicroBatch& batch) {
  const Forms& forms = batch.forms;
  std::size_t events = batch.head.events.size();
  for (std::size_t s = 0; s < script.stages.size(); ++s) {
    for (std::size_t r = 0; r < forms[s].size(); ++r) {
      const LayerForms& f = forms[s][r];
      const std::size_t layer = f.forward.size() + f.recompute.size() + f.backward.size() + 8;
      events += layer * static_cast<std::size_t>(script.stages[s].runs[r].layers);
    }
  }
  return events;
}

struct Writer {
  Unrolled out;
  Trace gradients, outputs;  // of parameters; what a loop of one's own still holds after the loss
  Trace cache, kv_cache;     // alive until the forward ends, and until the outputs die
  Trace offload;             // by stack: buffers of layer inputs on their way to host memory
  Trace standing, inputs;    // there all the time, and until the last backward
  Trace left_over;           // what FSDP keeps of layers that have gone backward
  Event head_gathered = nothing;
  Event buffers = nothing, reduced = nothing;  // from the loss to the end of a backward pass
  double gradient_bytes = 0;                   // of all parameters' gradients so far
  double gradient_share = 1, head_gradient_share = 1, gradient_copies = 0;
  bool keeps_boundaries = false;
  Phase phase = Phase::load;
  uint8_t step = 0, micro_batch = 0;

  void section(const char* part, int32_t layer = -1) {
    if (!out.sections.empty()) out.sections.back().to = out.events.size();
    out.sections.push_back({phase, step, micro_batch, layer, part, out.events.size(), out.events.size()});
  }
  void section(Phase next, const char* part) {
    phase = next;
    section(part);
  }

  // A tensor that no tape made; nothing when it has no bytes.
  Event allocate(Component component, double bytes, const char* what) {
    Event event{Kind::allocate, component, true, none, bytes, what};
    if (bytes < 0.5) return event;
    event.tensor = out.tensors++;
    out.events.push_back(event);
    return event;
  }
  void push(Event event, Kind kind) {
    if (event.tensor == none) return;
    event.kind = kind;
    out.events.push_back(event);
  }
  void release(const Event& event) { push(event, Kind::release); }
  void become(Event& event, Component component) {
    event.component = component;
    push(event, Kind::become);
  }
  void release_all(Trace& held) {
    for (const Event& event : held) release(event);
    held.clear();
  }
  void release_outputs() {
    release_all(outputs);
    release_all(kv_cache);
  }
  void play(const Trace& events, const Places& places) { place(events, places, out.events); }
  static void place(const Trace& events, const Places& places, Trace& into) {
    const std::size_t before = into.size();
    into.insert(into.end(), events.begin(), events.end());
    for (std::size_t i = before; i < into.size(); ++i) into[i].tensor = places(into[i].tensor);
  }
  // `share` of them stays; the other ranks take theirs.
  void keep_gradients(const Trace& events, const Places& places, double share) {
    Trace made;
    place(events, places, made);
    double bytes = sum_of(made);
    if (share != 1) {
      release_all(made);
      bytes *= share;
      made.push_back(allocate(Component::gradients, bytes, "gradients"));
    }
    gradients.insert(gradients.end(), made.begin(), made.end());
    gradient_bytes += bytes;
  }

  // What is made of a layer's gradients to send them to the other ranks. Those that passed through were added
  // to others, and are looked at once more.
  void hand_over(const LayerRun& run, bool passed_through) {
    const double made = run.replay.weight_gradients;
    const double copies = made * gradient_copies + run.lent.flat_gradient;
    if (copies == 0) return;
    const Event own = allocate(Component::gradients, passed_through ? made : 0, "gradients of a layer");
    const Event sent = allocate(Component::buckets, copies, "gradients handed over");
    release(sent);
    release(own);
  }

  // The layers of one stack forward; gives the stream that leaves it.
  Event forward(const Script::Stage& stage, const std::vector<LayerForms>& forms,
                std::vector<Layer>& layers) {
    const Component kept_as = stage.checkpointing ? Component::boundaries : Component::activations;
    section(stage.part);
    Event stream = nothing, held = nothing;
    if (stage.runs.empty()) {  // of a network that is spread, the layers are elsewhere
      section(stage.part);
      return stage.recorded ? allocate(Component::activations, stage.output_bytes, "hidden state") : stream;
    }
    if (stage.recorded) {
      if (stage.offload_buffers > 0)
        offload.push_back(
            allocate(Component::boundaries, stage.offload_buffers, "layer inputs on their way"));
      stream = allocate(kept_as, stage.runs.front().replay.input_bytes, "embedded input");
    } else {
      held = allocate(Component::transient, stage.standing, "layer inputs");
    }
    int32_t number = 0;
    for (std::size_t r = 0; r < stage.runs.size(); ++r) {
      const LayerReplay& replay = stage.runs[r].replay;
      const LayerForms& f = forms[r];
      for (double i = 0; i < stage.runs[r].layers; ++i, ++number) {
        section(stage.part, number);
        Layer layer{&f,
                    &stage.runs[r],
                    {out.tensors, {f.forward_input, none}, {stream.tensor, none}},
                    stream.tensor,
                    nothing};
        out.tensors += f.tensors;
        if (number > 0 && stage.recorded) become(stream, kept_as);
        const Event gathered = allocate(Component::gathered, stage.runs[r].lent.forward, "gathered layer");
        play(f.forward, layer.places);
        release(gathered);
        place(f.cache, layer.places, cache);
        place(f.kv_cache, layer.places, kv_cache);
        const bool away = stage.offload_buffers > 0;
        if (stage.recorded && (away || (!stage.checkpointing && !replay.input_saved))) release(stream);
        if (stage.recorded && stage.checkpointing && !away) {
          layer.selected =
              allocate(Component::activations, stage.runs[r].selected.total(), "what is not computed again");
        }
        stream = {Kind::allocate,      Component::transient, true, layer.places(f.forward_output),
                  replay.output_bytes, "layer input"};
        if (!stage.recorded) release(stream);
        layers.push_back(layer);
      }
    }
    if (!stage.recorded) release(held);
    return stream;
  }

  // The layers of one stack backward; takes and gives the gradient of the stream.
  Event backward(const Script::Stage& stage, const std::vector<Layer>& layers, Event gradient) {
    const Component kept_as = stage.checkpointing ? Component::boundaries : Component::activations;
    for (std::size_t i = layers.size(); i-- > 0;) {
      const Layer& layer = layers[i];
      const LayerForms& f = *layer.forms;
      section(stage.part, static_cast<int32_t>(i));
      const Lent& lent = layer.run->lent;
      const LayerReplay& replay = layer.run->replay;
      release(layer.selected);
      if (!replay.output_needs_grad) {  // nothing in it or before it is trained
        if (!stage.checkpointing) play(f.backward, layer.places);
        release(gradient);
        gradient = nothing;
        if (stage.offload_buffers == 0 && stage.checkpointing)
          release({Kind::release, kept_as, true, layer.input, replay.input_bytes, "layer input"});
        continue;
      }
      const Event gathered =
          allocate(Component::gathered, i == 0 ? lent.first : lent.last, "gathered layers");
      Places places = layer.places;
      places.own[1] = f.seed;
      places.outside[1] = gradient.tensor;
      if (stage.checkpointing) {
        places.base = out.tensors;
        out.tensors += f.tensors;
        play(f.recompute, places);
      }
      play(f.backward, places);
      hand_over(*layer.run, f.gradients.empty());
      keep_gradients(f.gradients, places, gradient_share);
      release(gathered);
      if (keeps_boundaries && stage.checkpointing && stage.offload_buffers == 0 && i + 1 < layers.size()) {
        left_over.push_back(allocate(Component::boundaries, layers[i + 1].run->replay.input_bytes,
                                     "gradient of a layer input"));
      }
      gradient.bytes = replay.input_bytes;
      gradient.tensor = f.has_input_gradient ? places(f.input_gradient) : none;
      if (stage.offload_buffers == 0 && (stage.checkpointing || replay.input_saved)) {
        const Event input{Kind::release, kept_as, true, layer.input, replay.input_bytes, "layer input"};
        keeps_boundaries ? left_over.push_back(input) : release(input);
      }
    }
    release_all(left_over);
    if (stage.offload_buffers > 0) {
      release(offload.back());
      offload.pop_back();
    }
    return gradient;
  }

  // Head and loss, forward and backward; gives the gradient of the last hidden state.
  Event head(const Script& script, const HeadTrace& t, Event stream) {
    section("head");
    become(stream, Component::activations);
    uint32_t numbers = std::max({t.input, t.kv, t.input_gradient});
    for (const Event& event : t.events) numbers = std::max(numbers, event.tensor);
    ++numbers;
    const Places places{out.tensors, {t.input, none}, {stream.tensor, none}};
    out.tensors += numbers;
    std::vector<const Event*> alive(numbers, nullptr);
    bool input_released = false;
    for (std::size_t i = 0; i < t.backward_end; ++i) {
      if (i == t.forward_end) release_all(cache);
      if (i == t.backward_begin) {
        section(Phase::loss, "loss");
        for (std::size_t c = 0; c < component_count; ++c) {
          outputs.push_back(
              allocate(static_cast<Component>(c), script.scored.bytes[c], "what the reference said"));
        }
        buffers = allocate(Component::buckets, script.backward_buckets, "buffers of the backward");
        reduced = allocate(Component::gradients, script.reduced, "this rank's share of gradients");
      }
      const Event& event = t.events[i];
      if (event.tensor == t.kv) {
        release_all(kv_cache);
        continue;
      }
      push({event.kind, event.component, true, places(event.tensor), event.bytes, event.what}, event.kind);
      alive[event.tensor] = event.kind == Kind::release ? nullptr : &event;
      if (event.tensor == t.input) input_released = event.kind == Kind::release;
    }
    const uint32_t made = t.has_input_gradient ? places(t.input_gradient) : none;
    Event gradient{Kind::allocate, Component::transient, true, made, 0, "gradient"};
    Trace left, own;
    for (const Event* event : alive) {
      if (event == nullptr || event->tensor == t.input) continue;
      if (t.has_input_gradient && event->tensor == t.input_gradient) {
        gradient.bytes = event->bytes;
        continue;
      }
      (event->component == Component::gradients ? own : left).push_back(*event);
    }
    keep_gradients(own, places, head_gradient_share);
    place(left, places, outputs);
    if (!input_released) outputs.push_back(stream);  // a network without a head gives what it gets
    release(head_gathered);
    return gradient;
  }

  // Forward and backward of one micro-batch.
  void run(const Script& script, const MicroBatch& batch) {
    const Forms& forms = batch.forms;
    std::vector<std::vector<Layer>> layers(script.stages.size());
    std::vector<Event> stems;
    Event stream = nothing;
    phase = Phase::forward;
    section("inputs");
    head_gathered = allocate(Component::gathered, script.head_gathered, "gathered for the head");
    const Event leaf = allocate(Component::activations, script.embedded_leaf, "embedded tokens");
    for (std::size_t s = 0; s < script.stages.size(); ++s) {
      section(script.stages[s].part);
      stems.push_back(
          allocate(Component::activations, script.stages[s].stem, "between embedding and layers"));
      stream = forward(script.stages[s], forms[s], layers[s]);
      const bool last = s + 1 == script.stages.size();
      if (!last && script.stages[s].recorded) release(stream);
    }
    Event gradient = head(script, batch.head, stream);
    phase = Phase::backward;
    for (std::size_t s = script.stages.size(); s-- > 0;) {
      const Script::Stage& stage = script.stages[s];
      if (!stage.recorded || stage.runs.empty()) continue;
      if (s + 1 != script.stages.size()) {
        section(stage.part);
        release(gradient);
        const LayerReplay& last = stage.runs.back().replay;
        gradient = allocate(Component::transient, last.output_needs_grad ? last.output_bytes : 0, "gradient");
      }
      gradient = backward(stage, layers[s], gradient);
      release(stems[s]);
    }
    section("embedding");
    release(gradient);
    release(leaf);
  }

  void hold(Component component, double bytes, const char* what) {
    standing.push_back(allocate(component, bytes, what));
  }

  // The tensors of a list when they add up to `all`; else one block of that size, or what is missing beside
  // them. Nothing in the list is larger than the whole.
  void hold_each(Component component, const std::vector<double>& each, double all, const char* what) {
    double sum = 0;
    for (const double bytes : each) sum += bytes;
    if (sum > all + 0.5) {
      hold(component, all, what);
      return;
    }
    for (const double bytes : each) hold(component, bytes, what);
    hold(component, all - sum, what);
  }

  // Weights arrive one after another; a matrix that is packed here exists beside its packed form.
  void load(const Script& script) {
    section(Phase::load, "weights");
    double loaded = 0, kept = 0;
    for (const Resident& row : script.weights) {
      loaded += row.loaded;
      kept += row.kept;
    }
    const double weights = script.base[Component::weights];
    const bool known = loaded <= script.loaded + 0.5 && kept <= weights + 0.5;
    Event staged = nothing;
    Trace arrived;
    for (const Resident& row : script.weights) {
      if (!known) break;
      if (row.staging > 0 || row.first) {
        release(staged);
        staged = allocate(Component::transient, row.staging, "a weight before it is packed");
      }
      arrived.push_back(allocate(Component::weights, row.loaded, row.what));
    }
    release(staged);
    const double rest = known ? script.loaded - loaded : script.loaded;
    const Event others = allocate(Component::weights, rest, "weights");
    section(Phase::prepare, "weights");
    const double wanted = known ? weights - kept : weights;
    if (wanted == rest) {
      standing.push_back(others);
    } else {
      release(others);
      hold(Component::weights, wanted, "weights");
    }
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      const double after = script.weights[i].kept;
      if (after != script.weights[i].loaded) {
        release(arrived[i]);
        arrived[i] = allocate(Component::weights, after, "upcast weights");
      }
    }
    standing.insert(standing.end(), arrived.begin(), arrived.end());
    const double adapters = script.base[Component::adapters];
    hold_each(Component::adapters, adapters > 0 ? script.trained_tensors : std::vector<double>(), adapters,
              "adapters");
    hold(Component::frozen_models, script.base[Component::frozen_models], "frozen models");
    hold(Component::engine, script.base[Component::engine], "inference engine");
  }

  void hold_workspaces(const Script& script) {
    for (int thread = 0; thread < 2; ++thread) {
      hold(Component::workspace, script.base[Component::workspace] / 2, "cuBLAS workspace");
    }
    hold(Component::buckets, script.base[Component::buckets], "buckets of gradients");
    hold(Component::gradients, script.resident_gradients, "this rank's share of gradients");
  }
  void hold_states(const Script& script) {
    hold_each(Component::optimizer, script.optimizer_states, script.base[Component::optimizer],
              "optimizer states");
  }

  // What a step leaves behind that keeps no gradients, without the step.
  void leave_behind(const Script& script) {
    section(Phase::optimizer_step_first, "optimizer");
    hold_workspaces(script);
    hold_states(script);
  }

  // One step of the optimizer; the first one makes the states.
  void whole_step(const Script& script, const MicroBatch& making, const MicroBatch& adding,
                  bool gradients_exist, bool gradients_stay) {
    section(Phase::forward, "inputs");
    inputs.push_back(allocate(Component::inputs, script.base[Component::inputs], "batch"));
    if (step == 1) hold_workspaces(script);
    keeps_boundaries = script.keeps_boundaries;
    const Event root = allocate(Component::gathered, script.root, "gathered outside the layers");
    micro_batch = 1;
    // Before the last micro-batch the ranks may keep their gradients to themselves.
    const bool in_private = script.accumulates && script.accumulated > script.trained;
    gradient_share = in_private ? 1 : script.gradient_share;
    head_gradient_share = in_private ? 1 : script.head_gradient_share;
    gradient_copies = in_private ? 0 : script.gradient_copies;
    if (gradients_exist) settle_gradients(script.accumulated);
    run(script, gradients_exist ? adding : making);
    if (script.accumulates) {
      micro_batch = 2;
      gradient_share = script.gradient_share;
      head_gradient_share = script.head_gradient_share;
      gradient_copies = script.gradient_copies;
      release(reduced);
      release(buffers);
      settle_gradients(script.accumulated);
      release_outputs();
      run(script, adding);
    }
    end_backward(script);
    release(root);
    micro_batch = 0;
    section(step == 1 ? Phase::optimizer_step_first : Phase::optimizer_step, "optimizer");
    if (step == 1) hold_states(script);
    work(script);
    section("clean-up");
    release_outputs();
    if (!gradients_stay) {
      release_all(gradients);
      gradient_bytes = 0;
    }
  }

  // foreach kernels make one temporary for each trained tensor, and hold them all at once.
  void work(const Script& script) {
    Trace temporaries;
    double all = 0;
    for (const double bytes : script.trained_tensors) all += bytes;
    if (script.optimizer_working == script.trained && all == script.trained) {
      for (const double bytes : script.trained_tensors) {
        temporaries.push_back(allocate(Component::transient, bytes, "optimizer temporaries"));
      }
    } else {
      temporaries.push_back(
          allocate(Component::transient, script.optimizer_working, "optimizer temporaries"));
    }
    release_all(temporaries);
  }

  // The embeddings' gradient comes last: a flat tensor of what lies outside the layers is sent then.
  void end_backward(const Script& script) {
    release_all(inputs);
    const double whole_root = script.root_gradients * (1 - script.gradient_share);
    release(reduced);  // counted with the others from here on
    settle_gradients(script.trained + whole_root);
    const Event flat = allocate(Component::buckets, script.root_gradients, "gradients handed over");
    release(allocate(Component::transient, script.embedding_gradient, "embedding gradient"));
    release(flat);
    settle_gradients(script.trained);
    release(buffers);
  }

  // Makes those of parameters outside the layers, embeddings and norms; or gives away what is beyond `all`.
  void settle_gradients(double all) {
    if (gradient_bytes > all + 0.5) {
      release_all(gradients);
      gradient_bytes = 0;
    }
    gradients.push_back(allocate(Component::gradients, all - gradient_bytes, "gradients outside the layers"));
    gradient_bytes = all;
  }
};

}  // namespace

const char* name(Phase phase) { return phase_names[static_cast<std::size_t>(phase)]; }

std::optional<Phase> phase_of(std::string_view id) {
  for (std::size_t i = 0; i < phase_names.size(); ++i) {
    if (id == phase_names[i]) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

Unrolled unroll(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                Steps wanted) {
  Script script;
  replay(network, recipe, machine, &script);
  MicroBatch adding{forms_of(script), script.head};
  MicroBatch making = adding;
  bool gradients_stay = false;  // until the next step
  if (script.gradients_outlive_step) {
    recipe::Recipe one = recipe;
    one.training.gradient_accumulation_steps = 1;
    gradients_stay = one.gradients_outlive_step();
    if (!script.gradients_pass) keep_gradients(making.forms);
    if (!script.head_gradients_pass) keep_gradients(making.head);
  }
  if (wanted == Steps::drawn) {
    draw(making.forms, pieces_of(script, 1));
    draw(adding.forms, pieces_of(script, script.accumulates ? 2 : 1));
  }
  Writer writer;
  writer.load(script);
  const uint8_t steps = recipe.training.max_steps == 1 ? 1 : 2;
  const bool short_way = wanted != Steps::both && steps == 2 && !gradients_stay;
  const std::size_t in_a_step =
      events_of(script, making) + (script.accumulates ? events_of(script, adding) : 0);
  writer.out.events.reserve(writer.out.events.size() + (short_way ? 1 : steps) * in_a_step);
  for (writer.step = 1; writer.step <= steps; ++writer.step) {
    if (writer.step == 1 && short_way) {
      writer.leave_behind(script);
      continue;
    }
    const bool exist = gradients_stay && writer.step == 2;
    writer.whole_step(script, making, adding, exist, gradients_stay);
  }
  writer.out.sections.back().to = writer.out.events.size();
  return std::move(writer.out);
}

bool unrolls(const recipe::Recipe& recipe) {
  const recipe::Task* task = recipe::find_task(recipe.task);
  return task == nullptr || !task->value_model;
}

}  // namespace plimsoll::memory
