// torchtune YAML, whose model is a function: torchtune.models.llama3_1.lora_llama3_1_8b.
// Keys: meta-pytorch/torchtune v0.6.1 recipes/*.py, torchtune/models/*/_model_builders.py.
#include "core/exchange/formats.h"
#include "core/exchange/formats/shared.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

struct Builder {
  std::string_view name, model;
};
constexpr Builder builders[] = {
    {"llama2_7b", "meta-llama/Llama-2-7b-hf"},
    {"llama2_13b", "meta-llama/Llama-2-13b-hf"},
    {"llama2_70b", "meta-llama/Llama-2-70b-hf"},
    {"llama2_reward_7b", "meta-llama/Llama-2-7b-hf"},
    {"code_llama2_7b", "codellama/CodeLlama-7b-hf"},
    {"code_llama2_13b", "codellama/CodeLlama-13b-hf"},
    {"code_llama2_70b", "codellama/CodeLlama-70b-hf"},
    {"llama3_8b", "meta-llama/Meta-Llama-3-8B"},
    {"llama3_70b", "meta-llama/Meta-Llama-3-70B"},
    {"llama3_1_8b", "meta-llama/Llama-3.1-8B"},
    {"llama3_1_70b", "meta-llama/Llama-3.1-70B"},
    {"llama3_1_405b", "meta-llama/Llama-3.1-405B"},
    {"llama3_2_1b", "meta-llama/Llama-3.2-1B"},
    {"llama3_2_3b", "meta-llama/Llama-3.2-3B"},
    {"llama3_3_70b", "meta-llama/Llama-3.3-70B-Instruct"},
    {"llama3_2_vision_11b", "meta-llama/Llama-3.2-11B-Vision-Instruct"},
    {"llama3_2_vision_90b", "meta-llama/Llama-3.2-90B-Vision-Instruct"},
    {"llama4_scout_17b_16e", "meta-llama/Llama-4-Scout-17B-16E-Instruct"},
    {"llama4_maverick_17b_128e", "meta-llama/Llama-4-Maverick-17B-128E-Instruct"},
    {"gemma_2b", "google/gemma-2b"},
    {"gemma_7b", "google/gemma-7b"},
    {"gemma2_2b", "google/gemma-2-2b"},
    {"gemma2_9b", "google/gemma-2-9b"},
    {"gemma2_27b", "google/gemma-2-27b"},
    {"mistral_7b", "mistralai/Mistral-7B-v0.1"},
    {"mistral_reward_7b", "mistralai/Mistral-7B-v0.1"},
    {"phi3_mini", "microsoft/Phi-3-mini-4k-instruct"},
    {"phi4_14b", "microsoft/phi-4"},
    {"qwen2_0_5b", "Qwen/Qwen2-0.5B"},
    {"qwen2_1_5b", "Qwen/Qwen2-1.5B"},
    {"qwen2_7b", "Qwen/Qwen2-7B"},
    {"qwen2_5_0_5b", "Qwen/Qwen2.5-0.5B"},
    {"qwen2_5_1_5b_base", "Qwen/Qwen2.5-1.5B"},
    {"qwen2_5_1_5b_instruct", "Qwen/Qwen2.5-1.5B-Instruct"},
    {"qwen2_5_3b", "Qwen/Qwen2.5-3B"},
    {"qwen2_5_7b_base", "Qwen/Qwen2.5-7B"},
    {"qwen2_5_7b_instruct", "Qwen/Qwen2.5-7B-Instruct"},
    {"qwen2_5_14b_base", "Qwen/Qwen2.5-14B"},
    {"qwen2_5_14b_instruct", "Qwen/Qwen2.5-14B-Instruct"},
    {"qwen2_5_32b_base", "Qwen/Qwen2.5-32B"},
    {"qwen2_5_32b_instruct", "Qwen/Qwen2.5-32B-Instruct"},
    {"qwen2_5_72b_base", "Qwen/Qwen2.5-72B"},
    {"qwen2_5_72b_instruct", "Qwen/Qwen2.5-72B-Instruct"},
    {"qwen3_0_6b_base", "Qwen/Qwen3-0.6B-Base"},
    {"qwen3_0_6b_instruct", "Qwen/Qwen3-0.6B"},
    {"qwen3_1_7b_base", "Qwen/Qwen3-1.7B-Base"},
    {"qwen3_1_7b_instruct", "Qwen/Qwen3-1.7B"},
    {"qwen3_4b_base", "Qwen/Qwen3-4B-Base"},
    {"qwen3_4b_instruct", "Qwen/Qwen3-4B"},
    {"qwen3_8b_base", "Qwen/Qwen3-8B-Base"},
    {"qwen3_8b_instruct", "Qwen/Qwen3-8B"},
    {"qwen3_14b_base", "Qwen/Qwen3-14B-Base"},
    {"qwen3_14b_instruct", "Qwen/Qwen3-14B"},
    {"qwen3_32b", "Qwen/Qwen3-32B"},
};

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// qlora_llama2_7b is lora_llama2_7b with quantize_base.
void read_model(Reading& reading, const Leaf& leaf) {
  std::string_view name = last_part(leaf.node->raw);
  for (std::string_view method : {"qlora_", "lora_"}) {
    if (name.substr(0, method.size()) != method) continue;
    name.remove_prefix(method.size());
    reading.values["/peft"] = true;
    if (method == "qlora_") reading.values["/quantization/load_in_4bit"] = true;
    break;
  }
  for (const Builder& row : builders) {
    if (row.name == name) reading.set("/model", std::string(row.model), &leaf);
  }
  if (!reading.has("/model"))
    reading.mark(leaf, Use::unsupported, "no published checkpoint of this model builder is known here");
}

