// What a plan tells a person to write: names that the libraries have, with values in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/advice/fix.h"

namespace plimsoll::advice {
namespace {

using testing::HasSubstr;

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

TEST(AdviceSettings, EveryFixThatIsOfferedSaysWhatToWrite) {
  for (const Fix* fix : fixes()) {
    for (const char* stack : {"hf", "trl", "axolotl", "llamafactory", "unsloth", "torchtune"}) {
      EXPECT_FALSE(setting_for(*fix, Level(), stack).empty()) << fix->id << " on " << stack;
    }
    EXPECT_FALSE(fix->source.empty()) << fix->id;
  }
}

}  // namespace
}  // namespace plimsoll::advice
