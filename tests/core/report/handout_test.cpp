// What is taken to the machine: its words are those of the tools that are compared with.
#include "core/report/handout.h"

#include <gtest/gtest.h>

#include "core/report/exchange.h"
#include "core/run/preset_files.h"

namespace plimsoll::report {
namespace {

using json::Json;

const run::Catalog& catalog() {
  static const run::Catalog read = run::read_catalog(preset_files());
  return read;
}

std::string made(std::string_view id, const Json& request, const Json& before = nullptr) {
  json::Errors errors;
  std::string text =
      handout(id, json::write(request), before.is_null() ? "" : json::write(before), catalog(), errors);
  EXPECT_TRUE(errors.empty());
  return text;
}

Json lora() {
  return {{"model", "mistralai/Mistral-7B-v0.3"},
          {"peft", {{"r", 16}, {"target_modules", {"q_proj", "v_proj"}}}},
          {"training", {{"gradient_checkpointing", true}, {"bf16", true}}},
          {"hardware", {{"gpu", "a10g"}, {"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}}}};
}

// Lines that PEFT printed: huggingface/peft README.md (bigscience/mt0-large), docs/source/quicktour.md
// (Qwen/Qwen2.5-3B-Instruct).
TEST(ReportHandout, TheTrainableLineIsPeftsOwn) {
  EXPECT_EQ(trainable_line(2359296, 1231940608),
            "trainable params: 2,359,296 || all params: 1,231,940,608 || trainable%: 0.1915");
  EXPECT_EQ(trainable_line(3686400, 3089625088),
            "trainable params: 3,686,400 || all params: 3,089,625,088 || trainable%: 0.1193");
  EXPECT_EQ(trainable_line(12, 12), "trainable params: 12 || all params: 12 || trainable%: 100.0000");
}

TEST(ReportHandout, TheChecklistNamesSettingsAndFiguresOfTheReport) {
  const std::string text = made("checklist", lora());
  for (const char* line : {"- [ ] peft.r: 16\n", "- [ ] hardware.gpu: a10g\n",
                           "trainable params: 6,815,744 || all params: 7,254,839,296 || trainable%: 0.0939",
                           "`torch.cuda.memory_allocated()`", "`nvidia-smi` shows between"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(ReportHandout, TheEnvironmentHoldsWhatTheRequestStates) {
  EXPECT_EQ(made("environment", lora()), "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n");
  EXPECT_EQ(made("environment", {{"model", "gpt2"}})[0], '#');
}

TEST(ReportHandout, TheShellLaunchesWithTheVariablesSet) {
  const std::string text = made("shell", lora());
  const size_t variable = text.find("export PYTORCH_CUDA_ALLOC_CONF="),
               launch = text.find("accelerate launch");
  ASSERT_NE(variable, std::string::npos);
  ASSERT_NE(launch, std::string::npos);
  EXPECT_LT(variable, launch);
  EXPECT_NE(text.find("--gradient_checkpointing true"), std::string::npos) << text;
}

TEST(ReportHandout, BeforeAndAfterShowOnlyWhatDiffers) {
  Json after = lora();
  after["peft"]["r"] = 4;
  const std::string text = made("markdown", after, lora());
  EXPECT_NE(text.find("| peft.r | 16 | 4 |\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("| hardware.gpu"), std::string::npos);
  EXPECT_NE(text.find("| **Verdict** | "), std::string::npos);
}

TEST(ReportHandout, CellsCannotBecomeFormulasOrColumns) {
  Json request = lora();
  const std::string text = made("csv", request);
  EXPECT_EQ(text.rfind("instant,component,bytes,what,formula,source\r\n", 0), 0U);
  size_t lines = 0, quoted = 0;
  for (const char c : text) {
    quoted += c == '"' ? 1 : 0;
    lines += c == '\n' ? 1 : 0;
  }
  EXPECT_GT(lines, 20U);
  EXPECT_EQ(quoted % 2, 0U);
}

TEST(ReportHandout, TheyAreAmongTheFormats) {
  json::Errors errors;
  const Json formats = *json::parse(formats_text(), errors);
  for (const HandoutKind& kind : handout_kinds()) {
    bool found = false;
    for (const Json& format : formats["formats"]) found = found || format["id"] == std::string(kind.id);
    EXPECT_TRUE(found) << kind.id;
    const Json answer = *json::parse(export_text(json::write(lora()), kind.id, catalog()), errors);
    EXPECT_EQ(answer["ok"], Json(true));
  }
  EXPECT_TRUE(errors.empty());
}

TEST(ReportHandout, ABadRequestIsRefusedAsByTheReport) {
  json::Errors errors;
  EXPECT_EQ(handout("checklist", R"({"model": "no-such-model"})", "", catalog(), errors), "");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code, "unknown_model");
}

// A stack's defaults travel: what TRL does by itself and the plain Trainer does not is written out.
TEST(ReportExport, DefaultsOfTheStackAreWrittenWhereTheOtherToolHasOthers) {
  json::Errors errors;
  const std::string request = R"({"model": "mistralai/Mistral-7B-v0.3", "stack": "llamafactory"})";
  const Json answer = *json::parse(export_text(request, "axolotl", catalog()), errors);
  ASSERT_EQ(answer["ok"], Json(true));
  const std::string text = answer["text"];
  EXPECT_NE(text.find("gradient_checkpointing: true"), std::string::npos) << text;
  const Json own = *json::parse(export_text(request, "llamafactory", catalog()), errors);
  EXPECT_EQ(std::string(own["text"]).find("gradient_checkpointing"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::report
