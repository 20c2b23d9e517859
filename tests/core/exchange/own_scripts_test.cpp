// What scripts of other people taught (tests/stacks/by-hand): Python as they write it, each mechanism as a script of ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exchange/releases.h"
#include "core/json/at.h"
#include "tests/core/exchange/any_text.h"

namespace plimsoll::exchange {
namespace {

using json::at;
using json::Json;

std::string script(const std::string& before, const std::string& arguments = "output_dir='out'") {
  return "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n" + before +
         "\ntrainer = Trainer(model=model, args=TrainingArguments(" + arguments + "))\ntrainer.train()\n";
}

std::string model_of(const std::string& lines) {
  return import_any(script(lines + "\nmodel = AutoModelForCausalLM.from_pretrained(name)")).model;
}

TEST(ExchangeOwnScripts, AFormattedStringOfKnownNamesIsAName) {
  EXPECT_EQ(model_of("OWNER = 'mistralai'\nBASE = 'Mistral-7B-v0.1'\nname = f\"{OWNER}/{BASE}\""),
            "mistralai/Mistral-7B-v0.1");
  EXPECT_EQ(model_of("OWNER = 'Qwen'\nname = OWNER + '/' + 'Qwen3-4B'"), "Qwen/Qwen3-4B");
  EXPECT_EQ(model_of("name = f\"{unknown}/Qwen3-4B\""), "");
}

TEST(ExchangeOwnScripts, AFolderOfTheHubsCacheNamesItsModel) {
  EXPECT_EQ(model_of("import os\nbase = '/data/models--Qwen--Qwen3-4B'\n"
                     "name = os.path.join(os.path.join(base, 'snapshots'), os.listdir(base)[0])"),
            "Qwen/Qwen3-4B");
  EXPECT_EQ(model_of("name = snapshot_download(repo_id='Qwen/Qwen3-4B', cache_dir='/data')"),
            "Qwen/Qwen3-4B");
}

TEST(ExchangeOwnScripts, AScriptIsReadAsStartedWithoutArguments) {
  EXPECT_EQ(model_of("import sys\nname = sys.argv[1] if len(sys.argv) > 1 else 'Qwen/Qwen3-4B'"),
            "Qwen/Qwen3-4B");
}

TEST(ExchangeOwnScripts, ALoopStandsForTheFirstOfItsList) {
  const std::string list = "RUNS = [{'id': 'Qwen/Qwen3-4B'}, {'id': 'gpt2'}]\n";
  const std::string body =
      "    model = AutoModelForCausalLM.from_pretrained(run['id'])\n"
      "    Trainer(model=model, args=TrainingArguments(output_dir='out')).train()\n";
  EXPECT_EQ(import_any(list + "for run in RUNS:\n" + body).model, "Qwen/Qwen3-4B");
  EXPECT_EQ(import_any(list + "for i, run in enumerate(RUNS, 1):\n" + body).model, "Qwen/Qwen3-4B");
}

TEST(ExchangeOwnScripts, ABackslashKeepsTheQuoteOfARawString) {
  EXPECT_EQ(model_of("import re\nrow = re.sub(r'[^\\s\\'\",!?]', '', row)\nname = 'Qwen/Qwen3-4B'"),
            "Qwen/Qwen3-4B");
}

TEST(ExchangeOwnScripts, WhatAConditionLeavesOutIsNotCalled) {
  const Import import = import_any(script(
      "@dataclass\nclass Arguments:\n    use_peft: bool = field(default=False)\n    quantize: bool = False\n"
      "def main(args):\n"
      "    bnb = BitsAndBytesConfig(load_in_4bit=True) if args.quantize else None\n"
      "    peft_config = LoraConfig(r=256) if args.use_peft else None\n"
      "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')"));
  EXPECT_FALSE(import.request.contains("quantization")) << import.request.dump();
  EXPECT_FALSE(import.request.contains("peft")) << import.request.dump();
}

TEST(ExchangeOwnScripts, AnAttributeIsAnArgumentOfItsCall) {
  const Import import = import_any(
      "model = AutoModelForMaskedLM.from_pretrained('bert-base-uncased')\n"
      "args = TrainingArguments(output_dir='out', per_device_train_batch_size=4)\n"
      "args.eval_strategy = 'epoch'\nargs.per_device_train_batch_size = 16\nargs.save_total_limit = 2\n"
      "trainer = Trainer(model=model, args=args)\n");
  const Json& training = import.request["training"];
  EXPECT_EQ(at(training, "per_device_train_batch_size"), Json(16));
  EXPECT_EQ(at(training, "eval_strategy"), Json("epoch"));
  EXPECT_EQ(at(training, "save_total_limit"), Json(2));
}

TEST(ExchangeOwnScripts, AFunctionKnowsWhatTheOuterOneIsGiven) {
  const Import import = import_any(
      "def train(base_model='Qwen/Qwen3-4B', cutoff: int = 256):\n"
      "    def tokenize(prompt):\n"
      "        return tokenizer(prompt, truncation=True, max_length=cutoff)\n"
      "    model = AutoModelForCausalLM.from_pretrained(base_model)\n"
      "    trainer = Trainer(model=model, args=TrainingArguments(output_dir='out'))\n");
  EXPECT_EQ(at(import.request["training"], "max_length"), Json(256));
}

TEST(ExchangeOwnScripts, ATokenizerIsReadWithinAFunctionThatMapTakes) {
  for (const char* data : {"data.map(", "data['train'].map(", "data['train'].shuffle(seed=1).map("}) {
    const Import import =
        import_any(script(std::string("rows = ") + data +
                          "lambda row: tokenizer(row['text'], max_length=384), batched=True)\n"
                          "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')"));
    EXPECT_EQ(at(import.request["training"], "max_length"), Json(384)) << data;
  }
}

TEST(ExchangeOwnScripts, ATokenizerOfAnyNameIsToldByItsTruncation) {
  const auto length_of = [](const std::string& call) {
    const Import import = import_any(script("rows = data.map(lambda row: " + call + ", batched=True)\n" +
                                            "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')"));
    return at(import.request["training"], "max_length");
  };
  EXPECT_EQ(length_of("tok(row['text'], truncation=True, max_length=384)"), Json(384));
  EXPECT_TRUE(length_of("tok(row['text'], truncation=False, max_length=384)").is_null());
  EXPECT_TRUE(length_of("plot(row['text'], max_length=384)").is_null());
}

TEST(ExchangeOwnScripts, WhatIsCountedIsThere) {
  const Import import =
      import_any(script("held = 0\nheld = len(data)\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')",
                        "eval_strategy='steps' if held > 0 else 'no'"));
  EXPECT_EQ(at(import.request["training"], "eval_strategy"), Json("steps"));
}

TEST(ExchangeOwnScripts, AnAdapterThatIsTrainedOnIsOne) {
  const Import import = import_any(
      "base = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
      "model = PeftModel.from_pretrained(base, 'out/sft', is_trainable=True)\n"
      "trainer = DPOTrainer(model=model, args=DPOConfig(output_dir='out'))\n");
  EXPECT_TRUE(at(import.request, "peft").is_object());
  EXPECT_THAT(import.notes, testing::Contains(testing::HasSubstr("adapter_config.json")));
  const Import merged =
      import_any(script("model = AutoModelForCausalLM.from_pretrained('gpt2')\n"
                        "done = PeftModel.from_pretrained(model, 'out')"));
  EXPECT_FALSE(at(merged.request, "peft").is_object());
}

TEST(ExchangeOwnScripts, AQuantisedBaseThatNothingPreparesIsLeftAsItIs) {
  const std::string base =
      "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B', load_in_4bit=True)\n";
  const auto prepared = [](const Import& import) {
    return at(import.request["quantization"], "prepare_for_kbit_training");
  };
  EXPECT_EQ(prepared(import_any(script(base + "model = get_peft_model(model, LoraConfig(r=8))"))),
            Json(false));
  EXPECT_EQ(prepared(import_any(script(base + "model = prepare_model_for_kbit_training(model)\n"
                                              "model = get_peft_model(model, LoraConfig(r=8))"))),
            Json(true));
}

TEST(ExchangeOwnScripts, TrlTakesWhatTrainingArgumentsLeaveOff) {
  const Import import = import_any(
      "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
      "trainer = SFTTrainer(model=model, args=TrainingArguments(output_dir='out', fp16=True))\n");
  EXPECT_EQ(at(import.request["training"], "gradient_checkpointing"), Json(false));
  EXPECT_EQ(at(import.request["training"], "bf16"), Json(false));
}

TEST(ExchangeOwnScripts, WithoutAWordOfAdaptersAllIsTrained) {
  const std::string model = "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')";
  const Import full = import_any(script(model));
  ASSERT_TRUE(full.request.contains("peft"));
  EXPECT_TRUE(full.request["peft"].is_null());
  EXPECT_FALSE(import_any(script(model + "  # LoRA follows")).request.contains("peft"));
}

TEST(ExchangeOwnScripts, ALoopOfItsOwnCountsItsMicroBatches) {
  const Import import = import_any(
      "GRADIENT_ACCUMULATION_STEPS = 8\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')\n"
      "loader = DataLoader(data, batch_size=1)\nloss.backward()\n");
  EXPECT_EQ(at(import.request["training"], "gradient_accumulation_steps"), Json(8));
}

TEST(ExchangeOwnScripts, ASizeThatIsNotEvaluatedIsAskedFor) {
  const Import import = import_any(
      "import config as cfg\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
      "args = DPOConfig(per_device_train_batch_size=cfg.batch, max_length=cfg.length, learning_rate=cfg.rate)\n"
      "trainer = DPOTrainer(model=model, args=args)\n");
  std::vector<std::string> asked;
  for (const run::Missing& one : import.missing) asked.push_back(one.pointer);
  EXPECT_THAT(asked,
              testing::UnorderedElementsAre("/training/per_device_train_batch_size", "/training/max_length"));
}

// TRL 0.12.2 and 0.13.0 trl/trainer/sft_trainer.py, 0.15.2 and 0.16.1 dpo_trainer.py.
TEST(ExchangeOwnScripts, WhatLaterReleasesRefuseSaysHowOldAScriptIs) {
  const auto release = [](const std::string& call, const std::string& before = "") {
    const std::string text = before + "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n" +
                             "trainer = " + call + "\n";
    const Document document = read_any(text);
    Import import = import_document(document, text);
    add_versions(import, document, text);
    add_release(import, document, text);
    return at(at(import.request, "versions"), "trl");
  };
  EXPECT_EQ(release("SFTTrainer(model=model, max_seq_length=512)"), Json("0.12.2"));
  EXPECT_EQ(release("DPOTrainer(model=model, tokenizer=tokenizer)"), Json("0.15.2"));
  EXPECT_EQ(release("SFTTrainer(model=model, processing_class=tokenizer)"), Json());
  EXPECT_EQ(release("SFTTrainer(model=model, packing=True)", "# trl==0.9.6\n"), Json("0.9.6"));
  EXPECT_EQ(release("SFTTrainer(model=model, tokenizer=t)", "from trl.commands.cli_utils import TrlParser\n"),
            Json("0.12.2"));
  EXPECT_EQ(release("SFTTrainer(model=model, max_seq_length=512)", "from unsloth import FastLanguageModel\n"),
            Json());
}

TEST(ExchangeOwnScripts, WhatAFunctionGivesBackIsSpread) {
  const Import import = import_any(
      script("@dataclass\nclass Arguments:\n    attention: str = 'flash_attention_2'\n"
             "    def loading(self):\n        kwargs = {'torch_dtype': 'auto'}\n"
             "        kwargs['attn_implementation'] = self.attention\n        return kwargs\n"
             "args = HfArgumentParser(Arguments).parse_args_into_dataclasses()[0]\nkwargs = args.loading()\n"
             "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B', **kwargs)"));
  EXPECT_EQ(at(import.request["model_args"], "attn_implementation"), Json("flash_attention_2"));
}

TEST(ExchangeOwnScripts, WhatNothingCallsLoadsNoModel) {
  const std::string loaded = "def plain():\n    return AutoModelForCausalLM.from_pretrained('gpt2')\n";
  EXPECT_EQ(model_of(loaded + "name = 'Qwen/Qwen3-4B'"), "Qwen/Qwen3-4B");
  EXPECT_EQ(
      import_any(loaded + "first = plain()\nlast = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
                          "Trainer(model=build(), args=TrainingArguments('out'))\n")
          .model,
      "gpt2");
  EXPECT_EQ(import_any(script("@app.command()\n" + loaded)).model, "gpt2");
}

TEST(ExchangeOwnScripts, AListThatAConditionTakesKeepsItsItems) {
  const Import import =
      import_any(script("WIDE = True\nnames = ['q_proj', 'v_proj'] if WIDE else ['q_proj']\n"
                        "config = LoraConfig(r=8, target_modules=names)\n"
                        "model = AutoModelForCausalLM.from_pretrained('gpt2')"));
  EXPECT_EQ(at(import.request["peft"], "target_modules"), Json::array({"q_proj", "v_proj"}));
}

TEST(ExchangeOwnScripts, ADataSetThatIsLoadedIsThere) {
  const auto evaluates = [](const std::string& condition) {
    const Import import =
        import_any(script("rows = read('test.json')\ntest_rows = read('test.json')\n"
                          "eval_dataset = Dataset.from_list(test_rows) if test_rows else None\n"
                          "model = AutoModelForCausalLM.from_pretrained('gpt2')",
                          "eval_strategy='steps' if " + condition + " else 'no'"));
    return at(import.request["training"], "eval_strategy");
  };
  EXPECT_EQ(evaluates("eval_dataset"), Json("steps"));
  EXPECT_EQ(evaluates("eval_dataset is not None"), Json("steps"));
  EXPECT_EQ(evaluates("anything"), Json());
}

// trl/trainer/sft_trainer.py _prepare_dataset.
TEST(ExchangeOwnScripts, RowsThatAreNotPreparedAreNotCut) {
  const auto training = [](const std::string& map) {
    return import_any("model = AutoModelForCausalLM.from_pretrained('gpt2')\n" + map +
                      "args = SFTConfig(dataset_kwargs={'skip_prepare_dataset': True})\n"
                      "SFTTrainer(model=model, args=args).train()\n")
        .request["training"];
  };
  EXPECT_EQ(at(training(""), "truncation_strategy"), Json("none"));
  EXPECT_EQ(at(training("rows.map(lambda r: tokenizer(r, truncation=True, max_length=700))\n"), "max_length"),
            Json(700));
}

// unsloth/models/rl.py check_num_generations.
TEST(ExchangeOwnScripts, UnslothRaisesABatchThatTheGenerationsDoNotDivide) {
  const auto batch = [](const std::string& arguments) {
    const Import import = import_any(
        "from unsloth import FastLanguageModel\n"
        "model, tokenizer = FastLanguageModel.from_pretrained('unsloth/Qwen3-4B', max_seq_length=1024)\n"
        "args = GRPOConfig(num_generations=4, per_device_train_batch_size=1, " +
        arguments + ")\nGRPOTrainer(model=model, args=args).train()\n");
    return at(import.request["training"], "per_device_train_batch_size");
  };
  EXPECT_EQ(batch("gradient_accumulation_steps=1"), Json(4));
  EXPECT_EQ(batch("gradient_accumulation_steps=4"), Json(1));
  EXPECT_EQ(batch("gradient_accumulation_steps=1, steps_per_generation=4"), Json(1));
}

TEST(ExchangeOwnScripts, AnAdapterThatIsTrainedOnIsAskedForItsRankAndModules) {
  const Import import = import_any(
      "base = AutoModelForCausalLM.from_pretrained('microsoft/Phi-3.5-mini-instruct')\n"
      "model = PeftModel.from_pretrained(base, 'out/sft', is_trainable=True)\n"
      "DPOTrainer(model=model, args=DPOConfig(beta=0.1)).train()\n");
  std::vector<std::string> asked;
  for (const run::Missing& one : import.missing) asked.push_back(one.pointer);
  EXPECT_THAT(asked, testing::UnorderedElementsAre("/peft/r", "/peft/target_modules"));
  EXPECT_EQ(at(import.request["peft"], "target_modules"), Json("all-linear"));
}

TEST(ExchangeOwnScripts, AFolderThatMayExistGoesBehindTheHubsName) {
  EXPECT_EQ(model_of("LOCAL = os.path.join(HERE, 'cache')\n"
                     "name = LOCAL if os.path.exists(LOCAL) else 'Qwen/Qwen3-4B'"),
            "Qwen/Qwen3-4B");
}

TEST(ExchangeOwnScripts, AParametersDefaultMaySayTheLength) {
  const Import import =
      import_any(script("def preprocess(rows, max_seq_length=256):\n    return rows[:max_seq_length]\n"
                        "data = data.map(preprocess)\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')"));
  EXPECT_EQ(at(import.request["training"], "max_length"), Json(256));
}

TEST(ExchangeOwnScripts, ALoopThatSpeaksOfNoAccumulationStepsEachBatch) {
  const auto steps = [](const std::string& before) {
    const Import import = import_any(
        "model = AutoModelForCausalLM.from_pretrained('gpt2')\nloader = DataLoader(data, batch_size=4)\n" +
        before +
        "for batch in loader:\n    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n");
    return at(import.request["training"], "gradient_accumulation_steps");
  };
  EXPECT_EQ(steps(""), Json(1));
  EXPECT_EQ(steps("accelerator.accumulate(model)\n"), Json());
}

// bitsandbytes 0.50.2 optim/adamw.py, adam.py, lion.py, rmsprop.py, sgd.py: is_paged=True only in the classes called
// Paged, optim_bits 8 in those called 8bit.
TEST(ExchangeOwnScripts, OnlyPagedOptimizersOfBitsandbytesArePaged) {
  const auto optim = [](const std::string& call, const std::string& before = "") {
    const Import import =
        import_any("import bitsandbytes as bnb\n" + before +
                   "model = AutoModelForCausalLM.from_pretrained('gpt2')\noptimizer = " + call +
                   "\nfor batch in loader:\n    loss.backward()\n    optimizer.step()\n");
    return at(import.request["training"], "optim");
  };
  EXPECT_EQ(optim("bnb.optim.AdamW32bit(model.parameters())"), Json("adamw_apex_fused"));
  EXPECT_EQ(optim("bnb.optim.Adam(model.parameters(), lr=1e-4)"), Json("adamw_apex_fused"));
  EXPECT_EQ(optim("AdamW(model.parameters())", "from bitsandbytes.optim import AdamW\n"),
            Json("adamw_apex_fused"));
  EXPECT_EQ(optim("AdamW(model.parameters())", "from torch.optim import AdamW\n"), Json("adamw_torch"));
  EXPECT_EQ(optim("bnb.optim.AdamW(model.parameters(), optim_bits=8)"), Json("adamw_8bit"));
  EXPECT_EQ(optim("bnb.optim.AdamW8bit(model.parameters(), is_paged=True)"), Json("paged_adamw_8bit"));
  EXPECT_EQ(optim("bnb.optim.PagedAdam32bit(model.parameters())"), Json("paged_adamw_32bit"));
  EXPECT_EQ(optim("bnb.optim.Lion32bit(model.parameters())"), Json("lion_32bit"));
  EXPECT_EQ(optim("bnb.optim.RMSprop(model.parameters())"), Json("rmsprop_bnb"));
  EXPECT_EQ(optim("bnb.optim.SGD(model.parameters(), momentum=0.9)"), Json("rmsprop_bnb"));
}

TEST(ExchangeOwnScripts, AnOptimizerThatStandsInForAnotherIsTold) {
  const std::string rest = "for batch in loader:\n    loss.backward()\n    optimizer.step()\n";
  const std::string model = "model = AutoModelForCausalLM.from_pretrained('gpt2')\n";
  const Import told = import_any(model + "optimizer = bnb.optim.AdamW32bit(model.parameters())\n" + rest);
  EXPECT_THAT(told.notes, testing::Contains(testing::HasSubstr("AdamW32bit is counted as adamw_apex_fused")));
  const Import same = import_any(model + "optimizer = bnb.optim.AdamW8bit(model.parameters())\n" + rest);
  EXPECT_THAT(same.notes, testing::Not(testing::Contains(testing::HasSubstr("is counted as"))));
}

TEST(ExchangeOwnScripts, TypesThatAParserIsGivenSayTheTask) {
  const Import import = import_any(
      "from trl import TrlParser\n"
      "parser = TrlParser((ScriptArguments, GRPOConfig, ModelConfig))\n"
      "trainer = OwnGRPOTrainer(model=model_args.model_name_or_path, args=training_args)\n");
  EXPECT_TRUE(import.errors.empty());
  EXPECT_EQ(at(import.request, "task"), Json("grpo"));
}

TEST(ExchangeOwnScripts, ArgumentsThatNothingSetsAreAskedForTheirSizes) {
  const Import import = import_any(
      "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
      "trainer = SFTTrainer(model=model, args=training_arguments)\ntrainer.train()\n");
  std::vector<std::string> asked;
  for (const run::Missing& one : import.missing) asked.push_back(one.pointer);
  EXPECT_THAT(asked, testing::UnorderedElementsAre("/training/per_device_train_batch_size",
                                                   "/training/gradient_accumulation_steps"));
  const Import set = import_any(
      "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\nargs = SFTConfig(max_length=512)\n"
      "trainer = SFTTrainer(model=model, args=args)\ntrainer.train()\n");
  EXPECT_TRUE(set.missing.empty());
}

TEST(ExchangeOwnScripts, AScriptWhoseValuesAllStandElsewhereIsOne) {
  const Import import = import_any(
      "config = yaml.safe_load(open('config.yaml'))\nmodel = load(config)\n"
      "args = TrainingArguments(per_device_train_batch_size=config['training']['batch'])\n"
      "trainer = Trainer(model=model, args=args)\ntrainer.train()\n");
  EXPECT_TRUE(import.errors.empty());
  ASSERT_EQ(import.missing.size(), 1u);
  EXPECT_EQ(import.missing[0].pointer, "/training/per_device_train_batch_size");
}

}  // namespace
}  // namespace plimsoll::exchange
