// Whose model code runs, and in what its forward() differs from Transformers' own.
//
//     const recipe::Implementation& code = recipe::implementation_of(recipe);   // of "litgpt"
//     code.names_by_role;     // true: its modules have other names than those of PEFT's targets
//
// What a trainer adds around the model is a stack's (stacks.h).
#pragma once

#include <span>
#include <string_view>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

struct Implementation {
  std::string_view id;
  std::string_view models = {};       ///< the model types it has, with spaces between them; empty: all
  bool transformers = false;          ///< Transformers' own classes, with their masks, hooks and modules
  bool patched = false;               ///< those, with fused kernels in their layers
  bool names_by_role = false;         ///< targets name what a module does and not the module
  bool own_loop = false;              ///< the loss is worked out beside the model, which returns no outputs
  bool separate_projections = false;  ///< what Transformers fuses (q, k and v; gate and up) are matrices each
  bool one_gelu = false;              ///< one kernel for every GELU

  bool copies_tied_head = false;      ///< a head that is the embedding in Transformers is a weight of its own
  bool unpacks_from_fp16 = false;     ///< a 4-bit base is quantised from float16 whatever the run's type
  bool wraps_blocks_alone = false;    ///< FSDP's units: frozen weights and adapters share a flat parameter
  bool norm_product_in_fp32 = false;  ///< RMSNorm multiplies by its weight before it casts
  std::string_view norms_in_fp32_since =
      {};                                ///< LitGPT's release; before, RMSNorm stays in the type of its input
  bool attends_in_one_place = false;     ///< an attention of its own (core/memory/layers/litgpt.h)
  bool rotary_in_fp32 = false;           ///< and casts back
  bool repeats_keys = false;             ///< a copy of keys and values for every head
  bool forces_fp32 = false;              ///< of some models, under fp16
  bool trains_tables_in_full = false;    ///< embedding and head, where they are named as targets
  bool unpacks_experts = false;          ///< experts that bitsandbytes leaves alone become 4-bit matrices
  bool keeps_unpacking_buffers = false;  ///< one matrix is unpacked into, for all layers
  bool chooses_attention = false;        ///< calls the kernels itself
};

/// The row of a word that "/model_args/implementation" allows; Transformers' for any other.
const Implementation& find_implementation(std::string_view id);
const Implementation& implementation_of(const Recipe& recipe);

std::span<const Implementation> implementations();

/// Whether it has such a model; true where the type is not known.
bool has_model(const Implementation& implementation, std::string_view model_type);

}  // namespace plimsoll::recipe
