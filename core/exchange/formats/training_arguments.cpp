// TrainingArguments, and what TRL's configurations add to them. Keys: huggingface/transformers v4.46 and
// v5.23 src/transformers/training_args.py; huggingface/trl v0.12 and v1.16 trl/trainer/*_config.py.

#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

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

// None is no default: nothing is cut then (trl/trainer/sft_config.py and dpo_config.py max_length, v0.14 to v1.16).
void read_max_length(Reading& reading, const Leaf& leaf) {
  const bool none = leaf.node->is_scalar() && !leaf.node->opaque && leaf.node->value.is_null();
  if (!none) return reading.set("/training/max_length", leaf);
  reading.set("/training/truncation_strategy", Json("none"), &leaf);
  reading.finding(leaf).message = "None: no sample is cut";
}

// trl/trainer/grpo_config.py: from 0.25 on its __post_init__ calls it use_liger_kernel; before it is the key of the loss
// itself, beside that of the layers.
void read_liger_loss(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/training/use_liger_kernel", true, &leaf);
  reading.finding(leaf).message = "use_liger_kernel from TRL 0.25 on";
}

// generation_batch_size: completions of one generation, over all GPUs. TRL refuses both keys together
// (trl/trainer/grpo_config.py GRPOConfig.__post_init__).
void finish_generation(Reading& reading) {
  const Leaf* leaf = reading.leaf("generation_batch_size");
  if (leaf == nullptr) leaf = reading.leaf("training.generation_batch_size");
  if (leaf == nullptr || !leaf->node->value.is_number_unsigned()) return;
  const uint64_t batch =
      reading.count("/training/per_device_train_batch_size", 8) * reading.count("/parallel/num_gpus", 1);
  const auto whole = leaf->node->value.get<uint64_t>();
  if (whole < batch || whole % batch != 0) return;
  reading.set("/rl/steps_per_generation", whole / batch, leaf);
}

// trl v0.14 and v0.15 trl/trainer/grpo_config.py: a GPU that trains nothing, "auto" the next one.
void read_vllm_device(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word != "auto" && word.rfind("cuda:", 0) != 0) return reading.mark(leaf, Use::unsupported);
  reading.set("/rl/vllm_mode", "server", &leaf);
  reading.finding(leaf).message = "vLLM has a GPU of its own";
}

