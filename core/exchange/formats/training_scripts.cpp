// Flags of published training scripts that parse their own: qlora.py, FastChat, LLaVA, Qwen-VL, InternVL,
// ColossalAI, LMFlow, open-instruct.
#include <algorithm>

#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

void read_loaded_bits(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  bool own = false;  // the script's own flag, which loads with bitsandbytes
  for (const char* key : {"double_quant", "quant_type", "source_max_len", "lora_enable", "lora_modules"})
    own = own || reading.leaf(key) != nullptr;
  if (!own) return reading.set("/quantization/bits", leaf);
  if (word == "4" || word == "8")
    return reading.set(word == "4" ? "/quantization/load_in_4bit" : "/quantization/load_in_8bit", true,
                       &leaf);
  if (word == "16" || word == "32") return reading.mark(leaf, Use::implied, "not quantised");
  reading.set("/quantization/bits", leaf);
}

// meta-llama/llama-cookbook: "8bit", "4bit"; earlier a flag, which meant eight.
void read_quantization(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "4bit") return reading.set("/quantization/load_in_4bit", true, &leaf);
  if (word == "8bit" || word == "true") return reading.set("/quantization/load_in_8bit", true, &leaf);
  if (word == "none" || word == "false") return reading.mark(leaf, Use::implied, "not quantised");
  reading.mark(leaf, Use::unsupported, "neither 4bit nor 8bit");
}

// huggingface/transformers examples/pytorch: an encoder reads the source, a decoder writes the target.
bool starts_sequence_to_sequence(const Reading& reading) {
  const Leaf* words = reading.leaf("$words");
  if (words == nullptr) return false;
  std::string started = words->node->raw;
  for (const Node& item : words->node->items) started += " " + item.raw;
  return started.find("run_summarization") != std::string::npos ||
         started.find("run_translation") != std::string::npos ||
         started.find("run_seq2seq") != std::string::npos;
}

// The source of such a script; of a prompt that stands before its answer, see below.
void read_source_length(Reading& reading, const Leaf& leaf) {
  if (!starts_sequence_to_sequence(reading)) return reading.mark(leaf, Use::implied);
  reading.set("/training/max_length", leaf);
}

// A prompt and an answer, each cut at a length of its own.
void read_two_lengths(Reading& reading, const Leaf& leaf) {
  const Leaf* other = reading.leaf("source_max_len");
  if (other == nullptr) other = reading.leaf("max_source_length");
  const Json& one = leaf.node->value;
  if (starts_sequence_to_sequence(reading))
    return reading.mark(leaf, Use::implied, "the source is the longer one");
  if (other == nullptr || !one.is_number_unsigned() || !other->node->value.is_number_unsigned())
    return reading.set("/training/max_length", leaf);
  const auto both = one.get<uint64_t>() + other->node->value.get<uint64_t>();
  reading.set("/training/max_length", both, &leaf);
  reading.finding(leaf).message = "with " + other->path;
}

void read_no_flash(Reading& reading, const Leaf& leaf) {
  reading.set("/model_args/attn_implementation", reading.is_on(leaf.path) ? "sdpa" : "flash_attention_2",
              &leaf);
}

// OptimalScale/LMFlow args.py: adapters on a base in quant_bit bits, 4 unless it is said.
void read_use_qlora(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  const bool eight = reading.word("quant_bit") == "8";
  reading.values["/peft"] = true;
  reading.values["/quantization/prepare_for_kbit_training"] = true;
  if (!eight) reading.values["/quantization/bnb_4bit_quant_type"] = "nf4";
  reading.set(eight ? "/quantization/load_in_8bit" : "/quantization/load_in_4bit", true, &leaf);
}
void read_lisa(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on("use_lisa")) return reading.mark(leaf, Use::implied, "without LISA");
  reading.set("/training/lisa_activated_layers", leaf);
}
// What stays frozen beside a part that is trained: tune_mm_mlp_adapter trains LLaVA's projector alone.
void read_projector_alone(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/vision/freeze_language_model", true, &leaf);
}

