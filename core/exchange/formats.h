// One line a format; each lies in formats/ under its own name.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

extern const Format axolotl;
extern const Format llamafactory;
extern const Format llamafactory_v1;
extern const Format torchtune;
extern const Format ms_swift;
extern const Format openrlhf;
extern const Format litgpt;
extern const Format lomo;
extern const Format trl_flat;
extern const Format hf_python;
extern const Format trl_python;
extern const Format unsloth;
extern const Format command_line;
extern const Format sagemaker;
extern const Format nested;
extern const Format deepspeed;
extern const Format accelerate;
extern const Format peft;
extern const Format hf_config;
extern const Format safetensors_index;
extern const Format request;
extern const Format mlx_lm;  // known and refused, see formats/refused.cpp
extern const Format verl;
extern const Format nemo_rl;
extern const Format sentence_transformers;
extern const Format distillation;
extern const Format trl_other;
extern const Format agilerl;
extern const Format installed;  // versions.cpp

}  // namespace plimsoll::exchange
