// LLaMA-Factory's second generation, src/llamafactory/v1, which the release of the first one holds.
// Keys: hiyouga/LLaMA-Factory v0.9.5 src/llamafactory/v1/config/*.py; what they do: its core/model_engine.py,
// core/base_trainer.py, plugins/model_plugins/peft.py, plugins/trainer_plugins/distributed/*.py.
#include "core/exchange/formats.h"
#include "core/exchange/formats/llamafactory.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// v1 names the optimizer; AdamW is what it takes anyway.
void read_optimizer_name(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "muon") return reading.set("/training/optim", "muon", &leaf);
  if (word.find("adamw") != std::string::npos) return reading.mark(leaf, Use::implied, "as it is anyway");
  reading.mark(leaf, Use::unsupported, "this optimizer cannot be said yet");
}

void read_peft_name(Reading& reading, const Leaf& leaf) { read_finetuning_type(reading, leaf); }

void read_dist_name(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "fsdp2") {
    reading.set("/parallel/strategy", "fsdp2", &leaf);
  } else if (word == "ddp") {
    reading.set("/parallel/strategy", "ddp", &leaf);
  } else if (word == "deepspeed") {
    reading.mark(leaf, Use::implied, "its file says the stage");
  } else {
    reading.mark(leaf, Use::unsupported, "this way of sharing the work cannot be said yet");
  }
}

void read_batching(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "normal") return reading.mark(leaf, Use::implied, "as it is anyway");
  if (word == "padding_free") {
    reading.set("/training/padded_batches", false, &leaf);
    return;
  }
  reading.mark(leaf, Use::unsupported, "this way of making batches cannot be said yet");
}

void read_kernels(Reading& reading, const Leaf& leaf) {
  const std::string word = leaf.node->raw + " " + reading.word("kernel_config.include_kernels");
  if (word.find("liger") == std::string::npos) return reading.mark(leaf, Use::implied);
  reading.set("/training/use_liger_kernel", true, &leaf);
}

constexpr Row v1_rows[] = {
    {"model", "/model", ""},
    {"micro_batch_size", "/training/per_device_train_batch_size", ""},
    {"cutoff_len", "/training/max_length", ""},
    {"save_steps", "/training/save_steps", ""},
    {"save_total_limit", "/training/save_total_limit", ""},
    {"bf16", "/training/bf16", ""},
    {"enable_activation_checkpointing", "/training/gradient_checkpointing", ""},
    {"flash_attn", "/model_args/attn_implementation",
     "fa2=flash_attention_2, fa3=flash_attention_3, disabled=eager, sdpa=sdpa", read_flash, Write::yes},
    {"max_steps", "/training/max_steps", ""},
    {"num_train_epochs", "/data/epochs", ""},
    {"peft_config.name", "/peft", "", read_peft_name},
    {"peft_config.r", "/peft/r", ""},
    {"peft_config.lora_alpha", "/peft/lora_alpha", ""},
    {"peft_config.lora_dropout", "/peft/lora_dropout", ""},
    {"peft_config.target_modules", "/peft/target_modules", "", read_targets, Write::yes},
    {"peft_config.use_dora", "/peft/use_dora", ""},
    {"peft_config.use_rslora", "/peft/use_rslora", ""},
    {"peft_config.modules_to_save", "/peft/modules_to_save", ""},
    {"quant_config.quantization_bit", "/quantization/load_in_4bit", "", read_quantization_bit},
    {"quant_config.double_quantization", "/quantization/bnb_4bit_use_double_quant", ""},
    {"quant_config.quantization_type", "/quantization/bnb_4bit_quant_type", ""},
    {"dist_config.name", "/parallel/strategy", "", read_dist_name},
    {"cp_size", "/parallel/sequence_parallel_size", ""},
    {"dist_config.cp_size", "/parallel/sequence_parallel_size", ""},
    {"dist_config.config_file", "/parallel/strategy", "", read_deepspeed_name},
    {"dist_config.offload_params", "/parallel/fsdp_config/offload_params", ""},
    {"dist_config.reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", "", read_reshard},
    {"batching_strategy", "/training/padded_batches", "", read_batching},
    {"kernel_config.name", "/training/use_liger_kernel", "", read_kernels},
    {"optim_config.name", "/training/optim", "", read_optimizer_name},
    {"peft_config.freeze_trainable_layers", "/training/freeze_trainable_layers", "", nullptr, Write::no},
};
constexpr std::string_view v1_irrelevant =
    "output_dir template trust_remote_code train_dataset eval_dataset sample_backend max_new_tokens "
    "learning_rate max_grad_norm batching_workers optim_config* lr_scheduler_config* seed full_determinism "
    "resume_from_checkpoint save_* logging_steps dist_config.dcp_path dist_config.* warmup_* "
    "lr_scheduler_type peft_config.adapter_name_or_path peft_config.export_* peft_config.infer_dtype "
    "dataloader_* report_to";
