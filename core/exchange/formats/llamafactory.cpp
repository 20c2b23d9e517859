// LLaMA-Factory: the arguments of `llamafactory-cli train`.
// Keys: hiyouga/LLaMA-Factory v0.9.5 src/llamafactory/hparams/*.py; what they do: its parser.py, model/*.py,
// train/*/workflow.py.
#include "core/exchange/formats/llamafactory.h"

#include <algorithm>
#include <cmath>

#include "core/exchange/formats.h"
#include "core/exchange/formats/refused.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

using json::Json;

void read_finetuning_type(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  reading.all_trained = word == "full";
  if (word == "full") return reading.mark(leaf, Use::implied, "full fine-tuning");
  if (word == "freeze") return reading.mark(leaf, Use::implied, "the layers that are trained have a key");
  reading.values["/peft"] = true;
  if (word == "oft") {
    reading.set("/peft/peft_type", "OFT", &leaf);
    return;
  }
  reading.finding(leaf).pointer = "/peft";
  reading.mark(leaf, Use::used);
}

void read_flash(Reading& reading, const Leaf& leaf) {
  reading.set("/model_args/attn_implementation", leaf,
              "fa2=flash_attention_2, fa3=flash_attention_3, disabled=eager, sdpa=sdpa");
}

void refuse_use(Reading& reading, const char* what) {
  reading.errors.push_back({"not_training", "",
                            std::string("This is a configuration for ") + what + ", not for training.",
                            "a configuration with stage, finetuning_type and a dataset"});
}

namespace {

// model/adapter.py _setup_lora_tuning hands OFT the modules of lora_target.
void read_oft_target(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, Use::implied, "release 0.9.5 takes lora_target for OFT too");
}

void read_stage_word(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "sft") return reading.mark(leaf, Use::implied);
  reading.set("/task", leaf, "pt=pretrain, rm=reward");
}

void read_pref_loss(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "orpo" || word == "simpo") {
    reading.set("/task", word, &leaf);
  } else {
    reading.mark(leaf, Use::implied, "a loss of DPO");
  }
}

// A file's values are not converted (Transformers' HfArgumentParser.parse_dict): None and a quoted "false"
// are texts, which Python takes as on.
void read_disabled_checkpointing(Reading& reading, const Leaf& leaf) {
  const bool text =
      reading.document.language != Language::shell && leaf.node->value.is_string() && !leaf.node->raw.empty();
  reading.set("/training/gradient_checkpointing", !text && !reading.is_on(leaf.path), &leaf);
  if (text) reading.finding(leaf).message = "a text, which Python takes as on";
}

// Nor is an empty value its default: it is off.
void read_frozen(Reading& reading, const Leaf& leaf) {
  const std::string pointer = "/vision/" + leaf.path;
  if (!leaf.node->value.is_null()) return reading.set(pointer, leaf);
  reading.set(pointer, false, &leaf);
  reading.finding(leaf).message = "empty, which Python takes as off";
}

// Trains weights in the type they are loaded in, without autocast.
void read_pure_bf16(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/model_args/dtype", "bfloat16", &leaf);
  if (reading.word("finetuning_type") == "freeze") reading.values["/training/upcast_trainable"] = false;
}

// Nothing is cast up for BAdam either (model/adapter.py init_adapter); see finish_freezing.
void read_badam(Reading& reading, const Leaf& leaf) {
  read_pure_bf16(reading, leaf);
  if (reading.is_on(leaf.path) && reading.word("badam_mode") == "ratio")
    reading.mark(leaf, Use::unsupported, "BAdam that trains a part of each matrix cannot be said yet");
}

// Layer inputs wait in host memory (model/model_utils/checkpointing.py UnslothGradientCheckpointing).
void read_unsloth_checkpointing(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  if (reading.is_on("disable_gradient_checkpointing"))
    return reading.mark(leaf, Use::implied, "there is no checkpointing");
  reading.set("/training/activation_offloading", true, &leaf);
}

// The classes of the tokens are collected, not their logits (train/sft/metric.py eval_logit_processor).
void read_accuracy(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/training/compute_metrics", true, &leaf);
  reading.values["/training/preprocess_logits_for_metrics"] = true;
}

