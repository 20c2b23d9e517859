// What another program calls a flag of this one.
#include "core/cli/flags.h"

#include <gtest/gtest.h>

namespace plimsoll::cli {
namespace {

TEST(Flags, AnotherProgramsFlagIsReadAsAQuestionsWordsAre) {
  constexpr struct {
    const char *name, *value, *flag;
  } rows[] = {
      {"--seq-len", "4096", "--length=4096"},
      {"--max-seq-length", "", "--length"},
      {"--bs", "2", "--batch=2"},
      {"--batch-size", "2", "--batch=2"},
      {"--per_device_train_batch_size", "2", "--batch=2"},
      {"--r", "16", "--rank=16"},
      {"--lora-r", "16", "--rank=16"},
      {"--lora_rank", "", "--rank"},
      {"--zero3", "", "--strategy=zero3"},
      {"--fsdp", "", "--strategy=fsdp"},
      {"--deepspeed", "ds.json", "--strategy zero2 or --strategy zero3"},
      {"--flash-attn", "", "--attention=flash_attention_2"},
      {"--4bit", "", "--qlora"},
      {"--load-in-4bit", "", "--qlora"},
      {"--vram", "24", "--gpu with a card's name"},
      {"--fp16", "", "--set=training.fp16=true"},
      {"--lenght", "4096", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(flag_called(row.name, row.value), row.flag) << row.name;
}

}  // namespace
}  // namespace plimsoll::cli
