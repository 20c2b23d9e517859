// What Unsloth's classes train where a script leaves it to them. The counts are those that Unsloth printed into
// its own published notebooks ("Trainable parameters = 51,521,536").
#include <gtest/gtest.h>

#include "core/exchange/tree.h"
#include "core/report/exchange.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using json::Json;

struct Notebook {
  const char* loads;   ///< the class and the model
  const char* adapts;  ///< arguments of get_peft_model
  uint64_t trains;
};

constexpr Notebook notebooks[] = {
    {R"(FastVisionModel.from_pretrained("unsloth/Qwen2.5-VL-7B-Instruct-bnb-4bit", load_in_4bit = True))",
     "r = 16, finetune_vision_layers = True, finetune_language_layers = True", 51521536},
    {R"(FastVisionModel.from_pretrained("unsloth/Qwen2-VL-7B-Instruct", load_in_4bit = True))", "r = 16",
     50855936},
    {R"(FastVisionModel.from_pretrained("unsloth/Llama-3.2-11B-Vision-Instruct", load_in_4bit = True))",
     "r = 16", 67174400},
    {R"(FastModel.from_pretrained("unsloth/LFM2-1.2B", load_in_4bit = False))",
     "r = 16, finetune_vision_layers = False", 9142272},
    {R"(FastModel.from_pretrained("unsloth/gemma-3-4b-it", load_in_4bit = True))",
     "r = 8, finetune_vision_layers = False", 14901248},
    {R"(FastLanguageModel.from_pretrained("unsloth/mistral-7b-v0.3", load_in_4bit = True))",
     R"(r = 128, target_modules = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",
        "embed_tokens", "lm_head"])",
     603979776},
};

std::string script(const Notebook& notebook) {
  const std::string loads = notebook.loads;
  const std::string name = loads.substr(0, loads.find('.'));
  return "from unsloth import " + name + "\nmodel, tokenizer = " + loads + "\nmodel = " + name +
         ".get_peft_model(model, " + notebook.adapts +
         ")\nargs = SFTConfig(per_device_train_batch_size = 2, max_length = 2048)\n";
}

TEST(UnslothTargets, TheTrainedCountIsTheOneThatUnslothPrints) {
  for (const Notebook& notebook : notebooks) {
    const std::string text = script(notebook);
    const exchange::Import import = import_known(exchange::read_text(text), text, presets());
    ASSERT_TRUE(import.errors.empty()) << text;
    const Json report = answer(import.request);
    ASSERT_EQ(report.at("ok"), true) << report;
    EXPECT_EQ(report.at("/model/trainable"_json_pointer), notebook.trains) << text;
  }
}

}  // namespace
}  // namespace plimsoll::report
