// Every published parameter count through the report, by every name that a model goes by.
// golden/published_parameters.txt: hub id, parameters of the model as published (safetensors headers on the
// hub, model cards, instantiated classes), less what the file stores that is no parameter.
#include <set>
#include <sstream>

#include "tests/core/golden.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

std::string last_part_in_lower_case(const std::string& hub_id) {
  std::string out = hub_id.substr(hub_id.rfind('/') + 1);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

TEST(ReportModels, ThePresetsAreReadWithoutAnError) {
  for (const json::Error& error : presets().errors) ADD_FAILURE() << error.pointer << " " << error.message;
  EXPECT_GE(presets().models.size(), 190u);
  EXPECT_GE(presets().gpus.size(), 100u);
  EXPECT_GE(presets().stacks.size(), 6u);
}

TEST(ReportModels, EveryPublishedCountIsReported) {
  std::istringstream lines{std::string(golden_file("published_parameters.txt"))};
  size_t checked = 0;
  std::string hub_id;
  for (uint64_t published = 0; lines >> hub_id >> published; ++checked) {
    const Json report = answer({{"model", hub_id}});
    ASSERT_EQ(report.at("ok"), true) << hub_id << " " << report.dump();
    EXPECT_EQ(bytes(report, "/model/parameters"), published) << hub_id;
    EXPECT_EQ(at(report, "/model/id"), last_part_in_lower_case(hub_id));
    const bool frozen_part = has_note(report, "vision_is_approximate");
    if (!frozen_part) {
      EXPECT_LE(bytes(report, "/model/trainable"), published) << hub_id;
    }
  }
  EXPECT_EQ(checked, 181u);
}

TEST(ReportModels, TheIdAndTheHubIdGiveTheSameBytes) {
  for (const run::ModelEntry& model : presets().models) {
    EXPECT_EQ(report_text(R"({"model": ")" + model.preset.id + R"("})", presets()),
              report_text(R"({"model": ")" + model.preset.hf_id + R"("})", presets()))
        << model.preset.id;
  }
}

TEST(ReportModels, AliasesAndModelsOfTheSameShapesMeanThatPreset) {
  size_t names = 0;
  for (const run::ModelEntry& model : presets().models) {
    std::vector<std::string> others = model.preset.aliases;
    others.insert(others.end(), model.preset.same_shapes.begin(), model.preset.same_shapes.end());
    for (const std::string& name : others) {
      const run::ModelEntry* found = presets().find_model(name);
      ASSERT_NE(found, nullptr) << name;
      EXPECT_EQ(found->preset.id, model.preset.id) << name;
      ++names;
    }
  }
  EXPECT_GE(names, 100u);
  const Json instruct = answer({{"model", "mistralai/Mistral-7B-Instruct-v0.3"}});
  EXPECT_EQ(instruct, answer({{"model", "mistral-7b-v0.3"}}));
  EXPECT_EQ(instruct, answer({{"model", "MISTRALAI/mistral-7b-INSTRUCT-V0.3"}}));
}

TEST(ReportModels, NoTwoPresetsShareAName) {
  std::set<std::string> ids;
  for (const run::ModelEntry& model : presets().models) {
    EXPECT_TRUE(ids.insert(model.preset.id).second) << model.preset.id;
    EXPECT_EQ(model.preset.id, last_part_in_lower_case(model.preset.hf_id));
  }
}

TEST(ReportModels, AConfigPastedInGivesTheMemoryOfItsPreset) {
  for (const char* id :
       {"mistral-7b-v0.3", "gpt2", "mixtral-8x7b-v0.1", "qwen2.5-vl-7b-instruct", "t5-base"}) {
    const run::ModelEntry* model = presets().find_model(id);
    ASSERT_NE(model, nullptr) << id;
    const Json pasted = answer({{"model", {{"config", model->preset.config}, {"name", "mine"}}}});
    const Json named = answer({{"model", id}});
    EXPECT_EQ(pasted.at("ok"), true) << pasted.dump();
    EXPECT_EQ(at(pasted, "/memory"), at(named, "/memory")) << id;
    EXPECT_EQ(at(pasted, "/model/name"), "mine");
    EXPECT_EQ(at(pasted, "/model/parameters"), at(named, "/model/parameters"));
  }
}

}  // namespace
}  // namespace plimsoll::report
