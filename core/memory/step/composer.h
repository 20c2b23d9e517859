// What happens in a run, said once: stacks forward, head and loss, all the way back, the optimizer's step.
//
//     PeakSink peaks(standing);                   // or TraceSink, which writes down every tensor
//     Composer composer(peaks, program, rank);
//     composer.step({});
//     peaks.highest(Phase::backward);
//
// A sink is told of tensors that are made, released and counted otherwise, of layers that run forward and
// backward, and of what is to be repeated. What lives on from layer to layer lies in pools of the sink, which
// may not play every repetition.
#pragma once

#include <algorithm>
#include <vector>

#include "core/memory/step/pools.h"
#include "core/memory/step/step_program.h"

namespace plimsoll::memory {

template <class Sink>
class Composer {
 public:
  using Handle = typename Sink::Handle;
  using Gradients = typename Sink::Gradients;

  Composer(Sink& sink, const StepProgram& program, const Sharding& rank)
      : sink_(sink), program_(program), rank_(rank) {}

  /// The layers of one stack forward, when no graph is built.
  void without_graph(const Stage& stage) {
    Around around;
    forward(stage, around);
  }

  /// One step of the optimizer.
  void step(const StepPlay& play) {
    sink_.enter(Phase::forward);
    sink_.section("inputs");
    const Handle inputs = sink_.allocate(Component::inputs, program_.base[Component::inputs], "batch");
    if (play.first) make_workspaces();
    const Handle root = sink_.allocate(Component::gathered, rank_.root,
                                       "all-gathered parameters outside the layers", Stream::gathering);
    // Before the last micro-batch the ranks may keep their gradients to themselves.
    in_private_ = play.another && rank_.accumulated > rank_.gradients;
    sink_.begin_micro_batch(1, play.finds);
    follows_ = play.follows;
    if (play.finds) settle_gradients(rank_.accumulated);
    micro_batch();
    in_private_ = false;
    if (play.another) {
      sink_.begin_micro_batch(2, true);
      sink_.release(reduced_);
      sink_.release(buffers_);
      settle_gradients(rank_.accumulated);
      release_outputs();
      follows_ = true;
      micro_batch();
    }
    sink_.release(inputs);
    end_backward();
    sink_.release(root);
    sink_.begin_micro_batch(0, true);
    sink_.enter(play.first ? Phase::optimizer_step_first : Phase::optimizer_step);
    sink_.section("optimizer");
    if (play.makes_states) make_states();
    optimizer_work();
    sink_.section("clean-up");
    release_outputs();
    if (!play.keeps) sink_.release_all(Pool::gradients);
  }

  /// What a step leaves behind that keeps no gradients, without the step.
  void make_workspaces_and_states() {
    sink_.enter(Phase::optimizer_step_first);
    sink_.section("optimizer");
    make_workspaces();
    make_states();
  }

 private:
  // A layer that has gone forward, until its backward.
  struct Waiting {
    typename Sink::Layer layer;
    Handle input;
    std::vector<Handle> kept;
  };
  // Of a stack: by run of equal layers. A sink that leaves out repetitions gets the same for all of a run.
  struct Around {
    std::vector<std::vector<Waiting>> runs;
    Handle stem = Sink::nothing, offload = Sink::nothing;
  };
  // Of a network that has gone forward.
  struct Graph {
    std::vector<Around> stages;
    Handle leaf = Sink::nothing;
    typename Sink::Head head;
  };
  static const Waiting& at(const std::vector<Waiting>& run, int32_t layer) {
    return run[std::min(static_cast<std::size_t>(layer), run.size() - 1)];
  }
  static Component kept_as(const Stage& stage) {
    return stage.checkpointing ? Component::boundaries : Component::activations;
  }
  // Whether the input of a layer outlives its forward.
  static bool keeps_input(const Stage& stage, const LayerReplay& layer) {
    return stage.recorded && stage.offload_buffers == 0 && (stage.checkpointing || layer.input_saved);
  }

  void release_outputs() {
    sink_.release_all(Pool::outputs);
    sink_.release_all(Pool::kv_cache);
  }
  // In one piece, master weights and two moments are as large as each other.
  void make_states() {
    const double all = program_.base[Component::optimizer];
    const std::vector<double> in_one_piece(3, all / 3);
    allocate_each(sink_, Component::optimizer, rank_.flat ? in_one_piece : program_.optimizer_states, all,
                  "optimizer states");
  }

