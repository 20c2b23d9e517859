// DeepSeek V4: one key head of 512 for all queries, an output projection in groups, most layers read
// compressed keys beside a window, experts in every layer, and the residual is carried in four streams.
// Transformers 5.15, models/deepseek_v4.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

// Tokens that are read as one: 0 none, 4 with an indexer, 128 without.
std::vector<uint64_t> compression(ConfigReader& config, uint64_t layers) {
  std::vector<uint64_t> rates = config.counts("compress_ratios");
  if (!config.has("compress_ratios")) {
    for (uint64_t i = 0; i < layers; ++i) rates.push_back(i < 2 || i % 2 == 0 ? 128 : 4);
  }
  if (rates.size() < layers) {
    config.fail("compress_ratios", "compress_ratios names fewer layers than num_hidden_layers.",
                "one number a layer");
  }
  rates.resize(layers, 0);  // those of the layers that predict further tokens come last
  return rates;
}

// Keys and gates of one compressor: both halves of an overlapping window at the low rate.
void add_compressor(const std::string& at, uint64_t hidden, uint64_t rate, uint64_t width,
                    LayerGroup& group) {
  const uint64_t out = times(rate <= 4 ? 2 : 1, width);
  add_linear(group.linears, at + "kv_proj", hidden, out, false, Role::other);
  add_linear(group.linears, at + "gate_proj", hidden, out, false, Role::other);
  add_rms(group.norms, NormPlace::other, width);
  group.other_parameters = plus(group.other_parameters, times(rate, out));
}

}  // namespace

void read_deepseek_v4(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 4096);
  const uint64_t layers = config.depth("num_hidden_layers", 43);
  const uint64_t heads = config.core("num_attention_heads", 64);
  const uint64_t width = config.size("head_dim", 512);
  const uint64_t query_rank = config.size("q_lora_rank", 1024);
  const uint64_t out_groups = config.size("o_groups", 8);
  const uint64_t out_rank = times(out_groups, config.size("o_lora_rank", 1024));
  const uint64_t streams = config.size("hc_mult", 4);
  network.vocab_size = config.core("vocab_size", 129280);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", 1048576);
  network.notes.push_back(
      {"approximate_attention",
       "DeepSeek V4's weights are counted one by one; of its step, the four residual streams, the compressed "
       "keys and the grouped output projection are not replayed: its attention is taken as one with a single "
       "key head.",
       config.pointer("model_type")});

  Experts experts;
  experts.count = config.core("n_routed_experts", 256);
  experts.per_token = config.size("num_experts_per_tok", 6);
  experts.width = config.size("moe_intermediate_size", 2048);
  experts.at = "mlp.experts.*.";
  experts.router_is_linear = false;
  experts.shared = "mlp.shared_experts.";
  experts.shared_width = times(config.count("n_shared_experts", 1), experts.width);

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model"), layer = base + "layers.#.", at = layer + "self_attn.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  std::vector<uint64_t> rates = compression(config, layers);
  std::vector<uint64_t> kinds = rates;
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  for (const uint64_t rate : kinds) {
    LayerGroup group;
    group.name = rate == 0 ? "sliding-window layers"
                           : (rate <= 4 ? "compressed-attention layers" : "heavily compressed layers");
    group.layers = static_cast<uint64_t>(std::count(rates.begin(), rates.end(), rate));
    group.attention = rate == 0 ? AttentionKind::sliding : AttentionKind::full;
    group.window = rate == 0 ? config.size("sliding_window", 128) : 0;
    group.heads = heads;
    group.kv_heads = 1;
    group.head_dim = group.value_head_dim = width;
    group.rotary_share = config.number("partial_rotary_factor", 0.125, {0, 1});
    group.activation = activation(config, "hidden_act", "silu", network);
    add_rms(group.norms, NormPlace::before_attention, hidden);
    add_linear(group.linears, at + "q_a_proj", hidden, query_rank, false, Role::q_a);
    add_rms(group.norms, NormPlace::q_a, query_rank);
    add_linear(group.linears, at + "q_b_proj", query_rank, times(heads, width), false, Role::q);
    add_linear(group.linears, at + "kv_proj", hidden, width, false, Role::k);
    add_rms(group.norms, NormPlace::k, width);
    add_linear(group.linears, at + "o_a_proj", times(heads, width) / out_groups, out_rank, false, Role::other)
        .module = Module::parameter;
    add_linear(group.linears, at + "o_b_proj", out_rank, hidden, false, Role::o);
    // A sink for each head, and for attention and MLP the mixing of the streams.
    const uint64_t mixes = times(plus(2, streams), streams);
    group.other_parameters =
        plus(heads, times(2, plus(times(mixes, times(streams, hidden)), plus(mixes, 3))));
    if (rate > 0) add_compressor(at + "compressor.", hidden, rate, width, group);
    if (rate > 0 && rate <= 4) {
      const uint64_t small = config.size("index_head_dim", 128), many = config.size("index_n_heads", 64);
      const std::string indexer = at + "compressor.indexer.";
      add_compressor(indexer, hidden, rate, small, group);
      add_linear(group.linears, indexer + "q_b_proj", query_rank, times(many, small), false, Role::other);
      add_linear(group.linears, indexer + "scorer.weights_proj", hidden, many, false, Role::other);
    }
    add_rms(group.norms, NormPlace::before_mlp, hidden);
    add_experts(group, layer, hidden, experts);
    text.groups.push_back(std::move(group));
  }
  text.other_parameters = plus(times(streams, times(streams, hidden)), plus(streams, 1));
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace plimsoll::model::families
