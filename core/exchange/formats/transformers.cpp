// Keys: huggingface/transformers v4.46 and v5.23 src/transformers/training_args.py,
// utils/quantization_config.py; huggingface/trl v0.12 and v1.16 trl/trainer/*_config.py,
// trl/scripts/utils.py; huggingface/peft v0.21 src/peft/tuners/lora/config.py; huggingface/accelerate v1.15
// src/accelerate/commands/launch.py.
#include "core/exchange/formats/transformers.h"

#include <algorithm>

#include "core/exchange/formats/shared.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

void read_adafactor(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/training/optim", "adafactor", &leaf);
}

// -1: as many as the epochs take.
void read_max_steps(Reading& reading, const Leaf& leaf) {
  if (leaf.node->value.is_number() && leaf.node->value < 0)
    return reading.mark(leaf, Use::implied, "the epochs say how long");
  reading.set("/training/max_steps", leaf);
}

// Below 1 a share of the whole run.
void read_save_steps(Reading& reading, const Leaf& leaf) {
  const Json& value = leaf.node->value;
  if (value.is_number() && value < 1) return reading.mark(leaf, Use::implied, "a share of the whole run");
  reading.set("/training/save_steps", leaf);
}

// generation_batch_size: completions of one generation, over all GPUs. TRL refuses both keys together
// (trl/trainer/grpo_config.py GRPOConfig.__post_init__).
void finish_generation(Reading& reading) {
  const Leaf* leaf = reading.leaf("generation_batch_size");
  if (leaf == nullptr) leaf = reading.leaf("training.generation_batch_size");
  if (leaf == nullptr || !leaf->node->value.is_number_unsigned()) return;
  const auto of = [&reading](const char* pointer, uint64_t usual) {
    const auto found = reading.values.find(pointer);
    const bool number = found != reading.values.end() && found->second.is_number_unsigned();
    return number ? std::max<uint64_t>(1, found->second.get<uint64_t>()) : usual;
  };
  const uint64_t batch = of("/training/per_device_train_batch_size", 8) * of("/parallel/num_gpus", 1);
  const auto whole = leaf->node->value.get<uint64_t>();
  if (whole < batch || whole % batch != 0) return;
  reading.set("/rl/steps_per_generation", whole / batch, leaf);
}

void read_padding_free(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/training/padded_batches", false, &leaf);
}

// deepspeed: a file's name, or the settings themselves.
void read_deepspeed(Reading& reading, const Leaf& leaf) { read_deepspeed_name(reading, leaf); }

void read_stage(Reading& reading, const Leaf& leaf) {
  const std::string stage = leaf.node->raw;
  if (stage == "0" || stage == "1" || stage == "2" || stage == "3") {
    reading.set("/parallel/strategy", "zero" + stage, &leaf);
  } else {
    reading.mark(leaf, Use::unsupported, "ZeRO has stages 0 to 3");
  }
}

void read_flash_flag(Reading& reading, const Leaf& leaf) {
  reading.set("/model_args/attn_implementation", leaf, "true=flash_attention_2");
}

void read_peft_type(Reading& reading, const Leaf& leaf) {
  reading.values["/peft"] = true;
  const std::string word = reading.word(leaf.path);
  if (word.empty() || word == "lora") {
    reading.finding(leaf).pointer = "/peft";
    return reading.mark(leaf, Use::used);
  }
  reading.set("/peft/peft_type", leaf);
}

void read_bias(Reading& reading, const Leaf& leaf) { reading.set("/peft/bias", leaf, "false=none"); }

void read_visible_devices(Reading& reading, const Leaf& leaf) {
  uint64_t count = leaf.node->raw.empty() ? 0 : 1;
  for (const char c : leaf.node->raw) count += c == ',' ? 1 : 0;
  if (count == 0 || leaf.node->is_list()) return reading.mark(leaf, Use::implied);
  if (reading.has("/parallel/num_gpus"))
    return reading.mark(leaf, Use::implied, "the launcher says how many");
  reading.set("/parallel/num_gpus", count, &leaf);
}

// Machines that the launcher or the job names; 1 where it does not.
uint64_t machines(const Reading& reading) {
  for (const char* key : {"nnodes", "num_nodes", "$NNODES", "$SBATCH_nodes", "nodes"}) {
    const Leaf* leaf = reading.leaf(key);
    if (leaf == nullptr || !leaf->node->value.is_number_unsigned()) continue;
    const auto count = leaf->node->value.get<uint64_t>();
    if (count >= 1 && count <= 4096) return count;
  }
  return 1;
}

