// torchtune YAML, whose model is a function: torchtune.models.llama3_1.lora_llama3_1_8b.
// Keys: meta-pytorch/torchtune v0.6.1 recipes/*.py, torchtune/models/*/_model_builders.py.
#include <algorithm>

#include "core/exchange/formats.h"
#include "core/exchange/formats/python_loop.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/torchtune_export.h"
#include "core/exchange/formats/torchtune_models.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

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
  const std::string_view model = model_of_builder(name);
  if (!model.empty()) return reading.set("/model", std::string(model), &leaf);
  if (!reading.has("/model"))
    reading.mark(leaf, Use::unsupported, "no published checkpoint of this model builder is known here");
}

// torchao's optimizer in host memory: optimizer_class names the one that steps there, torch's AdamW unless
// said (torchao/optim/cpu_offload.py).
void read_cpu_offload(Reading& reading, const Leaf& leaf, const std::string& section) {
  reading.set("/training/optimizer_offload",
              reading.is_on(section + "offload_gradients") ? "states_and_gradients" : "states", &leaf);
  reading.values["/training/optim"] = "adamw_torch_fused";
}

void read_optimizer(Reading& reading, const Leaf& leaf) {
  const std::string_view name = last_part(leaf.node->raw);
  const std::string section = leaf.path.substr(0, leaf.path.rfind('.') + 1);
  if (name == "CPUOffloadOptimizer") return read_cpu_offload(reading, leaf, section);
  std::string ours;
  if (name == "AdamW" || name == "Adam")
    ours = reading.is_on(section + "fused") ? "adamw_torch_fused" : "adamw_torch";
  if (leaf.node->raw.find("torchao") != std::string::npos) {
    ours = name == "AdamW8bit"   ? "adamw_torch_8bit"
           : name == "AdamW4bit" ? "adamw_torch_4bit"
           : name == "AdamWFp8"  ? "adamw_torch_fp8"
                                 : "";
  }
  if (name == "SGD") ours = reading.value(section + "momentum") > Json(0) ? "sgd_momentum" : "sgd";
  if (name == "Adafactor") ours = "adafactor";
  if (leaf.node->raw.find("bitsandbytes") != std::string::npos) {
    ours = optimizer_class(leaf.node->raw);
    if (std::string note = stand_in_note(leaf.node->raw); !note.empty())
      reading.notes.push_back(std::move(note));
  }
  if (ours.empty()) return reading.mark(leaf, Use::unsupported, "this optimizer cannot be said yet");
  reading.set("/training/optim", ours, &leaf);
}

