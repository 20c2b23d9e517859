// What a plan tells a person to write: names that the libraries have, with values in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>

#include "core/advice/fix.h"
#include "core/recipe/stacks.h"

namespace plimsoll::advice {
namespace {

using testing::HasSubstr;
using testing::Not;

const Fix& fix_called(std::string_view id) {
  for (const Fix* fix : fixes()) {
    if (fix->id == id) return *fix;
  }
  ADD_FAILURE() << "no fix " << id;
  return *fixes().front();
}

// hiyouga/LlamaFactory hparams/model_args.py: image_max_pixels is an int; a product in words is refused.
TEST(AdviceSettings, PixelsAreCountedWhereALibraryCountsPixels) {
  Level level;
  level.changes["/vision/image_size"] = uint64_t{448};
  EXPECT_EQ(setting_for(fix_called("smaller_images"), level, "llamafactory"), "image_max_pixels: 200704");
  EXPECT_THAT(setting_for(fix_called("smaller_images"), level, "hf"), HasSubstr("max_pixels=448 * 448"));
}

// axolotl-ai-cloud/axolotl utils/schemas/config.py and peft.py.
TEST(AdviceSettings, AxolotlsKeysAreThoseOfItsSchema) {
  Level level;
  EXPECT_THAT(setting_for(fix_called("sdpa"), level, "axolotl"), HasSubstr("attn_implementation: sdpa"));
  EXPECT_THAT(setting_for(fix_called("flash_attention"), level, "axolotl"),
              HasSubstr("attn_implementation: flash_attention_2"));
  EXPECT_EQ(setting_for(fix_called("sixteen_bit_adapters"), level, "axolotl"),
            "peft_autocast_adapter_dtype: false");
  EXPECT_EQ(setting_for(fix_called("double_quantization"), level, "axolotl"),
            "bnb_config_kwargs: {bnb_4bit_use_double_quant: true}");
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(AdviceSettings, EveryFixNamesItsSourceAndNoStackTwice) {
  std::set<std::string> known{"*"};
  for (const recipe::StackTraits& stack : recipe::all_stack_traits()) known.emplace(stack.id);
  for (const Fix* fix : fixes()) {
    EXPECT_FALSE(fix->source.empty()) << fix->id;
    std::set<std::string> seen;
    for (const Setting& setting : fix->settings) {
      EXPECT_FALSE(setting.text.empty()) << fix->id;
      for (const std::string& stack : words_of(setting.stacks)) {
        EXPECT_EQ(known.count(stack), 1U) << fix->id << " speaks of " << stack;
        EXPECT_TRUE(seen.insert(stack).second) << fix->id << " says it twice for " << stack;
      }
    }
  }
}

// What is configured in a file or by flags cannot be told to change a line of Python.
TEST(AdviceSettings, AStackWithoutPythonOfYourOwnIsNeverToldToWriteSome) {
  for (const char* stack : {"axolotl", "llamafactory", "ms-swift", "torchtune", "litgpt"}) {
    for (const Fix* fix : fixes()) {
      const std::string text = setting_for(*fix, Level(), stack);
      for (const char* python : {"TrainingArguments(", "Trainer(", "from_pretrained(", "LoraConfig(",
                                 "BitsAndBytesConfig(", "model = ", "import "}) {
        EXPECT_THAT(text, Not(HasSubstr(python))) << fix->id << " on " << stack;
      }
    }
  }
}

TEST(AdviceSettings, EveryStackCanHaveASmallerBatchAndAShorterRow) {
  for (const recipe::StackTraits& stack : recipe::all_stack_traits()) {
    for (const char* id : {"micro_batch", "shorter", "expandable_segments", "adapters_instead_of_full"}) {
      EXPECT_NE(setting_for(fix_called(id), Level(), std::string(stack.id)), "") << id << " on " << stack.id;
    }
  }
}

// meta-pytorch/torchtune has no DeepSpeed; Lightning-AI/litgpt checkpoints under FSDP alone; a file of
// Axolotl or LLaMA-Factory cannot hand the Trainer an optimizer.
TEST(AdviceSettings, WhatAStackCannotDoIsNotOffered) {
  for (const auto& [fix, stack] : std::initializer_list<std::pair<const char*, const char*>>{
           {"sharded_parameters", "torchtune"},
           {"sharded_states", "litgpt"},
           {"gradient_checkpointing", "litgpt"},
           {"optimizer_on_cpu", "axolotl"},
           {"optimizer_in_backward", "llamafactory"},
           {"sharded_states", "unsloth"},
           {"precomputed_reference", "llamafactory"}}) {
    EXPECT_EQ(setting_for(fix_called(fix), Level(), stack), "") << fix << " on " << stack;
  }
}

// pytorch/ao torchao/optim/cpu_offload.py with torch.optim.AdamW has two states in the type of the weights.
TEST(AdviceSettings, StatesInFewBitsAreNotPricedWhereTheOptimizerIsReplaced) {
  const model::Architecture network;
  const recipe::Values values;
  recipe::Recipe recipe;
  recipe.stack = "hf";
  recipe.training.optimizer_offload = "none";
  const auto offered = [&](const char* fix, const char* optim) {
    recipe.training.optim = optim;
    return !levels_of(fix_called(fix), {network, recipe, values}).empty();
  };
  EXPECT_TRUE(offered("optimizer_on_cpu", "adamw_torch"));
  EXPECT_FALSE(offered("optimizer_on_cpu", "adamw_bnb_8bit"));
  EXPECT_FALSE(offered("optimizer_on_cpu", "adamw_torch_4bit"));
  EXPECT_TRUE(offered("paged_eight_bit_optimizer", "paged_adamw"));
  EXPECT_FALSE(offered("paged_eight_bit_optimizer", "paged_adamw_8bit"));
  EXPECT_TRUE(offered("fused_optimizer", "adamw_torch_for_loop"));
  EXPECT_FALSE(offered("fused_optimizer", "adamw_apex_fused"));
}

}  // namespace
}  // namespace plimsoll::advice
