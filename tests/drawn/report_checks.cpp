#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/json/at.h"
#include "core/report/report.h"
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {

namespace {

constexpr double exact = 9007199254740992.0;  // 2^53

const Json& at(const Json& report, const char* pointer) { return report.at(Json::json_pointer(pointer)); }
double number(const Json& report, const char* pointer) { return at(report, pointer).get<double>(); }

// Keys whose numbers are differences, shares of an error, or a setting that may be below zero.
constexpr std::string_view signed_keys[] = {"headroom",
                                            "off",
                                            "saves",
                                            "costs",
                                            "sample",
                                            "token",
                                            "rank",
                                            "image",
                                            "from",
                                            "to",
                                            "value",
                                            "decompose_factor",
                                            "allocated_error",
                                            "reserved_error",
                                            "device_error",
                                            "one_more_sample",
                                            "256_more_tokens",
                                            "twice_the_rank",
                                            "one_more_image",
                                            "a",
                                            "b",
                                            "/peft/decompose_factor",
                                            "request",
                                            "config"};

bool is_signed(std::string_view key) {
  return std::find(std::begin(signed_keys), std::end(signed_keys), key) != std::end(signed_keys);
}

// Empty, or what is wrong with some number below `value`.
std::string unsound(const Json& value, const std::string& path, bool may_be_negative) {
  if (value.is_number()) {
    const double number = value.get<double>();
    if (!std::isfinite(number)) return path + " is not finite";
    // Sizes and counts are whole. What has a few digits of its own may be larger: the longest samples in the
    // largest batches that a request can say take 1e31 operations.
    const double most = value.is_number_integer() ? exact : 1e36;
    if (std::fabs(number) > most) return path + " is beyond what is exact";
    if (number < 0 && !may_be_negative) return path + " is negative";
    return "";
  }
  if (!value.is_structured()) return "";
  for (const auto& [key, member] : value.items()) {
    // Built up piece by piece: GCC 12 sees overlaps in sums of strings that are not there.
    std::string here = path;
    here += '/';
    here += key;
    std::string wrong = unsound(member, here, may_be_negative || is_signed(key));
    if (!wrong.empty()) return wrong;
  }
  return "";
}

Draw with_answer(uint64_t seed, Json request, std::string text, std::string answer) {
  Draw draw{seed, std::move(request), std::move(text), std::move(answer), {}};
  json::Errors errors;
  if (auto report = json::parse(draw.answer, errors)) draw.report = std::move(*report);
  return draw;
}

}  // namespace

uint64_t from_environment(const char* name, uint64_t usual) {
  const char* asked = std::getenv(name);
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

Draw answered(uint64_t seed, const Json& request) {
  std::string text = json::write(request);
  std::string answer = report::report_text(text, presets());
  return with_answer(seed, request, std::move(text), std::move(answer));
}

// Two dozen properties ask for the same draws.
Draw make_draw(uint64_t seed, const Wish& wish) {
  constexpr std::size_t most = 4000;  // 100 MB
  static std::unordered_map<std::string, std::string> known;
  const Json request = drawn_request(seed, wish);
  std::string text = json::write(request);
  if (known.size() == most) known.clear();
  const auto [place, fresh] = known.try_emplace(text);
  if (fresh) place->second = report::report_text(text, presets());
  return with_answer(seed, request, std::move(text), place->second);
}

std::string stated(const Draw& draw, const char* pointer) {
  const Json::json_pointer where(pointer);
  return draw.request.contains(where) ? draw.request.at(where).get<std::string>() : "";
}

std::string said(const Draw& draw) {
  std::string words = "\nSEED=" + std::to_string(draw.seed);
  words += " DRAWS=1\n";
  words += draw.text.substr(0, 4000);
  words += '\n';
  return words;
}

bool is_answered(const Draw& draw) { return json::at(draw.report, "ok") == Json(true); }

void is_answered_without_errors(const Draw& draw) {
  EXPECT_TRUE(draw.report.is_object()) << "the answer is no strict JSON" << said(draw);
  // A model may have nothing of the drawn names where they are looked for; the generator does not look.
  const bool nothing_is_meant =
      draw.answer.find("Outside the language model no module is called") != std::string::npos ||
      draw.answer.find("No linear of this model is meant") != std::string::npos;
  EXPECT_TRUE(is_answered(draw) || nothing_is_meant) << draw.answer.substr(0, 700) << said(draw);
}

void numbers_are_sound(const Draw& draw, std::string_view what, const std::string& answer) {
  json::Errors errors;
  const auto read = json::parse(answer, errors);
  ASSERT_TRUE(read) << what << " is no strict JSON: " << answer.substr(0, 300) << said(draw);
  const std::string wrong = unsound(*read, "", false);
  EXPECT_EQ(wrong, "") << "in " << what << said(draw);
}

void numbers_are_sound(const Draw& draw) {
  const std::string wrong = unsound(draw.report, "", false);
  EXPECT_EQ(wrong, "") << said(draw);
}

void peak_is_the_highest_instant(const Draw& draw) {
  double highest = 0;
  const Json& peak = at(draw.report, "/memory/peak");
  bool found = false;
  for (const Json& row : at(draw.report, "/memory/instants")) {
    highest = std::max(highest, row.at("allocated").get<double>());
    found = found || (row.at("id") == peak.at("instant") && row.at("allocated") == peak.at("allocated"));
  }
  EXPECT_EQ(peak.at("allocated").get<double>(), highest) << said(draw);
  EXPECT_TRUE(found) << peak.at("instant") << said(draw);
}

void lines_sum_to_totals(const Draw& draw) {
  for (const Json& row : at(draw.report, "/memory/instants")) {
    double sum = 0, outside = 0;
    for (const Json& line : row.at("components")) {
      const double bytes = line.at("bytes").get<double>();
      sum += bytes;
      const bool not_allocated = line.at("id") == "allocator_slack" || line.at("id") == "cuda_context";
      if (not_allocated || line.at("id") == "engine_overhead") outside += bytes;
    }
    const auto lines = static_cast<double>(row.at("components").size());
    const double device = row.at("device").get<double>();
    if (device >= exact) continue;  // more than can be told
    // A component is rounded to a byte; beyond 2^50 bytes so is its sum.
    const double rounding = lines + 1e-15 * device;
    EXPECT_NEAR(sum, device, rounding) << row.at("id") << said(draw);
    EXPECT_LE(std::fabs(sum - outside - row.at("allocated").get<double>()), rounding)
        << row.at("id") << said(draw);
  }
}

void readings_are_ordered(const Draw& draw) {
  const Json& peak = at(draw.report, "/memory/peak");
  const auto ordered = [&](const char* smaller, const char* larger) {
    EXPECT_LE(peak.at(smaller).get<double>(), peak.at(larger).get<double>())
        << smaller << " is above " << larger << said(draw);
  };
  ordered("allocated", "reserved");
  ordered("reserved", "device");
  ordered("low", "needed");
  ordered("needed", "high");
  ordered("low", "device");
  ordered("device", "high");
  ordered("allocated_low", "allocated");
  ordered("allocated", "allocated_high");
}

void larger_tiers_never_fit_less(const Draw& draw) {
  const auto rank = [](const Json& verdict) { return verdict == "fits" ? 2 : verdict == "tight" ? 1 : 0; };
  double usable = 0;
  int verdict = 0;
  for (const Json& tier : at(draw.report, "/tiers")) {
    EXPECT_GE(tier.at("usable").get<double>(), usable) << tier.at("gib") << said(draw);
    EXPECT_GE(rank(tier.at("verdict")), verdict) << tier.at("gib") << said(draw);
    EXPECT_EQ(rank(tier.at("verdict")) > 0, tier.at("headroom").get<double>() >= 0) << tier << said(draw);
    usable = tier.at("usable").get<double>();
    verdict = rank(tier.at("verdict"));
  }
}

namespace {

// Axolotl hands packed rows to another kernel where a file names SDPA itself (core/memory/step/packed_rows.cpp).
bool means_more_when_named(const Draw& draw, const std::string& pointer) {
  return pointer == "/model_args/attn_implementation" && draw.request.value("stack", "") == "axolotl";
}

}  // namespace

Json written_out(const Draw& draw) {
  Json request = draw.request;
  for (const Json& assumption : at(draw.report, "/assumptions")) {
    const auto pointer = assumption.at("pointer").get<std::string>();
    if (!means_more_when_named(draw, pointer)) request[Json::json_pointer(pointer)] = assumption.at("value");
  }
  return request;
}

void defaults_written_out_change_nothing(const Draw& draw) {
  const Json request = written_out(draw);
  const Draw explicit_one = answered(draw.seed, request);
  ASSERT_TRUE(is_answered(explicit_one)) << explicit_one.answer.substr(0, 600) << said(draw);
  EXPECT_EQ(number(explicit_one.report, "/memory/peak/allocated"),
            number(draw.report, "/memory/peak/allocated"))
      << said(draw) << explicit_one.text;
  EXPECT_EQ(at(explicit_one.report, "/memory/instants"), at(draw.report, "/memory/instants"))
      << said(draw) << explicit_one.text;
  for (const Json& left : at(explicit_one.report, "/assumptions"))
    EXPECT_TRUE(means_more_when_named(draw, left.at("pointer").get<std::string>())) << left << said(draw);
}

}  // namespace plimsoll::drawn
