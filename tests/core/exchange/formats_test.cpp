// One configuration of each format, as people write them, and the request it means.
#include <gmock/gmock.h>

#include "core/exchange/import.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::exchange {
namespace {

using json::Json;

Import import_any(const std::string& text) {
#ifndef __EMSCRIPTEN__
  return import_document(cli::read_document(text), text);
#else
  return import_document(read_text(text), text);
#endif
}

// Order of keys does not matter.
void expect_request(const std::string& text, std::string_view format, const char* wanted) {
  const Import import = import_any(text);
  for (const json::Error& error : import.errors) ADD_FAILURE() << error.code << ": " << error.message;
  ASSERT_NE(import.format, nullptr);
  EXPECT_EQ(import.format->id, format);
  EXPECT_EQ(nlohmann::json::parse(import.request.dump()), nlohmann::json::parse(wanted));
  for (const Finding& found : import.findings) EXPECT_NE(found.use, Use::unknown) << found.path;
}

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

#ifndef __EMSCRIPTEN__

TEST(ExchangeLlamaFactory, AQloraConfigurationGivesItsRequest) {
  expect_request(R"(### model
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
quantization_bit: 4  # choices: [8 (bnb/hqq/eetq), 4 (bnb/hqq)]
quantization_method: bnb
trust_remote_code: true
### method
stage: sft
do_train: true
finetuning_type: lora
lora_rank: 8
lora_target: all
### dataset
dataset: identity,alpaca_en_demo
template: llama3
cutoff_len: 2048
### train
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
learning_rate: 1.0e-4
num_train_epochs: 3.0
bf16: true
flash_attn: fa2
deepspeed: examples/deepspeed/ds_z2_config.json
)",
                 "llamafactory", R"({"model": "meta-llama/Meta-Llama-3-8B-Instruct", "stack": "llamafactory",
      "quantization": {"load_in_4bit": true}, "model_args": {"attn_implementation": "flash_attention_2"},
      "peft": {"r": 8, "target_modules": "all-linear"}, "parallel": {"strategy": "zero2"}, "data": {"epochs": 3.0},
      "training": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 8, "max_length": 2048,
                   "bf16": true}})");
}

// By the parsers of the releases: LLaMA-Factory's extras/constants.py and model/model_utils/quantization.py.
TEST(ExchangeLlamaFactory, AWordThatTheReleaseDoesNotKnowQuantisesNothing) {
  const auto read = [](const std::string& method, const std::string& below = "") {
    return import_any(
        "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\nfinetuning_type: lora\ndataset: d\n"
        "quantization_bit: 4\nquantization_method: " +
        method + "\n" + below);
  };
  const Json nf4 = {{"load_in_4bit", true}};
  EXPECT_EQ(read("bnb").request.value("quantization", Json()), nf4);
  EXPECT_TRUE(read("bnb").notes.empty());
  for (const char* word : {"bitsandbytes", "BNB", "null", "~"}) {
    const Import import = read(word);
    EXPECT_FALSE(import.request.contains("quantization")) << word;
    ASSERT_EQ(import.notes.size(), 1U) << word;
    EXPECT_THAT(import.notes[0], testing::HasSubstr("not quantised")) << word;
  }
  for (const char* release : {"0.9.1", "0.9.2"}) {
    const std::string installed = std::string("# llamafactory==") + release + "\n";
    EXPECT_EQ(read("bitsandbytes", installed).request.value("quantization", Json()), nf4) << release;
    EXPECT_FALSE(read("bnb", installed).request.contains("quantization")) << release;
  }
  EXPECT_FALSE(read("bitsandbytes", "# llamafactory==0.9.3\n").request.contains("quantization"));
}

// argparse refuses what it does not know, so that a command that runs is quantised.
TEST(ExchangeLlamaFactory, ACommandThatRunsHasAWordThatItsReleaseKnows) {
  const Import import = import_any(
      "llamafactory-cli train --model_name_or_path Qwen/Qwen3-4B --stage sft --finetuning_type lora "
      "--quantization_bit 4 --quantization_method bitsandbytes --dataset d");
  EXPECT_EQ(import.request.value("quantization", Json()), Json({{"load_in_4bit", true}}));
}

TEST(ExchangeLlamaFactory, InferenceIsNotTraining) {
  const Import import =
      import_any("model_name_or_path: Qwen/Qwen3-4B\ntemplate: qwen3\ninfer_backend: huggingface\n");
  ASSERT_EQ(import.errors.size(), 1U);
  EXPECT_EQ(import.errors[0].code, "not_training");
}

