// One object of a config.json, read the way Transformers reads it: an absent or null field takes the default
// of the configuration class, a key that nobody asks for is ignored, and a field that is used must make
// sense.
//
//     ConfigReader config(json, "/model/config", errors);
//     const uint64_t hidden = config.core("hidden_size", 4096);
//     const bool tied       = config.flag("tie_word_embeddings", false);
//     ConfigReader vision   = config.part("vision_config");
//     if (!errors.empty()) ...            // every code is unreadable_config
//
// A reader that failed keeps returning usable numbers, so that one pass reports everything that is wrong.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::model {

class ConfigReader {
 public:
  ConfigReader(const json::Json& value, std::string pointer, json::Errors& errors);

  bool has(std::string_view key) const;  ///< present and not null
  bool is_text(std::string_view key) const;
  bool is_list(std::string_view key) const;
  bool is_null(std::string_view key) const;  ///< written as null, which is not the same as left out
  /// The first of several spellings that is present, else the first.
  std::string_view spelling(std::initializer_list<std::string_view> keys) const;

  /// Widths, heads, layers, rows: 1 to 2^27.
  uint64_t size(std::string_view key, uint64_t fallback);
  /// As size, for the fields that make a model what it is. At the top of a config they must be written;
  /// inside text_config and the like published configs do lean on the class default (llava-1.5-7b-hf).
  uint64_t core(std::string_view key, uint64_t fallback);
  /// As core, for the number of layers: 1 to 1024.
  uint64_t depth(std::string_view key, uint64_t fallback);
  /// As size, for the tiles of an image: 1 to 256, as many as a request may ask for.
  uint64_t tiles(std::string_view key, uint64_t fallback);
  /// As size, and 0 is allowed.
  uint64_t count(std::string_view key, uint64_t fallback);
  /// As core, and 0 is allowed.
  uint64_t core_count(std::string_view key, uint64_t fallback);
  bool flag(std::string_view key, bool fallback);
  /// As flag; when this part does not say, the config around it is asked.
  bool flag_or_outer(std::string_view key, bool fallback);
  double number(std::string_view key, double fallback, json::Range range);
  double share(std::string_view key, double fallback) { return number(key, fallback, {0, 1}); }
  std::string text(std::string_view key, std::string_view fallback);
  std::vector<uint64_t> counts(std::string_view key);
  uint64_t length(std::string_view key, uint64_t fallback);  ///< of a list, whatever is in it
  std::vector<std::string> texts(std::string_view key);

  /// A nested object; where it is absent all its fields take their class defaults.
  ConfigReader part(std::string_view key);
  /// As part, for the text model of a larger one, which no published config leaves out.
  ConfigReader required_part(std::string_view key);
  void fail(std::string_view key, std::string message, std::string allowed);
  std::string pointer(std::string_view key) const;

 private:
  const json::Json* find(std::string_view key) const;
  bool may_be_left_out(std::string_view key);
  uint64_t whole(std::string_view key, uint64_t fallback, json::Range range);
  /// Runs a read of core/json and turns what it reports into unreadable_config.
  template <typename Value, typename Read>
  Value read(std::string_view key, Value fallback, Read read);

  const json::Json* value_;
  const json::Json* outer_ = nullptr;
  std::string pointer_;
  json::Errors* errors_;
  bool nested_ = false;
};

}  // namespace plimsoll::model
