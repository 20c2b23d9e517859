// The causes behind a failure: what each line of evidence leads to, and in which order things are ruled out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/report/diagnose.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

TEST(DiagnosisCauses, EveryCauseSaysWhatHappensAndWhatGetsPastIt) {
  std::set<std::string_view> ids;
  for (const Cause& cause : causes()) {
    EXPECT_TRUE(ids.insert(cause.id).second) << cause.id;
    EXPECT_FALSE(cause.title.empty()) << cause.id;
    EXPECT_FALSE(cause.why.empty()) << cause.id;
    EXPECT_FALSE(cause.remedy.empty()) << cause.id;
  }
  EXPECT_EQ(ids.size(), 51U);
}

TEST(DiagnosisCauses, ACauseThatIsNamedShowsItsEvidenceAndTheSharesAddUp) {
  const Diagnosis d = explained(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 268.00 MiB. GPU 0 has a total capacity "
      "of 79.15 GiB "
      "of which 164.62 MiB is free. Process 95805 has 34.72 GiB memory in use. Including non-PyTorch memory, "
      "this process "
      "has 44.25 GiB memory in use. Of the allocated memory 43.82 GiB is allocated by PyTorch, and 21.69 MiB "
      "is reserved "
      "by PyTorch but unallocated.");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes[0].cause->id, "other_process");
  ASSERT_FALSE(d.causes[0].shown.empty());
  EXPECT_THAT(d.causes[0].shown[0], testing::HasSubstr("34.72 GiB"));
  double sum = 0;
  for (const Named& named : d.causes) sum += named.confidence;
  EXPECT_LE(sum, 1.0 + 1e-9);
  EXPECT_GT(d.causes[0].confidence, 0.5);
}

// A process figure above PyTorch's own is this process's context and NCCL's buffers, not a stranger.
TEST(DiagnosisCauses, WhatThisProcessHoldsBeyondPyTorchIsNotForeign) {
  const std::string id = first_cause(
      "CUDA out of memory. Tried to allocate 272.00 MiB. GPU 0 has a total capacity of 79.19 GiB of which "
      "219.06 MiB is "
      "free. Including non-PyTorch memory, this process has 78.97 GiB memory in use. Of the allocated memory "
      "74.10 GiB is "
      "allocated by PyTorch, and 503.73 MiB is reserved by PyTorch but unallocated.");
  EXPECT_NE(id, "other_process");
}

TEST(DiagnosisCauses, ForeignMemoryAndTheHostComeBeforeTheRun) {
  const char* request = R"({"model": "mistral-7b-v0.3", "peft": {"r": 16}})";
  EXPECT_EQ(
      first_cause("CUDA out of memory. Tried to allocate 1.72 GiB (GPU 0; 5.79 GiB total capacity; 2.37 GiB "
                  "already allocated; 1.23 GiB free; 2.38 GiB reserved in total by PyTorch)"),
      "other_process");
  EXPECT_EQ(first_cause("exits with return code = -9", request), "host_ram");
  EXPECT_EQ(first_cause("MPS backend out of memory (MPS allocated: 33.48 GB, other allocations: 2.45 GB, max "
                        "allowed: 36.27 "
                        "GB). Tried to allocate 600.15 MB on private pool."),
            "mps_watermark");
}

TEST(DiagnosisCauses, FreeBlocksOfTheRightTotalAreFragmentation) {
  const Diagnosis d = explained(
      "CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 23.69 GiB total capacity; 15.00 GiB already "
      "allocated; "
      "100.00 MiB free; 22.70 GiB reserved in total by PyTorch)");
  EXPECT_EQ(d.causes.front().cause->id, "fragmentation");
  EXPECT_THAT(d.causes.front().shown[0], testing::HasSubstr("7.70 GiB"));
}

