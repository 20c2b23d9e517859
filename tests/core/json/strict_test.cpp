// The strict reader: nothing is coerced, nothing is dropped, every place has its pointer.
#include <gtest/gtest.h>

#include "core/json/json.h"
#include "core/json/writer.h"

namespace plimsoll::json {
namespace {

struct Reading {
  std::optional<Json> value;
  Errors errors;
};
Reading read(std::string_view text) {
  Reading reading;
  reading.value = parse(text, reading.errors);
  return reading;
}

std::string code_of(std::string_view text, Range range = {}) {
  Errors errors;
  const auto value = parse(text, errors);
  EXPECT_TRUE(value && errors.empty()) << text;
  const auto count = read_count(value.value_or(Json()), "/n", range, errors);
  EXPECT_EQ(count.has_value(), errors.empty()) << text;
  return errors.empty() ? std::to_string(*count) : errors[0].code;
}

TEST(StrictJson, ACountIsAWholeNumberWrittenAsOne) {
  EXPECT_EQ(code_of("7"), "7");
  EXPECT_EQ(code_of("0"), "0");
  EXPECT_EQ(code_of("-0"), "0");
  EXPECT_EQ(code_of("9007199254740992"), "9007199254740992");
  EXPECT_EQ(code_of("-1"), "negative");
  EXPECT_EQ(code_of("-1.5"), "negative");
  EXPECT_EQ(code_of("1.9"), "fractional");
  EXPECT_EQ(code_of("1.0"), "fractional");
  EXPECT_EQ(code_of("3e10"), "fractional");
  EXPECT_EQ(code_of("true"), "wrong_type");
  EXPECT_EQ(code_of("\"1\""), "wrong_type");
  EXPECT_EQ(code_of("null"), "wrong_type");
  EXPECT_EQ(code_of("[1]"), "wrong_type");
  EXPECT_EQ(code_of("{}"), "wrong_type");
  EXPECT_EQ(code_of("18446744073709551615"), "out_of_range");
  EXPECT_EQ(code_of("18446744073709551616"), "fractional");  // beyond 64 bits it is read with a decimal point
  EXPECT_EQ(code_of("9", {1, 8}), "out_of_range");
  EXPECT_EQ(code_of("8", {1, 8}), "8");
  EXPECT_EQ(code_of("0", {1, 8}), "out_of_range");
}

// 2^53 + 1 is the first whole number that a double, and so JavaScript, cannot hold.
TEST(StrictJson, ACountIsExactInJavaScriptToo) { EXPECT_EQ(code_of("9007199254740993"), "out_of_range"); }

TEST(StrictJson, ANumberMayHaveADecimalPointButMustBeANumber) {
  const auto read_as = [](std::string_view text, Range range) {
    Errors errors;
    const auto number = read_number(*parse(text, errors), "/x", range, errors);
    return errors.empty() ? std::to_string(*number) : errors[0].code;
  };
  EXPECT_EQ(read_as("0.05", {0, 1}), "0.050000");
  EXPECT_EQ(read_as("1", {0, 1}), "1.000000");
  EXPECT_EQ(read_as("1.0000001", {0, 1}), "out_of_range");
  EXPECT_EQ(read_as("-0.1", {0, 1}), "negative");
  EXPECT_EQ(read_as("-0.1", {-1, 1}), "-0.100000");
  EXPECT_EQ(read_as("\"0.1\"", {0, 1}), "wrong_type");
  EXPECT_EQ(read_as("false", {0, 1}), "wrong_type");
}

TEST(StrictJson, ANumberTooLargeForADoubleIsNoJsonOfOurs) {
  const Reading huge = read(R"({"x": 1e400})");
  EXPECT_FALSE(huge.value);
  ASSERT_EQ(huge.errors.size(), 1u);
  EXPECT_EQ(huge.errors[0].code, "not_json");
}

TEST(StrictJson, FlagsAndTextsAreNotGuessed) {
  Errors errors;
  EXPECT_FALSE(read_flag(Json(1), "/f", errors));
  EXPECT_FALSE(read_flag(Json("true"), "/f", errors));
  EXPECT_FALSE(read_text(Json(1), "/t", errors));
  EXPECT_FALSE(read_texts(Json("q_proj"), "/l", errors));
  ASSERT_EQ(errors.size(), 4u);
  for (const Error& error : errors) EXPECT_EQ(error.code, "wrong_type");
  EXPECT_EQ(read_flag(Json(false), "/f", errors), false);
  EXPECT_EQ(read_text(Json(""), "/t", errors), "");
  EXPECT_EQ(errors.size(), 4u);
}

TEST(StrictJson, AListOfTextsNamesEachWrongItem) {
  Errors errors;
  EXPECT_FALSE(read_texts(Json::parse(R"(["a", 1, "b", null])"), "/l", errors));
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].pointer, "/l/1");
  EXPECT_EQ(errors[1].pointer, "/l/3");
}

