// Requests drawn at random for the tests of plans, the same for a seed everywhere.
#pragma once

#include <cstdlib>

#include "tests/drawn/dice.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {

// More with ADVICE_REQUESTS=2000; the usual number keeps the suite quick.
inline uint64_t requests(uint64_t usual) {
  const char* asked = std::getenv("ADVICE_REQUESTS");
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

inline const std::vector<std::string> few_models = {
    "llama-3.2-1b", "qwen2.5-7b",      "mistral-7b-v0.3",        "gemma-2-2b", "smollm2-360m",  "phi-2",
    "qwen3-8b",     "llava-1.5-7b-hf", "qwen2.5-vl-3b-instruct", "gpt2",       "llama-2-13b-hf"};
inline const std::vector<std::string> few_optimizers = {
    "adamw_torch", "adamw_torch", "adamw_torch_fused", "paged_adamw_8bit", "adafactor", "adamw_bnb_8bit"};

inline Json run_to_advise(uint64_t seed) {
  Dice dice(seed);
  Json request = {{"model", dice.one_of(few_models)}};
  if (dice.one_in(4)) request["stack"] = "trl";
  Json training = {{"per_device_train_batch_size", 1 + dice.draw(8)},
                   {"gradient_accumulation_steps", 1 + dice.draw(8)},
                   {"max_length", 256 * (1 + dice.draw(12))},
                   {"gradient_checkpointing", dice.one_in(2)},
                   {"optim", dice.one_of(few_optimizers)}};
  if (!dice.one_in(4)) training["bf16"] = true;
  request["training"] = training;
  if (!dice.one_in(4)) {
    Json peft = {{"r", 4 << dice.draw(6)}, {"lora_alpha", 16}};
    peft["target_modules"] = dice.one_in(2) ? Json("all-linear") : Json::array({"q_proj", "v_proj"});
    if (dice.one_in(3)) peft["lora_dropout"] = 0.05;
    request["peft"] = peft;
    if (dice.one_in(3)) request["quantization"] = {{"load_in_4bit", true}};
  }
  Json args = {{"dtype", dice.one_in(3) ? "float32" : "bfloat16"}};
  if (dice.one_in(3)) args["attn_implementation"] = "eager";
  request["model_args"] = args;
  const std::vector<std::string> lockable = {"peft.r",
                                             "training.max_length",
                                             "training.optim",
                                             "training.per_device_train_batch_size",
                                             "quantization",
                                             "model_args.dtype",
                                             "peft"};
  Json locks = Json::array();
  for (uint64_t i = dice.draw(3); i > 0; --i) locks.push_back(dice.one_of(lockable));
  request["locks"] = locks;
  // Evaluation has a batch of its own, and its logits may outgrow the training.
  if (dice.one_in(3)) {
    request["training"]["eval_strategy"] = "steps";
    request["training"]["per_device_eval_batch_size"] = 1 + dice.draw(32);
    request["training"]["compute_metrics"] = dice.one_in(2);
    request["data"] = {{"eval_samples", 1 + dice.draw(64)}};
  }
  return request;
}

}  // namespace plimsoll::report
