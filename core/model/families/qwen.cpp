// Qwen1.5, 2, 2.5 and 3, dense and with experts. Qwen2 has biases on q, k and v alone; Qwen3 drops them and
// normalises each head of q and k. Transformers 4.57, models/qwen2, qwen2_moe, qwen3, qwen3_moe.
#include <algorithm>

#include "core/model/families.h"

namespace plimsoll::model::families {

namespace {

DecoderTraits qwen2() {
  DecoderTraits traits;
  traits.intermediate = 22016;
  traits.kv_heads = 32;
  traits.vocab = 151936;
  traits.positions = 32768;
  traits.bias = true;
  traits.o_bias = false;
  traits.window_needs_switch = true;
  traits.window = 4096;
  return traits;
}

DecoderTraits qwen3() {
  DecoderTraits traits = qwen2();
  traits.bias_key = "attention_bias";
  traits.bias = false;
  traits.o_bias = true;
  traits.qk_norm = QkNorm::per_head;
  return traits;
}

void read_qwen_experts(ConfigReader& config, uint64_t count, uint64_t per_token, uint64_t width,
                       DecoderTraits& traits) {
  traits.hidden = 2048;
  traits.layers = 24;
  traits.experts.count = config.core("num_experts", count);
  traits.experts.per_token = config.size("num_experts_per_tok", per_token);
  traits.experts.width = config.size("moe_intermediate_size", width);
  traits.experts.at = "mlp.experts.*.";
  traits.expert_period = config.size("decoder_sparse_step", 1);
  traits.dense_layers = config.counts("mlp_only_layers");
}

}  // namespace

void read_qwen2(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_decoder(config, frame, qwen2(), network);
}

void read_qwen2_vl_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = qwen2();
  traits.hidden = 8192;
  traits.intermediate = 29568;
  traits.layers = 80;
  traits.heads = 64;
  traits.kv_heads = 8;
  traits.vocab = 152064;
  read_decoder(config, frame, traits, network);
}

void read_qwen2_moe(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = qwen2();
  traits.bias_key = "qkv_bias";
  traits.intermediate = 5632;
  traits.heads = 16;
  traits.kv_heads = 16;
  read_qwen_experts(config, 60, 4, 1408, traits);
  traits.experts.shared_width = config.size("shared_expert_intermediate_size", 5632);
  traits.experts.shared_switch = "mlp.shared_expert_gate";
  read_decoder(config, frame, traits, network);
}

void read_qwen3(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = qwen3();
  traits.head_dim = 128;
  read_decoder(config, frame, traits, network);
}

void read_qwen3_moe(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = qwen3();
  traits.intermediate = 6144;
  traits.kv_heads = 4;
  read_qwen_experts(config, 128, 8, 768, traits);
  read_decoder(config, frame, traits, network);
}

// The experts of the vision-language models are two 3-D parameters, not modules.
void read_qwen3_vl_moe_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = qwen3();
  traits.intermediate = 5632;
  traits.heads = 16;
  traits.kv_heads = 16;
  traits.head_dim = 128;
  traits.positions = 128000;
  read_qwen_experts(config, 60, 4, 1408, traits);
  traits.experts.at = "mlp.experts.";
  traits.experts.fused = true;
  read_decoder(config, frame, traits, network);
}

namespace {

// Three of four layers are gated delta-nets; the fourth attends, and gates what it attended to.
DecoderTraits qwen3_5(ConfigReader& config) {
  DecoderTraits traits = qwen3();
  traits.intermediate = 12288;
  traits.heads = 16;
  traits.kv_heads = 4;
  traits.head_dim = 256;
  traits.vocab = 248320;
  traits.fp32_norm_product = true;
  traits.rotary_share = 0.25;
  traits.output_gate = config.flag("attn_output_gate", true);
  traits.most_layers = AttentionKind::linear_delta;
  traits.full_period = config.size("full_attention_interval", 4);
  traits.delta.key_heads = config.size("linear_num_key_heads", 16);
  traits.delta.key_dim = config.size("linear_key_head_dim", 128);
  traits.delta.value_heads = config.size("linear_num_value_heads", 32);
  traits.delta.value_dim = config.size("linear_value_head_dim", 128);
  traits.delta.kernel = config.size("linear_conv_kernel_dim", 4);
  return traits;
}

}  // namespace

// Qwen3.5's layers with the delta-net's projections fused two by two; the experts are modules in
// Transformers 4.
void read_qwen3_next(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = qwen3_5(config);
  traits.intermediate = 5632;
  traits.kv_heads = 2;
  traits.vocab = 151936;
  read_qwen_experts(config, 512, 10, 512, traits);
  traits.layers = 48;
  traits.output_gate = true;
  traits.experts.shared_width = config.size("shared_expert_intermediate_size", 512);
  traits.experts.shared_switch = "mlp.shared_expert_gate";
  read_decoder(config, frame, traits, network);
  for (LayerGroup& group : network.stacks.back().groups) {
    for (Linear& linear : group.linears) {
      const auto named = [&linear](const char* end) {
        return linear.path.size() > 12 && linear.path.rfind(end) != std::string::npos;
      };
      if (named("linear_attn.in_proj_qkv")) {
        linear.path += "z";
        linear.out += group.heads * group.value_head_dim;
      } else if (named("linear_attn.in_proj_b")) {
        linear.path += "a";
        linear.out *= 2;
      } else if (named("linear_attn.in_proj_z") || named("linear_attn.in_proj_a")) {
        linear.out = 0;
      }
    }
    group.linears.erase(std::remove_if(group.linears.begin(), group.linears.end(),
                                       [](const Linear& linear) { return linear.out == 0; }),
                        group.linears.end());
  }
}

void read_qwen3_5_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_decoder(config, frame, qwen3_5(config), network);
}

void read_qwen3_5_moe_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = qwen3_5(config);
  traits.kv_heads = 2;
  read_qwen_experts(config, 256, 8, 512, traits);
  traits.layers = 40;
  traits.experts.at = "mlp.experts.";
  traits.experts.fused = true;
  traits.experts.router_is_linear = false;
  traits.experts.shared_width = config.size("shared_expert_intermediate_size", 512);
  traits.experts.shared_switch = "mlp.shared_expert_gate";
  read_decoder(config, frame, traits, network);
}

}  // namespace plimsoll::model::families
