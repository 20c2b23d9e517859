// Adapters: PEFT's own configurations, and TRL's ModelConfig and ScriptArguments, which say them flat. Keys:
// huggingface/peft v0.21 src/peft/tuners/*/config.py; huggingface/trl v0.12 and v1.16
// trl/trainer/model_config.py, trl/scripts/utils.py.
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

void read_peft_type(Reading& reading, const Leaf& leaf) {
  reading.values["/peft"] = true;
  const std::string word = reading.word(leaf.path);
  if (word.empty() || word == "lora") {
    reading.finding(leaf).pointer = "/peft";
    return reading.mark(leaf, Use::used);
  }
  const std::string type = adapter_type(word);
  if (type.empty()) return reading.set("/peft/peft_type", leaf);
  reading.set("/peft/peft_type", type, &leaf);
}

void read_bias(Reading& reading, const Leaf& leaf) { reading.set("/peft/bias", leaf, "false=none"); }

void read_use_peft(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "no adapter");
  reading.values["/peft"] = true;
  reading.finding(leaf).pointer = "/peft";
  reading.mark(leaf, Use::used);
}

constexpr Row peft_rows[] = {
    {"base_model_name_or_path", "/model", ""},
    {"peft_type", "/peft", "", read_peft_type},
    {"r", "/peft/r", ""},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"alpha", "/peft/lora_alpha", ""},
    {"target_modules", "/peft/target_modules", "", read_targets, Write::yes},
    {"target_parameters", "/peft/target_parameters", ""},
    {"exclude_modules", "/peft/exclude_modules", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"dropout", "/peft/lora_dropout", ""},
    {"use_dora", "/peft/use_dora", ""},
    {"use_rslora", "/peft/use_rslora", ""},
    {"bias", "/peft/bias", "", read_bias, Write::yes},
    {"lora_bias", "/peft/lora_bias", ""},
    {"modules_to_save", "/peft/modules_to_save", ""},
    {"ensure_weight_tying", "/peft/ensure_weight_tying", ""},
    {"trainable_token_indices*", "/peft/num_trainable_tokens", "", read_token_indices, Write::no},
    {"autocast_adapter_dtype", "/peft/adapter_dtype", "true=float32", nullptr, Write::no},
    {"finetune_vision_layers", "/peft/finetune_vision_layers", ""},
    {"finetune_language_layers", "/peft/finetune_language_layers", ""},
    {"use_gradient_checkpointing", "/training/gradient_checkpointing", "", read_checkpointing, Write::no},
    {"max_seq_length", "/training/max_length", ""},
    {"feedforward_modules", "/peft/feedforward_modules", ""},
    {"num_virtual_tokens", "/peft/num_virtual_tokens", ""},
    {"init_r", "/peft/init_r", ""},
    {"encoder_hidden_size", "/peft/encoder_hidden_size", ""},
    {"adapter_len", "/peft/adapter_len", ""},
    {"adapter_layers", "/peft/adapter_layers", ""},
    {"oft_block_size", "/peft/oft_block_size", ""},
    {"boft_block_size", "/peft/boft_block_size", ""},
    {"boft_n_butterfly_factor", "/peft/boft_n_butterfly_factor", ""},
    {"n_frequency", "/peft/n_frequency", ""},
    {"num_vectors", "/peft/num_vectors", ""},
    {"vector_length", "/peft/vector_length", ""},
};
constexpr std::string_view peft_irrelevant =
    "auto_mapping* revision inference_mode fan_in_fan_out init_lora_weights layers_pattern "
    "alpha_pattern* megatron_config megatron_core loftq_config* eva_config* corda_config* "
    "lora_ga_config* arrow_config* kasa_config* task_type peft_version qalora_group_size runtime_config* "
    "random_state alora_invocation_tokens use_bdlora velora_config* monteclora_config* lora_ga* model "
    "temporary_location init_weights*";
constexpr std::string_view peft_implied = "finetune_attention_modules finetune_mlp_modules";
constexpr std::string_view peft_unpriced = "layers_to_transform rank_pattern* layer_replication* use_qalora";

constexpr Row trl_model_rows[] = {
    {"use_peft", "/peft", "", read_use_peft},
    {"use_peft_lora", "/peft", "", read_use_peft, Write::no},
    {"lora_r", "/peft/r", ""},
    {"lora_rank", "/peft/r", ""},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"lora_target_modules", "/peft/target_modules", "", read_targets, Write::yes},
    {"target_modules", "/peft/target_modules", "", read_targets, Write::yes},
    {"lora_modules_to_save", "/peft/modules_to_save", ""},
    {"lora_target_parameters", "/peft/target_parameters", ""},
    {"use_rslora", "/peft/use_rslora", ""},
    {"use_dora", "/peft/use_dora", ""},
    {"lora_bias", "/peft/bias", "", read_bias, Write::yes},
    {"use_bnb_nested_quant", "/quantization/bnb_4bit_use_double_quant", ""},
    {"use_nested_quant", "/quantization/bnb_4bit_use_double_quant", ""},
    {"use_4bit", "/quantization/load_in_4bit", "", nullptr, Write::no},
    {"use_8bit", "/quantization/load_in_8bit", "", nullptr, Write::no},
    // huggingface/peft examples/sft/train.py
    {"use_4bit_quantization", "/quantization/load_in_4bit", "", nullptr, Write::no},
    {"use_8bit_quantization", "/quantization/load_in_8bit", "", nullptr, Write::no},
    {"use_reentrant", "/training/gradient_checkpointing_kwargs/use_reentrant", "", nullptr, Write::no},
    {.key = "use_flash_attn",
     .pointer = "/model_args/attn_implementation",
     .values = "flash_attention_2",
     .write = Write::no,
     .is_switch = true},
};
constexpr std::string_view trl_irrelevant =
    "lora_task_type model_revision dataset_name dataset_config dataset_train_split dataset_test_split "
    "dataset_streaming ignore_bias_buffers datasets* datasets streaming test_split_size "
    "reward_model_name_or_path reward_funcs dataset_text_field dataset max_train_samples "
    "max_eval_samples preprocessing_num_workers dataset_path data_path train_file validation_file "
    "text_column with_tracking checkpointing_steps num_epochs hf_metadata_dataset tokenizer_revision "
    "tokenizer_name_or_path use_slow_tokenizer add_bos dataset_mixer*";

}  // namespace

const Table peft_table{peft_rows, peft_irrelevant, peft_implied, peft_unpriced};
const Table trl_model_table{trl_model_rows, trl_irrelevant, "", ""};

}  // namespace plimsoll::exchange
