// Bases that other libraries packed: bytes a weight, and which of them can be trained on.
#include "core/recipe/quantization_formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/recipe/fields.h"
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
TEST(QuantizationFormats, BytesAWeightAreThoseOfTheLayout) {
  const double linears = 6476005376.0, others = 262410240.0 * 2;
  EXPECT_NEAR((weights("gptq") - others) / linears, 0.5 + 2.5 / 128, 0.002);
  EXPECT_NEAR((weights("awq") - others) / linears, 0.5 + 2.5 / 128, 0.001);
  EXPECT_NEAR((weights("hqq") - others) / linears, 0.5 + 4.0 / 64, 0.001);
  EXPECT_NEAR((weights("quanto_int4") - others) / linears, 0.5 + 4.0 / 128, 0.001);
  EXPECT_NEAR((weights("quanto_int8") - others) / linears, 1.0, 0.001);
  EXPECT_NEAR((weights("eetq") - others) / linears, 1.0, 0.001);
  EXPECT_NEAR((weights("torchao_int8") - others) / linears, 1.0, 0.002);
  // 224 linears, each with a table of 65,536 x 8 values in 16 bits.
  EXPECT_NEAR(weights("aqlm") - others, linears / 4 + 224.0 * 1048576, 8e6);
}

// What transformers/quantizers/*.py say of is_trainable, and peft/tuners/lora/torchao.py of 4 bits.
TEST(QuantizationFormats, FormsThatCannotBeTrainedOnAreRefused) {
  for (const char* method : {"mxfp4", "torchao_int4", "fbgemm_fp8", "higgs", "spqr", "vptq", "auto-round"}) {
    const Json report = packed(method);
    ASSERT_EQ(report.at("ok"), false) << method;
    EXPECT_EQ(at(report, "/errors/0/code"), "conflict");
    EXPECT_EQ(at(report, "/errors/0/pointer"), "/quantization/quant_method");
  }
}

TEST(QuantizationFormats, ARefusalNamesEveryFormThatCanBeTrainedOn) {
  const std::string allowed = at(packed("mxfp4"), "/errors/0/allowed").get<std::string>();
  for (const recipe::QuantizationFormat& format : recipe::quantization_formats()) {
    const bool named = allowed.find(std::string(format.id)) != std::string::npos;
    EXPECT_EQ(named, !format.trainable_from.empty()) << format.id;
  }
}

// finegrained_fp8.py has had a backward since 5.22.
TEST(QuantizationFormats, Fp8IsTrainedOnFromTheVersionThatHasABackward) {
  Json request = {{"model", "llama-2-7b-hf"},
                  {"quantization", {{"quant_method", "fp8"}}},
                  {"peft", {{"r", 8}}},
                  {"versions", {{"transformers", "5.21"}}}};
  EXPECT_EQ(answer(request).at("ok"), false);
  request["versions"]["transformers"] = "5.22";
  EXPECT_EQ(answer(request).at("ok"), true);
}

// Each row of the table is a word of the field, and the other way round.
TEST(QuantizationFormats, EveryRowCanBeNamed) {
  for (const recipe::QuantizationFormat& packing : recipe::quantization_formats()) {
    const Json report = packed(std::string(packing.id));
    const bool ok = report.at("ok").get<bool>();
    EXPECT_EQ(ok ? "conflict" : at(report, "/errors/0/code"), "conflict") << packing.id;
  }
  const std::string allowed = recipe::words_of(*recipe::find_field("/quantization/quant_method"));
  std::string_view words = allowed;
  std::size_t count = 0;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(", "));
    EXPECT_NE(recipe::find_quantization_format(word), nullptr) << word;
    words.remove_prefix(std::min(words.size(), word.size() + 2));
    ++count;
  }
  EXPECT_EQ(count, recipe::quantization_formats().size());
}

// EETQ's and quanto's linears save x for the backward though the weight is frozen
// (transformers/integrations/eetq.py EetqLinearMMFunction, optimum/quanto/tensor/function.py).
TEST(QuantizationFormats, LinearsThatSaveTheirInputCostActivations) {
  const auto peak_of = [](const char* method) {
    return peak(
        answer({{"model", "llama-2-7b-hf"},
                {"quantization", {{"quant_method", method}}},
                {"peft", {{"r", 8}, {"target_modules", {"q_proj"}}}},
                {"training", {{"max_length", 2048}, {"gradient_checkpointing", false}, {"bf16", true}}}}));
  };
  // Of each layer the products that nothing else keeps: gate and up read 2 x 4096 values in 16 bits, down 2 x
  // 11008.
  EXPECT_GT(peak_of("quanto_int8") - peak_of("torchao_int8"), 32.0 * 2048 * (2 * 4096 + 2 * 11008) * 0.9);
}

}  // namespace
}  // namespace plimsoll::report
