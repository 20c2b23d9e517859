// What must hold for every preset.
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {
namespace {

// Only frozen weights shrink: 4 bits are less than 8, and 8 less than 16.
TEST(Presets, FewerBitsAreSmallerWeights) {
  for (const run::ModelEntry& entry : presets().models) {
    const auto loaded = [&entry](const Json& quantization) {
      const Draw draw = answered(0, {{"model", entry.preset.id},
                                     {"model_args", {{"dtype", "bfloat16"}}},
                                     {"quantization", quantization},
                                     {"peft", {{"target_modules", "all-linear"}}},
                                     {"training", {{"max_length", 16}}}});
      EXPECT_TRUE(is_answered(draw)) << draw.answer.substr(0, 300) << said(draw);
      for (const Json& row : draw.report["memory"]["instants"]) {
        if (row.at("id") != "load") continue;
        for (const Json& line : row.at("components")) {
          if (line.at("id") == "weights") return line.at("bytes").get<double>();
        }
      }
      ADD_FAILURE() << "no weights" << said(draw);
      return 0.0;
    };
    const double sixteen = loaded(nullptr), eight = loaded({{"load_in_8bit", true}}),
                 four = loaded({{"load_in_4bit", true}}),
                 doubled = loaded({{"load_in_4bit", true}, {"bnb_4bit_use_double_quant", true}});
    EXPECT_LT(eight, sixteen) << entry.preset.id;
    EXPECT_LT(four, eight) << entry.preset.id;
    EXPECT_LE(doubled, four) << entry.preset.id;
  }
}

}  // namespace
}  // namespace plimsoll::drawn