  // Parameters of the layers at work, unit by unit.
  std::vector<Handle> gather(const GatheredLayer& layer, double bytes) {
    std::vector<Handle> units;
    for (double left = bytes; left > 0; left -= layer.unit) {
      const double unit = layer.unit > 0 ? std::min(left, layer.unit) : left;
      const Stream stream = layer.copied_out && units.empty() ? Stream::computing : Stream::gathering;
      units.push_back(sink_.allocate(Component::gathered, unit, "all-gathered layer parameters", stream));
      if (layer.unit <= 0) break;
    }
    return units;
  }

  Waiting layer_forward(const Stage& stage, const LayerRun& run, bool very_first, Handle& stream) {
    Waiting waiting{sink_.enter(stage, run, stream), stream, {}};
    if (!very_first && stage.recorded) sink_.become(stream, kept_as(stage));
    const Handle input = waiting.input = stream;
    const std::vector<Handle> gathered = gather(run.gathered, run.gathered.forward);
    stream = sink_.layer_forward(waiting.layer);
    for (const Handle& unit : gathered) sink_.release(unit);
    if (stage.recorded && !keeps_input(stage, run.replay)) sink_.release(input);
    if (stage.recorded && stage.checkpointing) {
      const double selected = stage.offload_buffers == 0 ? run.selected.total() : 0;
      waiting.kept.push_back(
          sink_.allocate(Component::activations, selected, "activations saved by selective checkpointing"));
      for (const double bytes : run.unreached)
        waiting.kept.push_back(sink_.allocate(Component::activations, bytes, "linear input saved on ctx"));
    }
    if (!stage.recorded) sink_.release(stream);
    if (!stage.keeps_casts) sink_.release_all(Pool::cache);
    return waiting;
  }

  Handle forward(const Stage& stage, Around& around) {
    sink_.section(stage.part);
    Handle stream = Sink::nothing, held = Sink::nothing;
    if (stage.runs.empty()) {  // of a network that is spread, the layers are elsewhere
      sink_.section(stage.part);
      return stage.recorded ? sink_.allocate(Component::activations, stage.output_bytes, "hidden states")
                            : stream;
    }
    if (stage.recorded) {
      around.offload =
          sink_.allocate(Component::boundaries, stage.offload_buffers, "layer inputs being offloaded");
      stream = sink_.allocate(kept_as(stage), stage.runs.front().replay.input_bytes, "input embeddings");
    } else {
      held = sink_.allocate(Component::transient, stage.standing, "layer inputs");
    }
    int32_t before = 0;
    for (const LayerRun& run : stage.runs) {
      around.runs.emplace_back();
      const auto layers = static_cast<int32_t>(run.layers);
      sink_.repeat(layers, [&](int32_t i) {
        sink_.section(stage.part, before + i);
        around.runs.back().push_back(layer_forward(stage, run, before + i == 0, stream));
      });
      before += layers;
    }
    sink_.release(held);
    return stream;
  }

  void join_gradients(double bytes) {
    sink_.release(
        sink_.allocate(Component::buckets, bytes, "gradient bucket being reduced", Stream::reducing));
  }

  // What is made of a layer's gradients to send them to the other ranks. Those that passed through were added
  // to others, and are looked at once more.
  void hand_over(const LayerRun& run, bool passed_through) {
    const double made = run.replay.weight_gradients;
    join_gradients(made > 0 ? run.gathered.joined : 0);
    const double copies = made * (in_private_ ? 0 : rank_.gradient_copies) + run.gathered.flat_gradient;
    if (copies == 0) return;
    const Handle own = sink_.allocate(Component::gradients, passed_through ? made : 0, "layer gradients");
    sink_.release(sink_.allocate(Component::buckets, copies, "gradients for reduce-scatter", Stream::sent));
    sink_.release(own);
  }

  // `share` of them stays; the other ranks take theirs.
  void keep_gradients(const Gradients& made, double share) {
    if (share == 1 || in_private_) {
      sink_.keep(made);
      return;
    }
    sink_.release(made);
    sink_.put(Pool::gradients,
              sink_.allocate(Component::gradients, made.bytes * share, "gradients", Stream::reducing));
  }