void read_generation(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  read_accuracy(reading, leaf);
  reading.notes.emplace_back(
      "predict_with_generate writes answers in evaluation; a pass over whole samples is priced in its place, "
      "with its logits.");
}

// Its parser ends at a key that none of its classes has.
void read_foreign(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, Use::unsupported, "not LLaMA-Factory's, which stops at it");
}

// hparams/generating_args.py.
void read_generated_length(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, Use::implied, "of what is generated; the samples' length is cutoff_len");
}

// A bound on the pixels: the image is priced as the square that fills it.
void read_pixels(Reading& reading, const Leaf& leaf) {
  const auto pixels = value_for("/vision/image_size", *leaf.node, "");
  if (!pixels || !pixels->is_number_unsigned()) return reading.set("/vision/image_size", leaf);
  const double side = std::floor(std::sqrt(pixels->get<double>()));
  reading.set("/vision/image_size", static_cast<uint64_t>(side), &leaf);
  reading.finding(leaf).message = "the side of the largest square";
}

// Until 0.9.1: v0.9.1 hparams/finetuning_args.py, model/model_utils/visual.py get_forbidden_modules.
void read_projector_only(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/vision/freeze_language_model", true, &leaf);
  reading.values["/vision/freeze_vision_tower"] = true;
  reading.values["/vision/freeze_multi_modal_projector"] = false;
}

// hparams/model_args.py: InternVL's images stay whole unless this is on.
void read_crop(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/vision/max_tiles", 0, &leaf);
}