// Processes of one machine: all of them together share the work.
void set_processes(Reading& reading, const Leaf& leaf, uint64_t count) {
  const uint64_t many = machines(reading);
  if (many == 1) return reading.set("/parallel/num_gpus", count, &leaf);
  reading.values["/parallel/num_gpus"] = count * many;
  reading.mark(leaf, Use::used, "times the number of machines");
}

void read_processes(Reading& reading, const Leaf& leaf) {
  if (leaf.node->raw == "gpu" || leaf.node->raw == "auto")
    return reading.mark(leaf, Use::implied, "as many as the machine has");
  const Json& value = leaf.node->value;
  if (!value.is_number_unsigned() || value > 4096) return reading.set("/parallel/num_gpus", leaf);
  set_processes(reading, leaf, value.get<uint64_t>());
}

// Slurm's --gres=gpu:a100:8 and --gpus-per-node=8: what a job gets of each machine, unless its launcher says
// how much of it is used.
void read_job_gpus(Reading& reading, const Leaf& leaf) {
  const std::string word = leaf.node->raw;
  const size_t colon = word.rfind(':');
  const std::string count = colon == std::string::npos ? word : word.substr(colon + 1);
  if (word.find("gpu") != 0 && colon != std::string::npos && leaf.path != "$SBATCH_gpus_per_node")
    return reading.mark(leaf, Use::irrelevant);
  if (count.empty() || count.size() > 3 || count.find_first_not_of("0123456789") != std::string::npos ||
      count == "0")
    return reading.mark(leaf, Use::implied);
  if (reading.has("/parallel/num_gpus"))
    return reading.mark(leaf, Use::implied, "the launcher says how many");
  set_processes(reading, leaf, std::stoul(count));
}

// srun's --ntasks: the processes of a job that no other launcher starts; one or one a machine starts a
// launcher.
void read_tasks(Reading& reading, const Leaf& leaf) {
  const Json& value = leaf.node->value;
  if (!value.is_number_unsigned() || value > 4096 || value.get<uint64_t>() <= machines(reading))
    return reading.mark(leaf, Use::irrelevant);
  reading.set("/parallel/num_gpus", leaf);
}

// --include localhost:0,1 of the deepspeed launcher.
void read_include(Reading& reading, const Leaf& leaf) {
  uint64_t count = 1;
  for (const char c : leaf.node->raw) count += c == ',' ? 1 : 0;
  reading.set("/parallel/num_gpus", count, &leaf);
}

void read_multi_gpu(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/parallel/strategy", "ddp", &leaf);
}

void read_use_fsdp(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  if (!reading.has("/parallel/strategy")) reading.values["/parallel/strategy"] = "fsdp";
  reading.finding(leaf).pointer = "/parallel/strategy";
  reading.mark(leaf, Use::used);
}

void read_mixed_precision(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "bf16" || word == "fp16") {
    reading.set(word == "bf16" ? "/training/bf16" : "/training/fp16", true, &leaf);
  } else if (word == "no" || word == "false" || word.empty()) {
    reading.mark(leaf, Use::implied, "none, as it is anyway");
  } else {
    reading.mark(leaf, Use::unsupported, "this precision cannot be said yet");
  }
}

void read_use_peft(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "no adapter");
  reading.values["/peft"] = true;
  reading.finding(leaf).pointer = "/peft";
  reading.mark(leaf, Use::used);
}

