// Optimizers whose states live in a subspace of each gradient, against the bytes that the real classes hold
// (tests/measured/projected_states.py), and layers that are added to be trained.
#include <cmath>

#include "core/memory/parameters/optimizer_states.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

double projected_states(const char* optim, double rows, double columns, int size) {
  memory::Parameters parameters;
  memory::Trained matrix;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.size = size;
  matrix.rank = 128;
  parameters.trained.push_back(matrix);
  return memory::optimizer_state_bytes(parameters, optim, nullptr);
}

TEST(Projected, StatesAreThoseOfTheRealClasses) {
  for (const char* optim : {"galore_adamw", "apollo_adamw"}) {
    EXPECT_EQ(projected_states(optim, 1376, 512, 2), 835584);
    EXPECT_EQ(projected_states(optim, 512, 512, 2), 393216);
    EXPECT_EQ(projected_states(optim, 512, 1376, 2), 835584);
  }
  EXPECT_EQ(projected_states("apollo_adamw", 1376, 512, 4), 1671168);
  EXPECT_EQ(projected_states("apollo_adamw", 512, 512, 4), 786432);
  // A view into V keeps all of it.
  EXPECT_EQ(projected_states("galore_adamw", 1376, 512, 4), 2457600);
  EXPECT_EQ(projected_states("galore_adamw", 512, 512, 4), 1572864);
  EXPECT_EQ(projected_states("galore_adamw", 512, 1376, 4), 2457600);
}

Json qwen_7b(Json training) {
  training["per_device_train_batch_size"] = 1;
  training["max_length"] = 512;
  training["gradient_checkpointing"] = true;
  return answer({{"model", "qwen-7b"},
                 {"stack", "trl"},
                 {"model_args", {{"dtype", "bfloat16"}}},
                 {"training", std::move(training)}});
}

uint64_t at_step(const Json& report, const char* id) {
  return component(instant(report, "optimizer_step"), id);
}

TEST(Projected, ARankIsReadFromTheArgumentsThatTransformersTakes) {
  const auto states = [](const char* args) {
    return at_step(qwen_7b({{"optim", "galore_adamw"}, {"optim_args", args}}), "optimizer");
  };
  EXPECT_EQ(states(""), states("rank=128, update_proj_gap=200"));
  EXPECT_EQ(states("update_proj_gap=50,rank=128"), states("rank=128"));
  EXPECT_LT(states("rank=64"), states("rank=128"));
  EXPECT_EQ(states("low_rank=7"), states("rank=128"));
}

TEST(Projected, WhatIsNotNamedKeepsStatesOfItsOwnShape) {
  const Json adamw = qwen_7b({{"optim", "adamw_torch"}});
  const Json all = qwen_7b({{"optim", "galore_adamw"}, {"optim_target_modules", "all-linear"}});
  const Json some = qwen_7b({{"optim", "galore_adamw"}, {"optim_target_modules", {"mlp"}}});
  const auto states = [](const Json& report) { return at_step(report, "optimizer"); };
  EXPECT_LT(states(all), states(some));
  EXPECT_LT(states(some), states(adamw));
}

// huggingface/transformers v5.23 trainer_optimizer.py _setup_low_rank_optimizer, run on a tiny Llama of two layers: "all-linear"
// means its 15 linears, the head among them, ["attn", "mlp"] and [".*.attn.*", ".*.mlp.*"] 14, ".*attn.*" 8, "attn" none.
Json llama_8b(Json targets, const char* stack = "hf") {
  return answer({{"model", "llama-3.1-8b"},
                 {"stack", stack},
                 {"model_args", {{"dtype", "bfloat16"}}},
                 {"training",
                  {{"optim", "galore_adamw"},
                   {"optim_target_modules", std::move(targets)},
                   {"gradient_checkpointing", true},
                   {"max_length", 512}}}});
}

TEST(Projected, TargetsOfAListArePartsOfNamesOrRegularExpressions) {
  const auto states = [](Json targets) { return at_step(llama_8b(std::move(targets)), "optimizer"); };
  const uint64_t layers = states({"attn", "mlp"}), attention = states({"attn"});
  EXPECT_EQ(states({".*.attn.*", ".*.mlp.*"}), layers);
  EXPECT_EQ(states({".*attn.*"}), attention);
  EXPECT_EQ(states(".*attn.*"), attention);
  EXPECT_LT(layers, attention);
  EXPECT_EQ(states({"attn", "mlp", "lm_head"}), states("all-linear"));
  EXPECT_EQ(states("all_linear"), states("all-linear"));
  // Of the head 128,256 x 4096 two states of 128 columns, and 4096 x 128 that lead there.
  EXPECT_EQ(layers - states("all-linear"), 4ull * 128256 * 4096 - (4ull * 128256 * 128 + 2ull * 4096 * 128));
}

TEST(Projected, APatternMayMeanSomeOfTheLayers) {
  const auto states = [](Json targets) { return at_step(llama_8b(std::move(targets)), "optimizer"); };
  const uint64_t all = states({"mlp"}), eight = states(R"(.*\.[0-7]\.mlp.*)"),
                 one = states(R"(.*\.0\.mlp.*)");
  EXPECT_EQ((eight - all) / 24,
            (one - all) / 31);  // those of the 32 layers that keep states of their own shape
}

