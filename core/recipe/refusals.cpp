// Longer than a file should be, and in one piece: a table of what libraries refuse, with what they say.
#include "core/recipe/refusals.h"

#include <algorithm>

#include "core/json/words.h"
#include "core/recipe/implementations.h"
#include "core/recipe/optimizers.h"
#include "core/recipe/pattern.h"
#include "core/recipe/sdpa_support.h"
#include "core/recipe/stacks.h"
#include "core/recipe/strategies.h"
#include "core/recipe/tasks.h"

namespace plimsoll::recipe {

namespace {

using R = const Recipe&;
using A = const Refusing&;
using V = Versions;

// Who runs what: Transformers' Trainer, and TRL's trainers as they are.
constexpr std::string_view trainer = "hf trl axolotl llamafactory ms-swift unsloth";
constexpr std::string_view trl = "hf trl axolotl unsloth";
// Axolotl and "hf" run SFT in a Trainer of their own; Unsloth drops packing and says so.
constexpr std::string_view sft_trainer = "trl";
// Axolotl's gemma4_hybrid_attn_impl gives SDPA to the layers that flash-attn refuses.
constexpr std::string_view without_hybrid = "hf trl llamafactory ms-swift unsloth";
constexpr std::string_view trl_without_unsloth = "hf trl axolotl";  // Unsloth mends the batch itself

constexpr std::string_view no_kernel = "CUDA error: no kernel image is available for execution on the device";

using json::is_listed;

bool has_word(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool fsdp1(R r) { return strategy_of(r) == Strategy::fsdp; }
bool fsdp2(R r) { return strategy_of(r) == Strategy::fsdp2; }
bool fsdp(R r) { return is_fsdp(strategy_of(r)); }
bool zero3(R r) { return strategy_of(r) == Strategy::zero3; }
bool deepspeed(R r) { return is_zero(strategy_of(r)) && r.parallel.zero.library == "deepspeed"; }
bool distributed(R r) { return processes(r) > 1; }
bool bitsandbytes_base(R r) { return r.quantization.load_in_4bit || r.quantization.load_in_8bit; }
bool packed(R r, std::string_view methods) { return is_listed(r.quantization.quant_method, methods); }
bool dora_on(R r, std::string_view method) {
  return r.peft.on && r.peft.use_dora && r.quantization.quant_method == method;
}
bool projects(R r, Projection by) {
  const Optimizer* optimizer = find_optimizer(r.training.optim);
  return optimizer != nullptr && optimizer->projection == by;
}
bool by_galore(R r) { return projects(r, Projection::singular_vectors); }
bool by_apollo(R r) { return projects(r, Projection::random); }
bool low_rank(R r) { return by_galore(r) || by_apollo(r); }
bool layerwise(R r) { return low_rank(r) && find_optimizer(r.training.optim)->in_backward; }
bool liger(R r) { return r.training.use_liger_kernel || r.training.loss_kernel == "liger"; }
bool adapts_head(R r) {
  const std::vector<std::string>& names = r.peft.target_modules;
  return r.peft.on && std::find(names.begin(), names.end(), "lm_head") != names.end();
}
bool flash2(R r) { return r.model_args.attn_implementation == "flash_attention_2"; }
bool flash3(R r) { return r.model_args.attn_implementation == "flash_attention_3"; }
bool flash(R r) { return flash2(r) || flash3(r); }
bool own_classes(R r) { return implementation_of(r).transformers; }
bool sixteen_bit(R r) { return r.autocast() || r.model_args.dtype != "float32"; }
bool older_than(A a, double capability) {
  return a.compute_capability > 0 && a.compute_capability < capability;
}
bool task_in(R r, std::string_view tasks) { return is_listed(r.task, tasks); }
bool groups(R r) { return task_in(r, "grpo rloo"); }

uint64_t global_batch(R r) { return r.training.per_device_train_batch_size * processes(r); }
uint64_t generation_batch(R r) { return global_batch(r) * r.rl.steps_per_generation; }
uint64_t eval_batch(R r) { return r.training.per_device_eval_batch_size * processes(r); }
bool divides(uint64_t part, uint64_t whole) { return part > 0 && whole % part == 0; }

bool class_without_flash(R r, A a) {
  return own_classes(r) && !supports_flash_attention(a.model_type, r.versions.transformers);
}

bool lacks_model(R r, A a, std::string_view implementation) {
  const Implementation& code = implementation_of(r);
  return code.id == implementation && !has_model(code, a.model_type);
}

// The module that PEFT takes for one of Mamba's: named, matched, or one of all linears. Empty: none.
std::string_view mamba_target(R r) {
  const std::vector<std::string>& names = r.peft.target_modules;
  const std::vector<std::string>& left_out = r.peft.exclude_modules;
  const auto has = [](const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::string why;
  const std::optional<Pattern> pattern =
      r.peft.target_pattern.empty() ? std::nullopt : read_pattern(r.peft.target_pattern, why);
  for (const std::string_view name : {"out_proj", "conv1d"}) {
    if (has(left_out, name)) continue;
    const bool matched = pattern && (pattern->matches("backbone.layers.0.mixer." + std::string(name)) ||
                                     pattern->matches("model.layers.0.mamba." + std::string(name)));
    if (matched || has(names, name) || (name == "out_proj" && has(names, "all-linear"))) return name;
  }
  return {};
}
bool mamba_conflict(R r, A a, std::string_view types) {
  return r.peft.on && is_listed(r.peft.peft_type, "LORA ADALORA RANDLORA") &&
         is_listed(a.model_type, types) && !mamba_target(r).empty();
}

// clang-format off
constexpr Refusal refusal_rows[] = {
    // PyTorch and flash-attn, whatever the stack.
    {.id = "torch_without_pascal", .library = "PyTorch", .stacks = "", .of = &V::torch, .versions = ">=2.8",
     .applies = [](R, A a) { return older_than(a, 7); },
     .error = no_kernel,
     .instead = "The packages on PyPI are built for CUDA 12.8 and later from PyTorch 2.8 on, without kernels for Pascal; the build for CUDA 12.6 has them.",
     .source = "pytorch/pytorch .ci/manywheel/build_cuda.sh TORCH_CUDA_ARCH_LIST"},
    {.id = "torch_without_volta", .library = "PyTorch", .stacks = "", .of = &V::torch, .versions = ">=2.11",
     .applies = [](R, A a) { return a.compute_capability >= 7 && a.compute_capability < 7.5; },
     .error = no_kernel,
     .instead = "The packages on PyPI are built for CUDA 13 from PyTorch 2.11 on, which knows no Volta; the build for CUDA 12.6 has its kernels.",
     .source = "torch 2.11 on PyPI: cuda-toolkit 13.0.2; NVIDIA CUDA 13.0 release notes"},
    {.id = "torch_without_blackwell", .library = "PyTorch", .stacks = "", .of = &V::torch, .versions = "<2.7",
     .applies = [](R, A a) { return a.compute_capability >= 10; },
     .error = no_kernel,
     .instead = "PyTorch 2.7 for CUDA 12.8 is the first with kernels for Blackwell.",
     .source = "pytorch/pytorch .ci/manywheel/build_cuda.sh TORCH_CUDA_ARCH_LIST"},
    {.id = "litgpt_without_model", .library = "LitGPT", .stacks = "",
     .applies = [](R r, A a) { return lacks_model(r, a, "litgpt"); },
     .error = "… is not a supported config name",
     .instead = "Another stack: LitGPT has no code for models of this kind.",
     .source = "Lightning-AI/litgpt 0.5.13 litgpt/config.py Config.from_name"},
    {.id = "torchtune_without_model", .library = "torchtune", .stacks = "",
     .applies = [](R r, A a) { return lacks_model(r, a, "torchtune"); },
     .error = "Error loading 'torchtune.models.…'",
     .instead = "Another stack: torchtune has no code for models of this kind.",
     .source = "meta-pytorch/torchtune torchtune/models, torchtune/config/_utils.py _get_component_from_path"},
    {.id = "flash_attention_2_before_ampere", .library = "flash-attn", .stacks = "",
     .applies = [](R r, A a) { return flash2(r) && older_than(a, 8); },
     .error = "FlashAttention only supports Ampere GPUs or newer.",
     .instead = "attn_implementation \"sdpa\" runs on this card.",
     .source = "Dao-AILab/flash-attention csrc/flash_attn/flash_api.cpp mha_fwd"},
    {.id = "flash_attention_2_wide_heads", .library = "flash-attn", .stacks = without_hybrid,
     .applies = [](R r, A a) { return flash2(r) && a.widest_head > 256; },
     .error = "FlashAttention forward only supports head dimension at most 256",
     .instead = "attn_implementation \"sdpa\" takes heads of this size.",
     .source = "Dao-AILab/flash-attention csrc/flash_attn/flash_api.cpp mha_fwd"},
    {.id = "flash_attention_2_in_fp32", .library = "flash-attn", .stacks = "",
     .applies = [](R r, A) { return flash2(r) && !sixteen_bit(r) && !r.quantized(); },
     .error = "FlashAttention only support fp16 and bf16 data type",
     .instead = "bf16 or fp16 training, or attn_implementation \"sdpa\".",
     .source = "Dao-AILab/flash-attention csrc/flash_attn/flash_api.cpp mha_fwd"},
    {.id = "fp16_adapters_with_scaler", .library = "PyTorch", .stacks = trainer,
     .applies = [](R r, A) { return is_plain(strategy_of(r)) && r.training.fp16 && r.peft.on && r.peft.adapter_dtype == "float16"; },
     .error = "Attempting to unscale FP16 gradients.",
     .instead = "Adapters in float32, or bf16 training.",
     .source = "pytorch/pytorch torch/amp/grad_scaler.py GradScaler._unscale_grads_"},
    {.id = "fsdp_with_int8_weights", .library = "PyTorch", .stacks = "hf trl",
     .applies = [](R r, A) { return fsdp1(r) && r.quantization.load_in_8bit; },
     .error = "Cannot flatten integer dtype tensors",
     .instead = "4 bits with bnb_4bit_quant_storage in the dtype of the rest, or ddp.",
     .source = "pytorch/pytorch torch/distributed/fsdp/_flat_param.py FlatParamHandle._validate_tensors_to_flatten"},

    // Transformers.
    {.id = "bf16_before_ampere", .library = "Transformers", .stacks = trainer, .of = &V::torch, .versions = "<2.2",
     .applies = [](R r, A a) { return r.training.bf16 && older_than(a, 8); },
     .error = "Your setup doesn't support bf16/gpu. You need Ampere+ GPU with cuda>=11.0",
     .instead = "fp16 training. PyTorch from 2.2 on emulates bf16 there, slowly.",
     .source = "huggingface/transformers src/transformers/training_args.py TrainingArguments.__post_init__"},
    {.id = "class_without_flash_attention", .library = "Transformers", .stacks = trainer, .of = &V::transformers, .versions = "<5.2",
     .applies = [](R r, A a) { return flash2(r) && class_without_flash(r, a); },
     .error = "… does not support Flash Attention 2.0 yet.",
     .instead = "attn_implementation \"eager\" or \"sdpa\".",
     .source = "huggingface/transformers v4.57 src/transformers/modeling_utils.py _flash_attn_2_can_dispatch"},
    {.id = "class_without_flash_attention_5", .library = "Transformers", .stacks = trainer, .of = &V::transformers, .versions = ">=5.5",
     .applies = [](R r, A a) { return flash(r) && class_without_flash(r, a); },
     .error = "… does not support Flash Attention {flash_version} yet.",
     .instead = "attn_implementation \"eager\" or \"sdpa\".",
     .source = "huggingface/transformers v5.24 src/transformers/modeling_utils.py _flash_attn_can_dispatch"},
    {.id = "class_without_sdpa", .library = "Transformers", .stacks = "",
     .applies = [](R r, A a) { return r.model_args.attn_implementation == "sdpa" && own_classes(r) && !supports_sdpa(a.model_type, r.versions.transformers); },
     .error = "… does not support an attention implementation through torch.nn.functional.scaled_dot_product_attention yet.",
     .instead = "attn_implementation \"eager\".",
     .source = "huggingface/transformers src/transformers/modeling_utils.py _sdpa_can_dispatch"},
    {.id = "flash_attention_3_before_hopper", .library = "Transformers", .stacks = trainer, .of = &V::transformers, .versions = ">=4.53,<5.1",
     .applies = [](R r, A a) { return flash3(r) && own_classes(r) && older_than(a, 9); },
     .error = "FlashAttention3 has been toggled on, but it cannot be used due to the following error: Flash Attention 3 requires compute capability >= 9.0",
     .instead = "attn_implementation \"flash_attention_2\" or \"sdpa\".",
     .source = "huggingface/transformers v4.57 src/transformers/modeling_utils.py _flash_attn_3_can_dispatch"},
    {.id = "flash_attention_3_before_ampere", .library = "Transformers", .stacks = trainer, .of = &V::transformers, .versions = ">=5.5",
     .applies = [](R r, A a) { return flash3(r) && own_classes(r) && older_than(a, 8); },
     .error = "FlashAttention3 requires compute capability >= 8",
     .instead = "attn_implementation \"sdpa\".",
     .source = "huggingface/transformers v5.24 src/transformers/modeling_flash_attention_utils.py FLASH_ATTENTION_COMPATIBILITY_MATRIX"},
    {.id = "zero3_with_device_map", .library = "Transformers", .stacks = trainer, .of = &V::transformers, .versions = ">=4.50",
     .applies = [](R r, A) { return zero3(r) && deepspeed(r) && !r.model_args.device_map.empty(); },
     .error = "DeepSpeed Zero-3 is not compatible with passing a `device_map`.",
     .instead = "Leave device_map out: DeepSpeed places the shards.",
     .source = "huggingface/transformers v4.57 src/transformers/modeling_utils.py from_pretrained"},
    {.id = "zero3_with_device_map_before", .library = "Transformers", .stacks = trainer, .of = &V::transformers, .versions = "<4.50",
     .applies = [](R r, A) { return zero3(r) && deepspeed(r) && !r.model_args.device_map.empty(); },
     .error = "DeepSpeed Zero-3 is not compatible with `low_cpu_mem_usage=True` or with passing a `device_map`.",
     .instead = "Leave device_map out: DeepSpeed places the shards.",
     .source = "huggingface/transformers v4.46 src/transformers/modeling_utils.py from_pretrained"},
    {.id = "layerwise_optimizer_distributed", .library = "Transformers", .stacks = "hf trl axolotl unsloth ms-swift", .of = &V::transformers, .versions = ">=4.49",
     .applies = [](R r, A) { return layerwise(r) && distributed(r); },
     .error = "Layer-wise {optim} does not support DDP at this time",
     .instead = "The same optimizer without layerwise, or one GPU.",
     .source = "huggingface/transformers v4.57 src/transformers/trainer.py get_optimizer_cls_and_kwargs"},
    {.id = "layerwise_galore_distributed", .library = "Transformers", .stacks = "hf trl axolotl unsloth ms-swift", .of = &V::transformers, .versions = ">=4.39,<4.49",
     .applies = [](R r, A) { return layerwise(r) && distributed(r); },
     .error = "Layer-wise GaLore does not support DDP at this time",
     .instead = "The same optimizer without layerwise, or one GPU.",
     .source = "huggingface/transformers v4.44 src/transformers/trainer.py get_optimizer_cls_and_kwargs"},
    {.id = "projection_without_targets", .library = "Transformers", .stacks = "hf trl unsloth", .of = &V::transformers, .versions = ">=4.49",
     .applies = [](R r, A) { return low_rank(r) && r.training.optim_target_modules.empty(); },
     .error = "You need to define `optim_target_modules` to use {optim} optimizers",
     .instead = "optim_target_modules [\"attn\", \"mlp\"] or \"all-linear\".",
     .source = "huggingface/transformers v4.57 src/transformers/trainer.py get_optimizer_cls_and_kwargs"},
    {.id = "ademamix_before_044", .library = "Transformers", .stacks = trainer, .of = &V::bitsandbytes, .versions = "<0.44",
     .applies = [](R r, A) { return has_word(r.training.optim, "ademamix"); },
     .error = "The AdEMAMix optimizer is not supported by your current version of `bitsandbytes`. Please install `bitsandbytes` >= 0.44.0.",
     .instead = "A newer bitsandbytes, or another optimizer.",
     .source = "huggingface/transformers v4.57 src/transformers/trainer.py get_optimizer_cls_and_kwargs"},
    {.id = "torchao_optimizer_before_25", .library = "Transformers", .stacks = trainer, .of = &V::torch, .versions = "<2.4",
     .applies = [](R r, A) { return is_listed(r.training.optim, "adamw_torch_8bit adamw_torch_4bit"); },
     .error = "You need to have `torch>2.4` in order to use torch 4-bit optimizers.",
     .instead = "A newer PyTorch, or adamw_8bit of bitsandbytes.",
     .source = "huggingface/transformers v4.57 src/transformers/trainer.py get_optimizer_cls_and_kwargs"},
    {.id = "device_map_distributed", .library = "accelerate", .stacks = trainer,
     .applies = [](R r, A) { return distributed(r) && is_listed(r.model_args.device_map, "balanced balanced_low_0 sequential"); },
     .error = "You can't train a model that has been loaded with `device_map='auto'` in any distributed mode.",
     .instead = "One of device_map and a strategy.",
     .source = "huggingface/accelerate src/accelerate/accelerator.py Accelerator.prepare_model"},

    // PEFT.
    {.id = "dora_on_gptq", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.15",
     .applies = [](R r, A) { return dora_on(r, "gptq"); },
     .error = "GPTQLoraLinear does not support DoRA yet, please set it to False",
     .instead = "LoRA without DoRA, or a base in 4 bits of bitsandbytes.",
     .source = "huggingface/peft src/peft/tuners/lora/gptq.py GPTQLoraLinear.__init__"},
    {.id = "dora_on_gptq_before", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.10,<0.15",
     .applies = [](R r, A) { return dora_on(r, "gptq"); },
     .error = "QuantLinear does not support DoRA yet, please set it to False",
     .instead = "LoRA without DoRA, or a base in 4 bits of bitsandbytes.",
     .source = "huggingface/peft v0.14 src/peft/tuners/lora/gptq.py QuantLinear.__init__"},
    {.id = "dora_on_awq", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.14",
     .applies = [](R r, A) { return dora_on(r, "awq"); },
     .error = "AwqLoraLinear does not support DoRA yet, please set it to False",
     .instead = "LoRA without DoRA, or a base in 4 bits of bitsandbytes.",
     .source = "huggingface/peft src/peft/tuners/lora/awq.py AwqLoraLinear.__init__"},
    {.id = "dora_on_aqlm", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.14",
     .applies = [](R r, A) { return dora_on(r, "aqlm"); },
     .error = "AqlmLoraLinear does not support DoRA yet, please set it to False",
     .instead = "LoRA without DoRA, or a base in 4 bits of bitsandbytes.",
     .source = "huggingface/peft src/peft/tuners/lora/aqlm.py AqlmLoraLinear.__init__"},
    {.id = "dora_on_eetq", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.14",
     .applies = [](R r, A) { return dora_on(r, "eetq"); },
     .error = "EetqLoraLinear does not support DoRA yet, please set it to False",
     .instead = "LoRA without DoRA, or a base in 8 bits of bitsandbytes.",
     .source = "huggingface/peft src/peft/tuners/lora/eetq.py EetqLoraLinear.__init__"},
    {.id = "dora_with_lora_bias", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.14",
     .applies = [](R r, A) { return r.peft.on && r.peft.use_dora && r.peft.lora_bias; },
     .error = "The argument lora_bias=True is not supported for DoRA, please pass use_dora=False",
     .instead = "One of use_dora and lora_bias.",
     .source = "huggingface/peft src/peft/tuners/lora/config.py LoraConfig.__post_init__"},
    {.id = "lora_bias_on_hqq", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.14",
     .applies = [](R r, A) { return r.peft.on && r.peft.lora_bias && packed(r, "hqq"); },
     .error = "HqqLoraLinear does not support lora_bias yet, set it to False",
     .instead = "lora_bias false.",
     .source = "huggingface/peft src/peft/tuners/lora/hqq.py HqqLoraLinear.__init__"},
    {.id = "lora_bias_on_torchao", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.14",
     .applies = [](R r, A) { return r.peft.on && r.peft.lora_bias && packed(r, "torchao_int8"); },
     .error = "TorchaoLoraLinear does not support lora_bias yet, set it to False",
     .instead = "lora_bias false.",
     .source = "huggingface/peft src/peft/tuners/lora/torchao.py TorchaoLoraLinear.__init__"},
    {.id = "parameters_with_dropout", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.17",
     .applies = [](R r, A) { return r.peft.on && !r.peft.target_parameters.empty() && r.peft.lora_dropout > 0; },
     .error = "lora.ParamWrapper does not work with lora_dropout != 0.",
     .instead = "lora_dropout 0.",
     .source = "huggingface/peft src/peft/tuners/lora/layer.py ParamWrapper.__init__"},
    {.id = "parameters_with_dora", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.17",
     .applies = [](R r, A) { return r.peft.on && !r.peft.target_parameters.empty() && r.peft.use_dora; },
     .error = "lora.ParamWrapper does not work with use_dora=True.",
     .instead = "use_dora false.",
     .source = "huggingface/peft src/peft/tuners/lora/layer.py ParamWrapper.__init__"},
    {.id = "parameters_with_bias", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.17",
     .applies = [](R r, A) { return r.peft.on && !r.peft.target_parameters.empty() && r.peft.lora_bias; },
     .error = "lora.ParamWrapper does not work with lora_bias=True.",
     .instead = "lora_bias false.",
     .source = "huggingface/peft src/peft/tuners/lora/layer.py ParamWrapper.__init__"},
    {.id = "lora_on_mamba_output", .library = "PEFT", .stacks = "hf trl axolotl llamafactory unsloth", .of = &V::peft, .versions = ">=0.16",
     .applies = [](R r, A a) { return mamba_conflict(r, a, "falcon_h1 mamba mamba2 falcon_mamba"); },
     .error = "Module '{mamba_target}' is incompatible with Mamba-based models (model_type='{model_type}').",
     .instead = "target_modules without out_proj and conv1d.",
     .source = "huggingface/peft src/peft/tuners/tuners_utils.py _check_lora_target_modules_mamba"},
    {.id = "lora_on_nemotron_output", .library = "PEFT", .stacks = "hf trl axolotl llamafactory unsloth", .of = &V::peft, .versions = ">=0.20",
     .applies = [](R r, A a) { return mamba_conflict(r, a, "nemotron_h"); },
     .error = "Module '{mamba_target}' is incompatible with Mamba-based models (model_type='{model_type}').",
     .instead = "target_modules without out_proj and conv1d.",
     .source = "huggingface/peft v0.20 src/peft/tuners/tuners_utils.py _check_lora_target_modules_mamba"},
    {.id = "prefix_with_checkpointing", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.14,<0.19",
     .applies = [](R r, A) { return r.peft.on && r.peft.peft_type == "PREFIX_TUNING" && r.training.gradient_checkpointing; },
     .error = "Prefix tuning does not work with gradient checkpointing.",
     .instead = "gradient_checkpointing false, or another method.",
     .source = "huggingface/peft v0.17 src/peft/peft_model.py PeftModel._setup_prompt_encoder"},
    {.id = "prefix_with_checkpointing_019", .library = "PEFT", .stacks = trainer, .of = &V::peft, .versions = ">=0.19",
     .applies = [](R r, A) { return r.peft.on && r.peft.peft_type == "PREFIX_TUNING" && r.training.gradient_checkpointing; },
     .error = "PREFIX_TUNING does not work with gradient checkpointing.",
     .instead = "gradient_checkpointing false, or another method.",
     .source = "huggingface/peft v0.21 src/peft/peft_model.py PeftModel._setup_prompt_encoder"},

    // TRL.
    {.id = "fused_head_of_trained_tokens", .library = "TRL", .stacks = sft_trainer, .of = &V::trl, .versions = ">=1.15",
     .applies = [](R r, A a) { return r.peft.on && r.peft.num_trainable_tokens > 0 && a.tied_head && r.training.loss_kernel == "fused_lm_head"; },
     .error = "'TrainableTokensWrapper' object has no attribute 'bias'",
     .instead = "TRL before 1.15, or modules_to_save with embed_tokens: the head that TRL fuses with its loss is asked for a bias, and PEFT's wrapper around a tied one has none.",
     .source = "huggingface/trl v1.16 trl/trainer/utils.py _fused_forward; huggingface/peft v0.21 src/peft/utils/other.py"},
    {.id = "packing_images", .library = "TRL", .stacks = sft_trainer, .of = &V::trl, .versions = ">=0.22,<1.10",
     .applies = [](R r, A a) { return r.task == "sft" && r.training.packing && a.sees; },
     .error = "Packing is not supported for vision-language models. Please set `packing=False` in the SFTConfig.",
     .instead = "packing false.",
     .source = "huggingface/trl v1.9 trl/trainer/sft_trainer.py SFTTrainer.__init__"},
    {.id = "packing_images_110", .library = "TRL", .stacks = sft_trainer, .of = &V::trl, .versions = ">=1.10",
     .applies = [](R r, A a) { return r.task == "sft" && r.training.packing && a.sees && r.vision.images_per_sample > 0; },
     .error = "Packing is not supported for vision datasets. Please set `packing=False` in the SFTConfig.",
     .instead = "packing false.",
     .source = "huggingface/trl v1.16 trl/trainer/sft_trainer.py SFTTrainer.__init__"},
    {.id = "dpo_precomputes_with_zero3", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = "<0.29",
     .applies = [](R r, A) { return r.task == "dpo" && r.rl.precompute_ref_log_probs && zero3(r) && deepspeed(r); },
     .error = "You cannot use `precompute_ref_log_probs=True` with Deepspeed ZeRO-3. Please set `precompute_ref_log_probs=False`.",
     .instead = "precompute_ref_log_probs false, or ZeRO-2.",
     .source = "huggingface/trl v0.28 trl/trainer/dpo_trainer.py DPOTrainer.__init__"},
    {.id = "kto_precomputes_with_zero3", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = "<1.5",
     .applies = [](R r, A) { return r.task == "kto" && r.rl.precompute_ref_log_probs && zero3(r) && deepspeed(r); },
     .error = "You cannot use `precompute_ref_log_probs=True` with Deepspeed ZeRO-3. Please set `precompute_ref_log_probs=False`.",
     .instead = "precompute_ref_log_probs false, or ZeRO-2.",
     .source = "huggingface/trl v1.2 trl/experimental/kto/kto_trainer.py KTOTrainer.__init__"},
    {.id = "precomputes_images", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=1.7",
     .applies = [](R r, A a) { return task_in(r, "dpo kto") && r.rl.precompute_ref_log_probs && a.sees && r.vision.images_per_sample > 0; },
     .error = "`precompute_ref_log_probs=True` is not supported for vision datasets.",
     .instead = "precompute_ref_log_probs false.",
     .source = "huggingface/trl v1.16 trl/trainer/dpo_trainer.py DPOTrainer.__init__"},
    {.id = "dpo_liger_precomputes", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=0.29,<1.11",
     .applies = [](R r, A) { return r.task == "dpo" && liger(r) && r.rl.precompute_ref_log_probs; },
     .error = "Liger DPO loss does not support precomputing reference log probabilities. Either disable `precompute_ref_log_probs` or set `use_liger_kernel` to False.",
     .instead = "One of precompute_ref_log_probs and use_liger_kernel.",
     .source = "huggingface/trl v1.10 trl/trainer/dpo_trainer.py DPOTrainer.__init__"},
    {.id = "kto_liger_precomputes", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=1.9,<1.11",
     .applies = [](R r, A) { return r.task == "kto" && liger(r) && r.rl.precompute_ref_log_probs; },
     .error = "Liger KTO loss does not support precomputing reference log probabilities.",
     .instead = "One of precompute_ref_log_probs and use_liger_kernel.",
     .source = "huggingface/trl v1.10 trl/trainer/kto_trainer.py KTOTrainer.__init__"},
    {.id = "dpo_liger_adapters", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=0.29,<1.8",
     .applies = [](R r, A) { return r.task == "dpo" && liger(r) && r.peft.on; },
     .error = "Liger DPO loss is not implemented for PEFT models.",
     .instead = "use_liger_kernel false, or a newer TRL.",
     .source = "huggingface/trl v1.5 trl/trainer/dpo_trainer.py DPOTrainer.__init__"},
    {.id = "kto_liger_adapters", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=0.25,<1.8",
     .applies = [](R r, A) { return r.task == "kto" && liger(r) && r.peft.on; },
     .error = "You cannot use `use_liger_kernel=True` with Peft models. Please set `use_liger_kernel=False`.",
     .instead = "use_liger_kernel false, or a newer TRL.",
     .source = "huggingface/trl v1.5 trl/experimental/kto/kto_trainer.py KTOTrainer.__init__"},
    {.id = "liger_head_adapters", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=1.8,<1.15",
     .applies = [](R r, A) { return task_in(r, "dpo kto grpo") && liger(r) && adapts_head(r); },
     .error = "`use_liger_kernel=True` is incompatible with applying a PEFT adapter to `lm_head`.",
     .instead = "lm_head out of target_modules, or use_liger_kernel false.",
     .source = "huggingface/trl v1.14 trl/trainer/dpo_trainer.py, kto_trainer.py, grpo_trainer.py __init__"},
    {.id = "liger_prompt_learning", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=1.8,<1.15",
     .applies = [](R r, A) { return task_in(r, "dpo kto grpo") && liger(r) && r.peft.on && is_listed(r.peft.peft_type, "PROMPT_TUNING P_TUNING PREFIX_TUNING"); },
     .error = "`use_liger_kernel=True` is incompatible with prompt-learning PEFT methods (PromptTuning, PrefixTuning, P-Tuning).",
     .instead = "LoRA, or use_liger_kernel false.",
     .source = "huggingface/trl v1.14 trl/trainer/dpo_trainer.py, kto_trainer.py, grpo_trainer.py __init__"},
    {.id = "head_adapters", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=1.15",
     .applies = [](R r, A) { return (task_in(r, "dpo kto grpo rloo") || (r.task == "sft" && stack_traits(r.stack).trl_sft)) && adapts_head(r); },
     .error = "Applying a PEFT adapter to `lm_head` is not supported: the log-probabilities are computed from `lm_head.weight` directly, so the adapter would never be trained.",
     .instead = "lm_head out of target_modules, or in modules_to_save.",
     .source = "huggingface/trl v1.15 and v1.16 trl/trainer/sft_trainer.py, dpo_trainer.py, kto_trainer.py, grpo_trainer.py, rloo_trainer.py __init__"},
    {.id = "dpo_liger_loss_types", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=0.25,<0.29",
     .applies = [](R r, A) { return r.task == "dpo" && liger(r) && !r.rl.loss_type.empty() && !is_listed(r.rl.loss_type, "sigmoid apo_zero apo_down sppo_hard nca_pair"); },
     .error = "You set `use_liger_kernel=True` but the loss type is not from `[sigmoid, apo_zero, apo_down, sppo_hard, nca_pair`.",
     .instead = "use_liger_kernel false, or one of these losses.",
     .source = "huggingface/trl v0.28 trl/trainer/dpo_trainer.py DPOTrainer.__init__"},
    {.id = "kto_batch_of_one", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=0.12",
     .applies = [](R r, A) { return r.task == "kto" && r.rl.loss_type != "apo_zero_unpaired" && r.training.per_device_train_batch_size <= 1; },
     .error = "Actual (not effective) batch size must be > 1. KTO will not work properly because the KL term will be equivalent to the implied reward.",
     .instead = "per_device_train_batch_size 2 or more.",
     .source = "huggingface/trl v1.16 trl/trainer/kto_trainer.py KTOTrainer.__init__"},
    {.id = "one_generation", .library = "TRL", .stacks = trl, .of = &V::trl, .versions = ">=0.17",
     .applies = [](R r, A) { return groups(r) && r.rl.num_generations < 2; },
     .error = "{task} requires at least 2 generations per prompt to calculate the advantages. You provided {num_generations}, which is less than the minimum required.",
     .instead = "num_generations 2 or more.",
     .source = "huggingface/trl v1.16 trl/trainer/grpo_config.py GRPOConfig.__post_init__"},
    {.id = "generation_batch", .library = "TRL", .stacks = trl_without_unsloth, .of = &V::trl, .versions = ">=0.22",
     .applies = [](R r, A) { return groups(r) && !divides(r.rl.num_generations, generation_batch(r)); },
     .error = "generation_batch_size ({generation_batch}) must be divisible by num_generations ({num_generations}).",
     .instead = "per_device_train_batch_size x GPUs x steps_per_generation has to hold whole groups.",
     .source = "huggingface/trl v1.16 trl/trainer/grpo_config.py GRPOConfig.__post_init__"},
    {.id = "effective_batch_of_groups", .library = "TRL", .stacks = trl_without_unsloth, .of = &V::trl, .versions = ">=0.17,<0.22",
     .applies = [](R r, A) { return r.task == "grpo" && !divides(r.rl.num_generations, generation_batch(r)); },
     .error = "The effective train batch size ({processes} x {train_batch} x {steps_per_generation}) must be evenly divisible by the number of generations per prompt ({num_generations}).",
     .instead = "per_device_train_batch_size x GPUs x steps_per_generation has to hold whole groups.",
     .source = "huggingface/trl v0.19 trl/trainer/grpo_config.py GRPOConfig.__post_init__"},
    {.id = "global_batch_of_groups", .library = "TRL", .stacks = trl_without_unsloth, .of = &V::trl, .versions = ">=0.15,<0.17",
     .applies = [](R r, A) { return r.task == "grpo" && !divides(r.rl.num_generations, global_batch(r)); },
     .error = "The global train batch size ({processes} x {train_batch}) must be evenly divisible by the number of generations per prompt ({num_generations}).",
     .instead = "per_device_train_batch_size x GPUs has to hold whole groups.",
     .source = "huggingface/trl v0.15 trl/trainer/grpo_trainer.py GRPOTrainer.__init__"},
    {.id = "eval_batch_of_groups", .library = "TRL", .stacks = trl_without_unsloth, .of = &V::trl, .versions = ">=0.26",
     .applies = [](R r, A) { return groups(r) && r.evaluates() && !divides(r.rl.num_generations, eval_batch(r)); },
     .error = "The global eval batch size ({eval_batch} * {processes}) must be divisible by the number of generations used for evaluation ({num_generations}).",
     .instead = "per_device_eval_batch_size x GPUs has to hold whole groups, or num_generations_eval another number.",
     .source = "huggingface/trl v1.16 trl/trainer/grpo_config.py GRPOConfig.__post_init__"},
    {.id = "eval_batch_of_groups_before", .library = "TRL", .stacks = trl_without_unsloth, .of = &V::trl, .versions = ">=0.22,<0.26",
     .applies = [](R r, A) { return groups(r) && r.evaluates() && !divides(r.rl.num_generations, eval_batch(r)); },
     .error = "The global eval batch size ({eval_batch} * {processes}) must be divisible by num_generations ({num_generations}).",
     .instead = "per_device_eval_batch_size x GPUs has to hold whole groups.",
     .source = "huggingface/trl v0.24 trl/trainer/grpo_config.py GRPOConfig.__post_init__"},
    {.id = "groups_of_shared_sequences", .library = "TRL", .stacks = "hf trl", .of = &V::trl, .versions = ">=1.5",
     .applies = [](R r, A) { return groups(r) && r.parallel.sequence_parallel_size > 1; },
     .error = "{task}Trainer does not support sequence-dim parallelism (`parallelism_config.cp_size > 1` or `parallelism_config.sp_size > 1`) yet.",
     .instead = "sequence_parallel_size 1.",
     .source = "huggingface/trl v1.16 trl/trainer/grpo_config.py GRPOConfig.__post_init__"},
    {.id = "vllm_beside_int8", .library = "TRL", .stacks = trl_without_unsloth, .of = &V::trl, .versions = ">=0.26",
     .applies = [](R r, A) { return groups(r) && r.rl.use_vllm && r.rl.vllm_mode == "colocate" && r.quantization.load_in_8bit; },
     .error = "vLLM does not support in-flight 8-bit quantization.",
     .instead = "4 bits, or vLLM in a server of its own.",
     .source = "huggingface/trl v1.16 trl/generation/vllm_generation.py"},

    // The engine's own check, before it serves anything; Unsloth sets the share itself.
    {.id = "vllm_share_below_weights", .library = "vLLM", .stacks = "hf trl axolotl ms-swift",
     .applies = [](R r, A a) { return groups(r) && r.rl.colocates_vllm() && a.gpu_bytes > 0 && r.rl.vllm_gpu_memory_utilization * a.gpu_bytes < vllm_weights(r, a.parameters); },
     .error = "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
     .instead = "a vllm_gpu_memory_utilization that holds the weights and some cache; vllm_tensor_parallel_size; or vLLM in a server of its own.",
     .source = "vllm-project/vllm vllm/v1/core/kv_cache_utils.py check_enough_kv_cache_memory"},

    // Axolotl.
    {.id = "axolotl_packs_preferences", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return r.training.packing && task_in(r, "dpo orpo kto simpo grpo"); },
     .error = "`sample_packing: true` does not work with RLHF training",
     .instead = "sample_packing: false.",
     .source = "axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py check_sample_packing_w_rl"},
    {.id = "axolotl_fsdp_offload_8bit", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return fsdp1(r) && r.parallel.fsdp.offload_params && has_word(r.training.optim, "8bit"); },
     .error = "FSDP Offload not compatible with …",
     .instead = "optimizer: adamw_torch_fused, or offload_params: false.",
     .source = "axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py check_fsdp_offload_w_8bit_optimizer"},
    {.id = "axolotl_fsdp2_8bit", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return fsdp2(r) && is_listed(r.training.optim, "adamw_8bit adamw_bnb_8bit"); },
     .error = "FSDP2 not compatible with …, use `adamw_torch_8bit` instead",
     .instead = "optimizer: adamw_torch_8bit.",
     .source = "axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py check_fsdp2_w_8bit_optimizer"},
    {.id = "axolotl_fsdp2_quantised_preferences", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return fsdp2(r) && bitsandbytes_base(r) && task_in(r, "dpo kto orpo"); },
     .error = "FSDP2 does not support load_in_8bit or load_in_4bit with …. Please use DeepSpeed or set `fsdp_version` to 1.",
     .instead = "DeepSpeed, or fsdp_version: 1.",
     .source = "axolotl-ai-cloud/axolotl from 0.12 on, src/axolotl/utils/schemas/validation.py check_fsdp2_base_model_quant_rl"},
    {.id = "axolotl_falcon_fsdp", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A a) { return a.model_type == "falcon" && fsdp(r); },
     .error = "FSDP is not supported for falcon models",
     .instead = "DeepSpeed.",
     .source = "axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py check_falcon_fsdp"},
    {.id = "axolotl_mpt_checkpointing", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A a) { return a.model_type == "mpt" && r.training.gradient_checkpointing; },
     .error = "gradient_checkpointing is not supported for MPT models",
     .instead = "gradient_checkpointing: false.",
     .source = "axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py check_mpt_checkpointing"},
    {.id = "axolotl_lora_kernels_fsdp1", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return r.training.fused_lora && fsdp1(r) && r.parallel.num_gpus > 1; },
     .error = "lora_mlp_kernel, lora_qkv_kernel, and lora_o_kernel are not compatible with FSDP1.",
     .instead = "fsdp_version: 2, or these kernels off.",
     .source = "axolotl-ai-cloud/axolotl from 0.10 on, src/axolotl/utils/schemas/config.py check_multigpu_lora_kernels"},
    {.id = "axolotl_lora_kernels_8bit", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return r.training.fused_lora && r.quantization.load_in_8bit; },
     .error = "lora_mlp_kernel, lora_qkv_kernel, and lora_o_kernel are not compatible with 8-bit LoRA a the moment.",
     .instead = "load_in_4bit with adapter: qlora, or these kernels off.",
     .source = "axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py check_lora_kernels_8bit"},
    {.id = "axolotl_muon_deepspeed", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return r.training.optim == "muon" && deepspeed(r); },
     .error = "Muon optimizer is currently incompatible with DeepSpeed",
     .instead = "fsdp_version: 2, or another optimizer.",
     .source = "axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py check_muon_deepspeed_fsdp"},
    {.id = "axolotl_muon_fsdp1", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return r.training.optim == "muon" && fsdp1(r); },
     .error = "Muon optimizer is only compatible with FSDP2. Set fsdp_version: 2 to use Muon with FSDP.",
     .instead = "fsdp_version: 2.",
     .source = "axolotl-ai-cloud/axolotl from 0.15 on, src/axolotl/utils/schemas/validation.py check_muon_deepspeed_fsdp"},
    {.id = "axolotl_reentrant_preferences", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return task_in(r, "dpo orpo kto simpo grpo") && r.training.gradient_checkpointing && r.training.use_reentrant && r.quantization.load_in_4bit && r.peft.on && r.parallel.num_gpus > 1; },
     .error = "The `use_reentrant: True` implementation of gradient checkpointing is not supported for distributed RL training with QLoRA. Please set `use_reentrant: False` in `gradient_checkpointing_kwargs`.",
     .instead = "gradient_checkpointing_kwargs: {use_reentrant: false}.",
     .source = "axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py check_rl_config_gradient_checkpointing"},
    {.id = "axolotl_selective_reentrant", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return r.training.selective_checkpointing && r.training.gradient_checkpointing && r.training.use_reentrant; },
     .error = "selective_checkpointing requires non-reentrant checkpointing (gradient_checkpointing_kwargs.use_reentrant: false)",
     .instead = "gradient_checkpointing_kwargs: {use_reentrant: false}.",
     .source = "axolotl-ai-cloud/axolotl from 0.16 on, src/axolotl/utils/schemas/validation.py check_selective_checkpointing"},
    {.id = "axolotl_cut_cross_entropy_fp32", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return r.training.loss_kernel == "cut_cross_entropy" && !sixteen_bit(r); },
     .error = "Cut Cross Entropy requires fp16/bf16 training for backward pass. Please set `bf16` or `fp16` to `True`.",
     .instead = "bf16: true.",
     .source = "axolotl-ai-cloud/axolotl src/axolotl/integrations/cut_cross_entropy/args.py check_dtype_is_half"},
    {.id = "axolotl_context_parallel_attention", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return r.parallel.sequence_parallel_size > 1 && !flash2(r); },
     .error = "context_parallel_size > 1 requires attn_implementation: flash_attention_2. Ring attention only supports the flash attention 2 backend.",
     .instead = "attn_implementation: flash_attention_2.",
     .source = "axolotl-ai-cloud/axolotl from 0.19 on, src/axolotl/utils/schemas/validation.py check_context_parallel_size"},
    {.id = "axolotl_context_parallel_packing", .library = "Axolotl", .stacks = "axolotl",
     .applies = [](R r, A) { return r.parallel.sequence_parallel_size > 1 && r.training.packing && r.training.per_device_train_batch_size > 1; },
     .error = "micro_batch_size must be set to 1 when sample_packing is enabled due to a `ring-flash-attn` requirement",
     .instead = "micro_batch_size: 1.",
     .source = "axolotl-ai-cloud/axolotl from 0.10 on, src/axolotl/utils/schemas/validation.py check_context_parallel_size"},

    // LLaMA-Factory.
    {.id = "llamafactory_packed_sharded", .library = "LLaMA-Factory", .stacks = "llamafactory",
     .applies = [](R r, A) { return packed(r, "gptq awq aqlm") && (zero3(r) || fsdp(r)); },
     .error = "DeepSpeed ZeRO-3 or FSDP is incompatible with PTQ-quantized models.",
     .instead = "ZeRO-2, or 4 bits of bitsandbytes with FSDP.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/model/model_utils/quantization.py configure_quantization"},
    {.id = "llamafactory_int8_sharded", .library = "LLaMA-Factory", .stacks = "llamafactory",
     .applies = [](R r, A) { return r.quantization.load_in_8bit && (zero3(r) || fsdp(r)); },
     .error = "Only 4-bit quantized model can use fsdp+qlora or auto device map.",
     .instead = "quantization_bit: 4.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/model/model_utils/quantization.py configure_quantization"},
    {.id = "llamafactory_hqq_sharded", .library = "LLaMA-Factory", .stacks = "llamafactory",
     .applies = [](R r, A) { return packed(r, "hqq") && (zero3(r) || fsdp(r)); },
     .error = "HQQ quantization is incompatible with DeepSpeed ZeRO-3 or FSDP.",
     .instead = "ZeRO-2, or 4 bits of bitsandbytes with FSDP.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/model/model_utils/quantization.py configure_quantization"},
    {.id = "llamafactory_eetq_sharded", .library = "LLaMA-Factory", .stacks = "llamafactory",
     .applies = [](R r, A) { return packed(r, "eetq") && (zero3(r) || fsdp(r)); },
     .error = "EETQ quantization is incompatible with DeepSpeed ZeRO-3 or FSDP.",
     .instead = "ZeRO-2, or 4 bits of bitsandbytes with FSDP.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/model/model_utils/quantization.py configure_quantization"},
    {.id = "llamafactory_packed_preferences", .library = "LLaMA-Factory", .stacks = "llamafactory",
     .applies = [](R r, A) { return r.training.packing && !task_in(r, "sft pretrain"); },
     .error = "`neat_packing` cannot be set as True except SFT.",
     .instead = "neat_packing: false.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/hparams/parser.py get_train_args"},
    {.id = "llamafactory_dora_packed", .library = "LLaMA-Factory", .stacks = "llamafactory",
     .applies = [](R r, A) { return r.peft.on && r.peft.use_dora && packed(r, "gptq awq aqlm hqq eetq"); },
     .error = "DoRA is not compatible with PTQ-quantized models.",
     .instead = "use_dora: false, or 4 bits of bitsandbytes.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/model/adapter.py _setup_lora_tuning"},
    {.id = "llamafactory_projection_deepspeed", .library = "LLaMA-Factory", .stacks = "llamafactory", .of = &V::llamafactory, .versions = ">=0.9.3",
     .applies = [](R r, A) { return low_rank(r) && deepspeed(r); },
     .error = "GaLore and APOLLO are incompatible with DeepSpeed yet.",
     .instead = "ddp, or another optimizer.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/hparams/parser.py get_train_args"},
    {.id = "llamafactory_projection_adapters", .library = "LLaMA-Factory", .stacks = "llamafactory", .of = &V::llamafactory, .versions = ">=0.9.3",
     .applies = [](R r, A) { return low_rank(r) && r.peft.on; },
     .error = "Cannot use LoRA with GaLore, APOLLO or BAdam together.",
     .instead = "finetuning_type: full, or another optimizer.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/hparams/finetuning_args.py FinetuningArguments.__post_init__"},
    {.id = "llamafactory_layerwise_galore", .library = "LLaMA-Factory", .stacks = "llamafactory",
     .applies = [](R r, A) { return layerwise(r) && by_galore(r) && distributed(r); },
     .error = "Distributed training does not support layer-wise GaLore.",
     .instead = "galore_layerwise: false.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/hparams/parser.py get_train_args"},
    {.id = "llamafactory_layerwise_apollo", .library = "LLaMA-Factory", .stacks = "llamafactory",
     .applies = [](R r, A) { return layerwise(r) && by_apollo(r) && distributed(r); },
     .error = "Distributed training does not support layer-wise APOLLO.",
     .instead = "apollo_layerwise: false.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/hparams/parser.py get_train_args"},
    {.id = "llamafactory_pure_bf16_zero3", .library = "LLaMA-Factory", .stacks = "llamafactory",
     .applies = [](R r, A) { return zero3(r) && deepspeed(r) && r.full() && r.model_args.dtype == "bfloat16" && !r.autocast(); },
     .error = "`pure_bf16` is incompatible with DeepSpeed ZeRO-3.",
     .instead = "bf16: true.",
     .source = "hiyouga/LLaMA-Factory src/llamafactory/hparams/parser.py get_train_args"},

    // ms-swift, LitGPT, torchtune, Unsloth.
    {.id = "swift_packs_without_flash", .library = "ms-swift", .stacks = "ms-swift",
     .applies = [](R r, A) { return r.training.packing && !flash(r); },
     .error = "The \"packing\" feature requires a flash attention implementation.",
     .instead = "--attn_impl flash_attn.",
     .source = "modelscope/ms-swift swift/arguments/sft_args.py SftArguments._check_padding_free"},
    {.id = "swift_kto_batch_of_one", .library = "ms-swift", .stacks = "ms-swift",
     .applies = [](R r, A) { return r.task == "kto" && r.effective_batch() <= 1; },
     .error = "Batch size is 1 (too small). KTO will not work properly because the KL term will be equivalent to the implied reward.",
     .instead = "Two samples or more behind a step.",
     .source = "modelscope/ms-swift swift/pipelines/train/kto.py prepare_kto_dataset"},
    {.id = "litgpt_quantised_on_several", .library = "LitGPT", .stacks = "litgpt",
     .applies = [](R r, A) { return bitsandbytes_base(r) && r.parallel.num_gpus > 1; },
     .error = "Quantization is currently not supported for multi-GPU training. Please set devices=1 and num_nodes=1 when using the --quantize flag.",
     .instead = "--devices 1, or no --quantize.",
     .source = "Lightning-AI/litgpt litgpt/finetune/lora.py setup"},
    {.id = "litgpt_quantised_mixed", .library = "LitGPT", .stacks = "litgpt",
     .applies = [](R r, A) { return bitsandbytes_base(r) && r.autocast(); },
     .error = "Quantization and mixed precision is not supported.",
     .instead = "--precision bf16-true.",
     .source = "Lightning-AI/litgpt litgpt/finetune/lora.py setup"},
    {.id = "torchtune_fp16", .library = "torchtune", .stacks = "torchtune",
     .applies = [](R r, A) { return r.model_args.dtype == "float16"; },
     .error = "full fp16 training is not supported with this recipe. Please use bf16 or fp32 instead.",
     .instead = "dtype: bf16.",
     .source = "meta-pytorch/torchtune recipes/full_finetune_distributed.py FullFinetuneRecipeDistributed.__init__"},
    {.id = "unsloth_on_several", .library = "Unsloth", .stacks = "unsloth", .of = &V::unsloth, .versions = "<2025.6",
     .applies = [](R r, A) { return r.parallel.num_gpus > 1; },
     .error = "Unsloth currently does not support multi GPU setups - but we are working on it!",
     .instead = "One GPU (CUDA_VISIBLE_DEVICES), or a newer Unsloth.",
     .source = "unslothai/unsloth v2025.3 unsloth/tokenizer_utils.py patch_sft_trainer_tokenizer"},
};
// clang-format on

