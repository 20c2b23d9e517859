// Mamba, Mamba-2 and Falcon-Mamba: state-space mixers alone. Jamba: seven of them to one attention layer,
// with experts in every other layer. Transformers 5.23, models/mamba, mamba2, falcon_mamba, jamba; the first
// checkpoints of state-spaces write d_model and n_layer.
#include "core/model/families.h"
#include "core/model/families/state_space.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

uint64_t sixteenth(uint64_t hidden) { return (hidden + 15) / 16; }

// "auto" is a sixteenth of the width.
uint64_t step_rank(ConfigReader& config, std::string_view key, uint64_t hidden) {
  return config.is_text(key) ? sixteenth(hidden) : config.size(key, sixteenth(hidden));
}

void read_mixers(ConfigReader& config, const Frame& frame, bool second, Architecture& network) {
  const uint64_t hidden = config.core(config.spelling({"hidden_size", "d_model"}), second ? 4096 : 768);
  const uint64_t multiple = config.size("pad_vocab_size_multiple", config.has("d_model") ? 8 : 1);
  const uint64_t vocab = config.core("vocab_size", second ? 32768 : 50280);
  network.vocab_size = times((vocab + multiple - 1) / multiple, multiple);
  const bool ties = config.flag("tie_embeddings", !second);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", ties);

  LayerGroup group;
  group.name = "mamba layers";
  group.attention = AttentionKind::none;
  group.rotary_share = 0;
  group.layers = config.depth(config.spelling({"num_hidden_layers", "n_layer"}), second ? 64 : 32);
  StateSpace& s = group.state_space;
  s.inner = config.size("intermediate_size", times(config.size("expand", 2), hidden));
  s.state = config.size("state_size", second ? 128 : 16);
  s.kernel = config.size("conv_kernel", 4);
  if (second) {
    s.heads = config.size("num_heads", 128);
    s.groups = config.size("n_groups", 8);
    s.chunk = config.size("chunk_size", 256);
  } else {
    s.step_rank = step_rank(config, "time_step_rank", hidden);
  }
  Stack text = text_stack(hidden);
  const std::string base = frame.base("backbone");
  add_table(text, base + "embeddings", network.vocab_size, hidden);
  const bool bias = config.flag("use_bias", false);
  add_state_space(group, base + "layers.#.mixer.", hidden, {bias, bias, config.flag("use_conv_bias", true)});
  add_rms(group.norms, NormPlace::before_attention, hidden);
  text.groups.push_back(std::move(group));
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace

void read_mamba(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_mixers(config, frame, false, network);
}

void read_mamba2(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_mixers(config, frame, true, network);
}

void read_jamba(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 4096);
  const uint64_t layers = config.depth("num_hidden_layers", 32);
  const uint64_t heads = config.core("num_attention_heads", 32);
  const uint64_t intermediate = config.core("intermediate_size", 14336);
  const uint64_t experts_count = config.core("num_experts", 16);
  const uint64_t attention_period = config.size("attn_layer_period", 8);
  const uint64_t attention_offset = config.count("attn_layer_offset", 4);
  const uint64_t expert_period = config.size("expert_layer_period", 2);
  const uint64_t expert_offset = config.count("expert_layer_offset", 1);
  network.vocab_size = config.core("vocab_size", 65536);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", 262144);
  const Activation active = activation(config, "hidden_act", "silu", network);
  const uint64_t kv_heads = kv_head_count(config, "num_key_value_heads", heads, 8);
  const uint64_t head_dim = head_width(config, hidden, heads, "num_attention_heads");
  const double dropped = config.share("attention_dropout", 0);
  const bool bias = config.flag("mamba_proj_bias", false);

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model"), layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  for (const bool attends : {true, false}) {
    for (const bool routed : {false, true}) {
      LayerGroup group;
      for (uint64_t i = 0; i < layers; ++i) {
        const bool attention = i % attention_period == attention_offset;
        const bool experts = experts_count > 1 && i % expert_period == expert_offset;
        if (attention == attends && experts == routed) group.indices.push_back(i);
      }
      group.layers = group.indices.size();
      if (group.layers == 0) continue;
      group.name =
          std::string(attends ? "full-attention" : "mamba") + (routed ? " expert layers" : " layers");
      group.activation = active;
      group.rotary_share = 0;
      if (attends) {
        group.heads = heads;
        group.kv_heads = kv_heads;
        group.head_dim = group.value_head_dim = head_dim;
        group.attention_dropout = dropped;
        add_attention(group, layer + "self_attn.", hidden, false, false);
      } else {
        group.attention = AttentionKind::none;
        StateSpace& s = group.state_space;
        s.inner = times(config.size("mamba_expand", 2), hidden);
        s.state = config.size("mamba_d_state", 16);
        s.kernel = config.size("mamba_d_conv", 4);
        s.step_rank = step_rank(config, "mamba_dt_rank", hidden);
        s.normed_inputs = true;
        add_state_space(group, layer + "mamba.", hidden, {bias, bias, config.flag("mamba_conv_bias", true)});
      }
      if (routed) {
        Experts experts;
        experts.count = experts_count;
        experts.per_token = config.size("num_experts_per_tok", 2);
        experts.width = intermediate;
        experts.at = "feed_forward.experts.*.";
        experts.router = "feed_forward.router";
        add_experts(group, layer, hidden, experts);
        for (Linear& linear : group.linears) {  // also in Transformers 5
          if (linear.role == Role::router) linear.module = Module::linear;
        }
      } else {
        add_gated_mlp(group, layer + "feed_forward.", hidden, intermediate);
      }
      add_rms(group.norms, NormPlace::before_attention, hidden);
      add_rms(group.norms, NormPlace::before_mlp, hidden);
      text.groups.push_back(std::move(group));
    }
  }
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace plimsoll::model::families
