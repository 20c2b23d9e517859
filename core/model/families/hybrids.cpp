// Attention and state-space mixers in one network: Falcon-H1 has both side by side in every layer; Nemotron-H
// (and Nemotron 3) gives every layer one part alone: a mixer, attention, an MLP or experts.
// Transformers 5.23, models/falcon_h1, nemotron_h.
#include <string_view>

#include "core/model/families.h"
#include "core/model/families/state_space.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

void read_falcon_h1(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 4096);
  const bool bias = config.flag("attention_bias", false);
  network.vocab_size = config.core("vocab_size", 128000);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", 8192);

  LayerGroup group;
  group.name = "hybrid layers";
  group.layers = config.depth("num_hidden_layers", 32);
  group.heads = config.core("num_attention_heads", 32);
  group.kv_heads = kv_head_count(config, "num_key_value_heads", group.heads, 8);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, "num_attention_heads");
  group.activation = activation(config, "hidden_act", "silu", network);
  group.attention_dropout = config.share("attention_dropout", 0);
  StateSpace& s = group.state_space;
  s.inner = config.is_null("mamba_d_ssm") ? times(config.size("mamba_expand", 2), hidden)
                                          : config.size("mamba_d_ssm", 1024);
  s.heads = config.size("mamba_n_heads", 128);
  s.state = config.size("mamba_d_state", 256);
  s.groups = config.size("mamba_n_groups", 1);
  s.kernel = config.size("mamba_d_conv", 4);
  s.chunk = config.size("mamba_chunk_size", 256);
  s.gated_norm = config.flag("mamba_rms_norm", false);

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model"), layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  add_attention(group, layer + "self_attn.", hidden, bias, bias);
  add_state_space(group, layer + "mamba.", hidden,
                  {config.flag("mamba_proj_bias", false), config.flag("projectors_bias", false),
                   config.flag("mamba_conv_bias", true)});
  add_gated_mlp(group, layer + "feed_forward.", hidden, config.core("intermediate_size", 14336),
                config.flag("mlp_bias", false));
  add_rms(group.norms, NormPlace::before_attention, hidden);
  add_rms(group.norms, NormPlace::before_mlp, hidden);
  text.groups.push_back(std::move(group));
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

namespace {

// One letter a layer: M mixer, * attention, - MLP, E experts.
std::string nemotron_pattern(ConfigReader& config) {
  if (!config.has("layers_block_type") && !config.has("layer_types")) {
    return config.text("hybrid_override_pattern", "ME*-");
  }
  std::string letters;
  for (const std::string& type : config.texts(config.spelling({"layers_block_type", "layer_types"}))) {
    letters += type == "mamba" || type == "linear_attention"     ? 'M'
               : type == "attention" || type == "full_attention" ? '*'
               : type == "moe"                                   ? 'E'
                                                                 : '-';
  }
  return letters;
}

void add_plain_experts(ConfigReader& config, const std::string& at, uint64_t hidden, LayerGroup& group) {
  const uint64_t count = config.core("n_routed_experts", 8),
                 wide = config.size("moe_intermediate_size", 7688);
  const uint64_t latent = config.has("moe_latent_size") ? config.size("moe_latent_size", hidden) : 0;
  const uint64_t inside = latent > 0 ? latent : hidden;
  const uint64_t shared = config.size("moe_shared_expert_intermediate_size", 7688);
  group.experts = count;
  group.experts_per_token = std::min(config.size("num_experts_per_tok", 2), count);
  group.intermediate = wide;
  group.shared_intermediate = shared;
  const auto routed = [&](const char* name, uint64_t in, uint64_t out, Role role) {
    Linear& linear = add_linear(group.linears, at + "experts.*." + name, in, out, false, role);
    linear.count = count;
    linear.expert = true;
  };
  routed("up_proj", inside, wide, Role::up);
  routed("down_proj", wide, inside, Role::down);
  add_linear(group.linears, at + "gate", hidden, count, false, Role::router).module = Module::parameter;
  add_linear(group.linears, at + "shared_experts.up_proj", hidden, shared, false, Role::shared_up);
  add_linear(group.linears, at + "shared_experts.down_proj", shared, hidden, false, Role::shared_down);
  if (latent == 0) return;
  add_linear(group.linears, at + "fc1_latent_proj", hidden, latent, false, Role::latent_in);
  add_linear(group.linears, at + "fc2_latent_proj", latent, hidden, false, Role::latent_out);
}

}  // namespace

void read_nemotron_h(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 4096);
  const uint64_t heads = config.core("num_attention_heads", 32);
  const bool bias = config.flag("use_bias", false), mlp_bias = config.flag("mlp_bias", false);
  network.vocab_size = config.core("vocab_size", 131072);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", 4096);
  const std::string pattern = nemotron_pattern(config);
  if (pattern.size() != config.depth("num_hidden_layers", pattern.size())) {
    config.fail("hybrid_override_pattern",
                "The pattern names another number of layers than num_hidden_layers.",
                "one letter a layer: M, *, -, E");
    return;
  }
  Stack text = text_stack(hidden);
  const std::string base = frame.base("backbone"), mixer = base + "layers.#.mixer.";
  add_table(text, base + "embeddings", network.vocab_size, hidden);
  static constexpr struct {
    char letter;
    std::string_view name;
  } kinds[] = {
      {'*', "full-attention layers"}, {'M', "mamba layers"}, {'-', "MLP layers"}, {'E', "expert layers"}};
  for (const auto& kind : kinds) {
    LayerGroup group;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == kind.letter) group.indices.push_back(i);
    }
    group.layers = group.indices.size();
    if (group.layers == 0) continue;
    group.name = kind.name;
    group.attention = AttentionKind::none;
    group.gated = false;
    group.rotary_share = 0;
    group.activation = activation(config, "mlp_hidden_act", "relu2", network);
    add_rms(group.norms,
            kind.letter == '*' || kind.letter == 'M' ? NormPlace::before_attention : NormPlace::before_mlp,
            hidden);
    if (kind.letter == '*') {
      group.attention = AttentionKind::full;
      group.heads = heads;
      group.kv_heads = kv_head_count(config, "num_key_value_heads", heads, 8);
      group.head_dim = group.value_head_dim =
          config.size(config.spelling({"head_dim", "attention_head_dim"}), 128);
      add_attention(group, mixer, hidden, config.flag("attention_bias", false),
                    config.flag("attention_bias", false));
    } else if (kind.letter == 'M') {
      StateSpace& s = group.state_space;
      s.heads = config.size("mamba_num_heads", 128);
      s.inner = times(s.heads, config.size("mamba_head_dim", 64));
      s.state = config.size("ssm_state_size", 128);
      s.groups = config.size(config.spelling({"n_groups", "mamba_n_groups"}), 8);
      s.kernel = config.size(config.spelling({"conv_kernel", "mamba_d_conv"}), 4);
      s.chunk = config.size(config.spelling({"chunk_size", "mamba_chunk_size"}), 128);
      add_state_space(group, mixer, hidden,
                      {bias, bias, config.flag(config.spelling({"use_conv_bias", "mamba_conv_bias"}), true)});
    } else if (kind.letter == 'E') {
      add_plain_experts(config, mixer, hidden, group);
    } else {
      add_plain_mlp(group, mixer + "up_proj", mixer + "down_proj", hidden,
                    config.core("intermediate_size", 21504), mlp_bias);
    }
    text.groups.push_back(std::move(group));
  }
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace plimsoll::model::families
