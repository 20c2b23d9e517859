#include "core/recipe/implementations.h"

#include <algorithm>

#include "core/json/words.h"

namespace plimsoll::recipe {

namespace {

// Sources: Lightning-AI/litgpt litgpt/config.py, model.py at 0.5.13; meta-pytorch/torchtune torchtune/models, modules on
// main; unslothai/unsloth unsloth/models, unsloth/kernels; unslothai/unsloth-zoo unsloth_zoo/temporary_patches.
constexpr Implementation implementation_rows[] = {
    {.id = "transformers", .transformers = true},
    {.id = "litgpt",
     .models =
         "falcon gemma gemma2 gemma3 gemma3_text gpt_neox llama mistral mixtral olmo olmo2 phi phi3 qwen2 "
         "qwen3 qwen3_moe stablelm stablelm_epoch",
     .names_by_role = true,
     .own_loop = true,
     .separate_projections = true,
     .one_gelu = true,
     .copies_tied_head = true,
     .unpacks_from_fp16 = true,
     .wraps_blocks_alone = true,
     .norm_product_in_fp32 = true,
     .norms_in_fp32_since = "0.0.20231024",
     .attends_in_one_place = true},
    {.id = "torchtune",
     .models =
         "gemma gemma2 llama llama4 llama4_text mistral mllama mllama_text_model phi3 qwen2 qwen3 qwen3_moe",
     .names_by_role = true,
     .own_loop = true,
     .separate_projections = true,
     .one_gelu = true,
     .rotary_in_fp32 = true,
     .repeats_keys = true},
    {.id = "unsloth",
     .patched = true,
     .separate_projections = true,
     .one_gelu = true,
     .forces_fp32 = true,
     .trains_tables_in_full = true,
     .unpacks_experts = true,
     .keeps_unpacking_buffers = true,
     .chooses_attention = true},
};

}  // namespace

std::span<const Implementation> implementations() { return implementation_rows; }

const Implementation& find_implementation(std::string_view id) {
  const auto* found = std::find_if(std::begin(implementation_rows), std::end(implementation_rows),
                                   [id](const Implementation& row) { return row.id == id; });
  return found == std::end(implementation_rows) ? implementation_rows[0] : *found;
}

const Implementation& implementation_of(const Recipe& recipe) {
  return find_implementation(recipe.model_args.implementation);
}

bool has_model(const Implementation& implementation, std::string_view model_type) {
  return implementation.models.empty() || model_type.empty() ||
         json::is_listed(model_type, implementation.models);
}

}  // namespace plimsoll::recipe
