#include "core/run/notes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/memory/layers/images.h"
#include "core/memory/parameters/stacked_adapters.h"
#include "core/run/growth_notes.h"
#include "core/run/phrases.h"

namespace plimsoll::run {

namespace {

using memory::Component;
using model::Kind;

const memory::Snapshot& peak(const Replayed& f) { return f.replay.instants[f.replay.peak].live; }
bool old_gpu(const hardware::Gpu* gpu) {
  return gpu != nullptr && gpu->compute_capability > 0 && gpu->compute_capability < 8;
}
bool has(std::string_view text, const char* part) { return text.find(part) != std::string::npos; }

bool has_experts(const model::Architecture& network) {
  for (const model::LayerGroup& group : network.stacks.front().groups) {
    if (group.experts > 0) return true;
  }
  return false;
}

// What a layer's experts weigh that PEFT adapts as one parameter; 0: none. The widest layer's.
double adapted_expert_bytes(const Replayed& f, double& experts) {
  double widest = 0;
  for (const model::Stack& stack : f.network.stacks) {
    for (const model::LayerGroup& group : stack.groups) {
      double bytes = 0;
      for (const model::Linear& linear : group.linears) {
        const memory::LinearSpec spec = memory::specify(linear, stack, f.recipe);
        const bool part = linear.role == model::Role::up && linear.expert;  // of what gate's adapter reaches
        if (spec.stacked || (part && bytes > 0))
          bytes += spec.in * spec.out * static_cast<double>(linear.count) * spec.size;
      }
      if (bytes <= widest) continue;
      widest = bytes;
      experts = static_cast<double>(group.experts);
    }
  }
  return widest;
}

double adapted_expert_bytes(const Replayed& f) {
  double experts = 0;
  return f.recipe.peft.on ? adapted_expert_bytes(f, experts) : 0;
}

// One of gate and up without the other, where PEFT knows them as one.
bool names_half(const Replayed& f) {
  const model::Stack& text = f.network.stacks.front();
  const bool mixtral = text.expert_names == model::ExpertNames::mixtral;
  int halves = 0;
  for (const char* name : mixtral ? std::array{"w1", "w3"} : std::array{"gate_proj", "up_proj"}) {
    const auto& targets = f.recipe.peft.target_modules;
    const bool named = std::find(targets.begin(), targets.end(), name) != targets.end();
    halves += named && memory::is_parameter_name(name, text, f.recipe) ? 1 : 0;
  }
  return halves == 1;
}

struct Remark {
  const char* code;
  bool (*applies)(const Replayed&, const hardware::Gpu*);
  std::string (*message)(const Replayed&, const hardware::Gpu*);
  const char* source;
};

const Remark table[] = {
    {"max_memory_is_no_training_limit",
     [](const Replayed& f, const hardware::Gpu*) { return !f.recipe.model_args.max_memory.empty(); },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "max_memory only decides where accelerate places the weights when it loads them; it does not "
              "limit training: "
              "activations, gradients and optimizer states are not in it, and layers placed on the CPU come "
              "back to the GPU to run.";
     },
     "huggingface/accelerate utils/modeling.py get_max_memory, hooks.py AlignDevicesHook"},
    {"optimizer_copies",
     [](const Replayed& f, const hardware::Gpu*) {
       // Near the peak counts too: the optimizer gets there in the very first step.
       return f.recipe.training.optim == "adamw_torch" &&
              f.replay.instants.back().live.total() > 0.97 * peak(f).total() &&
              f.replay.parameters.trained_bytes > 1e8;
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       const double bytes = f.replay.instants.back().live.total();
       std::string first = "The optimizer step reaches " + gib(bytes) + ", already in the first step: ";
       if (memory::first_step(f.replay, f.recipe).instant == "optimizer_step")
         first = "The optimizer step is the peak of the first step, " + gib(bytes) + ": ";
       return first + "adamw_torch (foreach) makes a copy of all trained parameters at once, " +
              gib(f.replay.parameters.trained_bytes) + ". adamw_torch_fused makes none.";
     },
     "pytorch/pytorch torch/optim/adam.py _multi_tensor_adam"},
    {"accumulation_carries_gradients",
     [](const Replayed& f, const hardware::Gpu*) {
       return f.recipe.training.gradient_accumulation_steps > 1 &&
              f.replay.instants[f.replay.peak].id == "forward" &&
              f.replay.parameters.trained_bytes > 0.02 * peak(f).total();
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "With gradient accumulation every forward pass after the first carries all gradients, " +
              gib(f.replay.parameters.trained_bytes) + " here, beside the optimizer states.";
     },
     "huggingface/transformers trainer.py: zero_grad only after the optimizer step"},
    {"rank_costs",
     [](const Replayed& f, const hardware::Gpu*) {
       return f.recipe.peft.on && f.replay.parameters.adapter_bytes * 4 > 2.0 * 1073741824.0;
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "At rank " + std::to_string(f.recipe.peft.r) +
              " adapters, their gradients and optimizer states together take " +
              gib(f.replay.parameters.adapter_bytes + f.replay.parameters.trained_bytes +
                  f.replay.optimizer_bytes) +
              ".";
     },
     "huggingface/peft tuners/lora/layer.py; pytorch torch/optim/adam.py"},
    {"targets_not_found",
     [](const Replayed& f, const hardware::Gpu*) { return !f.replay.parameters.unmatched.empty(); },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       const std::string names = joined(f.replay.parameters.unmatched);
       return "This model has no module called " + names + "; PEFT adapts the other targets without a word.";
     },
     "huggingface/peft tuners/tuners_utils.py inject_adapter"},
    {"parameters_not_found",
     [](const Replayed& f, const hardware::Gpu*) {
       return !f.replay.parameters.unmatched_parameters.empty();
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "Nothing is priced for " + joined(f.replay.parameters.unmatched_parameters) +
              " of target_parameters: stacked experts alone are replayed.";
     },
     "huggingface/peft tuners/tuners_utils.py _inject_parameters"},
    {"weights_in_fp32",
     [](const Replayed& f, const hardware::Gpu*) {
       return f.recipe.peft.on && !f.recipe.quantized() && memory::parameter_size(f.recipe) == 4;
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "The frozen base is held in fp32, twice the size of 16 bits: " +
              gib(peak(f)[Component::weights]) + ". Load it with dtype=bfloat16 or float16.";
     },
     "huggingface/transformers modeling_utils.py from_pretrained"},
    {"kbit_preparation_upcasts",
     [](const Replayed& f, const hardware::Gpu*) {
       return f.recipe.quantized() && f.recipe.quantization.upcast == "all";
     },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "prepare_model_for_kbit_training leaves embeddings, head and norms in fp32, and with them "
              "every layer boundary: "
              "long batches pay for it twice.";
     },
     "huggingface/peft utils/other.py prepare_model_for_kbit_training"},
    {"kept_in_fp32",
     [](const Replayed& f, const hardware::Gpu*) { return f.recipe.model_args.keep_in_fp32 == "all"; },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "This stack holds norms, embeddings and head in fp32, and with them every layer boundary, "
              "unless "
              "flash attention or cut cross-entropy asks for 16 bits.";
     },
     "axolotl-ai-cloud/axolotl loaders/model.py _configure_embedding_dtypes"},
    {"no_bf16",
     [](const Replayed& f, const hardware::Gpu* gpu) {
       return gpu != nullptr && !gpu->bf16 &&
              (f.recipe.training.bf16 || f.recipe.model_args.dtype == "bfloat16");
     },
     [](const Replayed&, const hardware::Gpu* gpu) -> std::string {
       return gpu->name + " has no bfloat16 units; use fp16=true with dtype float16 for the frozen base.";
     },
     "NVIDIA: bfloat16 from compute capability 8.0"},
    {"no_flash_attention",
     [](const Replayed& f, const hardware::Gpu* gpu) {
       return gpu != nullptr && !gpu->flash_attention_2 &&
              has(f.recipe.model_args.attn_implementation, "flash");
     },
     [](const Replayed&, const hardware::Gpu* gpu) -> std::string {
       return gpu->name + " cannot run the flash-attn package; use attn_implementation=\"sdpa\".";
     },
     "Dao-AILab/flash-attention README"},
    {"sdpa_without_flash",
     [](const Replayed& f, const hardware::Gpu* gpu) {
       const bool sdpa = f.recipe.model_args.attn_implementation == "sdpa";
       return sdpa && (old_gpu(gpu) || has(f.replay.attention, "math kernel"));
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       std::string said = "Attention: ";
       said += f.replay.attention;
       said += '.';
       if (has(said, "math kernel") && f.recipe.training.per_device_train_batch_size == 1) {
         said +=
             " Two samples of different length in a batch need a mask, and with it the memory-efficient "
             "kernel runs: a batch of two can take less than one of one.";
       }
       return said;
     },
     "pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp"},
    {"max_split_size_is_no_cure",
     [](const Replayed& f, const hardware::Gpu*) {
       return has(f.recipe.hardware.cuda_alloc_conf, "max_split_size_mb");
     },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "max_split_size_mb only helps against fragmentation; it makes no tensor smaller.";
     },
     "pytorch docs: notes/cuda, PYTORCH_CUDA_ALLOC_CONF"},
    {"chunked_loss_costs",
     [](const Replayed& f, const hardware::Gpu*) {
       const auto tokens =
           static_cast<double>(f.recipe.training.per_device_train_batch_size * f.recipe.training.max_length);
       return f.recipe.training.loss_kernel == "chunked_nll" &&
              tokens * (f.recipe.autocast() ? 2 : 3) < static_cast<double>(f.network.stacks.front().hidden);
     },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "With so few tokens the chunked loss costs memory instead of saving it: it holds the whole "
              "head in fp32. Use loss_type=\"nll\".";
     },
     "huggingface/trl trainer/sft_trainer.py"},
    {"image_tokens_fill_the_length",
     [](const Replayed& f, const hardware::Gpu*) {
       const double image = memory::image_load(f.network, f.recipe).text_tokens;
       return image > static_cast<double>(f.recipe.training.max_length);
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "The images of one sample alone are " +
              grouped(memory::image_load(f.network, f.recipe).text_tokens) +
              " tokens, more than max_length: the sample would be cut inside an image.";
     },
     "huggingface/transformers processors"},
    {"paged_states", [](const Replayed& f, const hardware::Gpu*) { return f.replay.paged_bytes > 0; },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return gib(f.replay.paged_bytes) +
              " of optimizer states lie in managed memory: PyTorch does not count them, and they move to the "
              "GPU when there is room.";
     },
     "bitsandbytes optim/optimizer.py get_state_buffer"},
    {"dora_is_approximate",
     [](const Replayed& f, const hardware::Gpu*) { return f.recipe.peft.on && f.recipe.peft.use_dora; },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "DoRA builds the merged weight on every forward; its temporaries are replayed from the source "
              "but not yet checked against a measured run.";
     },
     "huggingface/peft tuners/lora/dora.py"},
    {"experts_are_approximate",
     [](const Replayed& f, const hardware::Gpu*) { return has_experts(f.network); },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       std::string words =
           "Routed experts are replayed as if tokens spread evenly; no measured run confirms this yet.";
       if (f.recipe.quantized() && recipe::version_at_least(f.recipe.versions.transformers, "5")) {
         words += " Transformers 5 holds experts as 3-D parameters, which bitsandbytes does not quantise.";
       }
       return words;
     },
     "huggingface/transformers models/mixtral/modeling_mixtral.py"},
    {"experts_get_adapters",
     [](const Replayed& f, const hardware::Gpu*) { return adapted_expert_bytes(f) > 0; },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       double experts = 0;
       const double bytes = adapted_expert_bytes(f, experts);
       std::string words =
           "PEFT adapts the experts of a layer as one parameter and builds the adapted weights "
           "anew in each forward: " +
           gib(bytes) + " a layer";
       const bool loop = !memory::has_stacked_experts(f.recipe);
       if (loop && !recipe::version_at_least(f.recipe.versions.peft, "0.19")) {
         return words + ", and before PEFT 0.19 once for each of " + grouped(experts) + " experts: up to " +
                gib(bytes * experts) + ". A newer PEFT needs one.";
       }
       return words + (f.recipe.training.gradient_checkpointing ? "." : ", kept until the backward.") +
              " target_modules that name attention alone leave the experts as they are.";
     },
     "huggingface/peft tuners/lora/layer.py ParamWrapper, pull request 2912"},
    {"stacked_adapters_refused",
     [](const Replayed& f, const hardware::Gpu*) {
       const recipe::Peft& peft = f.recipe.peft;
       const bool refused = peft.lora_dropout > 0 || peft.use_dora || peft.lora_bias;
       return (refused && adapted_expert_bytes(f) > 0) || (peft.on && names_half(f));
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       if (names_half(f))
         return "PEFT stops at once: gate and up of the experts are one parameter here, and only one of them "
                "is "
                "among target_modules.";
       return "PEFT stops at once: adapters on stacked experts take neither lora_dropout nor DoRA nor "
              "lora_bias. "
              "The figures are those without.";
     },
     "huggingface/peft tuners/lora/layer.py ParamWrapper, utils/transformers_weight_conversion.py"},
    {"state_space_kernels",
     [](const Replayed& f, const hardware::Gpu*) { return model::has_state_space(f.network); },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "The state-space layers are replayed as the kernels of mamba_ssm and causal_conv1d run them; "
              "without these packages Transformers keeps many times as much. No measured run confirms this "
              "part yet, so the band is wider.";
     },
     "state-spaces/mamba mamba_ssm/ops/triton/ssd_combined.py, mamba_ssm/ops/selective_scan_interface.py"},
    {"streams_are_approximate",
     [](const Replayed& f, const hardware::Gpu*) { return has(f.network.model_type, "gemma3n"); },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "Gemma 3n carries four streams through every layer; one is replayed, so activations are more "
              "than "
              "shown and the band is wider. Its towers are counted, not run.";
     },
     "huggingface/transformers models/gemma3n/modeling_gemma3n.py Gemma3nTextAltUp"},
    {"encoder_decoder_is_approximate",
     [](const Replayed& f, const hardware::Gpu*) { return f.network.kind == Kind::encoder_decoder; },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "Encoder and decoder are both replayed at max_length; no measured run confirms this yet.";
     },
     "huggingface/transformers models/t5, models/whisper, models/m2m_100"},
    {"vision_is_approximate",
     [](const Replayed& f, const hardware::Gpu*) { return f.network.kind == Kind::vlm; },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "The vision tower is replayed from its published shapes; no exactly specified measured run "
              "confirms this yet. "
              "Image tokens are part of max_length.";
     },
     "huggingface/transformers processors and vision towers"},
    {"sequence_is_shared",
     [](const Replayed& f, const hardware::Gpu*) { return f.recipe.parallel.sequence_parallel_size > 1; },
     [](const Replayed&, const hardware::Gpu*) -> std::string {
       return "Each GPU holds its share of every sequence. What the attention sends and receives meanwhile "
              "is "
              "not counted: with Ulysses another copy of queries, keys and values, with ring attention "
              "another "
              "block of keys and values.";
     },
     "deepspeedai/DeepSpeed deepspeed/sequence/layer.py"},
    {"memory_is_of_one_rank",
     [](const Replayed& f, const hardware::Gpu*) { return f.replay.sharding.ranks > 1; },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "All sizes are those of one of the " + grouped(f.replay.sharding.ranks) +
              " GPUs; every rank has its own micro-batch, " +
              grouped(static_cast<double>(f.recipe.effective_batch())) +
              " samples stand behind one optimizer step, and host memory is that of all ranks on one "
              "machine.";
     },
     "pytorch torch/distributed; deepspeedai/DeepSpeed"},
    {"fsdp_keeps_boundaries",
     [](const Replayed& f, const hardware::Gpu*) { return f.replay.sharding.keeps_boundaries; },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "FSDP with adapters and reentrant checkpointing keeps every layer's input and its gradient "
              "until the "
              "backward pass ends, " +
              gib(peak(f)[Component::boundaries]) +
              " at the peak. gradient_checkpointing_kwargs={\"use_reentrant\": false} frees them layer by "
              "layer.";
     },
     "pytorch torch/distributed/fsdp/_runtime_utils.py _register_post_backward_reshard_only_hook"},
    {"no_sync_keeps_whole_gradients",
     [](const Replayed& f, const hardware::Gpu*) {
       const memory::Strategy s = f.replay.sharding.strategy;
       const bool fsdp = s == memory::Strategy::fsdp || s == memory::Strategy::fsdp2;
       return fsdp && f.recipe.training.gradient_accumulation_steps > 1 &&
              f.replay.sharding.accumulated > 1e9;
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "With gradient accumulation FSDP keeps the gradients of every micro-batch but the last whole "
              "on each "
              "GPU, " +
              gib(f.replay.sharding.accumulated) + ", because the Trainer runs them under no_sync().";
     },
     "huggingface/transformers trainer.py no_sync; pytorch fully_sharded_data_parallel.py no_sync"},
    {"zero_buckets",
     [](const Replayed& f, const hardware::Gpu*) {
       const memory::Sharding& s = f.replay.sharding;
       return f.recipe.parallel.strategy.rfind("zero", 0) == 0 && s.buckets + s.backward_buckets > 5e8;
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "DeepSpeed's buffers for gradients on their way take " +
              gib(f.replay.sharding.buckets + f.replay.sharding.backward_buckets) +
              "; a smaller zero_optimization.reduce_bucket_size takes less.";
     },
     "deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py setup_buckets"},
    {"layers_are_spread", [](const Replayed& f, const hardware::Gpu*) { return !f.replay.spread.empty(); },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       std::string each;
       for (const double bytes : f.replay.spread) each += (each.empty() ? "" : ", ") + gib(bytes);
       return "device_map spreads the layers over " + grouped(static_cast<double>(f.replay.spread.size())) +
              " GPUs that work one after another; their peaks are " + each +
              ", and the report shows the fullest. The last one holds the head and the logits.";
     },
     "huggingface/accelerate utils/modeling.py infer_auto_device_map"},
    {"beyond_context",
     [](const Replayed& f, const hardware::Gpu*) {
       const uint64_t positions = f.network.max_position_embeddings;
       return positions > 0 && static_cast<uint64_t>(f.recipe.training.max_length) > positions;
     },
     [](const Replayed& f, const hardware::Gpu*) -> std::string {
       return "This model's context ends at " +
              grouped(static_cast<double>(f.network.max_position_embeddings)) +
              " tokens (max_position_embeddings); longer samples need its positions to be extended.";
     },
     "the model's config.json"},
    {"unified_memory",
     [](const Replayed&, const hardware::Gpu* gpu) { return gpu != nullptr && gpu->unified_memory; },
     [](const Replayed&, const hardware::Gpu* gpu) -> std::string {
       return gpu->name +
              " shares its memory with the system; allocator and context figures here are those of CUDA.";
     },
     "pytorch MPS backend"},
};

}  // namespace

std::vector<model::Note> remarks(const Replayed& facts, const hardware::Gpu* gpu) {
  std::vector<model::Note> notes = facts.network.notes;
  for (const Remark& remark : table) {
    if (remark.applies(facts, gpu)) notes.push_back({remark.code, remark.message(facts, gpu), remark.source});
  }
  for (model::Note& note : growth_notes(facts)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace plimsoll::run
