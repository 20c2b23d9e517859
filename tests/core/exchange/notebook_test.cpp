// Notebooks of Colab and Kaggle: what their code cells set. The shapes of the cells are those of Unsloth's,
// Axolotl's and ms-swift's published notebooks.
#include "core/exchange/notebook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exchange/import.h"
#include "core/exchange/patch.h"

namespace plimsoll::exchange {
namespace {

using json::Json;

struct Cell {
  const char* type;
  std::string source;
};

std::string notebook(const std::vector<Cell>& cells) {
  Json made = {
      {"nbformat", 4}, {"nbformat_minor", 5}, {"metadata", Json::object()}, {"cells", Json::array()}};
  for (const Cell& cell : cells) {
    made["cells"].push_back({{"cell_type", cell.type},
                             {"metadata", Json::object()},
                             {"source", Json::array({cell.source})},
                             {"outputs", Json::array({{{"text", "((((((("}}})}});
  }
  return json::write(made, true);
}

const char* const loading = R"(from unsloth import FastLanguageModel
max_seq_length = 2048
model, tokenizer = FastLanguageModel.from_pretrained(
    "unsloth/Qwen2.5-7B-Instruct", # any model
    max_seq_length = max_seq_length,
    load_in_4bit = True,
)
model = FastLanguageModel.get_peft_model(model, r = 16, lora_alpha = 16, use_gradient_checkpointing = "unsloth")
)";
const char* const training = R"(max_prompt_length = 287 + 1 # just in case
training_args = GRPOConfig(
    per_device_train_batch_size = 1,
    num_generations = 16 // 2,
    max_prompt_length = max_prompt_length,
    max_completion_length = max_seq_length - max_prompt_length,
    gradient_accumulation_steps = 2 + 2 * 3,
))";
const char* const using_it = R"(if False:
    from unsloth import FastLanguageModel
    model, tokenizer = FastLanguageModel.from_pretrained(model_name = "lora_model", load_in_4bit = False))";

Import read(const std::string& text) { return import_document(read_text(text), text); }

TEST(ExchangeNotebook, CodeCellsAreReadAsOneScriptAndOtherCellsAreNot) {
  const Import import = read(notebook({{"markdown", "max_seq_length = 512, see from_pretrained(\"gpt2\")"},
                                       {"code", "!pip install unsloth"},
                                       {"code", loading},
                                       {"code", training},
                                       {"code", using_it}}));
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.format->id, "unsloth");
  EXPECT_EQ(import.request["training"]["max_length"], 2048);
  EXPECT_EQ(import.request["peft"]["r"], 16);
  EXPECT_THAT(import.notes, testing::Contains(testing::HasSubstr("code cells")));
}

TEST(ExchangeNotebook, TheModelIsTheOneThatIsTrainedNotTheOneThatIsLoadedAgainAfterwards) {
  const Import import = read(notebook({{"code", loading}, {"code", training}, {"code", using_it}}));
  EXPECT_EQ(import.model, "unsloth/Qwen2.5-7B-Instruct");
  EXPECT_EQ(import.request["quantization"]["load_in_4bit"], true);
}

TEST(ExchangeNotebook, ACodecBesideASpeechModelIsNotTheModel) {
  const Import import =
      read(notebook({{"code", "codec = XCodec2Model.from_pretrained(\"HKUST-Audio/xcodec2\")"},
                     {"code", loading},
                     {"code", training}}));
  EXPECT_EQ(import.model, "unsloth/Qwen2.5-7B-Instruct");
}

TEST(ExchangeNotebook, WholeNumbersAreWorkedOutAndOtherExpressionsAreNot) {
  const Import import = read(notebook({{"code", loading}, {"code", training}}));
  EXPECT_EQ(import.request["rl"]["max_prompt_length"], 288);
  EXPECT_EQ(import.request["rl"]["max_completion_length"], 2048 - 288);
  EXPECT_EQ(import.request["rl"]["num_generations"], 8);
  EXPECT_EQ(import.request["training"]["gradient_accumulation_steps"], 8);
  const Import other = read(
      "args = TrainingArguments(per_device_train_batch_size=len(data) - 2, gradient_accumulation_steps=4)");
  ASSERT_TRUE(other.errors.empty());
  EXPECT_EQ(other.request["training"], Json({{"gradient_accumulation_steps", 4}}));
}

