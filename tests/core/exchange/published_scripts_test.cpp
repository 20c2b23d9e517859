// Commands and notebooks of public READMEs whose settings stand in the script that they start, or in a class's name.
#include <gtest/gtest.h>

#include "core/report/exchange.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

exchange::Import of_published(const std::string& text) {
  return import_known(exchange::read_text(text), text, presets());
}

struct Published {
  const char* says;  // a sentence
  const char* text;
  const char* request;  // pointers and what each must be; null: it is not there
};
const Published published[] = {
    {"a kernel of the Hub is flash attention",
     "accelerate launch trl/scripts/sft.py --model_name_or_path Qwen/Qwen3-4B --max_length 4096 "
     "--attn_implementation kernels-community/flash-attn2",
     R"({"/model_args/attn_implementation": "flash_attention_2"})"},
    {"and the third one in Python",
     "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen3-4B\", "
     "attn_implementation=\"kernels-community/vllm-flash-attn3\")\n"
     "Trainer(model=model, args=TrainingArguments(\"o\", per_device_train_batch_size=8)).train()\n",
     R"({"/model_args/attn_implementation": "flash_attention_3"})"},
    {"a class of PEFT's says the method",
     "model = AutoModelForCausalLM.from_pretrained(\"bigscience/bloomz-560m\")\n"
     "model = get_peft_model(model, PrefixTuningConfig(task_type=\"CAUSAL_LM\", num_virtual_tokens=30))\n"
     "Trainer(model=model, args=TrainingArguments(\"o\", per_device_train_batch_size=8)).train()\n",
     R"({"/peft/peft_type": "PREFIX_TUNING", "/peft/num_virtual_tokens": 30})"},
    {"and IA3's too",
     "model = AutoModelForCausalLM.from_pretrained(\"facebook/opt-1.3b\")\n"
     "model = get_peft_model(model, IA3Config(task_type=\"CAUSAL_LM\"))\n"
     "Trainer(model=model, args=TrainingArguments(\"o\", per_device_train_batch_size=4)).train()\n",
     R"({"/peft/peft_type": "IA3"})"},
    {"run_qa.py scores spans of 384 tokens",
     "python run_qa.py --model_name_or_path google-bert/bert-base-uncased --dataset_name squad --do_train "
     "--per_device_train_batch_size 12",
     R"({"/task": "classification", "/training/max_length": 384})"},
    {"run_glue.py pads to 128 tokens, unless it is told otherwise",
     "python run_glue.py --model_name_or_path google-bert/bert-base-uncased --task_name mrpc --do_train "
     "--max_seq_length 256",
     R"({"/task": "classification", "/training/max_length": 256})"},
    {"run_summarization.py's source is the length",
     "python run_summarization.py --model_name_or_path google-t5/t5-small --do_train --dataset_name xsum "
     "--max_source_length 512 --max_target_length 64 --per_device_train_batch_size 4",
     R"({"/training/max_length": 512})"},
    {"which is 1024 where none is said",
     "python run_translation.py --model_name_or_path google-t5/t5-base --do_train --source_lang en "
     "--target_lang ro --per_device_train_batch_size 4",
     R"({"/training/max_length": 1024})"},
    {"LLaVA's adapters have rank 64",
     "deepspeed llava/train/train_mem.py --lora_enable True --deepspeed ./scripts/zero3.json "
     "--model_name_or_path lmsys/vicuna-7b-v1.5 --version v1 "
     "--vision_tower openai/clip-vit-large-patch14-336 --model_max_length 2048 --bf16 True",
     R"({"/peft/r": 64, "/peft/finetune_vision_layers": false})"},
    {"LMFlow's QLoRA is a base in 4 bits",
     "accelerate launch --config_file configs/accelerate_fsdp_config.yaml examples/finetune.py "
     "--model_name_or_path meta-llama/Llama-3.2-3B-Instruct --use_qlora 1 --quant_bit 4 --lora_r 8 "
     "--block_size 512",
     R"({"/quantization/load_in_4bit": true, "/peft/r": 8})"},
    {"and its LISA trains some layers at a time",
     "accelerate launch examples/finetune.py --model_name_or_path meta-llama/Llama-3.2-3B-Instruct "
     "--use_lisa 1 --lisa_activated_layers 2 --lisa_interval_steps 20 --block_size 512",
     R"({"/training/lisa_activated_layers": 2})"},
    {"what a comment installs is not installed",
     "# !pip install transformers==4.30.0\n"
     "model = AutoModelForCausalLM.from_pretrained(\"facebook/opt-1.3b\")\n"
     "Trainer(model=model, args=TrainingArguments(\"o\", per_device_train_batch_size=4)).train()\n",
     R"({"/versions": null})"},
    {"a script with vllm_device is as old as it",
     "args = GRPOConfig(\"o\", use_vllm=True, vllm_device=\"cuda:1\", num_generations=8)\n"
     "GRPOTrainer(model=\"Qwen/Qwen2.5-1.5B\", args=args, reward_funcs=[score]).train()\n",
     R"({"/rl/vllm_mode": "server", "/versions/trl": "0.15.2"})"},
    {"a GPU of its own trains nothing",
     "accelerate launch train_grpo.py --model_name_or_path Qwen/Qwen2.5-1.5B-Instruct --use_vllm True "
     "--vllm_device auto --num_generations 7 --max_completion_length 1024 --max_prompt_length 512",
     R"({"/rl/vllm_mode": "server"})"},
};

