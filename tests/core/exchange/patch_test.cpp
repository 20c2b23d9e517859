// A pasted file with changes comes back as its owner wrote it, but for the lines of those changes; reading it
// again gives the changed request.
#include "core/exchange/export.h"
#include "tests/core/exchange/patched.h"

namespace plimsoll::exchange {
namespace {

using json::Json;

TEST(ExchangePatch, JsonKeepsItsLinesAndOrder) {
  const std::string text = R"({
  "model_name_or_path": "mistralai/Mistral-7B-v0.3",
  "output_dir": "out",
  "per_device_train_batch_size": 8,
  "learning_rate": 2e-5,
  "gradient_accumulation_steps": 2,
  "bf16": true
}
)";
  EXPECT_EQ(changed(text, {{"/training/per_device_train_batch_size", 2},
                           {"/training/gradient_accumulation_steps", 8},
                           {"/training/gradient_checkpointing", true}}),
            "-  \"per_device_train_batch_size\": 8,\n"
            "+  \"per_device_train_batch_size\": 2,\n"
            "-  \"gradient_accumulation_steps\": 2,\n"
            "-  \"bf16\": true\n"
            "+  \"gradient_accumulation_steps\": 8,\n"
            "+  \"bf16\": true,\n"
            "+  \"gradient_checkpointing\": true\n");
}

TEST(ExchangePatch, MembersOfJsonGoWithTheirCommas) {
  const std::string text =
      R"({"model": "gpt2", "training": {"bf16": true, "packing": true, "max_length": 512}})";
  const Patch first = patch_document(read_any(text), text, {{"/training/bf16", nullptr}});
  EXPECT_EQ(first.text, R"({"model": "gpt2", "training": {"packing": true, "max_length": 512}})");
  const Patch last = patch_document(read_any(text), text,
                                    {{"/training/max_length", nullptr}, {"/training/packing", nullptr}});
  EXPECT_EQ(last.text, R"({"model": "gpt2", "training": {"bf16": true}})");
}

TEST(ExchangePatch, DeepSpeedStageChangesInPlace) {
  const std::string text = R"({
    "zero_optimization": {
        "stage": 2,
        "overlap_comm": true
    },
    "bf16": {"enabled": "auto"},
    "train_micro_batch_size_per_gpu": "auto"
}
)";
  EXPECT_EQ(changed(text, {{"/parallel/strategy", "zero3"}}),
            "-        \"stage\": 2,\n+        \"stage\": 3,\n");
}

TEST(ExchangePatch, KeywordArgumentsChangeAndKeepTheirComments) {
  const std::string text = R"(from trl import SFTConfig, SFTTrainer
from peft import LoraConfig

model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.3", torch_dtype=torch.float32)
peft_config = LoraConfig(r=64, lora_alpha=16, target_modules=["q_proj", "v_proj"])  # as in the paper
args = SFTConfig(
    output_dir="out",
    per_device_train_batch_size=8,  # fits an 80 GB card
    max_length=4096,
    bf16=True,  # Ampere and newer
)
)";
  EXPECT_EQ(
      changed(text, {{"/training/per_device_train_batch_size", 2},
                     {"/training/gradient_accumulation_steps", 4},
                     {"/peft/r", 16},
                     {"/model_args/dtype", "bfloat16"}}),
      "-model = AutoModelForCausalLM.from_pretrained(\"mistralai/Mistral-7B-v0.3\", "
      "torch_dtype=torch.float32)\n"
      "-peft_config = LoraConfig(r=64, lora_alpha=16, target_modules=[\"q_proj\", \"v_proj\"])  # as in the "
      "paper\n"
      "+model = AutoModelForCausalLM.from_pretrained(\"mistralai/Mistral-7B-v0.3\", "
      "torch_dtype=torch.bfloat16)\n"
      "+peft_config = LoraConfig(r=16, lora_alpha=16, target_modules=[\"q_proj\", \"v_proj\"])  # as in the "
      "paper\n"
      "-    per_device_train_batch_size=8,  # fits an 80 GB card\n"
      "+    per_device_train_batch_size=2,  # fits an 80 GB card\n"
      "+    gradient_accumulation_steps=4,\n");
}

