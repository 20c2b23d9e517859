// Each row of core/recipe/refusals.cpp: a request that its library stops, in the words of that library, and
// that the core answers all the same.
#include "core/recipe/refusals.h"

#include <set>

#include "core/report/report.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {

namespace {

struct Case {
  const char* id;
  const char* request;
  const char* error = nullptr;  ///< null: the words of the row, which depend on no value
};

// clang-format off
const Case cases[] = {
    {"torch_without_pascal", R"({"hardware": {"gpu": "p100-pcie-16"}, "versions": {"torch": "2.8.0"}})"},
    {"torch_without_volta", R"({"hardware": {"gpu": "v100-sxm2-32"}, "versions": {"torch": "2.11.0"}})"},
    {"torch_without_blackwell", R"({"hardware": {"gpu": "rtx-5090"}, "versions": {"torch": "2.6.0"}})"},
    {"litgpt_without_model", R"({"model": "qwen3.5-0.8b", "stack": "litgpt"})"},
    {"torchtune_without_model", R"({"model": "bloom-560m", "stack": "torchtune"})"},
    {"flash_attention_2_before_ampere", R"({"hardware": {"gpu": "t4"}, "model_args": {"attn_implementation": "flash_attention_2", "dtype": "float16"}})"},
    {"flash_attention_2_wide_heads", R"({"model": "gemma-4-12b", "model_args": {"attn_implementation": "flash_attention_2", "dtype": "bfloat16"}})"},
    {"flash_attention_2_in_fp32", R"({"model_args": {"attn_implementation": "flash_attention_2", "dtype": "float32"}, "training": {"bf16": false}})"},
    {"fp16_adapters_with_scaler", R"({"peft": {"r": 8, "adapter_dtype": "float16"}, "training": {"fp16": true}})"},
    {"fsdp_with_int8_weights", R"({"peft": {"r": 8}, "quantization": {"load_in_8bit": true}, "parallel": {"num_gpus": 2, "strategy": "fsdp"}})"},
    {"bf16_before_ampere", R"({"hardware": {"gpu": "t4"}, "training": {"bf16": true}, "versions": {"torch": "2.1", "transformers": "4.40"}})"},
    {"class_without_flash_attention", R"({"model": "bloom-560m", "model_args": {"attn_implementation": "flash_attention_2", "dtype": "bfloat16"}, "versions": {"transformers": "4.57"}})"},
    {"class_without_flash_attention_5", R"({"model": "bloom-560m", "model_args": {"attn_implementation": "flash_attention_3", "dtype": "bfloat16"}, "versions": {"transformers": "5.24"}})", "… does not support Flash Attention 3 yet."},
    {"class_without_sdpa", R"({"model": "bloom-560m", "model_args": {"attn_implementation": "sdpa"}})"},
    {"flash_attention_3_before_hopper", R"({"hardware": {"gpu": "rtx-4090"}, "model_args": {"attn_implementation": "flash_attention_3", "dtype": "bfloat16"}, "versions": {"transformers": "4.57"}})"},
    {"flash_attention_3_before_ampere", R"({"hardware": {"gpu": "t4"}, "model_args": {"attn_implementation": "flash_attention_3", "dtype": "float16"}, "versions": {"transformers": "5.24"}})"},
    {"zero3_with_device_map", R"({"model_args": {"device_map": "cuda:0"}, "parallel": {"num_gpus": 2, "strategy": "zero3"}})"},
    {"zero3_with_device_map_before", R"({"model_args": {"device_map": "cuda:0"}, "parallel": {"num_gpus": 2, "strategy": "zero3"}, "versions": {"transformers": "4.46"}})"},
    {"layerwise_optimizer_distributed", R"({"training": {"optim": "galore_adamw_layerwise", "optim_target_modules": ["mlp"]}, "parallel": {"num_gpus": 2, "strategy": "ddp"}})", "Layer-wise galore_adamw_layerwise does not support DDP at this time"},
    {"layerwise_galore_distributed", R"({"training": {"optim": "galore_adamw_layerwise", "optim_target_modules": ["mlp"]}, "parallel": {"num_gpus": 2, "strategy": "ddp"}, "versions": {"transformers": "4.44"}})"},
    {"projection_without_targets", R"({"training": {"optim": "galore_adamw"}})", "You need to define `optim_target_modules` to use galore_adamw optimizers"},
    {"ademamix_before_044", R"({"training": {"optim": "ademamix_8bit"}, "versions": {"bitsandbytes": "0.43.3"}})"},
    {"torchao_optimizer_before_25", R"({"training": {"optim": "adamw_torch_8bit"}, "versions": {"torch": "2.3.1"}})"},
    {"device_map_distributed", R"({"model_args": {"device_map": "balanced"}, "parallel": {"num_gpus": 2, "strategy": "ddp"}})"},
    {"dora_on_gptq", R"({"peft": {"r": 8, "use_dora": true}, "quantization": {"quant_method": "gptq"}})"},
    {"dora_on_gptq_before", R"({"peft": {"r": 8, "use_dora": true}, "quantization": {"quant_method": "gptq"}, "versions": {"peft": "0.13"}})"},
    {"dora_on_awq", R"({"peft": {"r": 8, "use_dora": true}, "quantization": {"quant_method": "awq"}})"},
    {"dora_on_aqlm", R"({"peft": {"r": 8, "use_dora": true}, "quantization": {"quant_method": "aqlm"}})"},
    {"dora_on_eetq", R"({"peft": {"r": 8, "use_dora": true}, "quantization": {"quant_method": "eetq"}})"},
    {"dora_with_lora_bias", R"({"peft": {"r": 8, "use_dora": true, "lora_bias": true}})"},
    {"lora_bias_on_hqq", R"({"peft": {"r": 8, "lora_bias": true}, "quantization": {"quant_method": "hqq"}})"},
    {"lora_bias_on_torchao", R"({"peft": {"r": 8, "lora_bias": true}, "quantization": {"quant_method": "torchao_int8"}})"},
    {"parameters_with_dropout", R"({"model": "qwen3-30b-a3b", "peft": {"r": 8, "target_parameters": ["mlp.experts.down_proj"], "lora_dropout": 0.1}})"},
    {"parameters_with_dora", R"({"model": "qwen3-30b-a3b", "peft": {"r": 8, "target_parameters": ["mlp.experts.down_proj"], "use_dora": true}})"},
    {"parameters_with_bias", R"({"model": "qwen3-30b-a3b", "peft": {"r": 8, "target_parameters": ["mlp.experts.down_proj"], "lora_bias": true}})"},
    {"lora_on_mamba_output", R"({"model": "falcon-mamba-7b", "peft": {"r": 8, "target_modules": ["in_proj", "out_proj"]}})", "Module 'out_proj' is incompatible with Mamba-based models (model_type='falcon_mamba')."},
    {"lora_on_mamba_output", R"({"model": "falcon-mamba-7b", "peft": {"r": 8, "target_modules": "all-linear"}})", "Module 'out_proj' is incompatible with Mamba-based models (model_type='falcon_mamba')."},
    {"lora_on_mamba_output", R"({"model": "falcon-h1-0.5b-base", "peft": {"r": 8, "target_modules": ".*mamba\\.out_proj"}})", "Module 'out_proj' is incompatible with Mamba-based models (model_type='falcon_h1')."},
    {"lora_on_nemotron_output", R"({"model": "nvidia-nemotron-3-nano-30b-a3b-bf16", "peft": {"r": 8, "target_modules": ["in_proj", "out_proj"]}, "versions": {"peft": "0.20"}})", "Module 'out_proj' is incompatible with Mamba-based models (model_type='nemotron_h')."},
    {"prefix_with_checkpointing", R"({"peft": {"peft_type": "PREFIX_TUNING", "num_virtual_tokens": 20}, "training": {"gradient_checkpointing": true}, "versions": {"peft": "0.17"}})"},
    {"prefix_with_checkpointing_019", R"({"peft": {"peft_type": "PREFIX_TUNING", "num_virtual_tokens": 20}, "training": {"gradient_checkpointing": true}})"},
    {"fused_head_of_trained_tokens", R"({"model": "llama-3.2-1b", "stack": "trl", "peft": {"r": 8, "num_trainable_tokens": 2}, "versions": {"trl": "1.16"}})"},
    {"packing_images", R"({"model": "qwen2.5-vl-7b-instruct", "stack": "trl", "training": {"packing": true}, "versions": {"trl": "0.24"}})"},
    {"packing_images_110", R"({"model": "qwen2.5-vl-7b-instruct", "stack": "trl", "training": {"packing": true}, "vision": {"images_per_sample": 1}, "versions": {"trl": "1.16"}})"},
    {"dpo_precomputes_with_zero3", R"({"stack": "trl", "task": "dpo", "rl": {"precompute_ref_log_probs": true}, "parallel": {"num_gpus": 2, "strategy": "zero3"}, "versions": {"trl": "0.24"}})"},
    {"kto_precomputes_with_zero3", R"({"stack": "trl", "task": "kto", "rl": {"precompute_ref_log_probs": true}, "training": {"per_device_train_batch_size": 2}, "parallel": {"num_gpus": 2, "strategy": "zero3"}, "versions": {"trl": "1.2"}})"},
    {"precomputes_images", R"({"model": "qwen2.5-vl-7b-instruct", "stack": "trl", "task": "dpo", "rl": {"precompute_ref_log_probs": true}, "vision": {"images_per_sample": 1}, "versions": {"trl": "1.16"}})"},
    {"dpo_liger_precomputes", R"({"stack": "trl", "task": "dpo", "rl": {"precompute_ref_log_probs": true}, "training": {"use_liger_kernel": true}, "versions": {"trl": "1.9"}})"},
    {"kto_liger_precomputes", R"({"stack": "trl", "task": "kto", "rl": {"precompute_ref_log_probs": true}, "training": {"use_liger_kernel": true, "per_device_train_batch_size": 2}, "versions": {"trl": "1.10"}})"},
    {"dpo_liger_adapters", R"({"stack": "trl", "task": "dpo", "peft": {"r": 8}, "training": {"use_liger_kernel": true}, "versions": {"trl": "1.5"}})"},
    {"kto_liger_adapters", R"({"stack": "trl", "task": "kto", "peft": {"r": 8}, "training": {"use_liger_kernel": true, "per_device_train_batch_size": 2}, "versions": {"trl": "1.5"}})"},
    {"liger_head_adapters", R"({"stack": "trl", "task": "kto", "peft": {"r": 8, "target_modules": ["q_proj", "lm_head"]}, "training": {"use_liger_kernel": true, "per_device_train_batch_size": 2}, "versions": {"trl": "1.9"}})"},
    {"liger_prompt_learning", R"({"stack": "trl", "task": "dpo", "peft": {"peft_type": "PROMPT_TUNING", "num_virtual_tokens": 8}, "training": {"use_liger_kernel": true}, "versions": {"trl": "1.9"}})"},
    {"head_adapters", R"({"stack": "trl", "peft": {"r": 8, "target_modules": ["q_proj", "lm_head"]}, "versions": {"trl": "1.16"}})"},
    {"dpo_liger_loss_types", R"({"stack": "trl", "task": "dpo", "rl": {"loss_type": "ipo"}, "training": {"use_liger_kernel": true}, "versions": {"trl": "0.28"}})"},
    {"kto_batch_of_one", R"({"stack": "trl", "task": "kto", "training": {"per_device_train_batch_size": 1}})"},
    {"one_generation", R"({"stack": "trl", "task": "grpo", "rl": {"num_generations": 1}, "training": {"per_device_train_batch_size": 1}})", "GRPO requires at least 2 generations per prompt to calculate the advantages. You provided 1, which is less than the minimum required."},
    {"generation_batch", R"({"stack": "trl", "task": "grpo", "rl": {"num_generations": 8}, "training": {"per_device_train_batch_size": 6, "gradient_accumulation_steps": 2}})", "generation_batch_size (12) must be divisible by num_generations (8)."},
    {"effective_batch_of_groups", R"({"stack": "trl", "task": "grpo", "rl": {"num_generations": 8}, "training": {"per_device_train_batch_size": 6, "gradient_accumulation_steps": 1}, "parallel": {"num_gpus": 2, "strategy": "ddp"}, "versions": {"trl": "0.19"}})", "The effective train batch size (2 x 6 x 1) must be evenly divisible by the number of generations per prompt (8)."},
    {"global_batch_of_groups", R"({"stack": "trl", "task": "grpo", "rl": {"num_generations": 8}, "training": {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2}, "versions": {"trl": "0.15"}})", "The global train batch size (1 x 4) must be evenly divisible by the number of generations per prompt (8)."},
    {"eval_batch_of_groups", R"({"stack": "trl", "task": "grpo", "rl": {"num_generations": 8}, "training": {"per_device_train_batch_size": 8, "per_device_eval_batch_size": 4, "eval_strategy": "steps"}})", "The global eval batch size (4 * 1) must be divisible by the number of generations used for evaluation (8)."},
    {"eval_batch_of_groups_before", R"({"stack": "trl", "task": "rloo", "rl": {"num_generations": 8}, "training": {"per_device_train_batch_size": 8, "per_device_eval_batch_size": 4, "eval_strategy": "steps"}, "versions": {"trl": "0.24"}})", "The global eval batch size (4 * 1) must be divisible by num_generations (8)."},
    {"groups_of_shared_sequences", R"({"stack": "trl", "task": "grpo", "rl": {"num_generations": 8}, "training": {"per_device_train_batch_size": 8}, "parallel": {"num_gpus": 2, "strategy": "fsdp2", "sequence_parallel_size": 2}})", "GRPOTrainer does not support sequence-dim parallelism (`parallelism_config.cp_size > 1` or `parallelism_config.sp_size > 1`) yet."},
    {"vllm_beside_int8", R"({"stack": "trl", "task": "grpo", "peft": {"r": 8}, "quantization": {"load_in_8bit": true}, "rl": {"num_generations": 8, "use_vllm": true, "vllm_mode": "colocate"}, "training": {"per_device_train_batch_size": 8}})"},
    {"vllm_share_below_weights", R"({"model": "qwen3-14b", "stack": "trl", "task": "grpo", "peft": {"r": 8}, "rl": {"num_generations": 8, "use_vllm": true, "vllm_mode": "colocate", "vllm_gpu_memory_utilization": 0.1}, "training": {"per_device_train_batch_size": 8}, "hardware": {"gpu": "h100-sxm"}})"},
    {"axolotl_packs_preferences", R"({"stack": "axolotl", "task": "dpo", "training": {"packing": true}})"},
    {"axolotl_fsdp_offload_8bit", R"({"stack": "axolotl", "training": {"optim": "adamw_8bit"}, "parallel": {"num_gpus": 2, "strategy": "fsdp", "fsdp_config": {"offload_params": true}}})"},
    {"axolotl_fsdp2_8bit", R"({"stack": "axolotl", "training": {"optim": "adamw_bnb_8bit"}, "parallel": {"num_gpus": 2, "strategy": "fsdp2"}})"},
    {"axolotl_fsdp2_quantised_preferences", R"({"stack": "axolotl", "task": "dpo", "peft": {"r": 8}, "quantization": {"load_in_4bit": true}, "parallel": {"num_gpus": 2, "strategy": "fsdp2"}})"},
    {"axolotl_falcon_fsdp", R"({"model": "falcon-7b", "stack": "axolotl", "parallel": {"num_gpus": 2, "strategy": "fsdp"}})"},
    {"axolotl_mpt_checkpointing", R"({"model": "mpt-7b", "stack": "axolotl", "training": {"gradient_checkpointing": true}})"},
    {"axolotl_lora_kernels_fsdp1", R"({"stack": "axolotl", "peft": {"r": 8}, "training": {"fused_lora": true}, "parallel": {"num_gpus": 2, "strategy": "fsdp"}})"},
    {"axolotl_lora_kernels_8bit", R"({"stack": "axolotl", "peft": {"r": 8}, "quantization": {"load_in_8bit": true}, "training": {"fused_lora": true}})"},
    {"axolotl_muon_deepspeed", R"({"stack": "axolotl", "training": {"optim": "muon"}, "parallel": {"num_gpus": 2, "strategy": "zero2"}})"},
    {"axolotl_muon_fsdp1", R"({"stack": "axolotl", "training": {"optim": "muon"}, "parallel": {"num_gpus": 2, "strategy": "fsdp"}})"},
    {"axolotl_reentrant_preferences", R"({"stack": "axolotl", "task": "dpo", "peft": {"r": 8}, "quantization": {"load_in_4bit": true}, "training": {"gradient_checkpointing": true, "gradient_checkpointing_kwargs": {"use_reentrant": true}}, "parallel": {"num_gpus": 2, "strategy": "ddp"}})"},
    {"axolotl_selective_reentrant", R"({"stack": "axolotl", "training": {"gradient_checkpointing": true, "selective_checkpointing": true, "gradient_checkpointing_kwargs": {"use_reentrant": true}}})"},
    {"axolotl_cut_cross_entropy_fp32", R"({"stack": "axolotl", "model_args": {"dtype": "float32"}, "training": {"bf16": false, "loss_kernel": "cut_cross_entropy"}})"},
    {"axolotl_context_parallel_attention", R"({"stack": "axolotl", "model_args": {"attn_implementation": "sdpa"}, "parallel": {"num_gpus": 2, "strategy": "fsdp2", "sequence_parallel_size": 2}})"},
    {"axolotl_context_parallel_packing", R"({"stack": "axolotl", "training": {"packing": true, "per_device_train_batch_size": 2}, "parallel": {"num_gpus": 2, "strategy": "fsdp2", "sequence_parallel_size": 2}})"},
    {"llamafactory_packed_sharded", R"({"stack": "llamafactory", "peft": {"r": 8}, "quantization": {"quant_method": "gptq"}, "parallel": {"num_gpus": 2, "strategy": "zero3"}})"},
    {"llamafactory_int8_sharded", R"({"stack": "llamafactory", "peft": {"r": 8}, "quantization": {"load_in_8bit": true}, "parallel": {"num_gpus": 2, "strategy": "fsdp"}})"},
    {"llamafactory_hqq_sharded", R"({"stack": "llamafactory", "peft": {"r": 8}, "quantization": {"quant_method": "hqq"}, "parallel": {"num_gpus": 2, "strategy": "zero3"}})"},
    {"llamafactory_eetq_sharded", R"({"stack": "llamafactory", "peft": {"r": 8}, "quantization": {"quant_method": "eetq"}, "parallel": {"num_gpus": 2, "strategy": "fsdp"}})"},
    {"llamafactory_packed_preferences", R"({"stack": "llamafactory", "task": "dpo", "training": {"packing": true}})"},
    {"llamafactory_dora_packed", R"({"stack": "llamafactory", "peft": {"r": 8, "use_dora": true}, "quantization": {"quant_method": "hqq"}})"},
    {"llamafactory_projection_deepspeed", R"({"stack": "llamafactory", "training": {"optim": "galore_adamw"}, "parallel": {"num_gpus": 2, "strategy": "zero2"}})"},
    {"llamafactory_projection_adapters", R"({"stack": "llamafactory", "peft": {"r": 8}, "training": {"optim": "galore_adamw"}})"},
    {"llamafactory_layerwise_galore", R"({"stack": "llamafactory", "training": {"optim": "galore_adamw_layerwise"}, "parallel": {"num_gpus": 2, "strategy": "ddp"}})"},
    {"llamafactory_layerwise_apollo", R"({"stack": "llamafactory", "training": {"optim": "apollo_adamw_layerwise"}, "parallel": {"num_gpus": 2, "strategy": "ddp"}})"},
    {"llamafactory_pure_bf16_zero3", R"({"stack": "llamafactory", "model_args": {"dtype": "bfloat16"}, "training": {"bf16": false}, "parallel": {"num_gpus": 2, "strategy": "zero3"}})"},
    {"swift_packs_without_flash", R"({"stack": "ms-swift", "model_args": {"attn_implementation": "sdpa"}, "training": {"packing": true}})"},
    {"swift_kto_batch_of_one", R"({"stack": "ms-swift", "task": "kto", "training": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1}})"},
    {"litgpt_quantised_on_several", R"({"stack": "litgpt", "peft": {"r": 8}, "quantization": {"load_in_4bit": true}, "parallel": {"num_gpus": 2, "strategy": "fsdp"}})"},
    {"litgpt_quantised_mixed", R"({"stack": "litgpt", "peft": {"r": 8}, "quantization": {"load_in_4bit": true}, "training": {"bf16": true}})"},
    {"torchtune_fp16", R"({"stack": "torchtune", "model_args": {"dtype": "float16"}, "peft": {"r": 8}})"},
    {"unsloth_on_several", R"({"stack": "unsloth", "peft": {"r": 8}, "parallel": {"num_gpus": 2, "strategy": "ddp"}, "versions": {"unsloth": "2025.3"}})"},
};
// clang-format on

const recipe::Refusal* find_row(std::string_view id) {
  for (const recipe::Refusal& row : recipe::refusals()) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

Json request_of(const Case& one) {
  Json request = Json::parse(one.request);
  if (!request.contains("model")) request["model"] = "llama-3.1-8b";
  return request;
}

// The notes of that code whose message holds the text.
int refusals_saying(const Json& report, const std::string& text) {
  int found = 0;
  for (const Json& note : at(report, "/notes")) {
    if (note.at("code") == "refused" && note.at("message").get<std::string>().find(text) != std::string::npos)
      ++found;
  }
  return found;
}

}  // namespace

TEST(Refusals, AStackWithATrainerOrAttentionOfItsOwnIsNotStoppedByAnothers) {
  const Json packed = Json::parse(
      R"({"model": "qwen2.5-vl-7b-instruct", "stack": "axolotl", "training": {"packing": true}})");
  EXPECT_EQ(refusals_saying(answer(packed), "Packing"), 0);  // SFT in AxolotlTrainer, which is no SFTTrainer
  const Json hybrid = Json::parse(
      R"({"model": "gemma-4-12b", "stack": "axolotl", "model_args": {"attn_implementation": "flash_attention_2", "dtype": "bfloat16"}})");
  EXPECT_EQ(refusals_saying(answer(hybrid), "head dimension"), 0);  // gemma4_hybrid_attn_impl
}

TEST(Refusals, EachRowHasARequestThatItsLibraryStops) {
  std::set<std::string_view> shown;
  for (const Case& one : cases) {
    const recipe::Refusal* row = find_row(one.id);
    ASSERT_NE(row, nullptr) << one.id;
    const Json report = answer(request_of(one));
    ASSERT_EQ(report.at("ok"), true) << one.id << " " << report;
    const std::string error = one.error != nullptr ? one.error : std::string(row->error);
    EXPECT_EQ(refusals_saying(report, "\"" + error + "\""), 1) << one.id << " " << report.at("notes");
    shown.insert(one.id);
  }
  for (const recipe::Refusal& row : recipe::refusals()) {
    EXPECT_EQ(shown.count(row.id), 1u) << row.id << " has no request here";
  }
}

TEST(Refusals, ARunThatLibrariesTakeHasNone) {
  for (const char* stack :
       {"hf", "trl", "axolotl", "llamafactory", "ms-swift", "unsloth", "torchtune", "litgpt"}) {
    const Json report = answer({{"model", "llama-3.1-8b"},
                                {"stack", stack},
                                {"peft", {{"r", 16}}},
                                {"hardware", {{"gpu", "a100-sxm-80"}}}});
    EXPECT_EQ(refusals_saying(report, ""), 0) << stack << " " << report.at("notes");
  }
}

TEST(Refusals, TheErrorIsQuotedWithWhoPrintsItWhatToDoAndWhereItStands) {
  const Json report = answer({{"model", "llama-3.1-8b"},
                              {"stack", "trl"},
                              {"task", "kto"},
                              {"training", {{"per_device_train_batch_size", 1}}}});
  const Json note = at(report, "/notes/0");
  EXPECT_EQ(note.at("code"), "refused");
  EXPECT_EQ(note.at("message"),
            "TRL stops with \"Actual (not effective) batch size must be > 1. KTO will not work properly "
            "because the KL term "
            "will be equivalent to the implied reward.\" Instead: per_device_train_batch_size 2 or more.");
  EXPECT_EQ(note.at("source"), "huggingface/trl v1.16 trl/trainer/kto_trainer.py KTOTrainer.__init__");
}

TEST(Refusals, EachNamesItsLibraryItsWayOutAndItsSourceAndIsThereOnce) {
  std::set<std::string_view> ids;
  for (const recipe::Refusal& row : recipe::refusals()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_FALSE(row.library.empty() || row.error.empty() || row.instead.empty() || row.source.empty())
        << row.id;
    EXPECT_EQ(row.of == nullptr, *row.versions == '\0') << row.id;
  }
}

// Of every plan for every size of card.
TEST(Refusals, NoPlanOfAScenarioProposesOne) {
  Json scenarios = Json::parse(scenarios_text(presets()));
  for (const Json& scenario : scenarios.at("scenarios")) {
    Json request = scenario.at("request");
    const int before = refusals_saying(answer(request), "");
    std::set<Json> tried;  // sizes share plans
    request["want"] = {"plans"};
    for (const Json& tier : at(answer(request), "/tiers")) {
      for (const Json& plan : tier.at("plans")) {
        if (!tried.insert(plan.at("changes")).second) continue;
        Json changed = request;
        for (const Json& change : plan.at("changes"))
          changed[Json::json_pointer(change.at("pointer").get<std::string>())] = change.at("to");
        changed.erase("want");
        EXPECT_LE(refusals_saying(answer(changed), ""), before) << scenario.at("id") << plan.at("changes");
      }
    }
  }
}

// KTO needs two samples in a batch: the planner, which would halve it once more, stops there.
TEST(Refusals, APlanHalvesTheBatchOnlyAsFarAsItsTrainerTakesIt) {
  Json request = {{"model", "llama-3.1-8b"},
                  {"stack", "trl"},
                  {"task", "kto"},
                  {"want", {"plans"}},
                  {"peft", {{"r", 16}}},
                  {"training", {{"per_device_train_batch_size", 16}, {"max_length", 2048}}},
                  {"hardware", {{"gpu", "rtx-4090"}}}};
  const Json plans = at(answer(request), "/gpu/plans");
  ASSERT_FALSE(plans.empty());
  for (const Json& plan : plans) {
    for (const Json& change : plan.at("changes")) {
      if (change.at("pointer") == "/training/per_device_train_batch_size") {
        EXPECT_GE(change.at("to"), 2) << plan;
      }
    }
  }
}

// Weights of 27.5 GiB: a tenth of an H100 holds none, half of it does, and over four GPUs a tenth does.
TEST(Refusals, AShareOfVllmHoldsItsWeights) {
  Json request = {
      {"model", "qwen3-14b"},
      {"stack", "trl"},
      {"task", "grpo"},
      {"peft", {{"r", 8}}},
      {"rl", {{"use_vllm", true}, {"vllm_mode", "colocate"}, {"vllm_gpu_memory_utilization", 0.1}}},
      {"training", {{"per_device_train_batch_size", 8}, {"bf16", true}}},
      {"hardware", {{"gpu", "h100-sxm"}}}};
  const auto refused = [&request] {
    return refusals_saying(answer(request), "No available memory for the cache");
  };
  EXPECT_EQ(refused(), 1);
  double engine = 0;
  for (const Json& part : at(answer(request), "/memory/instants/3/components"))
    if (part.at("id") == "engine") engine = part.at("bytes").get<double>();
  EXPECT_GT(engine, 27.0 * (1U << 30U));
  request["rl"]["vllm_tensor_parallel_size"] = 4;
  EXPECT_EQ(refused(), 0);
  request["rl"]["vllm_tensor_parallel_size"] = 1;
  request["rl"]["vllm_gpu_memory_utilization"] = 0.5;
  EXPECT_EQ(refused(), 0);
}

// A card on which a library refuses the run is no offer.
TEST(Refusals, NothingIsRentedOnWhichVllmDoesNotStart) {
  const Json request = {
      {"model", "qwen2.5-7b-instruct"},
      {"stack", "trl"},
      {"task", "grpo"},
      {"peft", {{"r", 8}}},
      {"model_args", {{"dtype", "bfloat16"}}},
      {"rl", {{"use_vllm", true}, {"vllm_mode", "colocate"}, {"vllm_gpu_memory_utilization", 0.3}}},
      {"training", {{"per_device_train_batch_size", 8}, {"bf16", true}}},
      {"hardware", {{"gpu", "h100-sxm"}}},
      {"want", {"rent"}}};
  const Json rows = at(advice_on(request), "/rent/machines");
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows) EXPECT_NE(row.at("gpu"), "a10g") << row;
}

}  // namespace plimsoll::report