// Unsloth's Phi-4 GRPO notebook: what the model may hold is more than a prompt and a completion need.
TEST(ExchangeNotebook, TheLengthOfAnUnslothModelIsNotThatOfAGrpoRow) {
  const Import import = read(notebook({{"code", "import os\nos.environ[\"UNSLOTH_VLLM_STANDBY\"] = \"1\""},
                                       {"code", R"(from unsloth import FastLanguageModel
model, tokenizer = FastLanguageModel.from_pretrained(
    model_name = "unsloth/Phi-4", max_seq_length = 512, load_in_4bit = True, fast_inference = True)
args = GRPOConfig(max_prompt_length = 256, max_completion_length = 200, num_generations = 6))"}}));
  EXPECT_FALSE(import.request.value("training", Json::object()).contains("max_length"));
  EXPECT_EQ(import.request["rl"]["max_completion_length"], 200);
  EXPECT_EQ(import.request["rl"]["vllm_enable_sleep_mode"], true);
}

// Unsloth's Qwen3-4B GRPO notebook warms up with a few steps of SFT.
TEST(ExchangeNotebook, OfTwoTrainersTheLastIsReadAndTheOtherNamed) {
  const Import import = read(notebook(
      {{"code", loading},
       {"code", "trainer = SFTTrainer(model = model, args = SFTConfig(per_device_train_batch_size = 1))"},
       {"code", training},
       {"code", "trainer = GRPOTrainer(model = model, args = training_args)"}}));
  EXPECT_EQ(import.request["task"], "grpo");
  EXPECT_EQ(import.request["rl"]["num_generations"], 8);
  EXPECT_THAT(import.notes, testing::Contains(testing::HasSubstr("not that of \"sft\"")));
}

TEST(ExchangeNotebook, AxolotlsKeysInACallAreAxolotls) {
  const Import import = read(notebook({{"code", R"(config = DictDefault(
    base_model="Qwen/Qwen3-14B",
    load_in_4bit=True,
    adapter="qlora",
    lora_r=32,
    lora_alpha=64,
    micro_batch_size=1,
    sequence_len=4096,
))"}}));
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.format->id, "axolotl");
  EXPECT_EQ(import.request["training"]["max_length"], 4096);
  EXPECT_EQ(import.request["peft"]["r"], 32);
}

TEST(ExchangeNotebook, ACellThatStartsAProgramIsReadAsItsCommand) {
  const Import import = read(notebook({{"code", "!pip install ms-swift -U --quiet --upgrade"},
                                       {"code",
                                        "!swift sft \\\n    --model Qwen/Qwen2.5-7B-Instruct \\\n    "
                                        "--lora_rank 8 \\\n    --max_length 1024"}}));
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.format->id, "ms-swift");
  EXPECT_EQ(import.request["training"]["max_length"], 1024);
}

TEST(ExchangeNotebook, APatchGivesTheScriptBackNotABrokenNotebook) {
  const std::string text = notebook({{"code", loading}, {"code", training}});
  const Document document = read_text(text);
  const Patch patch = patch_document(document, text_of(document, text), {{"/peft/r", 8}});
  ASSERT_TRUE(patch.errors.empty());
  EXPECT_THAT(patch.text, testing::HasSubstr("get_peft_model(model, r = 8,"));
  EXPECT_THAT(patch.text, testing::Not(testing::HasSubstr("nbformat")));
}

// The cells come back in the same JSON: outputs, metadata and every other line as they were.
TEST(ExchangeNotebook, APatchIsPutBackIntoTheNotebook) {
  const std::string lines = R"json({"cells": [
 {"cell_type": "markdown", "source": ["# max_seq_length = 2048"]},
 {"cell_type": "code", "outputs": [{"text": "max_seq_length = 2048"}], "source": [
  "from unsloth import FastLanguageModel\n",
  "max_seq_length = 2048 # \u00e4 \"any\" \ud83e\udda5\n",
  "model, tokenizer = FastLanguageModel.from_pretrained(\n",
  "    \"unsloth/Qwen2.5-7B-Instruct\",\n",
  "    max_seq_length = max_seq_length,\n",
  "    load_in_4bit = True,\n",
  ")"]},
 {"cell_type": "code", "source": "from trl import SFTTrainer, SFTConfig\ntrainer = SFTTrainer(model = model, args = SFTConfig(\n    per_device_train_batch_size = 2,\n    optim = \"adamw_8bit\",\n))\ntrainer.train()"}],
 "nbformat": 4, "nbformat_minor": 5, "metadata": {}
}
)json";
  const Document document = read_text(lines);
  Patch patch =
      patch_document(document, text_of(document, lines),
                     {{"/training/max_length", 1024}, {"/training/per_device_train_batch_size", 1}});
  ASSERT_TRUE(patch.errors.empty());
  put_in_notebook(document, lines, patch);
  std::string wanted = lines;
  const auto change = [&wanted](const std::string& from, const std::string& to) {
    const size_t at = wanted.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    wanted.replace(at, from.size(), to);
  };
  change("max_seq_length = 2048 # ", "max_seq_length = 1024 # ");
  change("per_device_train_batch_size = 2", "per_device_train_batch_size = 1");
  EXPECT_EQ(patch.text, wanted);
  EXPECT_EQ(edited(lines, patch.edits), wanted);
  EXPECT_THAT(patch.diff, testing::HasSubstr("max_seq_length = 1024"));
}

TEST(ExchangeNotebook, ALineThatIsAddedIsOneMoreLineOfItsCell) {
  const std::string text = notebook({{"code", loading}, {"markdown", "Then"}, {"code", training}});
  const Document document = read_text(text);
  Patch patch =
      patch_document(document, text_of(document, text), {{"/training/gradient_accumulation_steps", 16}});
  ASSERT_TRUE(patch.errors.empty());
  ASSERT_TRUE(patch.left_out.empty());
  const std::string code = patch.text;
  put_in_notebook(document, text, patch);
  const Document again = read_text(patch.text);
  ASSERT_TRUE(again.errors.empty());
  EXPECT_EQ(again.code, code);
  EXPECT_TRUE(is_notebook(patch.text));
}

// `adafactor=True` wins over the optim that was put before it: the line would have changed nothing.
TEST(Notebook, IsNotPatchedWhereItWouldStillSayWhatItSaid) {
  const std::string text =
      notebook({{"code",
                 "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
                 "model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-3.2-1B\")\n"
                 "args = TrainingArguments(\n    output_dir=\"out\",\n"
                 "    per_gpu_train_batch_size=2,\n    adafactor=True,\n"
                 "    num_train_epochs=1,\n)\n"
                 "trainer = Trainer(model=model, args=args)\ntrainer.train()\n"}});
  const Document document = read_notebook(text);
  const Patch patch = patch_document(document, text_of(document, text), {{"/training/optim", "adamw_8bit"}});
  ASSERT_EQ(patch.errors.size(), 1u);
  EXPECT_EQ(patch.errors.front().code, "not_writable");
}

}  // namespace
}  // namespace plimsoll::exchange