  void layer_backward(const Stage& stage, const LayerRun& run, const Waiting& waiting, bool very_first,
                      Handle& gradient) {
    for (const Handle& kept : waiting.kept) sink_.release(kept);
    if (!run.replay.output_needs_grad) {  // nothing in it or before it is trained
      sink_.forget(waiting.layer);
      sink_.release(gradient);
      gradient = Sink::nothing;
      if (keeps_input(stage, run.replay)) sink_.release(waiting.input);
      return;
    }
    // The very first layer has none before it to fetch ahead.
    const std::vector<Handle> gathered =
        gather(run.gathered, very_first ? run.gathered.first : run.gathered.last);
    const Gradients made = sink_.layer_backward(waiting.layer, gradient);
    hand_over(run, made.bytes == 0);
    keep_gradients(made, rank_.gradient_share);
    for (const Handle& unit : gathered) sink_.release(unit);
    const bool stays = rank_.keeps_boundaries && stage.checkpointing && stage.offload_buffers == 0;
    if (stays) {
      sink_.put(Pool::left_over,
                sink_.allocate(Component::boundaries, incoming_, "gradient of a layer input"));
    }
    incoming_ = run.replay.input_bytes;
    if (stays) {
      sink_.put(Pool::left_over, waiting.input);
    } else if (keeps_input(stage, run.replay)) {
      sink_.release(waiting.input);
    }
  }

  // Takes and gives the gradient of the stream.
  Handle backward(const Stage& stage, const Around& around, Handle gradient) {
    int32_t left = 0;
    for (const LayerRun& run : stage.runs) left += static_cast<int32_t>(run.layers);
    incoming_ = 0;
    for (std::size_t r = stage.runs.size(); r-- > 0;) {
      const LayerRun& run = stage.runs[r];
      const auto layers = static_cast<int32_t>(run.layers);
      left -= layers;
      sink_.repeat(layers, [&](int32_t i) {
        const int32_t layer = layers - 1 - i;
        sink_.section(stage.part, left + layer);
        layer_backward(stage, run, at(around.runs[r], layer), left + layer == 0, gradient);
      });
    }
    sink_.release_all(Pool::left_over);
    sink_.release(around.offload);
    return gradient;
  }

  // Until the loss is known.
  Graph forward(const NetworkRun& network) {
    Graph graph;
    Handle stream = Sink::nothing;
    graph.leaf = sink_.allocate(Component::activations, network.embedded_leaf, "token embeddings");
    for (const Stage& stage : network.stages) {
      Around& around = graph.stages.emplace_back();
      sink_.section(stage.part);
      around.stem =
          sink_.allocate(Component::activations, stage.stem, "activations between embedding and layers");
      stream = forward(stage, around);
      if (&stage != &network.stages.back() && stage.recorded) sink_.release(stream);
    }
    sink_.section("head");
    sink_.become(stream, Component::activations);
    graph.head = sink_.head_forward(network, stream);
    sink_.release_all(Pool::cache);
    return graph;
  }

  // From the gradient of the last hidden state on.
  void backward(const NetworkRun& network, const Graph& graph, Handle gradient) {
    sink_.enter(Phase::backward);
    for (std::size_t s = network.stages.size(); s-- > 0;) {
      const Stage& stage = network.stages[s];
      if (!stage.recorded || stage.runs.empty()) {
        // Where it goes first, what it kept is still there when the backward begins.
        if (stage.stem > 0) sink_.section(stage.part);
        sink_.release(graph.stages[s].stem);
        continue;
      }
      if (s + 1 < network.stages.size()) {
        sink_.section(stage.part);
        sink_.release(gradient);
        const LayerReplay& last = stage.runs.back().replay;
        gradient = sink_.allocate(Component::transient, last.output_needs_grad ? last.output_bytes : 0,
                                  "gradient of the hidden states");
      }
      gradient = backward(stage, graph.stages[s], gradient);
      sink_.release(graph.stages[s].stem);
    }
    sink_.section("embedding");
    sink_.release(gradient);
    sink_.release(graph.leaf);
  }