TEST(Projected, WhatMeansNoLinearIsRefusedAsTransformersDoes) {
  for (const Json& targets : {Json("attn"), Json::array({"wqkv"})}) {
    const Json report = llama_8b(targets);
    EXPECT_EQ(at(report, "/errors/0/pointer"), "/training/optim_target_modules") << targets;
    EXPECT_NE(
        at(report, "/errors/0/message").get<std::string>().find("No target modules found for galore_adamw"),
        std::string::npos);
  }
  const Json unread = llama_8b("(attn");
  EXPECT_NE(at(unread, "/errors/0/message").get<std::string>().find("Transformers reads"), std::string::npos);
}

// hiyouga/LLaMA-Factory train/trainer_utils.py _create_galore_optimizer: parts of names, and "all" without the head.
TEST(Projected, LlamaFactoryTakesPartsOfNamesAndLeavesTheHeadOut) {
  const auto states = [](Json targets) {
    return at_step(llama_8b(std::move(targets), "llamafactory"), "optimizer");
  };
  EXPECT_EQ(states("all-linear"), states({"attn", "mlp"}));
  EXPECT_EQ(states("attn"), states({"attn"}));
  EXPECT_LT(states({"attn"}), states({".*attn.*"}));
}

// Transformers 5 has the experts of a layer as one parameter, which is no linear; in 4.57 each is a linear.
TEST(Projected, ExpertsThatAreNoLinearsKeepStatesOfTheirOwnShape) {
  const auto states_in = [](const char* release) {
    const Json report =
        answer({{"model", "qwen3-30b-a3b"},
                {"stack", "hf"},
                {"versions", {{"transformers", release}}},
                {"model_args", {{"dtype", "bfloat16"}}},
                {"training", {{"optim", "galore_adamw"}, {"optim_target_modules", {"all-linear"}}}}});
    return at_step(report, "optimizer");
  };
  constexpr uint64_t experts = 48ull * 128 * 3 * 2048 * 768;  // two states of two bytes an element
  EXPECT_GE(states_in("5.15"), 4 * experts);
  EXPECT_LT(states_in("4.57"), 4 * experts);
}

TEST(Projected, LayerwiseNeverHoldsAllGradients) {
  const Json at_once = qwen_7b({{"optim", "galore_adamw"}});
  const Json each = qwen_7b({{"optim", "galore_adamw_layerwise"}});
  EXPECT_LT(at_step(each, "gradients"), uint64_t{2} << 30);
  EXPECT_GT(at_step(at_once, "gradients"), uint64_t{14} << 30);
  EXPECT_LT(bytes(each, "/memory/peak/allocated"), bytes(at_once, "/memory/peak/allocated"));
}

// OpenLMLab/LOMO lomo_optim/lomo.py, adalomo.py: gradients are used up in hooks; the largest matrix, 151,936
// rows of 4096, is cast to fp32 with its gradient.
TEST(Lomo, KeepsNoStateAndNeverHoldsAllGradients) {
  const Json lomo = qwen_7b({{"optim", "lomo"}}), ada = qwen_7b({{"optim", "adalomo"}});
  for (const Json& report : {lomo, ada}) {
    EXPECT_LT(at_step(report, "gradients"), uint64_t{2} << 30);
    EXPECT_LT(bytes(report, "/memory/peak/allocated"), uint64_t{28} << 30);
  }
  EXPECT_EQ(at_step(lomo, "optimizer"), 0u);
  EXPECT_EQ(at_step(lomo, "transient"), uint64_t{8} * 151936 * 4096);
  EXPECT_GT(at_step(ada, "optimizer"), uint64_t{1} << 20);
  EXPECT_LT(at_step(ada, "optimizer"), uint64_t{64} << 20);
}

// modelscope/ms-swift docs/source_en/LLM/Benchmark.md, tuners: 809.5826 M trained with 4 new blocks.
TEST(NewBlocks, AreAllThatLlamaProTrains) {
  const Json report = qwen_7b({{"llamapro_num_new_blocks", 4}});
  EXPECT_EQ(std::round(static_cast<double>(bytes(report, "/model/trainable")) / 100), 8095826);
  const Json lora = qwen_7b({{"freeze_trainable_layers", 4}});
  EXPECT_EQ(bytes(report, "/model/trainable"), bytes(lora, "/model/trainable"));
  EXPECT_GT(bytes(report, "/model/parameters"), bytes(lora, "/model/parameters"));
}

TEST(SequenceParallel, SharesOutTheTokensOfARow) {
  const auto run = [](uint64_t length, uint64_t size) {
    return answer(
        {{"model", "qwen2.5-3b"},
         {"peft", {{"r", 8}, {"target_modules", "all-linear"}}},
         {"model_args", {{"dtype", "bfloat16"}, {"attn_implementation", "flash_attention_2"}}},
         {"training",
          {{"max_length", length}, {"per_device_train_batch_size", 1}, {"gradient_checkpointing", true}}},
         {"parallel", {{"num_gpus", 8}, {"strategy", "ddp"}, {"sequence_parallel_size", size}}}});
  };
  EXPECT_EQ(bytes(run(65536, 8), "/memory/peak/allocated"), bytes(run(8192, 1), "/memory/peak/allocated"));
  EXPECT_EQ(at(run(4096, 3), "/ok"), Json(false));
  // A quarter of a token is a whole one: less than a byte of it had no place among the tensors of a timeline.
  EXPECT_EQ(bytes(run(2, 8), "/memory/peak/allocated"), bytes(run(1, 1), "/memory/peak/allocated"));
}

}  // namespace
}  // namespace plimsoll::report
