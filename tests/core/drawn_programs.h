// Requests drawn by a fixed rule for programs that most runs do not use: several GPUs, saved tensors in host
// memory, compiled layers, parameters that step within the backward pass.
//
//     for (uint64_t seed = 0; seed < 100; ++seed) check(answer(drawn_on_ranks(seed)));
#pragma once

#include "tests/core/drawn_requests.h"

namespace plimsoll::report {

inline const std::vector<std::string> rank_strategies = {"ddp", "fsdp", "fsdp2", "zero1", "zero2", "zero3"};

// One of several GPUs.
inline Json drawn_on_ranks(uint64_t seed) {
  Dice dice(seed + 10000);
  Json request = drawn(seed);
  const std::string strategy = dice.one_of(rank_strategies);
  Json parallel = {{"num_gpus", 2 + dice.draw(7)}, {"strategy", strategy}};
  if (strategy == "ddp" && dice.one_in(3)) parallel["gradient_as_bucket_view"] = true;
  if (strategy == "fsdp" || strategy == "fsdp2") {
    Json config;
    config["reshard_after_forward"] = !dice.one_in(4);
    config["upcast_trainable"] = dice.one_in(2);
    if (dice.one_in(4)) config["offload_params"] = true;
    if (dice.one_in(3)) config["backward_prefetch"] = "none";
    if (dice.one_in(3)) config["forward_prefetch"] = true;
    if (dice.one_in(3)) config["activation_checkpointing"] = true;
    if (dice.one_in(3)) config["reduce_dtype"] = "float32";
    parallel["fsdp_config"] = config;
  }
  if (strategy.rfind("zero", 0) == 0) {
    Json config;
    config["overlap_comm"] = dice.one_in(2);
    config["contiguous_gradients"] = !dice.one_in(3);
    if (dice.one_in(3)) config["offload_optimizer"] = {{"device", "cpu"}};
    if (strategy == "zero3" && dice.one_in(3)) config["offload_param"] = {{"device", "cpu"}};
    if (dice.one_in(2)) config["reduce_bucket_size"] = 20000000;
    parallel["zero_optimization"] = config;
  }
  if (dice.one_in(4)) request["training"]["keep_gradients"] = true;
  request["parallel"] = parallel;
  return request;
}

// One GPU, or layers that are spread over a few.
inline Json drawn_program(uint64_t seed) {
  Dice dice(seed + 20000);
  Json request = drawn(seed);
  Json& training = request["training"];
  switch (dice.draw(7)) {
    case 0:
      training["gradient_checkpointing"] = true;
      training["activation_offloading"] = true;
      break;
    case 1:
      training["torch_compile"] = true;
      break;
    case 2:
      training["gradient_checkpointing"] = true;
      training["selective_checkpointing"] = true;
      break;
    case 3:
      training["optimizer_in_backward"] = true;
      break;
    case 4:
      training["optimizer_offload"] = dice.one_in(2) ? "states" : "states_and_gradients";
      break;
    case 5:
      request["model_args"]["device_map"] = "auto";
      request["parallel"] = {{"num_gpus", 2 + dice.draw(3)}};
      break;
    default:
      training["gradient_checkpointing"] = true;
      training["offload_checkpoints"] = true;
      if (dice.one_in(2)) request["parallel"] = {{"num_gpus", 2}, {"strategy", "ddp"}};
  }
  return request;
}

inline const std::vector<std::string> preference_tasks = {"dpo",    "orpo", "kto",  "cpo",           "simpo",
                                                          "reward", "grpo", "rloo", "classification"};

// Preferences, rewards and rewarded completions.
inline Json drawn_task(uint64_t seed) {
  Dice dice(seed + 30000);
  Json request = drawn(seed);
  request["task"] = dice.one_of(preference_tasks);
  if (dice.one_in(3)) request["training"]["keep_outputs"] = true;
  return request;
}

}  // namespace plimsoll::report
