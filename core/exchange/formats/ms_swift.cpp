// ms-swift: arguments of `swift sft`, `swift pt`, `swift rlhf`, as a command line, YAML or JSON.
// Keys: modelscope/ms-swift v4.6.0 swift/arguments/*.py, swift/trainers/arguments.py; older names from v2 and
// v3.
#include "core/exchange/formats/ms_swift.h"

#include <algorithm>
#include <utility>

#include "core/exchange/formats.h"
#include "core/exchange/formats/refused.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// Tuners that are PEFT's, in PEFT's words.
constexpr std::pair<std::string_view, std::string_view> tuners[] = {
    {"adalora", "ADALORA"}, {"vera", "VERA"}, {"boft", "BOFT"}, {"fourierft", "FOURIERFT"}, {"bone", "BONE"},
};

void read_tuner(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  reading.all_trained = word == "full";
  if (word == "full") return reading.mark(leaf, Use::implied, "full fine-tuning");
  if (word == "llamapro") {
    reading.set("/training/llamapro_num_new_blocks", uint64_t{4}, &leaf);  // unless its own key says more
    return;
  }
  reading.values["/peft"] = true;
  for (const auto& [theirs, ours] : tuners) {
    if (word == theirs) return reading.set("/peft/peft_type", std::string(ours), &leaf);
  }
  if (word != "lora" && word != "longlora")
    return reading.mark(leaf, Use::unsupported, "this kind of tuner cannot be said yet; LoRA is taken");
  reading.finding(leaf).pointer = "/peft";
  reading.mark(leaf, Use::used);
}

void read_bits(Reading& reading, const Leaf& leaf) {
  const std::string method = reading.word("quant_method");
  if (leaf.node->raw == "0") return reading.mark(leaf, Use::implied, "not quantised");
  if (method == "hqq") {
    reading.values["/quantization/quant_method"] = "hqq";
    reading.set("/quantization/bits", leaf);
  } else if (leaf.node->raw == "4" || leaf.node->raw == "8") {
    reading.set(leaf.node->raw == "4" ? "/quantization/load_in_4bit" : "/quantization/load_in_8bit", true,
                &leaf);
  } else {
    reading.mark(leaf, Use::unsupported, "this quantisation cannot be said yet");
  }
}

void read_attention(Reading& reading, const Leaf& leaf) {
  reading.set("/model_args/attn_implementation", leaf,
              "flash_attn=flash_attention_2, flash_attention=flash_attention_2, true=flash_attention_2, "
              "flash_attention_3=flash_attention_3");
}

// swift/llm/train/tuner.py loads the model by Unsloth then, whose layers hold less.
void read_tuner_backend(Reading& reading, const Leaf& leaf) {
  if (reading.word(leaf.path) != "unsloth") return reading.mark(leaf, Use::implied);
  reading.mark(leaf, Use::unsupported,
               "Unsloth's layers are not replayed under ms-swift: it takes less than this");
}

// Of sampling in reinforcement learning; in swift sft, of what predict_with_generate writes.
void read_temperature(Reading& reading, const Leaf& leaf) {
  if (reading.leaf("rlhf_type") == nullptr) return reading.mark(leaf, Use::implied, "nothing is sampled");
  reading.set("/rl/temperature", leaf);
}

// 1 and 2 free the cache of vLLM between generations, 2 its weights too (rlhf_args.py).
void read_sleep_level(Reading& reading, const Leaf& leaf) {
  reading.set("/rl/vllm_enable_sleep_mode", leaf.node->raw != "0", &leaf);
}

// The name that the model learns to give itself; Transformers' flag of this name is the model.
void read_own_name(Reading& reading, const Leaf& leaf) { reading.mark(leaf, Use::irrelevant); }

void read_kind(Reading& reading, const Leaf& leaf) {
  std::vector<std::string> words;
  for (const Node& item : leaf.node->items) words.push_back(item.raw);
  if (words.empty()) words.push_back(leaf.node->raw);
  reading.mark(leaf, Use::implied);
  for (const std::string& word : words) {
    if (word == "pt" || word.find("swift/cli/pt.py") != std::string::npos)
      reading.set("/task", "pretrain", &leaf);
    if (word == "megatron") {
      reading.errors.push_back(megatron_error("swift sft, swift pt or swift rlhf"));
      return;
    }
    if (word == "infer" || word == "export" || word == "deploy" || word == "eval" || word == "app") {
      reading.errors.push_back({"not_training", "", "This command of ms-swift does not train: " + word + ".",
                                "swift sft, swift pt or swift rlhf"});
    }
  }
}

