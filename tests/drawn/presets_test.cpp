// What must hold for every preset.
#include "core/report/report.h"
#include "tests/drawn/checks.h"
#include "tests/drawn/corruption.h"

namespace plimsoll::drawn {
namespace {

// Only frozen weights shrink: 4 bits are less than 8, and 8 less than 16.
TEST(Presets, FewerBitsAreSmallerWeights) {
  for (const run::ModelEntry& entry : presets().models) {
    const auto loaded = [&entry](const Json& quantization) {
      const Json request = {{"model", entry.preset.id},
                            {"model_args", {{"dtype", "bfloat16"}}},
                            {"quantization", quantization},
                            {"peft", {{"target_modules", "all-linear"}}},
                            {"training", {{"max_length", 16}}}};
      // The quick report has the same weights.
      json::Errors errors;
      const std::string answer = report::quick_report_text(json::write(request), presets());
      const Json report = json::parse(answer, errors).value_or(Json::object());
      EXPECT_TRUE(report.contains("memory")) << request << answer.substr(0, 300);
      if (!report.contains("memory")) return 0.0;
      for (const Json& row : report.at("memory").at("instants")) {
        if (row.at("id") != "load") continue;
        for (const Json& line : row.at("components")) {
          if (line.at("id") == "weights") return line.at("bytes").get<double>();
        }
      }
      ADD_FAILURE() << "no weights: " << request;
      return 0.0;
    };
    const double sixteen = loaded(nullptr), eight = loaded({{"load_in_8bit", true}}),
                 four = loaded({{"load_in_4bit", true}}),
                 doubled = loaded({{"load_in_4bit", true}, {"bnb_4bit_use_double_quant", true}});
    EXPECT_LT(eight, sixteen) << entry.preset.id;
    EXPECT_LT(four, eight) << entry.preset.id;
    // Of the smallest networks the second table weighs more than it saves (bert-tiny: 0.01 %).
    EXPECT_LE(doubled, 1.001 * four) << entry.preset.id;
  }
}

// Everything that a person would act on.
Json numbers(const Json& report) {
  Json out;
  for (const char* key : {"model", "memory", "tiers", "time", "limits"}) {
    if (report.contains(key)) out[key] = report.at(key);
  }
  return out;
}

Json bare(const Json& scenario) {
  Json request = scenario.at("request");
  request["want"] = Json::array();
  return request;
}

bool is_named(const Json& report, std::string_view pointer) {
  for (const Json& error : report.at("errors")) {
    if (error.at("pointer").get_ref<const std::string&>().rfind(pointer, 0) == 0) return true;
  }
  return false;
}

TEST(Scenarios, AMistakeInAnyFieldIsSaidOrChangesNoNumber) {
  for (const Json& scenario : presets().scenarios) {
    const Json usual = numbers(answered(0, bare(scenario)).report);
    for (const recipe::Field& field : recipe::field_table()) {
      for (const Json& value : corruptions(field)) {
        Json request = bare(scenario);
        Json& place = request[Json::json_pointer(std::string(field.pointer))];
        if (place == value) continue;
        place = value;
        const Draw draw = answered(0, request);
        ASSERT_TRUE(draw.report.is_object()) << said(draw);
        EXPECT_TRUE(is_named(draw.report, field.pointer) || numbers(draw.report) == usual)
            << scenario.at("id") << ": " << field.pointer << " = " << value;
      }
    }
  }
}

TEST(Scenarios, NullIsWhatIsNotSaid) {
  for (const Json& scenario : presets().scenarios) {
    const Json flat = scenario.at("request").flatten();
    for (const auto& [pointer, value] : flat.items()) {
      if (recipe::find_field(pointer) == nullptr) continue;
      Json without = bare(scenario), with_null = bare(scenario);
      const Json::json_pointer place(pointer);
      without[place.parent_pointer()].erase(place.back());
      with_null[place] = nullptr;
      const Draw draw = answered(0, with_null);
      EXPECT_EQ(numbers(draw.report), numbers(answered(0, without).report)) << pointer << said(draw);
    }
  }
}

}  // namespace
}  // namespace plimsoll::drawn
