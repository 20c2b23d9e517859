// What nobody would call a configuration: too long, too deep, cut off, no text at all. The tests hold what is
// read of each to a count, ./dev bench says how long it takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::exchange {

inline std::string times(std::string_view what, size_t count) {
  if (what.size() == 1) return std::string(count, what[0]);
  std::string text;
  text.reserve(what.size() * count);
  for (size_t i = 0; i < count; ++i) text += what;
  return text;
}

// Numbered, so that no two are alike.
inline std::string many(std::string_view before, std::string_view behind, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += before;
    text += std::to_string(i);
    text += behind;
  }
  return text;
}

// Nine anchors, each nine times the one before: a billion values when followed.
inline std::string bomb() {
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

inline const std::vector<Hostile>& hostile_inputs() {
  const std::string pickle = "base_model: !!python/object/apply:os.system [id]\nsequence_len: 8\n";
  const std::string script = "import torch\nfrom trl import SFTConfig\n";
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
      {"names that are given nothing, in long lines", script + times(times("x, ", 20000) + "\n", 4), ""},
      {"colons in the long lines of a script", script + times(times("a: ", 20000) + "\n", 4), ""},
      {"80,000 decorators of nothing", script + times("@a\n", 80000), ""},
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

}  // namespace plimsoll::exchange
