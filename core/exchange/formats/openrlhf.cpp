// Commands of OpenRLHF: openrlhf.cli.train_sft, train_dpo, train_rm, in the flat flags until 0.9 and in the
// dotted ones since (openrlhf/cli/train_sft.py; openrlhf/models/actor.py; openrlhf/utils/deepspeed). What Ray
// places (train_ppo_ray) is refused: policy, critic, reference and vLLM have GPUs of their own there.
#include <algorithm>

#include "core/exchange/formats.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// A flag by either of its names.
const Leaf* either(const Reading& reading, std::string_view flat, std::string_view dotted) {
  const Leaf* found = reading.leaf(flat);
  return found != nullptr ? found : reading.leaf(dotted);
}

// The module of `python -m` or `deepspeed --module`, or of a list of arguments.
std::string module_of(const Reading& reading) {
  for (const char* key : {"module", "m", "$words"}) {
    const Leaf* leaf = reading.leaf(key);
    if (leaf == nullptr) continue;
    if (leaf->node->raw.find("openrlhf.cli.") == 0) return leaf->node->raw;
    for (const Node& item : leaf->node->items) {
      if (item.raw.find("openrlhf.cli.") == 0) return item.raw;
    }
  }
  return "";
}

void read_module(Reading& reading, const Leaf& leaf) { reading.mark(leaf, Use::implied); }

void read_stage(Reading& reading, const Leaf& leaf) {
  const std::string stage = leaf.node->raw;
  if (stage == "0") return reading.set("/parallel/strategy", "ddp", &leaf);
  if (stage != "1" && stage != "2" && stage != "3")
    return reading.mark(leaf, Use::unsupported, "ZeRO has stages 0 to 3");
  reading.set("/parallel/strategy", "zero" + stage, &leaf);
}

void read_dtype(Reading& reading, const Leaf& leaf) {
  const bool half = leaf.path != "bf16" && reading.word(leaf.path) == "fp16";
  if (leaf.path == "bf16" && !reading.is_on("bf16")) return reading.mark(leaf, Use::implied);
  reading.set(half ? "/training/fp16" : "/training/bf16", true, &leaf);
}

// Samples of a batch in one row, one behind the other, without padding.
void read_packed(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/training/padded_batches", false, &leaf);
  if (!reading.has("/model_args/attn_implementation"))
    reading.values["/model_args/attn_implementation"] = "flash_attention_2";
}

void read_rank(Reading& reading, const Leaf& leaf) {
  if (leaf.node->value == Json(0)) return reading.mark(leaf, Use::implied, "no adapters");
  reading.set("/peft/r", leaf);
}

void read_optimizer(Reading& reading, const Leaf& leaf) {
  if (reading.word(leaf.path) == "adam") return reading.mark(leaf, Use::implied, "DeepSpeed's AdamW");
  reading.mark(leaf, Use::unsupported, "DeepSpeed's Muon is not replayed; AdamW is taken");
}

void read_evaluation_data(Reading& reading, const Leaf& leaf) {
  if (leaf.node->value.is_null()) return reading.mark(leaf, Use::implied, "no evaluation");
  reading.set("/training/eval_strategy", "epoch", &leaf);
}