TEST(PublishedScripts, AreReadAsTheyRun) {
  for (const Published& one : published) {
    SCOPED_TRACE(one.says);
    const exchange::Import import = of_published(one.text);
    const Json expected = Json::parse(one.request);
    for (const auto& [pointer, value] : expected.items()) {
      const Json::json_pointer where(pointer);
      EXPECT_EQ(import.request.contains(where) ? import.request[where] : Json(), value) << pointer;
    }
  }
}

TEST(PublishedScripts, TrainersThatAreNotReplayedAreRefusedByName) {
  for (const char* script :
       {"trl/experimental/gkd/gkd.py", "examples/scripts/prm.py", "examples/scripts/online_dpo.py",
        "examples/scripts/nash_md.py", "trl/experimental/sdft/sdft.py"}) {
    const exchange::Import import = of_published(
        "python " + std::string(script) + " --model_name_or_path Qwen/Qwen2-0.5B-Instruct --output_dir o");
    ASSERT_EQ(import.errors.size(), 1U) << script;
    EXPECT_EQ(import.errors.front().code, "unsupported") << script;
  }
  for (const std::string kind : {"OnlineDPO", "TPO", "AsyncGRPO", "SDFT"}) {
    const exchange::Import import = of_published(
        "args = " + kind + "Config(output_dir=\"o\", per_device_train_batch_size=8)\n" + "trainer = " + kind +
        "Trainer(model=\"Qwen/Qwen2-0.5B-Instruct\", args=args)\ntrainer.train()\n");
    ASSERT_EQ(import.errors.size(), 1U) << kind;
    EXPECT_EQ(import.errors.front().code, "unsupported") << kind;
  }
}

// A notebook of these cells, the first one with what it printed.
std::string cells_of(const std::vector<std::string>& sources, const char* printed) {
  Json made = {{"nbformat", 4}, {"metadata", Json::object()}, {"cells", Json::array()}};
  for (const std::string& source : sources) {
    made["cells"].push_back(
        {{"cell_type", "code"}, {"source", source}, {"outputs", Json::array({{{"text", printed}}})}});
  }
  return json::write(made);
}

TEST(PublishedScripts, ACellThatIsLaunchedRunsAsOftenAsTheLauncherSays) {
  const exchange::Import import = of_published(cells_of(
      {"%%writefile train.py\nfrom trl import SFTTrainer, SFTConfig\n"
       "trainer = SFTTrainer(model='Qwen/Qwen2.5-0.5B', args=SFTConfig(max_length=2048))\ntrainer.train()\n",
       "!accelerate launch --num_processes 4 --config_file zero3.yaml train.py\n"},
      ""));
  EXPECT_EQ(import.request.at("parallel"), (Json{{"num_gpus", 4}, {"strategy", "zero3"}}));
}

TEST(PublishedScripts, ACellThatOnlyLaunchesAScriptIsItsCommand) {
  const exchange::Import import = of_published(
      cells_of({"!accelerate launch --num_processes 4 train.py --model_name_or_path Qwen/Qwen2.5-0.5B "
                "--per_device_train_batch_size 2\n"},
               ""));
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(import.request.at("model"), "Qwen/Qwen2.5-0.5B");
  EXPECT_EQ(import.request.at("parallel").at("num_gpus"), 4);
}

TEST(PublishedScripts, WhatACellInstallsAnewIsNotOfItsSavedOutput) {
  const char* old = "Requirement already satisfied: transformers==4.27.4\n";
  const std::string train =
      "model = AutoModelForCausalLM.from_pretrained('facebook/opt-1.3b')\n"
      "Trainer(model=model, args=TrainingArguments('o', per_device_train_batch_size=4)).train()\n";
  EXPECT_FALSE(of_published(cells_of({"!pip install -q transformers peft\n", train}, old))
                   .request.contains("versions"));
  EXPECT_EQ(of_published(cells_of({train}, old)).request.at("versions").at("transformers"), "4.27.4");
}

TEST(PublishedScripts, AFileThatACellWritesIsAPartOfTheText) {
  const std::string notebook = cells_of(
      {"%pip install trl\n", "%%writefile qlora.yaml\nmodel_id: gpt2\nmax_seq_len: 512\nlearning_rate: 0.1\n",
       "!torchrun --nproc_per_node=4 run.py --config qlora.yaml\n"},
      "");
  const Json parts = Json::parse(parts_text(notebook));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0], "model_id: gpt2\nmax_seq_len: 512\nlearning_rate: 0.1");
}

TEST(PublishedScripts, SwiftsUnslothIsSaidNotToBeCounted) {
  const exchange::Import import = of_published(
      "swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --tuner_backend unsloth --max_length 2048");
  EXPECT_TRUE(std::any_of(import.findings.begin(), import.findings.end(), [](const exchange::Finding& one) {
    return one.path == "tuner_backend" && one.use == exchange::Use::unsupported;
  }));
}

}  // namespace
}  // namespace plimsoll::report
