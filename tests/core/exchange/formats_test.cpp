// One configuration of each other format, as people write them, and the request it means.
#include "core/json/at.h"
#include "tests/core/exchange/any_text.h"

namespace plimsoll::exchange {
namespace {

using json::Json;

TEST(ExchangePython, AScriptOfTheTrainerGivesItsRequest) {
  expect_request(R"(
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, TrainingArguments, Trainer
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

model_id = "mistralai/Mistral-7B-v0.3"
max_length = 512
bnb_config = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",  # the usual one
    bnb_4bit_compute_dtype=torch.bfloat16,
)
tokenizer = AutoTokenizer.from_pretrained(model_id)
model = AutoModelForCausalLM.from_pretrained(model_id, quantization_config=bnb_config, device_map={"": 0})
model = prepare_model_for_kbit_training(model)
config = LoraConfig(r=16, lora_alpha=2 * 16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
model = get_peft_model(model, config)
trainer = Trainer(model=model, train_dataset=data, args=TrainingArguments(
    per_device_train_batch_size=4, gradient_accumulation_steps=4, learning_rate=2e-4, bf16=True,
    optim="paged_adamw_8bit", output_dir="out"))
)",
                 "hf", R"({"model": "mistralai/Mistral-7B-v0.3", "stack": "hf",
      "quantization": {"load_in_4bit": true, "bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": "bfloat16",
                       "prepare_for_kbit_training": true},
      "peft": {"r": 16, "lora_alpha": 32, "target_modules": ["q_proj", "v_proj"]},
      "training": {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 4, "bf16": true,
                   "optim": "paged_adamw_8bit", "gradient_checkpointing": true, "max_length": 512}})");
}

// argparse's default=None, handed on: TRL cuts nothing then, whatever its own default is.
// Python quotes one line of a call that goes on: what it opens there is never closed.
TEST(ExchangePython, TheFramesOfATracebackAreNoSource) {
  const std::string text =
      "Traceback (most recent call last):\n"
      "  File \"/app/train.py\", line 61, in <module>\n    trainer.train()\n"
      "  File \"/lib/transformers/trainer.py\", line 2245, in train\n    return inner_training_loop(\n"
      "           ^^^^^^^^^^^^^^^^^^^^\n"
      "  File \"/lib/frozen.py\", line 3, in run\n"
      "  File \"/lib/mlp.py\", line 157, in forward\n    down_proj = self.down_proj(self.act_fn(\n"
      "torch.OutOfMemoryError: CUDA out of memory.\n\n"
      "model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-3.1-8B\")\n"
      "args = TrainingArguments(per_device_train_batch_size=2, bf16=True)\n"
      "def tok(x): return tokenizer(x[\"text\"], truncation=True, max_length=4096)\n";
  const Import import = import_document(read_text(text), text);
  EXPECT_EQ(import.model, "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(import.request.value(Json::json_pointer("/training/max_length"), 0), 4096);
}

TEST(ExchangePython, AMaxLengthOfNoneIsNoDefault) {
  const Import import = import_any(
      "import argparse\nfrom trl import DPOConfig, DPOTrainer\np = argparse.ArgumentParser()\n"
      "p.add_argument(\"--max_length\", type=int, default=None)\nargs = p.parse_args()\n"
      "DPOTrainer(model=\"gpt2\", args=DPOConfig(per_device_train_batch_size=2, max_length=args.max_length))\n");
  EXPECT_EQ(import.request.at("training").at("truncation_strategy"), "none");
  EXPECT_FALSE(import.request.at("training").contains("max_length"));
}

TEST(ExchangePython, TrlConfigsNameTheTask) {
  expect_request(R"(from trl import DPOConfig, DPOTrainer
training_args = DPOConfig(output_dir="x", max_length=1024, per_device_train_batch_size=2, beta=0.1)
trainer = DPOTrainer(model="Qwen/Qwen2.5-0.5B", args=training_args, train_dataset=d)
)",
                 "trl-python",
                 R"({"model": "Qwen/Qwen2.5-0.5B", "stack": "trl", "task": "dpo", "rl": {"beta": 0.1},
      "training": {"max_length": 1024, "per_device_train_batch_size": 2}})");
}

// trl/trainer/utils.py create_model_from_path: a name is loaded in float32, an object is left as it is.
TEST(ExchangePython, WhoLoadedTheModelIsSaid) {
  const Import by_name = import_any(
      "from trl import SFTConfig, SFTTrainer\n"
      "trainer = SFTTrainer(\"gpt2\", args=SFTConfig(model_init_kwargs={'torch_dtype': 'bfloat16'}))\n");
  EXPECT_FALSE(by_name.request.contains("model_args"));
  const Import by_script = import_any(
      "from trl import SFTConfig, SFTTrainer\n"
      "model = AutoModelForCausalLM.from_pretrained('gpt2', torch_dtype='auto')\n"
      "trainer = SFTTrainer(model, args=SFTConfig(max_length=512))\n");
  EXPECT_EQ(by_script.request["model_args"]["loaded_by_trainer"], Json(false));
  EXPECT_EQ(by_script.request["model_args"]["dtype"], "auto");
}