// LLaVA's trainer is given the language model and the tower apart, and CLIP stays as it is
// (llava/model/multimodal_encoder/clip_encoder.py requires_grad_(False)).
void read_tower(Reading& reading, const Leaf& leaf) {
  const bool trained = reading.is_on("unfreeze_mm_vision_tower") ||
                       reading.word("mm_tunable_parts").find("mm_vision_tower") != std::string::npos;
  if (!reading.has("/vision/freeze_vision_tower")) reading.values["/vision/freeze_vision_tower"] = !trained;
  reading.mark(leaf, Use::unsupported, "the language model is taken without its image tower");
  const Leaf* model = reading.leaf("model_name_or_path");
  if (model == nullptr || leaf.node->raw.find("clip-vit-large-patch14-336") == std::string::npos) return;
  for (const char* size : {"7b", "13b"}) {
    const std::string text = std::string("vicuna-") + size + "-v1.5";
    if (model->node->raw.find(text) == std::string::npos) continue;
    reading.values["/model"] = std::string("llava-hf/llava-1.5-") + size + "-hf";
    reading.mark(leaf, Use::used, "with the language model: LLaVA 1.5");
  }
}

// Chinese-LLaMA-Alpaca: the names that get adapters, of a script that is told their rank.
void read_trainable(Reading& reading, const Leaf& leaf) {
  if (reading.leaf("lora_rank") == nullptr) return reading.mark(leaf, Use::irrelevant);
  read_targets(reading, leaf);
}

void read_small_states(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/training/optim", "adamw_8bit", &leaf);
}

// InternVL: the rank of adapters on the language model or the tower; 0 is none, as in DeepSpeed-Chat's lora_dim.
void read_lora_rank(Reading& reading, const Leaf& leaf) {
  if (leaf.node->value == Json(0)) return reading.mark(leaf, Use::implied, "no adapters");
  reading.set("/peft/r", leaf);
  if (leaf.path != "use_llm_lora") return;
  // internvl/model/internvl_chat/modeling_internvl_chat.py wrap_llm_lora: each linear layer of the language model.
  reading.values["/peft/target_modules"] = "all-linear";
  reading.values["/peft/finetune_vision_layers"] = false;
}

// --tuning_strategy lora, --finetuning_type freeze
void read_method(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word != "lora" && word != "qlora") return reading.mark(leaf, Use::implied);
  reading.values["/peft"] = true;
  if (word == "qlora") reading.values["/quantization/load_in_4bit"] = true;
  reading.finding(leaf).pointer = "/peft";
  reading.mark(leaf, Use::used);
}

// InternVL's packed rows, which are cut at a length of their own (internvl/train/dataset_packed.py).
void read_packed_tokens(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on("use_packed_ds")) return reading.mark(leaf, Use::implied, "without packed rows");
  reading.set("/training/max_length", leaf);
}

// open-instruct's grpo_fast.py: what trains, machine by machine; vLLM has cards of its own, or the only one.
void read_learners(Reading& reading, const Leaf& leaf) {
  uint64_t count = 0;
  std::vector<Json> numbers;
  for (const Node& item : leaf.node->items) numbers.push_back(item.value);
  if (numbers.empty()) numbers.push_back(leaf.node->value);
  for (const Json& one : numbers) {
    if (!one.is_number_unsigned() || one > 4096)
      return reading.mark(leaf, Use::unsupported, "no number of cards");
    count += one.get<uint64_t>();
  }
  reading.set("/parallel/num_gpus", count, &leaf);
}
void read_engines(Reading& reading, const Leaf& leaf) {
  const bool shared = reading.is_on("single_gpu_mode");
  if (leaf.path == "single_gpu_mode" && !shared)
    return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.values["/rl/use_vllm"] = true;
  reading.set("/rl/vllm_mode", shared ? "colocate" : "server", &leaf);
}
// A packed row holds prompt and answer; without one the prompt has a length of its own.
void read_prompt_length(Reading& reading, const Leaf& leaf) {
  if (reading.leaf("pack_length") != nullptr) return reading.mark(leaf, Use::implied, "within pack_length");
  reading.set("/rl/max_prompt_length", leaf);
}

// DeepSpeed-Chat's flag (training/utils/ds_utils.py get_train_ds_config): states and parameters.
void read_offload(Reading& reading, const Leaf& leaf) {
  if (reading.leaf("zero_stage") == nullptr) return reading.mark(leaf, Use::unsupported);
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/parallel/zero_optimization/offload_optimizer/device", "cpu", &leaf);
  if (reading.word("zero_stage") == "3")
    reading.set("/parallel/zero_optimization/offload_param/device", "cpu");
}