constexpr Row training_rows[] = {
    {"per_device_train_batch_size", "/training/per_device_train_batch_size", ""},
    {"per_gpu_train_batch_size", "/training/per_device_train_batch_size", ""},
    {"gradient_accumulation_steps", "/training/gradient_accumulation_steps", ""},
    {"max_length", "/training/max_length", ""},
    {"max_seq_length", "/training/max_length", ""},
    {"max_seq_len", "/training/max_length", ""},
    {"packing", "/training/packing", ""},
    {"eval_packing", "/training/eval_packing", ""},
    {"padding_free", "/training/padded_batches", "", read_padding_free},
    {"bf16", "/training/bf16", ""},
    {"fp16", "/training/fp16", ""},
    {"disable_dropout", "/training/disable_dropout", ""},
    {"gradient_checkpointing", "/training/gradient_checkpointing", "", read_checkpointing, Write::yes},
    {"activation_checkpointing", "/training/gradient_checkpointing", "", read_checkpointing, Write::no},
    {"use_gradient_checkpointing", "/training/gradient_checkpointing", "", read_checkpointing, Write::no},
    {"gradient_checkpointing_kwargs.use_reentrant", "/training/gradient_checkpointing_kwargs/use_reentrant",
     ""},
    {"activation_checkpointing_kwargs.use_reentrant", "/training/gradient_checkpointing_kwargs/use_reentrant",
     ""},
    {"activation_offloading", "/training/activation_offloading", ""},
    {"torch_compile", "/training/torch_compile", ""},
    {"parallelism_config.cp_size", "/parallel/sequence_parallel_size", ""},
    {"parallelism_config.sp_size", "/parallel/sequence_parallel_size", "", nullptr, Write::no},
    {"optim", "/training/optim", "adamw_bnb=adamw_bnb_8bit"},
    {"optim_args", "/training/optim_args", "", read_optimizer_args, Write::yes},
    {"optim_args.*", "/training/optim_args", "", read_optimizer_arg, Write::no},
    {"optim_target_modules", "/training/optim_target_modules", "", read_optimizer_targets, Write::yes},
    {"adafactor", "/training/optim", "", read_adafactor},
    {"use_liger_kernel", "/training/use_liger_kernel", ""},
    {"use_liger", "/training/use_liger_kernel", ""},
    {"liger_kernel_config.rms_norm", "/training/liger_kernel_config/rms_norm", ""},
    {"liger_kernel_config.swiglu", "/training/liger_kernel_config/swiglu", ""},
    {"liger_kernel_config.rope", "/training/liger_kernel_config/rope", ""},
    {"liger_kernel_config.fused_linear_cross_entropy",
     "/training/liger_kernel_config/fused_linear_cross_entropy", ""},
    {"liger_kernel_config.cross_entropy", "/training/liger_kernel_config/cross_entropy", ""},
    {"loss_type", "/rl/loss_type", ""},
    {"per_device_eval_batch_size", "/training/per_device_eval_batch_size", ""},
    {"per_gpu_eval_batch_size", "/training/per_device_eval_batch_size", ""},
    {"eval_accumulation_steps", "/training/eval_accumulation_steps", ""},
    {"prediction_loss_only", "/training/prediction_loss_only", ""},
    {"eval_strategy", "/training/eval_strategy", "no=no, false=no", read_evaluation, Write::yes},
    {"evaluation_strategy", "/training/eval_strategy", "", read_evaluation, Write::no},
    {"max_steps", "/training/max_steps", "", read_max_steps, Write::yes},
    {"torch_empty_cache_steps", "/training/torch_empty_cache_steps", ""},
    {"save_steps", "/training/save_steps", "", read_save_steps, Write::yes},
    {"save_total_limit", "/training/save_total_limit", ""},
    {"save_strategy", "/training/save_strategy", "no=no, false=no"},
    {"save_only_model", "/training/save_only_model", ""},
    {"load_best_model_at_end", "/training/load_best_model_at_end", ""},
    {"num_train_epochs", "/data/epochs", ""},
    {"use_cache", "/model_args/use_cache", ""},
    {"model_init_kwargs.dtype", "/model_args/dtype", "auto=auto", nullptr, Write::no},
    {"model_init_kwargs.torch_dtype", "/model_args/dtype", "auto=auto", nullptr, Write::no},
    {"model_init_kwargs.attn_implementation", "/model_args/attn_implementation", "", nullptr, Write::no},
    {"model_init_kwargs.device_map", "/model_args/device_map", "", read_device_map},
    {"beta", "/rl/beta", ""},
    {"num_generations", "/rl/num_generations", ""},
    {"max_completion_length", "/rl/max_completion_length", ""},
    {"max_prompt_length", "/rl/max_prompt_length", ""},
    {"temperature", "/rl/temperature", ""},
    {"steps_per_generation", "/rl/steps_per_generation", ""},
    {"num_iterations", "/rl/num_iterations", ""},
    {"use_vllm", "/rl/use_vllm", ""},
    {"vllm_mode", "/rl/vllm_mode", ""},
    {"vllm_gpu_memory_utilization", "/rl/vllm_gpu_memory_utilization", ""},
    {"vllm_enable_sleep_mode", "/rl/vllm_enable_sleep_mode", ""},
    {"precompute_ref_log_probs", "/rl/precompute_ref_log_probs", ""},
    {"cpo_alpha", "/rl/cpo_alpha", ""},
    {"deepspeed", "/parallel/strategy", "", read_deepspeed},
    {"deepspeed.zero_optimization.stage", "/parallel/strategy", "", read_stage},
    {"deepspeed.zero_optimization.offload_optimizer.device",
     "/parallel/zero_optimization/offload_optimizer/device", ""},
    {"deepspeed.zero_optimization.offload_param.device", "/parallel/zero_optimization/offload_param/device",
     ""},
    {"fsdp", "/parallel/strategy", "", read_fsdp},
    {"fsdp_config.fsdp_version", "/parallel/strategy", "", read_fsdp_version},
    {"fsdp_config.version", "/parallel/strategy", "", read_fsdp_version},
    {"fsdp_config.reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", "", read_reshard},
    {"fsdp_config.fsdp_reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", "",
     read_reshard},
    {"fsdp_config.offload_params", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_config.fsdp_offload_params", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_config.cpu_offload", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_config.use_orig_params", "/parallel/fsdp_config/use_orig_params", ""},
    {"fsdp_config.state_dict_type", "/parallel/fsdp_config/state_dict_type", ""},
    {"fsdp_config.fsdp_state_dict_type", "/parallel/fsdp_config/state_dict_type", ""},
    {"fsdp_config.fsdp_use_orig_params", "/parallel/fsdp_config/use_orig_params", ""},
    {"fsdp_config.backward_prefetch", "/parallel/fsdp_config/backward_prefetch", prefetch},
    {"fsdp_config.fsdp_backward_prefetch", "/parallel/fsdp_config/backward_prefetch", prefetch},
    {"fsdp_config.forward_prefetch", "/parallel/fsdp_config/forward_prefetch", ""},
    {"fsdp_config.fsdp_forward_prefetch", "/parallel/fsdp_config/forward_prefetch", ""},
    {"fsdp_config.fsdp_sharding_strategy", "/parallel/strategy", "", read_sharding_strategy},
    {"fsdp_config.sharding_strategy", "/parallel/strategy", "", read_sharding_strategy},
    {"fsdp_config.activation_checkpointing", "/training/gradient_checkpointing", "", nullptr, Write::no},
    {"fsdp_config.fsdp_activation_checkpointing", "/training/gradient_checkpointing", "", nullptr, Write::no},
};
constexpr std::string_view training_irrelevant =
    "output_dir overwrite_output_dir learning_rate lr_scheduler_type lr_scheduler_kwargs* warmup_steps "
    "warmup_ratio "
    "weight_decay adam_beta1 adam_beta2 adam_epsilon max_grad_norm "
    "average_tokens_across_devices label_smoothing_factor label_smoothing bf16_full_eval fp16_full_eval tf32 "
    "neftune_noise_alpha logging_* log_* disable_tqdm report_to run_name project "
    "trackio_* "
    "include_num_input_tokens_seen include_tokens_per_second eval_steps "
    "eval_delay "
    "eval_on_start eval_use_gather_object include_for_metrics include_inputs_for_metrics "
    "eval_do_concat_batches batch_eval_metrics save_safetensors "
    "save_on_each_node enable_jit_checkpoint push_to_hub* hub_* "
    "metric_for_best_model greater_is_better ignore_data_skip restore_callback_states_from_checkpoint "
    "full_determinism "
    "seed data_seed accelerator_config* dataloader_* remove_unused_columns label_names "
    "train_sampling_strategy "
    "length_column_name group_by_length ddp_* debug skip_memory_metrics do_train do_eval do_predict "
    "resume_from_checkpoint local_rank local-rank sortish_sampler predict_with_generate generation_* "
    "past_index "
    "tpu_* half_precision_backend fp16_opt_level fp16_backend ray_scope jit_mode_eval "
    "use_legacy_prediction_loop dispatch_batches split_batches evaluation_delay torch_compile_* no_cuda "
    "use_mps_device "
    "dataset_* chat_template* eos_token pad_token truncation_mode shuffle_dataset packing_strategy "
    "completion_only_loss assistant_only_loss trust_remote_code router_aux_loss_coef ld_alpha loss_weights "
    "f_divergence_type f_alpha_divergence_coef use_weighting discopop_tau ref_model_mixup_alpha "
    "ref_model_sync_steps rpo_alpha reference_free label_pad_token_id padding_value is_encoder_decoder "
    "model_adapter_name ref_adapter_name force_use_ref_model generate_during_eval max_target_length "
    "num_of_sequences chars_per_token desirable_weight undesirable_weight simpo_gamma "
    "center_rewards_coefficient num_generations_eval ds3_gather_for_generation "
    "top_p top_k min_p generation_kwargs* chat_template_kwargs* repetition_penalty cache_implementation "
    "vllm_model_impl "
    "vllm_structured_outputs_regex vllm_guided_decoding_regex vllm_server_* vllm_group_port "
    "vllm_tensor_parallel_size "
    "vllm_max_model_length vllm_importance_sampling_* epsilon epsilon_high delta sapo_* vespo_* "
    "importance_sampling_level reward_weights multi_objective_aggregation scale_rewards "
    "mask_truncated_completions "
    "top_entropy_quantile entropy_* use_adaptive_entropy max_tool_calling_iterations "
    "off_policy_mask_threshold "
    "use_bias_correction_kl log_completions* num_completions_to_print reward_clip_range normalize_advantages "
    "vllm_sampling_params batch_sampler embedding_learning_rate prompts* num_processes_data test_size "
    "val_size validation_split dataset_config streaming columns "
    "instruction_template "
    "response_template torchdynamo use_ipex deepspeed.gradient_clipping deepspeed.steps_per_print "
    "deepspeed.wall_clock_breakdown deepspeed.scheduler* early_stopping_patience num_workers wandb_* "
    "dataloader_pin_memory hyperparameters_notes ephemeral mlflow_* precompute_ref_batch_size sync_ref_model "
    "preprocessing_num_workers num_proc logging_dir eval_dataset eval_dataset* train_dataset train_dataset* "
    "mp_parameters use_slow_tokenizer system_prompt callbacks benchmarks code_eval_* pass_rate_*";
constexpr std::string_view training_implied =
    "pad_to_multiple_of fsdp_min_num_params fsdp_transformer_layer_cls_to_wrap fsdp_config.min_num_params "
    "fsdp_config.transformer_layer_cls_to_wrap fsdp_config.fsdp_transformer_layer_cls_to_wrap "
    "fsdp_config.auto_wrap_policy fsdp_config.fsdp_auto_wrap_policy fsdp_config.xla* "
    "fsdp_config.limit_all_gathers fsdp_config.fsdp_limit_all_gathers "
    "fsdp_config.sync_module_states fsdp_config.fsdp_sync_module_states "
    "fsdp_config.cpu_ram_efficient_loading "
    "fsdp_config.fsdp_cpu_ram_efficient_loading fsdp_config.fsdp_min_num_params "
    "gradient_checkpointing_kwargs "
    "model_init_kwargs use_cpu _n_gpu n_gpu generation_batch_size deepspeed.train_batch_size "
    "deepspeed.train_micro_batch_size_per_gpu deepspeed.gradient_accumulation_steps deepspeed.bf16* "
    "deepspeed.fp16* "
    "deepspeed.optimizer* deepspeed.zero_allow_untested_optimizer ref_model_init_kwargs* dataset_kwargs* "
    "model_init_kwargs.trust_remote_code model_init_kwargs.use_cache model_init_kwargs.low_cpu_mem_usage "
    "model_init_kwargs.revision liger_kernel_config liger_kernel_config.layer_norm liger_kernel_config.geglu";
constexpr std::string_view training_unpriced =
    "auto_find_batch_size parallelism_config* deepspeed.zero_optimization* deepspeed.* "
    "cast_lm_head_to_fp32 use_transformers_continuous_batching use_transformers_paged "
    "transformers_continuous_batching_config* gradient_checkpointing_offload model_init_kwargs.*";

constexpr Row model_rows[] = {
    {"model_name_or_path", "/model", ""},
    {"pretrained_model_name_or_path", "/model", ""},
    {"model_name", "/model", ""},
    {"model_id", "/model", ""},
    {"base_model", "/model", ""},
    {"dtype", "/model_args/dtype", "auto=auto"},
    {"torch_dtype", "/model_args/dtype", "auto=auto"},
    {"attn_implementation", "/model_args/attn_implementation", ""},
    {"use_flash_attention_2", "/model_args/attn_implementation", "", read_flash_flag},
    {"use_flash_attn", "/model_args/attn_implementation", "", read_flash_flag},
    {"use_flash_attention", "/model_args/attn_implementation", "", read_flash_flag},
    {"load_in_4bit", "/quantization/load_in_4bit", ""},
    {"load_in_8bit", "/quantization/load_in_8bit", ""},
    {"device_map", "/model_args/device_map", "", read_device_map, Write::yes},
    {"max_memory", "/model_args/max_memory", ""},
    {"use_cache", "/model_args/use_cache", ""},
    {"num_labels", "/model_args/num_labels", ""},
    {"max_seq_length", "/training/max_length", ""},
    {"gpu_memory_utilization", "/rl/vllm_gpu_memory_utilization", ""},
};
constexpr std::string_view model_irrelevant =
    "revision model_revision token use_auth_token cache_dir trust_remote_code low_cpu_mem_usage "
    "local_files_only "
    "force_download use_safetensors variant tokenizer_name padding_side random_state fix_tokenizer "
    "use_fast_tokenizer "
    "offload_folder offload_state_dict resume_download use_fast resize_model_vocab float32_mixed_precision "
    "id2label* label2id* ignore_mismatched_sizes max_lora_rank proxies subfolder tie_word_embeddings "
    "disable_log_stats "
    "attention_dropout hidden_dropout problem_type unsloth_force_compile use_exact_model_name "
    "quantization_config";
constexpr std::string_view model_implied =
    "model_type config config_name config_overrides model_class architecture full_finetuning "
    "torch_dtype_auto "
    "pretraining_tp max_lora_rank rope_scaling* rope_theta max_position_embeddings device_map.*";
constexpr std::string_view model_unpriced =
    "use_kernels tp_plan experts_implementation unsloth_tiled_mlp offload_embedding load_in_16bit "
    "load_in_fp8 qat_scheme";

constexpr Row quantization_rows[] = {
    {"load_in_4bit", "/quantization/load_in_4bit", ""},
    {"load_in_8bit", "/quantization/load_in_8bit", ""},
    {"bnb_4bit_quant_type", "/quantization/bnb_4bit_quant_type", ""},
    {"bnb_4bit_use_double_quant", "/quantization/bnb_4bit_use_double_quant", ""},
    {"bnb_4bit_compute_dtype", "/quantization/bnb_4bit_compute_dtype", ""},
    {"llm_int8_skip_modules", "/quantization/llm_int8_skip_modules", ""},
    {"modules_to_not_convert", "/quantization/llm_int8_skip_modules", ""},
    {"prepare_for_kbit_training", "/quantization/prepare_for_kbit_training", ""},
    {"quant_method", "/quantization/quant_method", ""},
    {"bits", "/quantization/bits", ""},
    {"nbits", "/quantization/bits", ""},
    {"group_size", "/quantization/group_size", ""},
};
constexpr std::string_view quantization_irrelevant =
    "llm_int8_threshold llm_int8_has_fp16_weight tokenizer dataset damp_percent desc_act act_group_aware sym "
    "true_sequential format meta backend model_seqlen block_name_to_quantize "
    "module_name_preceding_first_block "
    "batch_size pad_token_id max_input_length cache_block_outputs modules_in_block_to_quantize zero_point "
    "axis "
    "view_as_float dynamic_config* exllama_config* use_exllama use_cuda_fp16 disable_exllama version";
constexpr std::string_view quantization_implied = "bnb_4bit_quant_storage _load_in_4bit _load_in_8bit";
constexpr std::string_view quantization_unpriced = "llm_int8_enable_fp32_cpu_offload";

constexpr Row peft_rows[] = {
    {"base_model_name_or_path", "/model", ""},
    {"peft_type", "/peft", "", read_peft_type},
    {"r", "/peft/r", ""},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"alpha", "/peft/lora_alpha", ""},
    {"target_modules", "/peft/target_modules", "", read_targets, Write::yes},
    {"target_parameters", "/peft/target_parameters", ""},
    {"exclude_modules", "/peft/exclude_modules", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"dropout", "/peft/lora_dropout", ""},
    {"use_dora", "/peft/use_dora", ""},
    {"use_rslora", "/peft/use_rslora", ""},
    {"bias", "/peft/bias", "", read_bias, Write::yes},
    {"lora_bias", "/peft/lora_bias", ""},
    {"modules_to_save", "/peft/modules_to_save", ""},
    {"ensure_weight_tying", "/peft/ensure_weight_tying", ""},
    {"autocast_adapter_dtype", "/peft/adapter_dtype", "true=float32", nullptr, Write::no},
    {"finetune_vision_layers", "/peft/finetune_vision_layers", ""},
    {"finetune_language_layers", "/peft/finetune_language_layers", ""},
    {"use_gradient_checkpointing", "/training/gradient_checkpointing", "", read_checkpointing, Write::no},
    {"max_seq_length", "/training/max_length", ""},
    {"feedforward_modules", "/peft/feedforward_modules", ""},
    {"num_virtual_tokens", "/peft/num_virtual_tokens", ""},
    {"init_r", "/peft/init_r", ""},
    {"encoder_hidden_size", "/peft/encoder_hidden_size", ""},
    {"adapter_len", "/peft/adapter_len", ""},
    {"adapter_layers", "/peft/adapter_layers", ""},
    {"oft_block_size", "/peft/oft_block_size", ""},
    {"boft_block_size", "/peft/boft_block_size", ""},
    {"boft_n_butterfly_factor", "/peft/boft_n_butterfly_factor", ""},
    {"n_frequency", "/peft/n_frequency", ""},
    {"num_vectors", "/peft/num_vectors", ""},
    {"vector_length", "/peft/vector_length", ""},
};
constexpr std::string_view peft_irrelevant =
    "auto_mapping* revision inference_mode fan_in_fan_out init_lora_weights layers_pattern alpha_pattern* "
    "megatron_config megatron_core loftq_config* eva_config* corda_config* lora_ga_config* arrow_config* "
    "kasa_config* "
    "task_type peft_version qalora_group_size runtime_config* random_state "
    "alora_invocation_tokens "
    "use_bdlora velora_config* monteclora_config* lora_ga* model temporary_location init_weights*";