std::string upper(std::string_view word) {
  std::string text(word);
  for (char& letter : text) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter;
  return text;
}

struct Value {
  std::string_view name;
  std::string (*of)(R, A);
};
constexpr Value values[] = {
    {"optim", [](R r, A) { return r.training.optim; }},
    {"task", [](R r, A) { return upper(r.task); }},
    {"model_type", [](R, A a) { return std::string(a.model_type); }},
    {"flash_version", [](R r, A) { return std::string(flash3(r) ? "3" : "2"); }},
    {"mamba_target", [](R r, A) { return std::string(mamba_target(r)); }},
    {"num_generations", [](R r, A) { return std::to_string(r.rl.num_generations); }},
    {"steps_per_generation", [](R r, A) { return std::to_string(r.rl.steps_per_generation); }},
    {"processes", [](R r, A) { return std::to_string(processes(r)); }},
    {"train_batch", [](R r, A) { return std::to_string(r.training.per_device_train_batch_size); }},
    {"eval_batch", [](R r, A) { return std::to_string(r.training.per_device_eval_batch_size); }},
    {"generation_batch", [](R r, A) { return std::to_string(generation_batch(r)); }},
};

}  // namespace

std::span<const Refusal> refusals() { return refusal_rows; }

bool can_refuse(const Refusal& row, const Recipe& recipe) {
  if (!row.stacks.empty() && !is_listed(recipe.stack, row.stacks)) return false;
  return row.of == nullptr || version_matches(recipe.versions.*row.of, row.versions);
}

std::vector<const Refusal*> refusals_of(const Recipe& recipe, const Refusing& around) {
  std::vector<const Refusal*> found;
  for (const Refusal& row : refusal_rows) {
    if (can_refuse(row, recipe) && row.applies(recipe, around)) found.push_back(&row);
  }
  return found;
}

std::string error_of(const Refusal& row, const Recipe& recipe, const Refusing& around) {
  std::string text(row.error);
  for (const Value& value : values) {
    const std::string name = "{" + std::string(value.name) + "}";
    const std::size_t at = text.find(name);
    if (at != std::string::npos) text.replace(at, name.size(), value.of(recipe, around));
  }
  return text;
}

}  // namespace plimsoll::recipe
