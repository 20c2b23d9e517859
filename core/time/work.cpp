#include "core/time/work.h"

#include <algorithm>

#include "core/memory/layers/images.h"
#include "core/memory/layers/lengths.h"
#include "core/memory/parameters/parameters.h"
#include "core/recipe/loss_kernels.h"
#include "core/recipe/optimizers.h"
#include "core/recipe/strategies.h"
#include "core/recipe/tasks.h"

namespace plimsoll::time {

namespace {

using model::Part;

// How often a stack runs, and over how many rows.
struct Passes {
  double rows = 0;     // tokens of the micro-batch
  double length = 0;   // of one sequence
  double batch = 0;    // sequences
  bool again = false;  // recomputed under checkpointing
  bool back = true;    // gradients flow through it
  double forwards() const { return again && back ? 2 : 1; }
  double all() const { return forwards() + (back ? 1 : 0); }
};

void add_linear(const model::Linear& linear, const model::Stack& stack, const recipe::Recipe& r,
                double layers, const Passes& p, Computed& work) {
  const memory::LinearSpec spec = memory::specify(linear, stack, r);
  const double weights = spec.in * spec.out * static_cast<double>(linear.count) * layers;
  const bool trained = p.back && (spec.trainable || memory::is_saved_in_full(linear.path, r));
  const double passes = p.forwards() + (p.back ? 1 : 0) + (trained ? 1 : 0);
  work.matmul_flops += 2 * p.rows * weights * passes;
  work.weight_bytes += weights * 2 * p.all();
  if (spec.storage != memory::Storage::plain) work.unpacked += weights * p.all();
  if (spec.r == 0) return;
  const double adapter = (spec.in + spec.out) * spec.r * static_cast<double>(linear.count) * layers;
  work.matmul_flops += 2 * p.rows * adapter * (p.forwards() + (p.back ? 2 : 0));
  // Unfused, the adapter's output is scaled and added, and its input cast and perhaps dropped. Compiled, both
  // outputs are read and their sum is written, and the mask is applied where the input is read.
  double touched = spec.fused ? 2 * spec.out : 8 * spec.out + (spec.dropout > 0 ? 8 : 4) * spec.in;
  if (r.training.torch_compile && !spec.fused) touched = 6 * spec.out + (spec.dropout > 0 ? 4 : 0) * spec.in;
  work.moved_bytes +=
      p.rows * touched * static_cast<double>(linear.count) * layers * (p.forwards() + (p.back ? 1 : 0));
}

// Bytes an element that eager kernels read and write in one forward. Counted from modeling_llama.py: RMSNorm
// in fp32 is a cast, a square, a mean, a product, a cast and the weight; rotary positions are two products, a
// rotation and a sum on q and k; silu and product are two kernels. torch.compile makes one kernel of what
// lies between two matrix products (pytorch torch/_inductor/scheduler.py): it reads what comes in and writes
// what goes out, as Liger's kernels do.
double norm_bytes(const model::Norm& norm, const recipe::Recipe& r) {
  if (r.training.torch_compile) return 4;
  if (norm.kind == model::NormKind::layer) return r.autocast() ? 12 : 4;
  if (norm.kind == model::NormKind::layer_in_fp32) return 12;
  if (norm.kind == model::NormKind::layer_written_out) return 42;  // two differences in fp32 more
  return r.training.liger_rms_norm ? 4 : 30;
}

void add_layers(const model::LayerGroup& group, const model::Stack& stack, const recipe::Recipe& r,
                const Passes& p, Computed& work) {
  const auto layers = static_cast<double>(group.layers);
  for (const model::Linear& linear : group.linears) {
    Passes routed = p;
    if (linear.expert && group.experts > 0)
      routed.rows *= static_cast<double>(group.experts_per_token) / static_cast<double>(group.experts);
    add_linear(linear, stack, r, layers, routed, work);
  }
  const auto hidden = static_cast<double>(stack.hidden);
  const auto heads = static_cast<double>(group.heads * group.head_dim);
  const auto keys = static_cast<double>(group.kv_heads * group.head_dim);
  double bytes = 12 * hidden;  // two residual sums
  for (const model::Norm& norm : group.norms) {
    const bool on_heads = norm.place == model::NormPlace::q || norm.place == model::NormPlace::k;
    const double width =
        on_heads ? (norm.place == model::NormPlace::q ? heads : keys) : static_cast<double>(norm.width);
    bytes += norm_bytes(norm, r) * width;
  }
  const bool compiled = r.training.torch_compile;
  bytes += (compiled || r.training.liger_rope ? 4 : 24) * group.rotary_share * (heads + keys);
  const double active = group.experts > 0 ? static_cast<double>(group.experts_per_token) : 1;
  const double inner =
      active * static_cast<double>(group.intermediate) + static_cast<double>(group.shared_intermediate);
  bytes += (group.gated ? (compiled || r.training.liger_swiglu ? 6 : 10) : 4) * inner;

  double reach = p.length;
  if (group.window > 0) reach = std::min(reach, static_cast<double>(group.window));
  const bool eager = r.model_args.attn_implementation == "eager";
  const bool causal = stack.part == Part::text || stack.part == Part::decoder;
  const double half = causal && !eager && reach == p.length ? 0.5 : 1;
  if (model::has_scores(group.attention)) {
    // Backward computes the scores again (2.5 times the forward) in fused kernels, 2 times in eager ones.
    const double passes = p.forwards() + (p.back ? (eager ? 2 : 2.5) : 0);
    work.attention_flops += 4 * p.batch * p.length * reach * half * heads * passes * layers;
    // Eager: scores, mask, softmax in fp32, cast and dropout each read and write the square.
    if (eager) bytes += 20 * reach * static_cast<double>(group.heads);
  }
  const double scale = memory::parameter_size(r) == 4 && !r.autocast() ? 2 : 1;
  // The backward of an elementwise kernel reads and writes about twice as much.
  work.moved_bytes += p.rows * bytes * scale * layers * (p.forwards() + (p.back ? 2 : 0));
  work.layer_passes += layers * p.all();
}

void add_head(const model::Architecture& network, const recipe::Recipe& r, const Passes& p, Computed& work) {
  const model::Stack& text = network.stacks.front();
  double width = static_cast<double>(network.vocab_size);
  bool separate = false;
  const recipe::LossKernel& kernel = recipe::loss_kernel(r.training.loss_kernel);
  for (const model::Linear& linear : text.linears) {
    if (linear.role != model::Role::head) continue;
    separate = true;
    width = static_cast<double>(linear.out);
    Passes head = p;
    head.again = kernel.head_again;
    add_linear(linear, text, r, 1, head, work);
  }
  if (!separate && network.tied_head) {
    const double weights = width * static_cast<double>(text.hidden);
    work.matmul_flops += 2 * p.rows * weights * (p.back ? (r.full() ? 3 : 2) : 1);
    work.weight_bytes += weights * 2 * (p.back ? 2 : 1);
  }
  // Logits, their fp32 copy, log-softmax and both gradients; a fused or compiled kernel touches each logit a
  // few times.
  const bool fused = kernel.moves_little || r.training.torch_compile;
  work.moved_bytes += p.rows * width * (fused ? 8 : p.back ? 34 : 14);
}

double trained_elements(const memory::Parameters& parameters) {
  double sum = 0;
  for (const memory::Trained& tensor : parameters.trained) {
    sum += tensor.elements() * tensor.count * tensor.size / 4;
  }
  return sum;
}

// What several GPUs send each other, and what lies in host memory. A rank sends and receives all but its own share;
// a sharded layer is gathered before its forward and before its backward.
void add_traffic(const memory::Parameters& p, const recipe::Recipe& r, Work& work) {
  const recipe::Parallel& parallel = r.parallel;
  const auto ranks = static_cast<double>(recipe::processes(r));
  const double others = (ranks - 1) / ranks;
  const recipe::Strategy how = recipe::strategy_of(r);
  const double kept = how == recipe::Strategy::zero3 || parallel.fsdp.reshard_after_forward ? 2 : 1;
  if (recipe::shards_parameters(how)) {
    // Under no_sync() gradients are sent with the last micro-batch alone.
    const bool once = how != recipe::Strategy::zero3 && !r.syncs_each_batch();
    const double sent = once ? 1.0 / static_cast<double>(r.training.gradient_accumulation_steps) : 1;
    work.traffic = others * (kept * (p.weight_bytes + p.adapter_bytes) + sent * p.trained_bytes);
  } else if (ranks > 1) {
    work.step_traffic = 2 * others * p.trained_bytes;
  }
  if (ranks == 1 && r.training.optimizer_offload != "none") {
    work.host_step = 2 * p.trained_bytes;
    work.host_elements = static_cast<double>(p.trainable);
    work.step_bytes = work.paged_bytes = 0;
  }
  const bool zero_offload = recipe::is_zero(how) && parallel.zero.offload_optimizer != "none";
  const bool fsdp_offload = recipe::is_fsdp(how) && parallel.fsdp.offload_params;
  // ZeRO hands the gradients of each micro-batch to the CPU as they come (DeepSpeed stage_1_and_2.py
  // async_accumulate_grad_in_cpu_via_gpu).
  if (zero_offload) work.host_traffic += p.trained_bytes / ranks;
  if (zero_offload || fsdp_offload) {
    work.host_step = 2 * p.trained_bytes / ranks;
    work.host_elements = static_cast<double>(p.trainable) / ranks;
    work.step_bytes = work.paged_bytes = 0;
  }
  // Parameters that come from host memory are waited for: FSDP copies them in the stream that gathers, right before
  // their layer runs (torch distributed/fsdp/_flat_param.py pre_unshard), with forward_prefetch off by default.
  if ((how == recipe::Strategy::zero3 && parallel.zero.offload_param != "none") || fsdp_offload) {
    work.host_waited = kept * (p.weight_bytes + p.adapter_bytes) / ranks;
  }
}

// Sequences that go through the network at once.
struct Read {
  double rows = 0, length = 0;
  bool graph = true;   // with a backward
  bool towers = true;  // images and sound among it
};

// One run of the network over a micro-batch: every stack, its layers and the head.
void add_run(const model::Architecture& network, const recipe::Recipe& r, const Read& read, Computed& out) {
  const memory::ImageLoad images = memory::image_load(network, r);
  for (const model::Stack& stack : network.stacks) {
    Passes p{0, read.length, read.rows, read.graph && r.training.gradient_checkpointing, read.graph};
    if (model::is_tower(stack)) {
      if (!read.towers) continue;
      p.batch = read.rows * images.towers;
      p.length = images.tower_tokens;
      const bool trained = r.peft.on ? r.peft.finetune_vision_layers && stack.part == Part::vision
                                     : !memory::is_frozen(stack, r);
      p.back = read.graph && trained;
    }
    p.rows = p.batch * p.length;
    if (p.rows == 0) continue;
    for (const model::LayerGroup& group : stack.groups) add_layers(group, stack, r, p, out);
    for (const model::Linear& linear : stack.linears) {
      if (linear.role != model::Role::head) add_linear(linear, stack, r, 1, p, out);
    }
  }
  add_head(network, r, {read.rows * read.length, read.length, read.rows, false, read.graph}, out);
}

// A layer's input goes out in the forward and comes back in the backward.
void add_offloaded(const model::Architecture& network, const recipe::Recipe& r, Work& work) {
  if (!r.training.offload_checkpoints && !r.training.activation_offloading) return;
  const bool wide = r.quantization.upcast == "all" || r.model_args.keep_in_fp32 == "all";
  const memory::ImageLoad images = memory::image_load(network, r);
  const double rows = work.tokens / sample_length(r);
  for (const model::Stack& stack : network.stacks) {
    const double tokens = model::is_tower(stack) ? rows * images.towers * images.tower_tokens : work.tokens;
    const double size = wide || !r.autocast() ? memory::table_size(r, stack) : 2;
    for (const model::LayerGroup& group : stack.groups)
      work.host_traffic += 2 * size * tokens * static_cast<double>(stack.hidden * group.layers);
  }
}

// Of a micro-batch: the reference, the policy as it was, KTO's mismatched completions, a reward model.
int passes_without_graph(const recipe::Recipe& r) {
  const recipe::Task& task = recipe::task_of(r);
  const bool reference =
      task.reference && r.rl.reference_model != "none" && !recipe::scores_before_training(r);
  return (reference ? 1 : 0) + (recipe::reads_old_log_probs(r) ? 1 : 0) + (task.unpaired ? 1 : 0) +
         (task.reward_model ? 1 : 0);
}

// Completions are written token by token (transformers generation/utils.py _sample), each reading all weights and the
// cache, which DynamicCache copies as it grows; vLLM appends to it, and launches no kernel from Python.
void add_writing(const model::Architecture& network, const recipe::Recipe& r, Work& work) {
  const auto length = static_cast<double>(r.rl.max_completion_length);
  const auto batches = static_cast<double>(r.training.gradient_accumulation_steps);
  const double at_once = recipe::samples_are_prompts(r)
                             ? 1
                             : static_cast<double>(r.rl.steps_per_generation * r.rl.num_iterations);
  work.tokens_written = length * batches / at_once;
  const bool elsewhere = r.rl.use_vllm && r.rl.vllm_mode == "server";
  const double rows = recipe::rows_generated(r) * (elsewhere ? static_cast<double>(r.parallel.num_gpus) : 1);
  add_run(network, r, {rows, 1, false, false}, work.token);
  const double prompt = std::max(0.0, static_cast<double>(r.training.max_length) - length);
  // The prompt is read once for all of them.
  if (!elsewhere) add_run(network, r, {rows / at_once, prompt, false}, work.batch);
  for (const model::LayerGroup& group : network.stacks.front().groups) {
    const double cache = 2 * 2 * rows * (prompt + length / 2) *
                         static_cast<double>(group.kv_heads * group.head_dim * group.layers);
    work.token.moved_bytes += cache * (r.rl.use_vllm ? 1 : 3);
  }
  if (r.rl.use_vllm) work.token.layer_passes = 0;
}

}  // namespace

// Gradient read twice (norm, step), weight and states read and written; foreach passes several times. Paged
// states are taken to travel to the card and back at every step, which they do where it is full (CUDA's
// managed memory, bitsandbytes optim/optimizer.py prefetch_state); on a card with room for them they stay.
void set_optimizer(Work& work, const std::string& optim) {
  const recipe::Optimizer* optimizer = recipe::find_optimizer(optim);
  double state = 0;
  if (optimizer != nullptr) state = optimizer->state_bytes + optimizer->state_in_parameter_dtype * 4;
  const bool many =
      optimizer != nullptr && (optimizer->temporary == recipe::StepTemporary::copy_of_all ||
                               optimizer->temporary == recipe::StepTemporary::two_copies_of_all);
  work.step_bytes = work.trained * (16 + 2 * state) * (many ? 3 : 1);
  work.paged_bytes = optimizer != nullptr && optimizer->paged ? work.trained * 2 * state : 0;
}

double sample_length(const recipe::Recipe& r) {
  const auto longest = static_cast<double>(r.training.max_length);
  if (r.training.packing || r.data.mean_length <= 0) return longest;
  return std::min(longest, memory::mean_row_length(r));
}

Work work_of(const model::Architecture& network, const recipe::Recipe& r,
             const memory::Parameters* known_parameters) {
  Work work;
  // Of a row that is shared out, each process works on its part.
  const double rows = recipe::rows_of_batch(r) / static_cast<double>(r.parallel.sequence_parallel_size);
  const Read read{rows, sample_length(r), true};
  work.tokens = rows * read.length;
  const recipe::Task& task = recipe::task_of(r);
  for (int network_run = task.value_model ? 2 : 1; network_run > 0; --network_run)
    add_run(network, r, read, work.batch);
  for (int pass = passes_without_graph(r); pass > 0; --pass)
    add_run(network, r, {read.rows, read.length, false}, work.batch);
  if (task.online) add_writing(network, r, work);
  add_offloaded(network, r, work);
  const memory::Parameters parameters =
      known_parameters != nullptr ? *known_parameters : memory::count_parameters(network, r);
  // FSDP and ZeRO: every rank steps its own share.
  const bool shared = !recipe::is_plain(recipe::strategy_of(r));
  work.trained = trained_elements(parameters) / (shared ? static_cast<double>(r.parallel.num_gpus) : 1);
  set_optimizer(work, r.training.optim);
  add_traffic(parameters, r, work);
  return work;
}

}  // namespace plimsoll::time
