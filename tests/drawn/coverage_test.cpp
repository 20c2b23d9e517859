// A field, a word or a preset that no draw has is a field that no property of this folder speaks of.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/recipe/fields.h"
#include "tests/drawn/checks.h"
#include "tests/drawn/value.h"

namespace plimsoll::drawn {
namespace {

constexpr uint64_t draws = 6000;

struct Seen {
  std::map<std::string, uint64_t> fields;
  std::map<std::string, std::set<std::string>> words;  // by field
  std::set<std::string> models;
  std::map<std::string, uint64_t> locks;
  uint64_t configs = 0;
};

const Seen& seen() {
  static const Seen all = [] {
    Seen found;
    for (uint64_t seed = 0; seed < draws; ++seed) {
      const Json request = drawn_request(seed);
      if (request.at("model").is_string()) {
        found.models.insert(presets().find_model(request.at("model").get<std::string>())->preset.id);
      } else {
        ++found.configs;
      }
      for (const std::string& pointer : stated_fields(request)) {
        ++found.fields[pointer];
        const Json& value = request.at(Json::json_pointer(pointer));
        if (value.is_string()) found.words[pointer].insert(value.get<std::string>());
        if (value.is_boolean()) found.words[pointer].insert(value.get<bool>() ? "true" : "false");
        if (!value.is_array()) continue;
        for (const Json& item : value) {
          if (item.is_string()) found.words[pointer].insert(item.get<std::string>());
        }
      }
    }
    return found;
  }();
  return all;
}

TEST(Coverage, EveryFieldOfTheTableIsStatedByADraw) {
  std::string missing;
  uint64_t fewest = draws;
  for (const recipe::Field& field : recipe::field_table()) {
    const auto found = seen().fields.find(std::string(field.pointer));
    if (found == seen().fields.end()) {
      // There is one version of the contract.
      if (field.pointer != "/schema") missing += " " + std::string(field.pointer);
      continue;
    }
    fewest = std::min(fewest, found->second);
  }
  EXPECT_EQ(missing, "") << "no draw states these";
  RecordProperty("fields", static_cast<int>(seen().fields.size()));
  RecordProperty("fewest_draws_of_a_field", static_cast<int>(fewest));
}

TEST(Coverage, EveryAllowedWordIsSaidByADraw) {
  std::string missing;
  std::size_t words = 0;
  for (const recipe::Field& field : recipe::field_table()) {
    const std::string pointer(field.pointer);
    std::vector<std::string> allowed = words_in(recipe::words_of(field));
    if (field.type == recipe::FieldType::version) allowed.clear();  // its words are one default
    if (field.type == recipe::FieldType::flag) allowed = {"true", "false"};
    const auto said = seen().words.find(pointer);
    for (const std::string& word : allowed) {
      if (never_valid(pointer, word)) continue;
      ++words;
      const bool found = said != seen().words.end() && said->second.count(word) != 0;
      if (!found) missing += " " + pointer + "=" + word;
    }
  }
  EXPECT_EQ(missing, "") << "no draw says these";
  RecordProperty("words", static_cast<int>(words));
}

TEST(Coverage, EveryPresetIsDrawn) {
  std::string missing;
  for (const run::ModelEntry& entry : presets().models) {
    if (seen().models.count(entry.preset.id) == 0) missing += " " + entry.preset.id;
  }
  for (const hardware::Gpu& gpu : presets().gpus) {
    if (seen().words.at("/hardware/gpu").count(gpu.id) == 0) missing += " " + gpu.id;
  }
  for (const recipe::StackPreset& stack : presets().stacks) {
    if (seen().words.at("/stack").count(stack.id) == 0) missing += " " + stack.id;
  }
  EXPECT_EQ(missing, "");
  EXPECT_GT(seen().configs, draws / 20) << "of configurations that no preset holds";
}

// A default that holds for some releases alone is met by a draw that states such a release and leaves the
// field out.
TEST(Coverage, EveryVersionWindowOfAStackIsDrawn) {
  std::string missing;
  for (const recipe::StackPreset& stack : presets().stacks) {
    for (const recipe::StackDefault& row : stack.defaults) {
      bool versioned = false, met = true;
      for (const auto& [pointer, condition] : row.when) {
        if (pointer.rfind("/versions/", 0) != 0) continue;
        versioned = true;
        bool any = false;
        for (const std::string& version : seen().words.at(pointer))
          any = any || recipe::version_matches(version, condition);
        met = met && any;
      }
      if (versioned && !met) missing += " " + stack.id + row.pointer;
    }
  }
  EXPECT_EQ(missing, "");
}

}  // namespace
}  // namespace plimsoll::drawn
