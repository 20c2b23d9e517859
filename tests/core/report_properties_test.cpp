// What must hold for every request, tried on a few hundred that are drawn by a fixed rule, the same on every
// platform.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/core/drawn_requests.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

constexpr uint64_t how_many = 200;

// The same request with every default written out that the report says it assumed.
Json written_out(Json request, const Json& report) {
  for (const Json& assumption : at(report, "/assumptions")) {
    request[Json::json_pointer(assumption.at("pointer").get<std::string>())] = assumption.at("value");
  }
  return request;
}

uint64_t allocated(const Json& report) { return bytes(report, "/memory/peak/allocated"); }

Json raised(Json request, const char* pointer, uint64_t by) {
  const Json::json_pointer where(pointer);
  request[where] = request.at(where).get<uint64_t>() + by;
  return request;
}

TEST(ReportProperties, EveryDrawnRequestIsAnsweredTheSameTwice) {
  for (uint64_t seed = 0; seed < how_many; ++seed) {
    const std::string request = json::write(drawn(seed));
    const std::string first = report_text(request, presets());
    EXPECT_NE(first.find(R"("ok":true)"), std::string::npos) << request << first.substr(0, 400);
    EXPECT_EQ(first, report_text(request, presets())) << request;
  }
}

TEST(ReportProperties, ThePeakIsTheHighestInstant) {
  for (uint64_t seed = 0; seed < how_many; ++seed) {
    const Json report = answer(drawn(seed));
    uint64_t highest = 0;
    for (const Json& row : at(report, "/memory/instants")) {
      highest = std::max(highest, row.at("allocated").get<uint64_t>());
    }
    const Json peak = at(report, "/memory/peak");
    EXPECT_EQ(peak.at("allocated"), highest) << drawn(seed);
    EXPECT_EQ(instant(report, peak.at("instant").get<std::string>()).at("allocated"), highest) << drawn(seed);
  }
}

TEST(ReportProperties, TheLinesOfEachInstantSumToItsTotals) {
  for (uint64_t seed = 0; seed < how_many; ++seed) {
    const Json report = answer(drawn(seed));
    for (const Json& row : at(report, "/memory/instants")) {
      uint64_t sum = 0;
      for (const Json& line : row.at("components")) sum += line.at("bytes").get<uint64_t>();
      const double lines = static_cast<double>(row.at("components").size());
      EXPECT_NEAR(static_cast<double>(sum), row.at("device").get<double>(), lines)
          << row.at("id") << drawn(seed);
      const uint64_t outside = component(row, "allocator_slack") + component(row, "cuda_context");
      EXPECT_NEAR(static_cast<double>(sum - outside), row.at("allocated").get<double>(), lines)
          << row.at("id") << drawn(seed);
    }
  }
}

TEST(ReportProperties, ReadingsAreOrdered) {
  for (uint64_t seed = 0; seed < how_many; ++seed) {
    const Json report = answer(drawn(seed));
    const Json peak = at(report, "/memory/peak");
    EXPECT_LE(peak.at("allocated"), peak.at("reserved")) << drawn(seed);
    EXPECT_LE(peak.at("reserved"), peak.at("device")) << drawn(seed);
    EXPECT_LE(peak.at("low"), peak.at("needed")) << drawn(seed);
    EXPECT_LE(peak.at("needed"), peak.at("high")) << drawn(seed);
    EXPECT_LE(peak.at("low"), peak.at("device")) << drawn(seed);
    EXPECT_LE(peak.at("device"), peak.at("high")) << drawn(seed);
  }
}

TEST(ReportProperties, ALargerTierNeverFitsLess) {
  const auto rank = [](const Json& verdict) { return verdict == "fits" ? 2 : verdict == "tight" ? 1 : 0; };
  for (uint64_t seed = 0; seed < how_many; ++seed) {
    const Json report = answer(drawn(seed));
    uint64_t usable = 0;
    int verdict = 0;
    for (const Json& tier : at(report, "/tiers")) {
      EXPECT_GE(tier.at("usable").get<uint64_t>(), usable) << tier.at("gib");
      EXPECT_GE(rank(tier.at("verdict")), verdict) << tier.at("gib") << drawn(seed);
      EXPECT_EQ(rank(tier.at("verdict")) > 0, tier.at("headroom") >= 0) << tier << drawn(seed);
      usable = tier.at("usable").get<uint64_t>();
      verdict = rank(tier.at("verdict"));
    }
  }
}

