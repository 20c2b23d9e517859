// fp16 with a gradient scaler, which refuses weights that are float16 themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json full_fp16(const Json& more) {
  Json request = {{"model", "meta-llama/Llama-2-7b-hf"}, {"training", {{"fp16", true}, {"max_length", 512}}}};
  request.merge_patch(more);
  return answer(request);
}

TEST(HalfPrecision, AFullRunLoadsFloat32WhereNobodySaysAType) {
  const Json report = full_fp16(Json::object());
  ASSERT_EQ(report["ok"], true);
  std::string loaded;
  for (const Json& one : report["assumptions"])
    if (one["pointer"] == "/model_args/dtype") loaded = one["value"];
  EXPECT_EQ(loaded, "float32");
}

TEST(HalfPrecision, ATypeThatIsSaidAndCannotTrainIsAnError) {
  const Json report = full_fp16({{"model_args", {{"dtype", "float16"}}}});
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["errors"][0]["pointer"], "/training/fp16");
}

TEST(HalfPrecision, DeepSpeedScalesByItself) {
  const Json report = full_fp16(
      {{"model_args", {{"dtype", "float16"}}}, {"parallel", {{"strategy", "zero3"}, {"num_gpus", 4}}}});
  EXPECT_EQ(report["ok"], true);
}

}  // namespace
}  // namespace plimsoll::report