// ColossalAI's booster plugins.
void read_plugin(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "ddp" || word == "torch_ddp" || word == "torch_ddp_fp16")
    return reading.set("/parallel/strategy", "ddp", &leaf);
  if (word != "zero2" && word != "zero2_cpu" && word != "low_level_zero")
    return reading.mark(leaf, Use::unsupported, "this way of sharing the work cannot be said yet");
  reading.set("/parallel/strategy", "zero2", &leaf);
  reading.set("/parallel/zero_optimization/library", "colossalai");
  if (word == "zero2_cpu") reading.set("/parallel/zero_optimization/offload_optimizer/device", "cpu");
}

// tloen/alpaca-lora finetune.py and those after it: batch_size is the whole step's, micro_batch_size one pass of
// one process.
bool says_micro_batch(const Reading& reading) {
  return reading.leaf("micro_batch_size") != nullptr || reading.leaf("micro_train_batch_size") != nullptr;
}

void read_batch(Reading& reading, const Leaf& leaf) {
  if (says_micro_batch(reading)) return reading.mark(leaf, Use::implied, "of the whole step");
  reading.set("/training/per_device_train_batch_size", leaf);
}

constexpr std::string_view trained = "true=false, false=true";  // as frozen

constexpr Row script_rows[] = {
    {"cutoff_len", "/training/max_length", "", nullptr, Write::no},
    {"offload", "/parallel/zero_optimization/offload_optimizer/device", "", read_offload, Write::no},
    {"enable_fsdp", "/parallel/strategy", "true=fsdp, false=ddp", nullptr, Write::no},
    {"peft_method", "/peft", "", read_method, Write::no},
    {"batch_size_training", "/training/per_device_train_batch_size", "", nullptr, Write::no},
    {"context_length", "/training/max_length", "", nullptr, Write::no},
    {"batching_strategy", "/training/packing", "packing=true, padding=false", nullptr, Write::no},
    {"micro_batch_size", "/training/per_device_train_batch_size", "", nullptr, Write::no},
    {"micro_train_batch_size", "/training/per_device_train_batch_size", "", nullptr, Write::no},
    {"force_image_size", "/vision/image_size", "", nullptr, Write::no},
    {"use_packed_ds", "/training/packing", "", nullptr, Write::no},
    {"max_packed_tokens", "/training/max_length", "", read_packed_tokens, Write::no},
    {"pack_length", "/training/max_length", "", nullptr, Write::no},
    {"max_prompt_token_length", "/rl/max_prompt_length", "", read_prompt_length, Write::no},
    {"response_length", "/rl/max_completion_length", "", nullptr, Write::no},
    {"num_samples_per_prompt_rollout", "/rl/num_generations", "", nullptr, Write::no},
    {"num_learners_per_node", "/parallel/num_gpus", "", read_learners, Write::no},
    {"single_gpu_mode", "/rl/vllm_mode", "", read_engines, Write::no},
    {"vllm_num_engines", "/rl/vllm_mode", "", read_engines, Write::no},
    {"block_size", "/training/max_length", "", nullptr, Write::no},
    {"freeze_backbone", "/vision/freeze_vision_tower", "", nullptr, Write::no},
    {"fix_vit", "/vision/freeze_vision_tower", "", nullptr, Write::no},
    {"tune_mm_vision", "/vision/freeze_vision_tower", trained, nullptr, Write::no},
    {"tune_vision", "/vision/freeze_vision_tower", trained, nullptr, Write::no},
    {"tune_mm_mlp", "/vision/freeze_multi_modal_projector", trained, nullptr, Write::no},
    {"freeze_merger", "/vision/freeze_multi_modal_projector", "", nullptr, Write::no},
    {"freeze_mlp", "/vision/freeze_multi_modal_projector", "", nullptr, Write::no},
    {"freeze_mm_mlp_adapter", "/vision/freeze_multi_modal_projector", "", nullptr, Write::no},
    {"tune_mm_llm", "/vision/freeze_language_model", trained, nullptr, Write::no},
    {"tune_llm", "/vision/freeze_language_model", trained, nullptr, Write::no},
    {"freeze_llm", "/vision/freeze_language_model", "", nullptr, Write::no},
    {"tune_mm_mlp_adapter", "/vision/freeze_language_model", "", read_projector_alone, Write::no},
    {"grad_checkpoint", "/training/gradient_checkpointing", "", nullptr, Write::no},
    {"use_llm_lora", "/peft/r", "", read_lora_rank, Write::no},
    {"lora_rank", "/peft/r", "", read_lora_rank, Write::no},
    {"lora_dim", "/peft/r", "", read_lora_rank, Write::no},
    {"tuning_strategy", "/peft", "", read_method, Write::no},
    {"finetuning_type", "/peft", "", read_method, Write::no},
    {"tuning_type", "/peft", "", read_method, Write::no},
    {"train_batch_size", "/training/per_device_train_batch_size", "", nullptr, Write::no},
    {"val_batch_size", "/training/per_device_eval_batch_size", "", nullptr, Write::no},
    {"pretrain", "/model", "", nullptr, Write::no},
    {"plugin", "/parallel/strategy", "", read_plugin, Write::no},
    {"max_len", "/training/max_length", "", nullptr, Write::no},
    {"accumulation_steps", "/training/gradient_accumulation_steps", "", nullptr, Write::no},
    {"batch_size", "/training/per_device_train_batch_size", "", read_batch, Write::no},
    {"max_epochs", "/data/epochs", "", nullptr, Write::no},
    {"num_epochs", "/data/epochs", "", nullptr, Write::no},
    {"n_epochs", "/data/epochs", "", nullptr, Write::no},
    {"epochs", "/data/epochs", "", nullptr, Write::no},
    {"bits", "/quantization/load_in_4bit", "", read_loaded_bits, Write::no},
    {"quantization", "/quantization/load_in_4bit", "", read_quantization, Write::no},
    {"q_lora", "/quantization/load_in_4bit", "", nullptr, Write::no},
    {"use_qlora", "/quantization/load_in_4bit", "", read_use_qlora, Write::no},
    {"lisa_activated_layers", "/training/lisa_activated_layers", "", read_lisa, Write::no},
    {.key = "use_flash_attention",
     .pointer = "/model_args/attn_implementation",
     .values = "flash_attention_2",
     .write = Write::no,
     .is_switch = true},
    {"double_quant", "/quantization/bnb_4bit_use_double_quant", "", nullptr, Write::no},
    {"quant_type", "/quantization/bnb_4bit_quant_type", "", nullptr, Write::no},
    {"lora_modules", "/peft/target_modules", "all=all-linear", nullptr, Write::no},
    {"model", "/model", "", nullptr, Write::no},
    {"model_id", "/model", "", nullptr, Write::no},
    {"model_path", "/model", "", nullptr, Write::no},
    {"trainable", "/peft/target_modules", "", read_trainable, Write::no},
    {"modules_to_save", "/peft/modules_to_save", "", nullptr, Write::no},
    {"flash_attn", "/model_args/attn_implementation", "true=flash_attention_2, false=sdpa", nullptr,
     Write::no},
    {"use_8bit_optimizer", "/training/optim", "", read_small_states, Write::no},
    {"batch_size_per_gpu", "/training/per_device_train_batch_size", "", nullptr, Write::no},
    {"per_device_batch_size", "/training/per_device_train_batch_size", "", nullptr, Write::no},
    {"grad_acc", "/training/gradient_accumulation_steps", "", nullptr, Write::no},
    {"grad_accum", "/training/gradient_accumulation_steps", "", nullptr, Write::no},
    {"grad_accum_steps", "/training/gradient_accumulation_steps", "", nullptr, Write::no},
    {"max_source_length", "/training/max_length", "", read_source_length, Write::no},
    {"max_target_length", "/training/max_length", "", read_two_lengths, Write::no},
    {"model_max_length", "/training/max_length", "", nullptr, Write::no},
    {"max_dynamic_patch", "/vision/max_tiles", "", nullptr, Write::no},
    {"target_max_len", "/training/max_length", "", read_two_lengths, Write::no},
    {"use_liger", "/training/use_liger_kernel", "", nullptr, Write::no},
    {"disable_flash_attn2", "/model_args/attn_implementation", "", read_no_flash, Write::no},
    {"freeze_vision_tower", "/vision/freeze_vision_tower", "", nullptr, Write::no},
    {"vision_tower", "", "", read_tower, Write::no},
};
constexpr std::string_view script_irrelevant =
    // LLaVA, Qwen-VL, qlora.py
    "image_folder lazy_preprocess group_by_modality_length version image_aspect_ratio mm_projector_lr "
    "vision_lr merger_lr do_mmlu_eval mmlu_* conv_mode eval_dataset_size max_eval_samples "
    "max_train_samples max_memory_MB use_auth a b c d e f g k n o p s u w x z "
    // InternVL
    "conv_style meta_path drop_path_rate loss_reduction loss_reduction_all_gather use_data_resampling "
    "dynamic_image_size pad2square quotatype max_buffer_size strict_mode replacement allow_overflow "
    "split_annotations min_num_frame sigmoid_loss_weight bco_pair_loss_weight use_custom_flash_attn "
    // ColossalAI
    "tokenizer_dir lr grad_clip conversation_template_config save_interval save_path log_dir data_dir "
    "data_type use_wandb tensorboard_dir warmup_fraction "
    // LMFlow
    "validation_split_percentage conversation_template disable_group_texts random_seed mask_prompt "
    "overwrite_cache lisa_interval_steps "
    // open-instruct and the jobs it starts
    "cluster workspace priority preemptible image budget description task_name with_tracking exp_name "
    "pure_docker_mode no_auto_dataset_cache beaker_* non_resumable timeout hf_entity hf_* wandb_* "
    "try_launch_beaker_eval_jobs* reduce_loss clean_checkpoints* oe_eval_* add_bos cache_dataset_only "
    "mixer_list* dataset_mixer* checkpointing_steps keep_last_n_checkpoints use_slow_tokenizer "
    "total_episodes apply_* num_unique_prompts_rollout local_eval_every non_stop_penalty* "
    "num_mini_batches kl_estimator ground_truths_key vllm_enforce_eager vllm_sync_backend "
    "vllm_enable_prefix_caching stop_strings artifact_ttl async_steps max_retries inflight_updates "
    "tool_parser_type tools tool_configs* tool_call_names checkpoint_state_* n_shot max_num_examples_* "
    "no_host_networking active_sampling openai_engine system_prompt_override_file sft_messages_key "
    "code_api_url llm_judge_* advantage_normalization_type no_filter_zero_std_samples use_chat_format "
    "chat_formatting_function secret add_r1_style_format_reward number_samples_per_prompt active "
    "reward_model_multiplier tokenizer_revision tokenizer_name_or_path "
    // Slurm's launcher
    "job_name partition account qos time mem cpus_per_task ntasks_per_node container_image "
    "container_mounts exclusive export kill_on_bad_exit";
