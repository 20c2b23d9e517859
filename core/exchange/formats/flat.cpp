// Flat arguments of Transformers and TRL: a YAML or JSON file for HfArgumentParser or `trl sft --config`, a
// command line, SageMaker's hyperparameters, and a nested YAML of one's own.
#include "core/exchange/formats.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// TRL's processors and Qwen-VL's finetuning scripts, and what is set before a command.
constexpr Row image_rows[] = {{"max_pixels", "/vision/image_size", "", read_max_pixels, Write::no},
                              {"$MAX_PIXELS", "/vision/image_size", "", read_max_pixels, Write::no}};
constexpr Table image_table{image_rows, "min_pixels", "", ""};
constexpr Section flat_sections[] = {{"", &image_table},
                                     {"", &trl_model_table},
                                     {"", &training_table},
                                     {"", &model_table},
                                     {"", &quantization_table}};
// GPUs and environment alone, as of any program.
bool says_nothing(const Reading& reading) {
  for (const auto& [pointer, value] : reading.values) {
    if (pointer != "/stack" && pointer != "/parallel/num_gpus" && pointer.rfind("/hardware/", 0) != 0 &&
        pointer.rfind("/model_args/", 0) != 0 && pointer != "/rl/temperature")
      return false;
  }
  return true;
}

void finish_arguments(Reading& reading) {
  finish_flat(reading);
  if (reading.has("/rl/num_generations") && !reading.has("/task")) reading.values["/task"] = "grpo";
  if (reading.document.language == Language::shell && says_nothing(reading)) {
    reading.errors.push_back({"not_training", "",
                              "No command in this text carries settings of a training run.",
                              "a command such as accelerate launch train.py --model_name_or_path ..."});
    return;
  }
  // A flat file that names its model is what `trl sft --config` takes; without a model it is
  // TrainingArguments.
  const bool file = reading.document.language != Language::shell;
  for (const char* key : {"lora_enable", "use_lora"}) {
    if (reading.leaf(key) == nullptr) continue;
    if (reading.is_on(key)) {
      reading.values["/peft"] = true;
    } else {
      reading.drop("/peft", "the adapters are switched off");
    }
  }
  if (!reading.has("/stack")) reading.values["/stack"] = file && reading.has("/model") ? "trl" : "hf";
}

void read_words(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, Use::implied);
  std::vector<std::string> words;
  for (const Node& item : leaf.node->items) words.push_back(item.raw);
  if (words.empty()) words.push_back(leaf.node->raw);
  for (const std::string& word : words) {
    // examples/scripts/sft.py and its neighbours are TRL's.
    const std::string script = word.substr(word.rfind('/') == std::string::npos ? 0 : word.rfind('/') + 1);
    if (word.find("swift/cli/") != std::string::npos) continue;
    for (const char* task : {"sft", "dpo", "kto", "orpo", "grpo", "reward"}) {
      if (script != std::string(task) + ".py") continue;
      reading.values["/stack"] = "trl";
      if (script != "sft.py") reading.values["/task"] = task;
    }
  }
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "colossalai" && words[i + 1] == "run") reading.values["/stack"] = "colossalai";
    if (words[i] != "trl") continue;
    reading.values["/stack"] = "trl";
    if (words[i + 1] != "sft") reading.values["/task"] = words[i + 1];
    reading.finding(leaf).pointer = "/stack";
    reading.mark(leaf, Use::used);
  }
}
// Flags of published training scripts that parse their own: qlora.py, FastChat, LLaVA, Qwen-VL.
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

// A prompt and an answer, each cut at a length of its own.
void read_two_lengths(Reading& reading, const Leaf& leaf) {
  const Leaf* other = reading.leaf("source_max_len");
  const Json& one = leaf.node->value;
  if (other == nullptr || !one.is_number_unsigned() || !other->node->value.is_number_unsigned())
    return reading.set("/training/max_length", leaf);
  const auto both = one.get<uint64_t>() + other->node->value.get<uint64_t>();
  reading.set("/training/max_length", both, &leaf);
  reading.finding(leaf).message = "with source_max_len";
}

