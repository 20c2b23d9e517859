// AutoTrain's YAML and its command. Keys and defaults: huggingface/autotrain-advanced v0.8.36
// src/autotrain/trainers/clm/params.py LLMTrainingParams; what they become: clm/utils.py, train_clm_sft.py.
#include "core/exchange/formats/autotrain.h"

#include "core/exchange/formats/shared.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// "llm-sft", "llm-dpo", "llm:orpo"; the command has --trainer for it.
void read_autotrain_task(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  const std::string prefix = word.substr(0, 3), kind = word.size() > 4 ? word.substr(4) : "sft";
  if (prefix == "llm") return reading.set("/task", kind == "reward" ? "reward" : kind, &leaf);
  reading.errors.push_back({"unsupported", "", "Of AutoTrain the language model trainers alone are replayed.",
                            "task llm-sft, llm-dpo, llm-orpo, llm-reward"});
}

void read_trainer(Reading& reading, const Leaf& leaf) {
  reading.set("/task", leaf, "default=pretrain, generic=pretrain");
}

void read_mixed_precision(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word != "bf16" && word != "fp16") return reading.mark(leaf, Use::implied, "no mixed precision");
  reading.set(word == "bf16" ? "/training/bf16" : "/training/fp16", true, &leaf);
}

void read_quantization(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "int4") return reading.set("/quantization/load_in_4bit", true, &leaf);
  if (word == "int8") return reading.set("/quantization/load_in_8bit", true, &leaf);
  reading.mark(leaf, Use::implied, "the base is not quantised");
}

void read_no_checkpointing(Reading& reading, const Leaf& leaf) {
  reading.set("/training/gradient_checkpointing", !reading.is_on(leaf.path), &leaf);
}

void read_peft(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "no adapters");
  reading.values["/peft"] = true;
  reading.finding(leaf).pointer = "/peft";
  reading.mark(leaf, Use::used);
}

constexpr Row top_rows[] = {
    {"task", "/task", "", read_autotrain_task, Write::no},
    {"base_model", "/model", "", nullptr, Write::no},
};
constexpr Table top_table{top_rows, "project_name log data.* data hub.* hub", "backend llm train $words", ""};

constexpr Row rows[] = {
    {"model", "/model", ""},
    {"trainer", "/task", "", read_trainer, Write::no},
    {"block_size", "/training/max_length", ""},
    {"model_max_length", "", "", read_implied},
    {"batch_size", "/training/per_device_train_batch_size", ""},
    {"gradient_accumulation", "/training/gradient_accumulation_steps", ""},
    {"epochs", "/data/epochs", ""},
    {"optimizer", "/training/optim", ""},
    {"mixed_precision", "/training/bf16", "", read_mixed_precision, Write::no},
    {"quantization", "/quantization/load_in_4bit", "", read_quantization, Write::no},
    {"peft", "/peft", "", read_peft, Write::no},
    {"use_peft", "/peft", "", read_peft, Write::no},
    {"target_modules", "/peft/target_modules", "", read_targets},
    {"lora_r", "/peft/r", ""},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"dpo_beta", "/rl/beta", "", nullptr, Write::no},
    {.key = "use_flash_attention_2",
     .pointer = "/model_args/attn_implementation",
     .values = "flash_attention_2",
     .write = Write::no,
     .is_switch = true},
    {"disable_gradient_checkpointing", "/training/gradient_checkpointing", "", read_no_checkpointing,
     Write::no},
    {"save_total_limit", "/training/save_total_limit", ""},
    {"save_strategy", "/training/save_strategy", "no=no, false=no"},
    {"max_prompt_length", "/rl/max_prompt_length", ""},
    {"max_completion_length", "/rl/max_completion_length", ""},
};
constexpr std::string_view irrelevant =
    "padding scheduler lr warmup_ratio weight_decay max_grad_norm seed chat_template add_eos_token "
    "logging_steps log text_column prompt_text_column rejected_text_column push_to_hub repo_id username "
    "token project_name data_path train_split valid_split merge_adapter max_samples";
constexpr Table table{rows, irrelevant, "unsloth evaluation_strategy model_ref train llm backend $words",
                      "auto_find_batch_size"};
constexpr Section sections[] = {{"params", &table}, {"", &top_table}, {"", &table}};

void default_to(Reading& reading, const char* pointer, Json value) {
  if (!reading.has(pointer)) reading.values[pointer] = std::move(value);
}

void finish_autotrain(Reading& reading) {
  reading.values["/stack"] = "trl";
  default_to(reading, "/task", "pretrain");
  const bool sft = reading.values["/task"] == Json("sft");
  default_to(reading, "/training/packing", sft || reading.values["/task"] == Json("pretrain"));
  default_to(reading, "/training/per_device_train_batch_size", uint64_t{2});
  default_to(reading, "/training/gradient_accumulation_steps", uint64_t{4});
  default_to(reading, "/training/gradient_checkpointing", true);
  // configure_block_size: 1024 unless it is set, and no more than model_max_length.
  default_to(reading, "/training/max_length", uint64_t{1024});
  const bool adapted = reading.has("/peft");
  if (!adapted) {
    reading.drop("/peft", "peft is off, so this says nothing");
    reading.drop("/quantization", "without peft the base is not quantised");
  } else {
    default_to(reading, "/peft/r", uint64_t{16});
    default_to(reading, "/peft/lora_alpha", uint64_t{32});
    default_to(reading, "/peft/lora_dropout", 0.05);
    default_to(reading, "/peft/target_modules", "all-linear");
    const bool said =
        reading.leaf("params.quantization") != nullptr || reading.leaf("quantization") != nullptr;
    if (!said) reading.values["/quantization/load_in_4bit"] = true;  // quantization default "int4"
    if (reading.has("/quantization/load_in_4bit")) {
      reading.values["/quantization/bnb_4bit_quant_type"] = "nf4";
      reading.values["/quantization/bnb_4bit_compute_dtype"] = "float16";
    }
  }
  const bool quantised =
      reading.has("/quantization/load_in_4bit") || reading.has("/quantization/load_in_8bit");
  default_to(reading, "/training/gradient_checkpointing_kwargs/use_reentrant", adapted && quantised);
}

}  // namespace

const Format autotrain{
    .id = "autotrain",
    .name = "AutoTrain",
    .stack = "trl",
    .written = Language::none,
    .sections = sections,
    .marks = "!backend task base_model project_name params data log hub",
    .finish = finish_autotrain,
};

}  // namespace plimsoll::exchange