TEST(ReportProperties, MoreIsNeverLess) {
  for (uint64_t seed = 0; seed < how_many; ++seed) {
    const Json request = drawn(seed);
    const uint64_t before = allocated(answer(request));
    EXPECT_GE(allocated(answer(raised(request, "/training/per_device_train_batch_size", 1))), before)
        << request;
    EXPECT_GE(allocated(answer(raised(request, "/training/max_length", 64))), before) << request;
    // bitsandbytes moves state tensors of 100,000 elements and more to managed memory, and holds those of
    // fewer than 4,096 in fp32: with these optimizers a higher rank can take less.
    const auto named = "/training/optim"_json_pointer;  // not value(): its default goes through an exception
    const std::string optim = request.contains(named) ? request.at(named).get<std::string>() : "";
    const bool by_size = optim.find("paged") != std::string::npos ||
                         optim.find("8bit") != std::string::npos || request.at("stack") == "unsloth" ||
                         request.at("stack") == "torchtune";
    if (request.contains("/peft/r"_json_pointer) && !by_size) {
      EXPECT_GE(allocated(answer(raised(request, "/peft/r", 8))), before) << request;
    }
  }
}

TEST(ReportProperties, DefaultsWrittenOutChangeNothing) {
  for (uint64_t seed = 0; seed < how_many; ++seed) {
    const Json request = drawn(seed);
    const Json report = answer(request);
    const Json explicit_one = answer(written_out(request, report));
    ASSERT_EQ(explicit_one.at("ok"), true) << explicit_one << request;
    EXPECT_EQ(at(explicit_one, "/memory"), at(report, "/memory")) << request;
    EXPECT_EQ(at(explicit_one, "/assumptions").size(), 0u) << at(explicit_one, "/assumptions") << request;
  }
}

// per_unit is what one more costs: the difference between two reports.
TEST(ReportProperties, OneMoreCostsWhatTheReportSays) {
  for (uint64_t seed = 0; seed < how_many; seed += 2) {
    const Json request = written_out(drawn(seed), answer(drawn(seed)));
    const Json report = answer(request);
    const auto costs = [&](const char* unit, const char* pointer) {
      const auto more = static_cast<double>(allocated(answer(raised(request, pointer, 1))));
      EXPECT_NEAR(more - static_cast<double>(allocated(report)),
                  at(report, std::string("/memory/per_unit/") + unit).get<double>(), 2)
          << unit << request;
    };
    costs("sample", "/training/per_device_train_batch_size");
    costs("token", "/training/max_length");
    if (request.contains("peft")) costs("rank", "/peft/r");
  }
}

TEST(ReportProperties, CheckpointingNeverKeepsMoreUntilTheLoss) {
  for (uint64_t seed = 0; seed < how_many; ++seed) {
    Json request = written_out(drawn(seed), answer(drawn(seed)));
    // Transformers 5 makes the input of every embedding require a gradient under checkpointing, so that a
    // frozen vision tower, which keeps nothing otherwise, takes part in autograd.
    if (request.contains("vision")) continue;
    const auto kept = [&request](bool checkpointing) {
      request["training"]["gradient_checkpointing"] = checkpointing;
      const Json loss = instant(answer(request), "loss");
      return component(loss, "activations") + component(loss, "boundaries");
    };
    EXPECT_LE(kept(true), kept(false)) << request;
  }
}

// Only frozen weights shrink: 4 bits are less than 8, and 8 less than 16.
TEST(ReportProperties, FewerBitsAreSmallerWeights) {
  for (const std::string& model : models) {
    const auto weights = [&model](const Json& quantization) {
      const Json report = answer({{"model", model},
                                  {"model_args", {{"dtype", "bfloat16"}}},
                                  {"quantization", quantization},
                                  {"peft", {{"target_modules", "all-linear"}}},
                                  {"training", {{"max_length", 16}}}});
      return component(instant(report, "load"), "weights");
    };
    const uint64_t sixteen = weights(nullptr), eight = weights({{"load_in_8bit", true}}),
                   four = weights({{"load_in_4bit", true}}),
                   doubled = weights({{"load_in_4bit", true}, {"bnb_4bit_use_double_quant", true}});
    EXPECT_LT(eight, sixteen) << model;
    EXPECT_LT(four, eight) << model;
    EXPECT_LE(doubled, four) << model;
  }
}

}  // namespace
}  // namespace plimsoll::report
