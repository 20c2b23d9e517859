#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

// A base in few bits is shared out by FSDP, whose shards of packed weights need a 16-bit storage type
// (answerdotai/fsdp_qlora; PEFT docs, developer_guides fsdp and deepspeed); everything else by ZeRO-3.
std::vector<Level> levels(const Situation& s) {
  const recipe::Parallel& p = s.recipe.parallel;
  const bool whole = p.strategy == "none" || p.strategy == "ddp" || p.strategy == "zero0" ||
                     p.strategy == "zero1" || p.strategy == "zero2";
  if (p.num_gpus < 2 || !whole || s.recipe.quantization.load_in_8bit) return {};
  if (s.recipe.quantized()) {
    return {
        {{{"/parallel/strategy", "fsdp"}, {"/parallel/fsdp_config/offload_params", true}}, quality::none}};
  }
  return {{{{"/parallel/strategy", "zero3"},
            {"/parallel/zero_optimization/offload_param/device", "cpu"},
            {"/parallel/zero_optimization/offload_optimizer/device", "cpu"}},
           quality::none}};
}

constexpr Setting settings[] = {
    {"hf trl",
     "TrainingArguments(deepspeed=\"ds_zero3_offload.json\")   # 4-bit base: accelerate launch --use_fsdp "
     "--fsdp_offload_params true, with bnb_4bit_quant_storage=torch.bfloat16"},
    {"loop agilerl",
     "accelerate launch --use_deepspeed --zero_stage 3 --offload_param_device cpu --offload_optimizer_device "
     "cpu   # 4-bit base: --use_fsdp --fsdp_offload_params true"},
    {"axolotl",
     "deepspeed: deepspeed_configs/zero3_bf16_cpuoffload_all.json   # adapter: qlora: fsdp_config: "
     "{offload_params: true}"},
    {"llamafactory",
     "deepspeed: examples/deepspeed/ds_z3_offload_config.json   # quantization_bit: 4: accelerate launch "
     "--config_file examples/accelerate/fsdp_config_offload.yaml"},
    {"ms-swift", "--deepspeed zero3_offload   # --quant_bits 4: --fsdp 'full_shard auto_wrap offload'"},
};

}  // namespace

const Fix shards_in_host_memory = {
    "shards_in_host_memory",
    "Everything shared out, kept in CPU memory (ZeRO-3 or FSDP offload)",
    "strategy",
    Kind::choice,
    Needs::nothing,
    "one setting",
    "Each GPU's share of weights, gradients and states lies in RAM; a layer is gathered while it runs.",
    "The same update.",
    "deepspeedai/DeepSpeed docs, ZeRO-Infinity; pytorch FSDP CPUOffload; answerdotai/fsdp_qlora",
    levels,
    settings};

}  // namespace plimsoll::advice