void read_flash_flag(Reading& reading, const Leaf& leaf) {
  reading.set("/model_args/attn_implementation", reading.is_on(leaf.path) ? "sdpa" : "flash_attention_2",
              &leaf);
}

// LLaVA's trainer is given the language model and the tower apart.
void read_tower(Reading& reading, const Leaf& leaf) {
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

// InternVL: the rank of adapters on the language model or the tower; 0 is none.
void read_lora_rank(Reading& reading, const Leaf& leaf) {
  if (leaf.node->value == Json(0)) return reading.mark(leaf, Use::implied, "no adapters");
  reading.set("/peft/r", leaf);
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

constexpr Row script_rows[] = {
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
    {"grad_checkpoint", "/training/gradient_checkpointing", "", nullptr, Write::no},
    {"use_llm_lora", "/peft/r", "", read_lora_rank, Write::no},
    {"lora_rank", "/peft/r", "", read_lora_rank, Write::no},
    {"pretrain", "/model", "", nullptr, Write::no},
    {"plugin", "/parallel/strategy", "", read_plugin, Write::no},
    {"max_len", "/training/max_length", "", nullptr, Write::no},
    {"accumulation_steps", "/training/gradient_accumulation_steps", "", nullptr, Write::no},
    {"batch_size", "/training/per_device_train_batch_size", "", nullptr, Write::no},
    {"max_epochs", "/data/epochs", "", nullptr, Write::no},
    {"bits", "/quantization/load_in_4bit", "", read_loaded_bits, Write::no},
    {"q_lora", "/quantization/load_in_4bit", "", nullptr, Write::no},
    {"double_quant", "/quantization/bnb_4bit_use_double_quant", "", nullptr, Write::no},
    {"quant_type", "/quantization/bnb_4bit_quant_type", "", nullptr, Write::no},
    {"lora_modules", "/peft/target_modules", "all=all-linear", nullptr, Write::no},
    {"model_id", "/model", "", nullptr, Write::no},
    {"model_max_length", "/training/max_length", "", nullptr, Write::no},
    {"target_max_len", "/training/max_length", "", read_two_lengths, Write::no},
    {"use_liger", "/training/use_liger_kernel", "", nullptr, Write::no},
    {"disable_flash_attn2", "/model_args/attn_implementation", "", read_flash_flag, Write::no},
    {"freeze_vision_tower", "/vision/freeze_vision_tower", "", nullptr, Write::no},
    {"vision_tower", "", "", read_tower, Write::no},
};
constexpr std::string_view script_irrelevant =
    // LLaVA, Qwen-VL, qlora.py
    "image_folder lazy_preprocess group_by_modality_length version image_aspect_ratio mm_projector_lr "
    "vision_lr merger_lr do_mmlu_eval mmlu_* conv_mode eval_dataset_size max_eval_samples max_train_samples "
    "max_memory_MB trainable use_auth a b c d e f g i k n o p s u w x z "
    // InternVL
    "conv_style meta_path drop_path_rate loss_reduction loss_reduction_all_gather use_data_resampling "
    "dynamic_image_size pad2square quotatype max_buffer_size strict_mode replacement allow_overflow "
    "split_annotations min_num_frame sigmoid_loss_weight bco_pair_loss_weight use_custom_flash_attn "
    // ColossalAI
    "tokenizer_dir lr grad_clip conversation_template_config save_interval save_path log_dir data_dir "
    "data_type "
    "use_wandb tensorboard_dir warmup_fraction "
    // LMFlow
    "validation_split_percentage conversation_template disable_group_texts random_seed mask_prompt "
    "overwrite_cache "
    // open-instruct and the jobs it starts
    "cluster workspace priority preemptible image budget description task_name with_tracking exp_name "
    "pure_docker_mode no_auto_dataset_cache beaker_* non_resumable timeout hf_entity hf_* wandb_* "
    "try_launch_beaker_eval_jobs* reduce_loss clean_checkpoints* oe_eval_* add_bos cache_dataset_only "
    "mixer_list* dataset_mixer* checkpointing_steps keep_last_n_checkpoints use_slow_tokenizer "
    "num_epochs total_episodes apply_* num_unique_prompts_rollout local_eval_every non_stop_penalty* "
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
    "lora_enable use_lora source_max_len mm_use_im_* mm_vision_select_* mm_projector_type "
    "mm_patch_merge_type pretrain_mm_mlp_adapter lora_namespan_exclude num_lora_modules lora_weight_path "
    "down_sample_ratio vision_select_layer ps_version use_thumbnail freeze_mlp";
constexpr std::string_view script_unpriced =
    "freeze_llm freeze_merger freeze_mm_mlp_adapter tune_mm_mlp_adapter tune_mm_* image_max_pixels "
    "image_min_pixels video_max_pixels video_min_pixels unfreeze_mm_vision_tower max_dynamic_patch "
    "min_dynamic_patch use_backbone_lora unfreeze_vit_layers num_images_expected max_num_frame tp tp_degree "
    "pp_size activation_memory_budget load_ref_policy";
constexpr Table script_table{script_rows, script_irrelevant, script_implied, script_unpriced};
constexpr Row words_rows[] = {{"$words", "", "", read_words}};
constexpr Table words_table{words_rows, "", "", ""};
constexpr Section shell_sections[] = {{"", &words_table},    {"", &image_table},       {"", &script_table},
                                      {"", &launcher_table}, {"", &trl_model_table},   {"", &training_table},
                                      {"", &model_table},    {"", &quantization_table}};

bool write(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/peft") {
    out.put("use_peft", true, pointer);
    return true;
  }
  if (pointer == "/task" && value == "grpo" && out.find("/rl/num_generations") != nullptr) return true;
  return write_training(out, "", pointer, value);
}

// On a command line the launcher carries the GPUs.
bool write_command(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/stack" && (value == "trl" || value == "hf")) {
    out.put("$stack", value, pointer);
    return true;
  }
  if (pointer == "/task") {
    // Only TRL's own command names it.
    if (out.word("/stack") != "trl") return false;
    out.put("$task", value, pointer);
    return true;
  }
  if (pointer == "/parallel/strategy") {
    const std::string word = value.get<std::string>();
    if (word == "none") return false;
    if (word == "ddp") out.put("multi_gpu", true, pointer);
    if (word == "fsdp" || word == "fsdp2") out.put("use_fsdp", true, pointer);
    if (word == "fsdp2") out.put("fsdp_version", 2, pointer);
    if (word.rfind("zero", 0) == 0) {
      out.put("use_deepspeed", true);
      out.put("zero_stage", static_cast<uint64_t>(word[4] - '0'), pointer);
    }
    return true;
  }
  return write(out, pointer, value);
}

