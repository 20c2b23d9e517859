// torchtune's files, and the requests they mean.
#include "tests/core/exchange/any_text.h"

namespace plimsoll::exchange {
namespace {

using json::Json;

#ifndef __EMSCRIPTEN__

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

// torchtune/training/_distributed.py shard_model.
TEST(ExchangeTorchtune, ShardedLayersAreUnitsOfTheirOwn) {
  const auto own_units = [](const std::string& listed) {
    const Import import = import_any(
        "# tune run --nproc_per_node 2 full_finetune_distributed\nmodel:\n  _component_: "
        "torchtune.models.llama3.llama3_8b\nbatch_size: 2\noptimizer_in_bwd: False\ncustom_sharded_layers: " +
        listed + "\n");
    return import.request.value(Json::json_pointer("/parallel/fsdp_config/own_units"), "");
  };
  EXPECT_EQ(own_units("['tok_embeddings', 'output']"), "embedding_and_head");
  EXPECT_EQ(own_units("['decoder.tok_embeddings']"), "embedding");
  EXPECT_EQ(own_units("[]"), "");
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

// torchtune v0.2.1 torchtune/datasets/_alpaca.py: alpaca_dataset(tokenizer, max_seq_len=512).
TEST(ExchangeTorchtune, ADataSetMayCutTheRows) {
  const Import import = import_any(
      "model:\n  _component_: torchtune.models.llama3.lora_llama3_8b\n  lora_attn_modules: [q_proj]\n"
      "dataset:\n  _component_: own.dataset\n  max_seq_len: 512\noptimizer:\n  _component_: "
      "torch.optim.AdamW\nbatch_size: 2\ndtype: bf16\n");
  EXPECT_EQ(import.request["training"]["max_length"], Json(512));
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

// recipes/configs of torchtune 0.6.1.
TEST(ExchangeTorchtune, AConfigurationThatItBringsIsReadAsItsFileIs) {
  const auto of = [](const std::string& command) { return import_any(command + "\n").request; };
  const Json full = of("tune run --nproc_per_node 4 full_finetune_distributed --config qwen2_5/7B_full");
  EXPECT_EQ(full["model"], Json("Qwen/Qwen2.5-7B-Instruct"));
  EXPECT_EQ(full["training"]["optim"], Json("adamw_torch_fused"));
  EXPECT_EQ(full["training"]["optimizer_in_backward"], Json(false));
  EXPECT_EQ(full["training"]["gradient_accumulation_steps"], Json(8));
  const Json lora =
      of("tune run --nproc_per_node 4 lora_finetune_distributed --config qwen2_5/7B_lora batch_size=4");
  EXPECT_EQ(lora["training"]["gradient_checkpointing"], Json(false));
  EXPECT_EQ(lora["training"]["per_device_train_batch_size"], Json(4));
  EXPECT_EQ(lora["peft"]["r"], Json(8));
  const Json one = of("tune run full_finetune_single_device --config llama3_1/8B_full_single_device");
  EXPECT_EQ(one["training"]["optim"], Json("paged_adamw_8bit"));
  EXPECT_EQ(one["training"]["optimizer_in_backward"], Json(true));
  const Json trained_for_int4 = of("tune run --nproc_per_node 4 qat_distributed --config llama3/8B_qat_full");
  EXPECT_EQ(trained_for_int4["model"], Json("meta-llama/Meta-Llama-3-8B"));
}

// torchtune/config/_utils.py _merge_yaml_and_cli_args.
TEST(ExchangeTorchtune, AnOverrideOfAComponentNamesIt) {
  const Json request =
      import_any(
          "tune run full_finetune_single_device --config llama3_1/8B_full_single_device model.extra=1 "
          "optimizer=torch.optim.SGD\n")
          .request;
  EXPECT_EQ(request["training"]["optim"], Json("sgd"));
  EXPECT_EQ(request["model"], Json("meta-llama/Llama-3.1-8B"));
}

#endif

}  // namespace
}  // namespace plimsoll::exchange