constexpr std::string_view v1_implied =
    "cp_mode dist_config.cp_mode model_class init_config* kernel_config* quant_config.name dist_config "
    "peft_config quant_config "
    "global_batch_size peft_config.cast_trainable_params_to_fp32";
constexpr std::string_view v1_unpriced =
    "dist_config.tp_size peft_config.freeze_* peft_config.* "
    "quant_config.*";
constexpr Table v1_table{v1_rows, v1_irrelevant, v1_implied, v1_unpriced};
constexpr Section v1_sections[] = {{"", &v1_table}};

// Batches of all GPUs together make a step.
void finish_batch(Reading& reading) {
  const Leaf* all = reading.leaf("global_batch_size");
  if (all == nullptr || !all->node->value.is_number_unsigned()) return;
  const uint64_t at_once =
      reading.count("/training/per_device_train_batch_size", 1) * reading.count("/parallel/num_gpus", 1);
  const auto global = all->node->value.get<uint64_t>();
  if (global % at_once != 0) return;
  reading.set("/training/gradient_accumulation_steps", global / at_once, all);
}

// What v1 does where the first generation, whose defaults the stack has, does otherwise.
void finish_defaults(Reading& reading) {
  const auto usual = [&reading](const char* pointer, Json value) {
    if (!reading.has(pointer)) reading.values[pointer] = std::move(value);
  };
  const bool shared = reading.has("/parallel/strategy") && reading.values["/parallel/strategy"] != "ddp";
  if (shared) {
    usual("/training/bf16", true);
  } else {
    reading.drop("/training/bf16", "acts under FSDP2 and DeepSpeed alone");
  }
  if (shared && reading.values["/parallel/strategy"] == "fsdp2")
    usual("/parallel/fsdp_config/reduce_dtype", "float32");
  usual("/training/per_device_train_batch_size", uint64_t{1});
  usual("/training/optim", "adamw_torch");
  usual("/training/gradient_checkpointing_kwargs/use_reentrant", false);
  if (reading.has("/quantization/load_in_4bit")) usual("/quantization/bnb_4bit_compute_dtype", "float16");
  if (reading.has("/training/use_liger_kernel")) {
    usual("/training/liger_kernel_config/fused_linear_cross_entropy", false);
    usual("/training/liger_kernel_config/cross_entropy", true);
  }
  if (reading.has("/peft")) {
    usual("/peft/r", uint64_t{8});
    usual("/peft/lora_dropout", 0.05);
  }
  const Leaf* cast = reading.leaf("peft_config.cast_trainable_params_to_fp32");
  if (cast != nullptr) reading.set("/training/upcast_trainable", *cast);
  usual("/vision/freeze_vision_tower", false);
  usual("/vision/freeze_multi_modal_projector", false);
}

void finish_v1(Reading& reading) {
  if (reading.leaf("train_dataset") == nullptr) {
    return refuse_use(reading,
                      reading.leaf("peft_config.export_dir") != nullptr ? "exporting adapters" : "inference");
  }
  if (!reading.has("/peft")) reading.drop("/peft", "there is no adapter, so this says nothing");
  finish_freezing(reading, "peft_config.name");
  finish_batch(reading);
  finish_defaults(reading);
}

}  // namespace

const Format llamafactory_v1{
    .id = "llamafactory-v1",
    .name = "LLaMA-Factory v1",
    .stack = "llamafactory",
    .written = Language::none,
    .sections = v1_sections,
    .marks =
        "!model_class !dist_config !sample_backend !kernel_config train_dataset peft_config "
        "quant_config model cutoff_len",
    .finish = finish_v1,
};

}  // namespace plimsoll::exchange
