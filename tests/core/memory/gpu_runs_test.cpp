// Runs of the real trainers on an H100 (tests/measured/gpu_runs.py), of requests that were drawn before any was
// priced (draw_gpu_cases.py, seed 2026; f1 to f7 by hand), beside the report. What they scored blind is in
// tests/measured/README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/core/golden.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

struct GpuRun {
  std::string name;
  Json request, seen;
};

std::vector<GpuRun> gpu_runs() {
  json::Errors unread;
  const Json file = json::parse(golden_file("gpu_runs.json"), unread).value_or(Json::object());
  std::vector<GpuRun> all;
  for (const Json& item : file["cases"]) {
    if (item.contains("seen"))
      all.push_back({item["name"].get<std::string>(), item["request"], item["seen"]});
  }
  return all;
}

double highest_allocated(const Json& seen) {
  double highest = 0;
  for (const Json& bytes : seen["allocated"]) highest = std::max(highest, bytes.get<double>());
  return highest;
}

// The error that `share` of them do not exceed.
double of_share(std::vector<double> errors, double share) {
  for (double& error : errors) error = std::abs(error);
  std::sort(errors.begin(), errors.end());
  return errors[static_cast<std::size_t>(share * static_cast<double>(errors.size() - 1))];
}

TEST(RunsOnAnH100, AllocateWhatTheReplaySays) {
  std::vector<double> errors;
  for (const GpuRun& run : gpu_runs()) {
    const Json report = answer(run.request);
    ASSERT_EQ(report["ok"], Json(true)) << run.name;
    EXPECT_EQ(bytes(report, "/model/trainable"), run.seen["trainable"].get<uint64_t>()) << run.name;
    const double peak = report["memory"]["peak"]["allocated"].get<double>();
    errors.push_back(peak / highest_allocated(run.seen) - 1);
    EXPECT_LT(std::abs(errors.back()), 0.035) << run.name;
  }
  ASSERT_GE(errors.size(), 54U);
  EXPECT_LT(of_share(errors, 0.5), 0.001);
  EXPECT_LT(of_share(errors, 0.9), 0.01);
}

double allocated_error_of(const std::string& number) {
  for (const GpuRun& run : gpu_runs()) {
    if (run.name.rfind(number + ": ", 0) != 0) continue;
    return answer(run.request)["memory"]["peak"]["allocated"].get<double>() / highest_allocated(run.seen) - 1;
  }
  return 1;
}

// 8.2 % were missing: Transformers' trainer has fp32 states of every embedding beside an optimizer in 8 bits.
TEST(RunsOnAnH100, KeepStatesOfEmbeddingsInFull) { EXPECT_LT(std::abs(allocated_error_of("56")), 0.002); }

// 0.7 % were missing: scales are never paged.
TEST(RunsOnAnH100, KeepTheScalesOfPagedStates) { EXPECT_LT(std::abs(allocated_error_of("48")), 0.002); }

// 55 % were missing: bitsandbytes' 8-bit product holds its input on the node, out of reach for checkpointing.
TEST(RunsOnAnH100, HoldWhatEightBitLinearsReadInSpiteOfCheckpoints) {
  EXPECT_LT(std::abs(allocated_error_of("15")), 0.035);
  const std::vector<GpuRun> all = gpu_runs();
  const auto eight =
      std::find_if(all.begin(), all.end(), [](const GpuRun& run) { return run.name.rfind("15: ", 0) == 0; });
  ASSERT_NE(eight, all.end());
  Json request = eight->request;
  const Json kept = answer(request);
  EXPECT_TRUE(has_note(kept, "eight_bit_keeps_inputs"));
  request["training"]["gradient_checkpointing_kwargs"]["use_reentrant"] = true;
  EXPECT_LT(peak(answer(request)) * 2, peak(kept));
}

// 2.8 % were too much: Liger copies slices of fused projections, and keeps those alone.
TEST(RunsOnAnH100, CopyTheSlicesThatLigerReads) { EXPECT_LT(std::abs(allocated_error_of("12")), 0.005); }

