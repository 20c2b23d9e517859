// Every model preset through the reader: its count against the published figure, its linears against an
// independent list (golden/model_linears.txt: preset, then "part name in out bias expert count" for each kind
// of linear).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "core/model/architecture.h"
#include "core/model/preset.h"
#include "core/run/preset_files.h"
#include "tests/core/golden.h"
#include "tests/core/model_presets.h"

namespace plimsoll::model {
namespace {

std::string part_name(Part part) {
  switch (part) {
    case Part::text:
      return "text";
    case Part::vision:
      return "vision";
    case Part::projector:
      return "projector";
    case Part::encoder:
      return "encoder";
    case Part::decoder:
      return "decoder";
    case Part::audio:
      return "audio";
  }
  return "?";
}

struct Expected {
  std::string part, name;
  uint64_t in = 0, out = 0, count = 0;
  bool bias = false, expert = false;
};

std::map<std::string, std::vector<Expected>> expected_linears() {
  std::map<std::string, std::vector<Expected>> all;
  std::istringstream lines{std::string(golden_file("model_linears.txt"))};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, bias, expert;
    words >> id;
    for (Expected row; words >> row.part >> row.name >> row.in >> row.out >> bias >> expert >> row.count;) {
      row.bias = bias == "bias";
      row.expert = expert == "expert";
      all[id].push_back(row);
      words.ignore(1);  // ";"
    }
  }
  return all;
}

bool describes(const Expected& row, const PlacedLinear& at) {
  const Linear& linear = *at.linear;
  return part_name(at.stack->part) == row.part && ends_in_name(linear.path, row.name) &&
         linear.in == row.in && linear.out == row.out && linear.bias == row.bias &&
         linear.expert == row.expert;
}

// Linears that the independent list leaves out: it holds what LoRA is usually put on.
bool is_beside_the_list(const Linear& linear) {
  static constexpr const char* names[] = {"gate",
                                          "router",
                                          "shared_expert_gate",
                                          "mm_input_projection_weight",
                                          "patch_embedding.linear",
                                          "project_in",
                                          "project_out"};
  if (linear.expert && linear.module == Module::parameter) return true;
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return ends_in_name(linear.path, name); });
}

TEST(ModelCounts, EveryPresetIsReadAndCountsWhatItsFileSays) {
  EXPECT_GE(all_models().size(), 190u);
  for (const ReadModel& model : all_models()) {
    EXPECT_EQ(parameter_count(model.network), model.preset.parameters) << model.preset.id;
    for (const Note& note : model.network.notes)
      EXPECT_EQ(note.code, "approximate_attention") << model.preset.id;
  }
}

TEST(ModelCounts, EveryVerifiedPresetEqualsThePublishedFigureAfterItsStatedAdjustment) {
  size_t verified = 0;
  for (const ReadModel& model : all_models()) {
    if (!model.preset.verified) continue;
    ++verified;
    EXPECT_EQ(static_cast<int64_t>(parameter_count(model.network)),
              static_cast<int64_t>(model.preset.published_parameters) + model.preset.adjustment)
        << model.preset.id;
    EXPECT_FALSE(model.preset.count_sources.empty()) << model.preset.id;
    EXPECT_EQ(model.preset.adjustment == 0, model.preset.adjustment_reason.empty()) << model.preset.id;
  }
  EXPECT_GE(verified, 181u);
}

// Figures printed by sum(p.numel()) or in the safetensors headers on the hub, one for each way of counting.
TEST(ModelCounts, TheCountsThatPeopleQuoteAreOurs) {
  const std::map<std::string, uint64_t> quoted = {{"mistral-7b-v0.3", 7248023552},
                                                  {"llama-3.1-8b", 8030261248},
                                                  {"llama-3.1-405b", 405853388800},
                                                  {"qwen2.5-7b", 7615616512},
                                                  {"qwen3-235b-a22b", 235093634560},
                                                  {"gemma-2-9b", 9241705984},
                                                  {"gemma-3-270m", 268098176},
                                                  {"phi-2", 2779683840},
                                                  {"gpt2", 124439808},
                                                  {"falcon-40b", 41303293952},
                                                  {"opt-350m", 331196416},
                                                  {"mixtral-8x7b-v0.1", 46702792704},
                                                  {"deepseek-v2-lite", 15706484224},
                                                  {"deepseek-v3", 671026419200},
                                                  {"gpt-oss-20b", 20914757184},
                                                  {"llama-3.2-11b-vision-instruct", 10670220835},
                                                  {"llama-4-scout-17b-16e-instruct", 108641793536},
                                                  {"qwen2.5-vl-7b-instruct", 8292166656},
                                                  {"qwen3.5-35b-a3b", 35107181936},
                                                  {"llava-1.5-7b-hf", 7063427072},
                                                  {"idefics-9b", 8929679632},
                                                  {"minicpm-v-2_6", 8099175152},
                                                  {"whisper-large-v3", 1543490560},
                                                  {"t5-11b", 11307321344},
                                                  {"bert-base-uncased", 109482240}};
  for (const auto& [id, count] : quoted) EXPECT_EQ(parameter_count(network(id)), count) << id;
}