  // The last network is the first to go backward; the others wait meanwhile.
  void micro_batch() {
    std::vector<Graph> graphs;
    sink_.enter(Phase::forward);
    sink_.section("inputs");
    Handle head_gathered =
        sink_.allocate(Component::gathered, rank_.head, "all-gathered head parameters", Stream::gathering);
    const Handle last = sink_.allocate(Component::activations, follows_ ? program_.last_graph : 0,
                                       "linear inputs in the graph of the previous loss");
    for (const NetworkRun& network : program_.networks) graphs.push_back(forward(network));
    for (Graph& graph : graphs) sink_.loss_known(graph.head);
    sink_.release(last);
    sink_.enter(Phase::loss);
    sink_.section("loss");
    for (std::size_t c = 0; c < component_count; ++c) {
      sink_.put(Pool::outputs, sink_.allocate(static_cast<Component>(c), program_.scored.bytes[c],
                                              "reference logits and log-probabilities"));
    }
    buffers_ = sink_.allocate(Component::buckets, rank_.backward_buckets, "gradient reduce buffers");
    reduced_ = sink_.allocate(Component::gradients, rank_.reduced, "gradient partition of this rank");
    for (std::size_t n = program_.networks.size(); n-- > 0;) {
      Handle gradient = Sink::nothing;
      const Gradients made = sink_.head_backward(graphs[n].head, gradient);
      keep_gradients(made, rank_.head_gradient_share);
      join_gradients(rank_.joined);
      sink_.release(head_gathered);
      head_gathered = Sink::nothing;
      backward(program_.networks[n], graphs[n], gradient);
    }
  }

  // Makes those of parameters outside the layers, embeddings and norms; or gives away what is beyond `all`.
  void settle_gradients(double all) {
    if (sink_.bytes(Pool::gradients) > all + 0.5) sink_.release_all(Pool::gradients);
    const Stream stream = rank_.gradient_share < 1 ? Stream::reducing : Stream::computing;
    sink_.put(Pool::gradients, sink_.allocate(Component::gradients, all - sink_.bytes(Pool::gradients),
                                              "gradients outside the layers", stream));
  }

  // The embeddings' gradient comes last: a flat tensor of what lies outside the layers is sent then.
  void end_backward() {
    sink_.release(reduced_);  // counted with the others from here on
    settle_gradients(rank_.gradients + rank_.root_gradients * (1 - rank_.gradient_share));
    const Handle flat = sink_.allocate(Component::buckets, rank_.root_gradients,
                                       "gradients for reduce-scatter", Stream::sent);
    sink_.release(sink_.allocate(Component::transient, program_.embedding_gradient, "embedding gradient"));
    sink_.release(flat);
    settle_gradients(rank_.gradients);
    sink_.release(buffers_);
  }

  void make_workspaces() {
    for (int thread = 0; thread < 2; ++thread)
      sink_.allocate(Component::workspace, program_.base[Component::workspace] / 2, "cuBLAS workspace");
    sink_.allocate(Component::buckets, program_.base[Component::buckets], "gradient buckets");
    sink_.allocate(Component::gradients, rank_.resident_gradients, "gradient partition of this rank");
  }

  // foreach kernels make one temporary for each trained tensor, and hold them all at once; those of a rank
  // are its share of each.
  void optimizer_work() {
    double all = 0;
    for (const double bytes : program_.trained_tensors) all += bytes;
    std::vector<Handle> temporaries;
    const auto make = [&](double bytes) {
      temporaries.push_back(sink_.allocate(Component::transient, bytes, "optimizer temporaries"));
    };
    double left = rank_.step;
    if (!rank_.flat && all > 0 && rank_.step >= rank_.gradients) {
      const double share = all == rank_.step ? 1 : rank_.step / all;
      for (const double bytes : program_.trained_tensors) {
        if (bytes * share < smallest_tensor) continue;
        make(bytes * share);
        left -= bytes * share;
      }
    }
    make(left);
    for (const Handle& temporary : temporaries) sink_.release(temporary);
  }

  Sink& sink_;
  const StepProgram& program_;
  const Sharding& rank_;
  bool follows_ = false;     // another micro-batch
  bool in_private_ = false;  // gradients stay whole on this rank
  double incoming_ = 0;      // bytes of the input of the layer that went backward last
  Handle buffers_ = Sink::nothing, reduced_ = Sink::nothing;  // from the loss to the end of a backward
};

}  // namespace plimsoll::memory