constexpr Row rows[] = {
    {"model_name_or_path", "/model", ""},
    {"use_mca", "", "", refuse_megatron},
    {"$USE_MCA", "", "", refuse_megatron},
    {"stage", "/task", "", read_stage_word},
    {"finetuning_type", "/peft", "", read_finetuning_type},
    {"pref_loss", "/task", "", read_pref_loss},
    {"quantization_bit", "/quantization/load_in_4bit", "", read_quantization_bit},
    {"quantization_method", "", "", read_quantization_method},
    {"quantization_type", "/quantization/bnb_4bit_quant_type", ""},
    {"double_quantization", "/quantization/bnb_4bit_use_double_quant", ""},
    {"lora_rank", "/peft/r", ""},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"lora_target", "/peft/target_modules", "", read_targets, Write::yes},
    {"oft_target", "/peft/target_modules", "", read_oft_target, Write::no},
    {"oft_block_size", "/peft/oft_block_size", ""},
    {"additional_target", "/peft/modules_to_save", ""},
    {"use_dora", "/peft/use_dora", ""},
    {"use_rslora", "/peft/use_rslora", ""},
    {"cutoff_len", "/training/max_length", ""},
    {"max_seq_length", "", "", read_foreign},
    {"bnb_4bit_*", "", "", read_foreign},
    {"load_in_*", "", "", read_foreign},
    {"llm_int8_*", "", "", read_foreign},
    {"max_length", "", "", read_generated_length},
    {"packing", "/training/packing", ""},
    {.key = "neat_packing", .pointer = "/training/packing", .values = "true", .is_switch = true},
    {"per_device_train_batch_size", "/training/per_device_train_batch_size", ""},
    {"flash_attn", "/model_args/attn_implementation",
     "fa2=flash_attention_2, fa3=flash_attention_3, disabled=eager, sdpa=sdpa", read_flash, Write::yes},
    {"disable_gradient_checkpointing", "/training/gradient_checkpointing", "true=false, false=true",
     read_disabled_checkpointing, Write::yes},
    {"use_reentrant_gc", "/training/gradient_checkpointing_kwargs/use_reentrant", ""},
    {"enable_liger_kernel", "/training/use_liger_kernel", ""},
    {"pure_bf16", "/model_args/dtype", "", read_pure_bf16},
    {"use_badam", "/model_args/dtype", "", read_badam},
    {.key = "upcast_layernorm", .pointer = "/quantization/upcast", .values = "norms", .is_switch = true},
    {"use_unsloth_gc", "/training/activation_offloading", "", read_unsloth_checkpointing, Write::yes},
    {"compute_accuracy", "/training/compute_metrics", "", read_accuracy},
    {"predict_with_generate", "/training/compute_metrics", "", read_generation},
    {"torch_empty_cache_steps", "/training/torch_empty_cache_steps", ""},
    {"save_steps", "/training/save_steps", ""},
    {"save_total_limit", "/training/save_total_limit", ""},
    {"do_eval", "/training/eval_strategy", "", read_implied, Write::no},
    {"max_new_tokens", "/rl/max_completion_length", "", read_implied, Write::no},
    {"ref_model", "/rl/reference_model", "", read_implied, Write::no},
    {"image_max_pixels", "/vision/image_size", "", read_pixels},
    {"image_resolution", "/vision/image_size", "", read_pixels, Write::no},  // until 0.9.1
    {"train_mm_proj_only", "/vision/freeze_language_model", "", read_projector_only, Write::no},
    {"crop_to_patches", "/vision/max_tiles", "", read_crop},
    {"freeze_vision_tower", "/vision/freeze_vision_tower", "", read_frozen, Write::yes},
    {"freeze_multi_modal_projector", "/vision/freeze_multi_modal_projector", "", read_frozen, Write::yes},
    {"freeze_language_model", "/vision/freeze_language_model", ""},
    {"pref_beta", "/rl/beta", ""},
    {"ray_num_workers", "/parallel/num_gpus", "", nullptr, Write::no},  // of Ray alone
    {.key = "use_muon", .pointer = "/training/optim", .values = "muon", .is_switch = true},
    {"freeze_trainable_layers", "/training/freeze_trainable_layers", "", read_trained_layers, Write::no},
    {"freeze_extra_modules", "/training/unfrozen_parameters", "", read_implied, Write::no},
    {"use_galore", "/training/optim", "", read_implied, Write::no},
    {"galore_rank", "/training/optim_args", "", read_implied, Write::no},
    {"galore_target", "/training/optim_target_modules", "", read_implied, Write::no},
    {"galore_layerwise", "/training/optim", "", read_implied, Write::no},
    {"use_apollo", "/training/optim", "", read_implied, Write::no},
    {"apollo_rank", "/training/optim_args", "", read_implied, Write::no},
    {"apollo_target", "/training/optim_target_modules", "", read_implied, Write::no},
    {"apollo_layerwise", "/training/optim", "", read_implied, Write::no},
};
// Ranks and targets as hparams/finetuning_args.py has them.
constexpr ProjectionKeys projections[] = {
    {"galore", "use_galore", "galore_rank", 16, "galore_target", "galore_layerwise"},
    {"apollo", "use_apollo", "apollo_rank", 16, "apollo_target", "apollo_layerwise"},
};
constexpr std::string_view irrelevant =
    "cache_dir use_fast_tokenizer split_special_tokens model_revision low_cpu_mem_usage moe_aux_loss_coef "
    "offload_folder use_kv_cache hf_hub_token ms_hub_token om_hub_token print_param_status "
    "trust_remote_code template dataset eval_dataset dataset_dir media_dir image_dir train_on_prompt "
    "mask_history streaming buffer_size mix_strategy interleave_probs overwrite_cache preprocessing_* "
    "max_samples eval_num_beams ignore_pad_token_for_loss val_size eval_on_each_dataset tool_format "
    "default_system enable_thinking preserve_thinking tokenized_path data_shared_file_system do_sample "
    "temperature top_p top_k num_beams repetition_penalty length_penalty skip_special_tokens loraplus_lr_* "
    "pissa_* pref_ftx pref_bco_weight dpo_label_smoothing kto_chosen_weight kto_rejected_weight "
    "simpo_gamma ppo_buffer_size ppo_epochs ppo_score_norm ppo_target ppo_whiten_rewards ld_alpha "
    "galore_update_interval galore_scale galore_proj_type apollo_update_interval apollo_scale apollo_proj "
    "apollo_proj_type apollo_scale_type apollo_scale_front use_swanlab swanlab_* asft_alpha eaft_alpha "
    "use_dft_loss use_eaft_loss disable_shuffling early_stopping_steps plot_loss "
    "include_effective_tokens_per_second ray_init_kwargs* ray_run_name ray_storage_* resources_per_worker* "
    "placement_strategy master_addr master_port enable_torch_profiler profiler_* profile_modules task "
    "task_dir lang n_shot save_dir download_mode video_fps image_min_pixels video_min_pixels "
    "use_audio_in_video audio_sampling_rate image_do_pan_and_scan export_* vllm_* sglang_* infer_dtype "
    "hyper_parallel_args* bias_activation_fusion apply_rope_fusion overlap_* moe_grouped_gemm "
    "cross_entropy_loss_fusion masked_softmax_fusion calculate_per_token_loss account_for_* extra_config* "
    "moe_token_dispatcher_type export_hf_on_finish adapter_folder cutoff_ratio";