// SageMaker -----------------------------------------------------------------------------------------------

struct Instance {
  std::string_view prefix, gpu;
};
// One GPU of each family; docs.aws.amazon.com/ec2/latest/instancetypes/ac.html.
constexpr Instance instances[] = {
    {"ml.g4dn.", "t4"},         {"ml.g5.", "a10g"},          {"ml.g6e.", "l40s"},
    {"ml.g6.", "l4"},           {"ml.p3.", "v100-sxm2-16"},  {"ml.p3dn.", "v100-sxm2-32"},
    {"ml.p4d.", "a100-sxm-40"}, {"ml.p4de.", "a100-sxm-80"}, {"ml.p5.", "h100-sxm"},
    {"ml.p5e.", "h200-sxm"},    {"ml.p5en.", "h200-sxm"},    {"ml.p6-b200.", "b200-sxm"}};
constexpr Instance counts[] = {{"g5.12x", "4"},   {"g5.24x", "4"},   {"g5.48x", "8"},     {"g4dn.12x", "4"},
                               {"g6.12x", "4"},   {"g6.24x", "4"},   {"g6.48x", "8"},     {"g6e.12x", "4"},
                               {"g6e.24x", "4"},  {"g6e.48x", "8"},  {"p3.8x", "4"},      {"p3.16x", "8"},
                               {"p3dn.24x", "8"}, {"p4d.24x", "8"},  {"p4de.24x", "8"},   {"p5.48x", "8"},
                               {"p5e.48x", "8"},  {"p5en.48x", "8"}, {"p6-b200.48x", "8"}};