void read_optimizer(Reading& reading, const Leaf& leaf) {
  const std::string_view name = last_part(leaf.node->raw);
  const std::string fused = leaf.path.substr(0, leaf.path.rfind('.')) + ".fused";
  std::string ours;
  if (name == "AdamW" || name == "Adam") ours = reading.is_on(fused) ? "adamw_torch_fused" : "adamw_torch";
  if (leaf.node->raw.find("bitsandbytes") != std::string::npos) {
    ours = name == "PagedAdamW8bit"    ? "paged_adamw_8bit"
           : name == "PagedAdamW"      ? "paged_adamw_32bit"
           : name == "PagedAdamW32bit" ? "paged_adamw_32bit"
           : name == "AdamW8bit"       ? "adamw_8bit"
           : name == "Lion8bit"        ? "lion_8bit"
           : name == "PagedLion8bit"   ? "paged_lion_8bit"
                                       : "";
  }
  if (name == "SGD") ours = "sgd";
  if (name == "Adafactor") ours = "adafactor";
  if (ours.empty()) return reading.mark(leaf, Use::unsupported, "this optimizer cannot be said yet");
  reading.set("/training/optim", ours, &leaf);
}

void read_loss(Reading& reading, const Leaf& leaf) {
  const std::string_view name = last_part(leaf.node->raw);
  if (name == "CEWithChunkedOutputLoss" || name == "LinearCrossEntropyLoss") {
    reading.set("/training/loss_kernel", "torchtune_chunked", &leaf);
  } else if (name == "CrossEntropyLoss") {
    reading.set("/training/loss_kernel", "stock", &leaf);
  } else if (name == "DPOLoss" || name == "RSOLoss") {
    reading.set("/task", "dpo", &leaf);
  } else if (name == "SimPOLoss") {
    reading.set("/task", "simpo", &leaf);
  } else if (name == "PPOLoss") {
    reading.set("/task", "ppo", &leaf);
  } else if (name.find("GRPO") != std::string_view::npos) {
    reading.set("/task", "grpo", &leaf);
  } else {
    reading.mark(leaf, Use::unsupported, "this loss cannot be said yet");
  }
}

