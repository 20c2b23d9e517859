// Steps of the real trainers on fake CUDA tensors, beside the replay: what
// tests/measured/real_trainer_step.py saw of requests that tests/measured/draw_trainer_cases.py drew by seed,
// before any of them was priced. trainer_steps.json (seed 1) and trainer_steps_third.json are those that
// mechanisms were found on; trainer_steps_held.json (seed 2) was counted once before it was looked at,
// trainer_steps_fourth.json to trainer_steps_thirteenth.json were counted
// blind, all but the last then looked at; trainer_steps_sinks.json was written for gpt-oss,
// trainer_steps_tokens.json for trainable_token_indices (it ran before it was priced), trainer_steps_tied.json for
// modules_to_save of tied ones, trainer_steps_encoders.json for the encoders that came after BERT,
// Pegasus, Marian and GPT-Neo.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/core/golden.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

// Two matrix-product cublas_workspaces, which a CPU does not have.
constexpr double cublas_workspaces = 2 * 8519680.0;

// The highest of what a step and an evaluation hold. Loading and generation are not run, nor what scores the
// completions; the reference of a preference scores within the forward.
double priced(const Json& report, const std::string& task) {
  const bool online = task == "grpo" || task == "rloo";
  double highest = 0;
  for (const Json& instant : report["memory"]["instants"]) {
    const std::string id = instant["id"].get<std::string>();
    if (id == "load" || id == "prepare" || id == "generate" || (id == "score" && online)) continue;
    highest = std::max(highest, instant["allocated"].get<double>());
  }
  return highest;
}

double measured(const Json& seen) {
  double highest = 0;
  for (const char* phase : {"forward", "backward", "optimizer", "eval"}) {
    if (seen.contains(phase)) highest = std::max(highest, seen[phase].get<double>());
  }
  return highest + cublas_workspaces;
}

// trainer_batches.py hands over one tile an image.
Json with_one_tile(Json request) {
  if (request.contains("vision")) request["vision"]["max_tiles"] = 1;
  return request;
}

struct Errors {
  std::vector<double> by_size;
  int refused = 0;
  double median() const { return by_size[by_size.size() / 2]; }
  double of_95_percent() const { return by_size[by_size.size() * 95 / 100]; }
};

Errors errors_of(std::string_view name) {
  json::Errors unread;
  const Json file = json::parse(golden_file(name), unread).value_or(Json::object());
  Errors errors;
  for (const Json& seen : file["cases"]) {
    const Json report = answer(with_one_tile(seen["request"]));
    if (report["ok"] != Json(true)) {
      ++errors.refused;
      continue;
    }
    EXPECT_EQ(bytes(report, "/model/trainable"), seen["seen"]["trainable"].get<uint64_t>()) << seen["name"];
    const double error =
        priced(report, seen["request"]["task"].get<std::string>()) / measured(seen["seen"]) - 1;
    errors.by_size.push_back(std::abs(error));
  }
  std::sort(errors.by_size.begin(), errors.by_size.end());
  return errors;
}

// Of the case whose name begins so.
double error_of(std::string_view name, const std::string& number) {
  json::Errors unread;
  const Json file = json::parse(golden_file(name), unread).value_or(Json::object());
  for (const Json& seen : file["cases"]) {
    if (seen["name"].get<std::string>().rfind(number + ": ", 0) != 0) continue;
    const Json report = answer(with_one_tile(seen["request"]));
    return priced(report, seen["request"]["task"].get<std::string>()) / measured(seen["seen"]) - 1;
  }
  return 1;
}

// What each seed reaches today; what it scored blind is in tests/measured/README.md.
struct Seed {
  const char* file;
  std::size_t steps;
  double median, of_95_percent, farthest;
};
constexpr Seed seeds[] = {
    {"trainer_steps.json", 59, 0.001, 0.01, 0.032},  // high: Falcon, which SDPA's math kernel serves
    {"trainer_steps_held.json", 31, 0.002, 0.01, 0.01},
    {"trainer_steps_third.json", 47, 0.001, 0.012, 0.016},
    {"trainer_steps_fourth.json", 40, 0.003, 0.03, 0.04},
    {"trainer_steps_fifth.json", 40, 0.001, 0.02, 0.02},
    {"trainer_steps_sixth.json", 20, 0.001, 0.01, 0.01},
    {"trainer_steps_seventh.json", 39, 0.002, 0.01, 0.01},
    {"trainer_steps_eighth.json", 20, 0.004, 0.01, 0.01},
    {"trainer_steps_ninth.json", 20, 0.002, 0.02, 0.02},
    {"trainer_steps_tenth.json", 19, 0.002, 0.015, 0.015},
    {"trainer_steps_eleventh.json", 19, 0.001, 0.005, 0.005},
    {"trainer_steps_twelfth.json", 60, 0.002, 0.0222, 0.03},    // low: gpt-oss under DPO
    {"trainer_steps_thirteenth.json", 40, 0.001, 0.02, 0.025},  // which nobody has looked at
    {"trainer_steps_scans.json", 24, 0.009, 0.02,
     0.022},  // state-space layers in PyTorch, the last eight blind
    // DistilBERT, ELECTRA, MPNet, Nomic, DeBERTa-v3 as classifiers; Pegasus, Marian, GPT-Neo
    {"trainer_steps_encoders.json", 32, 0.003, 0.0175, 0.0175},
    {"trainer_steps_tied.json", 3, 0.001, 0.001, 0.001},    // modules_to_save of a tied embedding, fp32
    {"trainer_steps_tokens.json", 8, 0.001, 0.003, 0.003},  // PEFT's trainable_token_indices
};

