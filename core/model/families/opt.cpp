// OPT. opt-350m embeds in 512 and works in 1024, with a linear on either side, and normalises after each
// block. Transformers 4.57, models/opt.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

void read_opt(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 768);
  const uint64_t embedded = config.size("word_embed_proj_dim", hidden);
  const bool bias = config.flag("enable_bias", true);
  const bool affine = config.flag("layer_norm_elementwise_affine", true);
  const bool before = config.flag("do_layer_norm_before", true);
  network.vocab_size = config.core("vocab_size", 50272);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.core("max_position_embeddings", 2048);

  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth("num_hidden_layers", 12);
  group.heads = group.kv_heads = config.core("num_attention_heads", 12);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, "num_attention_heads");
  group.rotary_share = 0;
  group.activation = activation(config, "activation_function", "relu", network);
  group.attention_dropout = config.share("attention_dropout", 0);
  group.residual_dropout = config.share("dropout", 0.1);

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model") + "decoder.";
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, embedded);
  // Two rows more than positions: the offset that fairseq left behind (OPTLearnedPositionalEmbedding).
  add_table(text, base + "embed_positions", saturating::plus(network.max_position_embeddings, 2), hidden,
            true);
  if (embedded != hidden) {
    add_linear(text.linears, base + "project_in", embedded, hidden, false, Role::other);
    add_linear(text.linears, base + "project_out", hidden, embedded, false, Role::other);
  }
  add_attention(group, layer + "self_attn.", hidden, bias, bias, {"q_proj", "k_proj", "v_proj", "out_proj"});
  add_plain_mlp(group, layer + "fc1", layer + "fc2", hidden,
                config.core("ffn_dim", saturating::times(4, hidden)), bias);
  add_layer_norm(group.norms, before ? NormPlace::before_attention : NormPlace::after_attention, hidden);
  add_layer_norm(group.norms, before ? NormPlace::before_mlp : NormPlace::after_mlp, hidden);
  if (before && !config.flag("_remove_final_layer_norm", false)) {
    add_layer_norm(text.norms, NormPlace::other, hidden);
  }
  for (Norm& norm : group.norms) norm.weight = norm.bias = affine;
  for (Norm& norm : text.norms) norm.weight = norm.bias = affine;
  text.groups.push_back(group);
  add_head(network, text, frame.head, embedded);
  network.stacks.push_back(text);
}

}  // namespace plimsoll::model::families