constexpr std::string_view peft_implied = "finetune_attention_modules finetune_mlp_modules";
constexpr std::string_view peft_unpriced =
    "layers_to_transform rank_pattern* trainable_token_indices* layer_replication* "
    "use_qalora";

constexpr Row trl_model_rows[] = {
    {"use_peft", "/peft", "", read_use_peft},
    {"lora_r", "/peft/r", ""},
    {"lora_rank", "/peft/r", ""},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"lora_target_modules", "/peft/target_modules", "", read_targets, Write::yes},
    {"target_modules", "/peft/target_modules", "", read_targets, Write::yes},
    {"lora_modules_to_save", "/peft/modules_to_save", ""},
    {"lora_target_parameters", "/peft/target_parameters", ""},
    {"use_rslora", "/peft/use_rslora", ""},
    {"use_dora", "/peft/use_dora", ""},
    {"lora_bias", "/peft/bias", "", read_bias, Write::yes},
    {"use_bnb_nested_quant", "/quantization/bnb_4bit_use_double_quant", ""},
    {"use_nested_quant", "/quantization/bnb_4bit_use_double_quant", ""},
    {"use_4bit", "/quantization/load_in_4bit", ""},
    {"use_8bit", "/quantization/load_in_8bit", ""},
};
constexpr std::string_view trl_irrelevant =
    "lora_task_type model_revision dataset_name dataset_config dataset_train_split dataset_test_split "
    "dataset_streaming "
    "ignore_bias_buffers datasets* datasets streaming test_split_size reward_model_name_or_path reward_funcs "
    "dataset_text_field dataset max_train_samples max_eval_samples preprocessing_num_workers dataset_path "
    "data_path "
    "train_file validation_file text_column with_tracking checkpointing_steps num_epochs hf_metadata_dataset "
    "tokenizer_revision tokenizer_name_or_path use_slow_tokenizer add_bos dataset_mixer*";