void read_attention_targets(Reading& reading, const Leaf& leaf) {
  Json targets = Json::array();
  const auto listed = value_for("/peft/modules_to_save", *leaf.node, "");
  if (listed && listed->is_array()) {
    for (const Json& item : *listed) targets.push_back(item == "output_proj" ? Json("o_proj") : item);
  }
  const std::string prefix = leaf.path.substr(0, leaf.path.rfind('.') + 1);
  if (reading.is_on(prefix + "apply_lora_to_mlp")) {
    for (const char* name : {"gate_proj", "up_proj", "down_proj"}) targets.push_back(name);
  }
  if (reading.is_on(prefix + "apply_lora_to_output")) targets.push_back("lm_head");
  if (targets.empty()) return reading.mark(leaf, Use::implied, "empty");
  reading.set("/peft/target_modules", targets, &leaf);
  reading.finding(leaf).message = "together with apply_lora_to_mlp and apply_lora_to_output";
}

void read_quantize_base(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.set("/quantization/load_in_4bit", true, &leaf);
}

void read_offload(Reading& reading, const Leaf& leaf) {
  reading.set("/parallel/fsdp_config/offload_params", leaf);
}

// "${batch_size}" repeats another key.
void read_eval_batch(Reading& reading, const Leaf& leaf) {
  const Leaf* batch = reading.leaf("batch_size");
  if (leaf.node->raw == "${batch_size}" && batch != nullptr) {
    if (const auto value = value_for("/training/per_device_eval_batch_size", *batch->node, ""))
      reading.set("/training/per_device_eval_batch_size", *value, &leaf);
    return;
  }
  reading.set("/training/per_device_eval_batch_size", leaf);
}

