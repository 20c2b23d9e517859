// Axolotl's files, and the requests they mean.
#include "tests/core/exchange/any_text.h"

namespace plimsoll::exchange {
namespace {

using json::Json;

#ifndef __EMSCRIPTEN__

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

TEST(ExchangeAxolotl, LisaTrainsSomeLayersAtATime) {
  const Import import = import_any(
      "base_model: NousResearch/Llama-2-7b-hf\nsequence_len: 4096\nmicro_batch_size: 1\nlisa_n_layers: 4\n"
      "lisa_step_interval: 20\nlisa_layers_attribute: model.layers\n");
  EXPECT_EQ(import.request["training"].value("lisa_activated_layers", Json()), Json(4));
  for (const Finding& found : import.findings) EXPECT_NE(found.use, Use::unsupported) << found.path;
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

TEST(ExchangeAxolotl, ASwitchOfOneTasksTrainerMeansNothingForAnother) {
  const auto liger = [](const std::string& keys) {
    return axolotl_request(keys).value(Json::json_pointer("/training/use_liger_kernel"), Json());
  };
  EXPECT_EQ(liger("dpo_use_liger_kernel: true\n"), Json());
  EXPECT_EQ(liger("rl: kto\ndpo_use_liger_kernel: true\n"), Json());
  EXPECT_EQ(liger("rl: ipo\ndpo_use_liger_kernel: true\n"), Json(true));
  EXPECT_EQ(liger("rl: dpo\ntrl:\n  use_liger_loss: true\n"), Json());
  EXPECT_EQ(liger("rl: grpo\ntrl:\n  use_liger_loss: true\n"), Json(true));
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

// src/axolotl/utils/distributed.py _get_parallel_config_kwargs.
TEST(ExchangeAxolotl, TheAxesOfTheMeshAreTheGpus) {
  const auto gpus = [](const std::string& rest) {
    return axolotl_request(rest)["parallel"].value("num_gpus", Json());
  };
  EXPECT_EQ(gpus("fsdp_version: 2\ndp_shard_size: 4\n"), Json(4));
  EXPECT_EQ(gpus("fsdp_version: 2\ndp_shard_size: 4\ncontext_parallel_size: 2\n"), Json(8));
  EXPECT_EQ(gpus("fsdp_version: 2\ndp_replicate_size: 2\ndp_shard_size: 4\n"), Json(8));
  EXPECT_EQ(gpus("context_parallel_size: 2\n"), Json(2));
}

TEST(ExchangeAxolotl, ShardingInGroupsIsNamed) {
  const auto notes = [](const std::string& rest) {
    return import_any(
               "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\nmicro_batch_size: 1\nfsdp_version: 2\n" + rest)
        .notes;
  };
  EXPECT_THAT(notes("dp_replicate_size: 2\ndp_shard_size: 8\n"),
              testing::Contains(testing::HasSubstr("hybrid")));
  EXPECT_THAT(notes("dp_shard_size: 8\n"), testing::Not(testing::Contains(testing::HasSubstr("hybrid"))));
}

#endif

}  // namespace
}  // namespace plimsoll::exchange