constexpr std::string_view implied =
    "adapter_name_or_path resize_vocab add_tokens add_special_tokens new_special_tokens_config "
    "init_special_tokens new_special_tokens "
    "rope_scaling train_from_scratch infer_backend use_v1_kernels compute_dtype device_map model_max_length "
    "block_diag_attn create_new_adapter oft_rank module_dropout "
    "quantization_device_map ref_model_quantization_bit reward_model_type reward_model_quantization_bit "
    "do_train do_predict badam_* megatron* use_packed_sequences";
constexpr std::string_view unpriced =
    "shift_attn mixture_of_depths use_unsloth upcast_lmhead_output freeze_trainable_modules "
    "ref_model_adapters reward_model reward_model_adapters use_llama_pro use_adam_mini use_megatron_bridge "
    "virtual_pipeline_model_parallel_size hyper_parallel_cp_size use_hyper_parallel use_asft_loss fp8 "
    "fp8_* use_kt kt_* tensor_model_parallel_size sequence_parallel pipeline_model_parallel_size "
    "expert_model_parallel_size context_parallel_size use_distributed_optimizer recompute_granularity "
    "recompute_method recompute_num_layers video_max_pixels video_resolution video_maxlen";
constexpr Table table{rows, irrelevant, implied, unpriced};
constexpr Section sections[] = {
    {"", &table}, {"", &training_table}, {"", &launcher_table}, {"kt_config", &table}};

// Evaluation once the training is over is priced as one after an epoch: the optimizer's states are there.
void finish_evaluation(Reading& reading) {
  const Leaf* at_the_end = reading.leaf("do_eval");
  if (at_the_end == nullptr || !reading.is_on("do_eval") || reading.has("/training/eval_strategy")) return;
  reading.set("/training/eval_strategy", "epoch", at_the_end);
  reading.finding(*at_the_end).message = "evaluated once, after the training";
}

// A resized vocabulary trains embeddings and head beside the adapters (model/adapter.py _setup_lora_tuning), and new
// tokens resize it (model/patcher.py patch_tokenizer; new_special_tokens until 0.9.1).
void finish_vocabulary(Reading& reading) {
  const Leaf* grown = reading.is_on("resize_vocab") ? reading.leaf("resize_vocab") : nullptr;
  for (const char* key :
       {"add_tokens", "add_special_tokens", "new_special_tokens", "new_special_tokens_config"}) {
    if (grown == nullptr) grown = reading.leaf(key);
  }
  if (grown == nullptr || !reading.has("/peft") || reading.has("/peft/modules_to_save")) return;
  reading.set("/peft/modules_to_save", Json::array({"embed_tokens", "lm_head"}), grown);
}

// train/trainer_utils.py create_reward_model: by default an adapter beside the policy's; a model of its own is frozen
// beside it, as a reference would be, which adapters make needless.
void finish_reward(Reading& reading) {
  const Leaf* model = reading.leaf("reward_model");
  const std::string type = reading.word("reward_model_type");
  if (!reading.has("/peft")) return;
  if (model != nullptr && (type.empty() || type == "lora"))
    reading.mark(*model, Use::implied, "an adapter beside the policy's");
  if (type != "full") return;
  reading.set("/rl/reference_model", "copy", model);
  reading.notes.emplace_back("The reward model is counted as a frozen copy of the model that is trained.");
}

