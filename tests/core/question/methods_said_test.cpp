// What a method's name means is one set of fields, wherever the name is said.
#include <gtest/gtest.h>

#include "core/json/at.h"
#include "core/recipe/methods.h"
#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

using json::at;
using json::Json;

Json quantization_in(std::string_view text) {
  const SaidRequest one = said(text);
  const Json answered = answer(one, diagnosis::catalog()).ways.front().request;
  return at(answered, "quantization");
}

// Dettmers et al. 2023, arXiv:2305.14314; artidoro/qlora qlora.py: double_quant is on.
TEST(MethodsSaid, QloraIsNf4WithDoubleQuantisation) {
  const Json qlora = {
      {"load_in_4bit", true}, {"bnb_4bit_quant_type", "nf4"}, {"bnb_4bit_use_double_quant", true}};
  EXPECT_EQ(quantization_in("QLoRA of Llama 3.1 8B on a 4090 at 4k tokens"), qlora);
  recipe::Values fix;
  for (const auto& [key, value] : qlora.items()) fix["/quantization/" + key] = value;
  EXPECT_EQ(recipe::quantization_of(*recipe::find_method("qlora"), nullptr), fix);
}

TEST(MethodsSaid, AStackThatStatesItsFourBitsKeepsThem) {
  const Json four = {{"load_in_4bit", true}};
  EXPECT_EQ(quantization_in("QLoRA of Llama 3.1 8B with LitGPT on a 4090 at 4k tokens"), four);
  EXPECT_EQ(quantization_in("QLoRA of Llama 3.1 8B with Axolotl on a 4090 at 4k tokens"), four);
}

TEST(MethodsSaid, WhatIsSaidOfTheFourBitsStays) {
  const Json plain =
      quantization_in("QLoRA of Llama 3.1 8B on a 4090 at 4k tokens with bnb_4bit_use_double_quant=False");
  EXPECT_EQ(at(plain, "bnb_4bit_use_double_quant"), Json(false)) << plain;
}

}  // namespace
}  // namespace plimsoll::question
