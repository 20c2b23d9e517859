// "torchrun ... -m verl.trainer.fsdp_sft_trainer data.max_length=2048": the keys of verl's sft_trainer.yaml.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

extern const Format verl_sft;

/// Whether a command line starts verl's SFT trainer on FSDP.
bool is_verl_sft(const Node& command);

/// Words with "=" are keys of the configuration, beside the launcher's flags.
Node verl_sft_command(const Node& command);

}  // namespace plimsoll::exchange