void read_instance(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  for (const Instance& row : instances) {
    if (word.rfind(row.prefix, 0) == 0) reading.set("/hardware/gpu", std::string(row.gpu), &leaf);
  }
  if (!reading.has("/hardware/gpu"))
    return reading.mark(leaf, Use::unsupported, "the GPU of this instance is not known");
  for (const Instance& row : counts) {
    if (word.find(row.prefix) != std::string::npos)
      reading.values["/parallel/num_gpus"] = static_cast<uint64_t>(row.gpu[0] - '0');
  }
}

constexpr Row sagemaker_rows[] = {{"instance_type", "/hardware/gpu", "", read_instance},
                                  {"InstanceType", "/hardware/gpu", "", read_instance},
                                  {"transformers_version", "/versions/transformers", ""},
                                  {"pytorch_version", "/versions/torch", ""}};
constexpr std::string_view sagemaker_irrelevant =
    "entry_point source_dir instance_count role py_version "
    "base_job_name "
    "volume_size max_run max_wait use_spot_instances image_uri output_path checkpoint_* environment* "
    "distribution* "
    "disable_profiler keep_alive_period_in_seconds metric_definitions* hyperparameters.train_* "
    "hyperparameters.sagemaker_* sagemaker_* InstanceCount VolumeSizeInGB git_config* hyperparameters.lr "
    "hyperparameters.merge_* hyperparameters.hf_token hyperparameters.epochs_notes tags*";
constexpr Table sagemaker_table{sagemaker_rows, sagemaker_irrelevant, "", ""};
constexpr Row short_rows[] = {
    {"epochs", "/data/epochs", ""},
    {"batch_size", "/training/per_device_train_batch_size", ""},
    {"train_batch_size", "/training/per_device_train_batch_size", ""},
    {"eval_batch_size", "/training/per_device_eval_batch_size", ""},
    {"gradient_accumulation", "/training/gradient_accumulation_steps", ""},
    {"sequence_length", "/training/max_length", ""},
    {"seq_length", "/training/max_length", ""},
    {"block_size", "/training/max_length", ""},
    {"optimizer", "/training/optim", ""},
    {"gpu", "/hardware/gpu", ""},
};
constexpr Table short_table{short_rows, "lr name seed", "", ""};
constexpr Section sagemaker_sections[] = {
    {"hyperparameters", &trl_model_table},
    {"hyperparameters", &training_table},
    {"hyperparameters", &model_table},
    {"hyperparameters", &quantization_table},
    {"hyperparameters", &short_table},
    {"", &sagemaker_table},
    {"sagemaker.hyperparameters", &trl_model_table},
    {"sagemaker.hyperparameters", &training_table},
    {"sagemaker.hyperparameters", &model_table},
    {"sagemaker.hyperparameters", &quantization_table},
    {"sagemaker.hyperparameters", &short_table},
    {"sagemaker", &sagemaker_table},
};

// Nested YAML of one's own ----------------------------------------------------------------------------------

