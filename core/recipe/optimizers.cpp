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
}  // namespace

const std::vector<Optimizer>& optimizers() {
  using T = StepTemporary;
  using P = Projection;
  // clang-format off
  static const std::vector<Optimizer> table = {
      // id                  p  bytes block scales full<  factored paged  temporary          what, source
      {"adamw_torch",        2, 0,    0,    0,     0,     false,   false, T::copy_of_all,    "AdamW, foreach: two states in the parameter's dtype, and during the step one more copy of all of them", torch_adam},
      {"adamw_torch_fused",  2, 0,    0,    0,     0,     false,   false, T::none,           "AdamW, fused kernel: two states in the parameter's dtype, no copies during the step", torch_adam},
      {"adamw_torch_for_loop", 2, 0,  0,    0,     0,     false,   false, T::two_of_largest, "AdamW, one parameter after another: two states in the parameter's dtype", torch_adam},
      {"adamw_hf",           2, 0,    0,    0,     0,     false,   false, T::two_of_largest, "AdamW of older Transformers, one parameter after another", "huggingface/transformers v4.46 src/transformers/optimization.py AdamW"},
      {"adamw_apex_fused",   0, 8,    0,    0,     0,     false,   false, T::none,           "Apex fused AdamW: two fp32 states", "NVIDIA/apex apex/optimizers/fused_adam.py"},
      {"adamw_bnb_8bit",     0, 2,    256,  2,     4096,  false,   false, T::none,           "8-bit AdamW: two one-byte states with an fp32 scale for every 256 elements", bnb},
      {"adamw_8bit",         0, 2,    256,  2,     4096,  false,   false, T::none,           "8-bit AdamW: two one-byte states with an fp32 scale for every 256 elements", bnb},
      {"paged_adamw_32bit",  0, 8,    0,    0,     0,     false,   true,  T::none,           "paged AdamW: two fp32 states in managed memory that PyTorch does not count", bnb},
      {"paged_adamw",        0, 8,    0,    0,     0,     false,   true,  T::none,           "paged AdamW: two fp32 states in managed memory that PyTorch does not count", bnb},
      {"paged_adamw_8bit",   0, 2,    256,  2,     4096,  false,   true,  T::none,           "paged 8-bit AdamW: two one-byte states in managed memory that PyTorch does not count", bnb},
      {"lion_32bit",         0, 4,    0,    0,     0,     false,   false, T::none,           "Lion: one fp32 state", bnb},
      {"lion_8bit",          0, 1,    256,  1,     4096,  false,   false, T::none,           "8-bit Lion: one one-byte state with an fp32 scale for every 256 elements", bnb},
      {"paged_lion_32bit",   0, 4,    0,    0,     0,     false,   true,  T::none,           "paged Lion: one fp32 state in managed memory", bnb},
      {"paged_lion_8bit",    0, 1,    256,  1,     4096,  false,   true,  T::none,           "paged 8-bit Lion: one one-byte state in managed memory", bnb},
      {"adafactor",          0, 0,    0,    0,     0,     true,    false, T::adafactor,      "Adafactor without momentum: row and column sums of every matrix", hf_adafactor},
      {"sgd",                0, 0,    0,    0,     0,     false,   false, T::none,           "SGD without momentum: no state", torch_sgd},
      {"sgd_momentum",       1, 0,    0,    0,     0,     false,   false, T::none,           "SGD with momentum: one state in the parameter's dtype", torch_sgd},
      {"adagrad",            1, 0,    0,    0,     0,     false,   false, T::two_copies_of_all, "Adagrad: one state, and two copies of all of it during the step", "pytorch/pytorch torch/optim/adagrad.py"},
      {"rmsprop",            1, 0,    0,    0,     0,     false,   false, T::copy_of_all,    "RMSprop: one state, and a copy of all of it during the step", "pytorch/pytorch torch/optim/rmsprop.py"},
      {"adamw_torch_8bit",   0, 2,    256,  2,     4096,  false,   false, T::none,           "torchao's 8-bit AdamW: two one-byte states with an fp32 scale for every 256 elements, one compiled kernel a parameter", torchao},
      {"adamw_torch_4bit",   0, 1,    128,  2,     4096,  false,   false, T::none,           "torchao's 4-bit AdamW: two half-byte states with an fp32 scale for every 128 elements, one compiled kernel a parameter", torchao},
      {"adamw_torch_fp8",    0, 2,    256,  2,     4096,  false,   false, T::none,           "torchao's fp8 AdamW: two one-byte states with an fp32 scale for every 256 elements, one compiled kernel a parameter", torchao},
      {"adamw_anyprecision", 0, 4,    0,    0,     0,     false,   false, T::two_of_largest, "AnyPrecision AdamW: two bfloat16 states, one parameter after another", "huggingface/transformers v4.46 src/transformers/trainer.py (momentum_dtype and variance_dtype bfloat16); pytorch/torchdistx anyprecision_optimizer.py"},
      {"ademamix",           0, 12,   0,    0,     0,     false,   false, T::none,           "AdEMAMix: three fp32 states", bnb_ademamix},
      {"ademamix_8bit",      0, 3,    256,  3,     4096,  false,   false, T::none,           "8-bit AdEMAMix: three one-byte states with an fp32 scale for every 256 elements", bnb_ademamix},
      {"paged_ademamix_32bit", 0, 12, 0,    0,     0,     false,   true,  T::none,           "paged AdEMAMix: three fp32 states in managed memory that PyTorch does not count", bnb_ademamix},
      {"paged_ademamix_8bit", 0, 3,   256,  3,     4096,  false,   true,  T::none,           "paged 8-bit AdEMAMix: three one-byte states in managed memory that PyTorch does not count", bnb_ademamix},
      {"rmsprop_bnb",        0, 4,    0,    0,     0,     false,   false, T::none,           "bitsandbytes' RMSprop: one fp32 state", bnb},
      {"rmsprop_bnb_32bit",  0, 4,    0,    0,     0,     false,   false, T::none,           "bitsandbytes' RMSprop: one fp32 state", bnb},
      {"rmsprop_bnb_8bit",   0, 1,    256,  1,     4096,  false,   false, T::none,           "8-bit RMSprop: one one-byte state with an fp32 scale for every 256 elements", bnb},
      {"schedule_free_adamw", 2, 0,   0,    0,     0,     false,   false, T::copy_of_all,    "schedule-free AdamW, foreach: z and the second moment in the parameter's dtype, and a copy of all of it during the step", schedule_free},
      {"schedule_free_radam", 2, 0,   0,    0,     0,     false,   false, T::copy_of_all,    "schedule-free RAdam, foreach: z and the second moment in the parameter's dtype, and a copy of all of it during the step", schedule_free},
      {"schedule_free_sgd",  1, 0,    0,    0,     0,     false,   false, T::none,           "schedule-free SGD, foreach: z in the parameter's dtype", schedule_free},
      {"grokadamw",          3, 0,    0,    0,     0,     false,   false, T::two_of_largest, "GrokAdamW: two moments and a slow mean of the gradients in the parameter's dtype, one parameter after another", "cognitivecomputations/grokadamw grokadamw/grokadamw.py"},
      {"stable_adamw",       2, 0,    0,    0,     0,     false,   false, T::none,           "StableAdamW: two states in the parameter's dtype, and for 16-bit parameters what their sums have lost; one Triton kernel a parameter", optimi, P::none, 1},
      {"muon",               1, 0,    0,    0,     0,     false,   false, T::two_of_largest, "Muon: one momentum in the parameter's dtype; Newton-Schulz works on one matrix after another", "pytorch/pytorch torch/optim/_muon.py"},
      {"galore_adamw",       2, 0,    0,    0,     0,     false,   false, T::two_of_largest, "GaLore's AdamW: of every projected matrix two moments of rank columns, and the matrix that leads there", galore, P::singular_vectors},
      {"galore_adamw_layerwise", 2, 0, 0,   0,     0,     false,   false, T::two_of_largest, "GaLore's AdamW, each parameter as soon as its gradient is there: of every projected matrix two moments of rank columns, and the matrix that leads there", galore, P::singular_vectors},
      {"galore_adamw_8bit",  0, 2,    256,  2,     4096,  false,   false, T::two_of_largest, "GaLore's 8-bit AdamW: of every projected matrix two one-byte moments of rank columns, and the matrix that leads there", galore, P::singular_vectors},
      {"galore_adamw_8bit_layerwise", 0, 2, 256, 2, 4096, false,   false, T::two_of_largest, "GaLore's 8-bit AdamW, each parameter as soon as its gradient is there: of every projected matrix two one-byte moments of rank columns, and the matrix that leads there", galore, P::singular_vectors},
      {"galore_adafactor",   0, 0,    0,    0,     0,     true,    false, T::adafactor,      "GaLore's Adafactor: row and column sums of every projected gradient, and the matrix that leads there", galore, P::singular_vectors},
      {"galore_adafactor_layerwise", 0, 0, 0, 0,   0,     true,    false, T::adafactor,      "GaLore's Adafactor, each parameter as soon as its gradient is there: row and column sums of every projected gradient, and the matrix that leads there", galore, P::singular_vectors},
      {"apollo_adamw",       2, 0,    0,    0,     0,     false,   false, T::two_of_largest, "APOLLO: of every projected matrix two moments of rank columns, and the random matrix that leads there", apollo, P::random},
      {"apollo_adamw_layerwise", 2, 0, 0,   0,     0,     false,   false, T::two_of_largest, "APOLLO, each parameter as soon as its gradient is there: of every projected matrix two moments of rank columns, and the random matrix that leads there", apollo, P::random},
      {"lomo",               0, 0,    0,    0,     0,     false,   false, T::lomo,           "LOMO: no state; each parameter steps as soon as its gradient is there", lomo},
      {"adalomo",            0, 0,    0,    0,     0,     true,    false, T::adafactor,      "AdaLOMO: row and column sums of every matrix; each parameter steps as soon as its gradient is there", lomo},
      {"none",               0, 0,    0,    0,     0,     false,   false, T::none,           "no optimizer: forward and backward alone", torch_sgd},
      {"hybrid_adam",        0, 8,    0,    0,     0,     false,   false, T::none,           "ColossalAI's HybridAdam: two fp32 states, fused kernel", "hpcaitech/ColossalAI colossalai/nn/optimizer/hybrid_adam.py"},
  };
  // clang-format on
  return table;
}

const Optimizer* find_optimizer(std::string_view id) {
  for (const Optimizer& optimizer : optimizers()) {
    if (optimizer.id == id) return &optimizer;
  }
  return nullptr;
}

}  // namespace plimsoll::recipe
