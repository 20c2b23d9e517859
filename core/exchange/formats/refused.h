// Commands of trainers that are known and not replayed: see refused.cpp, where each is one row.
#pragma once

#include <string_view>
#include <vector>

#include "core/exchange/format.h"

namespace plimsoll::exchange {

extern const Format diffusion;
extern const Format megatron_lm;
extern const Format mistral_finetune;
extern const Format serving;
extern const Format xtuner;

/// The format that refuses a command in words, by the words that start a program and by the keys of its
/// overrides; null when it is none of these.
const Format* refused_program(const std::vector<std::string_view>& started, const Node& root);

/// The same of the name of a class: OnlineDPOTrainer, PRMConfig.
const Format* refused_class(std::string_view name);

/// Of a switch that hands the training to Megatron-Core: accelerate's, LLaMA-Factory's.
void refuse_megatron(Reading& reading, const Leaf& leaf);
/// `instead`: what can be pasted for it.
json::Error megatron_error(const char* instead);

}  // namespace plimsoll::exchange
