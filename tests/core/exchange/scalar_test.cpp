// Scalars of YAML as PyYAML 6.0 types them: the right-hand sides were printed by yaml.safe_load.
#include "core/exchange/scalar.h"

#include <gmock/gmock.h>

namespace plimsoll::exchange {
namespace {

using json::Json;

TEST(ExchangeScalars, ReadAsPyYamlReadsThem) {
  const std::vector<std::pair<const char*, Json>> rows = {
      {"500_000", 500000}, {"2e-5", "2e-5"},     {"2.0e-5", 2e-05},  {"1e5", "1e5"},    {"1.e+3", 1000.0},
      {"010", 8},          {"0o10", "0o10"},     {"0x1F", 31},       {"0b101", 5},      {"1:30", 90},
      {"yes", true},       {"No", false},        {"ON", true},       {"off", false},    {"nO", "nO"},
      {"true", true},      {"TRUE", true},       {"~", nullptr},     {"null", nullptr}, {"Null", nullptr},
      {"", nullptr},       {".5", 0.5},          {"1_0.5", 10.5},    {"+12", 12},       {"-3", -3},
      {"08", "08"},        {"1__0", 10},         {"3:59:59", 14399}, {"y", "y"},        {"n", "n"},
      {"12.", 12.0},       {"-.5e+3", "-.5e+3"}, {"0.", 0.0},        {"00", 0},         {"1e+5", "1e+5"},
      {"1.5e5", "1.5e5"},
  };
  for (const auto& [text, value] : rows) EXPECT_EQ(plain_scalar(text), value) << text;
}

TEST(ExchangeScalars, ANumberThatYamlTakesForTextIsStillMeantAsOne) {
  EXPECT_EQ(meant_number("2e-5"), Json(2e-5));
  EXPECT_EQ(meant_number("1e4"), Json(1e4));
  EXPECT_EQ(meant_number("4096"), Json(4096));
  EXPECT_EQ(meant_number("four"), std::nullopt);
  EXPECT_EQ(meant_number("1.2.3"), std::nullopt);
  EXPECT_EQ(meant_number(""), std::nullopt);
}

TEST(ExchangeScalars, AnIntegerBeyond64BitsBecomesANumberWithoutWrapping) {
  EXPECT_EQ(plain_scalar("99999999999999999999999"), Json(1e23));
}

}  // namespace
}  // namespace plimsoll::exchange
