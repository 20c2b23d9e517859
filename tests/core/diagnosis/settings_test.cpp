// What is a setting of a configuration, and not something that happened: one rule, for words, frames and blocks.
#include <gtest/gtest.h>

#include "core/diagnosis/prose.h"
#include "core/diagnosis/settings_lines.h"
#include "core/diagnosis/traceback.h"

namespace plimsoll::diagnosis {
namespace {

FailurePhase framed_phase(std::string_view text) { return read_frames(clean(text)).phase; }
bool is_said(std::string_view text) { return !read_prose(clean(text).folded_lines).sentences.empty(); }

TEST(DiagnosisSettings, ANameAndAValueOfFewWordsAreASetting) {
  for (const char* line : {"save_steps: 500", "--do_eval true", "fsdp_state_dict_type=full_state_dict",
                           "eval_strategy = \"steps\"", "- max_new_tokens: 512", "lora_r = 32,",
                           "resume_from_checkpoint: out/last  # the one that was written on tuesday night"})
    EXPECT_TRUE(is_setting(line)) << line;
}

TEST(DiagnosisSettings, ASentenceAFrameAndCodeAreNone) {
  for (const char* line : {"gradient_checkpointing: true makes no difference to the peak",
                           "attn_weights = nn.functional.softmax", "loss: nan", "train_model.py:12",
                           "runtime_error: cuda out of memory", "exp_avg = torch.zeros_like(p)"})
    EXPECT_FALSE(is_setting(line)) << line;
}

// The comment behind a value has as many words as it likes.
TEST(DiagnosisSettings, ASettingWithACommentIsNoFrame) {
  EXPECT_EQ(
      framed_phase("CUDA out of memory.\nresume_from_checkpoint = out/last  # the one of the night before"),
      FailurePhase::unknown);
}

TEST(DiagnosisSettings, WhatIsSaidOfASettingIsASentence) {
  EXPECT_TRUE(is_said("gradient_checkpointing: true makes no difference to the memory that it takes"));
  EXPECT_FALSE(is_said("gradient_checkpointing: true"));
}

}  // namespace
}  // namespace plimsoll::diagnosis
