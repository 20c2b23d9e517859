// A notebook handed over as it was saved: its cells say the run, what programs printed into it says the failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/diagnose.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using json::Json;

// The comment and the last line are those of Unsloth's published notebooks.
Json notebook(Json outputs) {
  const char* const source = R"(from unsloth import FastLanguageModel
model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Qwen3-8B", max_seq_length = 2048, load_in_4bit = True,
    gpu_memory_utilization = 0.6) # Reduce if out of memory
model = FastLanguageModel.get_peft_model(model, r = 16)
trainer = SFTTrainer(model = model, args = SFTConfig(per_device_train_batch_size = 16))
if False: model.save_pretrained_merged("model", tokenizer, save_method = "merged_16bit"))";
  return {{"nbformat", 4},
          {"cells", {{{"cell_type", "code"}, {"source", source}, {"outputs", std::move(outputs)}}}}};
}

Json diagnosed(Json outputs) {
  return Json::parse(diagnosis_text(notebook(std::move(outputs)).dump(), "", "", presets()));
}

TEST(NotebookDiagnosis, CommentsInCellsAndTrainingLogsReportNothing) {
  EXPECT_EQ(diagnosed(Json::array()).at("ok"), false);
  const Json log = {
      {{"output_type", "stream"},
       {"text", "11.2 GB of memory reserved.\nUnsloth: Will smartly offload gradients to save VRAM!\n"}}};
  EXPECT_EQ(diagnosed(log).at("ok"), false);
}

TEST(NotebookDiagnosis, AnErrorAmongTheOutputsIsExplainedWithTheRunOfTheCells) {
  const Json found = diagnosed(
      {{{"output_type", "error"},
        {"ename", "OutOfMemoryError"},
        {"traceback",
         {"OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 14.74 GiB "
          "of which 1.10 GiB is free. Process 1 has 13.63 GiB memory in use. Of the allocated memory 12.90 GiB is "
          "allocated by PyTorch, and 220.00 MiB is reserved by PyTorch but unallocated."}}}});
  EXPECT_EQ(found.at("ok"), true);
  EXPECT_THAT(found.at("summary").get<std::string>(), testing::HasSubstr("2.32 GiB were asked for"));
  EXPECT_THAT(found.dump(), testing::HasSubstr("unsloth/Qwen3-8B"));
  EXPECT_THAT(found.dump(), testing::Not(testing::HasSubstr("adapters were merged")));
}

}  // namespace
}  // namespace plimsoll::report