TEST(ExchangePatch, AnArgumentBehindTheLastOneGetsItsComma) {
  const std::string text = "args = SFTConfig(\n    max_length=512,\n    bf16=True  # no comma\n)\n";
  EXPECT_EQ(changed(text, {{"/training/gradient_checkpointing", true}}),
            "-    bf16=True  # no comma\n"
            "+    bf16=True,  # no comma\n"
            "+    gradient_checkpointing=True,\n");
}

TEST(ExchangePatch, ATypeThatTrlOverridesIsSaidByTheNameItReads) {
  EXPECT_EQ(
      changed("from trl import SFTConfig, SFTTrainer\n"
              "args = SFTConfig(output_dir=\"o\", model_init_kwargs={\"torch_dtype\": \"bfloat16\"})\n"
              "trainer = SFTTrainer(model=\"Qwen/Qwen2.5-7B\", args=args)\n",
              {{"/model_args/dtype", "bfloat16"}}),
      "-args = SFTConfig(output_dir=\"o\", model_init_kwargs={\"torch_dtype\": \"bfloat16\"})\n"
      "+args = SFTConfig(output_dir=\"o\", model_init_kwargs={\"torch_dtype\": \"bfloat16\", \"dtype\": "
      "\"bfloat16\"})\n");
}

TEST(ExchangePatch, AVariableOfAScriptChangesWhereItIsSet) {
  const std::string text =
      "max_seq_length = 4096  # tokens\n"
      "args = SFTConfig(max_length=max_seq_length, bf16=True)\n";
  EXPECT_EQ(changed(text, {{"/training/max_length", 1024}}),
            "-max_seq_length = 4096  # tokens\n+max_seq_length = 1024  # tokens\n");
}

TEST(ExchangePatch, FlagsOfACommandChange) {
  const std::string text =
      "accelerate launch --num_processes 2 train.py \\\n"
      "  --model_name_or_path gpt2 \\\n"
      "  --per_device_train_batch_size 8 \\\n"
      "  --bf16 \\\n"
      "  --output_dir out\n";
  EXPECT_EQ(changed(text, {{"/training/per_device_train_batch_size", 1},
                           {"/training/gradient_accumulation_steps", 8},
                           {"/parallel/num_gpus", 4}}),
            "-accelerate launch --num_processes 2 train.py \\\n"
            "+accelerate launch --num_processes 4 train.py \\\n"
            "-  --per_device_train_batch_size 8 \\\n"
            "+  --per_device_train_batch_size 1 \\\n"
            "+  --gradient_accumulation_steps 8 \\\n");
}

// accelerate/commands/launch.py: store_true, so that a word behind one would be taken for the script.
TEST(ExchangePatch, ASwitchOfTheLauncherStandsWithoutAWord) {
  const std::string text = "accelerate launch --num_processes 2 train.py --model_name_or_path gpt2 --bf16\n";
  EXPECT_EQ(
      changed(text, {{"/parallel/strategy", "zero3"}}),
      "-accelerate launch --num_processes 2 train.py --model_name_or_path gpt2 --bf16\n"
      "+accelerate launch --num_processes 2 --zero_stage 3 --use_deepspeed train.py --model_name_or_path gpt2 "
      "--bf16\n");
  const std::string plain =
      "accelerate launch --multi_gpu --num_processes 2 train.py --model_name_or_path gpt2\n";
  EXPECT_EQ(
      changed(plain, {{"/parallel/strategy", "fsdp"}}),
      "-accelerate launch --multi_gpu --num_processes 2 train.py --model_name_or_path gpt2\n"
      "+accelerate launch --num_processes 2 --use_fsdp --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP train.py "
      "--model_name_or_path gpt2\n");
}

