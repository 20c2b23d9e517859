// What the two scoring programs share: their options, their files, their limits.
//
//     const auto options = scoring::read_options(argc, argv, {"--json", "--each"});
//     if (!options) return usage();
//     if (options->has("--json")) ...
#pragma once

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::scoring {

enum ExitCode { good = 0, worse = 1, bad_input = 3 };

struct Options {
  std::vector<std::string> flags;
  std::string file, against;
  bool has(const char* flag) const { return std::find(flags.begin(), flags.end(), flag) != flags.end(); }
};

/// Nothing when a word is not among `flags`, --against=FILE or the one file.
inline std::optional<Options> read_options(int argc, char** argv, std::initializer_list<const char*> flags) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (std::find(flags.begin(), flags.end(), word) != flags.end()) {
      options.flags.push_back(word);
    } else if (word.rfind("--against=", 0) == 0) {
      options.against = word.substr(word.find('=') + 1);
    } else if (!word.empty() && word[0] != '-' && options.file.empty()) {
      options.file = word;
    } else {
      return std::nullopt;
    }
  }
  if (options.file.empty()) return std::nullopt;
  return options;
}

inline int refuse(const std::string& file, const json::Errors& errors) {
  for (const json::Error& error : errors) {
    std::fprintf(stderr, "%s: %s %s\n", file.c_str(), error.pointer.c_str(), error.message.c_str());
  }
  return bad_input;
}

inline std::optional<json::Json> read_file(const std::string& path, json::Errors& errors) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) {
    errors.push_back({"unreadable_file", "", "The file could not be read.", ""});
    return std::nullopt;
  }
  return json::parse(text, errors);
}

/// One figure of a score file: {"median_abs_error": 0.001, ...}.
inline bool holds(const char* key, double limit, double reached, bool at_least) {
  if (at_least ? reached >= limit : reached <= limit) return true;
  std::fprintf(stderr, "%s is %g; it must be at %s %g.\n", key, reached, at_least ? "least" : "most", limit);
  return false;
}

}  // namespace plimsoll::scoring
