#include "core/cli/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/cli/layout.h"
#include "core/json/rounding.h"

namespace plimsoll::cli {
namespace {

using json::grouped;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

json::Json tree(std::string_view text) {
  json::Errors errors;
  auto value = json::parse(text, errors);
  EXPECT_TRUE(value.has_value());
  return value.value_or(json::Json());
}

json::Json small_report() {
  return tree(R"({
    "schema": 1, "ok": true,
    "notes": [{"code": "max_memory", "message": "max_memory places weights; it does not limit training.", "source": "x"}],
    "assumptions": [{"pointer": "/training/optim", "value": "adamw_torch", "why": "the default"},
                    {"pointer": "/training/bf16", "value": true, "why": "the card can"}],
    "model": {"name": "mistralai/Mistral-7B-v0.3", "parameters": 7248023552, "trainable": 6815744,
              "trainable_percent": 0.09394813, "adapter_file_bytes": 27262976, "checkpoint_bytes": 0},
    "gpu": {"id": "a10g", "name": "A10G 24GB", "usable": 23815593000, "verdict": "tight", "headroom": 1073741824},
    "memory": {
      "peak": {"instant": "forward", "allocated": 15032385536, "reserved": 16106127360, "device": 16642998272,
               "low": 16106127360, "high": 18253611008},
      "instants": [
        {"id": "load", "allocated": 14495514624, "reserved": 14495514624, "device": 15032385536, "components": []},
        {"id": "forward", "allocated": 15032385536, "reserved": 16106127360, "device": 16642998272, "components": [
          {"id": "adapters", "bytes": 27262976, "what": "LoRA matrices in fp32", "formula": "f", "source": "s"},
          {"id": "weights", "bytes": 14496047104, "what": "the base model in fp16", "formula": "f", "source": "s"}]}]},
    "tiers": [{"gib": 12, "gpus": ["rtx-3060-12"], "usable": 12616466432, "verdict": "no", "headroom": -5637144576}]
  })");
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

TEST(Numbers, AreWrittenForPeople) {
  EXPECT_EQ(gib(15032385536.0), "14.00");
  EXPECT_EQ(gib(-5637144576.0), "-5.25");
  EXPECT_EQ(gib(-1.0), "0.00");
  EXPECT_EQ(size_words(27262976.0), "26.0 MiB");
  EXPECT_EQ(size_words(15032385536.0), "14.00 GiB");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(7248023552), "7,248,023,552");
}

TEST(Wrapping, BreaksBetweenWordsAndKeepsALongWordWhole) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("an unbreakable-word here", 5), ElementsAre("an", "unbreakable-word", "here"));
  EXPECT_THAT(wrap("", 5), ElementsAre(""));
}

TEST(Wrapping, CountsCharactersRatherThanBytes) {
  EXPECT_EQ(character_count("4096 × 14336"), 12u);
  EXPECT_THAT(wrap("× × ×", 3), ElementsAre("× ×", "×"));
}

TEST(Layout, AlignsNumbersRightAndGivesTheRestOfTheLineToOneColumn) {
  const std::string text =
      layout({{"GiB", Align::right}, {"what", Align::left, true}},
             {{{"13.50"}, {"weights of the whole model"}}, {{"0.03"}, {"adapters"}}}, {30, false});
  EXPECT_THAT(lines(text), ElementsAre("    GiB  what",                  //
                                       "  13.50  weights of the whole",  //
                                       "         model",                 //
                                       "   0.03  adapters"));
}

TEST(Layout, LeavesOutTheWordsWhereThereIsNoRoomForThem) {
  const std::vector<Column> columns = {{"instant"}, {"what", Align::left, true}};
  EXPECT_THAT(lines(layout(columns, {{{"optimizer_step"}, {"every later step"}}}, {30, false})),
              ElementsAre("  instant", "  optimizer_step"));
}

TEST(ReportTable, ShowsTheModelTheVerdictAndTheBand) {
  const std::string text = report_table(small_report(), {});
  EXPECT_THAT(text, HasSubstr("7,248,023,552 parameters, 6,815,744 trainable (0.0939 %)"));
  EXPECT_THAT(text, HasSubstr("adapter file 26.0 MiB\n"));
  EXPECT_THAT(text, HasSubstr("A10G 24GB\n  tight  1.00 GiB to spare, but that is not sure to be enough"));
  EXPECT_THAT(text, HasSubstr("Peak: forward"));
  EXPECT_THAT(text, HasSubstr("between 15.00 and 17.00 GiB"));
  EXPECT_THAT(text, HasSubstr("max_memory places weights"));
  EXPECT_THAT(text, HasSubstr("-  /training/bf16 = true: the card can\n"));
}

TEST(ReportTable, PutsTheLargestComponentFirst) {
  const std::string text = report_table(small_report(), {});
  EXPECT_LT(text.find("13.50  weights"), text.find("0.03  adapters"));
}

TEST(ReportTable, SaysByHowMuchATierIsTooSmall) {
  EXPECT_THAT(report_table(small_report(), {}), HasSubstr("12   11.75  no          -5.25  rtx-3060-12"));
}

TEST(ReportTable, HasNoVerdictLineWhenNoGpuWasChosen) {
  json::Json report = small_report();
  report["gpu"] = nullptr;
  EXPECT_THAT(report_table(report, {}), Not(HasSubstr("usable:")));
}

TEST(ReportTable, ColoursTheVerdictOnlyWhenAsked) {
  EXPECT_THAT(report_table(small_report(), {80, true}), HasSubstr("\x1b[33mtight\x1b[0m"));
  EXPECT_THAT(report_table(small_report(), {80, false}), Not(HasSubstr("\x1b")));
}

TEST(ReportTable, ColourDoesNotMoveTheColumns) {
  std::string coloured = report_table(small_report(), {80, true});
  for (size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b')) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, report_table(small_report(), {80, false}));
}

TEST(ReportTable, StaysWithinTheWidth) {
  for (const size_t width : {60, 80, 120}) {
    for (const std::string& line : lines(report_table(small_report(), {width, false}))) {
      EXPECT_LE(character_count(line), width) << line;
    }
  }
}

TEST(ReportTable, OfAnEmptyObjectIsStillText) {
  EXPECT_FALSE(report_table(json::Json::object(), {}).empty());
}

TEST(ErrorLines, NameThePlaceTheReasonAndWhatWouldBeRight) {
  const json::Json errors =
      tree(R"([{"code": "negative", "pointer": "/peft/r", "message": "This cannot be negative.",
                                      "allowed": "1 to 4096"},
                                     {"code": "not_json", "pointer": "", "message": "This is not JSON.", "allowed": ""}])");
  EXPECT_EQ(error_lines(errors),
            "/peft/r: This cannot be negative. Allowed: 1 to 4096. [negative]\n"
            "This is not JSON. [not_json]\n");
}

}  // namespace
}  // namespace plimsoll::cli
