// The settings inside a longer paste.
#include "core/exchange/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exchange/import.h"

namespace plimsoll::exchange {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* message =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 204.00 MiB. GPU 0 has a total capacity of "
    "23.65 GiB of which 128.06 MiB is free.\n";

// GCC 12 sees copies beyond the end in sums of strings that it inlines (bug 105329).
std::string joined(std::initializer_list<const char*> parts) {
  std::string out;
  for (const char* part : parts) out.append(part);
  return out;
}

TEST(ExchangeParts, AMessageAloneHasNoSettings) {
  EXPECT_THAT(settings_parts(message), IsEmpty());
  EXPECT_THAT(settings_parts(""), IsEmpty());
  EXPECT_THAT(settings_parts("Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n"
                             "    trainer.train()\nRuntimeError: out of memory\nError: exit 1\nNote: no\n"),
              IsEmpty());
}

TEST(ExchangeParts, AFileBetweenProseAndMessageIsFound) {
  const std::string text =
      joined({"Two cards, and still no luck. My file:\n",
              "### model\nmodel_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\n\n### train\n"
              "cutoff_len: 1024\nlora_target:\n  - q_proj\n  - v_proj\nfp16: true\n",
              message});
  const auto parts = settings_parts(text);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_THAT(std::string(parts[0]), StartsWith("model_name_or_path"));
  EXPECT_THAT(std::string(parts[0]), HasSubstr("fp16: true"));
  EXPECT_THAT(std::string(parts[0]), testing::Not(HasSubstr("OutOfMemory")));
}

TEST(ExchangeParts, ACommandGoesOnAsLongAsItsLinesDo) {
  const std::string text =
      joined({message,
              "I ran\nCUDA_VISIBLE_DEVICES=0 python finetune.py \\\n  --base_model qwen2-7b \\\n"
              "  --micro_batch_size 4 \\\n  --cutoff_len 256\nis this normal?\n"});
  EXPECT_THAT(settings_parts(text),
              ElementsAre("CUDA_VISIBLE_DEVICES=0 python finetune.py \\\n  --base_model qwen2-7b \\\n"
                          "  --micro_batch_size 4 \\\n  --cutoff_len 256"));
}

TEST(ExchangeParts, CallsThatFollowEachOtherAreOneScript) {
  const std::string text =
      joined({"```python\n",
              "peft_config = LoraConfig(\n    r=16,\n    target_modules=[\"q_proj\"],\n)\n\n"
              "args = TrainingArguments(\n    per_device_train_batch_size=2,\n)\n```\n",
              message});
  const auto parts = settings_parts(text);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_THAT(std::string(parts[0]), StartsWith("peft_config"));
  EXPECT_THAT(std::string(parts[0]), HasSubstr("per_device_train_batch_size=2,\n)"));
}

TEST(ExchangeParts, AnObjectEndsWhereItsBracketsDo) {
  const std::string text = joined({message, "{\n  \"zero_optimization\": {\"stage\": 2}\n}\nThanks!\n"});
  EXPECT_THAT(settings_parts(text), ElementsAre("{\n  \"zero_optimization\": {\"stage\": 2}\n}"));
}

TEST(ExchangeParts, AWholeFileHasNoPartsAndAHugeTextHasFew) {
  EXPECT_THAT(settings_parts("a_b: 1\nc_d: 2\ne_f: 3\n"), IsEmpty());
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "a: 1\nb: 2\nc: 3\nprose in between\n";
  EXPECT_EQ(settings_parts(many).size(), 16U);
  EXPECT_THAT(settings_parts(std::string(1U << 20U, '(')), IsEmpty());
  EXPECT_THAT(settings_parts("Config(" + std::string(1U << 20U, '(')), IsEmpty());
}

}  // namespace
}  // namespace plimsoll::exchange
