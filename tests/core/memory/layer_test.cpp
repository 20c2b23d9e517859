// Known answers for one decoder layer: bytes a token that a shape-only run of the real Transformers, PEFT and
// bitsandbytes classes shows (Transformers 4.51.3, PyTorch 2.6, flash attention, K and V repeated).
#include <gtest/gtest.h>

#include "core/memory/step/layer_replay.h"

namespace plimsoll::memory {
namespace {

using model::Role;

struct Dims {
  double hidden, intermediate, heads, kv_heads, head_dim, batch, length;
};
constexpr Dims mistral{4096, 14336, 32, 8, 128, 4, 1536};
constexpr Dims llama2{4096, 11008, 32, 32, 128, 1, 2048};
constexpr Dims qwen{3584, 18944, 28, 4, 128, 1, 2048};

struct Method {
  bool full = false, autocast = true, four_bit = false, upcast = false, all = false;
  int adapter_size = 4;
  double dropout = 0;
};

class Layer {
 public:
  Layer(const Dims& d, const Method& m) {
    group.heads = static_cast<uint64_t>(d.heads);
    group.kv_heads = static_cast<uint64_t>(d.kv_heads);
    group.head_dim = group.value_head_dim = static_cast<uint64_t>(d.head_dim);
    group.gated = true;
    for (auto place : {model::NormPlace::before_attention, model::NormPlace::before_mlp}) {
      model::Norm norm;
      norm.place = place;
      norm.width = static_cast<uint64_t>(d.hidden);
      group.norms.push_back(norm);
    }
    const double q = d.heads * d.head_dim, k = d.kv_heads * d.head_dim;
    set(Role::q, d.hidden, q, m, true);
    set(Role::k, d.hidden, k, m, m.all);
    set(Role::v, d.hidden, k, m, true);
    set(Role::o, q, d.hidden, m, m.all);
    set(Role::gate, d.hidden, d.intermediate, m, m.all);
    set(Role::up, d.hidden, d.intermediate, m, m.all);
    set(Role::down, d.intermediate, d.hidden, m, m.all);
    program.group = &group;
    program.mode.autocast = m.autocast;
    program.batch = d.batch;
    program.length = d.length;
    program.hidden = d.hidden;
    program.norm_size = m.upcast ? 4 : 2;
    program.train_norms = m.full;
    program.attention.kernel = AttentionKernel::flash;
    program.attention.repeat_kv = true;
    options.input_size = m.upcast ? 4 : 2;
    options.keep_output = true;
    tokens = d.batch * d.length;
  }
  LayerReplay replay() const { return replay_layer(program, options); }

  model::LayerGroup group;
  LayerProgram program;
  LayerReplayOptions options;
  double tokens = 0;

 private:
  void set(Role role, double in, double out, const Method& m, bool target) {
    LinearSpec spec;
    spec.in = in;
    spec.out = out;
    spec.trainable = m.full;
    spec.storage = m.four_bit ? Storage::four_bit : Storage::plain;
    spec.double_quant = true;
    spec.r = target && !m.full ? 16 : 0;
    spec.adapter_size = m.adapter_size;
    spec.dropout = m.dropout;
    program.linears[static_cast<size_t>(role)] = spec;
  }
};

struct Known {
  const char* name;
  Dims dims;
  Method method;
  double no_grad, saved_and_output, forward, backward;  // bytes a token
};

const Known known[] = {
    {"Mistral full",
     mistral,
     {.full = true, .autocast = false},
     102400,
     221320,
     237704,
     235000 + 416.0 * 1048576 / 6144},
    {"Mistral LoRA q,v", mistral, {}, 102469, 176398, 221454, 270606},
    {"Mistral LoRA all", mistral, {.all = true}, 147787, 238355, 357139, 303955},
    {"Mistral LoRA all, dropout", mistral, {.all = true, .dropout = 0.05}, 197045, 277267, 436990, 371539},
    {"Mistral LoRA all, no autocast",
     mistral,
     {.autocast = false, .all = true},
     204800,
     315976,
     393800,
     389896},
    {"Mistral NF4 prepared",
     mistral,
     {.four_bit = true, .upcast = true, .all = true},
     233803,
     307987,
     406291,
     467795},
    {"Mistral NF4 prepared, dropout",
     mistral,
     {.four_bit = true, .upcast = true, .all = true, .dropout = 0.05},
     233803,
     355091,
     486142,
     500563},
    {"Mistral NF4, bf16 adapters",
     mistral,
     {.four_bit = true, .all = true, .adapter_size = 2},
     131072,
     205160,
     233800,
     270760},
    {"Llama-2 LoRA q,v", llama2, {}, 82688, 156616, 195016, 230856},
    {"Llama-2 LoRA all", llama2, {.all = true}, 121816, 212524, 311340, 264952},
    {"Llama-2 NF4 prepared",
     llama2,
     {.four_bit = true, .upcast = true, .all = true},
     187864,
     262188,
     358176,
     388856},
    {"Qwen2.5 LoRA all", qwen, {.all = true}, 181280, 260824, 403160, 344088},
    {"Qwen2.5 NF4 prepared",
     qwen,
     {.four_bit = true, .upcast = true, .all = true},
     294944,
     360152,
     509016,
     564248},
    {"Qwen2.5 NF4, bf16 adapters",
     qwen,
     {.four_bit = true, .all = true, .adapter_size = 2},
     165888,
     230744,
     304184,
     342424},
};

class KnownLayer : public testing::TestWithParam<Known> {};

TEST_P(KnownLayer, TakesTheBytesThatTheRealClassesTake) {
  const Known& row = GetParam();
  Layer layer(row.dims, row.method);
  const LayerReplay r = layer.replay();
  const double n = layer.tokens;
  EXPECT_NEAR(r.without_grad.total() / n, row.no_grad, row.no_grad * 0.002);
  EXPECT_NEAR((r.saved.total() + r.output_bytes) / n, row.saved_and_output, row.saved_and_output * 0.002);
  EXPECT_NEAR(r.forward_peak.total() / n, row.forward, row.forward * 0.002);
  EXPECT_NEAR(r.backward_peak.total() / n, row.backward, row.backward * 0.002);
}

INSTANTIATE_TEST_SUITE_P(Table, KnownLayer, testing::ValuesIn(known), [](const auto& info) {
  std::string name;
  for (const char* c = info.param.name; *c; ++c) {
    if (isalnum(static_cast<unsigned char>(*c))) name += *c;
  }
  return name;
});

// torch.nn.LayerNorm(bias=False), as DBRX and MPT have it.
TEST(LayerNorm, HasAGradientForItsBiasWhereItHasOne) {
  const auto gradients = [](bool bias, bool trained) {
    Layer layer(llama2, {});
    for (model::Norm& norm : layer.group.norms) {
      norm.kind = model::NormKind::layer;
      norm.bias = bias;
    }
    layer.program.train_norms = trained;
    return layer.replay().weight_gradients;
  };
  const double weights = 2 * 4096 * 2.0;
  EXPECT_EQ(gradients(false, true) - gradients(false, false), weights);
  EXPECT_EQ(gradients(true, true) - gradients(true, false), 2 * weights);
}

}  // namespace
}  // namespace plimsoll::memory
