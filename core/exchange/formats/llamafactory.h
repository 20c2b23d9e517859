// What both generations of LLaMA-Factory say in the same way.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

/// Whether a word of a command is LLaMA-Factory's program, or its script with a flag or a file of its own.
bool starts_llamafactory(const Node& command, std::string_view word);
/// finetuning_type, and the name in v1's peft_config: full, freeze, lora, oft.
void read_finetuning_type(Reading& reading, const Leaf& leaf);
/// 4 and 8 bits are bitsandbytes' unless the method beside them says otherwise.
void read_quantization_bit(Reading& reading, const Leaf& leaf);
void read_quantization_method(Reading& reading, const Leaf& leaf);
/// How a release calls bitsandbytes; "": the newest.
std::string_view bitsandbytes_word(std::string_view release);
void read_flash(Reading& reading, const Leaf& leaf);
/// freeze_trainable_layers: as many of the last layers; below 0 of the first.
void read_trained_layers(Reading& reading, const Leaf& leaf);
/// To be called when all keys have been read, with the key that says `freeze`: layers that are trained.
void finish_freezing(Reading& reading, const char* kind);
/// Fields that no row can write, and what such a file needs besides.
bool write_llamafactory(Writing& out, const std::string& pointer, const json::Json& value);
void close_llamafactory(Writing& out);
/// A configuration that trains nothing.
void refuse_use(Reading& reading, const char* what);

}  // namespace plimsoll::exchange