void read_loss(Reading& reading, const Leaf& leaf) {
  const std::string_view name = last_part(leaf.node->raw);
  if (name == "CEWithChunkedOutputLoss") {
    reading.set("/training/loss_kernel", "torchtune_chunked", &leaf);
  } else if (name == "LinearCrossEntropyLoss") {
    reading.set("/training/loss_kernel", "torchtune_linear", &leaf);
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

// training.shard_model gives each module that it names a unit of its own.
void read_sharded_layers(Reading& reading, const Leaf& leaf) {
  const auto listed = value_for("/peft/modules_to_save", *leaf.node, "");
  bool embedding = false, head = false;
  for (const Json& item : listed && listed->is_array() ? *listed : Json::array()) {
    const auto name = item.get<std::string>();
    embedding = embedding || name.find("tok_embeddings") != std::string::npos;
    head = head || name.find("output") != std::string::npos;
  }
  if (!embedding) return reading.mark(leaf, Use::implied, "");
  reading.set("/parallel/fsdp_config/own_units", head ? "embedding_and_head" : "embedding", &leaf);
}

void read_offload(Reading& reading, const Leaf& leaf) {
  reading.set("/parallel/fsdp_config/offload_params", leaf);
}

// In the builders of vision models: true or false, or frozen or lora.
void read_encoder(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "lora" || word == "frozen")
    return reading.set("/peft/finetune_vision_layers", word == "lora", &leaf);
  reading.set("/vision/freeze_vision_tower", word != "true", &leaf);
}

// Self-attention and cross-attention layers of the decoder are trained, or frozen, apart.
void read_decoder(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  const bool trained = word == "lora" || word == "true";
  reading.mark(leaf, trained ? Use::implied : Use::unsupported,
               trained ? "trained, as it is anyway" : "what is frozen within the decoder cannot be said yet");
}

// A file says the steps of an epoch.
void read_steps(Reading& reading, const Leaf& leaf) {
  const Json epochs = reading.value("epochs"), steps = leaf.node->value;
  if (!steps.is_number_unsigned() || !epochs.is_number_unsigned())
    return reading.mark(leaf, Use::implied, "as many as the data has");
  reading.set("/training/max_steps", steps.get<uint64_t>() * epochs.get<uint64_t>(), &leaf);
}

// Recipes for one device have no validation (recipes/full_finetune_distributed.py validate).
void read_validation(Reading& reading, const Leaf& leaf) {
  if (leaf.node->value.is_null() || reading.text.find("_single_device") != std::string_view::npos)
    return reading.mark(leaf, Use::implied, "nothing is evaluated");
  reading.set("/training/eval_strategy", "steps", &leaf);
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
    {.key = "model.quantize_base",
     .pointer = "/quantization/load_in_4bit",
     .values = "true",
     .is_switch = true},
    {"tokenizer.max_seq_len", "/training/max_length", ""},
    {"dataset.max_seq_len", "/training/max_length", "", nullptr, Write::no},  // before torchtune 0.3
    {"dataset.packed", "/training/packing", ""},
    {"dataloader.packed", "/training/packing", ""},
    {"dataset_val.packed", "/training/eval_packing", "", nullptr, Write::yes},
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
    {"compile", "/training/torch_compile", ""},
    {"compile.model", "/training/torch_compile", ""},
    {"training.compile", "/training/torch_compile", ""},
    {"run_val_every_n_steps", "/training/eval_strategy", "", read_validation, Write::no},
    {"max_steps_per_epoch", "/training/max_steps", "", read_steps, Write::no},
    {"save_every_n_steps", "/training/save_steps", "", nullptr, Write::no},
    {"context_parallel_dim", "/parallel/sequence_parallel_size", "", nullptr, Write::no},
    {"dtype", "/model_args/dtype", "fp32=float32, bf16=bfloat16, fp16=float16", nullptr, Write::yes},
    {"custom_sharded_layers", "/parallel/fsdp_config/own_units", "", read_sharded_layers},
    {"fsdp.cpu_offload", "/parallel/fsdp_config/offload_params", "", read_offload},
    {"fsdp_cpu_offload", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", ""},
    {"grpo_samples", "/rl/num_generations", ""},
    {"inference.group_size", "/rl/num_generations", ""},
    {"max_generated_tokens", "/rl/max_completion_length", ""},
    {"inference.max_generated_tokens", "/rl/max_completion_length", ""},
    {"temperature", "/rl/temperature", ""},
    {"model.image_size", "/vision/image_size", ""},
    {"model.encoder_trainable", "/vision/freeze_vision_tower", "", read_encoder, Write::no},
    {"model.decoder_trainable", "", "", read_decoder, Write::no},
    {"model.fusion_trainable", "", "", read_decoder, Write::no},
};
constexpr std::string_view irrelevant =
    "name output_dir base_model_path tokenizer.path tokenizer.merges_* tokenizer.vocab_path "
    "tokenizer.prompt_template tokenizer.max_num_tiles tokenizer.special_tokens_path tokenizer.image_size "
    "checkpointer.* teacher_checkpointer.* ref_checkpointer.* ref_policy_checkpointer.* "
    "value_checkpointer.* reward_checkpointer.* postprocessing.* resume_from_checkpoint "
    "save_adapter_weights_only save_last_epoch_only enable_async_checkpointing dataset.* dataset_val.* "
    "datasets[]* dataset dataloader.* seed shuffle optimizer.* lr_scheduler.* lr_scheduler loss.* "
    "clip_grad_norm metric_logger.* log_* profiler.* device collate_fn cudnn_deterministic_mode "
    "training.optimizer.* training.loss.* training.clip_grad_norm training.save_* training.seed "
    "training.checkpointer.* training.steps_before_weight_sync training.ppo_epochs reward_functions[]* "
    "num_steps ppo_epochs top_k orchestration.* inference.* debug_* min_response_length penalise_no_eos "
    "reward_penalty stop_token_ids whiten_rewards gamma lmbda kl_coeff kd_ratio num_warmup_steps "
    "enable_kv_cache apply_chat_template model.attn_dropout model.norm_eps fake_quant_after_n_steps "
    "checkpoint_dir policy_model.attn_dropout policy_model.norm_eps teacher_model.* ppo_batch_size tasks "
    "limit max_seq_length max_new_tokens prompt.* prompt include_path";
constexpr std::string_view implied =
    "nproc_per_node nproc-per-node rdzv_backend tokenizer._component_ optimizer.fused "
    "training.optimizer.fused model.apply_lora_to_mlp model.apply_lora_to_output low_cpu_ram "
    "use_distributed_state_dict data_parallel_shard_dim data_parallel_replicate_dim compile.* "
    "model.vocab_size model.num_layers model.num_heads model.num_kv_heads model.embed_dim "
    "model.max_seq_len model.intermediate_dim model.rope_base reward_and_value_model.* policy_model.*";
constexpr std::string_view unpriced =
    "tensor_parallel_dim tensor_parallel_plan._component_ quantizer._component_ "
    "quantizer.groupsize quantizer teacher_model._component_ kd_loss._component_ forward_batch_size use_flex "
    "ac_mode ac_option resize_token_embeddings enable_fp8_training fp8_recipe_name";
constexpr Table table{rows, irrelevant, implied, unpriced};
constexpr Section sections[] = {{"", &table}};

// The recipe of a command, or a file that says how it is started. One whose name ends so runs in one process.
bool runs_on_one(const Reading& reading) {
  constexpr std::string_view recipe = "finetune_single_device";
  return reading.text.find(recipe) != std::string_view::npos &&
         reading.text.find("finetune_distributed") == std::string_view::npos;
}

// "tune run --nproc_per_node 4 full_finetune_distributed" stands in the comments of every published file.
void read_launch(Reading& reading) {
  if (runs_on_one(reading)) reading.values["/parallel/num_gpus"] = uint64_t{1};
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
    reading.notes.push_back("It is started on " + std::to_string(count) +
                            " GPUs; torchtune then shards the model over them (FSDP2).");
    return;
  }
}

// What the recipes do with keys that a whole file leaves out (cfg.get in recipes/*.py), where their published
// configurations, which are the stack's defaults, say otherwise. Adapters' recipes never step in the
// backward.
void finish_left_out(Reading& reading) {
  if (!reading.has("/model") || reading.leaf("checkpointer._component_") == nullptr) return;
  for (const char* pointer : {"/training/gradient_checkpointing", "/training/optimizer_in_backward"}) {
    if (!reading.has(pointer)) reading.values[pointer] = false;
  }
  if (reading.has("/peft") && reading.values["/training/optimizer_in_backward"] == Json(true)) {
    reading.drop("/training/optimizer_in_backward", "recipes for adapters do not read it");
    reading.values["/training/optimizer_in_backward"] = false;
  }
  if (!reading.has("/training/max_length"))
    reading.notes.emplace_back(
        "Without tokenizer.max_seq_len torchtune cuts nothing: rows are as long as the longest sample.");
}

// What keys say together.
void finish_together(Reading& reading) {
  const bool compiled = std::any_of(reading.all.begin(), reading.all.end(),
                                    [](const Leaf& leaf) { return leaf.path.rfind("compile.", 0) == 0; });
  if (compiled && !reading.has("/training/torch_compile")) reading.values["/training/torch_compile"] = true;
  if (!reading.has("/training/eval_strategy")) return;
  const auto batch = reading.values.find("/training/per_device_train_batch_size");
  if (batch != reading.values.end())
    reading.values.emplace("/training/per_device_eval_batch_size", batch->second);
  reading.values.emplace("/training/eval_packing", false);
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
  read_builder_shapes(reading);
  read_launch(reading);
  finish_left_out(reading);
  finish_together(reading);
  if (!reading.has("/peft")) reading.drop("/peft", "there is no adapter, so this says nothing");
  if (!reading.has("/parallel/strategy"))
    reading.drop("/parallel/fsdp_config", "one GPU: nothing is sharded");
}

}  // namespace

const Format torchtune{
    .id = "torchtune",
    .name = "torchtune",
    .stack = "torchtune",
    .written = Language::yaml,
    .sections = sections,
    .marks =
        "checkpointer metric_logger profiler enable_activation_checkpointing tokenizer model optimizer "
        "loss dataset batch_size batch_size_val enable_activation_offloading max_generated_tokens "
        "optimizer_in_bwd dtype compile quantizer "
        "prompt tasks dataset_val "
        "policy_model orchestration",
    .finish = finish,
    .write = write_torchtune,
    .close = close_torchtune,
    .needed = "/model /task /peft /quantization/load_in_4bit",
};

}  // namespace plimsoll::exchange