// It was divided by what was asked for, which may be nothing or not written: the words alone came to "-9 * 10^18 times".
TEST(DiagnosisCauses, WhatLiesUnusedIsNoMultipleOfNothing) {
  for (const char* asked : {"Tried to allocate 0 bytes", "Tried to allocate 0.00 MiB", "Out of memory"}) {
    const Diagnosis d = explained(
        std::string("torch.OutOfMemoryError: CUDA out of memory. ") + asked +
        ". GPU 0 has a total capacity of 23.64 GiB of which 30.81 MiB is free. Of the allocated memory 12.91 GiB is "
        "allocated by PyTorch, and 10.16 GiB is reserved by PyTorch but unallocated.");
    for (const Evidence& e : d.evidence) EXPECT_NE(e.sign, Sign::slack_is_plenty) << e.words;
  }
}

TEST(DiagnosisCauses, TheFrameNamesWhatNoFigureShows) {
  const std::string line =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 130.00 MiB. GPU 0 has a total capacity "
      "of 94.99 GiB "
      "of which 87.19 MiB is free.";
  EXPECT_EQ(
      first_cause("  File \"adamw.py\", line 600, in _multi_tensor_adamw\n    torch._foreach_sqrt(sqs)\n" +
                  line),
      "optimizer_foreach_temporary");
  EXPECT_EQ(first_cause("    all_preds = nested_concat(all_preds, logits)\n" + line),
            "eval_accumulates_logits");
  EXPECT_EQ(first_cause("    model = model.merge_and_unload()\n" + line), "merge_peak");
  EXPECT_EQ(first_cause("    state[\"exp_avg_sq\"] = torch.zeros_like(p)\n" + line),
            "optimizer_states_first_step");
  EXPECT_EQ(first_cause(line, "", "loss"), "logits_peak");
}

TEST(DiagnosisCauses, ArithmeticTellsAModelThatDoesNotFitFromABatchThatDoesNot) {
  const std::string line =
      "CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 23.69 GiB total capacity; 23.10 GiB already "
      "allocated; "
      "40.00 MiB free; 23.20 GiB reserved in total by PyTorch)";
  EXPECT_EQ(first_cause(line, R"({"model": "meta-llama/Llama-2-13b-hf",
                                  "training": {"per_device_train_batch_size": 1, "max_length": 512}})"),
            "does_not_fit_at_all");
  EXPECT_EQ(first_cause(line, R"({"model": "Qwen/Qwen2.5-0.5B", "peft": {"r": 8},
                                  "training": {"per_device_train_batch_size": 32, "max_length": 4096}})"),
            "batch_or_sequence_too_large");
  EXPECT_EQ(first_cause(line, R"({"model": "meta-llama/Llama-2-13b-hf", "peft": {"r": 8},
                                  "parallel": {"num_gpus": 2, "strategy": "ddp"}})"),
            "replicated_not_sharded");
}

TEST(DiagnosisCauses, HalfARequestIsUsedAsFarAsItGoes) {
  const Diagnosis d =
      explained("CUDA out of memory. Tried to allocate 64.00 MiB.", R"({"peft": {"use_dora": true}})");
  EXPECT_TRUE(d.reading.facts.dora);
  EXPECT_EQ(d.causes.front().cause->id, "dora_overhead");
}

TEST(DiagnosisCauses, NamesOfModelsAndCardsTellSizes) {
  EXPECT_DOUBLE_EQ(parameters_in_name("llama-7b (from scratch)"), 7e9);
  EXPECT_DOUBLE_EQ(parameters_in_name("Qwen2.5-0.5B"), 0.5e9);
  EXPECT_NEAR(parameters_in_name("Mixtral-8x7B"), 46.7e9, 0.1e9);
  EXPECT_DOUBLE_EQ(parameters_in_name("a model without a figure"), 0);
  EXPECT_DOUBLE_EQ(gibibytes_in_name("A100 80GB"), 80);
}

TEST(DiagnosisCauses, ACardIsIdentifiedByWhatItReports) {
  const Diagnosis smi = explained(
      "|   0  Tesla T4            Off  | 00000000:00:1E.0 Off |\n"
      "| N/A   33C    P0    38W / 70W |   15000MiB / 15360MiB |      0%      Default |");
  EXPECT_THAT(smi.cards, testing::Contains("t4"));
  const Diagnosis line = explained(
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 14.74 GiB "
      "of which 1.00 GiB is free.");
  EXPECT_THAT(line.cards, testing::Contains("t4"));
}

