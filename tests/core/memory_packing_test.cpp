// Bases that other libraries packed: bytes a weight, and which of them can be trained on.
#include <gtest/gtest.h>

#include <string>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json packed(const std::string& method) {
  return answer_text(R"({"model": "llama-2-7b-hf", "quantization": {"quant_method": ")" + method +
                     R"("}, "peft": {"r": 8}, "training": {"max_length": 512}})");
}

double weights(const std::string& method) {
  const Json report = packed(method);
  const Json prepared = instant(report, "prepare");
  for (const Json& component : prepared.at("components")) {
    if (component.at("id") == "weights") return component.at("bytes").get<double>();
  }
  ADD_FAILURE() << method;
  return 0;
}

// Llama-2-7B: 6,476,005,376 weights in linears of the layers; embedding, head and norms are 262,410,240.
TEST(Packing, BytesAWeightAreThoseOfTheLayout) {
  const double linears = 6476005376.0, others = 262410240.0 * 2;
  EXPECT_NEAR((weights("gptq") - others) / linears, 0.5 + 2.5 / 128, 0.002);
  EXPECT_NEAR((weights("awq") - others) / linears, 0.5 + 2.5 / 128, 0.001);
  EXPECT_NEAR((weights("hqq") - others) / linears, 0.5 + 4.0 / 64, 0.001);
  EXPECT_NEAR((weights("torchao_int4") - others) / linears, 0.5 + 4.0 / 128, 0.001);
  EXPECT_NEAR((weights("torchao_int8") - others) / linears, 1.0, 0.002);
  // 224 linears, each with a table of 65,536 x 8 values in 16 bits.
  EXPECT_NEAR(weights("aqlm") - others, linears / 4 + 224.0 * 1048576, 8e6);
}

TEST(Packing, FormsThatCannotBeTrainedOnAreRefused) {
  for (const char* method : {"fp8", "mxfp4"}) {
    const Json report = packed(method);
    ASSERT_EQ(report.at("ok"), false) << method;
    EXPECT_EQ(at(report, "/errors/0/code"), "conflict");
    EXPECT_EQ(at(report, "/errors/0/pointer"), "/quantization/quant_method");
  }
}

}  // namespace
}  // namespace plimsoll::report
