// Samples of different lengths: the longest batch makes the peak, and the ones before it what is held beside
// it.
#include "core/memory/layers/lengths.h"

#include <algorithm>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

// foundation-model-stack/fms-acceleration scripts/benchmarks, scenarios-orca.yaml and refs_orca: the first
// 2000 samples of Orca-Math, unpacked; 289 tokens on average, some 2500 in the longest.
Json orca_run(uint64_t batch, bool padded) {
  return answer({{"model", "mistralai/Mistral-7B-v0.1"},
                 {"stack", "trl"},
                 {"want", {"allocator"}},
                 {"hardware", {{"gpu", "a100-sxm-80"}}},
                 {"versions", {{"transformers", "4.44"}, {"torch", "2.4"}, {"trl", "0.9"}, {"peft", "0.12"}}},
                 {"model_args", {{"dtype", "float16"}, {"attn_implementation", "flash_attention_2"}}},
                 {"quantization",
                  {{"load_in_4bit", true},
                   {"bnb_4bit_quant_type", "nf4"},
                   {"bnb_4bit_use_double_quant", true},
                   {"bnb_4bit_compute_dtype", "float16"},
                   {"prepare_for_kbit_training", false}}},
                 {"peft",
                  {{"r", 16},
                   {"lora_dropout", 0.1},
                   {"adapter_dtype", "float16"},
                   {"target_modules", {"q_proj", "k_proj", "v_proj", "o_proj"}}}},
                 {"training",
                  {{"fp16", true},
                   {"per_device_train_batch_size", batch},
                   {"gradient_accumulation_steps", 2},
                   {"gradient_checkpointing", true},
                   {"loss_kernel", "stock"},
                   {"optim", "adamw_torch"},
                   {"padded_batches", padded},
                   {"max_length", 4096}}},
                 {"data", {{"mean_length", 289}, {"longest_length", 2500}}}});
}

void expect_allocated(const Json& report, double allocated, double tolerance) {
  EXPECT_NEAR(static_cast<double>(bytes(report, "/memory/peak/allocated")), allocated, tolerance * allocated);
}

TEST(Lengths, OfUnpackedRunsThePaddedAndThePaddingFreeOnesPeakAtTheBatchOfTheLongestSample) {
  const Json padded = orca_run(4, true);
  expect_allocated(padded, 11082124288.0, 0.02);
  expect_allocated(orca_run(4, false), 6461013504.0, 0.04);
  expect_allocated(orca_run(8, false), 7270018560.0, 0.04);
  // nvidia-smi showed 17,733 MiB of it: batches of one length alone would hold 13,000.
  EXPECT_NEAR(static_cast<double>(bytes(padded, "/memory/peak/device")) / mebibyte, 17733, 0.08 * 17733);
}

// Two cards share the samples, and the Trainer's figure is that of the first: 8.5 GiB where the longest
// sample would take 10.2 (refs/a100_80gb_pf.csv, the rows of two cards).
TEST(Lengths, TheBandReachesDownToARunThatDoesNotMeetTheLongestSample) {
  const auto low_of = [](const Json& report) {
    return static_cast<double>(bytes(report, "/memory/peak/allocated_low")) /
           static_cast<double>(bytes(report, "/memory/peak/allocated"));
  };
  const Json padded = orca_run(4, true);
  EXPECT_LT(low_of(padded), 0.84);
  EXPECT_GT(low_of(padded), 0.6);
  Json request = {{"model", "llama-3.2-1b"}, {"training", {{"max_length", 2500}, {"packing", false}}}};
  const double without = low_of(answer(request));
  request["data"] = {{"longest_length", 2500}, {"mean_length", 2400}};  // all alike
  EXPECT_EQ(low_of(answer(request)), without);
  request["data"] = {{"longest_length", 2500}, {"mean_length", 300}};
  EXPECT_LT(low_of(answer(request)), without);
}

TEST(Lengths, ACapThatNoSampleReachesChangesNothing) {
  const auto run = [](uint64_t cap, uint64_t longest) {
    return bytes(answer({{"model", "llama-3.1-8b"},
                         {"training", {{"max_length", cap}}},
                         {"data", {{"longest_length", longest}}}}),
                 "/memory/peak/allocated");
  };
  EXPECT_EQ(run(8192, 700), run(700, 0));
  EXPECT_EQ(run(700, 8192), run(700, 0));
  EXPECT_LT(run(8192, 700), run(8192, 0));
}

TEST(Lengths, PackedRowsAreFullWhateverTheSamples) {
  const auto run = [](uint64_t longest) {
    return bytes(answer({{"model", "llama-3.1-8b"},
                         {"training", {{"max_length", 4096}, {"packing", true}}},
                         {"data", {{"mean_length", 300}, {"longest_length", longest}}}}),
                 "/memory/peak/allocated");
  };
  EXPECT_EQ(run(900), run(0));
}

