// Writing scripts in Python.
#pragma once

#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

// TrainingArguments and LoraConfig alone.
inline constexpr Refusal hf_script_refusals[] = {
    {"optim", no_optimizer},
    {"disable_dropout eval_packing parallelism_config* bits group_size quant_method"},
    {"activation_offloading packing padding_free training.max_length training.max_seq_length training.max_seq_len"},
    {keys_of_other_adapters},
};

bool write_script(Writing& out, const std::string& pointer, const json::Json& value);
bool write_hf_script(Writing& out, const std::string& pointer, const json::Json& value);
bool write_unsloth_script(Writing& out, const std::string& pointer, const json::Json& value);
void close_hf_script(Writing& out);
void close_trl_script(Writing& out);
void close_unsloth_script(Writing& out);

}  // namespace plimsoll::exchange
