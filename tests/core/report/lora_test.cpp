// What print_trainable_parameters() printed in public runs, through the report.
// golden/lora_through_report.json: the request that describes the run, the printed trainable count and, where
// the base is counted as we count it, the printed total.
#include "tests/core/golden.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json printed_lines() {
  json::Errors errors;
  return json::parse(golden_file("lora_through_report.json"), errors).value_or(Json::array());
}

TEST(ReportLora, EveryPrintedTrainableCountIsReported) {
  const Json lines = printed_lines();
  EXPECT_EQ(lines.size(), 66u);
  size_t totals = 0;
  for (const Json& line : lines) {
    const Json report = answer(line.at("request"));
    ASSERT_EQ(report.at("ok"), true) << line << report;
    EXPECT_EQ(at(report, "/model/trainable"), line.at("trainable")) << line;
    if (line.contains("all")) {
      EXPECT_EQ(at(report, "/model/all_parameters"), line.at("all")) << line;
      ++totals;
    }
  }
  EXPECT_EQ(totals, 43u);
}

TEST(ReportLora, TheAdapterFileHoldsTheTrainedParametersInTheirType) {
  for (const Json& line : printed_lines()) {
    if (line.at("request").contains("task")) continue;  // a new head is stored in the type of the base
    Json request = line.at("request");
    const auto trainable = line.at("trainable").get<uint64_t>();
    EXPECT_EQ(bytes(answer(request), "/model/adapter_file_bytes"), 4 * trainable) << line;
    request["peft"]["adapter_dtype"] = "bfloat16";
    EXPECT_EQ(bytes(answer(request), "/model/adapter_file_bytes"), 2 * trainable) << line;
  }
}

// google/gemma-2-2b with two labels printed "all params: 2,617,545,984": the frozen score layer counts as
// well as the trained copy of it.
TEST(ReportLora, ANewHeadIsCountedTwiceInTheTotal) {
  const Json report = answer({{"model", "google/gemma-2-2b"},
                              {"task", "classification"},
                              {"peft", {{"r", 16}, {"target_modules", {"q_proj", "v_proj"}}}}});
  EXPECT_EQ(bytes(report, "/model/all_parameters"), 2617545984u);
  EXPECT_EQ(bytes(report, "/model/trainable"), 3199488u);
}

// PEFT's all-linear is every linear layer but the head: on Mistral-7B the same seven that people list by
// name.
TEST(ReportLora, AllLinearMeansEveryLinearLayerButTheHead) {
  const Json report =
      answer({{"model", "mistral-7b-v0.1"}, {"peft", {{"r", 16}, {"target_modules", "all-linear"}}}});
  EXPECT_EQ(bytes(report, "/model/trainable"), 41943040u);
  const Json one =
      answer({{"model", "mistral-7b-v0.1"}, {"peft", {{"r", 16}, {"target_modules", {"all-linear"}}}}});
  EXPECT_EQ(bytes(one, "/model/trainable"), 41943040u);
}

// Up to Transformers 4 the experts of Mixtral are linear layers that PEFT finds by name; from 5 on they are
// 3-D parameters that it does not, until PEFT 0.19 knows the old names.
TEST(ReportLora, ExpertsAreLinearsBeforeTransformersFiveAndParametersFromPeft019On) {
  Json request = {{"model", "mixtral-8x7b-v0.1"},
                  {"versions", {{"transformers", "4.57"}, {"peft", "0.18"}}},
                  {"peft", {{"r", 8}, {"target_modules", {"w1", "w2", "w3"}}}}};
  const Json four = answer(request);
  // 32 layers x 8 experts x three matrices between 4096 and 14336.
  EXPECT_EQ(bytes(four, "/model/trainable"), 8u * 32 * 8 * 3 * (4096 + 14336));
  request["versions"]["transformers"] = "5.15";
  const Json five = answer(request);
  ASSERT_EQ(five.at("ok"), false);
  EXPECT_EQ(at(five, "/errors/0/pointer"), "/peft/target_modules");
  // gate and up are one parameter then, with twice the rank: B reaches both with all of it.
  request["versions"]["peft"] = "0.19";
  EXPECT_EQ(bytes(answer(request), "/model/trainable"),
            32u * 8 * (2 * 8 * (4096 + 2 * 14336) + 8 * (14336 + 4096)));
}