// Joined samples: a batch of eight differs little in length from the next, so that nothing which is cached
// serves the one with the longest sample. nvidia-smi showed 10.56 and 13.97 GiB of these runs
// (foundation-model-stack/fms-acceleration scripts/benchmarks/refs/a100_80gb_pf.csv).
TEST(Lengths, BatchesOfJoinedSamplesAreNearToTheirMeanAndCacheLittleForTheLongest) {
  const auto shown = [](uint64_t batch) {
    return static_cast<double>(bytes(orca_run(batch, false), "/memory/peak/device")) / mebibyte;
  };
  EXPECT_NEAR(shown(4), 10812, 0.05 * 10812);
  EXPECT_NEAR(shown(8), 14306, 0.05 * 14306);
  recipe::Recipe r;
  r.model_args.attn_implementation = "flash_attention_2";
  r.training.padded_batches = false;
  r.training.max_length = 4096;
  r.data.mean_length = 289;
  r.data.longest_length = 2500;
  const auto median = [&r](uint64_t batch) {
    r.training.per_device_train_batch_size = batch;
    return memory::met_lengths(r).front();
  };
  EXPECT_LT(median(1), median(8));
  EXPECT_LT(median(8), 289);
}

// cls-fudan-news-zh has 3234 tokens on average: cut at 512 nearly every sample is that long, and where the
// longer ones are left out, most of those that remain are well below.
TEST(Lengths, WhereLongerSamplesAreLeftOutTheOthersDifferInLength) {
  recipe::Recipe r;
  r.training.max_length = 512;
  r.training.per_device_train_batch_size = 1;
  r.data.mean_length = 3234;
  r.data.longest_length = 19548;
  const auto at_most = [&](double length) {
    const std::vector<double> met = memory::met_lengths(r);
    return std::count_if(met.begin(), met.end(), [length](double tokens) { return tokens <= length; });
  };
  r.training.truncation_strategy = "truncate";
  EXPECT_LE(at_most(511), 1);
  r.training.truncation_strategy = "drop";
  EXPECT_GE(at_most(500), 7);
  EXPECT_EQ(memory::met_lengths(r).back(), 512);
}

TEST(Lengths, WhatARunMeetsEndsWithTheLongestAndNeverExceedsIt) {
  for (const uint64_t longest : {100, 700, 2500, 19548}) {
    for (const double mean : {20.0, 90.0, 289.0, 3234.0}) {
      for (const uint64_t batch : {1, 4, 32}) {
        recipe::Recipe r;
        r.training.max_length = 2048;
        r.training.per_device_train_batch_size = batch;
        r.training.padded_batches = batch > 1;
        r.data.mean_length = mean;
        r.data.longest_length = longest;
        const std::vector<double> met = memory::met_lengths(r);
        EXPECT_EQ(met.empty(), mean > 0.9 * static_cast<double>(longest));
        if (met.empty()) continue;
        EXPECT_EQ(met.back(), r.row_length());
        EXPECT_EQ(*std::max_element(met.begin(), met.end()), r.row_length());
        EXPECT_GE(*std::min_element(met.begin(), met.end()), 32);
      }
    }
  }
}

// With a percentile alone the peak is not promised to be lower: the band reaches down to it, and a note says
// so. The longest sample, once known, is what counts.
TEST(Lengths, APercentileAloneLowersTheBandAndNotThePeak) {
  Json request = {{"model", "llama-3.2-1b"}, {"training", {{"max_length", 4096}, {"packing", false}}}};
  const Json cap = answer(request);
  request["data"] = {{"p95_length", 512}};
  const Json known = answer(request);
  EXPECT_EQ(peak(known), peak(cap));
  EXPECT_EQ(bytes(known, "/memory/peak/high"), bytes(cap, "/memory/peak/high"));
  EXPECT_LT(bytes(known, "/memory/peak/low"), bytes(cap, "/memory/peak/low"));
  EXPECT_TRUE(has_note(known, "longest_sample_unknown"));
  EXPECT_FALSE(has_note(cap, "longest_sample_unknown"));

  request["data"]["longest_length"] = 1024;
  const Json settled = answer(request);
  EXPECT_FALSE(has_note(settled, "longest_sample_unknown"));
  request.erase("data");
  request["training"]["max_length"] = 1024;
  EXPECT_EQ(peak(settled), peak(answer(request)));
}

// ln(768 / 341) / 1.645 = 0.494 of deviation, half its square above the logarithm of the median.
TEST(Lengths, OfAMedianAndAPercentileMakeAMean) {
  const Json report = answer_text(
      R"({"model": "qwen2.5-7b", "training": {"max_length": 1024, "padded_batches": true, "per_device_train_batch_size": 4},
          "data": {"p50_length": 341, "p95_length": 768, "longest_length": 1024}, "hardware": {"gpu": "h100-sxm"}})");
  double mean = 0;
  for (const Json& assumption : report["assumptions"]) {
    if (assumption["pointer"] == Json("/data/mean_length")) mean = assumption["value"].get<double>();
  }
  EXPECT_EQ(mean, 385);
}

// Drawn seed 905006794: exp() of such a spread is no length, and was refused when it was written out.
TEST(Lengths, AMeanNeverLiesBeyondThePercentileItIsMadeOf) {
  const Json report =
      answer_text(R"({"model": "llama-3.2-1b", "data": {"p50_length": 32, "p90_length": 65536}})");
  double mean = 0;
  for (const Json& assumption : report["assumptions"]) {
    if (assumption["pointer"] == Json("/data/mean_length")) mean = assumption["value"].get<double>();
  }
  EXPECT_EQ(mean, 65536);
}

}  // namespace
}  // namespace plimsoll::report