TEST(ExchangePython, AnUnslothNotebookGivesItsRequest) {
  expect_request(R"(from unsloth import FastLanguageModel, is_bfloat16_supported
max_seq_length = 2048 # any
model, tokenizer = FastLanguageModel.from_pretrained(
    model_name = "unsloth/Meta-Llama-3.1-8B",
    max_seq_length = max_seq_length,
    dtype = None,
    load_in_4bit = True,
)
model = FastLanguageModel.get_peft_model(
    model, r = 16,
    target_modules = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",],
    lora_alpha = 16, lora_dropout = 0, bias = "none", random_state = 3407,
)
trainer = SFTTrainer(
    model = model, tokenizer = tokenizer, train_dataset = dataset, dataset_text_field = "text",
    max_seq_length = max_seq_length, packing = False,
    args = TrainingArguments(per_device_train_batch_size = 2, gradient_accumulation_steps = 4,
        fp16 = not is_bfloat16_supported(), bf16 = is_bfloat16_supported(), optim = "adamw_8bit", seed = 3407),
)
)",
                 "unsloth", R"({"model": "unsloth/Meta-Llama-3.1-8B", "stack": "unsloth",
      "quantization": {"load_in_4bit": true},
      "peft": {"r": 16, "lora_alpha": 16, "lora_dropout": 0, "bias": "none",
               "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]},
      "training": {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4,
                   "optim": "adamw_8bit", "max_length": 2048, "packing": false}})");
}

TEST(ExchangePython, AnExpressionIsReportedAndNotEvaluated) {
  const Import import =
      import_any("args = TrainingArguments(per_device_train_batch_size=int(os.environ['B']), bf16=True)\n");
  ASSERT_EQ(import.findings.size(), 2U);
  EXPECT_EQ(import.findings[0].use, Use::unsupported);
  EXPECT_FALSE(import.request["training"].contains("per_device_train_batch_size"));
}

TEST(ExchangePython, LinesPastedOutOfACallAreReadAsArguments) {
  const Import import =
      import_any("per_device_train_batch_size=4,\ngradient_checkpointing=True,\nbf16=True,\n");
  EXPECT_EQ(import.request["training"]["per_device_train_batch_size"], Json(4));
  EXPECT_EQ(import.request["training"]["gradient_checkpointing"], Json(true));
}

TEST(ExchangeShell, ALaunchedScriptGivesItsFlagsAndItsGpus) {
  expect_request(
      "CUDA_VISIBLE_DEVICES=0,1 accelerate launch --num_processes 2 --multi_gpu train.py \\\n"
      "  --model_name_or_path mistralai/Mistral-7B-v0.3 --per_device_train_batch_size=4 \\\n"
      "  --gradient_checkpointing --bf16 true --lora_r 16 --lora_target_modules q_proj v_proj\n",
      "cli", R"({"model": "mistralai/Mistral-7B-v0.3", "stack": "hf",
      "peft": {"r": 16, "target_modules": ["q_proj", "v_proj"]},
      "training": {"per_device_train_batch_size": 4, "gradient_checkpointing": true, "bf16": true},
      "parallel": {"num_gpus": 2, "strategy": "ddp"}})");
}

TEST(ExchangeShell, TrlsOwnCommandNamesTheTask) {
  expect_request(
      "trl dpo --model_name_or_path Qwen/Qwen2.5-0.5B --max_length 512\n", "cli",
      R"({"model": "Qwen/Qwen2.5-0.5B", "stack": "trl", "task": "dpo", "training": {"max_length": 512}})");
}

TEST(ExchangeShell, SwiftTrainsLoraUnlessToldOtherwise) {
  expect_request(
      "CUDA_VISIBLE_DEVICES=0 \\\nswift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --lora_rank 8 "
      "--target_modules all-linear --max_length 2048 --torch_dtype bfloat16 --quant_bits 4 --quant_method "
      "bnb "
      "--freeze_vit true --dataset a b c\n",
      "ms-swift",
      R"({"model": "Qwen/Qwen2.5-7B-Instruct", "stack": "ms-swift", "quantization": {"load_in_4bit": true},
      "model_args": {"dtype": "bfloat16"}, "peft": {"r": 8, "target_modules": "all-linear"},
      "training": {"bf16": true, "gradient_accumulation_steps": 16, "max_length": 2048},
      "vision": {"freeze_vision_tower": true}, "parallel": {"num_gpus": 1}})");
}