// LitGPT and torchtune have names of their own for the parts of attention, which a convolution has none of.
TEST(ReportLora, AShortConvolutionHasNoQueries) {
  for (const char* code : {"transformers", "litgpt", "torchtune"}) {
    const Json report = answer({{"model", "lfm2-350m"},
                                {"model_args", {{"implementation", code}}},
                                {"peft", {{"r", 8}, {"target_modules", {"q_proj"}}}}});
    EXPECT_EQ(bytes(report, "/model/trainable"), 6u * 8 * (1024 + 1024)) << code;
  }
}

// A vision tower is Transformers' own class, whose queries, keys and values are one linear.
TEST(ReportLora, AProjectionThatATowerFusesIsAdaptedWhole) {
  const Json report = answer({{"model", "qwen2.5-vl-7b"},
                              {"model_args", {{"implementation", "litgpt"}}},
                              {"peft", {{"r", 8}, {"target_modules", {"q_proj"}}}}});
  EXPECT_EQ(bytes(report, "/model/trainable"), 28u * 8 * (3584 + 3584) + 32u * 8 * (1280 + 3 * 1280));
}

// Unsloth's notebook for gpt-oss lists gate_proj and up_proj, which this model does not have; the run trains
// the rest.
TEST(ReportLora, TargetsThatTheModelLacksAreNoted) {
  const Json report =
      answer({{"model", "gpt-oss-20b"}, {"peft", {{"r", 4}, {"target_modules", {"q_proj", "gate_proj"}}}}});
  ASSERT_EQ(report.at("ok"), true) << report;
  EXPECT_TRUE(has_note(report, "targets_not_found"));
  EXPECT_FALSE(has_note(answer({{"model", "gpt-oss-20b"}, {"peft", {{"target_modules", {"q_proj"}}}}}),
                        "targets_not_found"));
}

Json of_stacked_experts(const char* model, const char* transformers, const char* peft, Json targets) {
  return {{"model", model},
          {"stack", "hf"},
          {"versions", {{"transformers", transformers}, {"peft", peft}}},
          {"peft", std::move(targets)}};
}

// PEFT knows the old names of experts since 0.19 and what "all-linear" meant for them since 0.20.
TEST(ReportLora, StackedExpertsGetAdaptersByTheirOldNames) {
  const Json all = {{"r", 16}, {"target_modules", "all-linear"}};
  EXPECT_TRUE(
      has_note(answer(of_stacked_experts("qwen3-30b-a3b", "5.15", "0.21", all)), "experts_get_adapters"));
  EXPECT_FALSE(
      has_note(answer(of_stacked_experts("qwen3-30b-a3b", "5.15", "0.19", all)), "experts_get_adapters"));
  const Json attention = {{"r", 16}, {"target_modules", {"q_proj", "v_proj"}}};
  EXPECT_FALSE(has_note(answer(of_stacked_experts("qwen3-30b-a3b", "5.15", "0.21", attention)),
                        "experts_get_adapters"));
}

// What PEFT 0.20 holds in target_parameters after Axolotl's qwen3-next example was loaded.
TEST(ReportLora, TheParametersThatPeftAddsForOldNamesAreAnAssumption) {
  const Json report = answer(
      {{"model", "Qwen/Qwen3-Next-80B-A3B-Instruct"},
       {"stack", "axolotl"},
       {"peft",
        {{"r", 16},
         {"target_modules",
          {"shared_expert.up_proj", "shared_expert.gate_proj", "shared_expert.down_proj", "q_proj"}}}}});
  Json added;
  for (const Json& assumption : at(report, "/assumptions")) {
    if (assumption.at("pointer") == "/peft/target_parameters") added = assumption.at("value");
  }
  EXPECT_EQ(added, Json::parse(R"(["down_proj", "gate_up_proj"])")) << report;
}

