// What LLaMA-Factory's code does beside Transformers' and TRL's; the fields themselves are held by
// tests/stacks/llamafactory.
#include "core/memory/parameters/targets.h"
#include "core/model/task_head.h"
#include "tests/core/model_presets.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

constexpr double vocabulary = 128256, tokens = 2 * 4 * 1024;  // a chosen and a rejected sample of each

Json reward(const Json& more) {
  return merged({{"model", "llama-3.1-8b"},
                 {"task", "reward"},
                 {"peft", {{"r", 8}, {"target_modules", {"q_proj", "v_proj"}}}},
                 {"training", {{"bf16", true}, {"per_device_train_batch_size", 4}, {"max_length", 1024}}}},
                more);
}

// huggingface/trl v0.24.0 trl/models/modeling_value_head.py: logits in 16 bits and in fp32, read by nobody.
TEST(ValueHead, TheLanguageHeadRunsBesideIt) {
  const Json with = answer(reward({{"stack", "llamafactory"}}));
  const Json without = answer(reward({{"stack", "llamafactory"}, {"model_args", {{"value_head", false}}}}));
  const auto logits = [](const Json& report) {
    return static_cast<double>(component(instant(report, "forward"), "logits"));
  };
  EXPECT_NEAR(logits(with) - logits(without), 6 * tokens * vocabulary, 1e-3 * tokens * vocabulary);
  EXPECT_EQ(bytes(with, "/model/trainable"), 32u * 8 * (4096 + 4096 + 4096 + 1024) + 4097);
}

// Of the whole network everything is trained; its language head, which no loss reads, has no gradient.
TEST(ValueHead, AnUnreadHeadHasNoStates) {
  const Json request = reward({{"stack", "llamafactory"}});
  Json full = request;
  full.erase("peft");
  const Json report = answer(full);
  constexpr uint64_t all = 8030261248, head = 128256ull * 4096;
  EXPECT_EQ(bytes(report, "/model/trainable"), all + 4097);
  EXPECT_LT(component(instant(report, "optimizer_step"), "optimizer"), 8 * (all - head / 2));
}

// Its list of names is made before the value head is, and a plan makes it again afterwards.
TEST(ValueHead, TheUnreadHeadIsNoneOfAllLinears) {
  recipe::Recipe before;
  before.model_args.implementation = "transformers";
  before.peft.on = true;
  before.peft.all_linear = "names";
  before.peft.target_modules = {"all-linear"};
  recipe::Recipe after = before;
  json::Errors errors;
  memory::expand_targets(model::network("llama-3.1-8b"), before, errors);
  memory::expand_targets(model::with_value_head(model::network("llama-3.1-8b")), after, errors);
  EXPECT_EQ(before.peft.target_modules.size(), 7u);
  EXPECT_EQ(before.peft.target_modules, after.peft.target_modules);
}

Json freeze(const Json& training) {
  return merged({{"model", "llama-3.2-1b"}, {"stack", "llamafactory"}, {"training", {{"bf16", true}}}},
                {{"training", training}});
}

TEST(FreezeTuning, CastsUpWhatItTrainsAndLeavesTheRest) {
  constexpr uint64_t all = 1235814400, layer = 60821504;
  const auto weights = [](const Json& report) {
    return static_cast<double>(component(instant(report, "optimizer_step"), "weights"));
  };
  const Json two = answer(freeze({{"freeze_trainable_layers", 2}}));
  EXPECT_NEAR(weights(two), 2.0 * all + 2.0 * 2 * layer, 1e6);
  const Json pure = answer(freeze({{"freeze_trainable_layers", 2}, {"upcast_trainable", false}}));
  EXPECT_NEAR(weights(pure), 2.0 * all, 1e6);
}

TEST(FrozenParts, ATowerAMergerAndALanguageModelAreFrozenOneByOne) {
  const auto trained = [](const Json& vision) {
    return bytes(answer({{"model", "qwen2.5-vl-7b-instruct"}, {"stack", "llamafactory"}, {"vision", vision}}),
                 "/model/trainable");
  };
  const uint64_t language = trained(Json::object());
  const uint64_t merger = trained({{"freeze_multi_modal_projector", false}}) - language;
  const uint64_t tower = trained({{"freeze_vision_tower", false}}) - language;
  EXPECT_EQ(trained({{"freeze_language_model", true}, {"freeze_vision_tower", false}}), tower);
  EXPECT_EQ(trained({{"freeze_vision_tower", false}, {"freeze_multi_modal_projector", false}}),
            language + merger + tower);
}

// PEFT gives each of two modules that share a weight a copy of its own.
TEST(ModulesToSave, ATiedHeadIsACopyOfItsOwn) {
  const auto trained = [](const Json& saved) {
    const Json peft = {{"r", 8}, {"target_modules", {"q_proj"}}, {"modules_to_save", saved}};
    return bytes(answer({{"model", "llama-3.2-1b"}, {"peft", peft}}), "/model/trainable");
  };
  constexpr uint64_t table = 128256ull * 2048;
  const uint64_t adapters = trained(Json::array());
  EXPECT_EQ(trained({"embed_tokens"}), adapters + table);
  EXPECT_EQ(trained({"embed_tokens", "lm_head"}), adapters + 2 * table);
}

// Gemma 4's second table has rows for as many tokens, and one width for all layers together.
TEST(ModulesToSave, ATiedHeadIsAsWideAsTheTokensEmbeddings) {
  const auto trained = [](const Json& saved) {
    const Json peft = {{"r", 8}, {"target_modules", {"q_proj"}}, {"modules_to_save", saved}};
    return bytes(answer({{"model", "gemma-4-e2b"}, {"peft", peft}}), "/model/trainable");
  };
  EXPECT_EQ(trained({"lm_head"}), trained(Json::array()) + 262144ull * 1536);
}

// deepspeed/runtime/bf16_optimizer.py: fp32 gradients of all parameters on every rank, states in partitions.
TEST(DeepSpeedStageZero, KeepsGradientsInFp32) {
  const Json request = {{"model", "llama-3.2-1b"},
                        {"parallel", {{"num_gpus", 4}, {"strategy", "zero0"}}},
                        {"training", {{"bf16", true}, {"per_device_train_batch_size", 1}}}};
  const Json report = answer(request);
  constexpr uint64_t all = 1235814400;
  const Json step = instant(report, "optimizer_step");
  EXPECT_EQ(component(step, "gradients"), 4 * all);
  EXPECT_NEAR(static_cast<double>(component(step, "optimizer")), 12.0 * all / 4, 1e6);
}

}  // namespace
}  // namespace plimsoll::report
