// Attention through low-rank latents, as DeepSeek V2 brought it; several families share it.
//
//     group.heads = 32;
//     add_latent_attention(config, layer + "self_attn.", hidden, {}, group);
#pragma once

#include <string>

#include "core/model/builders.h"

namespace plimsoll::model::families {

/// Class defaults of q_lora_rank, kv_lora_rank, qk_nope_head_dim and v_head_dim; q_lora_rank null means
/// that queries are projected at once.
struct LatentWidths {
  uint64_t query_rank = 1536, key_rank = 512, plain = 128, value = 128;
};
/// Sets the kind of the group's attention and the widths of its heads; `heads` must be set before.
void add_latent_attention(ConfigReader& config, const std::string& at, uint64_t hidden,
                          const LatentWidths& defaults, LayerGroup& group);

}  // namespace plimsoll::model::families