TEST(ReportLora, WhatPeftRefusesOnStackedExpertsIsSaid) {
  const auto refused = [](Json targets) {
    return has_note(answer(of_stacked_experts("qwen3-30b-a3b", "5.15", "0.21", std::move(targets))),
                    "stacked_adapters_refused");
  };
  EXPECT_FALSE(refused({{"r", 16}, {"target_modules", "all-linear"}}));
  EXPECT_TRUE(refused({{"r", 16}, {"target_modules", "all-linear"}, {"lora_dropout", 0.05}}));
  EXPECT_TRUE(refused({{"r", 16}, {"target_modules", {"q_proj", "gate_proj"}}}));
  EXPECT_FALSE(refused({{"r", 16}, {"target_modules", {"gate_proj", "up_proj"}}}));
}

// A step with more micro-batches than one holds all gradients and those of a layer at work: of the type that
// the adapters have, whichever of gate and up is named.
TEST(ReportLora, AdaptersOfUpAloneHaveGradientsInTheirOwnType) {
  const auto gradients = [](const char* type) {
    Json request =
        of_stacked_experts("qwen3-30b-a3b", "5.15", "0.21",
                           {{"r", 8}, {"target_modules", {"up_proj", "down_proj"}}, {"adapter_dtype", type}});
    request["model_args"] = {{"dtype", "bfloat16"}};
    request["training"] = {
        {"per_device_train_batch_size", 1}, {"max_length", 1}, {"gradient_checkpointing", true}};
    return component(instant(answer(request), "backward"), "gradients");
  };
  EXPECT_EQ(gradients("float32"), 2 * gradients("bfloat16"));
}

// The adapters of three layers of gpt-oss-20b that its fine-tuning cookbook names: rank 8 on 32 experts.
TEST(ReportLora, TargetParametersNameTheExpertsOfSomeLayers) {
  Json names = Json::array();
  for (const char* layer : {"7", "15", "23"}) {
    for (const char* name : {".mlp.experts.gate_up_proj", ".mlp.experts.down_proj"}) {
      names.push_back(std::string(layer) + name);
    }
  }
  const Json attention = {{"r", 8}, {"target_modules", {"q_proj"}}};
  Json with = attention;
  with["target_parameters"] = names;
  const auto trained = [](const Json& peft) {
    return bytes(answer(of_stacked_experts("gpt-oss-20b", "5.15", "0.21", peft)), "/model/trainable");
  };
  EXPECT_EQ(trained(with) - trained(attention), 3u * 32 * 8 * ((2880 + 5760) + (2880 + 2880)));
  with["target_parameters"] = {"mlp.experts.down_proj", "mlp.gone"};
  const Json report = answer(of_stacked_experts("gpt-oss-20b", "5.15", "0.21", with));
  EXPECT_EQ(bytes(report, "/model/trainable") - trained(attention), 24u * 32 * 8 * (2880 + 2880));
  EXPECT_TRUE(has_note(report, "parameters_not_found"));
}

// Linear modules of their own (Axolotl's llama4_linearized_experts) are no parameter that a name could find.
TEST(ReportLora, ExpertsThatAreLinearsAnswerToNoTargetParameter) {
  Json request = of_stacked_experts(
      "qwen3-30b-a3b", "5.15", "0.21",
      {{"r", 8}, {"target_modules", {"q_proj"}}, {"target_parameters", {"mlp.experts.down_proj"}}});
  request["model_args"] = {{"linearized_experts", true}};
  const Json report = answer(request);
  EXPECT_EQ(report::bytes(report, "/model/trainable"), uint64_t{48} * 8 * (2048 + 4096));
  EXPECT_TRUE(has_note(report, "parameters_not_found"));
}

// huggingface/peft#2912: until 0.19 a loop over experts made the adapted weights of all once for each.
TEST(ReportLora, ALoopOverExpertsKeepsTheirWeightsOnceForEachBeforePeft019) {
  const Json targets = {
      {"r", 8}, {"target_modules", {"q_proj"}}, {"target_parameters", {"7.mlp.experts.gate_up_proj"}}};
  const auto peak = [&](const char* peft) {
    return bytes(answer(of_stacked_experts("gpt-oss-20b", "4.57", peft, targets)), "/memory/peak/allocated");
  };
  const double weights = 32.0 * 2880 * 5760 * 4;  // Transformers 4 loads fp32 unless told otherwise
  EXPECT_NEAR(static_cast<double>(peak("0.18") - peak("0.19")) / weights, 31, 0.5);
}

