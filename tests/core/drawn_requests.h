// Requests drawn by a fixed rule, the same on every platform: what must hold for all is tried on a few
// hundred.
//
//     for (uint64_t seed = 0; seed < 200; ++seed) check(answer(drawn(seed)));
#pragma once

#include <string>
#include <vector>

#include "tests/drawn/dice.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {

inline const std::vector<std::string> models = {"gpt2",
                                                "llama-3.2-1b",
                                                "mistral-7b-v0.3",
                                                "qwen2.5-7b",
                                                "qwen3-8b",
                                                "gemma-2-2b",
                                                "phi-2",
                                                "gemma-3-4b-pt",
                                                "phi-3-mini-4k-instruct",
                                                "pythia-1.4b",
                                                "opt-1.3b",
                                                "falcon-7b",
                                                "bloom-1b1",
                                                "smollm2-360m",
                                                "mixtral-8x7b-v0.1",
                                                "gpt-oss-20b",
                                                "qwen3-30b-a3b",
                                                "deepseek-v2-lite",
                                                "olmo-1b-hf",
                                                "chatglm3-6b",
                                                "internlm2-7b",
                                                "stablelm-2-1_6b",
                                                "granite-3.1-2b-instruct",
                                                "llava-1.5-7b-hf",
                                                "qwen2.5-vl-3b-instruct",
                                                "paligemma-3b-pt-224",
                                                "llama-3.2-11b-vision-instruct",
                                                "t5-base",
                                                "bert-base-uncased",
                                                "whisper-small"};
inline const std::vector<std::string> optimizers = {"adamw_torch",      "adamw_torch_fused", "adamw_bnb_8bit",
                                                    "paged_adamw_8bit", "adafactor",         "sgd",
                                                    "lion_32bit",       "paged_adamw_32bit"};
inline const std::vector<std::string> kernels = {
    "stock", "liger", "fused_ce", "chunked_nll", "cut_cross_entropy", "torchtune_chunked"};
inline const std::vector<std::string> versions = {"4.30", "4.40", "4.46.3", "4.51.3", "4.57", "5.15"};
inline const std::vector<std::string> stacks = {"hf",      "loop",         "trl",      "axolotl",
                                                "unsloth", "llamafactory", "torchtune"};
inline const std::vector<std::string> gpus = {"a10g",     "t4",          "rtx-3060-12",
                                              "rtx-4090", "a100-sxm-80", "h100-sxm"};
inline const std::vector<uint64_t> lengths = {16, 77, 256, 512, 700, 1024, 1536, 2048};

// A valid request that states some fields and leaves others to their defaults.
inline Json drawn(uint64_t seed) {
  Dice dice(seed);
  Json request = {{"model", dice.one_of(models)}, {"stack", dice.one_of(stacks)}};
  Json training, peft;
  training["max_length"] = dice.one_of(lengths);
  training["per_device_train_batch_size"] = 1 + dice.draw(6);
  if (dice.one_in(2)) training["gradient_accumulation_steps"] = 1 + dice.draw(8);
  if (dice.one_in(2)) training["gradient_checkpointing"] = dice.one_in(2);
  if (dice.one_in(2)) training["optim"] = dice.one_of(optimizers);
  if (dice.one_in(3)) training["loss_kernel"] = dice.one_of(kernels);
  if (dice.one_in(3)) training["padded_batches"] = dice.one_in(2);
  if (dice.one_in(3)) request["versions"]["transformers"] = dice.one_of(versions);
  if (dice.one_in(2)) request["hardware"]["gpu"] = dice.one_of(gpus);
  if (dice.one_in(6)) request["hardware"]["in_use_gib"] = 1.5;
  if (dice.one_in(6)) request["hardware"]["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True";
  if (dice.one_in(4)) request["model_args"]["attn_implementation"] = "eager";
  const uint64_t precision = dice.draw(3);
  if (precision == 1) training["bf16"] = true;
  if (precision == 2) training["fp16"] = true;
  if (!dice.one_in(4)) {
    peft["target_modules"] = "all-linear";
    if (!dice.one_in(4)) peft["r"] = uint64_t{1} << dice.draw(8);
    if (dice.one_in(3)) peft["lora_dropout"] = 0.05;
    if (dice.one_in(8)) peft["use_dora"] = true;
    const uint64_t bits = dice.draw(4);
    if (bits == 1)
      request["quantization"] = {{"load_in_4bit", true}, {"bnb_4bit_use_double_quant", dice.one_in(2)}};
    if (bits == 2) request["quantization"] = {{"load_in_8bit", true}};
    if (dice.one_in(3)) request["model_args"]["dtype"] = "bfloat16";
  } else {
    request["model_args"]["dtype"] = dice.one_in(2) ? "bfloat16" : "float32";
  }
  request["training"] = training;
  if (!peft.is_null()) request["peft"] = peft;
  return request;
}

}  // namespace plimsoll::report
