// What nobody would call a configuration is refused in words, quickly and without growing.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "core/diagnosis/diagnosis.h"
#include "core/exchange/parts.h"
#include "core/exchange/patch.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::exchange {
namespace {

std::string times(std::string_view what, size_t count) {
  if (what.size() == 1) return std::string(count, what[0]);
  std::string text;
  text.reserve(what.size() * count);
  for (size_t i = 0; i < count; ++i) text += what;
  return text;
}

// Numbered, so that no two are alike.
std::string many(std::string_view before, std::string_view behind, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += before;
    text += std::to_string(i);
    text += behind;
  }
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

// The sanitizers and node take some times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__EMSCRIPTEN__)
constexpr double most_milliseconds = 1500;
#else
constexpr double most_milliseconds = 100;
#endif

struct Hostile {
  const char* what;
  std::string text;
  const char* code;  ///< "" when it may also be read
};

const std::vector<Hostile>& hostile_inputs() {
  const std::string pickle = "base_model: !!python/object/apply:os.system [id]\nsequence_len: 8\n";
  static const std::vector<Hostile> inputs = {
      {"one line of 100 KB of words", "CUDA out of memory. " + times("batch size 4 on a single gpu ", 3'300),
       ""},
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
      {"2,000 keys in JSON", "{\"model_name_or_path\": \"gpt2\"" + many(", \"k", "\": 1", 1990) + "}", ""},
      {"20,000 arguments in Python", "SFTConfig(max_length=512" + many(", k", "=1", 20000) + ")",
       "too_large"},
      {"20,000 flags", "python train.py --max_length 512" + many(" --k", " 1", 20000), "too_large"},
#ifndef __EMSCRIPTEN__
      {"anchors that grow", bomb(), "not_yaml"},
      {"an alias to itself", "a: &a [*a]\nbase_model: x\n", "not_yaml"},
      {"a merge of itself", "a: &a\n  <<: *a\nbase_model: x\n", "not_yaml"},
      {"a Python object", pickle, "not_yaml"},
      {"two documents", "base_model: a\n---\nbase_model: b\n", "not_yaml"},
      {"60,000 keys", many("k", ": 1\n", 60000), "too_large"},
      {"60,000 colons", times(":", 60000), "not_yaml"},
      {"keys of prototypes", "__proto__:\n  x: 1\nconstructor: 2\n", "unknown_format"},
#endif
  };
  return inputs;
}

Import import_of(const std::string& text) {
#ifndef __EMSCRIPTEN__
  return import_document(cli::read_document(text), text);
#else
  return import_document(read_text(text), text);
#endif
}

Patch patch_of(const std::string& text) {
  const std::vector<Change> changes = {{"/training/max_length", 512}, {"/peft/r", 8}};
#ifndef __EMSCRIPTEN__
  return patch_document(cli::read_document(text), text, changes);
#else
  return patch_document(read_text(text), text, changes);
#endif
}

diagnosis::Diagnosis diagnosis_of(const std::string& text) {
  diagnosis::Situation situation;
  situation.text = text;
  return diagnosis::diagnose(situation);
}

// Of the processor, not of the wall: other programs share the machine. The best of three, as a run may be
// interrupted.
template <class Work>
double milliseconds_of(const Work& work) {
  double best = 1e9;
  for (int attempt = 0; attempt < 3 && best > most_milliseconds; ++attempt) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

TEST(ExchangeHostile, ThirtyInputsAreRefusedInWords) {
  for (const Hostile& input : hostile_inputs()) {
    const Import import = import_of(input.text);
    if (input.code[0] == '\0') continue;
    ASSERT_FALSE(import.errors.empty()) << input.what;
    EXPECT_EQ(import.errors[0].code, input.code) << input.what;
    EXPECT_FALSE(import.errors[0].message.empty()) << input.what;
    EXPECT_LT(import.errors[0].message.size(), 500U) << input.what;
    EXPECT_FALSE(patch_of(input.text).errors.empty()) << input.what;
  }
}

TEST(ExchangeHostile, ImportPatchAndDiagnosisAnswerWithinATenthOfASecond) {
  for (const Hostile& input : hostile_inputs()) {
    EXPECT_LT(milliseconds_of([&] { (void)import_of(input.text); }), most_milliseconds)
        << "import: " << input.what;
    EXPECT_LT(milliseconds_of([&] { (void)patch_of(input.text); }), most_milliseconds)
        << "patch: " << input.what;
    EXPECT_LT(milliseconds_of([&] { (void)settings_parts(input.text); }), most_milliseconds)
        << "parts: " << input.what;
    EXPECT_LT(milliseconds_of([&] { (void)diagnosis_of(input.text); }), most_milliseconds)
        << "diagnosis: " << input.what;
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
