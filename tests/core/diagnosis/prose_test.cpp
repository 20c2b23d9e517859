// What a small trained model reads from sentences in three languages (core/diagnosis/prose.json).
#include "core/diagnosis/prose.h"

#include <gtest/gtest.h>

#include "core/diagnosis/text.h"

namespace plimsoll::diagnosis {
namespace {

bool says(std::string_view words, Say what) {
  return read_prose(clean(words).folded_lines).says(what) != nullptr;
}

TEST(DiagnosisProse, AnOccasionIsReadInThreeLanguages) {
  EXPECT_TRUE(says("Our job ran out of memory when it wrote the checkpoint", Say::save));
  EXPECT_TRUE(says("保存权重的时候显存溢出了", Say::save));
  EXPECT_TRUE(says("Beim Speichern der Gewichte geht der Speicher aus", Say::save));
  EXPECT_TRUE(says("During validation the card is full, training is fine", Say::eval));
  EXPECT_TRUE(says("一做验证就爆显存", Say::eval));
  EXPECT_TRUE(says("In der Validierung reicht der Grafikspeicher nicht", Say::eval));
  EXPECT_TRUE(says("The memory keeps increasing with every step", Say::growing));
  EXPECT_TRUE(says("显存一直在上涨", Say::growing));
  EXPECT_TRUE(says("Der Speicher wächst mit jedem Schritt", Say::growing));
}

TEST(DiagnosisProse, SavingMemoryIsNoSave) {
  EXPECT_FALSE(says("I use 4 bits to save memory", Say::save));
  EXPECT_FALSE(says("为了节省显存用了8bit", Say::save));
}

// Settings, frames and tables are read by their own readers.
TEST(DiagnosisProse, SettingsCodeAndTablesAreNoSentences) {
  for (const char* text :
       {"save_steps: 500", "--eval_steps 100 --resume_from_checkpoint x",
        "    optimizer.step(closure=optimizer_closure)", "torch版本：2.8.0", "CUDA Version: 12.9",
        "| N/A   33C    P0    38W / 150W |   7600MiB /  7680MiB |"}) {
    EXPECT_TRUE(read_prose(clean(text).folded_lines).sentences.empty()) << text;
  }
}

TEST(DiagnosisProse, ASentenceIsFoundAgainWhereItStands) {
  const Text text = clean("Hello. It dies while it saves the checkpoint! Thanks");
  const Prose prose = read_prose(text.folded_lines);
  const Sentence* found = prose.says(Say::save);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(text.lines.substr(found->at, found->size), "It dies while it saves the checkpoint!");
}

// What a person says stands before a log or behind it.
TEST(DiagnosisProse, OfALongTextTheTwoEndsAreRead) {
  std::string text = "it dies while it saves the checkpoint\n";
  while (text.size() < 1'000'000) text += "the weather is fine today, and nothing else is to be said\n";
  const Prose prose = read_prose(text);
  EXPECT_LT(prose.sentences.size(), 3000U);
  EXPECT_NE(prose.says(Say::save), nullptr);
}

TEST(DiagnosisProse, ASettingDoesNotSayThatFewerTokensFit) {
  const auto says = [](const char* text) {
    return read_prose(clean(text).folded_lines).says(Say::fewer) != nullptr;
  };
  EXPECT_FALSE(says("Training Mistral 7B with LoRA, sequence length 2048 tokens, batch 1, it stops"));
  EXPECT_FALSE(says("batch 1, 2048 tokens"));
  EXPECT_TRUE(says("It works with 2k tokens and fails with 8k"));
  EXPECT_TRUE(says("with 2048 tokens it trains, with 8192 it does not, a shorter one is fine"));
}

}  // namespace
}  // namespace plimsoll::diagnosis