TEST(StrictJson, ADuplicateKeyIsReportedWhereItIs) {
  const Reading top = read(R"({"a": 1, "a": 2})");
  ASSERT_EQ(top.errors.size(), 1u);
  EXPECT_EQ(top.errors[0].code, "duplicate_key");
  EXPECT_EQ(top.errors[0].pointer, "/a");
  EXPECT_TRUE(top.value);
  const Reading inside = read(R"({"x": [{"b/c": 1}, {"b/c": 1, "b~": 2, "b/c": 3, "b~": 4}]})");
  ASSERT_EQ(inside.errors.size(), 2u);
  EXPECT_EQ(inside.errors[0].pointer, "/x/1/b~1c");
  EXPECT_EQ(inside.errors[1].pointer, "/x/1/b~0");
  EXPECT_TRUE(read(R"([{"a": 1}, {"a": 1}, {"b": {"a": 1}}])").errors.empty());
}

TEST(StrictJson, WhatIsNotJsonSaysWhereItStops) {
  for (const char* text : {"", " ", "{", "[1,", "{\"a\"}", "{\"a\": 1,}", "[1 2]", "01", "+1", ".5", "1.",
                           "nul", "Infinity", "'a'", "{a: 1}", "[1] x", "\"\\x\"", "// c\n1", "1;"}) {
    const Reading reading = read(text);
    EXPECT_FALSE(reading.value) << text;
    ASSERT_EQ(reading.errors.size(), 1u) << text;
    EXPECT_EQ(reading.errors[0].code, "not_json") << text;
  }
  const Reading inside = read(R"({"a": {"b": [1, oops]}})");
  EXPECT_EQ(inside.errors.at(0).pointer, "/a/b");
  EXPECT_NE(inside.errors.at(0).message.find("17"), std::string::npos) << inside.errors.at(0).message;
}

TEST(StrictJson, InvalidUtf8IsRefusedAndNeverWritten) {
  for (const char* text : {"\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\xc0\xaf\"", "{\"\xff\": 1}"}) {
    EXPECT_FALSE(read(text).value) << text;
  }
  EXPECT_EQ(read("\"\xc3\xa9\"").value, Json("\xc3\xa9"));
  const std::string written =
      write(Json(std::string("a\xff"
                             "b")));
  EXPECT_TRUE(read(written).value) << written;
}

TEST(StrictJson, NestingEndsAtSixtyFour) {
  const auto lists = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(read(lists(64)).value);
  const Reading deep = read(lists(65));
  EXPECT_FALSE(deep.value);
  ASSERT_EQ(deep.errors.size(), 1u);
  EXPECT_EQ(deep.errors[0].code, "too_large");
  EXPECT_FALSE(read(lists(100000)).value);
  EXPECT_FALSE(read(std::string(100000, '[')).value);
}

TEST(StrictJson, WhatIsWrittenIsReadBack) {
  for (const char* text :
       {R"({"b":1,"a":[true,null,"x\ny",0.1,-2,9007199254740992],"c":{}})", "[]", "\"\\u0000\"", "1e-07"}) {
    const Reading reading = read(text);
    ASSERT_TRUE(reading.value) << text;
    EXPECT_EQ(write(*reading.value), text);
    EXPECT_EQ(read(write(*reading.value, true)).value, reading.value);
  }
}

TEST(StrictJson, AnObjectNamesEveryKeyThatNobodyAskedFor) {
  Errors errors;
  const Json value = Json::parse(R"({"a": 1, "x/y": 2, "b": null, "z": 3})");
  Object object(value, "/here", errors);
  EXPECT_EQ(object.count("a"), 1u);
  EXPECT_FALSE(object.count("b"));
  EXPECT_FALSE(object.has("b"));
  EXPECT_FALSE(object.text("missing"));
  EXPECT_TRUE(errors.empty());
  object.no_other_keys();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].pointer, "/here/x~1y");
  EXPECT_EQ(errors[1].pointer, "/here/z");
  EXPECT_EQ(errors[0].allowed, "a, b, missing");
}

TEST(StrictJson, AnObjectThatIsNoneIsOneError) {
  Errors errors;
  const Json value = Json::array();
  Object object(value, "/list", errors);
  EXPECT_FALSE(object.is_object());
  EXPECT_FALSE(object.count("a"));
  object.no_other_keys();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].code, "wrong_type");
  EXPECT_EQ(errors[0].pointer, "/list");
}

// A log that was cut in the middle of a character, or written in Latin-1; found by the fuzzer.
TEST(StrictJson, BytesThatAreNoTextAreWrittenAsTheReplacementCharacter) {
  const auto written = [](std::string_view text) {
    Writer out;
    out.value(text);
    return out.take();
  };
  EXPECT_EQ(written("Gr\xC3\xB6\xC3\x9F"
                    "e \"\n"),
            "\"Gr\xC3\xB6\xC3\x9F"
            "e \\\"\\n\"");
  EXPECT_EQ(written("Gr\xF6\xDF"
                    "e"),
            "\"Gr\xEF\xBF\xBD\xEF\xBF\xBD"
            "e\"");
  EXPECT_EQ(written("cut \xE2\x94"), "\"cut \xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(written("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace plimsoll::json