constexpr Row named_rows[] = {
    {"name", "/model", ""},
    {"name_or_path", "/model", ""},
    {"id", "/model", ""},
    {"path", "/model", ""},
    {"num_labels", "/model_args/num_labels", ""},
};
constexpr Table named_table{named_rows, "tokenizer* output_dir hub_id", "", ""};
constexpr Row top_rows[] = {{"model", "/model", ""}};
constexpr Table top_table{top_rows, "project* experiment* run_name name version description notes", "", ""};
constexpr Row rank_rows[] = {{"rank", "/peft/r", ""}, {"enabled", "/peft", "", nullptr, Write::no}};
constexpr Table rank_table{rank_rows, "", "", ""};
constexpr Table data_table{{}, "*", "", ""};
constexpr Row enabled_rows[] = {{"bits", "/quantization/bits", ""}};
constexpr Table enabled_table{enabled_rows, "", "enabled", ""};
constexpr Section nested_sections[] = {
    {"model", &named_table},
    {"model", &model_table},
    {"model", &quantization_table},
    {"model", &training_table},
    {"quantization", &quantization_table},
    {"quantization_config", &quantization_table},
    {"bnb", &quantization_table},
    {"bnb_config", &quantization_table},
    {"bitsandbytes", &quantization_table},
    {"model.quantization", &quantization_table},
    {"quantization", &enabled_table},
    {"lora", &peft_table},
    {"lora", &rank_table},
    {"lora", &trl_model_table},
    {"peft", &peft_table},
    {"peft", &rank_table},
    {"lora_config", &peft_table},
    {"peft_config", &peft_table},
    {"adapter", &peft_table},
    {"qlora", &peft_table},
    {"training", &training_table},
    {"training", &short_table},
    {"training", &trl_model_table},
    {"train", &training_table},
    {"train", &short_table},
    {"trainer", &training_table},
    {"training_args", &training_table},
    {"training_arguments", &training_table},
    {"sft", &training_table},
    {"args", &training_table},
    {"hyperparameters", &training_table},
    {"hardware", &short_table},
    {"", &top_table},
    {"", &trl_model_table},
    {"", &training_table},
    {"", &model_table},
    {"", &quantization_table},
    {"", &short_table},
    {"data", &data_table},
    {"dataset", &data_table},
    {"datasets", &data_table},
    {"logging", &data_table},
    {"wandb", &data_table},
    {"output", &data_table},
    {"evaluation", &data_table},
    {"tokenizer", &data_table},
    {"generation", &data_table},
};

void finish_nested(Reading& reading) {
  finish_flat(reading);
  const Leaf* enabled = reading.leaf("lora.enabled");
  if (enabled != nullptr && !reading.is_on("lora.enabled")) reading.drop("/peft", "lora.enabled is off");
  reading.values.erase("/peft/enabled");
}

bool write_nested(Writing& out, const std::string& pointer, const Json& value) {
  return write_training(out, "training", pointer, value);
}

}  // namespace

const Format trl_flat{
    "trl",
    "TRL and Transformers arguments",
    "trl",
    Language::yaml,
    flat_sections,
    "model_name_or_path per_device_train_batch_size learning_rate num_train_epochs output_dir "
    "gradient_accumulation_steps max_length max_seq_length lora_r bf16 optim dataset_name",
    finish_arguments,
    write};
const Format command_line{"cli",
                          "Command line",
                          "",
                          Language::shell,
                          shell_sections,
                          "$words model_name_or_path per_device_train_batch_size output_dir num_processes",
                          finish_arguments,
                          write_command};
const Format sagemaker{"sagemaker",
                       "SageMaker hyperparameters",
                       "hf",
                       Language::json,
                       sagemaker_sections,
                       "!hyperparameters !sagemaker instance_type entry_point",
                       finish_flat,
                       [](Writing& out, const std::string& pointer, const Json& value) {
                         if (pointer == "/peft") {
                           out.put("hyperparameters.use_peft", true, pointer);
                           return true;
                         }
                         return write_training(out, "hyperparameters", pointer, value);
                       }};
const Format nested{"nested",
                    "Nested YAML",
                    "hf",
                    Language::yaml,
                    nested_sections,
                    "model lora peft training quantization bnb train training_args max_length "
                    "per_device_train_batch_size use_gradient_checkpointing",
                    finish_nested,
                    write_nested};

}  // namespace plimsoll::exchange