constexpr Row rows[] = {
    {"$words", "", "", read_module},
    {"module", "", "", read_module},
    {"m", "", "", read_module},
    {"pretrain", "/model", ""},
    {"model.model_name_or_path", "/model", ""},
    {"micro_train_batch_size", "/training/per_device_train_batch_size", ""},
    {"train.micro_batch_size", "/training/per_device_train_batch_size", ""},
    {"train_batch_size", "/training/gradient_accumulation_steps", "", read_implied},
    {"train.batch_size", "/training/gradient_accumulation_steps", "", read_implied},
    {"max_len", "/training/max_length", ""},
    {"data.max_len", "/training/max_length", ""},
    {"max_epochs", "/data/epochs", ""},
    {"train.max_epochs", "/data/epochs", ""},
    {"zero_stage", "/parallel/strategy", "", read_stage},
    {"ds.zero_stage", "/parallel/strategy", "", read_stage},
    {"bf16", "/training/bf16", "", read_dtype},
    {"data_type", "/training/bf16", "", read_dtype},
    {"param_dtype", "/training/bf16", "", read_dtype},
    {"ds.param_dtype", "/training/bf16", "", read_dtype},
    {.key = "flash_attn",
     .pointer = "/model_args/attn_implementation",
     .values = "flash_attention_2",
     .is_switch = true},
    {"attn_implementation", "/model_args/attn_implementation", "", read_attention_name},
    {"ds.attn_implementation", "/model_args/attn_implementation", "", read_attention_name},
    {"packing_samples", "/training/padded_batches", "", read_packed},
    {"ds.packing_samples", "/training/padded_batches", "", read_packed},
    {"gradient_checkpointing", "/training/gradient_checkpointing", ""},
    {"model.gradient_checkpointing_enable", "/training/gradient_checkpointing", ""},
    {"gradient_checkpointing_use_reentrant", "/training/gradient_checkpointing_kwargs/use_reentrant", ""},
    {"model.gradient_checkpointing_reentrant", "/training/gradient_checkpointing_kwargs/use_reentrant", ""},
    {.key = "adam_offload",
     .pointer = "/parallel/zero_optimization/offload_optimizer/device",
     .values = "cpu",
     .is_switch = true},
    {.key = "ds.adam_offload",
     .pointer = "/parallel/zero_optimization/offload_optimizer/device",
     .values = "cpu",
     .is_switch = true},
    {"overlap_comm", "/parallel/zero_optimization/overlap_comm", ""},
    {"ds.overlap_comm", "/parallel/zero_optimization/overlap_comm", ""},
    {"use_liger_kernel", "/training/use_liger_kernel", ""},
    {"ds.use_liger_kernel", "/training/use_liger_kernel", ""},
    {"ring_attn_size", "/parallel/sequence_parallel_size", ""},
    {"ds.ring_attn_size", "/parallel/sequence_parallel_size", ""},
    {"load_in_4bit", "/quantization/load_in_4bit", ""},
    {"ds.load_in_4bit", "/quantization/load_in_4bit", ""},
    {"lora_rank", "/peft/r", "", read_rank},
    {"ds.lora.rank", "/peft/r", "", read_rank},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"ds.lora.alpha", "/peft/lora_alpha", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"ds.lora.dropout", "/peft/lora_dropout", ""},
    {"target_modules", "/peft/target_modules", "", read_targets},
    {"ds.lora.target_modules", "/peft/target_modules", "", read_targets},
    {"beta", "/rl/beta", ""},
    {"model.beta", "/rl/beta", ""},
    {"optim", "/training/optim", "", read_optimizer},
    {"eval_dataset", "/training/eval_strategy", "", read_evaluation_data},
    {"eval.dataset", "/training/eval_strategy", "", read_evaluation_data},
};
constexpr std::string_view irrelevant =
    "save_path save_steps save_hf_ckpt disable_ds_ckpt logging_steps eval_steps eval_split ckpt_path "
    "max_ckpt_* load_checkpoint use_ds_universal_ckpt max_norm seed full_determinism local_rank "
    "disable_fast_tokenizer dataloader_num_workers aux_loss_coef learning_rate lr_* min_lr_ratio "
    "adam_betas l2 dataset dataset_* max_samples train_split multiturn input_key output_key prompt_key "
    "chosen_key rejected_key input_template apply_chat_template tokenizer_chat_template use_wandb wandb_* "
    "use_tensorboard use_ms ipo label_smoothing nll_loss_coef margin_loss loss value_head_prefix "
    "compute_fp32_loss ckpt.* logger.* data.* eval.* train.seed train.full_determinism_enable "
    "train.max_samples model.aux_loss_coef model.ipo_enable model.label_smoothing model.nll_loss_coef "
    "model.loss_type model.value_head_prefix muon.* adam.* ds.use_universal_ckpt ds.ring_attn_head_stride "
    "ring_head_stride ring_attn_head_stride";
constexpr std::string_view implied = "pretrain_mode model.pretrain_mode_enable zpg ds.zpg ref_pretrain ref.*";
constexpr std::string_view unpriced =
    "grad_accum_dtype ds.grad_accum_dtype deepcompile ds.deepcompile ds_tensor_parallel_size "
    "ds.tensor_parallel_size torch_compile ref_offload ref.offload ds.experts_implementation";
constexpr Table table{rows, irrelevant, implied, unpriced};
constexpr Section sections[] = {{"", &table}, {"", &launcher_table}};

