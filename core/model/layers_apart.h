// Modules that a quantisation leaves as they are, and parameters that adapters stand on, in a few layers
// alone.
//
//     is_skipped("model.layers.#.mlp.up_proj", {"mlp"});               // true
//     with_layers_apart(network, {"model.layers.1.mlp"});             // 39 layers, and one whose paths say 1
//
// Unsloth's dynamic 4-bit checkpoints name such layers: that of Phi-4 keeps the MLPs of three layers and the
// output projections of two in 16 bits, 1.2 GiB (huggingface.co/unsloth/phi-4-unsloth-bnb-4bit config.json).
#pragma once

#include <string>
#include <vector>

#include "core/model/architecture.h"

namespace plimsoll::model {

/// Whether one of `names` is the module at `path`, what lies around it, or its own name, as Transformers
/// compares them (integrations/bitsandbytes.py _replace_with_bnb_linear). Where the language model stands in
/// the path says nothing: releases have moved it.
bool is_skipped(const std::string& path, const std::vector<std::string>& names);

/// Layers that `names` name by their number are groups of their own, with that number in their paths: of
/// layers named alike, the number of the first. `parameters` are named in the same way
/// ("7.mlp.experts.down_proj") and may have other names here than in the release that names them.
Architecture with_layers_apart(Architecture network, const std::vector<std::string>& names,
                               const std::vector<std::string>& parameters = {});

}  // namespace plimsoll::model
