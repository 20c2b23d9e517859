// Each cause and each form of the message, with a real or faithful message; docs/causes.md says the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/json/json.h"
#include "core/run/preset_files.h"
#include "tests/core/explained.h"
#include "tests/core/golden.h"

namespace plimsoll {
std::span<const PresetFile> docs_files();  // written by the build
}

namespace plimsoll::diagnosis {
namespace {

using json::Json;

Json rows_of(std::string_view file) {
  json::Errors errors;
  Json rows = json::parse(golden_file(file), errors).value_or(Json::array());
  EXPECT_TRUE(errors.empty());
  return rows;
}

std::string text_at(const Json& row, const char* key) {
  json::Errors ignored;
  const auto found = row.find(key);
  return found == row.end() ? "" : json::read_text(*found, "", ignored).value_or("");
}
double number_at(const Json& row, const char* key, double otherwise) {
  json::Errors ignored;
  const auto found = row.find(key);
  return found == row.end() ? otherwise : json::read_number(*found, "", {}, ignored).value_or(otherwise);
}

std::string_view word(Found found) {
  constexpr std::array<std::string_view, 4> words = {"figures", "frame", "request", "not_shown"};
  return words[static_cast<std::size_t>(found)];
}

TEST(DiagnosisEveryCause, HasAMessageByWhichItIsNamedOrIsNotToBeSeenInText) {
  std::set<std::string> tested;
  for (const Json& row : rows_of("causes.json")) {
    const std::string id = text_at(row, "id");
    tested.insert(id);
    const Cause* cause = find_cause(id);
    ASSERT_NE(cause, nullptr) << id;
    EXPECT_EQ(word(cause->found), text_at(row, "read_from")) << id;
    const auto request = row.find("request");
    const std::string asked = request == row.end() ? std::string() : json::write(*request);
    const std::string message = text_at(row, "message");
    const Diagnosis d = explained(message, asked, text_at(row, "phase"));
    const auto named = std::find_if(d.causes.begin(), d.causes.end(),
                                    [&](const Named& other) { return other.cause == cause; });
    const auto place = named == d.causes.end() ? 0 : named - d.causes.begin() + 1;
    const double wanted = number_at(row, "place", 1);
    if (wanted == 0) {
      EXPECT_NE(place, 1) << id;
    } else {
      EXPECT_TRUE(place >= 1 && place <= wanted)
          << id << " stands at " << place << ", first is "
          << (d.causes.empty() ? "nothing" : std::string(d.causes.front().cause->id));
    }
  }
  for (const Cause& cause : causes()) EXPECT_EQ(tested.count(std::string(cause.id)), 1U) << cause.id;
}

TEST(DiagnosisEveryCause, EveryFormOfTheMessageIsReadToTheDigit) {
  constexpr double mib = 1048576.0, gib = 1073741824.0;
  std::set<double> rows;
  for (const Json& row : rows_of("oom_variants.json")) {
    const double number = number_at(row, "row", 0);
    rows.insert(number);
    const std::string message = text_at(row, "message");
    const Text text = clean(message);
    if (number == 25) {
      const GpuTable table = read_gpu_table(text);
      ASSERT_EQ(table.cards.size(), 1U);
      EXPECT_EQ(table.cards[0].used, number_at(row, "card_used_mib", 0) * mib);
      EXPECT_EQ(table.cards[0].total, number_at(row, "card_total_mib", 0) * mib);
      continue;
    }
    const std::vector<Message> messages = read_messages(text);
    ASSERT_FALSE(messages.empty()) << number;
    const Message& first = messages[primary(messages)];
    // Wrapping and markup are taken away before the form is looked for.
    if (number != 13 && number != 12) {
      EXPECT_THAT(first.forms, testing::Contains(static_cast<uint8_t>(number))) << message;
    }
    const Numbers& n = first.numbers;
    const Derived derived = derive(n);
    struct Figure {
      const char* key;
      double unit;
      std::optional<double> read;
    };
    const auto bytes = [](const std::optional<Size>& size) {
      return size ? std::optional(size->bytes) : std::nullopt;
    };
    for (const Figure& figure :
         {Figure{"tried_mib", mib, bytes(n.tried)}, Figure{"capacity_gib", gib, bytes(n.capacity)},
          Figure{"allocated_gib", gib, bytes(n.allocated)}, Figure{"reserved_gib", gib, derived.reserved},
          Figure{"free_mib", mib, bytes(n.free)}, Figure{"other_gib", gib, derived.other}}) {
      if (row.find(figure.key) == row.end()) continue;
      ASSERT_TRUE(figure.read) << number << " " << figure.key;
      EXPECT_NEAR(*figure.read / figure.unit, number_at(row, figure.key, 0), 1e-4)
          << number << " " << figure.key;
    }
  }
  EXPECT_EQ(rows.size(), forms().size());
}

// docs/causes.mjs writes the page; it is compiled in so that it cannot say anything else.
TEST(DiagnosisEveryCause, ThePageSaysWhatIsTested) {
  ASSERT_EQ(docs_files().size(), 1U);
  const std::string_view page = docs_files()[0].text;
  for (const Json& row : rows_of("causes.json")) {
    std::string shown = "`";
    shown += text_at(row, "id");
    shown += "` |";
    EXPECT_THAT(page, testing::HasSubstr(shown));
    EXPECT_THAT(page, testing::HasSubstr(text_at(row, "shown")));
  }
  for (const Json& row : rows_of("oom_variants.json"))
    EXPECT_THAT(page, testing::HasSubstr(text_at(row, "what")));
}

}  // namespace
}  // namespace plimsoll::diagnosis