// train/trainer_utils.py create_ref_model: adapters are switched off under LoRA alone.
void finish_reference(Reading& reading) {
  const std::string stage = reading.word("stage");
  if (stage == "ppo") {
    const Leaf* fresh = reading.leaf("max_new_tokens");
    if (fresh != nullptr) reading.set("/rl/max_completion_length", *fresh);
    if (!reading.has("/training/max_length")) return;
    const Json prompt = reading.values["/training/max_length"];
    reading.drop("/training/max_length", "of a prompt");
    reading.set("/rl/max_prompt_length", prompt, reading.leaf("cutoff_len"));
  }
  if (stage == "ppo") finish_reward(reading);
  if (stage != "dpo" && stage != "kto") return;
  const Leaf* other = reading.leaf("ref_model");
  const bool given = other != nullptr && !other->node->value.is_null();
  if (given || reading.word("finetuning_type") == "oft")
    reading.set("/rl/reference_model", "copy", given ? other : nullptr);
}

// data/loader.py _get_dataset_processor: packing is for SFT and pretraining; neat_packing elsewhere ends the run
// (core/recipe/refusals.cpp).
void finish_packing(Reading& reading) {
  if (reading.is_on("neat_packing")) {
    reading.values["/training/packing"] = true;
  } else if (reading.is_on("packing") && reading.has("/task") &&
             reading.values["/task"] != Json("pretrain")) {
    reading.drop("/training/packing", "LLaMA-Factory packs for SFT and pretraining alone");
  }
}

void finish(Reading& reading) {
  const bool trains = reading.leaf("stage") != nullptr || reading.is_on("do_train");
  if (reading.is_on("do_predict") && !reading.is_on("do_train")) return refuse_use(reading, "prediction");
  if (!trains && reading.leaf("export_dir") != nullptr)
    return refuse_use(reading, "merging or exporting adapters");
  if (!trains && reading.leaf("infer_backend") != nullptr) return refuse_use(reading, "inference");
  if (!trains && reading.leaf("cutoff_len") == nullptr && reading.leaf("dataset") == nullptr)
    return refuse_use(reading, "inference");
  // Without finetuning_type LLaMA-Factory trains LoRA.
  if (reading.leaf("finetuning_type") == nullptr) {
    reading.values["/peft"] = true;
    reading.notes.emplace_back("finetuning_type is not given; LLaMA-Factory then trains LoRA.");
  }
  if (!reading.has("/peft")) reading.drop("/peft", "there is no adapter, so this says nothing");
  for (const ProjectionKeys& keys : projections) finish_projection(reading, keys);
  finish_freezing(reading, "finetuning_type");
  finish_packing(reading);
  finish_vocabulary(reading);
  finish_evaluation(reading);
  finish_reference(reading);
}

constexpr Refusal refused[] = {
    {"optim", no_optimizer}, {"parallelism_config*"}, {"packing neat_packing", "", "!sft pretrain"}};

}  // namespace

const Format llamafactory{
    .id = "llamafactory",
    .name = "LLaMA-Factory",
    .stack = "llamafactory",
    .written = Language::yaml,
    .sections = sections,
    .marks =
        "!finetuning_type !stage cutoff_len template lora_target lora_rank "
        "quantization_bit infer_backend export_dir dataset do_train",
    .finish = finish,
    .write = write_llamafactory,
    .close = close_llamafactory,
    .refused = refused,
};
bool starts_llamafactory(const Node& command, std::string_view word) {
  if (word == "llamafactory-cli" || word.ends_with("llamafactory/cli.py")) return true;
  if (word.find("src/train.py") == std::string_view::npos &&
      word.find("src/train_bash.py") == std::string_view::npos)
    return false;
  // Others call their script so too.
  const Node* words = command.find("$words");
  const bool file = words != nullptr &&
                    std::any_of(words->items.begin(), words->items.end(),
                                [](const Node& one) { return one.raw.find(".yaml") != std::string::npos; });
  return file || command.find("stage") != nullptr || command.find("finetuning_type") != nullptr ||
         command.find("template") != nullptr;
}

}  // namespace plimsoll::exchange