TEST(ExchangeParts, ADeepSpeedFileIsAPartOfARequest) {
  const Import import =
      import_any(R"({"train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": 4,
      "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2, "overlap_comm": true}})");
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.format->id, "deepspeed");
  EXPECT_TRUE(import.partial);
  EXPECT_EQ(import.request["parallel"]["strategy"], Json("zero2"));
  EXPECT_EQ(import.request["training"]["gradient_accumulation_steps"], Json(4));
  EXPECT_EQ(import.findings[0].use, Use::implied);  // "auto"
}

TEST(ExchangeParts, AnAdapterConfigGivesTheAdapter) {
  expect_request(R"({"base_model_name_or_path": "meta-llama/Llama-2-7b-hf", "peft_type": "LORA", "r": 8,
      "lora_alpha": 16, "lora_dropout": 0.0, "bias": "none", "fan_in_fan_out": false, "target_modules": ["q_proj"],
      "modules_to_save": null, "task_type": "CAUSAL_LM", "inference_mode": true})",
                 "peft", R"({"model": "meta-llama/Llama-2-7b-hf",
      "peft": {"r": 8, "lora_alpha": 16, "lora_dropout": 0.0, "bias": "none", "target_modules": ["q_proj"]}})");
}

// A list, or one for each table.
TEST(ExchangeParts, TokensThatAreTrainedAreCounted) {
  expect_request(R"({"base_model_name_or_path": "Qwen/Qwen2.5-0.5B", "peft_type": "LORA", "r": 8,
      "target_modules": ["q_proj"], "trainable_token_indices": {"embed_tokens": [7, 8, 9]}})",
                 "peft", R"({"model": "Qwen/Qwen2.5-0.5B",
      "peft": {"r": 8, "target_modules": ["q_proj"], "num_trainable_tokens": 3}})");
  expect_request(
      R"({"base_model": "Qwen/Qwen2.5-0.5B", "adapter": "lora", "lora_r": 8, "lora_target_modules": ["q_proj"],
      "peft_trainable_token_indices": [7, 8], "sequence_len": 512, "micro_batch_size": 1})",
      "axolotl", R"({"model": "Qwen/Qwen2.5-0.5B", "stack": "axolotl",
      "peft": {"r": 8, "target_modules": ["q_proj"], "num_trainable_tokens": 2},
      "training": {"max_length": 512, "per_device_train_batch_size": 1}})");
}

TEST(ExchangeParts, AConfigJsonIsAModel) {
  const Import import = import_any(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
      "hidden_size": 64, "vocab_size": 100, "num_hidden_layers": 2})");
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.request["model"]["config"]["hidden_size"], Json(64));
}

TEST(ExchangeParts, AnIndexOfWeightsSaysHowLargeTheModelIs) {
  const Import import = import_any(
      R"({"metadata": {"total_size": 14483464192}, "weight_map": {"lm_head.weight": "a.safetensors"}})");
  ASSERT_TRUE(import.errors.empty());
  ASSERT_EQ(import.notes.size(), 1U);
  EXPECT_THAT(import.notes[0], testing::HasSubstr("7241 million"));
}

TEST(ExchangeFlat, SageMakerHyperparametersAndInstance) {
  expect_request(R"({"instance_type": "ml.g5.12xlarge", "hyperparameters": {"model_id": "gpt2", "epochs": "3",
      "per_device_train_batch_size": "2", "lr": "2e-4", "bf16": "True"}})",
                 "sagemaker",
                 R"({"model": "gpt2", "stack": "hf", "data": {"epochs": 3}, "hardware": {"gpu": "a10g"},
      "training": {"per_device_train_batch_size": 2, "bf16": true}, "parallel": {"num_gpus": 4}})");
}

TEST(ExchangeFlat, AVersionIsReadAsOneAndAConditionIsLeftAlone) {
  const auto version = [](const std::string& said) {
    const Import import =
        import_any(R"({"hyperparameters": {"model_name_or_path": "gpt2", "per_device_train_batch_size": "2"},
            "instance_type": "ml.g5.12xlarge", "transformers_version": ")" +
                   said + R"("})");
    return json::at(json::at(import.request, "versions"), "transformers");
  };
  EXPECT_EQ(version("4.49.0"), Json("4.49.0"));
  EXPECT_EQ(version("v4.46"), Json("4.46"));
  EXPECT_EQ(version("latest"), Json("latest"));
  for (const char* none : {">=4.46", "4.46.*", "git+https://github.com/huggingface/transformers"})
    EXPECT_EQ(version(none), Json()) << none;
}

TEST(ExchangeRequest, ARequestStaysARequest) {
  expect_request(R"({"schema": 1, "model": "gpt2", "peft": {}, "training": {"max_length": 128}})", "request",
                 R"({"schema": 1, "model": "gpt2", "peft": {}, "training": {"max_length": 128}})");
}

