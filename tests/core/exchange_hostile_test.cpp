// What nobody would call a configuration is refused in words, quickly and without growing.
#include <gtest/gtest.h>

#include <chrono>

#include "core/exchange/import.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::exchange {
namespace {

std::string times(std::string_view what, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += what;
  return text;
}

[[maybe_unused]] std::string many_keys() {
  std::string text;
  for (int i = 0; i < 60000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  return text;
}

// Nine anchors, each nine times the one before: a billion values when followed.
[[maybe_unused]] std::string bomb() {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string before = std::string("*") + static_cast<char>(c - 1);
    text += std::string(1, c) + ": &" + c + " [" + before + times(", " + before, 8) + "]\n";
  }
  return text;
}

struct Hostile {
  const char* what;
  std::string text;
  const char* code;  ///< "" when it may also be read
};

TEST(ExchangeHostile, ThirtyInputsAreRefusedInWords) {
  const std::string pickle = "base_model: !!python/object/apply:os.system [id]\nsequence_len: 8\n";
  const Hostile inputs[] = {
      {"one line of 10 MB", times("a", 10'000'000), "too_large"},
      {"10 MB in one JSON string", "{\"a\": \"" + times("x", 10'000'000) + "\"}", "too_large"},
      {"10 MB behind a key", "base_model: " + times("x", 10'000'000), "too_large"},
      {"20 MB", times("a: b\n", 4'000'000), "too_large"},
      {"10,000 brackets in JSON", "{\"a\":" + times("[", 10000), "too_large"},
      {"10,000 brackets in YAML", "a: " + times("[", 10000), "too_large"},
      {"10,000 brackets in Python", "f(" + times("(", 10000), "too_large"},
      {"10,000 braces", times("{\"a\":", 10000), "too_large"},
      {"10,000 lists in lists", times("- ", 10000) + "a", "too_large"},
      {"10,000 keys of keys", times("? ", 10000), "too_large"},
      {"a NUL byte", std::string("base_model: a\0b\n", 16), "not_text"},
      {"invalid UTF-8", "base_model: \xff\xfe\n", "not_text"},
      {"an overlong form", "base_model: \xc0\xaf\n", "not_text"},
      {"half a surrogate", "base_model: \xed\xa0\x80\n", "not_text"},
      {"UTF-8 cut off", "base_model: \xe2\x82", "not_text"},
      {"nothing", "", "empty"},
      {"blanks", "  \n\t\n", "empty"},
      {"JSON cut off", "{\"model\": \"gpt2", "not_json"},
      {"a key twice in JSON", "{\"model\": \"a\", \"model\": \"b\"}", "duplicate_key"},
      {"100,000 values in JSON", "{" + times("\"a\":1,", 100000) + "\"b\":2}", "too_large"},
      {"half a link", "#v=1&model=gpt2&training.max_length=5", "broken_link"},
      {"a link of 5,000 dots", "#v=1&" + times("a.", 5000) + "b=1&c=0000", "broken_link"},
      {"a link that names a value and its inside", "#v=1&a=1&a.b=2&c=0000", "broken_link"},
      {"a long string in Python", "x = \"\"\"" + times("y", 50000), "unknown_format"},
      {"a flag of 60 kB", "python train.py --" + times("a", 60000), ""},
      {"60,000 backslashes", times("\\", 60000), ""},
#ifndef __EMSCRIPTEN__
      {"anchors that grow", bomb(), "not_yaml"},
      {"an alias to itself", "a: &a [*a]\nbase_model: x\n", "not_yaml"},
      {"a merge of itself", "a: &a\n  <<: *a\nbase_model: x\n", "not_yaml"},
      {"a Python object", pickle, "not_yaml"},
      {"two documents", "base_model: a\n---\nbase_model: b\n", "not_yaml"},
      {"60,000 keys", many_keys(), "too_large"},
      {"60,000 colons", times(":", 60000), "not_yaml"},
      {"keys of prototypes", "__proto__:\n  x: 1\nconstructor: 2\n", "unknown_format"},
#endif
  };
  for (const Hostile& input : inputs) {
    const auto start = std::chrono::steady_clock::now();
#ifndef __EMSCRIPTEN__
    const Import import = import_document(cli::read_document(input.text), input.text);
#else
    const Import import = import_document(read_text(input.text), input.text);
#endif
    const auto took = std::chrono::steady_clock::now() - start;
    // 100 ms in a release build; the sanitizers take ten times as long.
    EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), 1500) << input.what;
    if (input.code[0] == '\0') continue;
    ASSERT_FALSE(import.errors.empty()) << input.what;
    EXPECT_EQ(import.errors[0].code, input.code) << input.what;
    EXPECT_FALSE(import.errors[0].message.empty()) << input.what;
    EXPECT_LT(import.errors[0].message.size(), 500U) << input.what;
  }
}

TEST(ExchangeHostile, KeysOfPrototypesAreKeysLikeOthers) {
  const std::string text = R"({"__proto__": {"x": 1}, "constructor": 1, "model": "gpt2", "training": {}})";
  const Import import = import_document(read_text(text), text);
  ASSERT_TRUE(import.errors.empty());
  EXPECT_FALSE(import.request.contains("__proto__"));
  EXPECT_EQ(import.findings[0].use, Use::unknown);
}

TEST(ExchangeHostile, TheIndexOfAHundredThousandTensorsGivesItsTotal) {
  const std::string text = "{\"metadata\": {\"total_size\": 688586727936}, \"weight_map\": {" +
                           times("\"t\": \"f\", ", 100000) + "\"u\": \"f\"}}";
  const Import import = import_document(read_text(text), text);
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.format->id, "safetensors-index");
}

}  // namespace
}  // namespace plimsoll::exchange