constexpr Row training_rows[] = {
    {"per_device_train_batch_size", "/training/per_device_train_batch_size", ""},
    {"per_gpu_train_batch_size", "/training/per_device_train_batch_size", ""},
    {"gradient_accumulation_steps", "/training/gradient_accumulation_steps", ""},
    {"max_length", "/training/max_length", "", read_max_length, Write::yes},
    {"max_seq_length", "/training/max_length", ""},
    {"max_seq_len", "/training/max_length", ""},
    {"packing", "/training/packing", ""},
    {"eval_packing", "/training/eval_packing", ""},
    {.key = "padding_free", .pointer = "/training/padded_batches", .values = "false", .is_switch = true},
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
    {"optim", "/training/optim", "adamw_bnb_8bit=adamw_bnb_8bit, adamw_bnb=adamw_bnb_8bit"},
    {"optim_args", "/training/optim_args", "", read_optimizer_args, Write::yes},
    {"optim_args.*", "/training/optim_args", "", read_optimizer_arg, Write::no},
    {"optim_target_modules", "/training/optim_target_modules", "", read_optimizer_targets, Write::yes},
    {.key = "adafactor", .pointer = "/training/optim", .values = "adafactor", .is_switch = true},
    {"use_liger_kernel", "/training/use_liger_kernel", ""},
    {"use_liger", "/training/use_liger_kernel", ""},
    {"use_liger_loss", "/training/use_liger_kernel", "", read_liger_loss, Write::no},
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
    {"model_init_kwargs.attn_implementation", "/model_args/attn_implementation", "", read_attention_name,
     Write::no},
    {"model_init_kwargs.device_map", "/model_args/device_map", "", read_device_map},
    {"beta", "/rl/beta", ""},
    {"num_generations", "/rl/num_generations", ""},
    {"max_completion_length", "/rl/max_completion_length", ""},
    {"response_length", "/rl/max_completion_length", "", nullptr, Write::no},  // PPOConfig's
    {"max_prompt_length", "/rl/max_prompt_length", ""},
    {"temperature", "/rl/temperature", ""},
    {"steps_per_generation", "/rl/steps_per_generation", ""},
    {"num_iterations", "/rl/num_iterations", ""},
    {"use_vllm", "/rl/use_vllm", ""},
    {"vllm_mode", "/rl/vllm_mode", ""},
    {"vllm_device", "/rl/vllm_mode", "", read_vllm_device, Write::no},
    {"vllm_gpu_memory_utilization", "/rl/vllm_gpu_memory_utilization", ""},
    {"vllm_enable_sleep_mode", "/rl/vllm_enable_sleep_mode", ""},
    {"vllm_tensor_parallel_size", "/rl/vllm_tensor_parallel_size", ""},
    {"precompute_ref_log_probs", "/rl/precompute_ref_log_probs", ""},
    {"cpo_alpha", "/rl/cpo_alpha", ""},
    {"deepspeed", "/parallel/strategy", "", read_deepspeed_name},
    {"deepspeed.zero_optimization.stage", "/parallel/strategy", "", read_zero_stage},
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
    {"fsdp_config.limit_all_gathers", "/parallel/fsdp_config/limit_all_gathers", ""},
    {"fsdp_config.fsdp_limit_all_gathers", "/parallel/fsdp_config/limit_all_gathers", ""},
    {"accelerator_config.gradient_accumulation_kwargs.sync_each_batch", "/parallel/sync_each_batch", ""},
    {"fsdp_config.fsdp_sharding_strategy", "/parallel/strategy", "", read_sharding_strategy},
    {"fsdp_config.sharding_strategy", "/parallel/strategy", "", read_sharding_strategy},
    {"fsdp_config.activation_checkpointing", "/training/gradient_checkpointing", "", nullptr, Write::no},
    {"fsdp_config.fsdp_activation_checkpointing", "/training/gradient_checkpointing", "", nullptr, Write::no},
};
constexpr std::string_view training_irrelevant =
    "output_dir overwrite_output_dir learning_rate lr_scheduler_type lr_scheduler_kwargs* warmup_steps "
    "warmup_ratio weight_decay adam_beta1 adam_beta2 adam_epsilon max_grad_norm "
    "average_tokens_across_devices label_smoothing_factor label_smoothing bf16_full_eval fp16_full_eval "
    "tf32 neftune_noise_alpha logging_* log_* disable_tqdm report_to run_name project trackio_* "
    "include_num_input_tokens_seen include_tokens_per_second eval_steps eval_delay eval_on_start "
    "eval_use_gather_object include_for_metrics include_inputs_for_metrics eval_do_concat_batches "
    "batch_eval_metrics save_safetensors save_on_each_node enable_jit_checkpoint push_to_hub* hub_* "
    "metric_for_best_model greater_is_better ignore_data_skip restore_callback_states_from_checkpoint "
    "full_determinism seed data_seed accelerator_config* dataloader_* remove_unused_columns label_names "
    "train_sampling_strategy length_column_name group_by_length ddp_* debug skip_memory_metrics do_train "
    "do_eval do_predict resume_from_checkpoint local_rank local-rank sortish_sampler "
    "predict_with_generate generation_* past_index tpu_* half_precision_backend fp16_opt_level "
    "fp16_backend ray_scope jit_mode_eval use_legacy_prediction_loop dispatch_batches split_batches "
    "evaluation_delay torch_compile_* no_cuda use_mps_device dataset_* chat_template* eos_token "
    "pad_token truncation_mode shuffle_dataset packing_strategy completion_only_loss assistant_only_loss "
    "trust_remote_code router_aux_loss_coef ld_alpha loss_weights f_divergence_type "
    "f_alpha_divergence_coef use_weighting discopop_tau ref_model_mixup_alpha ref_model_sync_steps "
    "rpo_alpha reference_free label_pad_token_id padding_value is_encoder_decoder model_adapter_name "
    "ref_adapter_name force_use_ref_model generate_during_eval max_target_length num_of_sequences "
    "chars_per_token desirable_weight undesirable_weight simpo_gamma center_rewards_coefficient "
    "num_generations_eval ds3_gather_for_generation top_p top_k min_p generation_kwargs* "
    "chat_template_kwargs* repetition_penalty cache_implementation vllm_model_impl "
    "vllm_structured_outputs_regex vllm_guided_decoding_regex vllm_server_* vllm_group_port "
    "vllm_max_model_length vllm_importance_sampling_* epsilon epsilon_high "
    "delta sapo_* vespo_* importance_sampling_level reward_weights multi_objective_aggregation "
    "scale_rewards mask_truncated_completions top_entropy_quantile entropy_* use_adaptive_entropy "
    "max_tool_calling_iterations off_policy_mask_threshold use_bias_correction_kl log_completions* "
    "num_completions_to_print reward_clip_range normalize_advantages vllm_sampling_params batch_sampler "
    "embedding_learning_rate prompts* num_processes_data test_size val_size validation_split "
    "dataset_config streaming columns instruction_template response_template torchdynamo use_ipex "
    "deepspeed.gradient_clipping deepspeed.steps_per_print deepspeed.wall_clock_breakdown "
    "deepspeed.scheduler* early_stopping_patience num_workers wandb_* dataloader_pin_memory "
    "hyperparameters_notes ephemeral mlflow_* precompute_ref_batch_size sync_ref_model "
    "preprocessing_num_workers num_proc logging_dir eval_dataset eval_dataset* train_dataset "
    "train_dataset* mp_parameters use_slow_tokenizer system_prompt callbacks benchmarks code_eval_* "
    "pass_rate_* num_ppo_epochs total_episodes whiten_rewards kl_coef kl_estimator cliprange cliprange_value "
    "vf_coef gamma lam stop_token stop_token_id missing_eos_penalty num_sample_generations exp_name";