TEST(ExchangeTorchtune, TheBuilderNamesModelAndMethod) {
  expect_request(R"(
model:
  _component_: torchtune.models.llama3_1.lora_llama3_1_8b
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  apply_lora_to_output: False
  lora_rank: 8
  lora_alpha: 16
tokenizer:
  _component_: torchtune.models.llama3.llama3_tokenizer
  max_seq_len: 4096
optimizer:
  _component_: torch.optim.AdamW
  fused: True
  lr: 3e-4
loss:
  _component_: torchtune.modules.loss.LinearCrossEntropyLoss
batch_size: 2
gradient_accumulation_steps: 8
dtype: bf16
enable_activation_checkpointing: True
compile: False
checkpointer:
  _component_: torchtune.training.FullModelHFCheckpointer
  checkpoint_dir: /tmp/Meta-Llama-3.1-8B-Instruct/
)",
                 "torchtune", R"({"model": "meta-llama/Llama-3.1-8B", "stack": "torchtune",
      "model_args": {"dtype": "bfloat16"},
      "peft": {"r": 8, "lora_alpha": 16,
               "target_modules": ["q_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]},
      "training": {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 8, "max_length": 4096,
                   "gradient_checkpointing": true, "torch_compile": false, "optimizer_in_backward": false,
                   "optim": "adamw_torch_fused", "loss_kernel": "torchtune_linear"}})");
}

// A whole file, as the recipes read it: what it leaves out is off, validation has the batch of training, and
// recipes for adapters never step in the backward.
TEST(ExchangeTorchtune, AWholeFileIsReadAsItsRecipeReadsIt) {
  const Import import = import_any(
      "# tune run --nproc_per_node 2 lora_finetune_distributed --config drawn.yaml\n"
      "model:\n  _component_: torchtune.models.phi3.lora_phi3_mini\n  lora_attn_modules: [q_proj, v_proj]\n"
      "tokenizer:\n  max_seq_len: null\ncheckpointer:\n  _component_: "
      "torchtune.training.FullModelHFCheckpointer\n"
      "dataset_val:\n  _component_: torchtune.datasets.alpaca_dataset\nrun_val_every_n_steps: 10\n"
      "optimizer:\n  _component_: torch.optim.AdamW\nloss:\n  _component_: "
      "torchtune.modules.loss.LinearCrossEntropyLoss\n"
      "batch_size: 4\ncompile:\n  loss: False\noptimizer_in_bwd: True\ndtype: bf16\n");
  ASSERT_TRUE(import.errors.empty());
  const Json& training = import.request["training"];
  EXPECT_EQ(training["loss_kernel"], Json("torchtune_linear"));
  EXPECT_EQ(training["torch_compile"], Json(true));
  EXPECT_EQ(training["gradient_checkpointing"], Json(false));
  EXPECT_EQ(training["optimizer_in_backward"], Json(false));
  EXPECT_EQ(training["eval_strategy"], Json("steps"));
  EXPECT_EQ(training["per_device_eval_batch_size"], Json(4));
  EXPECT_FALSE(training.contains("max_length"));
  EXPECT_EQ(import.request["peft"]["target_modules"], Json({"q_proj", "v_proj"}));
}

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

TEST(ExchangeTorchtune, TheLaunchInAFilesOwnCommentSaysHowManyGpus) {
  const Import import = import_any(
      "# tune run --nproc_per_node 4 full_finetune_distributed --config llama3/8B_full\n"
      "model:\n  _component_: torchtune.models.llama3.llama3_8b\noptimizer:\n  _component_: "
      "torch.optim.AdamW\n"
      "batch_size: 2\ndtype: bf16\n");
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.request["parallel"]["num_gpus"], Json(4));
  EXPECT_EQ(import.request["training"]["optim"], Json("adamw_torch"));
}