TEST(ExchangePatch, WhatAFileCannotSayIsLeftOutWithItsReason) {
  const std::string text =
      R"({"model_name_or_path": "gpt2", "per_device_train_batch_size": 8, "bf16": true})";
  const Patch patch = patch_document(
      read_any(text), text,
      {{"/hardware/gpu", "t4"}, {"/hardware/PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}});
  EXPECT_EQ(patch.text, text);
  EXPECT_TRUE(patch.diff.empty());
  ASSERT_EQ(patch.left_out.size(), 2U);
  EXPECT_EQ(patch.left_out[0].pointer, "/hardware/PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_NE(patch.left_out[0].why.find("environment variable"), std::string::npos);
}

TEST(ExchangePatch, NoChangeGivesTheSameBytes) {
  const std::string text = "{ \"model\" : \"gpt2\",\r\n\t\"training\":{ } }";
  const Patch patch = patch_document(read_any(text), text, {});
  EXPECT_EQ(patch.text, text);
  EXPECT_TRUE(patch.edits.empty());
}

TEST(ExchangePatch, TheDiffShowsTwoNeighboursOfEachChange) {
  EXPECT_EQ(line_diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n"), "@@ -2 +2 @@\n b\n c\n-d\n+D\n e\n f\n");
  EXPECT_EQ(line_diff("a\n", "a\n"), "");
  EXPECT_EQ(line_diff("", "a\n"), "@@ -1 +1 @@\n+a\n");
}

// Over every format that is written: a file of ours, changed, says the changed request again, and all lines
// that say something else stand as they stood.
TEST(ExchangePatch, EveryWrittenFormatTakesTheCommonChanges) {
  const Json request = {{"model", "mistralai/Mistral-7B-v0.3"},
                        {"peft", {{"r", 32}, {"lora_alpha", 64}, {"target_modules", {"q_proj", "v_proj"}}}},
                        {"training",
                         {{"per_device_train_batch_size", 4},
                          {"gradient_accumulation_steps", 2},
                          {"max_length", 4096},
                          {"bf16", true},
                          {"gradient_checkpointing", false}}}};
  const std::vector<Change> changes = {{"/training/per_device_train_batch_size", 1},
                                       {"/training/gradient_accumulation_steps", 8},
                                       {"/training/max_length", 1024},
                                       {"/training/gradient_checkpointing", true},
                                       {"/peft/r", 8}};
  size_t seen = 0;
  for (const Format* format : formats()) {
    if (format->written == Language::none || format->id == "deepspeed" || format->id == "accelerate" ||
        format->id == "peft")
      continue;
#ifdef __EMSCRIPTEN__
    if (format->written == Language::yaml) continue;
#endif
    json::Errors errors;
    const std::string text = export_as(*format, recipe::read_request(request, errors)).text;
    // Without a torchtune builder's name there is no adapter to change.
    const bool adapter = import_any(text).request.contains("peft");
    const std::vector<Change> asked(changes.begin(), changes.end() - (adapter ? 0 : 1));
    const Patch patch = patch_document(read_any(text), text, asked);
    ASSERT_TRUE(patch.errors.empty()) << format->id << "\n" << text;
    EXPECT_TRUE(patch.left_out.empty()) << format->id << " " << patch.left_out[0].pointer << "\n"
                                        << patch.text;
    const Import again = import_any(patch.text);
    EXPECT_EQ(again.request, patch.request) << format->id;
    // Five settings change five lines, so no more than five went and came; on a line of its own each.
    size_t gone = 0;
    for (size_t at = 0; at < patch.diff.size(); at = patch.diff.find('\n', at) + 1)
      gone += patch.diff[at] == '-' ? 1 : 0;
    EXPECT_LE(gone, changes.size()) << format->id << "\n" << patch.diff;
    ++seen;
  }
#ifdef __EMSCRIPTEN__
  EXPECT_GE(seen, 7U);
#else
  EXPECT_GE(seen, 10U);
#endif
}

constexpr const char* plain_script = R"(import torch
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

def main():
    model = AutoModelForCausalLM.from_pretrained(
        "mistralai/Mistral-7B-v0.3",  # the base
        torch_dtype=torch.bfloat16,
    )
    args = SFTConfig(per_device_train_batch_size=4, gradient_accumulation_steps=4, max_length=2048)
    SFTTrainer(model=model, args=args, train_dataset=data).train()
)";

TEST(ExchangePatch, PythonWithoutAdaptersGetsTheCallThatMakesThem) {
  EXPECT_EQ(changed(plain_script, {{"/peft/r", 16}, {"/peft/lora_alpha", 32}}),
            "+from peft import LoraConfig, get_peft_model\n"
            "+    peft_config = LoraConfig(\n"
            "+        r=16,\n"
            "+        lora_alpha=32,\n"
            "+    )\n"
            "+    model = get_peft_model(model, peft_config)\n");
}

TEST(ExchangePatch, PythonWithoutQuantisationGetsTheConfigAndItsArgument) {
  EXPECT_EQ(changed(plain_script, {{"/quantization/load_in_4bit", true},
                                   {"/quantization/bnb_4bit_compute_dtype", "bfloat16"},
                                   {"/peft/r", 8}}),
            "+from transformers import BitsAndBytesConfig\n"
            "+from peft import LoraConfig, get_peft_model\n"
            "+    bnb_config = BitsAndBytesConfig(\n"
            "+        load_in_4bit=True,\n"
            "+        bnb_4bit_compute_dtype=torch.bfloat16,\n"
            "+    )\n"
            "+        quantization_config=bnb_config,\n"
            "+    peft_config = LoraConfig(\n"
            "+        r=8,\n"
            "+    )\n"
            "+    model = get_peft_model(model, peft_config)\n");
}

// unslothai/notebooks: what is loaded for full fine-tuning gets its adapters from the class that loaded it.
TEST(ExchangePatch, AnUnslothScriptGetsItsAdaptersFromTheClassThatLoadsTheModel) {
  const std::string text =
      "from unsloth import FastLanguageModel\n"
      "model, tokenizer = FastLanguageModel.from_pretrained(\n"
      "    model_name = \"unsloth/Qwen3-4B\",\n"
      "    max_seq_length = 2048,\n"
      "    full_finetuning = True,\n"
      ")\n"
      "trainer = SFTTrainer(model = model, args = SFTConfig(per_device_train_batch_size = 2))\n";
  const Patch patch = patch_document(read_any(text), text, {{"/peft/r", 16}, {"/peft/lora_alpha", 32}});
  EXPECT_TRUE(patch.left_out.empty());
  EXPECT_NE(patch.text.find("    full_finetuning = False,\n"
                            "    load_in_4bit = False,\n"
                            ")\n"
                            "model = FastLanguageModel.get_peft_model(\n"
                            "    model,\n"
                            "    r=16,\n"
                            "    lora_alpha=32,\n"
                            ")\n"
                            "trainer = "),
            std::string::npos)
      << patch.text;
}

// PEFT takes the word alone for all linear layers; in a list it would be the name of a module.
TEST(ExchangePatch, AllLinearIsWrittenAsTheWordThatPeftKnows) {
  const std::string lines = changed(plain_script, {{"/peft/r", 8}, {"/peft/target_modules", "all-linear"}});
  EXPECT_NE(lines.find("target_modules=\"all-linear\""), std::string::npos) << lines;
  const Patch patch = patch_document(read_any(plain_script), plain_script,
                                     {{"/peft/r", 8}, {"/peft/target_modules", Json::array({"all-linear"})}});
  EXPECT_NE(patch.text.find("target_modules=\"all-linear\""), std::string::npos) << patch.text;
}

// Nothing is written into a script that builds its model elsewhere.
TEST(ExchangePatch, PythonWithoutAModelKeepsAdaptersOut) {
  const std::string text = "args = SFTConfig(per_device_train_batch_size=4, max_length=2048)\n";
  const Patch patch = patch_document(read_any(text), text, {{"/peft/r", 16}});
  EXPECT_EQ(patch.text, text);
  ASSERT_EQ(patch.left_out.size(), 1U);
  EXPECT_EQ(patch.left_out[0].pointer, "/peft/r");
}

}  // namespace
}  // namespace plimsoll::exchange
