// Llama and the decoders that share its layer: q, k, v, o, a gated MLP, two norms.
// Defaults: the configuration classes of Transformers 4.57,
// models/<model_type>/configuration_<model_type>.py.
#include <string_view>

#include "core/model/families.h"

namespace plimsoll::model::families {

namespace {

DecoderTraits llama() {
  DecoderTraits traits;
  traits.bias_key = "attention_bias";
  traits.mlp_bias_key = "mlp_bias";
  return traits;
}

DecoderTraits mistral() {
  DecoderTraits traits;
  traits.intermediate = 14336;
  traits.kv_heads = 8;
  traits.positions = 131072;
  traits.window = 4096;
  return traits;
}

DecoderTraits cohere() {
  DecoderTraits traits;
  traits.hidden = 8192;
  traits.intermediate = 22528;
  traits.layers = 40;
  traits.heads = 64;
  traits.vocab = 256000;
  traits.positions = 8192;
  traits.tied = true;
  traits.bias_key = "attention_bias";
  traits.norm = NormKind::layer_written_out;
  traits.rotary_in_fp32 = true;
  traits.layout = NormLayout::single;
  traits.qk_norm = QkNorm::full_width;
  traits.qk_norm_key = "use_qk_norm";
  return traits;
}

}  // namespace

void read_llama(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_decoder(config, frame, llama(), network);
}

void read_mistral(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_decoder(config, frame, mistral(), network);
}

void read_mixtral(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = mistral();
  traits.window = 0;
  traits.experts.count = config.core("num_local_experts", 8);
  traits.experts.per_token = config.size("num_experts_per_tok", 2);
  traits.experts.width = config.core("intermediate_size", traits.intermediate);
  name_as_mixtral(traits.experts);
  read_decoder(config, frame, traits, network);
}

void read_granite(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = llama();
  traits.scaled_branches = true;
  read_decoder(config, frame, traits, network);
}

void read_smollm3(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = llama();
  traits.hidden = 2048;
  traits.layers = 36;
  traits.heads = 16;
  traits.kv_heads = 4;
  traits.vocab = 128256;
  traits.positions = 32768;
  traits.tied = true;
  traits.window_needs_switch = true;
  read_decoder(config, frame, traits, network);
}

void read_stablelm(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.hidden = 2560;
  traits.intermediate = 6912;
  traits.kv_heads = 32;
  traits.vocab = 50304;
  traits.positions = 4096;
  traits.bias_key = "use_qkv_bias";
  traits.o_bias = false;
  traits.norm = NormKind::layer;
  traits.norm_bias = true;
  traits.rotary_share = 0.25;
  traits.residual_dropout_key = "hidden_dropout";
  const bool parallel = config.flag("use_parallel_residual", false);
  if (parallel) traits.layout = NormLayout::single;
  // One LayerNorm without bias for each head (StableLmLayerNormPerHead).
  traits.qk_norm = QkNorm::full_width;
  traits.qk_norm_key = "qk_layernorm";
  read_decoder(config, frame, traits, network);
  // `hidden_states` and `self_attn_output` of StableLmDecoderLayer.forward.
  for (LayerGroup& group : network.stacks.back().groups) group.keeps_names = !parallel;
}

void read_cohere(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_decoder(config, frame, cohere(), network);
}

// Cohere without biases, with a window in three of four layers.
void read_cohere2(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = cohere();
  traits.qk_norm = QkNorm::none;
  traits.window = 4096;
  traits.most_layers = AttentionKind::sliding;
  traits.full_period = config.size("sliding_window_pattern", 4);
  read_decoder(config, frame, traits, network);
}

// Seed-OSS: biases on q, k and v, none on the output. What attention and MLP make is dropped by a function, which
// a trainer cannot switch off (models/seed_oss/modeling_seed_oss.py SeedOssAttention.forward, SeedOssMLP.forward).
void read_seed_oss(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = llama();
  traits.kv_heads = 8;
  traits.head_dim = 128;
  traits.vocab = 155136;
  traits.bias = true;
  traits.o_bias = config.flag("attention_out_bias", false);
  traits.residual_dropout_key = "residual_dropout";
  traits.dropout = 0.1;
  traits.positions = 524288;
  read_decoder(config, frame, traits, network);
}

// Apertus: no gate, an activation of its own (xIELU), q and k normalised.
void read_apertus(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = llama();
  traits.intermediate = 14336;
  traits.vocab = 131072;
  traits.plain_mlp = true;
  traits.activation = "xielu";
  traits.qk_norm = QkNorm::per_head;
  read_decoder(config, frame, traits, network);
  for (LayerGroup& group : network.stacks.back().groups) group.other_parameters = 2;  // xIELU's
}

// Nemotron 3 and 4, Minitron: squared ReLU without a gate, LayerNorm with 1 + weight.
void read_nemotron(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = llama();
  traits.hidden = 6144;
  traits.intermediate = 24576;
  traits.heads = 48;
  traits.vocab = 256000;
  traits.positions = 4096;
  traits.activation = "relu2";
  traits.plain_mlp = true;
  traits.norm = NormKind::layer_in_autocast_type;
  traits.norm_bias = true;
  traits.rotary_share = 0.5;
  read_decoder(config, frame, traits, network);
}

// Arcee AFM: Llama with squared ReLU and no gate.
void read_arcee(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = llama();
  traits.hidden = 2560;
  traits.intermediate = 18432;
  traits.activation = "relu2";
  traits.plain_mlp = true;
  traits.positions = 4096;
  read_decoder(config, frame, traits, network);
}

void read_ernie4_5(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = llama();
  traits.hidden = 1024;
  traits.intermediate = 3072;
  traits.layers = 18;
  traits.heads = 16;
  traits.kv_heads = 2;
  traits.head_dim = 128;
  traits.vocab = 103424;
  traits.positions = 131072;
  traits.tied = true;
  traits.bias_key = "use_bias";
  traits.mlp_bias_key = "use_bias";
  read_decoder(config, frame, traits, network);
}

// Hunyuan: Llama with q and k normalised head by head.
void read_hunyuan_dense(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = llama();
  traits.vocab = 290943;
  traits.qk_norm = QkNorm::per_head;
  read_decoder(config, frame, traits, network);
}

// EXAONE 4: norms after attention and MLP, q and k normalised head by head.
void read_exaone4(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = llama();
  traits.intermediate = 16384;
  traits.vocab = 102400;
  traits.layout = NormLayout::post;
  traits.qk_norm = QkNorm::per_head;
  read_decoder(config, frame, traits, network);
}

// A network with experts that is taken for a dense Llama would come out several times too small.
// Keys that no Llama has and that decide what is trained or kept.
struct Foreign {
  std::initializer_list<std::string_view> keys;
  const char *what, *allowed;
};
const Foreign foreign[] = {
    {{"pos_att_type", "position_buckets", "relative_attention_num_buckets"},
     "scores of relative positions",
     "an encoder whose attention is known: bert, roberta, deberta-v2, t5, ..."},
    {{"layer_norm_eps", "layer_norm_epsilon", "norm_eps", "type_vocab_size"},
     "norms, which are no RMSNorms,",
     "a model_type whose norms are known: bert, gpt_neox, phi, starcoder2, ..."},
    {{"vision_config", "img_processor", "vision_lora", "audio_config", "audio_processor", "speech_lora"},
     "towers for images or sound",
     "a model_type whose towers are known: qwen2_5_vl, llava, gemma3, whisper, ..."},
    {{"ssm_cfg", "mamba_d_state", "mamba_d_ssm", "ssm_state_size", "linear_attn_config"},
     "state-space or linear-attention layers",
     "a model_type whose layers are known: mamba2, falcon_h1, granitemoehybrid, qwen3_next, ..."},
    {{"kv_lora_rank"},
     "latent attention",
     "a model_type whose attention is known: deepseek_v3, kimi_linear, ..."},
};

void read_unknown(ConfigReader& config, const Frame& frame, Architecture& network) {
  for (std::string_view key : {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}) {
    if (config.count(key, 0) > 1) {
      config.fail(key, "This model_type is not known, and experts cannot be read as a Llama.",
                  "a model_type whose experts are known: mixtral, qwen3_moe, deepseek_v3, gpt_oss, ...");
      break;
    }
  }
  for (const Foreign& row : foreign) {
    for (const std::string_view key : row.keys) {
      if (!config.has(key)) continue;
      config.fail(key,
                  std::string("This model_type is not known, and its ") + row.what +
                      " cannot be read as a Llama's layers.",
                  row.allowed);
      break;
    }
  }
  DecoderTraits traits = llama();
  traits.positions = 0;
  read_decoder(config, frame, traits, network);
}

}  // namespace plimsoll::model::families