constexpr Row rows[] = {
    {"model", "/model", ""},
    {"model_id_or_path", "/model", ""},
    {"model_name", "", "", read_own_name, Write::no},
    {"$words", "", "", read_kind},
    {"rlhf_type", "/task", "rm=reward"},
    {"tuner_type", "/peft", "", read_tuner},
    {"train_type", "/peft", "", read_tuner},
    {"sft_type", "/peft", "", read_tuner},
    {"quant_bits", "/quantization/load_in_4bit", "", read_bits},
    {"quantization_bit", "/quantization/load_in_4bit", "", read_bits},
    {"bnb_4bit_comp_dtype", "/quantization/bnb_4bit_compute_dtype", "", nullptr, Write::no},
    {"torch_dtype", "/model_args/dtype", ""},
    {"dtype", "/model_args/dtype", ""},
    {"attn_impl", "/model_args/attn_implementation", "", read_attention, Write::yes},
    {"use_flash_attn", "/model_args/attn_implementation", "", read_attention},
    {"lora_rank", "/peft/r", ""},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"lora_dropout_p", "/peft/lora_dropout", "", nullptr, Write::no},
    {"target_modules", "/peft/target_modules", "", read_targets, Write::yes},
    {"lora_target_modules", "/peft/target_modules", "ALL=all-linear", read_targets},
    {"modules_to_save", "/peft/modules_to_save", ""},
    {"lora_bias", "/peft/bias", ""},
    {"lora_dtype", "/peft/adapter_dtype", ""},
    {"use_dora", "/peft/use_dora", ""},
    {"use_rslora", "/peft/use_rslora", ""},
    {"target_parameters", "/peft/target_parameters", ""},
    {"llamapro_num_new_blocks", "/training/llamapro_num_new_blocks", "", nullptr, Write::no},
    {"sequence_parallel_size", "/parallel/sequence_parallel_size", ""},
    {"tuner_backend", "", "", read_tuner_backend, Write::no},
    {"use_galore", "/training/optim", "", read_implied, Write::no},
    {"galore_rank", "/training/optim_args", "", read_implied, Write::no},
    {"galore_target_modules", "/training/optim_target_modules", "", read_implied, Write::no},
    {"galore_optim_per_parameter", "/training/optim", "", read_implied, Write::no},
    {"lisa_activated_layers", "/training/lisa_activated_layers", "", nullptr, Write::no},
    {"max_length", "/training/max_length", ""},
    {"truncation_strategy", "/training/truncation_strategy",
     "delete=drop, left=truncate, right=truncate, truncation_left=truncate"},
    {"batch_size", "/training/per_device_train_batch_size", "", nullptr, Write::no},
    {"temperature", "/rl/temperature", "", read_temperature, Write::no},
    {"sleep_level", "/rl/vllm_enable_sleep_mode", "", read_sleep_level, Write::no},
    {"optimizer", "/training/optim", "", nullptr, Write::no},
    {"freeze_vit", "/vision/freeze_vision_tower", ""},
    {"freeze_aligner", "/vision/freeze_multi_modal_projector", ""},
    {"max_pixels", "/vision/image_size", "", read_max_pixels},
    {"$MAX_NUM", "/vision/max_tiles", ""},
    {"$MAX_PIXELS", "/vision/image_size", "", read_max_pixels},
    {"$IMAGE_MAX_TOKEN_NUM", "/vision/image_size", "", read_max_image_tokens},
};
constexpr std::string_view irrelevant =
    "swanlab_* add_version create_checkpoint_symlink load_args load_data_args val_dataset cached_* "
    "split_dataset_ratio data_seed dataset_num_proc load_from_cache_file dataset_shuffle "
    "val_dataset_shuffle streaming interleave_prob stopping_strategy shuffle_buffer_size download_mode "
    "columns* strict disable_auto_column_mapping model_author custom_dataset_info dataset dataset_* "
    "decision_* template system agent_template norm_bbox use_chat_template padding_side loss_scale "
    "is_binary_loss_scale template_backend response_prefix enable_thinking preserve_thinking "
    "add_non_thinking_prefix disable_ignore_empty_think max_new_tokens top_k top_p repetition_penalty "
    "num_beams stream stop_words logprobs top_logprobs structured_outputs_regex external_plugins "
    "custom_register_path model_kwargs* packing_num_proc packing_strategy lazy_tokenize use_hf hub_token "
    "ignore_args_error cliprange* vf_coef gamma lam kl_coef whiten_rewards missing_eos_penalty "
    "reward_funcs reward_weights log_completions label_smoothing rpo_alpha ld_alpha discopop_tau "
    "loss_weights simpo_gamma desirable_weight undesirable_weight center_rewards_coefficient sft_alpha "
    "lmbda seq_kd gkd_logits_topk lorap_lr_ratio lora_ga_* init_weights safe_serialization max_shard_size "
    "check_model acc_strategy train_dataloader_shuffle aligner_lr vit_lr resume_only_model mrl_dims "
    "eval_metric callbacks early_stop_interval eval_use_evalscope eval_dataset* eval_limit "
    "eval_generation_config extra_eval_args use_flash_ckpt enable_channel_loss enable_dft_loss $* lr "
    "warmup_steps seed quant_batch_size quant_n_samples add_output_dir_suffix preprocess_num_proc "
    "dataset_test_ratio dynamic_sample overlong_filter max_resample_times async_generate "
    "vllm_limit_mm_per_prompt vllm_enforce_eager vllm_enable_prefix_caching multi_turn_* num_infer_workers "
    "advantage_estimator advantage_reweight chord_enable_phi_function chord_mu_* chord_sft_dataset "
    "completion_length_limit_scope context_manager cosine_* enable_flattened_weight_sync fipo_* gym_env "
    "use_gym_env kl_in_reward max_turns off_policy_sequence_mask_delta real_tau repetition_* "
    "reranker_use_activation resume reward_model_plugin reward_model_revision reward_model_type "
    "reward_template ref_model_revision rlsd_* rollout_importance_sampling_* sdar_* soft_cache_length "
    "soft_max_length tau_neg tau_pos val_dataset_sample vllm_disable_* vllm_enable_* vllm_engine_kwargs "
    "vllm_max_* vllm_mm_* vllm_quantization vllm_reasoning_parser vllm_speculative_config "
    "vllm_use_async_engine lmdeploy_* sglang_* infer_backend merge_lora max_logprobs is_multimodal metric "
    "galore_* llamapro_num_groups api_key base_url eval_backend eval_num_proc eval_output_dir eval_url "
    "exist_ok result_path commit_message to_* test_convert_* num_return_sequences template_mode "
    "to_cached_dataset";
