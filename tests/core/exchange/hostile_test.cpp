// What nobody would call a configuration is refused in words and makes nothing that grows.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/diagnosis/diagnosis.h"
#include "core/exchange/parts.h"
#include "core/exchange/patch.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif
#include "tests/core/hostile_texts.h"

namespace plimsoll::exchange {
namespace {

Document document_of(const std::string& text) {
#ifndef __EMSCRIPTEN__
  return cli::read_document(text);
#else
  return read_text(text);
#endif
}

Import import_of(const std::string& text) { return import_document(document_of(text), text); }

Patch patch_of(const std::string& text) {
  const std::vector<Change> changes = {{"/training/max_length", 512}, {"/peft/r", 8}};
  return patch_document(document_of(text), text, changes);
}

// Values in a tree, the lists and maps among them too. An empty scalar is what a text leaves that was refused
// at once.
size_t values_in(const Node& node) {
  size_t count = node.is_scalar() && node.raw.empty() ? 0 : 1;
  for (const Node& item : node.items) count += values_in(item);
  for (const Member& member : node.members) count += values_in(member.value);
  return count;
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

// Keys are compared with each other and a patch tries them in turn, so their number is what bounds the work.
// How long that takes is asked of ./dev bench.
TEST(ExchangeHostile, NoneMakesMoreValuesThanAConfigurationHas) {
  constexpr size_t most_values = 2'000;
  for (const Hostile& input : hostile_inputs()) {
    const size_t values = values_in(document_of(input.text).root);
    EXPECT_LE(values, std::string_view(input.code) == "too_large" ? 0 : most_values) << input.what;
    EXPECT_LE(import_of(input.text).findings.size(), most_values) << input.what;
    EXPECT_LE(patch_of(input.text).text.size(), input.text.size() + 1'000) << input.what;
  }
}

TEST(ExchangeHostile, TheirPartsAndMessagesAreFew) {
  for (const Hostile& input : hostile_inputs()) {
    const auto parts = settings_parts(input.text);
    EXPECT_LE(parts.size(), 16U) << input.what;
    size_t bytes = 0;
    for (const std::string_view part : parts) bytes += part.size();
    EXPECT_LE(bytes, std::min<size_t>(input.text.size(), 1U << 20U)) << input.what;
    diagnosis::Situation situation;
    situation.text = input.text;
    EXPECT_LE(diagnosis::diagnose(situation).reading.messages.size(), 64U) << input.what;
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