class SeedOfSteps : public testing::TestWithParam<Seed> {};
TEST_P(SeedOfSteps, AllocatesWhatTheReplaySays) {
  const Seed& seed = GetParam();
  const Errors errors = errors_of(seed.file);
  ASSERT_GE(errors.by_size.size(), seed.steps) << seed.file;
  EXPECT_EQ(errors.refused, 0) << seed.file;
  EXPECT_LT(errors.median(), seed.median) << seed.file;
  EXPECT_LT(errors.of_95_percent(), seed.of_95_percent) << seed.file;
  EXPECT_LT(errors.by_size.back(), seed.farthest) << seed.file;
}
INSTANTIATE_TEST_SUITE_P(Drawn, SeedOfSteps, testing::ValuesIn(seeds));

// 6 and 2.7 % were missing: encoder and cross-attention write the mask of padded rows into their biases, the decoder
// does not; the norm behind the encoder, two dropouts and fp32 copies of what it gave.
TEST(TrainerSteps, OfT5WithLoraHoldTheBiasesOfPaddedRows) {
  EXPECT_LT(std::abs(error_of("trainer_steps_fourth.json", "29")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps.json", "40")), 0.005);
}

// 1.6 % were missing: Whisper lays out its heads before the kernel, and so what that gives.
TEST(TrainerSteps, OfWhisperCopyWhatAttentionGives) {
  EXPECT_LT(std::abs(error_of("trainer_steps_fifth.json", "33")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps_fifth.json", "22")), 0.005);
}

// 12 % were missing: zeros for the weights that each layer returns, and these.
TEST(TrainerSteps, OfBloomGiveAReentrantCheckpointZerosForItsWeights) {
  EXPECT_LT(std::abs(error_of("trainer_steps_fourth.json", "14")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps.json", "7")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps_fifth.json", "38")), 0.005);
}

TEST(TrainerSteps, OfStablelmHoldWhatAttentionReadAndGave) {
  EXPECT_LT(std::abs(error_of("trainer_steps_held.json", "23")), 0.01);
}

TEST(TrainerSteps, OfSeedOssDropWhatItsBranchesGive) {
  EXPECT_LT(std::abs(error_of("trainer_steps_held.json", "38")), 0.01);
}

// The experts of a layer are one parameter, and the update of the matrix before is still there.
TEST(TrainerSteps, OfAdafactorTakeAllExpertsOfALayerAtOnce) {
  EXPECT_LT(std::abs(error_of("trainer_steps_sixth.json", "20")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps_fourth.json", "5")), 0.01);
  EXPECT_LT(std::abs(error_of("trainer_steps_fifth.json", "14")), 0.005);
}

// 4.8 % were missing: SigLIP's last norm and Gemma 3's average keep what they read.
TEST(TrainerSteps, OfGemma3KeepWhatStandsBehindItsTower) {
  EXPECT_LT(std::abs(error_of("trainer_steps_seventh.json", "33")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps_fifth.json", "28")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps_third.json", "27")), 0.005);
}

// 3.4 % were missing where one key head serves all queries.
TEST(TrainerSteps, OfOneKeyHeadLayItOutForEveryQueryInEagerAttention) {
  EXPECT_LT(std::abs(error_of("trainer_steps.json", "1")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps_held.json", "27")), 0.005);
}

TEST(TrainerSteps, OfGptNeoxKeepACopyOfItsValuesInEagerAttention) {
  EXPECT_LT(std::abs(error_of("trainer_steps_seventh.json", "19")), 0.005);
}

// 12 % were missing: from the third batch on the logits of the one before have a name of their own.
TEST(TrainerSteps, OfAnEvaluationHoldTheLogitsOfTheBatchBefore) {
  EXPECT_LT(std::abs(error_of("trainer_steps_seventh.json", "15")), 0.02);
}

// 3.8 % were too much: gelu_new's fp32 temporaries are gone when its gradient is cast.
TEST(TrainerSteps, OfGpt2GiveBackTheirPowersBeforeTheCast) {
  EXPECT_LT(std::abs(error_of("trainer_steps_fourth.json", "17")), 0.005);
}

// 1.9 % were missing: the weight's cast of the tile before has a name while the next one is made.
TEST(TrainerSteps, OfTheFusedHeadHoldTwoCastsOfItsWeightInTheBackward) {
  EXPECT_LT(std::abs(error_of("trainer_steps_eighth.json", "15")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps_sixth.json", "8")), 0.005);
}

TEST(TrainerSteps, OfAnEvaluationCollectTheLogitsOfVirtualTokensToo) {
  EXPECT_LT(std::abs(error_of("trainer_steps_eighth.json", "10")), 0.003);
  EXPECT_LT(std::abs(error_of("trainer_steps_seventh.json", "15")), 0.003);
}

TEST(TrainerSteps, OfAnEvaluationKeepTheCastsOfWhatStandsBetweenTowerAndText) {
  EXPECT_LT(std::abs(error_of("trainer_steps_eighth.json", "14")), 0.008);
}

// 3.8 and 2 % were too much: nobody reads the last layer of LLaVA's tower, which so has neither gradients nor states.
TEST(TrainerSteps, OfLlavaHaveNoStatesForALayerThatNobodyReads) {
  EXPECT_LT(std::abs(error_of("trainer_steps_eighth.json", "4")), 0.005);
  EXPECT_LT(std::abs(error_of("trainer_steps_fourth.json", "18")), 0.005);
}

// 15 to 19 % were missing where the weights are fp32: so is the mask then, and the sum of scores and mask, its copy
// with the sinks and their softmax; two of these have names until the attention is done.
TEST(TrainerSteps, OfGptOssHoldItsScoresInTheTypeOfTheMask) {
  EXPECT_LT(std::abs(error_of("trainer_steps_tenth.json", "5")), 0.005);
  const Errors errors = errors_of("trainer_steps_sinks.json");
  ASSERT_EQ(errors.by_size.size(), 4U);
  EXPECT_LT(errors.by_size.back(), 0.007);
}

// 1.8 % were too much: over fp32 weights the scores with the mask are fp32, so that the softmax copies nothing, and its
// result has the type of the query that was turned in fp32.
TEST(TrainerSteps, OfGemma2DoNotCopyItsScoresForTheSoftmax) {
  EXPECT_LT(std::abs(error_of("trainer_steps_tenth.json", "16")), 0.007);
}

// 1.7 and 1.5 % were missing: Adagrad makes the states of that layer before any gradient is there.
TEST(TrainerSteps, OfLlavaUnderAdagradHaveThemForAllLayers) {
  EXPECT_LT(std::abs(error_of("trainer_steps_third.json", "28")), 0.004);
  EXPECT_LT(std::abs(error_of("trainer_steps_ninth.json", "2")), 0.005);
}

// 1 % was missing: its merger's norm keeps what it normalised, and its patch embedding the pixels.
TEST(TrainerSteps, OfQwen25VlKeepTheNormBehindItsTower) {
  EXPECT_LT(std::abs(error_of("trainer_steps_tenth.json", "20")), 0.003);
}

// 2.1 % were missing: the Trainer collects the encoder's states too.
TEST(TrainerSteps, OfT5CollectTheStatesOfItsEncoderInAnEvaluation) {
  EXPECT_LT(std::abs(error_of("trainer_steps_tenth.json", "4")), 0.003);
}

// 5 and 0.4 % were too much: the gradient of a cast weight meets neither the cast nor the gradient that came in.
TEST(TrainerSteps, OfFp32WeightsCastTheirGradientsInANodeOfTheirOwn) {
  EXPECT_LT(std::abs(error_of("trainer_steps_tokens.json", "2")), 0.001);
  EXPECT_LT(std::abs(error_of("trainer_steps_twelfth.json", "60")), 0.001);
}

// 2.5 to 4.5 % were too much: a prompt has no label, and TRL's fused head scores what has one.
TEST(TrainerSteps, OfPreferencesScoreNoPrompts) {
  EXPECT_LT(std::abs(error_of("trainer_steps.json", "47")), 0.001);
  EXPECT_LT(std::abs(error_of("trainer_steps.json", "12")), 0.001);
  EXPECT_LT(std::abs(error_of("trainer_steps_third.json", "8")), 0.001);
  EXPECT_LT(std::abs(error_of("trainer_steps_third.json", "15")), 0.001);
  EXPECT_LT(std::abs(error_of("trainer_steps_third.json", "24")), 0.001);
}

// 3.9 % were too much: PEFT switches the adapters off while the reference scores.
TEST(TrainerSteps, OfAReferenceRunWithoutAdapters) {
  EXPECT_LT(std::abs(error_of("trainer_steps_fourth.json", "36")), 0.01);
  EXPECT_LT(std::abs(error_of("trainer_steps_ninth.json", "15")), 0.02);
}

}  // namespace
}  // namespace plimsoll::report
