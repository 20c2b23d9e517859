// Bytes per logit element that the real model classes show, by Transformers version, batch size, autocast and
// whether the outputs are still referenced in the backward pass.
#include "core/memory/head/head.h"

#include <gtest/gtest.h>

#include "core/recipe/loss_kernels.h"

namespace plimsoll::memory {
namespace {

constexpr double hidden = 64, vocabulary = 200000;

HeadProgram program(const char* transformers, double batch, bool autocast, bool keep) {
  HeadProgram p;
  p.layer.mode.autocast = autocast;
  p.layer.batch = batch;
  p.layer.length = 512;
  p.layer.hidden = hidden;
  p.head.in = hidden;
  p.head.out = vocabulary;
  p.head.size = 2;
  p.stock = stock_loss("hf", transformers, "llama");
  p.outputs_to_fp32 = autocast;
  p.keep_outputs = keep;
  return p;
}

struct Multiplier {
  const char* transformers;
  double batch;
  bool autocast, keep;
  double forward, backward;  // bytes a logit
};
const Multiplier multipliers[] = {
    {"4.30", 1, false, false, 4, 6},
    {"4.30", 2, false, false, 6, 6},
    {"4.30", 2, false, true, 6, 8},
    // In 16 bits until nll_loss, as tests/measured/real_trainer_step.py sees of BART's logits.
    {"4.30", 1, true, false, 8, 10},
    {"4.30", 2, true, false, 10, 10},
    {"4.30", 2, true, true, 10, 14},
    {"4.40", 1, false, false, 8, 12},
    {"4.40", 2, false, false, 12, 12},
    {"4.40", 2, true, true, 12, 16},
    {"4.40", 2, false, true, 12, 16},
    {"4.47", 1, true, false, 10, 12},
    {"4.47", 4, true, false, 14, 12},
    {"4.47", 2, false, true, 14, 14},
    {"4.47", 2, true, true, 14, 16},
    {"4.57", 1, true, false, 10, 12},
    {"4.57", 8, false, false, 10, 12},
    {"5.15", 4, true, true, 10, 16},
    {"5.15", 4, false, true, 10, 14},
};

class LogitBytes : public testing::TestWithParam<Multiplier> {};

TEST_P(LogitBytes, AreThoseOfTheLibraryVersion) {
  const Multiplier& row = GetParam();
  const HeadReplay replay = replay_head(program(row.transformers, row.batch, row.autocast, row.keep));
  const double logits = row.batch * 512 * vocabulary;
  EXPECT_NEAR(replay.forward_peak.total() / logits, row.forward, 0.02);
  EXPECT_NEAR(replay.backward_peak.total() / logits, row.backward, 0.02);
}
INSTANTIATE_TEST_SUITE_P(Table, LogitBytes, testing::ValuesIn(multipliers));

// torch.compile of F.cross_entropy(pred.float(), labels), and of a LlamaForCausalLM of
// Transformers 4.48, 4.57 and 5.23, with PyTorch 2.13: the 16-bit logits are all that is kept for the
// backward, which makes their gradient; where the model returns its logits, a tensor of zeros for them
// besides.
TEST(Head, ACompiledLossTakesFourBytesALogitAndTwoMoreWhereTheLogitsAreReturned) {
  for (const bool returned : {false, true}) {
    HeadProgram p = program("4.57", 2, false, false);
    p.compiled = true;
    p.returns_logits = returned;
    const HeadReplay replay = replay_head(p);
    const double logits = 2.0 * 512 * vocabulary;
    EXPECT_NEAR(replay.forward_peak.total() / logits, 2, 0.02);
    EXPECT_NEAR(replay.backward_peak.total() / logits, returned ? 6 : 4, 0.02);
  }
}

// torchtitan's ChunkedLossWrapper: one of eight chunks at a time, logits, their fp32 copy, log-probabilities
// and a gradient; compiled, logits and gradient.
TEST(Head, EightChunksWithABackwardEachTakeAnEighthOfTheLogits) {
  for (const bool compiled : {false, true}) {
    HeadProgram p = program("4.57", 2, false, false);
    p.kernel = "torchtitan_chunked";
    p.compiled = compiled;
    EXPECT_NEAR(replay_head(p).forward_peak.total() / (2.0 * 512 * vocabulary), compiled ? 0.5 : 1.75, 0.02);
  }
}

// LinearCrossEntropyLoss of torchtune's main branch, every storage of its forward and backward followed on a
// CPU (PyTorch 2.13), in bytes a logit; evaluated without a graph, one chunk at a time.
TEST(Head, LinearCrossEntropyInChunksKeepsOnlyLogProbabilities) {
  HeadProgram p = program("4.57", 2, false, false);
  p.kernel = "torchtune_linear";
  p.layer.hidden = p.head.in = 16;
  const double logits = 2.0 * 512 * vocabulary;
  EXPECT_NEAR(replay_head(p).forward_peak.total() / logits, 3.5 + 1.25, 0.005);
  EXPECT_NEAR(replay_head(p).held.total() / logits, 4, 0.005);
  EXPECT_NEAR(replay_head(p).backward_peak.total() / logits, 5, 0.005);
  EXPECT_NEAR(replay_head_without_grad(p).total() / logits, 1.25, 0.005);
  p.compiled = true;
  EXPECT_NEAR(replay_head(p).forward_peak.total() / logits, 2, 0.005);
  EXPECT_NEAR(replay_head(p).backward_peak.total() / logits, 2.25, 0.005);
}

// The gradient of a trained head goes through all chunks. With few tokens it is the larger part: then a
// chunk's own stands beside the sum.
TEST(Head, ATrainedHeadInChunksHoldsItsGradientTwice) {
  for (const bool accumulating : {false, true}) {
    HeadProgram p = program("4.57", 1, false, false);
    p.kernel = "torchtune_linear";
    p.layer.length = 8;
    p.layer.hidden = p.head.in = 4096;
    p.head.trainable = true;
    p.accumulating = accumulating;
    const double weight = p.head.in * p.head.out * p.head.size;
    EXPECT_NEAR(replay_head(p).backward_peak.total() / weight, 2, 0.05);
    EXPECT_NEAR(replay_head(p).weight_gradients, weight, 1);
    EXPECT_NEAR(replay_head(p).kept.total(), 0, 1);
  }
}

TEST(Head, LinearAndCrossEntropyInBf16TakesWhatAnA100Measured) {
  // Liger-Kernel benchmark data: fused_linear_cross_entropy, provider huggingface, V = 128256, H = 4096, full
  // pass, torch.nn.Linear without upcast, max_memory_allocated; two cuBLAS workspaces are part of it.
  const struct {
    double tokens, mebibytes;
  } rows[] = {{4096, 6092.282}, {8192, 9162.313}, {32768, 27582.500}};
  for (const auto& row : rows) {
    HeadProgram p = program("4.30", 1, false, false);
    p.layer.length = row.tokens;
    p.layer.hidden = p.head.in = 4096;
    p.head.out = 128256;
    p.head.trainable = true;
    p.accumulating = true;
    const double weight = 4096.0 * 128256 * 2;
    const double others = row.tokens * 8 + 3 * weight + row.tokens * 4096 * 2;
    const HeadReplay replay = replay_head(p);
    const double peak = std::max(replay.forward_peak.total(), replay.backward_peak.total()) + others;
    EXPECT_NEAR(peak / 1048576 + 16.25, row.mebibytes, row.mebibytes * 0.0005) << row.tokens;
  }
}

TEST(Head, ChunkedLossCostsMoreThanPlainLossForShortSequences) {
  // TRL 1.7's default on Qwen2.5-7B at 512 tokens: 3205 MiB against 891 MiB.
  HeadProgram p = program("5.15", 1, true, false);
  p.layer.hidden = p.head.in = 3584;
  p.head.out = 152064;
  p.kernel = "chunked_nll";
  EXPECT_NEAR(replay_head(p).forward_peak.total() / 1048576, 3205, 40);
  p.kernel = "stock";
  EXPECT_NEAR(replay_head(p).backward_peak.total() / 1048576, 891, 20);
}

// trl/kernels/chunked_logprob.py: a tile of 4,096 tokens and 32,768 words in 16 bits, whatever the batch is;
// a trained head's gradient adds up in fp32.
TEST(Head, TheFusedHeadOfTrlHoldsOneTile) {
  HeadProgram p = program("5.23", 64, true, false);
  p.kernel = "fused_lm_head";
  const double tile = 4096.0 * 32768 * 2, weights = hidden * vocabulary, states = 64.0 * 512 * hidden;
  const HeadReplay frozen = replay_head(p);
  EXPECT_NEAR(frozen.forward_peak.total(), tile, 12 * states);
  EXPECT_NEAR(frozen.backward_peak.total(), tile, 12 * states);
  EXPECT_LT(frozen.held.total(), 8 * states);
  p.head.trainable = true;
  EXPECT_NEAR(replay_head(p).backward_peak.total(), tile + 6 * weights, 12 * states);
}

// A row of one table without its row of the other would be replayed as the stock loss in silence.
TEST(LossKernels, AreReplayedWhereARequestMayNameThem) {
  for (const recipe::LossKernel& kernel : recipe::loss_kernels())
    EXPECT_TRUE(is_replayed(kernel.id)) << kernel.id;
}

}  // namespace
}  // namespace plimsoll::memory