// ms-swift and LLaMA-Factory list the linears of the model that they train: a classifier's dense layer is one.
TEST(ReportLora, NamesOfAllLinearsAreThoseOfTheClassifierToo) {
  const auto trained = [](const Json& targets) {
    return bytes(answer({{"model", "modernbert-base"},
                         {"stack", "ms-swift"},
                         {"task", "classification"},
                         {"peft", {{"r", 8}, {"target_modules", targets}}}}),
                 "/model/trainable");
  };
  EXPECT_EQ(trained("all-linear"), trained({"Wqkv", "Wo", "Wi", "dense"}));
  EXPECT_EQ(trained("all-linear"), trained({"Wqkv", "Wo", "Wi"}) + 8 * (768 + 768));
}

// Axolotl's quantize_moe_experts packs what bitsandbytes leaves alone, and unpacks it again in every layer.
// peft tuners/lora/model.py _prepare_adapter_config; Axolotl's loaders/adapter.py hands PEFT an empty list.
TEST(ReportLora, ParametersAloneAreEnough) {
  Json request = of_stacked_experts(
      "qwen3-30b-a3b", "5.15", "0.20",
      {{"r", 8}, {"target_modules", Json::array()}, {"target_parameters", {"mlp.experts.down_proj"}}});
  const Json report = answer(request);
  // 48 layers, 128 experts: A of 8 x 768 and B of 2048 x 8 each.
  EXPECT_EQ(report::bytes(report, "/model/trainable"), uint64_t{48} * 128 * 8 * (768 + 2048));
}

TEST(ReportLora, PackedExpertsAreUnpackedALayerAtATime) {
  Json request =
      of_stacked_experts("qwen3-30b-a3b", "5.15", "0.21", {{"r", 8}, {"target_modules", {"q_proj"}}});
  request["model_args"] = {{"dtype", "bfloat16"}};
  request["quantization"] = {{"load_in_4bit", true}, {"bnb_4bit_use_double_quant", true}};
  request["training"] = {{"gradient_checkpointing", true}};
  const auto component = [](const Json& report, const char* instant, const char* wanted) {
    for (const Json& at : report["memory"]["instants"]) {
      if (at["id"] != instant) continue;
      for (const Json& part : at["components"]) {
        if (part["id"] == wanted) return part["bytes"].get<double>();
      }
    }
    return 0.0;
  };
  const Json loose = answer(request);
  request["quantization"]["quantize_moe_experts"] = true;
  const Json packed = answer(request);
  const double a_layer = 128.0 * 3 * 2048 * 768;
  EXPECT_NEAR((component(loose, "load", "weights") - component(packed, "load", "weights")) / (48 * a_layer),
              2 - 0.516, 0.01);
  // The peak moves: at its new place gate and up are unpacked, and other things are gone.
  const double more =
      component(packed, "backward", "activations") - component(loose, "backward", "activations");
  EXPECT_GT(more / (2 * a_layer), 0.5);
  EXPECT_LT(more / (2 * a_layer), 1.01);
}

TEST(ReportLora, ExpertsThatBitsandbytesDoesNotSeeAreSaid) {
  const auto said = [](const char* model, const char* transformers, const char* stack) {
    return has_note(answer({{"model", model},
                            {"stack", stack},
                            {"versions", {{"transformers", transformers}}},
                            {"peft", {{"target_modules", {"q_proj"}}}},
                            {"quantization", {{"load_in_4bit", true}}}}),
                    "experts_not_quantised");
  };
  EXPECT_TRUE(said("qwen3-30b-a3b", "5.15", "hf"));
  EXPECT_FALSE(said("qwen3-30b-a3b", "4.57", "hf"));
  EXPECT_TRUE(said("gpt-oss-20b", "4.57", "hf"));
  EXPECT_FALSE(said("gpt-oss-20b", "4.57", "unsloth"));
  EXPECT_FALSE(said("llama-3.1-8b", "5.15", "hf"));
}

}  // namespace
}  // namespace plimsoll::report
