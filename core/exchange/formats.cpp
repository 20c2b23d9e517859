#include "core/exchange/formats.h"

#include "core/exchange/formats/autotrain.h"
#include "core/exchange/formats/fms_tuning.h"
#include "core/exchange/formats/refused.h"
#include "core/exchange/formats/verl_sft.h"

namespace plimsoll::exchange {

std::span<const Format* const> formats() {
  static constexpr const Format* table[] = {
      &axolotl,
      &llamafactory,
      &llamafactory_v1,
      &torchtune,
      &ms_swift,
      &trl_flat,
      &hf_python,
      &unsloth,
      &trl_python,
      &command_line,
      &sagemaker,
      &nested,
      &deepspeed,
      &accelerate,
      &peft,
      &hf_config,
      &safetensors_index,
      &request,
      &installed,
      &openrlhf,
      &autotrain,
      &fms_tuning,
      &lomo,
      &litgpt,
      &mlx_lm,
      &verl,
      &verl_sft,
      &nemo_rl,
      &sentence_transformers,
      &distillation,
      &trl_other,
      &agilerl,
      &diffusion,
      &serving,
      &megatron_lm,
      &mistral_finetune,
      &xtuner,
  };
  return table;
}

const Format* find_format(std::string_view id) {
  for (const Format* format : formats()) {
    if (format->id == id) return format;
  }
  return nullptr;
}

}  // namespace plimsoll::exchange
