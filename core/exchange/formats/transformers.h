// The key sets of Transformers, PEFT, bitsandbytes and TRL, which many formats carry in part: flat in a YAML
// file or on a command line, in sections of a nested file, as arguments of calls in Python.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

extern const Table training_table;      ///< TrainingArguments, SFTConfig, DPOConfig, GRPOConfig, ...
extern const Table model_table;         ///< from_pretrained
extern const Table quantization_table;  ///< BitsAndBytesConfig, GPTQConfig, AwqConfig, HqqConfig
extern const Table peft_table;          ///< LoraConfig, and adapter_config.json
extern const Table trl_model_table;     ///< TRL's ModelConfig and ScriptArguments, which are flat
extern const Table short_table;         ///< what people shorten those to: epochs, batch_size, optimizer
extern const Table script_table;        ///< flags of published training scripts that parse their own
extern const Table launcher_table;      ///< accelerate launch, torchrun, deepspeed, environment variables

/// OptimizerNames of Transformers 5.23 (training_args.py), and all other words.
constexpr std::string_view no_optimizer =
    "!adafactor adagrad adalomo adamw_8bit adamw_anyprecision adamw_bnb_8bit adamw_torch adamw_torch_4bit "
    "adamw_torch_8bit adamw_torch_fused adamw_torch_npu_fused adamw_torch_xla ademamix ademamix_8bit "
    "apollo_adamw apollo_adamw_layerwise galore_adafactor galore_adafactor_layerwise galore_adamw "
    "galore_adamw_8bit galore_adamw_8bit_layerwise galore_adamw_layerwise grokadamw lion_32bit lion_8bit lomo "
    "paged_adamw_32bit paged_adamw_8bit paged_ademamix_32bit paged_ademamix_8bit paged_lion_32bit "
    "paged_lion_8bit rmsprop rmsprop_bnb rmsprop_bnb_32bit rmsprop_bnb_8bit schedule_free_adamw "
    "schedule_free_radam schedule_free_sgd sgd stable_adamw";

/// Of adapters that are not LoRA, which LoraConfig does not have.
constexpr std::string_view keys_of_other_adapters =
    "adapter_layers adapter_len boft_block_size boft_n_butterfly_factor encoder_hidden_size "
    "feedforward_modules finetune_language_layers finetune_vision_layers init_r n_frequency num_vectors "
    "num_virtual_tokens oft_block_size vector_length";

/// Fields of TrainingArguments that no row can write: how the GPUs share the work, the loss.
bool write_training(Writing& out, const std::string& below, const std::string& pointer,
                    const json::Json& value);

/// r, lora_r or target_modules make an adapter; without a peft_type it is LoRA.
void finish_flat(Reading& reading);
/// Of flags that give a step's whole batch_size beside micro_batch_size: how many passes that is.
void share_whole_batch(Reading& reading);

}  // namespace plimsoll::exchange
