// Axolotl YAML. Keys: axolotl-ai-cloud/axolotl v0.19.0 src/axolotl/utils/schemas/*.py and
// src/axolotl/integrations/*/args.py; renamed and removed keys from the published examples.
#include "core/exchange/formats.h"
#include "core/exchange/formats/axolotl_export.h"
#include "core/exchange/formats/axolotl_rules.h"
#include "core/exchange/formats/shared.h"

namespace plimsoll::exchange {

namespace {

using json::Json;
namespace rules = axolotl_rules;

constexpr Row rows[] = {
    {"base_model", "/model", ""},
    {"rl", "/task", "", rules::read_rl, Write::yes},
    {"reward_model", "/task", "true=reward", nullptr, Write::no},
    {"adapter", "/peft", "", rules::read_adapter},
    {"peft_adapter.len", "/peft/adapter_len", ""},
    {"peft_adapter.layers", "/peft/adapter_layers", ""},
    {"load_in_8bit", "/quantization/load_in_8bit", ""},
    {"quantize_moe_experts", "/quantization/quantize_moe_experts", ""},
    {"load_in_4bit", "/quantization/load_in_4bit", ""},
    {"gptq", "/quantization/quant_method", "true=gptq", nullptr, Write::no},
    {"gptq_groupsize", "/quantization/group_size", ""},
    {"bnb_config_kwargs.bnb_4bit_quant_type", "/quantization/bnb_4bit_quant_type", ""},
    {"bnb_config_kwargs.bnb_4bit_use_double_quant", "/quantization/bnb_4bit_use_double_quant", ""},
    {"bnb_config_kwargs.bnb_4bit_compute_dtype", "/quantization/bnb_4bit_compute_dtype", ""},
    {"bnb_config_kwargs.llm_int8_skip_modules", "/quantization/llm_int8_skip_modules", ""},
    {"embeddings_skip_upcast", "/quantization/upcast", "", read_implied},
    {"llama4_linearized_experts", "/model_args/linearized_experts", ""},
    {"lora_r", "/peft/r", ""},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"lora_target_linear", "/peft/target_modules", "", rules::read_target_linear},
    {"lora_target_modules", "/peft/target_modules", "", rules::read_target_modules},
    {"lora_exclude_modules", "/peft/exclude_modules", ""},
    {"lora_modules_to_save", "/peft/modules_to_save", ""},
    {"peft_trainable_token_indices*", "/peft/num_trainable_tokens", "", read_token_indices, Write::no},
    {"peft_use_dora", "/peft/use_dora", ""},
    {"peft_use_rslora", "/peft/use_rslora", ""},
    {"peft_autocast_adapter_dtype", "/peft/adapter_dtype", "true=float32", nullptr, Write::no},
    {"sequence_len", "/training/max_length", ""},
    {"excess_length_strategy", "/training/truncation_strategy", "raise=truncate", nullptr, Write::no},
    {"sample_packing", "/training/packing", ""},
    {"max_packed_sequence_len", "/training/max_length", "", nullptr, Write::no},
    {"micro_batch_size", "/training/per_device_train_batch_size", ""},
    {"gradient_accumulation_steps", "/training/gradient_accumulation_steps", ""},
    {"batch_size", "/training/gradient_accumulation_steps", "", rules::read_batch_size},
    {"eval_batch_size", "/training/per_device_eval_batch_size", ""},
    {"eval_sample_packing", "/training/eval_packing", "", nullptr, Write::no},
    {"val_set_size", "/training/eval_strategy", "", read_implied},
    {"test_datasets*", "/training/eval_strategy", "", read_implied},
    {"evals_per_epoch", "/training/eval_strategy", "", read_implied},
    {"eval_steps", "/training/eval_strategy", "", read_implied},
    {"num_epochs", "/data/epochs", ""},
    {"optimizer", "/training/optim", ""},
    {"optim_args", "/training/optim_args", "", read_optimizer_args, Write::yes},
    {"optim_args.*", "/training/optim_args", "", read_optimizer_arg, Write::no},
    {"optim_target_modules", "/training/optim_target_modules", "all_linear=all-linear",
     read_optimizer_targets, Write::yes},
    {"torch_compile", "/training/torch_compile", "auto=true"},
    {"torch_empty_cache_steps", "/training/torch_empty_cache_steps", ""},
    {"gc_steps", "/training/torch_empty_cache_steps", "", rules::read_gc_steps},
    {"save_steps", "/training/save_steps", "", rules::read_save_steps, Write::yes},
    {"save_strategy", "/training/save_strategy", "no=no, false=no"},
    {"save_only_model", "/training/save_only_model", ""},
    {"load_best_model_at_end", "/training/load_best_model_at_end", ""},
    {"save_total_limit", "/training/save_total_limit", ""},
    {"eval_strategy", "/training/eval_strategy", "no=no, false=no", read_evaluation, Write::yes},
    {"evaluation_strategy", "/training/eval_strategy", "", read_evaluation, Write::no},
    {"context_parallel_size", "/parallel/sequence_parallel_size", ""},
    {"sequence_parallel_degree", "/parallel/sequence_parallel_size", "", nullptr, Write::no},
    {"lora_target_parameters", "/peft/target_parameters", "", rules::read_target_parameters},
    {"bf16", "/training/bf16", "", rules::read_bf16, Write::yes},
    {"fp16", "/training/fp16", ""},
    {"bfloat16", "/model_args/dtype", "", rules::read_dtype_flag},
    {"float16", "/model_args/dtype", "", rules::read_dtype_flag},
    {"float32", "/model_args/dtype", "", rules::read_dtype_flag},
    {"gradient_checkpointing", "/training/gradient_checkpointing", "", read_checkpointing, Write::yes},
    {"gradient_checkpointing_kwargs.use_reentrant", "/training/gradient_checkpointing_kwargs/use_reentrant",
     ""},
    {"activation_offloading", "/training/activation_offloading",
     "true=true, false=false, legacy=true, disk=true, hidden_states=true"},
    {"attn_implementation", "/model_args/attn_implementation", "", rules::read_attention, Write::yes},
    {"flash_attention", "/model_args/attn_implementation", "", rules::read_attention_flag},
    {"sdp_attention", "/model_args/attn_implementation", "", rules::read_attention_flag},
    {"eager_attention", "/model_args/attn_implementation", "", rules::read_attention_flag},
    {"xformers_attention", "/model_args/attn_implementation", "", rules::read_attention_flag},
    {"flex_attention", "/model_args/attn_implementation", "", rules::read_attention_flag},
    {"sage_attention", "/model_args/attn_implementation", "", rules::read_attention_flag},
    {"gemma4_hybrid_attn_impl", "/model_args/attn_implementation", "", rules::read_attention_flag},
    {"sdpa_varlen", "", "", rules::read_varlen},
    {"plugins", "", "", read_implied},
    {"cut_cross_entropy", "/training/loss_kernel", "true=cut_cross_entropy", nullptr, Write::no},
    {"liger_fused_linear_cross_entropy", "/training/liger_kernel_config/fused_linear_cross_entropy", ""},
    {"liger_cross_entropy", "/training/liger_kernel_config/cross_entropy", ""},
    {"liger_rms_norm", "/training/liger_kernel_config/rms_norm", ""},
    {"liger_glu_activation", "/training/liger_kernel_config/swiglu", ""},
    {"liger_swiglu", "/training/liger_kernel_config/swiglu", ""},
    {"liger_rope", "/training/liger_kernel_config/rope", ""},
    {"lora_mlp_kernel", "/training/fused_lora", "", read_implied},
    {"lora_qkv_kernel", "/training/fused_lora", "", read_implied},
    {"lora_o_kernel", "/training/fused_lora", "", read_implied},
    {"num_labels", "/model_args/num_labels", ""},
    {"device_map", "/model_args/device_map", "", read_device_map, Write::yes},
    {"max_memory", "/model_args/max_memory", ""},
    {"image_size", "/vision/image_size", ""},
    {"freeze_mm_modules", "/vision/freeze_vision_tower", ""},
    {"deepspeed", "/parallel/strategy", "", rules::read_deepspeed},
    {"fsdp", "/parallel/strategy", "", read_fsdp},
    {"fsdp_config", "/parallel/strategy", "", read_fsdp},
    {"accelerator_config.gradient_accumulation_kwargs.sync_each_batch", "/parallel/sync_each_batch", ""},
    {"fsdp_config.offload_params", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_config.fsdp_offload_params", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_config.reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", "", read_reshard},
    {"fsdp_config.fsdp_reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", "",
     read_reshard},
    {"fsdp_config.activation_checkpointing", "/parallel/fsdp_config/activation_checkpointing", "", nullptr,
     Write::no},
    {"fsdp_config.fsdp_activation_checkpointing", "/parallel/fsdp_config/activation_checkpointing", "",
     nullptr, Write::no},
    {"fsdp_version", "/parallel/strategy", "", read_fsdp_version},
    {"fsdp_config.fsdp_version", "/parallel/strategy", "", read_fsdp_version},
    {"fsdp_config.use_orig_params", "/parallel/fsdp_config/use_orig_params", ""},
    {"fsdp_config.state_dict_type", "/parallel/fsdp_config/state_dict_type", ""},
    {"fsdp_config.fsdp_state_dict_type", "/parallel/fsdp_config/state_dict_type", "", nullptr, Write::no},
    {"fsdp_config.fsdp_use_orig_params", "/parallel/fsdp_config/use_orig_params", ""},
    {"precompute_ref_log_probs", "/rl/precompute_ref_log_probs", ""},
    {"rl_adapter_ref_model", "/rl/reference_model", "true=copy", nullptr, Write::no},
    {"rl_beta", "/rl/beta", ""},
    {"dpo_beta", "/rl/beta", ""},
    {"orpo_alpha", "/rl/beta", ""},
    {"cpo_alpha", "/rl/cpo_alpha", ""},
    {"dpo_use_liger_kernel", "/training/use_liger_kernel", "", rules::read_preference_liger},
    {"trl.use_liger_loss", "/training/use_liger_kernel", "", rules::read_preference_liger},
    {"max_steps", "/training/max_steps", ""},
    {"unfrozen_parameters", "/training/unfrozen_parameters", ""},
    {"lisa_n_layers", "/training/lisa_activated_layers", "", nullptr, Write::no},
    {"trl.beta", "/rl/beta", ""},
    {"trl.loss_type", "/rl/loss_type", ""},
    {"trl.temperature", "/rl/temperature", ""},
    {"trl.num_iterations", "/rl/num_iterations", ""},
    {"trl.vllm_mode", "/rl/vllm_mode", ""},
    {"trl.vllm_enable_sleep_mode", "/rl/vllm_enable_sleep_mode", ""},
    {"trl.num_generations", "/rl/num_generations", ""},
    {"trl.max_completion_length", "/rl/max_completion_length", ""},
    {"trl.max_prompt_length", "/rl/max_prompt_length", ""},
    {"trl.use_vllm", "/rl/use_vllm", ""},
    {"vllm.gpu_memory_utilization", "/rl/vllm_gpu_memory_utilization", ""},
    {"vllm.tensor_parallel_size", "/rl/vllm_tensor_parallel_size", ""},
};

constexpr std::string_view irrelevant =
    "strict resume_from_checkpoint auto_resume_from_checkpoints mean_resizing_embeddings reinit_weights "
    "trainer_cls "
    "dynamic_checkpoint* center_rewards_coefficient dpo_use_weighting dpo_label_smoothing dpo_loss_* "
    "dpo_norm_loss dpo_generate_during_eval rpo_alpha datasets[]* datasets datasets.* "
    "pretraining_dataset[]* "
    "shuffle_* dataset_* skip_prepare_dataset num_dataset_shards_to_save dataloader_* accelerator_config* "
    "remove_unused_columns push_dataset_to_hub hf_use_auth_token device local_rank seed ddp_timeout "
    "ddp_bucket_cap_mb "
    "ddp_broadcast_buffers ddp_find_unused_parameters do_causal_lm_eval eval_causal_lm_metrics do_bench_eval "
    "bench_* "
    "metric_for_best_model greater_is_better loss_watchdog_* "
    "gc_collect_steps tf32 "
    "min_sample_len sample_packing_* curriculum_sampling "
    "multipack_real_batches pose_* pretrain_multipack_* pretraining_sample_concatenation streaming "
    "streaming_multipack_buffer_size flex_attn_compile_kwargs* flash_optimum fsdp_final_state_dict_type "
    "special_tokens* tokens* tokens added_tokens_overrides* torch_compile_* warmup_steps "
    "warmup_ratio "
    "save_safetensors save_first_step logging_steps "
    "early_stopping_patience use_tensorboard profiler_* include_tokens_per_second "
    "include_tkps "
    "neftune_noise_alpha noisy_embedding_alpha simpo_gamma kto_* "
    "low_cpu_mem_usage "
    "chat_template* eot_tokens default_system_message fix_untrained_tokens is_preprocess preprocess_iterable "
    "total_num_tokens total_supervised_tokens axolotl_config_path generate_samples num_generation_samples "
    "generation_* "
    "train_on_inputs group_by_length learning_rate embedding_lr embedding_lr_scale weight_decay "
    "torchdistx_path lr_* cosine_* adam_* dion_* jagged_* max_grad_norm base_model_config "
    "base_model_ignore_patterns "
    "tokenizer_* processor_* output_dir hub_* use_wandb wandb_* use_mlflow mlflow_* hf_mlflow_log_artifacts "
    "use_comet "
    "comet_* gradio_* use_ray ray_run_name resources_per_worker* use_otel_metrics otel_* use_trackio "
    "trackio_* "
    "use_swanlab swanlab_* lora_model_dir lora_fan_in_fan_out lora_alpha_pattern* peft_init_lora_weights "
    "peft.* "
    "peft_ensure_weight_tying qlora_sharded_model_loading lora_on_cpu loraplus_* merge_lora merge_method "
    "eta_min "
    "test_value debug project_name sample_packing_eff_est eval_table_size eval_max_new_tokens lm_eval_* "
    "nemo_gym_* hatchery* grokfast_* kd_ce_alpha kd_alpha kd_temperature* kd_beta kd_normalize_topk "
    "kd_online_* "
    "liger_use_token_scaling role_boundaries* image_resize_algorithm eaft_* "
    "dion_* secrets volumes* branch dockerfile_commands memory timeout memory_preprocess timeout_preprocess "
    "gpu gpu_count node_count provider trl.vllm_* trl.reward_* trl.log_* trl.num_completions_to_print "
    "trl.importance_sampling_level trl.sync_ref_model trl.ref_model_* trl.scale_rewards "
    "trl.top_* "
    "trl.min_p trl.repetition_penalty trl.generation_kwargs* trl.chat_template_kwargs* "
    "trl.epsilon* trl.mask_truncated_completions trl.entropy_* "
    "trl.use_adaptive_entropy trl.log_multimodal trl.rollout_func trl.multi_objective_aggregation "
    "trl.use_data_producer trl.async_prefetch trl.prefetch_depth trl.streaming_* "
    "trl.off_policy_mask_threshold "
    "trl.use_bias_correction_kl trl.replay_* trl.reroll_* trl.skip_zero_advantage_batches "
    "trl.generation_batch_size "
    "ebft.* diffusion.* vllm.host vllm.port vllm.device "
    "vllm.data_parallel_size vllm.dtype vllm.enable_* vllm.reasoning_parser vllm.enforce_eager "
    "vllm.serve_module "
    "vllm.worker_extension_cls sequential_* use_auth_token env_capabilities* capabilities* llmcompressor* "
    "train_on_eos torch_empty_cache lora_ia3* do_sample experimental_skip_move_to_device save_compressed";

constexpr std::string_view implied =
    "model_type is_falcon_derived_model is_llama_derived_model is_mistral_derived_model "
    "is_qwen_derived_model "
    "trust_remote_code device_map.* type_of_model revision_of_model cls_model_config "
    "overrides_of_model_config* model_config* "
    "overrides_of_model_kwargs* pad_to_sequence_len pad_to_multiple_of saves_per_epoch max_prompt_len "
    "ddp world_size  fsdp_config.cpu_ram_efficient_loading "
    "fsdp_config.fsdp_cpu_ram_efficient_loading fsdp_config.fsdp_auto_wrap_policy "
    "fsdp_config.auto_wrap_policy "
    "fsdp_config.fsdp_transformer_layer_cls_to_wrap fsdp_config.transformer_layer_cls_to_wrap "
    "fsdp_config.fsdp_final_state_dict_type "
    "fsdp_config.final_state_dict_type fsdp_config.fsdp_limit_all_gathers fsdp_config.limit_all_gathers "
    "fsdp_config.fsdp_sync_module_states fsdp_config.sync_module_states "
    ""
    "fsdp_config.cpu_offload_pin_memory "
    "fsdp_config.fsdp_backward_prefetch fsdp_config.backward_prefetch fsdp_config.fsdp_forward_prefetch "
    "fsdp_config.forward_prefetch fsdp_config.fsdp_sharding_strategy fsdp_config.sharding_strategy "
    "fsdp_config.mixed_precision_policy fsdp_config.fsdp_min_num_params fsdp_config.min_num_params "
    "gptq_model_v1 lisa_step_interval lisa_layers_attribute gptq_disable_exllama full_finetune "
    "torch_dtype liger_layer_norm liger_rms_norm_gated liger_kernel_impl flash_attn_rms_norm "
    "flash_attn_fuse_qkv "
    "flash_attn_cross_entropy flash_attn_d512 large_head_attention "
    "use_eaft "
    "experts_implementation use_kernels rope_scaling* strict_mode "
    "batch_flattening "
    "scaling_softmax* s2_attention ray_num_workers dsv4_* use_glm_dsa_kernels "
    "use_dsv4_kernels moe_grouped_backend moe_dequant_chunk_size moe_bnb_fast nvfp4_merge_aware* "
    "expert_backend "
    "use_scattermoe use_sonicmoe";

constexpr std::string_view unpriced =
    "resize_token_embeddings_to_32x shrink_embeddings ebft* qat.* qat quantization.* "
    "diffusion "
    "process_reward_model dpo_padding_free "
    "dpo_use_logits_to_keep fp8 "
    "fp8_config* fp8_enable_fsdp_float8_all_gather selective_checkpointing* layer_offloading* "
    "use_pose flash_attn_fuse_mlp ple_cpu_offload nonexpert_quantization "
    "lora_embedding_kernel "
    "chunked_cross_entropy chunked_cross_entropy_num_chunks tiled_mlp tiled_mlp_* deepcompile fp32_norms "
    "fp32_norm_classes dp_shard_size dp_replicate_size heads_k_stride "
    "ring_attn_func tensor_parallel_size expert_parallel_* gpu_memory_limit "
    "auto_find_batch_size "
    "lora_rank_pattern* peft_layers_to_transform peft_layers_pattern "
    "peft_layer_replication* "
    "relora* qgalore_* model_quantization_config "
    "model_quantization_config_kwargs* "
    "eval_sequence_len use_onebitllms kd_trainer spectrum_* use_mora mora* dense_mixer fused_attn_kernel "
    "vllm.max_model_len gemma4_fp8_nonexpert gemma4_nf4_nonexpert use_spectrum";

constexpr Table table{rows, irrelevant, implied, unpriced};
constexpr Section sections[] = {{"", &table}};

void finish(Reading& reading) {
  rules::finish(reading);
  reading.all_trained = reading.has("/model") && !reading.has("/peft");  // what no adapter means there
  if (!reading.has("/task") && (reading.leaf("pretraining_dataset") != nullptr ||
                                reading.leaf("pretraining_dataset[].path") != nullptr))
    reading.values["/task"] = "pretrain";
  if (!reading.has("/model") && reading.leaf("sequence_len") == nullptr &&
      reading.leaf("optimizer") == nullptr) {
    reading.errors.push_back({"not_training", "", "This describes where to run Axolotl, not what to train.",
                              "a configuration with base_model and sequence_len"});
  }
}

}  // namespace

const Format axolotl{
    .id = "axolotl",
    .name = "Axolotl",
    .stack = "axolotl",
    .written = Language::yaml,
    .in_python = true,
    .sections = sections,
    .marks =
        "!base_model micro_batch_size sequence_len num_epochs datasets adapter lora_r sample_packing "
        "val_set_size evals_per_epoch saves_per_epoch lora_target_linear special_tokens provider volumes gpu "
        "gpu_count secrets node_count",
    .finish = finish,
    .write = write_axolotl,
    .close = close_axolotl,
    .refused = rules::refused,
};

}  // namespace plimsoll::exchange
