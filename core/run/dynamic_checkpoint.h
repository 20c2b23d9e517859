// What one of Unsloth's dynamic 4-bit checkpoints leaves in 16 bits.
//
//     modules_left(network, {.in_16_bits = 0.06});   // {"model.layers.1.mlp", "model.layers.2.mlp", ...}
//     dynamic_modules(run, catalog);                  // of Qwen3-14B with Unsloth, those
//
// FastLanguageModel does not quantise most models itself: it loads unsloth/<model>-unsloth-bnb-4bit in their
// place (unslothai/unsloth unsloth/models/mapper.py, from 2025.1 on). The config.json of such a checkpoint
// names the modules; where it is not at hand, the size of its file says how many there are.
#pragma once

#include <string>
#include <vector>

#include "core/run/run.h"

namespace plimsoll::run {

/// MLPs of the first layers, and single linears of the next, which together hold about its share of the
/// elements of the language model's linears; and the vision tower, where it stays in 16 bits. Which layers they
/// are is not known, and does not move the peak.
std::vector<std::string> modules_left(const model::Architecture& network,
                                      const recipe::DynamicCheckpoints& checkpoint);

/// Those of the checkpoint that the run's stack loads for its model (presets/stacks/unsloth.json), or whose
/// name the request gives; none where there is no such checkpoint. They become the default of
/// quantization.llm_int8_skip_modules under load_in_4bit.
std::vector<std::string> dynamic_modules(const Run& run, const Catalog& catalog);

/// Where a name promises such modules and no size is known, a note asks for them.
void note_dynamic_checkpoint(Run& run);

}  // namespace plimsoll::run
