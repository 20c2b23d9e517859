#include "core/recipe/fields.h"

#include <cstdlib>

#include "core/recipe/defaults.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::recipe {

namespace {

using json::Json;

constexpr double exact = 9007199254740992.0;
constexpr std::string_view dtypes = "float32, bfloat16, float16";
constexpr std::string_view current = "the newest release this version of Plimsoll knows";

// One overload for each type of member; null leaves the member as it is.
void put(bool& member, const Json& value) {
  if (!value.is_null()) member = value.get<bool>();
}
void put(uint64_t& member, const Json& value) {
  if (!value.is_null()) member = value.get<uint64_t>();
}
void put(double& member, const Json& value) {
  if (!value.is_null()) member = value.get<double>();
}
void put(std::string& member, const Json& value) {
  if (!value.is_null()) member = value.get_ref<const std::string&>();
}
void put(std::vector<std::string>& member, const Json& value) {
  if (value.is_null()) return;
  member.clear();
  for (const Json& item : value) member.push_back(item.get_ref<const std::string&>());
}
void put(std::map<std::string, std::string>& member, const Json& value) {
  if (value.is_null()) return;
  for (const auto& [key, item] : value.items()) member[key] = item.get_ref<const std::string&>();
}

// Type, limits, words | what it sets | rule, or a fixed default and why | one sentence for a person. A
// default without a reason is not told among the assumptions: it changes nothing unless it is set.
// clang-format off
constexpr Field table[] = {
    {"/schema", FieldType::count, 1, 1, "",
     [](Recipe& r, const Json& v) { put(r.schema, v); }, nullptr, "1", "",
     "Version of this contract."},
    {"/stack", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.stack, v); }, nullptr, "hf", "the plain Transformers Trainer",
     "The library set that runs the training: its defaults fill what is left out."},
    {"/task", FieldType::word, 0, exact, "sft, pretrain, classification, dpo, orpo, kto, reward, grpo, ppo",
     [](Recipe& r, const Json& v) { put(r.task, v); }, nullptr, "sft", "",
     "What is trained for; decides the loss and how many sequences a sample has."},
    {"/versions/transformers", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.versions.transformers, v); }, nullptr, "5.15", current,
     "Transformers version; dtype, cache, checkpointing and loss changed between versions."},
    {"/versions/trl", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.versions.trl, v); }, nullptr, "1.9", current,
     "TRL version; upcasts, adapter dtype and the loss changed between versions."},
    {"/versions/peft", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.versions.peft, v); }, nullptr, "0.20", current,
     "PEFT version; adapters are fp32 from 0.12 on."},
    {"/versions/torch", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.versions.torch, v); }, nullptr, "2.13", current,
     "PyTorch version."},
    {"/versions/bitsandbytes", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.versions.bitsandbytes, v); }, nullptr, "0.50", current,
     "bitsandbytes version."},
    {"/versions/litgpt", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.versions.litgpt, v); }, nullptr, "0.5", "",
     "LitGPT version; lit-gpt of 2023 is 0.0 and the date, 0.0.20231016."},
    {"/parallel/num_gpus", FieldType::count, 1, 65536, "",
     [](Recipe& r, const Json& v) { put(r.parallel.num_gpus, v); }, nullptr, "1", "",
     "GPUs that train together."},
    {"/parallel/strategy", FieldType::word, 0, exact, "none, ddp, fsdp, fsdp2, zero1, zero2, zero3",
     [](Recipe& r, const Json& v) { put(r.parallel.strategy, v); }, default_strategy, "", "",
     "How the GPUs share the work."},
    {"/training/bf16", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.bf16, v); }, nullptr, "false", "",
     "Mixed precision: autocast to bfloat16."},
    {"/training/fp16", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.fp16, v); }, nullptr, "false", "",
     "Mixed precision: autocast to float16 with a loss scaler."},
    {"/quantization/load_in_4bit", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.quantization.load_in_4bit, v); }, nullptr, "false", "",
     "Base weights in 4 bits (bitsandbytes NF4 or FP4)."},
    {"/quantization/load_in_8bit", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.quantization.load_in_8bit, v); }, nullptr, "false", "",
     "Base weights in 8 bits (bitsandbytes LLM.int8)."},
    {"/quantization/quant_method", FieldType::word, 0, exact, "gptq, awq, hqq",
     [](Recipe& r, const Json& v) { put(r.quantization.quant_method, v); }, nullptr, "", "",
     "A base that another library packed; the adapters stay in higher precision."},
    {"/model_args/dtype", FieldType::word, 0, exact, dtypes,
     [](Recipe& r, const Json& v) { put(r.model_args.dtype, v); }, default_dtype, "", "",
     "Type of the weights after from_pretrained."},
    {"/model_args/implementation", FieldType::word, 0, exact, "transformers, litgpt, torchtune, unsloth",
     [](Recipe& r, const Json& v) { put(r.model_args.implementation, v); }, nullptr, "transformers", "",
     "Whose model code runs: what is fused, and which local variables live how long."},
    {"/model_args/attn_implementation", FieldType::word, 0, exact, "sdpa, eager, flash_attention_2, flash_attention_3",
     [](Recipe& r, const Json& v) { put(r.model_args.attn_implementation, v); }, default_attention, "", "",
     "Attention kernel."},
    {"/model_args/num_labels", FieldType::count, 0, 1e6, "",
     [](Recipe& r, const Json& v) { put(r.model_args.num_labels, v); }, default_num_labels, "", "",
     "Outputs of the classification head."},
    {"/model_args/device_map", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.model_args.device_map, v); }, nullptr, "", "",
     "Where accelerate places the weights."},
    {"/model_args/max_memory", FieldType::text_map, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.model_args.max_memory, v); }, nullptr, "", "",
     "Limits for placing weights; it limits nothing in training."},
    {"/quantization/bnb_4bit_quant_type", FieldType::word, 0, exact, "nf4, fp4",
     [](Recipe& r, const Json& v) { put(r.quantization.bnb_4bit_quant_type, v); }, default_quant_type, "", "",
     "4-bit code; both take the same memory."},
    {"/quantization/bnb_4bit_use_double_quant", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.quantization.bnb_4bit_use_double_quant, v); }, nullptr, "false", "",
     "Quantise the scales too: 0.516 instead of 0.5625 bytes a weight."},
    {"/quantization/bnb_4bit_compute_dtype", FieldType::word, 0, exact, dtypes,
     [](Recipe& r, const Json& v) { put(r.quantization.bnb_4bit_compute_dtype, v); }, default_compute_dtype, "", "",
     "Type in which 4-bit layers multiply."},
    {"/quantization/prepare_for_kbit_training", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.quantization.prepare_for_kbit_training, v); }, default_prepare, "", "",
     "PEFT's prepare_model_for_kbit_training is called before the adapters are added."},
    {"/quantization/upcast", FieldType::word, 0, exact, "none, norms, all",
     [](Recipe& r, const Json& v) { put(r.quantization.upcast, v); }, default_upcast, "", "",
     "Which 16-bit parameters that preparation leaves in fp32."},
    {"/quantization/bits", FieldType::count, 2, 8, "",
     [](Recipe& r, const Json& v) { put(r.quantization.bits, v); }, nullptr, "4", "",
     "Bits of a packed weight."},
    {"/quantization/group_size", FieldType::count, 8, 65536, "",
     [](Recipe& r, const Json& v) { put(r.quantization.group_size, v); }, default_group_size, "", "",
     "Weights that share one scale."},
    {"/quantization/llm_int8_skip_modules", FieldType::texts, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.quantization.llm_int8_skip_modules, v); }, nullptr, "[]", "",
     "Modules that stay in 16 bits."},
    {"/quantization/quantize_lm_head", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.quantization.quantize_lm_head, v); }, nullptr, "false", "",
     "The output head is quantised with the rest; Transformers leaves it in 16 bits."},
    {"/peft/r", FieldType::count, 1, 8192, "",
     [](Recipe& r, const Json& v) { put(r.peft.r, v); }, nullptr, "8", "PEFT's LoraConfig default",
     "Rank of the adapters."},
    {"/peft/lora_alpha", FieldType::number, 0, 1e9, "",
     [](Recipe& r, const Json& v) { put(r.peft.lora_alpha, v); }, default_lora_alpha, "", "",
     "Scale of the adapters; changes nothing in memory."},
    {"/peft/target_modules", FieldType::texts_or_text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.peft.target_modules, v); }, default_target_modules, "", "",
     "Linear layers that get an adapter: names, or \"all-linear\"."},
    {"/peft/exclude_modules", FieldType::texts, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.peft.exclude_modules, v); }, nullptr, "[]", "",
     "Names that get no adapter although target_modules matches them."},
    {"/peft/lora_dropout", FieldType::number, 0, 1, "",
     [](Recipe& r, const Json& v) { put(r.peft.lora_dropout, v); }, nullptr, "0.0", "",
     "Dropout before each adapter: a mask, and a copy of the input per target."},
    {"/peft/use_dora", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.peft.use_dora, v); }, nullptr, "false", "",
     "Weight-decomposed adapters: one magnitude an output."},
    {"/peft/use_rslora", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.peft.use_rslora, v); }, nullptr, "false", "",
     "Rank-stabilised scale; changes nothing in memory."},
    {"/peft/bias", FieldType::word, 0, exact, "none, all, lora_only",
     [](Recipe& r, const Json& v) { put(r.peft.bias, v); }, nullptr, "none", "",
     "Which biases of the base are trained."},
    {"/peft/lora_bias", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.peft.lora_bias, v); }, nullptr, "false", "",
     "A bias on each adapter's B matrix."},
    {"/peft/modules_to_save", FieldType::texts, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.peft.modules_to_save, v); }, nullptr, "[]", "",
     "Modules trained in full: a trainable copy beside the frozen original."},
    {"/peft/adapter_dtype", FieldType::word, 0, exact, dtypes,
     [](Recipe& r, const Json& v) { put(r.peft.adapter_dtype, v); }, default_adapter_dtype, "", "",
     "Type of the adapter weights, and so of their gradients and states."},
    {"/peft/finetune_vision_layers", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.peft.finetune_vision_layers, v); }, nullptr, "true", "",
     "Search the vision part for target modules too."},
    {"/peft/finetune_language_layers", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.peft.finetune_language_layers, v); }, nullptr, "true", "",
     "Search the language part for target modules too."},
    {"/training/per_device_train_batch_size", FieldType::count, 1, 65536, "",
     [](Recipe& r, const Json& v) { put(r.training.per_device_train_batch_size, v); }, nullptr, "8", "TrainingArguments default",
     "Sequences in one forward pass on one GPU."},
    {"/training/gradient_accumulation_steps", FieldType::count, 1, 1048576, "",
     [](Recipe& r, const Json& v) { put(r.training.gradient_accumulation_steps, v); }, nullptr, "1", "TrainingArguments default",
     "Forward passes before one optimizer step."},
    {"/training/max_length", FieldType::count, 1, 16777216, "",
     [](Recipe& r, const Json& v) { put(r.training.max_length, v); }, default_max_length, "", "",
     "Longest sequence in tokens; the peak is taken at this length."},
    {"/training/packing", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.packing, v); }, nullptr, "false", "",
     "Samples are joined until a sequence is full."},
    {"/training/padded_batches", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.padded_batches, v); }, default_padded_batches, "", "",
     "Batches hold padding, so an attention mask is built."},
    {"/training/gradient_checkpointing", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.gradient_checkpointing, v); }, nullptr, "false", "TrainingArguments default",
     "Keep only each layer's input and compute the rest again in the backward pass."},
    {"/training/gradient_checkpointing_kwargs/use_reentrant", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.use_reentrant, v); }, default_use_reentrant, "", "",
     "Which of PyTorch's two checkpoint implementations."},
    {"/model_args/use_cache", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.model_args.use_cache, v); }, default_use_cache, "", "",
     "K and V of every layer are kept during the forward pass."},
    {"/training/optim", FieldType::optimizer, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.optim, v); }, default_optim, "", "",
     "Optimizer; decides the states and what the step itself needs."},
    {"/training/use_liger_kernel", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.use_liger_kernel, v); }, nullptr, "false", "",
     "Liger's fused kernels: loss, norms, rotary, gated MLP."},
    {"/training/liger_kernel_config/rms_norm", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.liger_rms_norm, v); }, default_liger, "", "",
     "Liger's RMSNorm alone."},
    {"/training/liger_kernel_config/swiglu", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.liger_swiglu, v); }, default_liger, "", "",
     "Liger's gated MLP alone."},
    {"/training/liger_kernel_config/rope", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.liger_rope, v); }, default_liger, "", "",
     "Liger's rotary embedding alone."},
    {"/training/liger_kernel_config/fused_linear_cross_entropy", FieldType::flag, 0, exact, "",
     nullptr, default_liger, "", "",
     "Liger's head and loss in one."},
    {"/training/liger_kernel_config/cross_entropy", FieldType::flag, 0, exact, "",
     nullptr, nullptr, "false", "",
     "Liger's cross-entropy on logits that exist."},
    {"/training/loss_kernel", FieldType::word, 0, exact, "stock, liger, fused_ce, chunked_nll, cut_cross_entropy, torchtune_chunked, litgpt_chunked, litgpt_chunked_ce",
     [](Recipe& r, const Json& v) { put(r.training.loss_kernel, v); }, default_loss_kernel, "", "",
     "How logits and loss are computed."},
    {"/training/fused_lora", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.fused_lora, v); }, nullptr, "false", "",
     "Each adapter runs as one fused kernel (Unsloth, FOAK): no mask and no rank-wide tensor is kept."},
    {"/training/keep_outputs", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.keep_outputs, v); }, nullptr, "false", "the Trainer drops the model's outputs before the backward pass",
     "A training loop of your own still holds the logits while backward runs."},
    {"/training/keep_gradients", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.keep_gradients, v); }, nullptr, "false", "",
     "Gradients are cleared before the forward pass instead of after the step, so they live through it."},
    {"/training/per_device_eval_batch_size", FieldType::count, 1, 65536, "",
     [](Recipe& r, const Json& v) { put(r.training.per_device_eval_batch_size, v); }, nullptr, "8", "",
     "Sequences in one evaluation batch."},
    {"/training/eval_accumulation_steps", FieldType::count, 0, 1048576, "",
     [](Recipe& r, const Json& v) { put(r.training.eval_accumulation_steps, v); }, nullptr, "0", "",
     "Evaluation batches kept on the GPU before they move to host memory."},
    {"/training/prediction_loss_only", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.training.prediction_loss_only, v); }, nullptr, "false", "",
     "Evaluation keeps the loss alone, not the logits."},
    {"/training/save_steps", FieldType::count, 1, 1e12, "",
     [](Recipe& r, const Json& v) { put(r.training.save_steps, v); }, nullptr, "500", "",
     "Optimizer steps between two checkpoints."},
    {"/training/save_total_limit", FieldType::count, 0, 1e12, "",
     [](Recipe& r, const Json& v) { put(r.training.save_total_limit, v); }, nullptr, "0", "",
     "Checkpoints kept on disk; 0 keeps all of them."},
    {"/vision/images_per_sample", FieldType::count, 0, 4096, "",
     [](Recipe& r, const Json& v) { put(r.vision.images_per_sample, v); }, default_images, "", "",
     "Images in one sample."},
    {"/vision/image_size", FieldType::count, 0, 16384, "",
     [](Recipe& r, const Json& v) { put(r.vision.image_size, v); }, default_image_size, "", "",
     "Side of an image in pixels."},
    {"/vision/freeze_vision_tower", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.vision.freeze_vision_tower, v); }, nullptr, "true", "",
     "The vision tower is not trained."},
    {"/rl/num_generations", FieldType::count, 1, 65536, "",
     nullptr, nullptr, "", "",
     "Completions for one prompt (GRPO)."},
    {"/rl/max_completion_length", FieldType::count, 1, 16777216, "",
     nullptr, nullptr, "", "",
     "Longest completion in tokens (GRPO)."},
    {"/rl/use_vllm", FieldType::flag, 0, exact, "",
     nullptr, nullptr, "", "",
     "Completions come from vLLM."},
    {"/rl/vllm_gpu_memory_utilization", FieldType::number, 0, 1, "",
     nullptr, nullptr, "", "",
     "Share of the GPU that vLLM takes."},
    {"/parallel/gradient_as_bucket_view", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.gradient_as_bucket_view, v); }, nullptr, "false", "",
     "DDP: gradients are views into the communication buckets instead of being copied there."},
    {"/parallel/fsdp_config/reshard_after_forward", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.fsdp.reshard_after_forward, v); }, nullptr, "true", "FULL_SHARD, the default of FSDP",
     "FSDP: parameters are freed after each layer's forward (FULL_SHARD); false keeps them (SHARD_GRAD_OP)."},
    {"/parallel/fsdp_config/offload_params", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.fsdp.offload_params, v); }, nullptr, "false", "",
     "FSDP: shards, gradients and optimizer states lie in RAM."},
    {"/parallel/fsdp_config/use_orig_params", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.fsdp.use_orig_params, v); }, nullptr, "true", "",
     "FSDP: the optimizer sees the original parameters, as views of the shards."},
    {"/parallel/fsdp_config/backward_prefetch", FieldType::word, 0, exact, "backward_pre, backward_post, none",
     [](Recipe& r, const Json& v) { put(r.parallel.fsdp.backward_prefetch, v); }, nullptr, "backward_pre", "the default of FSDP",
     "FSDP: when the next layer's parameters are fetched in the backward pass."},
    {"/parallel/fsdp_config/forward_prefetch", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.fsdp.forward_prefetch, v); }, nullptr, "false", "",
     "FSDP: the next layer's parameters are fetched ahead in the forward pass too."},
    {"/parallel/fsdp_config/auto_wrap", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.fsdp.auto_wrap, v); }, nullptr, "true", "the wrap policy by transformer layer",
     "FSDP: every layer is a unit of its own; false gathers the whole network at once."},
    {"/parallel/fsdp_config/activation_checkpointing", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.fsdp.activation_checkpointing, v); }, default_fsdp_checkpointing, "", "",
     "FSDP: gradient checkpointing is put inside the units, instead of around them as the Trainer's own does."},
    {"/parallel/fsdp_config/upcast_trainable", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.fsdp.upcast_trainable, v); }, default_upcast_trainable, "", "",
     "FSDP: trained parameters are cast to fp32 before they are sharded."},
    {"/parallel/fsdp_config/reduce_dtype", FieldType::word, 0, exact, dtypes,
     [](Recipe& r, const Json& v) { put(r.parallel.fsdp.reduce_dtype, v); }, default_reduce_dtype, "", "",
     "FSDP: type in which gradients travel between GPUs."},
    {"/parallel/zero_optimization/offload_optimizer/device", FieldType::word, 0, exact, "none, cpu, nvme",
     [](Recipe& r, const Json& v) { put(r.parallel.zero.offload_optimizer, v); }, nullptr, "none", "",
     "DeepSpeed: where master weights and optimizer states lie."},
    {"/parallel/zero_optimization/offload_param/device", FieldType::word, 0, exact, "none, cpu, nvme",
     [](Recipe& r, const Json& v) { put(r.parallel.zero.offload_param, v); }, nullptr, "none", "",
     "DeepSpeed, stage 3: where the partitions of the parameters lie."},
    {"/parallel/zero_optimization/reduce_bucket_size", FieldType::count, 0, 1e12, "",
     [](Recipe& r, const Json& v) { put(r.parallel.zero.reduce_bucket_size, v); }, default_reduce_bucket, "", "",
     "DeepSpeed: elements of a gradient bucket; 0 is what Transformers fills in for \"auto\", hidden size squared."},
    {"/parallel/zero_optimization/overlap_comm", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.zero.overlap_comm, v); }, default_overlap_comm, "", "",
     "DeepSpeed: gradients travel while the backward pass goes on, with a second bucket."},
    {"/parallel/zero_optimization/contiguous_gradients", FieldType::flag, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.parallel.zero.contiguous_gradients, v); }, nullptr, "true", "",
     "DeepSpeed: gradients are copied into one buffer as they are made."},
    {"/parallel/zero_optimization/stage3_prefetch_bucket_size", FieldType::count, 0, 1e12, "",
     [](Recipe& r, const Json& v) { put(r.parallel.zero.stage3_prefetch_bucket_size, v); }, nullptr, "50000000", "",
     "DeepSpeed, stage 3: elements of parameters that are fetched ahead."},
    {"/parallel/zero_optimization/stage3_max_live_parameters", FieldType::count, 0, 1e15, "",
     [](Recipe& r, const Json& v) { put(r.parallel.zero.stage3_max_live_parameters, v); }, nullptr, "1000000000", "",
     "DeepSpeed, stage 3: elements of parameters that may be gathered at once."},
    {"/parallel/zero_optimization/stage3_max_reuse_distance", FieldType::count, 0, 1e15, "",
     [](Recipe& r, const Json& v) { put(r.parallel.zero.stage3_max_reuse_distance, v); }, nullptr, "1000000000", "",
     "DeepSpeed, stage 3: parameters needed again within this many elements are not freed."},
    {"/parallel/zero_optimization/sub_group_size", FieldType::count, 1, 1e15, "",
     [](Recipe& r, const Json& v) { put(r.parallel.zero.sub_group_size, v); }, nullptr, "1000000000", "",
     "DeepSpeed, stage 3: elements that the optimizer steps through at a time."},
    {"/hardware/gpu", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.hardware.gpu, v); }, nullptr, "", "",
     "GPU id, as `plimsoll gpus` lists them."},
    {"/hardware/in_use_gib", FieldType::number, 0, 4096, "",
     [](Recipe& r, const Json& v) { put(r.hardware.in_use_gib, v); }, nullptr, "0.0", "",
     "Memory that other programs already hold on that GPU, in GiB."},
    {"/hardware/PYTORCH_CUDA_ALLOC_CONF", FieldType::text, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.hardware.cuda_alloc_conf, v); }, nullptr, "", "",
     "PyTorch's allocator settings."},
    {"/data/samples", FieldType::count, 1, 1e12, "",
     [](Recipe& r, const Json& v) { put(r.data.samples, v); }, nullptr, "", "",
     "Samples in the training set."},
    {"/data/epochs", FieldType::number, 0, 1e6, "",
     [](Recipe& r, const Json& v) { put(r.data.epochs, v); }, nullptr, "", "",
     "Passes over the training set."},
    {"/data/mean_length", FieldType::number, 0, 1.6e7, "",
     [](Recipe& r, const Json& v) { put(r.data.mean_length, v); }, nullptr, "", "",
     "Mean sample length in tokens."},
    {"/cloud/usd_per_hour", FieldType::number, 0, 100000, "",
     [](Recipe& r, const Json& v) { put(r.cloud.usd_per_hour, v); }, nullptr, "0.0", "",
     "Your own price of a machine with the chosen GPU, in place of the snapshots."},
    {"/cloud/mean_hours_between_interruptions", FieldType::number, 0.01, 1e6, "",
     [](Recipe& r, const Json& v) { put(r.cloud.mean_hours_between_interruptions, v); }, nullptr, "41.0", "",
     "How long a spot machine lasts on average; 41 hours is one documented week on a spot g5.xlarge."},
    {"/cloud/restart_minutes", FieldType::number, 0, 100000, "",
     [](Recipe& r, const Json& v) { put(r.cloud.restart_minutes, v); }, nullptr, "10.0", "",
     "From an interruption to the first new step: another machine, the model loaded again."},
    {"/locks", FieldType::texts, 0, exact, "",
     [](Recipe& r, const Json& v) { put(r.locks, v); }, nullptr, "[]", "",
     "Fields that advice must not touch."},
    {"/want", FieldType::texts, 0, exact, "plans, limits, machines, timeline, allocator",
     [](Recipe& r, const Json& v) { put(r.want, v); }, nullptr, "[]", "",
     "Parts of the report that take longer and are left out unless they are asked for."},
};
// clang-format on

}  // namespace

std::span<const Field> field_table() { return table; }

const Field* find_field(std::string_view pointer) {
  for (const Field& field : table) {
    if (field.pointer == pointer) return &field;
  }
  return nullptr;
}

std::string words_of(const Field& field) {
  if (field.type != FieldType::optimizer) return std::string(field.words);
  std::string ids;
  for (const Optimizer& optimizer : optimizers()) {
    if (!ids.empty()) ids += ", ";
    ids += optimizer.id;
  }
  return ids;
}

Json fixed_default(const Field& field) {
  if (field.value.empty()) return nullptr;
  switch (field.type) {
    case FieldType::flag:
      return field.value == "true";
    case FieldType::count:
      return static_cast<uint64_t>(std::strtoull(std::string(field.value).c_str(), nullptr, 10));
    case FieldType::number:
      return std::strtod(std::string(field.value).c_str(), nullptr);
    case FieldType::texts:
    case FieldType::texts_or_text:
      return Json::array();
    default:
      return std::string(field.value);
  }
}

}  // namespace plimsoll::recipe
