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

/// Fields of TrainingArguments that no row can write: how the GPUs share the work, the loss.
bool write_training(Writing& out, const std::string& below, const std::string& pointer,
                    const json::Json& value);

/// r, lora_r or target_modules make an adapter; without a peft_type it is LoRA.
void finish_flat(Reading& reading);

}  // namespace plimsoll::exchange