TEST(ExchangeTorchtune, EvaluationIsNotTraining) {
  const Import import = import_any(
      "model:\n  _component_: torchtune.models.llama2.llama2_7b\ncheckpointer:\n  checkpoint_dir: x\n"
      "tokenizer:\n  path: y\ntasks: ['truthfulqa_mc2']\nbatch_size: 8\ndtype: bf16\n");
  ASSERT_EQ(import.errors.size(), 1U);
  EXPECT_EQ(import.errors[0].code, "not_training");
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

// axolotl src/axolotl/utils/config normalize_config: batch_size // micro_batch_size, where the steps, which
// are 1 by default, are emptied.
TEST(ExchangeAxolotl, ABatchSizeSaysNothingBesideTheStepsOfAccumulation) {
  const std::string model = "base_model: meta-llama/Llama-2-7b-hf\nsequence_len: 2048\n";
  const auto steps = [&](const std::string& rest) {
    return import_any(model + rest).request["training"].value("gradient_accumulation_steps", Json());
  };
  EXPECT_EQ(steps("batch_size: 8\nmicro_batch_size: 2\n"), Json());
  EXPECT_EQ(steps("batch_size: 8\nmicro_batch_size: 2\ngradient_accumulation_steps:\n"), Json(4));
  EXPECT_EQ(steps("batch_size: 8\nmicro_batch_size: 2\ngradient_accumulation_steps: 3\n"), Json(3));
  EXPECT_EQ(steps("batch_size: 1\nmicro_batch_size: 2\n"), Json());
}

// hparams/finetuning_args.py: freeze_trainable_layers is 2 where it is not given.
TEST(ExchangeLlamaFactory, FreezeTuningTrainsTheLastLayers) {
  const std::string model = "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\ndo_train: true\ndataset: a\n";
  const auto layers = [&](const std::string& rest) {
    return import_any(model + rest).request["training"].value("freeze_trainable_layers", Json());
  };
  EXPECT_EQ(layers("cutoff_len: 512\nfinetuning_type: freeze\n"), Json(2));
  EXPECT_EQ(layers("cutoff_len: 512\nfinetuning_type: freeze\nfreeze_trainable_layers: 8\n"), Json(8));
  EXPECT_EQ(layers("cutoff_len: 512\nfinetuning_type: lora\nfreeze_trainable_layers: 8\n"), Json());
}

TEST(ExchangeLlamaFactory, MuonIsAnOptimizer) {
  const Import import = import_any(
      "model_name_or_path: Qwen/Qwen2-1.5B\nstage: sft\ndo_train: true\nfinetuning_type: full\n"
      "use_muon: true\ncutoff_len: 512\ndataset: a\n");
  EXPECT_EQ(import.request["training"].value("optim", Json()), Json("muon"));
}

TEST(ExchangeAxolotl, LisaTrainsSomeLayersAtATime) {
  const Import import = import_any(
      "base_model: NousResearch/Llama-2-7b-hf\nsequence_len: 4096\nmicro_batch_size: 1\nlisa_n_layers: 4\n"
      "lisa_step_interval: 20\nlisa_layers_attribute: model.layers\n");
  EXPECT_EQ(import.request["training"].value("lisa_activated_layers", Json()), Json(4));
  for (const Finding& found : import.findings) EXPECT_NE(found.use, Use::unsupported) << found.path;
}

// hparams/finetuning_args.py: galore_rank is 16 and galore_target all where they are not given; the base is
// `optim`.
TEST(ExchangeLlamaFactory, GaloreIsAnOptimizerWithItsRankAndTargets) {
  const std::string model =
      "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\ndo_train: true\nfinetuning_type: full\ndataset: a\n";
  const auto training = [&](const std::string& rest) { return import_any(model + rest).request["training"]; };
  Json read = training("use_galore: true\ngalore_layerwise: true\ngalore_rank: 128\n");
  EXPECT_EQ(read.value("optim", Json()), Json("galore_adamw_layerwise"));
  EXPECT_EQ(read.value("optim_args", Json()), Json("rank=128"));
  EXPECT_EQ(read.value("optim_target_modules", Json()), Json("all-linear"));
  read = training("use_galore: true\noptim: adamw_8bit\ngalore_target: mlp,self_attn\n");
  EXPECT_EQ(read.value("optim", Json()), Json("galore_adamw_8bit"));
  EXPECT_EQ(read.value("optim_args", Json()), Json("rank=16"));
  EXPECT_EQ(read.value("optim_target_modules", Json()), Json::array({"mlp", "self_attn"}));
  read = training("use_apollo: true\n");
  EXPECT_EQ(read.value("optim", Json()), Json("apollo_adamw"));
  EXPECT_TRUE(training("galore_rank: 128\n").is_null());
}

// examples/extras/llama_pro: the checkpoint that is trained has been expanded already.
TEST(ExchangeLlamaFactory, LlamaProTrainsTheBlocksThatWereAdded) {
  const std::string rest =
      "stage: sft\ndo_train: true\nfinetuning_type: freeze\nfreeze_trainable_layers: 8\nuse_llama_pro: true\n"
      "dataset: a\n";
  const Json pro = import_any("model_name_or_path: models/llama3-8b-pro\n" + rest).request["training"];
  EXPECT_EQ(pro.value("llamapro_num_new_blocks", Json()), Json(8));
  EXPECT_EQ(pro.value("freeze_trainable_layers", Json()), Json());
  const Json other = import_any("model_name_or_path: Qwen/Qwen3-4B\n" + rest).request["training"];
  EXPECT_EQ(other.value("freeze_trainable_layers", Json()), Json());
  EXPECT_EQ(other.value("unfrozen_parameters", Json()), Json::array({"[a-z_.]+.(0|1|2|3|4|5|6|7)."}));
}

// badam 1.4 block_optim.py: one layer has an fp32 copy and states, whatever the fine-tuning is called.
TEST(ExchangeLlamaFactory, BadamTrainsOneLayerAtATime) {
  const auto training = [](const std::string& rest) {
    return import_any("model_name_or_path: Qwen/Qwen3-4B\nstage: sft\ndataset: a\nuse_badam: true\n" + rest)
        .request["training"];
  };
  for (const char* type : {"full", "freeze"}) {
    const Json read = training(std::string("finetuning_type: ") + type + "\n");
    EXPECT_EQ(read.value("unfrozen_parameters", Json()), Json::array({"[a-z_.]+.(0)."})) << type;
    EXPECT_EQ(read.value("upcast_trainable", Json()), Json(true)) << type;
  }
  EXPECT_FALSE(training("finetuning_type: full\nbadam_mode: ratio\n").contains("unfrozen_parameters"));
}

// model/adapter.py _setup_freeze_tuning: a module's name anywhere in that of a parameter.
TEST(ExchangeLlamaFactory, FreezeTuningTrainsModulesBesideItsLayers) {
  const auto training = [](const std::string& rest) {
    return import_any("model_name_or_path: Qwen/Qwen3-4B\nstage: sft\ndataset: a\nfinetuning_type: freeze\n" +
                      rest)
        .request["training"];
  };
  const Json extra = training("freeze_trainable_layers: 6\nfreeze_extra_modules: embed_tokens, norm\n");
  EXPECT_EQ(extra.value("freeze_trainable_layers", Json()), Json(6));
  EXPECT_EQ(extra.value("unfrozen_parameters", Json()), Json::array({"(.+)?embed_tokens", "(.+)?norm"}));
  const Json first = training("freeze_trainable_layers: -2\n");
  EXPECT_EQ(first.value("freeze_trainable_layers", Json()), Json());
  EXPECT_EQ(first.value("unfrozen_parameters", Json()), Json::array({"[a-z_.]+.(0|1)."}));
}

TEST(ExchangeAxolotl, OneSequenceIsSharedByAGroupOfGpus) {
  const Import import = import_any(
      "base_model: Qwen/Qwen3-8B\nsequence_len: 32768\nmicro_batch_size: 1\ncontext_parallel_size: 4\n");
  EXPECT_EQ(import.request["parallel"].value("sequence_parallel_size", Json()), Json(4));
  EXPECT_EQ(import.request["parallel"].value("num_gpus", Json()), Json(4));
}

// core/builders/base.py: nothing is evaluated without a part of the data for it.
TEST(ExchangeAxolotl, EvaluationNeedsDataToEvaluateOn) {
  const auto when = [](const std::string& rest) {
    return import_any("base_model: Qwen/Qwen3-8B\nsequence_len: 2048\nmicro_batch_size: 1\n" + rest)
        .request["training"]
        .value("eval_strategy", Json());
  };
  EXPECT_EQ(when("val_set_size: 0.05\nevals_per_epoch: 4\n"), Json("steps"));
  EXPECT_EQ(when("val_set_size: 0\nevals_per_epoch: 4\n"), Json());
  EXPECT_EQ(when("val_set_size: 0.05\nevals_per_epoch: 1\n"), Json());
  EXPECT_EQ(when("val_set_size: 0.05\nevals_per_epoch: 1\nnum_epochs: 2\n"), Json("steps"));
  EXPECT_EQ(when("val_set_size: 0.05\n"), Json());
  EXPECT_EQ(when("val_set_size: 0.05\neval_strategy: epoch\n"), Json("epoch"));
  EXPECT_EQ(when("val_set_size: 0.05\neval_strategy: no\n"), Json("no"));
}

Json axolotl_request(const std::string& rest) {
  return import_any("base_model: Qwen/Qwen3-8B\nsequence_len: 2048\nmicro_batch_size: 1\n" + rest).request;
}

// The files that `axolotl fetch deepspeed_configs` brings.
TEST(ExchangeAxolotl, ItsDeepSpeedFilesSayWhatTheirNamesDoNot) {
  const auto zero = [](const std::string& name) {
    return axolotl_request("deepspeed: deepspeed_configs/" + name + "\n")["parallel"]["zero_optimization"];
  };
  EXPECT_EQ(zero("zero2.json")["offload_optimizer"]["device"], "cpu");
  EXPECT_EQ(zero("zero2.json")["overlap_comm"], true);
  const Json parameters = zero("zero3_bf16_cpuoffload_params.json");
  EXPECT_EQ(parameters["offload_param"]["device"], "cpu");
  EXPECT_FALSE(parameters.contains("offload_optimizer"));
  EXPECT_EQ(parameters["stage3_max_live_parameters"], 0);
  EXPECT_EQ(zero("zero3_bf16_cpuoffload_all.json")["offload_optimizer"]["device"], "cpu");
}

TEST(ExchangeAxolotl, AttentionKernelsAreCalledInSeveralWays) {
  const auto kernel = [](const std::string& rest) {
    const Json request = axolotl_request(rest);
    return request.contains("model_args") ? request["model_args"].value("attn_implementation", Json())
                                          : Json();
  };
  EXPECT_EQ(kernel("attn_implementation: kernels-community/vllm-flash-attn3\n"), "flash_attention_3");
  EXPECT_EQ(kernel("attn_implementation: kernels-community/flash-attn2@v1\n"), "flash_attention_2");
  EXPECT_EQ(kernel("flash_attention: true\nxformers_attention: true\n"), "xformers");
  EXPECT_EQ(kernel("flash_attention: false\n"), Json());
}

// check_auto_enable_lora_kernels: one kernel that is named leaves the others off.
TEST(ExchangeAxolotl, NamedKernelsAndForeignCodeSwitchTheFusedOnesOff) {
  const std::string adapter = "adapter: lora\nlora_r: 8\nlora_target_linear: true\n";
  const auto fused = [&](const std::string& rest) {
    const Json request = axolotl_request(adapter + rest);
    return request.contains("training") ? request["training"].value("fused_lora", Json()) : Json();
  };
  EXPECT_EQ(fused(""), Json());
  EXPECT_EQ(fused("lora_mlp_kernel: true\n"), true);
  EXPECT_EQ(fused("lora_mlp_kernel: false\n"), false);
  EXPECT_EQ(fused("trust_remote_code: true\n"), false);
}

TEST(ExchangeAxolotl, EbftIsNeverTakenForSft) {
  const Import strided =
      import_any("base_model: Qwen/Qwen3-8B\nsequence_len: 2048\nrl: ebft\nebft:\n  mode: strided\n");
  EXPECT_EQ(strided.errors.size(), 1U);
  const Import other = import_any("base_model: Qwen/Qwen3-8B\nsequence_len: 2048\nrl: ebft\n");
  EXPECT_EQ(other.request["task"], "grpo");
  // Its network for features is a copy where there is no adapter to switch off (ebft/trainer.py).
  EXPECT_EQ(other.request["rl"].value("reference_model", Json()), Json("copy"));
  EXPECT_FALSE(axolotl_request("rl: ebft\nadapter: lora\n").contains("rl"));
  EXPECT_EQ(axolotl_request("rl: gdpo\n")["task"], "grpo");
}

TEST(ExchangeAxolotl, LigerKeysMeanNothingWithoutThePlugin) {
  const std::string keys = "liger_rms_norm: true\nliger_fused_linear_cross_entropy: true\n";
  EXPECT_FALSE(axolotl_request(keys)["training"].contains("liger_kernel_config"));
  const Json read =
      axolotl_request(keys + "plugins:\n  - axolotl.integrations.liger.LigerPlugin\n")["training"];
  EXPECT_EQ(read["liger_kernel_config"]["rms_norm"], true);
}

TEST(ExchangeAxolotl, OptimizerArgumentsMayBeADict) {
  const Json read = import_any(
                        "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\nmicro_batch_size: 1\n"
                        "optimizer: galore_adamw\noptim_target_modules: all_linear\n"
                        "optim_args:\n  rank: 64\n  scale: 0.25\n")
                        .request["training"];
  EXPECT_EQ(read.value("optim_args", Json()), Json("rank=64, scale=0.25"));
  EXPECT_EQ(read.value("optim_target_modules", Json()), Json("all-linear"));
}

// A description of a network in another tool's words, with a "model" of its own.
TEST(ExchangeYaml, AModelOfAnotherToolIsNoRequest) {
  const Import import =
      import_any("model:\n  base_learning_rate: 1.0e-4\n  params:\n    channels: 4\ndata:\n  target: a\n");
  ASSERT_FALSE(import.errors.empty());
  EXPECT_EQ(import.errors[0].code, "unknown_format");
}

#endif

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

}  // namespace
}  // namespace plimsoll::exchange
