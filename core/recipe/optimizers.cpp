#include "core/recipe/optimizers.h"

namespace plimsoll::recipe {

namespace {
constexpr std::string_view torch_adam = "pytorch/pytorch torch/optim/adam.py _multi_tensor_adam, _fused_adam";
constexpr std::string_view bnb = "bitsandbytes-foundation/bitsandbytes bitsandbytes/optim/optimizer.py";
constexpr std::string_view hf_adafactor =
    "huggingface/transformers src/transformers/optimization.py Adafactor";
constexpr std::string_view torchao =
    "pytorch/ao torchao/optim/adam.py, torchao/optim/subclass_8bit.py, subclass_4bit.py";
constexpr std::string_view bnb_ademamix =
    "bitsandbytes-foundation/bitsandbytes bitsandbytes/optim/ademamix.py";
constexpr std::string_view schedule_free =
    "facebookresearch/schedule_free schedulefree/adamw_schedulefree.py, sgd_schedulefree.py";
constexpr std::string_view galore =
    "jiaweizzhao/GaLore galore_torch/adamw.py, galore_projector.py; huggingface/transformers "
    "src/transformers/trainer_optimizer.py";
constexpr std::string_view apollo = "zhuhanqing/APOLLO apollo_torch/apollo.py, random_projector.py";
constexpr std::string_view lomo = "OpenLMLab/LOMO lomo_optim/lomo.py fuse_update, lomo_optim/adalomo.py";
constexpr std::string_view optimi =
    "warner-benjamin/optimi optimi/stableadamw.py _init_state, optimi/optimizer.py";
constexpr std::string_view torch_sgd = "pytorch/pytorch torch/optim/sgd.py";

using T = StepTemporary;
using P = Projection;

// The same optimizer by another name.
constexpr Optimizer called(std::string_view id, Optimizer row) {
  row.id = id;
  return row;
}

// clang-format off
constexpr Optimizer eight_bit_adamw =
    {.id = "adamw_bnb_8bit", .adamw = true, .state_bytes = 2, .block = 256, .scales = 2, .full_state_below = 4096, .embeddings_in_full = true, .source = bnb,
     .what = "8-bit AdamW: two one-byte states with an fp32 scale for every 256 elements"};
constexpr Optimizer paged_adamw =
    {.id = "paged_adamw_32bit", .adamw = true, .state_bytes = 8, .paged = true, .source = bnb,
     .what = "paged AdamW: two fp32 states in managed memory that PyTorch does not count"};
constexpr Optimizer bnb_rmsprop =
    {.id = "rmsprop_bnb", .state_bytes = 4, .source = bnb,
     .what = "bitsandbytes' RMSprop: one fp32 state"};

constexpr Optimizer optimizer_rows[] = {
    {.id = "adamw_torch", .adamw = true, .state_in_parameter_dtype = 2, .temporary = T::copy_of_all, .source = torch_adam,
     .what = "AdamW, foreach: two states in the parameter's dtype, and during the step one more copy of all of them"},
    {.id = "adamw_torch_fused", .adamw = true, .state_in_parameter_dtype = 2, .source = torch_adam,
     .what = "AdamW, fused kernel: two states in the parameter's dtype, no copies during the step"},
    {.id = "adamw_torch_for_loop", .adamw = true, .state_in_parameter_dtype = 2, .temporary = T::two_of_largest, .source = torch_adam,
     .what = "AdamW, one parameter after another: two states in the parameter's dtype"},
    {.id = "adamw_hf", .adamw = true, .state_in_parameter_dtype = 2, .temporary = T::two_of_largest, .source = "huggingface/transformers v4.46 src/transformers/optimization.py AdamW",
     .what = "AdamW of older Transformers, one parameter after another"},
    {.id = "adamw_apex_fused", .adamw = true, .state_bytes = 8, .source = "NVIDIA/apex apex/optimizers/fused_adam.py",
     .what = "Apex fused AdamW: two fp32 states"},
    eight_bit_adamw,
    called("adamw_8bit", eight_bit_adamw),
    paged_adamw,
    called("paged_adamw", paged_adamw),
    {.id = "paged_adamw_8bit", .adamw = true, .state_bytes = 2, .block = 256, .scales = 2, .full_state_below = 4096, .embeddings_in_full = true, .paged = true, .source = bnb,
     .what = "paged 8-bit AdamW: two one-byte states in managed memory that PyTorch does not count"},
    {.id = "lion_32bit", .state_bytes = 4, .source = bnb,
     .what = "Lion: one fp32 state"},
    {.id = "lion_8bit", .state_bytes = 1, .block = 256, .scales = 1, .full_state_below = 4096, .embeddings_in_full = true, .source = bnb,
     .what = "8-bit Lion: one one-byte state with an fp32 scale for every 256 elements"},
    {.id = "paged_lion_32bit", .state_bytes = 4, .paged = true, .source = bnb,
     .what = "paged Lion: one fp32 state in managed memory"},
    {.id = "paged_lion_8bit", .state_bytes = 1, .block = 256, .scales = 1, .full_state_below = 4096, .embeddings_in_full = true, .paged = true, .source = bnb,
     .what = "paged 8-bit Lion: one one-byte state in managed memory"},
    {.id = "adafactor", .factored = true, .temporary = T::adafactor, .source = hf_adafactor,
     .what = "Adafactor without momentum: row and column sums of every matrix"},
    {.id = "sgd", .source = torch_sgd,
     .what = "SGD without momentum: no state"},
    {.id = "sgd_momentum", .state_in_parameter_dtype = 1, .source = torch_sgd,
     .what = "SGD with momentum: one state in the parameter's dtype"},
    {.id = "adagrad", .state_in_parameter_dtype = 1, .at_once = true, .temporary = T::two_copies_of_all, .source = "pytorch/pytorch torch/optim/adagrad.py",
     .what = "Adagrad: one state, and two copies of all of it during the step"},
    {.id = "rmsprop", .state_in_parameter_dtype = 1, .temporary = T::copy_of_all, .source = "pytorch/pytorch torch/optim/rmsprop.py",
     .what = "RMSprop: one state, and a copy of all of it during the step"},
    {.id = "adamw_torch_8bit", .state_bytes = 2, .block = 256, .scales = 2, .full_state_below = 4096, .source = torchao,
     .what = "torchao's 8-bit AdamW: two one-byte states with an fp32 scale for every 256 elements, one compiled kernel a parameter"},
    {.id = "adamw_torch_4bit", .state_bytes = 1, .block = 128, .scales = 2, .full_state_below = 4096, .source = torchao,
     .what = "torchao's 4-bit AdamW: two half-byte states with an fp32 scale for every 128 elements, one compiled kernel a parameter"},
    {.id = "adamw_torch_fp8", .state_bytes = 2, .block = 256, .scales = 2, .full_state_below = 4096, .source = torchao,
     .what = "torchao's fp8 AdamW: two one-byte states with an fp32 scale for every 256 elements, one compiled kernel a parameter"},
    {.id = "adamw_anyprecision", .state_bytes = 4, .temporary = T::two_of_largest, .source = "huggingface/transformers v4.46 src/transformers/trainer.py (momentum_dtype and variance_dtype bfloat16); pytorch/torchdistx anyprecision_optimizer.py",
     .what = "AnyPrecision AdamW: two bfloat16 states, one parameter after another"},
    {.id = "ademamix", .state_bytes = 12, .source = bnb_ademamix,
     .what = "AdEMAMix: three fp32 states"},
    {.id = "ademamix_8bit", .state_bytes = 3, .block = 256, .scales = 3, .full_state_below = 4096, .embeddings_in_full = true, .source = bnb_ademamix,
     .what = "8-bit AdEMAMix: three one-byte states with an fp32 scale for every 256 elements"},
    {.id = "paged_ademamix_32bit", .state_bytes = 12, .paged = true, .source = bnb_ademamix,
     .what = "paged AdEMAMix: three fp32 states in managed memory that PyTorch does not count"},
    {.id = "paged_ademamix_8bit", .state_bytes = 3, .block = 256, .scales = 3, .full_state_below = 4096, .embeddings_in_full = true, .paged = true, .source = bnb_ademamix,
     .what = "paged 8-bit AdEMAMix: three one-byte states in managed memory that PyTorch does not count"},
    bnb_rmsprop,
    called("rmsprop_bnb_32bit", bnb_rmsprop),
    {.id = "rmsprop_bnb_8bit", .state_bytes = 1, .block = 256, .scales = 1, .full_state_below = 4096, .embeddings_in_full = true, .source = bnb,
     .what = "8-bit RMSprop: one one-byte state with an fp32 scale for every 256 elements"},
    {.id = "schedule_free_adamw", .state_in_parameter_dtype = 2, .temporary = T::copy_of_all, .source = schedule_free,
     .what = "schedule-free AdamW, foreach: z and the second moment in the parameter's dtype, and a copy of all of it during the step"},
    {.id = "schedule_free_radam", .state_in_parameter_dtype = 2, .temporary = T::copy_of_all, .source = schedule_free,
     .what = "schedule-free RAdam, foreach: z and the second moment in the parameter's dtype, and a copy of all of it during the step"},
    {.id = "schedule_free_sgd", .state_in_parameter_dtype = 1, .source = schedule_free,
     .what = "schedule-free SGD, foreach: z in the parameter's dtype"},
    {.id = "grokadamw", .state_in_parameter_dtype = 3, .temporary = T::two_of_largest, .source = "cognitivecomputations/grokadamw grokadamw/grokadamw.py",
     .what = "GrokAdamW: two moments and a slow mean of the gradients in the parameter's dtype, one parameter after another"},
    {.id = "stable_adamw", .state_in_parameter_dtype = 2, .source = optimi, .state_of_16_bit = 1,
     .what = "StableAdamW: two states in the parameter's dtype, and for 16-bit parameters what their sums have lost; one Triton kernel a parameter"},
    {.id = "muon", .state_in_parameter_dtype = 1, .temporary = T::two_of_largest, .source = "pytorch/pytorch torch/optim/_muon.py",
     .what = "Muon: one momentum in the parameter's dtype; Newton-Schulz works on one matrix after another"},
    {.id = "galore_adamw", .state_in_parameter_dtype = 2, .temporary = T::two_of_largest, .source = galore, .projection = P::singular_vectors,
     .what = "GaLore's AdamW: of every projected matrix two moments of rank columns, and the matrix that leads there"},
    {.id = "galore_adamw_layerwise", .state_in_parameter_dtype = 2, .in_backward = true, .temporary = T::two_of_largest, .source = galore, .projection = P::singular_vectors,
     .what = "GaLore's AdamW, each parameter as soon as its gradient is there: of every projected matrix two moments of rank columns, and the matrix that leads there"},
    {.id = "galore_adamw_8bit", .state_bytes = 2, .block = 256, .scales = 2, .full_state_below = 4096, .temporary = T::two_of_largest, .source = galore, .projection = P::singular_vectors,
     .what = "GaLore's 8-bit AdamW: of every projected matrix two one-byte moments of rank columns, and the matrix that leads there"},
    {.id = "galore_adamw_8bit_layerwise", .state_bytes = 2, .block = 256, .scales = 2, .full_state_below = 4096, .in_backward = true, .temporary = T::two_of_largest, .source = galore, .projection = P::singular_vectors,
     .what = "GaLore's 8-bit AdamW, each parameter as soon as its gradient is there: of every projected matrix two one-byte moments of rank columns, and the matrix that leads there"},
    {.id = "galore_adafactor", .factored = true, .temporary = T::adafactor, .source = galore, .projection = P::singular_vectors,
     .what = "GaLore's Adafactor: row and column sums of every projected gradient, and the matrix that leads there"},
    {.id = "galore_adafactor_layerwise", .factored = true, .in_backward = true, .temporary = T::adafactor_apart, .source = galore, .projection = P::singular_vectors,
     .what = "GaLore's Adafactor, each parameter as soon as its gradient is there: row and column sums of every projected gradient, and the matrix that leads there"},
    {.id = "apollo_adamw", .state_in_parameter_dtype = 2, .temporary = T::two_of_largest, .source = apollo, .projection = P::random,
     .what = "APOLLO: of every projected matrix two moments of rank columns, and the random matrix that leads there"},
    {.id = "apollo_adamw_layerwise", .state_in_parameter_dtype = 2, .in_backward = true, .temporary = T::two_of_largest, .source = apollo, .projection = P::random,
     .what = "APOLLO, each parameter as soon as its gradient is there: of every projected matrix two moments of rank columns, and the random matrix that leads there"},
    {.id = "lomo", .in_backward = true, .temporary = T::lomo, .source = lomo,
     .what = "LOMO: no state; each parameter steps as soon as its gradient is there"},
    {.id = "adalomo", .factored = true, .in_backward = true, .temporary = T::adafactor_apart, .source = lomo,
     .what = "AdaLOMO: row and column sums of every matrix; each parameter steps as soon as its gradient is there"},
    {.id = "none", .source = torch_sgd,
     .what = "no optimizer: forward and backward alone"},
    {.id = "hybrid_adam", .state_bytes = 8, .source = "hpcaitech/ColossalAI colossalai/nn/optimizer/hybrid_adam.py",
     .what = "ColossalAI's HybridAdam: two fp32 states, fused kernel"},
};
// clang-format on

}  // namespace

std::span<const Optimizer> optimizers() { return optimizer_rows; }

const Optimizer* find_optimizer(std::string_view id) {
  for (const Optimizer& optimizer : optimizers()) {
    if (optimizer.id == id) return &optimizer;
  }
  return nullptr;
}

bool plain_adamw(std::string_view id) {
  const Optimizer* optimizer = find_optimizer(id);
  return optimizer != nullptr && optimizer->adamw && optimizer->block == 0 && !optimizer->paged;
}

}  // namespace plimsoll::recipe