TEST(DiagnosisCauses, ACardOfAmdSpeaksOfHip) {
  const Diagnosis d = explained(
      "HIP out of memory. Tried to allocate 204.00 MiB. GPU 0 has a total capacity of 23.98 GiB of which "
      "128.06 MiB "
      "is free.");
  EXPECT_THAT(d.cards, testing::Contains("rx-7900-xtx"));
}

// PyTorch sees 23.51 to 23.64 GiB of an RTX 4090, 23.99 of it under Windows, and 39.39 to 39.59 of a 40 GB
// A100.
TEST(DiagnosisCauses, ACardThatIsNamedComesFirstAmongThoseOfItsSize) {
  const auto cards = [](const std::string& capacity, const std::string& words) {
    return explained(words +
                     "CUDA out of memory. Tried to allocate 204.00 MiB. GPU 0 has a total capacity of " +
                     capacity + " GiB of which 128.06 MiB is free.")
        .cards;
  };
  EXPECT_THAT(cards("23.65", "").size(), testing::Ge(3U));
  EXPECT_THAT(cards("23.65", ""), testing::Contains("rtx-4090"));
  EXPECT_EQ(cards("23.65", "On my RTX4090: ").front(), "rtx-4090");
  EXPECT_EQ(cards("23.68", "two 3090s? No, one 3090. ").front(), "rtx-3090");
  EXPECT_EQ(cards("23.99", "4090, Windows 11. ").front(), "rtx-4090");
  EXPECT_EQ(cards("23.99", "").front(), "rtx-4090");
  EXPECT_THAT(cards("39.56", ""), testing::Contains("a100-sxm-40"));
  EXPECT_THAT(cards("39.39", "").front(), testing::StartsWith("a100-"));  // no slice of an H100
}

TEST(DiagnosisCauses, WhatTakesAThirdOfTheCardDoesNotExceedIt) {
  const Diagnosis d = explained(
      "CUDA out of memory. Tried to allocate 112.00 MiB. GPU 0 has a total capacity of 44.35 GiB of which "
      "100.00 MiB "
      "is free.",
      R"({"model": "meta-llama/Meta-Llama-3-8B", "peft": {"r": 8}, "training": {"max_length": 1024}})");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_NE(d.causes[0].cause->id, "does_not_fit_at_all");
}

TEST(DiagnosisCauses, APartOfAnotherWordIsNoSign) {
  const Diagnosis d = explained(
      "python finetune.py --output_dir ./result\n"
      "CUDA out of memory. Tried to allocate 204.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which "
      "128.06 MiB is free.");
  ASSERT_FALSE(d.evidence.empty());
  for (const Evidence& e : d.evidence) EXPECT_NE(e.sign, Sign::says_tpu) << e.words;
}

TEST(DiagnosisCauses, TheNameOfASettingIsNeitherAFrameNorAMoment) {
  const Diagnosis d = explained(
      "save_steps: 500\n"
      "fsdp_state_dict_type: FULL_STATE_DICT\n"
      "  auto_resume_from_checkpoints: true\n"
      "val_set_size: 0.1\n"
      "accelerate launch train.py --save_steps 500 --do_eval True --resume_from_checkpoint last\n"
      "CUDA out of memory. Tried to allocate 64.00 MiB.");
  EXPECT_EQ(d.reading.phase, FailurePhase::unknown);
  for (const Evidence& e : d.evidence) {
    EXPECT_NE(e.sign, Sign::at_save) << e.words;
    EXPECT_NE(e.sign, Sign::resumes) << e.words;
  }
}

TEST(DiagnosisCauses, AWeightOnItsWayToTheCardIsLoading) {
  const Diagnosis d = explained(
      "  File \"/site-packages/torch/nn/modules/module.py\", line 1159, in convert\n    return t.to(\n"
      "  File \"/site-packages/bitsandbytes/nn/modules.py\", line 330, in to\n"
      "    super().to(device=device, dtype=dtype, non_blocking=non_blocking),\n"
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU  has a total "
      "capacity of "
      "23.68 GiB of which 60.31 MiB is free.");
  EXPECT_EQ(d.reading.phase, FailurePhase::load);
}