// 10.5 % were too much: where attention alone has adapters, the Mamba layers below the first of them keep nothing.
TEST(RunsOnAnH100, KeepNothingBelowTheFirstAdapter) { EXPECT_LT(std::abs(allocated_error_of("f3")), 0.006); }

// Poorer: a quick report takes a share of what comes and goes, in place of the order in which it does.
TEST(RunsOnAnH100, ReserveAboutWhatAQuickReportSays) {
  std::vector<double> errors;
  for (const GpuRun& run : gpu_runs()) {
    const Json report = Json::parse(quick_report_text(json::write(run.request), presets()));
    errors.push_back(report["memory"]["peak"]["reserved"].get<double>() / run.seen["reserved"].get<double>() -
                     1);
    EXPECT_LT(std::abs(errors.back()), 0.25) << run.name;
  }
  EXPECT_LT(of_share(errors, 0.5), 0.04);
  EXPECT_LT(of_share(errors, 0.8), 0.11);
}

// Farthest off: a paged optimizer's full fine-tuning (-9 %).
TEST(RunsOnAnH100, ReserveWhatTheSimulatedAllocatorReserves) {
  std::vector<double> errors;
  for (const GpuRun& run : gpu_runs()) {
    const Json report = answer(run.request);
    errors.push_back(report["memory"]["peak"]["reserved"].get<double>() / run.seen["reserved"].get<double>() -
                     1);
    EXPECT_LT(std::abs(errors.back()), 0.1) << run.name;
  }
  EXPECT_LT(of_share(errors, 0.5), 0.005);
  EXPECT_LT(of_share(errors, 0.8), 0.02);
  EXPECT_LT(of_share(errors, 0.9), 0.05);
}

TEST(RunsOnAnH100, TakeOfTheDeviceWhatLiesWithinTheBand) {
  for (const GpuRun& run : gpu_runs()) {
    const Json report = answer(run.request);
    const double taken = run.seen["process"].get<double>();
    EXPECT_GT(taken, report["memory"]["peak"]["low"].get<double>()) << run.name;
    EXPECT_LT(taken, report["memory"]["peak"]["high"].get<double>()) << run.name;
  }
}

// Those that ran alone. A virtual machine launches kernels slower than those whose runs are published.
TEST(RunsOnAnH100, TakeTheTimeOfTheirBandThreeTimesInFive) {
  int timed = 0, within = 0;
  for (const GpuRun& run : gpu_runs()) {
    if (!run.seen["alone"].get<bool>() || !run.seen.contains("seconds")) continue;
    const Json report = answer(run.request);
    const double seconds = run.seen["seconds"].get<double>();
    ++timed;
    within += seconds > report["time"]["low"].get<double>() && seconds < report["time"]["high"].get<double>();
  }
  EXPECT_GE(timed, 14);
  EXPECT_GE(within * 5, timed * 3);
}

// PyTorch was given less and less (set_per_process_memory_fraction), until a run died.
TEST(RunsOnAnH100, GetThroughWithWhatAReportCallsNeeded) {
  int tried = 0;
  for (const GpuRun& run : gpu_runs()) {
    if (!run.seen.contains("least")) continue;
    ++tried;
    const Json report = answer(run.request);
    const double context =
        report["memory"]["peak"]["device"].get<double>() - report["memory"]["peak"]["reserved"].get<double>();
    const double needed = report["memory"]["peak"]["needed"].get<double>() - context;
    const double enough = report["memory"]["peak"]["enough"].get<double>() - context;
    EXPECT_GT(needed, run.seen["least"]["died_with"].get<double>() * 0.95) << run.name;
    EXPECT_LT(needed, run.seen["least"]["ran_with"].get<double>() * 1.02) << run.name;
    EXPECT_GT(enough, run.seen["least"]["ran_with"].get<double>() * 1.03) << run.name;
    EXPECT_LT(enough, run.seen["least"]["ran_with"].get<double>() * 1.2 + 1.1 * 1073741824) << run.name;
  }
  EXPECT_GE(tried, 5);
}

}  // namespace
}  // namespace plimsoll::report
