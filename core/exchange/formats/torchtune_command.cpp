#include "core/exchange/formats/torchtune_command.h"

#include <algorithm>

#include "core/exchange/formats/overrides.h"
#include "core/exchange/formats/torchtune_models.h"
#include "core/exchange/scalar.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

// What the configurations that torchtune brings say, so that a command that names one is read as its file is:
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

// "loss.beta=0.1", unless the command says that key itself. Nothing of it is written in the command.
void plant(Node& root, std::string_view key, std::string_view value, Span nowhere) {
  const size_t dot = key.find('.');
  if (root.find(key) != nullptr) return;
  Node* place = &member_of(root, std::string(key.substr(0, dot)), nowhere);
  if (dot != std::string_view::npos) {
    // "optimizer=torch.optim.SGD" names the component (torchtune/config/_utils.py _merge_yaml_and_cli_args).
    if (place->is_scalar() && !place->raw.empty()) {
      const Node named = *place;
      *place = Node();
      member_of(*place, "_component_", nowhere) = named;
    }
    place = &member_of(*place, std::string(key.substr(dot + 1)), nowhere);
  }
  if (place->is_scalar() && place->raw.empty()) *place = yaml_scalar(std::string(value), true, nowhere);
}

void plant_all(Node& root, std::string_view keys, Span nowhere) {
  while (!keys.empty()) {
    const size_t end = std::min(keys.find(' '), keys.size());
    const std::string_view pair = keys.substr(0, end);
    const size_t equals = std::min(pair.find('='), pair.size() - 1);
    plant(root, pair.substr(0, equals), pair.substr(equals + 1), nowhere);
    keys.remove_prefix(std::min(end + 1, keys.size()));
  }
}

// Adds what the file of that name says to what the command says; nothing where no such file is known.
void add_published_keys(Node& root, const Node& name) {
  const auto* row = std::find_if(std::begin(published), std::end(published),
                                 [&](const Published& one) { return in_list(name.raw, one.names); });
  if (row == std::end(published)) return;
  const Span nowhere{name.span.at, 0};
  plant_all(root, row->keys, nowhere);
  plant_all(root, keys_of_all, nowhere);
  const bool adapters =
      name.raw.find("lora") != std::string::npos || name.raw.find("dora") != std::string::npos;
  if (adapters) plant_all(root, keys_of_adapters, nowhere);
}

// llama3_1/8B_qlora_single_device: torchtune.models.llama3_1.qlora_llama3_1_8b.
void add_published(Node& root, const Node& name) {
  const size_t slash = name.raw.find('/');
  const Node* said = root.find("model");
  if (slash == std::string::npos ||
      (said != nullptr && (said->is_scalar() || said->find("_component_") != nullptr)))
    return;
  const std::string family = name.raw.substr(0, slash), rest = ascii::lower(name.raw.substr(slash + 1));
  const auto says = [&rest](std::string_view word) { return rest.find(word) != std::string::npos; };
  const size_t full = rest.find("_full"), low = std::min({rest.find("_lora"), rest.find("_qlora"),
                                                          rest.find("_dora"), rest.find("_qdora")});
  const bool adapters = low < full;
  std::string size = rest.substr(0, std::min({full, low, rest.find("_qat")}));
  std::replace(size.begin(), size.end(), '.', '_');
  std::string builder = family + "_" + size;
  if (model_of_builder(builder).empty()) builder += "_base";
  if (model_of_builder(builder).empty()) return;
  const char* method = !adapters ? "" : says("_qlora") || says("_qdora") ? "qlora_" : "lora_";
  const std::string component = "torchtune.models." + family + "." + method + builder;
  Node& model = member_of(root, "model", name.span);
  member_of(model, "_component_", name.span) = scalar_node(component, component, false, name.span);
  if (says("dora")) member_of(model, "use_dora", name.span) = scalar_node(true, "true", false, name.span);
}

}  // namespace

bool is_torchtune_command(const Node& command) {
  const Node* words = command.find("$words");
  return words != nullptr && std::any_of(words->items.begin(), words->items.end(),
                                         [](const Node& word) { return word.raw == "tune"; });
}

Node torchtune_command(const Node& command) {
  Node root;
  root.kind = Node::Kind::map;
  root.span = command.span;
  const auto read = [&root](const Node& word) {
    if (word.raw.find('=') != std::string::npos) add_override(root, word);
  };
  for (const Member& member : command.members) {
    const bool list = member.key == "config" || member.key == "$words";
    if (member.key != "config") root.members.push_back(member);
    if (!list) continue;
    if (member.value.is_scalar()) read(member.value);
    for (const Node& word : member.value.items) read(word);
  }
  // What the file says of the keys that the command leaves to it.
  if (const Node* config = command.find("config"); config != nullptr) {
    const Node& name = config->items.empty() ? *config : config->items.front();
    add_published_keys(root, name);
    add_published(root, name);
  }
  return root;
}

}  // namespace plimsoll::exchange