// train_batch_size counts all GPUs.
void finish_batch(Reading& reading) {
  const Leaf* global = either(reading, "train_batch_size", "train.batch_size");
  if (global == nullptr || !global->node->value.is_number_unsigned()) return;
  const uint64_t gpus = reading.count("/parallel/num_gpus", 0);
  const uint64_t shared = reading.count("/parallel/sequence_parallel_size", 1);
  const uint64_t micro = reading.count("/training/per_device_train_batch_size", 8);
  if (gpus == 0) {
    const std::string rows = global->node->raw, each = std::to_string(micro);
    reading.unsaid.push_back(
        {"/training/gradient_accumulation_steps",
         "A step takes " + rows + " rows on all GPUs together: " + rows + " / " + each + " / their number."});
    return reading.mark(*global, Use::unsupported,
                        "all GPUs together: with their number it says the gradient accumulation");
  }
  const uint64_t once = std::max<uint64_t>(1, micro * gpus / shared);
  reading.set("/training/gradient_accumulation_steps",
              std::max<uint64_t>(1, global->node->value.get<uint64_t>() / once), global);
}

// What the scripts do where no flag says otherwise.
void finish_defaults(Reading& reading, const std::string& script) {
  const auto otherwise = [&reading](const char* pointer, Json value) {
    if (!reading.has(pointer)) reading.values[pointer] = std::move(value);
  };
  otherwise("/training/per_device_train_batch_size", uint64_t{script == "train_rm" ? 1U : 8U});
  otherwise("/training/max_length", uint64_t{script == "train_sft" ? 2048U : 512U});
  otherwise("/parallel/strategy", "zero2");
  const bool half = reading.has("/training/fp16");
  if (!half) otherwise("/training/bf16", true);
  otherwise("/model_args/dtype", half ? "float16" : "bfloat16");
  // Flat flags without --attn_implementation are of the releases that took eager unless --flash_attn was on.
  const bool dotted = std::any_of(reading.all.begin(), reading.all.end(),
                                  [](const Leaf& leaf) { return leaf.path.find("ds.") == 0; });
  otherwise("/model_args/attn_implementation", dotted ? "flash_attention_2" : "eager");
  otherwise("/training/gradient_checkpointing_kwargs/use_reentrant", false);
  otherwise("/model_args/use_cache", false);
  otherwise("/training/optim", "adamw_torch_fused");
  if (reading.has("/training/eval_strategy"))
    otherwise("/training/per_device_eval_batch_size",
              reading.values["/training/per_device_train_batch_size"]);
  if (reading.has("/quantization/load_in_4bit")) {
    otherwise("/quantization/bnb_4bit_quant_type", "nf4");
    otherwise("/quantization/bnb_4bit_use_double_quant", true);
    otherwise("/quantization/prepare_for_kbit_training", false);
  }
  if (reading.has("/peft/r")) {
    reading.values["/peft"] = true;
    otherwise("/peft/target_modules", "all-linear");
  } else {
    reading.drop("/peft", "lora_rank is 0, so this says nothing");
  }
}

void finish(Reading& reading) {
  const std::string module = module_of(reading);
  const std::string script = module.substr(module.rfind('.') + 1);
  static constexpr std::pair<std::string_view, std::string_view> tasks[] = {
      {"train_sft", "sft"}, {"train_dpo", "dpo"}, {"train_rm", "reward"}, {"train_kto", "kto"}};
  const auto* const task = std::find_if(std::begin(tasks), std::end(tasks),
                                        [&script](const auto& row) { return row.first == script; });
  if (task == std::end(tasks)) {
    const bool ray = script.find("train_ppo") == 0;
    reading.errors.push_back({ray ? "unsupported" : "not_training", "",
                              ray ? "This starts OpenRLHF's PPO: policy, critic, reference, reward model and "
                                    "vLLM are placed on GPUs of "
                                    "their own or in turns, which is not replayed."
                                  : "This command of OpenRLHF is not one that is read: " + script + ".",
                              ray ? "openrlhf.cli.train_sft, train_dpo or train_rm; or a request of the "
                                    "policy alone, with task grpo or "
                                    "ppo and its model, batch and lengths"
                                  : "openrlhf.cli.train_sft, train_dpo, train_rm"});
    return;
  }
  reading.values["/stack"] = "loop";
  reading.values["/task"] = std::string(task->second);
  finish_batch(reading);
  finish_defaults(reading, script);
  reading.notes.emplace_back(
      "OpenRLHF trains in a loop of its own on DeepSpeed; its loss, log-probabilities of fp32 logits, is "
      "priced as the model's own cross-entropy.");
}

}  // namespace

const Format openrlhf{
    .id = "openrlhf",
    .name = "OpenRLHF",
    .written = Language::none,
    .sections = sections,
    .marks = "",
    .finish = finish,
};

}  // namespace plimsoll::exchange
