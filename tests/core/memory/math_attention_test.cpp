// SDPA's math kernel, where flash cannot run: golden bytes are those that PyTorch itself allocated and kept
// (tests/measured/math_attention.py).
#include <gtest/gtest.h>

#include "core/memory/layers/attention.h"
#include "tests/core/report_answers.h"

namespace plimsoll::memory {
namespace {

constexpr AttentionShape as_listed{.batch = 1,
                                   .length = 64,
                                   .heads = 8,
                                   .kv_heads = 2,
                                   .head_dim = 16,
                                   .value_head_dim = 16,
                                   .repeat_kv = false};

// Bytes at the highest moment and after the kernel, without q, k and v themselves.
std::pair<double, double> math_bytes(int size) {
  Tape tape;
  tape.recording = true;
  const double q_elements = 64 * 8 * 16, k_elements = 64 * 2 * 16;
  Tensor q = tape.input(q_elements, size, true), k = tape.input(k_elements, size, true),
         v = tape.input(k_elements, size, true);
  const double before = tape.live().total();
  tape.mark();
  Tensor out = attend(tape, Mode{}, AttentionKernel::math, as_listed, q, k, v);
  return {tape.peak().total() - before, tape.live().total() - before - out.bytes()};
}

TEST(MathAttention, TakesWhatPyTorchWasSeenToAllocate) {
  // From float16: casts 32,768 + 2 x 8,192; scaled q 32,768; mask 16,384; k and v for every head and scaled k
  // 3 x 32,768; scores and softmax 2 x 131,072; where the scores are minus infinity 32,768.
  EXPECT_EQ(math_bytes(2).first, 491520);
  // In float32 there is nothing to cast.
  EXPECT_EQ(math_bytes(4).first, 491520 - 32768 - 2 * 8192);
}

TEST(MathAttention, KeepsScaledCopiesOfEveryHeadInFloat32) {
  for (int size : {2, 4}) EXPECT_EQ(math_bytes(size).second, 3 * 32768 + 131072) << size;
}

AttentionConditions without_a_mask() {
  AttentionConditions c;
  c.implementation = "sdpa";
  c.transformers = "4.57";
  c.grouped = true;
  return c;
}

TEST(MathAttention, RunsForGroupedHeadsWithoutAMaskWhereFlashCannot) {
  AttentionConditions c = without_a_mask();
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::flash);
  c.compute_capability = 7.5;  // T4: huggingface/transformers issue 48633
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::math);
  c.mask = true;
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::efficient);
  c = without_a_mask();
  c.sixteen_bit = false;
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::math);
  c.transformers = "4.53";  // repeated the key heads itself
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::efficient);
  c = without_a_mask();
  c.compute_capability = 7.5;
  c.own_calls = true;
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::efficient);
}

TEST(MathAttention, WideHeadsEndedThereUntilTransformersLookedAtTheirSize) {
  AttentionConditions c = without_a_mask();  // pull request 46960
  c.head_dim = 512;
  c.transformers = "5.12.1";
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::math);
  c.transformers = "5.13.0";
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::efficient);
}

TEST(MathAttention, WideHeadsUnderFlashAttentionAreThoseOfAxolotlsHybrid) {
  AttentionConditions c = without_a_mask();  // axolotl 0.19 _apply_gemma_hybrid_attention
  c.implementation = "flash_attention_2";
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::flash_2);
  c.head_dim = 512;
  EXPECT_EQ(choose_attention(c).kernel, AttentionKernel::efficient);
  EXPECT_TRUE(choose_attention(c).repeat_kv);
}

}  // namespace
}  // namespace plimsoll::memory

namespace plimsoll::report {
namespace {

// A sample alone in its batch has no mask: on a T4 its scores are all kept, and two take less.
TEST(MathAttention, LimitsKnowThatTwoSamplesMayFitWhereOneDoesNot) {
  const Json request = {{"model", "llama-3.2-1b"},
                        {"stack", "hf"},
                        {"hardware", {{"gpu", "v100-sxm2-32"}, {"in_use_gib", 7}}},
                        {"training",
                         {{"per_device_train_batch_size", 4},
                          {"gradient_checkpointing", false},
                          {"max_length", 2048},
                          {"fp16", true}}},
                        {"peft", {{"r", 8}}},
                        {"versions", {{"transformers", "4.57"}}},
                        {"want", {"limits"}}};
  const Json alone = answer(merged(request, {{"training", {{"per_device_train_batch_size", 1}}}}));
  const Json two = answer(merged(request, {{"training", {{"per_device_train_batch_size", 2}}}}));
  EXPECT_GT(peak(alone), peak(two));
  EXPECT_NE(at(alone, "/gpu/verdict"), "fits");
  EXPECT_EQ(bytes(answer(request), "/limits/per_device_train_batch_size"), 2);
}

}  // namespace
}  // namespace plimsoll::report