constexpr std::string_view implied =
    "model_type model_revision task_type experts_impl problem_type rope_scaling* local_repo_path "
    "init_strategy adapters quant_method bnb_4bit_quant_storage hqq_axis max_model_len "
    "check_dataset_strategy enable_npu_model_patch use_swift_lora packing_length zero_hpz_partition_size "
    "max_epochs new_special_tokens ref_model_type num_ppo_epochs num_mini_batches response_length "
    "deepspeed_autotp_size trainable_parameters_regex_note";
constexpr std::string_view unpriced =
    "freeze_parameters freeze_parameters_regex freeze_parameters_ratio trainable_parameters "
    "trainable_parameters_regex freeze_llm target_regex galore_with_embedding galore_quantization "
    "galore_proj_quant lisa_* adalora_* fourier_* boft_* vera_* adapter_act adapter_length reft_* "
    "use_logits_to_keep vit_gradient_checkpointing ref_model ref_adapters reward_model reward_adapters "
    "teacher_model teacher_* offload_teacher_model local_rollout_forward_batch_size move_model_batches "
    "offload_model offload_optimizer tensor_model_parallel_size pipeline_model_parallel_size "
    "context_parallel_size expert_model_parallel_size chord_sft_per_device_train_batch_size mcore_* "
    "vllm_data_parallel_size vllm_pipeline_parallel_size";
constexpr Table table{rows, irrelevant, implied, unpriced};
constexpr Section sections[] = {{"", &table},
                                {"", &launcher_table},
                                {"", &quantization_table},
                                {"", &training_table},
                                {"", &model_table}};

// swift evaluates what it has split off or been given, as often as it saves, and nothing without such data
// (sft_args.py _init_eval_strategy and __post_init__).
void finish_evaluation(Reading& reading) {
  const Leaf* share = reading.leaf("split_dataset_ratio");
  const Leaf* data = reading.leaf("val_dataset");
  if (data == nullptr) data = reading.leaf("eval_dataset");
  const bool split = share != nullptr && share->node->value.is_number() && share->node->value > 0;
  const bool said = reading.has("/training/eval_strategy");
  // Of release 2 (swift 2.6.1 llm/utils/argument.py SftArguments): a hundredth is split off, and evaluated.
  const bool second = reading.leaf("sft_type") != nullptr || reading.leaf("model_id_or_path") != nullptr;
  const Leaf* old_share = reading.leaf("dataset_test_ratio");
  const bool all =
      old_share != nullptr && old_share->node->value.is_number() && old_share->node->value == Json(0);
  if (second && !split && data == nullptr && !all) {
    if (!said) reading.values["/training/eval_strategy"] = "steps";
    return;
  }
  if (!split && data == nullptr) {
    if (said && reading.leaf("dataset") != nullptr) {
      reading.drop("/training/eval_strategy", "there is no validation set: nothing is evaluated");
      reading.values["/training/eval_strategy"] = "no";
    }
    return;
  }
  if (said) return;
  const std::string save = reading.word("save_strategy");
  if (save == "no") return;
  reading.set("/training/eval_strategy", save == "epoch" ? "epoch" : "steps", split ? share : data);
}