constexpr Row launcher_rows[] = {
    {"num_processes", "/parallel/num_gpus", ""},
    {"nproc_per_node", "/parallel/num_gpus", "", read_processes},
    {"num_gpus", "/parallel/num_gpus", "", read_processes},
    {"$SBATCH_gres", "/parallel/num_gpus", "", read_job_gpus},
    {"$SBATCH_gpus_per_node", "/parallel/num_gpus", "", read_job_gpus},
    {"gres", "/parallel/num_gpus", "", read_job_gpus},
    {"gpus", "/parallel/num_gpus", "", read_job_gpus},
    {"ntasks", "/parallel/num_gpus", "", read_tasks},
    {"$NPROC_PER_NODE", "/parallel/num_gpus", "", read_processes},
    {"$CUDA_VISIBLE_DEVICES", "/parallel/num_gpus", "", read_visible_devices},
    {"gpu_ids", "/parallel/num_gpus", "", read_visible_devices},
    {"include", "/parallel/num_gpus", "", read_include},
    {"$PYTORCH_CUDA_ALLOC_CONF", "/hardware/PYTORCH_CUDA_ALLOC_CONF", ""},
    {"$PYTORCH_ALLOC_CONF", "/hardware/PYTORCH_CUDA_ALLOC_CONF", "", nullptr, Write::no},
    {"mixed_precision", "/training/bf16", "", read_mixed_precision},
    {"multi_gpu", "/parallel/strategy", "", read_multi_gpu},
    {"use_fsdp", "/parallel/strategy", "", read_use_fsdp},
    {"fsdp_version", "/parallel/strategy", "", read_fsdp_version},
    {"fsdp_sharding_strategy", "/parallel/strategy", "", read_sharding_strategy},
    {"fsdp_offload_params", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", "", read_reshard},
    {"fsdp_use_orig_params", "/parallel/fsdp_config/use_orig_params", ""},
    {"fsdp_state_dict_type", "/parallel/fsdp_config/state_dict_type", ""},
    {"fsdp_backward_prefetch", "/parallel/fsdp_config/backward_prefetch", prefetch},
    {"fsdp_forward_prefetch", "/parallel/fsdp_config/forward_prefetch", ""},
    {"fsdp_activation_checkpointing", "/training/gradient_checkpointing", "", nullptr, Write::no},
    {"parallelism_config_cp_size", "/parallel/sequence_parallel_size", ""},
    {"parallelism_config_sp_size", "/parallel/sequence_parallel_size", "", nullptr, Write::no},
    {"zero_stage", "/parallel/strategy", "", read_stage},
    {"deepspeed_stage", "/parallel/strategy", "", read_stage, Write::no},
    {"offload_optimizer_device", "/parallel/zero_optimization/offload_optimizer/device", ""},
    {"offload_param_device", "/parallel/zero_optimization/offload_param/device", ""},
    {"deepspeed_config_file", "/parallel/strategy", "", read_deepspeed},
    {"deepspeed_config", "/parallel/strategy", "", read_deepspeed},
    {"config_file", "/parallel/strategy", "", read_deepspeed},
};
constexpr std::string_view launcher_irrelevant =
    "$* quiet same_network machine_rank main_process_ip main_process_port master_addr master_port node_rank "
    "nnodes nodes "
    "rdzv_* tee log_dir role max_restarts monitor_interval module no_python tpu* main_training_function "
    "downcast_bf16 "
    "gradient_clipping zero3_* deepspeed_hostfile deepspeed_exclusion_filter deepspeed_inclusion_filter "
    "deepspeed_multinode_launcher mpirun_hostfile debug env num_cpu_threads_per_process enable_cpu_affinity "
    "standalone "
    "dynamo_use* dynamo_mode hostfile num_nodes fsdp_cpu_ram_efficient_loading fsdp_sync_module_states "
    "aws_* vm m c config b h v redirects t";
constexpr std::string_view launcher_implied =
    "use_deepspeed num_machines fsdp_auto_wrap_policy fsdp_transformer_layer_cls_to_wrap fsdp_min_num_params "
    "deepspeed_moe_layer_cls_names local_rank cpu";
constexpr std::string_view launcher_unpriced =
    "use_megatron_lm megatron_lm_* fp8_* dynamo_backend parallelism_config_* use_parallelism_config "
    "fsdp_activation_checkpointing_offload";

}  // namespace