constexpr std::string_view training_implied =
    "pad_to_multiple_of fsdp_min_num_params fsdp_transformer_layer_cls_to_wrap "
    "fsdp_config.min_num_params fsdp_config.transformer_layer_cls_to_wrap "
    "fsdp_config.fsdp_transformer_layer_cls_to_wrap fsdp_config.auto_wrap_policy "
    "fsdp_config.fsdp_auto_wrap_policy fsdp_config.xla* "
    "fsdp_config.sync_module_states "
    "fsdp_config.fsdp_sync_module_states fsdp_config.cpu_ram_efficient_loading "
    "fsdp_config.fsdp_cpu_ram_efficient_loading fsdp_config.fsdp_min_num_params "
    "gradient_checkpointing_kwargs model_init_kwargs num_mini_batches reward_model_path sft_model_path use_cpu _n_gpu n_gpu generation_batch_size "
    "deepspeed.train_batch_size deepspeed.train_micro_batch_size_per_gpu "
    "deepspeed.gradient_accumulation_steps deepspeed.bf16* deepspeed.fp16* deepspeed.optimizer* "
    "deepspeed.zero_allow_untested_optimizer ref_model_init_kwargs* dataset_kwargs* "
    "model_init_kwargs.trust_remote_code model_init_kwargs.use_cache model_init_kwargs.low_cpu_mem_usage "
    "model_init_kwargs.revision liger_kernel_config liger_kernel_config.layer_norm "
    "liger_kernel_config.geglu";
constexpr std::string_view training_unpriced =
    "auto_find_batch_size parallelism_config* deepspeed.zero_optimization* deepspeed.* "
    "local_rollout_forward_batch_size cast_lm_head_to_fp32 use_transformers_continuous_batching use_transformers_paged "
    "transformers_continuous_batching_config* gradient_checkpointing_offload model_init_kwargs.*";

}  // namespace

const Table training_table{training_rows, training_irrelevant, training_implied, training_unpriced};

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