// The run's mixed precision follows the type of the weights (model_args.py _init_mixed_precision).
void finish_precision(Reading& reading) {
  const auto dtype = reading.values.find("/model_args/dtype");
  if (dtype == reading.values.end() || reading.has("/training/bf16") || reading.has("/training/fp16")) return;
  const bool wide = dtype->second == Json("bfloat16");
  reading.values["/training/bf16"] = wide;
  if (!wide) reading.values["/training/fp16"] = true;
}

// What swift's own files of these names hold (swift/config/*.json).
void finish_sharding(Reading& reading) {
  const std::string zero = reading.word("deepspeed"), fsdp = reading.word("fsdp");
  if (zero == "zero1" || zero.rfind("zero2", 0) == 0)
    reading.values["/parallel/zero_optimization/reduce_bucket_size"] = uint64_t{200000000};
  if (zero.rfind("zero", 0) == 0 && zero.find('.') == std::string::npos && zero != "zero0")
    reading.values["/parallel/zero_optimization/overlap_comm"] = false;
  if (fsdp != "fsdp2") return;
  reading.values["/parallel/strategy"] = "fsdp2";
  reading.values["/parallel/fsdp_config/activation_checkpointing"] = true;
}

// As many micro-batches as make 16 samples a step (trainers/arguments.py __post_init__); none in GRPO.
void finish_accumulation(Reading& reading) {
  const char* pointer = "/training/gradient_accumulation_steps";
  if (reading.has(pointer) || reading.leaf("dataset") == nullptr || reading.word("rlhf_type") == "grpo")
    return;
  const uint64_t samples =
      reading.count("/training/per_device_train_batch_size", 1) * reading.count("/parallel/num_gpus", 1);
  reading.values[pointer] = std::max<uint64_t>(1, (16 + samples - 1) / samples);
}

// Where the policy writes, max_length is that of the prompt (template_args.py).
void finish_lengths(Reading& reading) {
  const bool writes = reading.word("rlhf_type") == "grpo" || reading.word("rlhf_type") == "ppo";
  const Leaf* length = reading.leaf("max_length");
  if (!writes || length == nullptr) return;
  reading.drop("/training/max_length", "of the prompt");
  reading.set("/rl/max_prompt_length", *length);
}

constexpr ProjectionKeys projection{
    "galore", "use_galore", "galore_rank", 128, "galore_target_modules", "galore_optim_per_parameter"};

void finish(Reading& reading) {
  finish_projection(reading, projection);
  finish_evaluation(reading);
  finish_precision(reading);
  finish_sharding(reading);
  finish_lengths(reading);
  finish_accumulation(reading);
  // Blocks are added by their own tuner alone.
  bool blocks = false;
  for (const char* key : {"tuner_type", "train_type", "sft_type"})
    blocks = blocks || reading.word(key) == "llamapro";
  if (!blocks) {
    reading.drop("/training/llamapro_num_new_blocks", "read with the tuner llamapro alone");
  } else if (const Leaf* said = reading.leaf("llamapro_num_new_blocks")) {
    reading.set("/training/llamapro_num_new_blocks", *said);
  }
  // LoRA is the default of every command (base_args.py tuner_type).
  const bool said = reading.leaf("tuner_type") != nullptr || reading.leaf("train_type") != nullptr ||
                    reading.leaf("sft_type") != nullptr;
  if (!said) {
    reading.values["/peft"] = true;
    reading.notes.emplace_back("No tuner_type is given; swift then trains LoRA.");
  } else if (!reading.has("/peft")) {
    reading.drop("/peft", "there is no adapter, so this says nothing");
  }
}

}  // namespace

const Format ms_swift{
    .id = "ms-swift",
    .name = "ms-swift",
    .stack = "ms-swift",
    .written = Language::shell,
    .in_files = true,
    .sections = sections,
    .marks =
        "!tuner_type !train_type !sft_type !rlhf_type !model_id_or_path attn_impl target_modules quant_bits "
        "model dataset split_dataset_ratio",
    .finish = finish,
    .write = write_ms_swift,
    .close = close_ms_swift,
    .refused = ms_swift_refused,
};

}  // namespace plimsoll::exchange