const Table training_table{training_rows, training_irrelevant, training_implied, training_unpriced};
const Table model_table{model_rows, model_irrelevant, model_implied, model_unpriced};
const Table quantization_table{quantization_rows, quantization_irrelevant, quantization_implied,
                               quantization_unpriced};
const Table peft_table{peft_rows, peft_irrelevant, peft_implied, peft_unpriced};
const Table trl_model_table{trl_model_rows, trl_irrelevant, "", ""};
const Table launcher_table{launcher_rows, launcher_irrelevant, launcher_implied, launcher_unpriced};

bool write_training(Writing& out, const std::string& below, const std::string& pointer, const Json& value) {
  const auto put = [&](const char* key, Json written) {
    out.put(below.empty() ? key : below + "." + key, std::move(written), pointer);
    return true;
  };
  if (pointer == "/training/padded_batches" && value == Json(false)) return put("padding_free", true);
  if (pointer != "/parallel/strategy") return false;
  const std::string word = value.get<std::string>();
  if (word == "fsdp" || word == "fsdp2") {
    put("fsdp", "full_shard auto_wrap");
    return word == "fsdp" || put("fsdp_config.fsdp_version", 2);
  }
  if (word.rfind("zero", 0) != 0) return false;
  // The settings themselves, so that no second file is needed.
  put("deepspeed.zero_optimization.stage", static_cast<uint64_t>(word[4] - '0'));
  put("deepspeed.train_micro_batch_size_per_gpu", "auto");
  put("deepspeed.gradient_accumulation_steps", "auto");
  put("deepspeed.bf16.enabled", "auto");
  return put("deepspeed.fp16.enabled", "auto");
}

void finish_flat(Reading& reading) {
  finish_generation(reading);
  const Leaf* use_peft = reading.leaf("use_peft");
  if (use_peft != nullptr && !reading.is_on("use_peft")) {
    reading.drop("/peft", "use_peft is off, so this says nothing");
    return;
  }
  for (const auto& [pointer, value] : reading.values) {
    if (pointer.rfind("/peft/", 0) != 0) continue;
    reading.values["/peft"] = true;
    break;
  }
}

}  // namespace plimsoll::exchange