constexpr std::string_view script_implied =
    "lora_enable use_lora source_max_len use_lisa mm_use_im_* mm_vision_select_* mm_projector_type "
    "mm_patch_merge_type pretrain_mm_mlp_adapter lora_namespan_exclude num_lora_modules lora_weight_path "
    "quant_bit down_sample_ratio vision_select_layer ps_version use_thumbnail mm_tunable_parts unfreeze_mm_vision_tower";
constexpr std::string_view script_unpriced =
    "image_max_pixels image_min_pixels video_max_pixels video_min_pixels "
    "min_dynamic_patch use_backbone_lora unfreeze_vit_layers num_images_expected max_num_frame tp "
    "tp_degree pp_size activation_memory_budget load_ref_policy";

}  // namespace

void share_whole_batch(Reading& reading) {
  const Leaf* whole = reading.leaf("batch_size");
  if (whole == nullptr || !says_micro_batch(reading) ||
      reading.has("/training/gradient_accumulation_steps") || !whole->node->value.is_number_unsigned())
    return;
  const uint64_t each =
      reading.count("/training/per_device_train_batch_size", 1) * reading.count("/parallel/num_gpus", 1);
  reading.set("/training/gradient_accumulation_steps",
              std::max<uint64_t>(1, whole->node->value.get<uint64_t>() / std::max<uint64_t>(1, each)), whole);
}

const Table script_table{script_rows, script_irrelevant, script_implied, script_unpriced};

}  // namespace plimsoll::exchange