// golden/model_variants.txt: small configs that turn every switch of the families once, each with the
// sum(p.numel()) of the class that Transformers builds from it (4.57.6; 5.15 for the families it lacks).
TEST(ModelCounts, EverySwitchOfAConfigCountsAsInTransformers) {
  std::istringstream lines{std::string(golden_file("model_variants.txt"))};
  size_t checked = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    json::Errors errors;
    const auto variant = json::parse(line, errors);
    ASSERT_TRUE(variant.has_value()) << line;
    const auto network = read_config((*variant)["config"], "variant", "", errors);
    for (const json::Error& error : errors)
      ADD_FAILURE() << error.pointer << " " << error.message << " " << line;
    const auto counted = json::read_count((*variant)["parameters"], "/parameters", {}, errors);
    EXPECT_EQ(network ? parameter_count(*network) : 0, counted.value_or(1)) << line;
  }
  EXPECT_GE(checked, 70u);
}

TEST(ModelLinears, EachAgreesWithTheIndependentList) {
  const auto expected = expected_linears();
  EXPECT_EQ(expected.size(), 190u);
  for (const auto& [id, rows] : expected) {
    const std::vector<PlacedLinear> ours = linears(network(id));
    for (const Expected& row : rows) {
      uint64_t found = 0, wanted = 0;
      for (const PlacedLinear& at : ours) found += describes(row, at) ? at.total : 0;
      // "o" of self-attention and "o" of cross-attention are two rows with the same name and sizes.
      for (const Expected& same : rows) {
        const bool equal = std::tie(same.part, same.name, same.in, same.out, same.bias, same.expert) ==
                           std::tie(row.part, row.name, row.in, row.out, row.bias, row.expert);
        wanted += equal ? same.count : 0;
      }
      EXPECT_EQ(found, wanted) << id << " " << row.part << " " << row.name << " " << row.in << " " << row.out;
    }
    for (const PlacedLinear& at : ours) {
      const bool listed =
          std::any_of(rows.begin(), rows.end(), [&](const Expected& row) { return describes(row, at); });
      EXPECT_TRUE(listed || is_beside_the_list(*at.linear)) << id << " has " << at.linear->path;
    }
  }
}

TEST(ModelCounts, StacksAndGroupsSumToTheWhole) {
  for (const ReadModel& model : all_models()) {
    uint64_t sum = 0;
    for (const Stack& stack : model.network.stacks) sum += parameter_count(stack);
    EXPECT_EQ(sum, parameter_count(model.network)) << model.preset.id;
    ASSERT_FALSE(model.network.stacks.empty()) << model.preset.id;
    for (const LayerGroup& group : model.network.stacks.front().groups) {
      EXPECT_GT(group.layers, 0u) << model.preset.id;
      // Attention, a state-space mixer or an MLP; Nemotron-H's layers have one of them alone.
      EXPECT_EQ(group.heads > 0, group.head_dim > 0) << model.preset.id;
      EXPECT_GT(group.heads + group.state_space.inner + group.intermediate, 0u) << model.preset.id;
      EXPECT_EQ(group.attention == AttentionKind::none, group.heads == 0) << model.preset.id;
      EXPECT_FALSE(group.name.empty()) << model.preset.id;
    }
  }
}

TEST(ModelPresets, NoTwoGoByTheSameName) {
  std::map<std::string, std::string> owners;
  for (const ReadModel& model : all_models()) {
    std::vector<std::string> names = model.preset.same_shapes;
    names.insert(names.end(), model.preset.aliases.begin(), model.preset.aliases.end());
    names.push_back(model.preset.id);
    names.push_back(model.preset.hf_id);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (const std::string& name : names) {
      const auto [owner, fresh] = owners.emplace(name, model.preset.id);
      EXPECT_TRUE(fresh || owner->second == model.preset.id)
          << name << " is " << owner->second << " and " << model.preset.id;
    }
  }
}

TEST(ModelPresets, AFileThatIsNotQuiteRightIsRefusedByName) {
  const auto refused = [](const std::string& text) {
    json::Errors errors;
    const auto tree = json::parse(text, errors);
    EXPECT_TRUE(tree.has_value()) << text;
    EXPECT_FALSE(tree && read_model_preset(*tree, "models/a.json", errors)) << text;
    return errors.empty() ? json::Error{} : errors.front();
  };
  const std::string good =
      R"("hf_id":"o/A","family":"F","same_shapes":[],"config":{},"sources":[],)"
      R"("parameters":{"count":5,"published":4,"adjustment":1,"adjustment_reason":"x","verified":true,"sources":[]})";
  json::Errors errors;
  EXPECT_TRUE(read_model_preset(*json::parse(R"({"id":"a",)" + good + "}", errors), "models/a.json", errors));
  EXPECT_TRUE(errors.empty());

  EXPECT_EQ(refused(R"({"id":"b",)" + good + "}").pointer, "/id");
  EXPECT_EQ(refused("{" + good + "}").code, "missing");
  EXPECT_EQ(refused(R"({"id":"a","colour":1,)" + good + "}").code, "unknown_key");
  std::string wrong = good;
  wrong.replace(wrong.find("\"published\":4"), 13, "\"published\":3");
  EXPECT_EQ(refused(R"({"id":"a",)" + wrong + "}").pointer, "/parameters/published");
  wrong = good;
  wrong.replace(wrong.find("\"count\":5"), 9, "\"count\":-5");
  EXPECT_EQ(refused(R"({"id":"a",)" + wrong + "}").code, "negative");
}

}  // namespace
}  // namespace plimsoll::model
