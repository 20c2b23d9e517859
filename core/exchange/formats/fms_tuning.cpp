// fms-hf-tuning: the command of tuning/sft_trainer.py, and the JSON that SFT_TRAINER_CONFIG_JSON_PATH names.
// Keys and defaults: foundation-model-stack/fms-hf-tuning v3.2.2 tuning/config/configs.py, peft_config.py,
// acceleration_configs/*.py; what they do: tuning/sft_trainer.py, which calls TRL's SFTTrainer.
#include "core/exchange/formats/fms_tuning.h"

#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

void read_method(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "none" || word.empty()) {
    reading.all_trained = true;
    return reading.mark(leaf, Use::implied, "every parameter is trained");
  }
  reading.values["/peft"] = true;
  if (word == "pt") return reading.set("/peft/peft_type", "PROMPT_TUNING", &leaf);
  reading.finding(leaf).pointer = "/peft";
  reading.mark(leaf, Use::used);
}

void read_flash(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word("flash_attn_implementation");
  const bool on = reading.leaf("use_flash_attn") == nullptr || reading.is_on("use_flash_attn");
  reading.set("/model_args/attn_implementation",
              !on            ? "sdpa"
              : word.empty() ? "flash_attention_2"
                             : word,
              &leaf);
}

// fms-acceleration's plugin takes the padding out of a batch.
void read_padding_free(Reading& reading, const Leaf& leaf) {
  reading.set("/training/padded_batches", false, &leaf);
}

// "nf4 False": the type, and whether PEFT is left to the caller.
void read_bnb(Reading& reading, const Leaf& leaf) {
  const Node& node = *leaf.node;
  const std::string word = node.items.empty() ? node.raw : node.items.front().raw;
  reading.set("/quantization/load_in_4bit", true, &leaf);
  reading.values["/quantization/bnb_4bit_quant_type"] = word == "fp4" ? "fp4" : "nf4";
}

void read_gptq(Reading& reading, const Leaf& leaf) {
  reading.set("/quantization/quant_method", "gptq", &leaf);
  reading.values["/quantization/bits"] = uint64_t{4};
}

void read_stored_quantization(Reading& reading, const Leaf& leaf) {
  if (reading.leaf("dequantize") == nullptr || reading.is_on("dequantize"))
    return reading.mark(leaf, Use::implied, "the checkpoint is unpacked when it is loaded");
  reading.mark(leaf, Use::unsupported, "a base that stays in mxfp4 cannot be said yet");
}

constexpr Row rows[] = {
    {"model_name_or_path", "/model", ""},
    {"peft_method", "/peft", "", read_method, Write::no},
    {"max_seq_length", "/training/max_length", ""},
    {"torch_dtype", "/model_args/dtype", ""},
    {"use_flash_attn", "/model_args/attn_implementation", "", read_flash, Write::no},
    {"flash_attn_implementation", "/model_args/attn_implementation", "", read_flash, Write::no},
    {"padding_free", "/training/padded_batches", "", read_padding_free, Write::no},
    {"bnb_qlora", "/quantization/load_in_4bit", "", read_bnb, Write::no},
    {"auto_gptq", "/quantization/quant_method", "", read_gptq, Write::no},
    {"quantization_method", "", "", read_stored_quantization, Write::no},
};
constexpr std::string_view irrelevant =
    "training_data_path validation_data_path dataset_text_field dataset_conversation_field response_template "
    "instruction_template data_formatter_template data_config_path chat_template dataset_image_field "
    "tokenizer_name_or_path do_dataprocessing_only num_*_dataset_shards save_model_dir trackers "
    "tracker* aim_* clearml_* mlflow_* trainer_controller_config_file exp_metadata cache_dir "
    "prompt_tuning_init prompt_tuning_init_text alora_invocation_string enable_reduce_loss_sum "
    "scanner_output_filename training_logs_filename";
constexpr std::string_view implied = "dequantize multipack embedding_size_multiple_of add_special_tokens";
constexpr std::string_view unpriced = "fused_lora fast_kernels fast_moe";
constexpr Table table{rows, irrelevant, implied, unpriced};
constexpr Section sections[] = {
    {"", &table}, {"", &launcher_table}, {"", &training_table}, {"", &peft_table}};

void finish_fms(Reading& reading) {
  const auto usual = [&reading](const char* pointer, Json value) {
    if (!reading.has(pointer)) reading.values[pointer] = std::move(value);
  };
  reading.values["/stack"] = "trl";
  usual("/versions/transformers", "4.55.4");  // the newest that 3.2.2 takes
  usual("/versions/trl", "0.19.1");
  usual("/versions/peft", "0.19.1");
  usual("/training/max_length", uint64_t{4096});
  usual("/model_args/dtype", "bfloat16");
  usual("/model_args/attn_implementation", "flash_attention_2");
  usual("/model_args/use_cache", false);
  // TrainingArguments' own defaults reach SFTConfig, whose are others.
  usual("/training/bf16", false);
  usual("/training/gradient_checkpointing", false);
  usual("/training/optim", "adamw_torch");
  if (!reading.has("/peft")) {
    reading.drop("/peft", "peft_method is none, so this says nothing");
  } else if (reading.has("/peft/peft_type")) {
    usual("/peft/num_virtual_tokens", uint64_t{8});
  } else {
    usual("/peft/r", uint64_t{8});
    usual("/peft/lora_alpha", uint64_t{32});
    usual("/peft/lora_dropout", 0.05);
  }
}

}  // namespace

const Format fms_tuning{
    .id = "fms-hf-tuning",
    .name = "fms-hf-tuning",
    .stack = "trl",
    .written = Language::none,
    .sections = sections,
    .marks = "!peft_method !training_data_path data_config_path model_name_or_path use_flash_attn",
    .finish = finish_fms,
};

}  // namespace plimsoll::exchange