// As the page writes it.
constexpr const char* link =
    "https://example.org/#v=1&model=mistral-7b-v0.3&training.max_length=512&training.bf16=true&"
    "peft.target_modules=q_proj,v_proj&c=qg5b";

TEST(ExchangeRequest, ALinkIsReadAndItsChecksumChecked) {
  expect_request(link, "request", R"({"model": "mistral-7b-v0.3",
      "training": {"max_length": 512, "bf16": true}, "peft": {"target_modules": ["q_proj", "v_proj"]}})");
  const Import cut = import_any(std::string(link).substr(0, 60));
  ASSERT_EQ(cut.errors.size(), 1U);
  EXPECT_EQ(cut.errors[0].code, "broken_link");
}

// trl/trainer/model_config.py ModelConfig; a script of one's own has its own.
TEST(ExchangeTrl, TheAdaptersOfItsCommandAreThoseOfModelConfig) {
  const std::string flags = " --model_name_or_path Qwen/Qwen3-4B --use_peft --lora_alpha 16\n";
  const Json adapter = import_any("trl sft" + flags).request["peft"];
  EXPECT_EQ(adapter["r"], 16);
  EXPECT_EQ(adapter["lora_alpha"], 16);
  EXPECT_EQ(adapter["lora_dropout"], 0.05);
  EXPECT_FALSE(import_any("python train.py" + flags).request["peft"].contains("r"));
}

TEST(ExchangeTrl, MinusOneStepIsNoLimit) {
  const Import import = import_any(
      R"({"model_name_or_path": "Qwen/Qwen3-4B", "max_steps": -1, "learning_rate": 1e-5, "bf16": true})");
  EXPECT_FALSE(import.request["training"].contains("max_steps"));
  for (const Finding& found : import.findings) EXPECT_NE(found.use, Use::unsupported) << found.path;
}

TEST(ExchangePython, EvaluationIsASettingOfMemory) {
  const Import import = import_any(
      "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen3-4B\")\n"
      "args = TrainingArguments(output_dir=\"o\", evaluation_strategy=\"steps\", eval_steps=50)\n");
  EXPECT_EQ(import.request["training"].value("eval_strategy", Json()), Json("steps"));
}

#ifndef __EMSCRIPTEN__

// swift/arguments/sft_args.py and trainers/arguments.py of 4.6.0: no validation set, no evaluation; 16
// samples a step; the mixed precision follows the weights.
TEST(ExchangeSwift, ACommandIsReadAsItsArgumentClassesReadIt) {
  const Import import = import_any(
      "NPROC_PER_NODE=2 swift pt --model Qwen/Qwen2.5-7B --dataset data.jsonl --torch_dtype float32 "
      "--per_device_train_batch_size 2 --eval_strategy steps --deepspeed zero2\n");
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.request["training"]["eval_strategy"], Json("no"));
  EXPECT_EQ(import.request["training"]["gradient_accumulation_steps"], Json(4));
  EXPECT_EQ(import.request["training"]["fp16"], Json(true));
  EXPECT_TRUE(import.request.contains("peft"));
  EXPECT_EQ(import.request["parallel"]["zero_optimization"]["reduce_bucket_size"], Json(200000000));
}

TEST(ExchangeParts, AnAccelerateFileSaysHowTheGpusShareTheWork) {
  const Import import = import_any(
      "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 4\n"
      "fsdp_config:\n  fsdp_version: 2\n  fsdp_offload_params: true\n");
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.request["parallel"]["num_gpus"], Json(4));
  EXPECT_EQ(import.request["training"]["bf16"], Json(true));
}

TEST(ExchangeFlat, TheNestedFilesOfTheThreeStageRunAreRead) {
  expect_request(R"(model: mistralai/Mistral-7B-Instruct-v0.3
max_length: 2048
per_device_train_batch_size: 8
per_device_eval_batch_size: 16
gradient_accumulation_steps: 8
use_gradient_checkpointing: false
dataloader_num_workers: 4
lora:
  r: 32
  lora_alpha: 64
)",
                 "nested", R"({"model": "mistralai/Mistral-7B-Instruct-v0.3", "stack": "hf",
      "peft": {"r": 32, "lora_alpha": 64},
      "training": {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 8, "max_length": 2048,
                   "per_device_eval_batch_size": 16, "gradient_checkpointing": false}})");
}

// A description of a network in another tool's words, with a "model" of its own.
TEST(ExchangeYaml, AModelOfAnotherToolIsNoRequest) {
  const Import import =
      import_any("model:\n  base_learning_rate: 1.0e-4\n  params:\n    channels: 4\ndata:\n  target: a\n");
  ASSERT_FALSE(import.errors.empty());
  EXPECT_EQ(import.errors[0].code, "unknown_format");
}

#endif

}  // namespace
}  // namespace plimsoll::exchange