TEST(DiagnosisCauses, ASettingThatIsOffIsNoFrame) {
  const Diagnosis d = explained(
      "resume_from_checkpoint: null\nuse_dora=False\nCUDA out of memory. Tried to allocate 64.00 MiB.");
  EXPECT_EQ(d.reading.phase, FailurePhase::unknown);
}

TEST(DiagnosisCauses, AModelNamedInTheTextIsLookedUp) {
  json::Errors errors;
  const auto answer = json::parse(
      report::diagnosis_text(
          "train.py --model_name_or_path mistralai/Mistral-7B-v0.3\n"
          "CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 14.74 GiB",
          "", "", catalog()),
      errors);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->at("request").at("model"), json::Json("mistralai/Mistral-7B-v0.3"));
  EXPECT_EQ(answer->at("tensors").at(0).at("model"), json::Json(""));
  EXPECT_EQ(answer->at("tensors").at(0).at("dtype"), json::Json("fp32"));
}

// What ends a diagnosis is a plan that has been priced, not a tip.
TEST(DiagnosisCauses, ACompleteRequestEndsInPlansForTheCardThatFailed) {
  json::Errors errors;
  const auto answer =
      json::parse(report::diagnosis_text(
                      "CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 23.69 GiB total capacity; "
                      "23.10 GiB already "
                      "allocated; 40.00 MiB free; 23.20 GiB reserved in total by PyTorch)",
                      R"({"model": "mistral-7b-v0.3", "peft": {"r": 16, "target_modules": "all-linear"},
              "model_args": {"dtype": "float32"},
              "training": {"per_device_train_batch_size": 4, "max_length": 1024}})",
                      "", catalog()),
                  errors);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->at("run").at("verdict"), json::Json("no"));
  ASSERT_TRUE(answer->at("plans").is_array());
  ASSERT_FALSE(answer->at("plans").empty());
  EXPECT_FALSE(answer->at("plans").at(0).at("changes").empty());
}

// The request to make plans for has what the failure shows: the card, and what others hold of it.
TEST(DiagnosisCauses, TheRequestToFixKnowsTheCardAndTheForeignMemory) {
  json::Errors errors;
  const auto answer =
      json::parse(report::diagnosis_text(
                      "CUDA out of memory. Tried to allocate 268.00 MiB. GPU 0 has a total capacity of 79.15 "
                      "GiB of which 164.62 MiB is "
                      "free. Process 95805 has 34.72 GiB memory in use. Including non-PyTorch memory, this "
                      "process has 44.25 GiB memory "
                      "in use. Of the allocated memory 43.82 GiB is allocated by PyTorch, and 21.69 MiB is "
                      "reserved by PyTorch but "
                      "unallocated.",
                      R"({"model": "mistral-7b-v0.3", "peft": {"r": 16, "target_modules": "all-linear"}})",
                      "", catalog()),
                  errors);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->at("request").at("hardware").at("in_use_gib"), json::Json(34.72));
  EXPECT_TRUE(answer->at("request").at("hardware").contains("gpu"));
  EXPECT_EQ(answer->at("request").at("peft").at("r"), json::Json(16));
  EXPECT_NEAR(answer->at("run").at("usable").get<double>(), (79.15 - 34.72) * 1073741824.0, 2e6);
}

TEST(DiagnosisCauses, TheAnswerIsJsonAlsoForTextThatSaysNothing) {
  json::Errors errors;
  const auto nothing = json::parse(report::diagnosis_text("hello", "", "", catalog()), errors);
  ASSERT_TRUE(nothing.has_value());
  EXPECT_EQ((*nothing)["ok"], json::Json(false));
  const auto broken = json::parse(
      report::diagnosis_text(std::string("CUDA out of memory.\0\xff Tried to allocate 2.00 GiB", 48), "{", "",
                             catalog()),
      errors);
  ASSERT_TRUE(broken.has_value());
  EXPECT_EQ((*broken)["ok"], json::Json(true));
  EXPECT_EQ((*broken)["messages"][0]["numbers"]["tried"], json::Json(2147483648));
  EXPECT_FALSE((*broken)["request_errors"].empty());
}

}  // namespace
}  // namespace plimsoll::diagnosis