constexpr Row rows[] = {
    {"model._component_", "/model", "", read_model},
    {"policy_model._component_", "/model", "", read_model},
    {"model.lora_rank", "/peft/r", ""},
    {"model.lora_alpha", "/peft/lora_alpha", ""},
    {"model.lora_dropout", "/peft/lora_dropout", ""},
    {"model.lora_attn_modules", "/peft/target_modules", "", read_attention_targets},
    {"model.use_dora", "/peft/use_dora", ""},
    {"model.quantize_base", "/quantization/load_in_4bit", "", read_quantize_base},
    {"tokenizer.max_seq_len", "/training/max_length", ""},
    {"dataset.packed", "/training/packing", ""},
    {"dataloader.packed", "/training/packing", ""},
    {"batch_size", "/training/per_device_train_batch_size", ""},
    {"training.batch_size", "/training/per_device_train_batch_size", ""},
    {"batch_size_val", "/training/per_device_eval_batch_size", "", read_eval_batch, Write::yes},
    {"gradient_accumulation_steps", "/training/gradient_accumulation_steps", ""},
    {"epochs", "/data/epochs", ""},
    {"optimizer._component_", "/training/optim", "", read_optimizer},
    {"training.optimizer._component_", "/training/optim", "", read_optimizer},
    {"loss._component_", "/training/loss_kernel", "", read_loss},
    {"training.loss._component_", "/training/loss_kernel", "", read_loss},
    {"loss.beta", "/rl/beta", ""},
    {"enable_activation_checkpointing", "/training/gradient_checkpointing", ""},
    {"training.enable_activation_checkpointing", "/training/gradient_checkpointing", ""},
    {"enable_activation_offloading", "/training/activation_offloading", ""},
    {"training.enable_activation_offloading", "/training/activation_offloading", ""},
    {"optimizer_in_bwd", "/training/optimizer_in_backward", ""},
    {"dtype", "/model_args/dtype", "fp32=float32, bf16=bfloat16, fp16=float16"},
    {"fsdp.cpu_offload", "/parallel/fsdp_config/offload_params", "", read_offload},
    {"fsdp_cpu_offload", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", ""},
    {"grpo_samples", "/rl/num_generations", ""},
    {"inference.group_size", "/rl/num_generations", ""},
    {"max_generated_tokens", "/rl/max_completion_length", ""},
    {"inference.max_generated_tokens", "/rl/max_completion_length", ""},
    {"temperature", "/rl/temperature", ""},
    {"model.image_size", "/vision/image_size", ""},
};
constexpr std::string_view irrelevant =
    "name output_dir base_model_path tokenizer.path tokenizer.merges_* tokenizer.vocab_path "
    "tokenizer.prompt_template "
    "tokenizer.max_num_tiles tokenizer.special_tokens_path tokenizer.image_size checkpointer.* "
    "teacher_checkpointer.* "
    "ref_checkpointer.* ref_policy_checkpointer.* value_checkpointer.* reward_checkpointer.* "
    "postprocessing.* "
    "resume_from_checkpoint save_* enable_async_checkpointing dataset.* dataset_val.* datasets[]* dataset "
    "dataloader.* seed shuffle run_val_every_n_steps optimizer.* lr_scheduler.* lr_scheduler loss.* "
    "clip_grad_norm "
    "max_steps_per_epoch metric_logger.* log_* profiler.* device collate_fn cudnn_deterministic_mode "
    "training.optimizer.* training.loss.* training.clip_grad_norm training.save_* training.seed "
    "training.checkpointer.* "
    "training.steps_before_weight_sync training.ppo_epochs reward_functions[]* num_steps ppo_epochs top_k "
    "orchestration.* inference.* debug_* min_response_length penalise_no_eos reward_penalty stop_token_ids "
    "whiten_rewards gamma lmbda kl_coeff kd_ratio num_warmup_steps enable_kv_cache apply_chat_template "
    "model.attn_dropout model.norm_eps fake_quant_after_n_steps checkpoint_dir policy_model.attn_dropout "
    "policy_model.norm_eps teacher_model.* ppo_batch_size tasks limit max_seq_length max_new_tokens "
    "prompt.* prompt include_path";
constexpr std::string_view implied =
    "tokenizer._component_ optimizer.fused training.optimizer.fused custom_sharded_layers "
    "model.apply_lora_to_mlp "
    "model.apply_lora_to_output low_cpu_ram use_distributed_state_dict data_parallel_shard_dim "
    "data_parallel_replicate_dim training.compile model.decoder_trainable model.encoder_trainable "
    "model.fusion_trainable model.vocab_size model.num_layers model.num_heads model.num_kv_heads "
    "model.embed_dim "
    "model.max_seq_len model.intermediate_dim model.rope_base reward_and_value_model.* policy_model.*";
constexpr std::string_view unpriced =
    "compile tensor_parallel_dim tensor_parallel_plan._component_ context_parallel_dim quantizer._component_ "
    "quantizer.groupsize quantizer teacher_model._component_ kd_loss._component_ forward_batch_size use_flex "
    "ac_mode ac_option enable_fp8_training fp8_recipe_name";
constexpr Table table{rows, irrelevant, implied, unpriced};
constexpr Section sections[] = {{"", &table}};

// torchtune.models.llama2.llama2 with its numbers: the shapes of a LLaMA checkpoint.
void read_shapes(Reading& reading) {
  const std::string section =
      reading.leaf("policy_model._component_") != nullptr ? "policy_model." : "model.";
  const std::string builder = reading.word(section + "_component_");
  const bool llama =
      builder == "torchtune.models.llama2.llama2" || builder == "torchtune.models.llama3.llama3";
  if (reading.has("/model") || !llama) return;
  const std::pair<const char*, const char*> names[] = {{"vocab_size", "vocab_size"},
                                                       {"num_layers", "num_hidden_layers"},
                                                       {"num_heads", "num_attention_heads"},
                                                       {"num_kv_heads", "num_key_value_heads"},
                                                       {"embed_dim", "hidden_size"},
                                                       {"max_seq_len", "max_position_embeddings"},
                                                       {"intermediate_dim", "intermediate_size"}};
  Json config = {{"model_type", "llama"}, {"architectures", Json::array({"LlamaForCausalLM"})}};
  for (const auto& [theirs, ours] : names) {
    Json value = reading.value(section + theirs);
    // torchtune/modules/common_utils scale_hidden_dim_for_mlp: two thirds of four times, in steps of 256.
    if (value.is_null() && std::string_view(theirs) == "intermediate_dim" && config.contains("hidden_size"))
      value = (config["hidden_size"].get<uint64_t>() * 8 / 3 + 255) / 256 * 256;
    if (!value.is_number_unsigned()) return;
    config[ours] = value;
  }
  config["tie_word_embeddings"] = false;
  reading.values["/model"] = Json{{"config", config}, {"name", "model of this configuration"}};
  reading.mark(*reading.leaf(section + "_component_"), Use::used);
}

// "tune run --nproc_per_node 4 full_finetune_distributed" stands in the comments of every published file.
void read_launch(Reading& reading) {
  for (std::string_view flag : {"--nproc_per_node", "--nproc-per-node"}) {
    const size_t at = reading.text.find(flag);
    if (at == std::string_view::npos) continue;
    uint64_t count = 0;
    for (size_t i = at + flag.size(); i < reading.text.size() && i < at + flag.size() + 8; ++i) {
      const char c = reading.text[i];
      if (c >= '0' && c <= '9') count = count * 10 + static_cast<uint64_t>(c - '0');
      if (count > 0 && (c < '0' || c > '9')) break;
    }
    if (count < 2 || count > 65536) return;
    reading.values["/parallel/num_gpus"] = count;
    if (!reading.has("/parallel/strategy")) reading.values["/parallel/strategy"] = "fsdp2";
    reading.notes.push_back("A comment in this file starts it on " + std::to_string(count) +
                            " GPUs; torchtune then shards the model over them (FSDP2).");
    return;
  }
}

void finish(Reading& reading) {
  const bool trains = reading.leaf("optimizer._component_") != nullptr ||
                      reading.leaf("training.optimizer._component_") != nullptr;
  bool generates = false;
  for (const Leaf& leaf : reading.all) generates = generates || leaf.path.rfind("prompt", 0) == 0;
  const bool other =
      generates || reading.leaf("tasks") != nullptr || reading.leaf("quantizer._component_") != nullptr;
  if (!trains && other) {
    const char* what = reading.leaf("tasks") != nullptr                   ? "evaluation"
                       : reading.leaf("quantizer._component_") != nullptr ? "quantising a checkpoint"
                                                                          : "generation";
    reading.errors.push_back(
        {"not_training", "",
         std::string("This is a torchtune configuration for ") + what + ", not for training.",
         "a configuration with an optimizer"});
    return;
  }
  read_shapes(reading);
  read_launch(reading);
  if (!reading.has("/peft")) reading.drop("/peft", "there is no adapter, so this says nothing");
  if (reading.has("/peft") && reading.word("model._component_").find("phi3") != std::string::npos &&
      reading.has("/peft/target_modules")) {
    // Published Phi-3 checkpoints hold q, k and v in one matrix, gate and up in another.
    Json fused = Json::array();
    for (const Json& name : reading.values["/peft/target_modules"]) {
      const bool qkv = name == "q_proj" || name == "k_proj" || name == "v_proj";
      const bool gate = name == "gate_proj" || name == "up_proj";
      const Json ours = qkv ? Json("qkv_proj") : gate ? Json("gate_up_proj") : name;
      bool known = false;
      for (const Json& old : fused) known = known || old == ours;
      if (!known) fused.push_back(ours);
    }
    reading.values["/peft/target_modules"] = fused;
    reading.notes.emplace_back(
        "The published checkpoint joins q, k, v and gate, up; their adapters are priced as joined.");
  }
  if (!reading.has("/parallel/strategy"))
    reading.drop("/parallel/fsdp_config", "one GPU: nothing is sharded");
}

bool write(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/model" || pointer == "/peft" || pointer == "/quantization/load_in_4bit") {
    if (out.wrote("model._component_")) return value != Json(false);
    for (const Builder& row : builders) {
      std::string id = out.model;
      if (id != row.model) continue;
      std::string family(row.name.substr(0, row.name.rfind('_')));
      // The module is the name without its size: llama3_1_8b lies in llama3_1, qwen2_0_5b in qwen2.
      for (std::string_view module :
           {"llama3_2_vision", "code_llama2", "llama2", "llama3_1", "llama3_2", "llama3_3", "llama3",
            "llama4", "gemma2", "gemma", "mistral", "phi3", "phi4", "qwen2_5", "qwen2", "qwen3"}) {
        if (row.name.substr(0, module.size()) != module) continue;
        family = module;
        break;
      }
      const bool adapter = out.find("/peft") != nullptr;
      const bool packed = out.is("/quantization/load_in_4bit", true);
      if (packed && !adapter) return false;
      const std::string method = packed ? "qlora_" : adapter ? "lora_" : "";
      out.put("model._component_", "torchtune.models." + family + "." + method + std::string(row.name),
              pointer);
      return true;
    }
    return false;
  }
  // The launcher shards, not the file; and adapters are arguments of a builder, which not every model has.
  const bool unbuilt = pointer.rfind("/peft/", 0) == 0 && !out.wrote("model._component_");
  if (pointer.rfind("/parallel/", 0) == 0 || unbuilt) {
    out.left_out.push_back(pointer);
    return true;
  }
  if (pointer == "/peft/target_modules") {
    if (!value.is_array()) return false;
    Json attention = Json::array();
    size_t gated = 0;
    bool output = false;
    for (const Json& item : value) {
      const std::string name = item.get<std::string>();
      if (name == "gate_proj" || name == "up_proj" || name == "down_proj") {
        ++gated;
      } else if (name == "lm_head") {
        output = true;
      } else if (name == "o_proj") {
        attention.push_back("output_proj");
      } else if (name == "q_proj" || name == "k_proj" || name == "v_proj") {
        attention.push_back(name);
      } else {
        return false;
      }
    }
    if (gated != 0 && gated != 3) return false;
    out.put("model.lora_attn_modules", attention, pointer);
    out.put("model.apply_lora_to_mlp", gated == 3, pointer);
    out.put("model.apply_lora_to_output", output, pointer);
    return true;
  }
  if (pointer == "/training/optim") {
    const std::string id = value.get<std::string>();
    const std::pair<const char*, const char*> names[] = {
        {"adamw_torch_fused", "torch.optim.AdamW"},
        {"adamw_torch", "torch.optim.AdamW"},
        {"paged_adamw_8bit", "bitsandbytes.optim.PagedAdamW8bit"},
        {"paged_adamw_32bit", "bitsandbytes.optim.PagedAdamW"},
        {"adamw_8bit", "bitsandbytes.optim.AdamW8bit"},
        {"lion_8bit", "bitsandbytes.optim.Lion8bit"},
        {"paged_lion_8bit", "bitsandbytes.optim.PagedLion8bit"},
        {"sgd", "torch.optim.SGD"}};
    for (const auto& [ours, theirs] : names) {
      if (id != ours) continue;
      out.put("optimizer._component_", theirs, pointer);
      if (id == "adamw_torch_fused") out.put("optimizer.fused", true, pointer);
      return true;
    }
    return false;
  }
  if (pointer == "/training/loss_kernel") {
    if (value != "torchtune_chunked" && value != "stock") return false;
    out.put("loss._component_",
            value == "stock" ? "torch.nn.CrossEntropyLoss" : "torchtune.modules.loss.LinearCrossEntropyLoss",
            pointer);
    return true;
  }
  return false;
}

}  // namespace

const Format torchtune{
    "torchtune",
    "torchtune",
    "torchtune",
    Language::yaml,
    sections,
    "checkpointer metric_logger profiler enable_activation_checkpointing tokenizer model optimizer "
    "loss dataset batch_size dtype quantizer prompt tasks policy_model orchestration",
    finish,
    write};

}  // namespace plimsoll::exchange
