#include "core/exchange/formats/torchtune_configurations.h"

#include <algorithm>

#include "core/exchange/format.h"

namespace plimsoll::exchange {

namespace {

// meta-pytorch/torchtune v0.6.1 recipes/configs, all 137 that train but those of dev/.

// Blanks join the names, and the keys in which these files differ from the most.
struct Published {
  std::string_view names, keys;
};

constexpr std::string_view keys_of_all =
    "checkpointer._component_=torchtune.training.FullModelHFCheckpointer "
    "loss._component_=torchtune.modules.loss.CEWithChunkedOutputLoss dtype=bf16 epochs=1 compile=False "
    "dataset.packed=False optimizer._component_=torch.optim.AdamW optimizer.fused=True batch_size=2 "
    "gradient_accumulation_steps=8 enable_activation_checkpointing=True enable_activation_offloading=False "
    "optimizer_in_bwd=False";
constexpr std::string_view keys_of_adapters =
    "model.lora_rank=8 model.lora_alpha=16 model.lora_dropout=0.0 "
    "model.lora_attn_modules=q_proj,v_proj,output_proj model.apply_lora_to_mlp=True "
    "model.apply_lora_to_output=False";

constexpr Published published[] = {
    {"code_llama2/7B_lora_single_device code_llama2/7B_qlora_single_device gemma2/27B_lora_single_device "
     "llama2/13B_qlora_single_device llama2/7B_lora_single_device llama2/7B_qlora "
     "llama2/7B_qlora_single_device llama3/8B_lora_single_device llama3/8B_qlora_single_device "
     "llama3_1/8B_lora_single_device llama3_1/8B_qlora_single_device phi3/mini_lora_single_device "
     "phi3/mini_qlora_single_device phi4/14B_lora_single_device phi4/14B_qlora_single_device "
     "qwen2/7B_lora_single_device qwen2_5/3B_lora_single_device phi3/mini_full phi4/14B_full "
     "qwen2/0.5B_full_single_device qwen2/7B_full qwen2_5/3B_full",
     ""},
    {"gemma/7B_full gemma2/27B_full gemma2/9B_full", "batch_size=1 gradient_accumulation_steps=1"},
    {"mistral/7B_full_ppo_low_memory",
     "batch_size=128 compile=True forward_batch_size=128 gradient_accumulation_steps=1 "
     "loss._component_=torchtune.rlhf.loss.PPOLoss max_generated_tokens=58 "
     "optimizer._component_=bitsandbytes.optim.PagedAdamW optimizer.fused=False optimizer_in_bwd=True "
     "policy_model._component_=torchtune.models.mistral.mistral_7b temperature=0.7 "
     "tokenizer.max_seq_len=512"},
    {"llama3_2/3B_full", "batch_size=4"},
    {"llama3_3/70B_full_multinode",
     "batch_size=4 compile=True custom_sharded_layers=tok_embeddings,output dataset.packed=True "
     "fsdp_cpu_offload=False gradient_accumulation_steps=1 tokenizer.max_seq_len=1024"},
    {"llama3_2/1B_full", "batch_size=4 enable_activation_checkpointing=False"},
    {"llama3_2/1B_full_single_device",
     "batch_size=4 enable_activation_checkpointing=False gradient_accumulation_steps=1 "
     "optimizer._component_=bitsandbytes.optim.PagedAdamW8bit optimizer.fused=False optimizer_in_bwd=True"},
    {"llama3_2/3B_full_single_device",
     "batch_size=4 gradient_accumulation_steps=1 optimizer._component_=bitsandbytes.optim.PagedAdamW8bit "
     "optimizer.fused=False optimizer_in_bwd=True"},
    {"llama3_1/8B_full_dpo",
     "batch_size=4 loss._component_=torchtune.rlhf.loss.DPOLoss loss.beta=0.05 max_steps_per_epoch=1000 "
     "tokenizer.max_seq_len=1024"},
    {"llama3_2_vision/11B_full llama3_2_vision/90B_full",
     "custom_sharded_layers=decoder.tok_embeddings model.decoder_trainable=False "
     "model.encoder_trainable=True model.fusion_trainable=True model.image_size=560 "
     "tokenizer.max_seq_len=8192"},
    {"llama3/70B_full llama3_1/70B_full llama3_3/70B_full",
     "custom_sharded_layers=tok_embeddings,output fsdp_cpu_offload=True gradient_accumulation_steps=1 "
     "optimizer.fused=False tensor_parallel_dim=1 "
     "tensor_parallel_plan._component_=torchtune.models.llama3.base_llama_tp_plan"},
    {"llama3/8B_full llama3_1/8B_full",
     "custom_sharded_layers=tok_embeddings,output gradient_accumulation_steps=1"},
    {"llama3/8B_qat_full",
     "custom_sharded_layers=tok_embeddings,output gradient_accumulation_steps=1 "
     "quantizer._component_=torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer "
     "quantizer.groupsize=256"},
    {"qwen2/0.5B_full qwen2_5/0.5B_full qwen2_5/0.5B_full_single_device",
     "enable_activation_checkpointing=False"},
    {"qwen2/1.5B_full", "enable_activation_checkpointing=False gradient_accumulation_steps=1"},
    {"code_llama2/7B_full_low_memory llama2/7B_full_low_memory mistral/7B_full_low_memory "
     "phi3/mini_full_low_memory phi4/14B_full_low_memory",
     "enable_activation_offloading=True gradient_accumulation_steps=1 "
     "optimizer._component_=bitsandbytes.optim.PagedAdamW optimizer.fused=False optimizer_in_bwd=True"},
    {"gemma/2B_full gemma2/2B_full llama2/13B_full llama2/7B_full mistral/7B_full",
     "gradient_accumulation_steps=1"},
    {"qwen2/1.5B_full_single_device qwen2/7B_full_single_device qwen2_5/3B_full_single_device",
     "gradient_accumulation_steps=1 optimizer._component_=bitsandbytes.optim.PagedAdamW "
     "optimizer.fused=False optimizer_in_bwd=True"},
    {"llama3/8B_full_single_device llama3_1/8B_full_single_device",
     "gradient_accumulation_steps=1 optimizer._component_=bitsandbytes.optim.PagedAdamW8bit "
     "optimizer.fused=False optimizer_in_bwd=True"},
    {"llama2/7B_qat_full",
     "gradient_accumulation_steps=1 "
     "quantizer._component_=torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer "
     "quantizer.groupsize=256"},
    {"qwen2_5/1.5B_full_single_device",
     "model._component_=torchtune.models.qwen2_5.qwen2_5_1_5b_instruct batch_size=4 "
     "gradient_accumulation_steps=1 optimizer._component_=bitsandbytes.optim.PagedAdamW "
     "optimizer.fused=False optimizer_in_bwd=True"},
    {"qwen2_5/1.5B_full",
     "model._component_=torchtune.models.qwen2_5.qwen2_5_1_5b_instruct gradient_accumulation_steps=1"},
    {"qwen2_5/7B_full", "model._component_=torchtune.models.qwen2_5.qwen2_5_7b_instruct"},
    {"qwen2_5/7B_full_single_device",
     "model._component_=torchtune.models.qwen2_5.qwen2_5_7b_instruct gradient_accumulation_steps=1 "
     "optimizer._component_=bitsandbytes.optim.PagedAdamW optimizer.fused=False optimizer_in_bwd=True"},
    {"llama3_2_vision/11B_full_single_device",
     "model.decoder_trainable=False model.encoder_trainable=True model.fusion_trainable=True "
     "model.image_size=560 optimizer._component_=bitsandbytes.optim.PagedAdamW8bit optimizer.fused=False "
     "tokenizer.max_seq_len=8192"},
    {"llama3_1/405B_qlora", "batch_size=1 model.lora_alpha=32 model.lora_rank=16"},
    {"llama3_2/1B_lora llama3_2/1B_lora_single_device llama3_2/1B_qlora_single_device llama3_2/3B_lora",
     "batch_size=4 enable_activation_checkpointing=False model.lora_alpha=128 model.lora_rank=64"},
    {"llama3_2/1B_qat_lora llama3_2/3B_qat_lora",
     "batch_size=4 enable_activation_checkpointing=False model.lora_alpha=128 model.lora_rank=64 "
     "quantizer._component_=torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer "
     "quantizer.groupsize=256"},
    {"mistral/7B_lora",
     "batch_size=4 gradient_accumulation_steps=1 model.apply_lora_to_output=True model.lora_rank=64"},
    {"gemma/2B_lora gemma/7B_lora gemma2/27B_lora gemma2/2B_lora gemma2/9B_lora",
     "batch_size=4 gradient_accumulation_steps=1 model.lora_alpha=128 model.lora_rank=64"},
    {"llama2/7B_lora_dpo llama3_1/8B_lora_dpo",
     "batch_size=4 loss._component_=torchtune.rlhf.loss.DPOLoss loss.beta=0.1 max_steps_per_epoch=1000 "
     "tokenizer.max_seq_len=1024"},
    {"llama2/7B_lora_dpo_single_device llama3_1/8B_lora_dpo_single_device",
     "batch_size=4 loss._component_=torchtune.rlhf.loss.DPOLoss max_steps_per_epoch=1000 "
     "tokenizer.max_seq_len=1024"},
    {"mistral/7B_lora_single_device", "batch_size=4 model.apply_lora_to_output=True model.lora_rank=64"},
    {"gemma/2B_lora_single_device gemma/2B_qlora_single_device gemma/7B_qlora_single_device "
     "gemma2/27B_qlora_single_device gemma2/2B_qlora_single_device gemma2/9B_qlora_single_device "
     "llama3_2/3B_lora_single_device llama3_2/3B_qlora_single_device",
     "batch_size=4 model.lora_alpha=128 model.lora_rank=64"},
    {"qwen2/0.5B_lora qwen2/0.5B_lora_single_device", "batch_size=4 model.lora_alpha=64 model.lora_rank=32"},
    {"mistral/7B_qlora_single_device", "batch_size=4 model.lora_rank=64"},
    {"gemma/7B_lora_single_device gemma2/9B_lora_single_device", "batch_size=8"},
    {"gemma2/2B_lora_single_device", "batch_size=8 model.lora_alpha=128 model.lora_rank=64"},
    {"llama2/7B_lora llama3/8B_lora llama3_1/8B_lora phi3/mini_lora phi4/14B_lora qwen2/7B_lora "
     "qwen2_5/3B_lora",
     "enable_activation_checkpointing=False"},
    {"llama3/8B_dora",
     "enable_activation_checkpointing=False gradient_accumulation_steps=1 model.use_dora=True"},
    {"llama2/13B_lora", "enable_activation_checkpointing=False model.apply_lora_to_output=True"},
    {"qwen2_5/0.5B_lora qwen2_5/0.5B_lora_single_device",
     "enable_activation_checkpointing=False model.lora_alpha=64 model.lora_rank=32"},
    {"llama3/8B_qat_lora llama3_1/8B_qat_lora",
     "enable_activation_checkpointing=False "
     "quantizer._component_=torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer "
     "quantizer.groupsize=256"},
    {"llama2/70B_lora llama2/70B_qlora llama3/70B_lora llama3_1/70B_lora llama3_3/70B_lora "
     "llama3_3/70B_qlora",
     "gradient_accumulation_steps=1 model.lora_alpha=32 model.lora_rank=16"},
    {"llama3/8B_qdora_single_device",
     "model._component_=torchtune.models.llama3.lora_llama3_8b model.quantize_base=True "
     "model.use_dora=True"},
    {"llama3_2/8B_to_1B_KD_lora_distributed llama3_2/8B_to_1B_KD_lora_single_device",
     "model._component_=torchtune.models.llama3_2.lora_llama3_2_1b batch_size=4 "
     "enable_activation_checkpointing=False "
     "kd_loss._component_=torchtune.modules.loss.ForwardKLWithChunkedOutputLoss model.lora_alpha=128 "
     "model.lora_rank=64 teacher_model._component_=torchtune.models.llama3_1.llama3_1_8b"},
    {"qwen2/1.5_to_0.5B_KD_lora_distributed qwen2/1.5_to_0.5B_KD_lora_single_device",
     "model._component_=torchtune.models.qwen2.lora_qwen2_0_5b batch_size=8 "
     "enable_activation_checkpointing=False "
     "kd_loss._component_=torchtune.modules.loss.ForwardKLWithChunkedOutputLoss model.lora_alpha=64 "
     "model.lora_rank=32 optimizer.fused=False "
     "teacher_model._component_=torchtune.models.qwen2.qwen2_1_5b"},
    {"qwen2_5/14B_lora_single_device",
     "model._component_=torchtune.models.qwen2_5.lora_qwen2_5_14b_instruct"},
    {"qwen2_5/1.5B_lora qwen2_5/1.5B_lora_single_device",
     "model._component_=torchtune.models.qwen2_5.lora_qwen2_5_1_5b_instruct "
     "enable_activation_checkpointing=False model.lora_alpha=64 model.lora_rank=32"},
    {"qwen2_5/32B_lora",
     "model._component_=torchtune.models.qwen2_5.lora_qwen2_5_32b_instruct "
     "enable_activation_checkpointing=False"},
    {"qwen2_5/72B_lora",
     "model._component_=torchtune.models.qwen2_5.lora_qwen2_5_72b_instruct gradient_accumulation_steps=1"},
    {"qwen2_5/7B_lora_single_device", "model._component_=torchtune.models.qwen2_5.lora_qwen2_5_7b_instruct"},
    {"qwen2_5/7B_lora",
     "model._component_=torchtune.models.qwen2_5.lora_qwen2_5_7b_instruct "
     "enable_activation_checkpointing=False"},
    {"llama3_2_vision/11B_lora llama3_2_vision/11B_lora_single_device llama3_2_vision/11B_qlora "
     "llama3_2_vision/11B_qlora_single_device llama3_2_vision/90B_lora llama3_2_vision/90B_qlora",
     "model.decoder_trainable=frozen model.encoder_trainable=lora model.fusion_trainable=lora "
     "model.image_size=560 tokenizer.max_seq_len=8192"},
    {"qwen2/1.5B_lora qwen2/1.5B_lora_single_device", "model.lora_alpha=64 model.lora_rank=32"},
    {"llama3/8B_dora_single_device", "model.use_dora=True"},
};

}  // namespace

std::array<std::string_view, 3> published_keys(std::string_view name) {
  const auto* row = std::find_if(std::begin(published), std::end(published),
                                 [&](const Published& one) { return in_list(name, one.names); });
  if (row == std::end(published)) return {};
  const bool adapters =
      name.find("lora") != std::string_view::npos || name.find("dora") != std::string_view::npos;
  return {row->keys, keys_of_all, adapters ? keys_of_adapters : ""};
}

}  // namespace plimsoll::exchange
