// Files that are a part of a run: DeepSpeed JSON, accelerate YAML, PEFT's adapter_config.json, a model's
// config.json, model.safetensors.index.json.
// Keys: deepspeedai/DeepSpeed v0.19 deepspeed/runtime/constants.py, deepspeed/runtime/zero/*.py;
// huggingface/accelerate v1.15 src/accelerate/commands/config/config_args.py, utils/dataclasses.py.
#include "core/exchange/formats.h"
#include "core/exchange/formats/refused.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

constexpr Row deepspeed_rows[] = {
    {"train_micro_batch_size_per_gpu", "/training/per_device_train_batch_size", ""},
    {"gradient_accumulation_steps", "/training/gradient_accumulation_steps", ""},
    {"bf16.enabled", "/training/bf16", ""},
    {"bfloat16.enabled", "/training/bf16", "", nullptr, Write::no},
    {"fp16.enabled", "/training/fp16", ""},
    {"zero_optimization.stage", "/parallel/strategy", "", read_zero_stage},
    {"zero_optimization.offload_optimizer.device", "/parallel/zero_optimization/offload_optimizer/device",
     ""},
    {"zero_optimization.offload_param.device", "/parallel/zero_optimization/offload_param/device", ""},
    {"zero_optimization.reduce_bucket_size", "/parallel/zero_optimization/reduce_bucket_size", ""},
    {"zero_optimization.overlap_comm", "/parallel/zero_optimization/overlap_comm", ""},
    {"zero_optimization.contiguous_gradients", "/parallel/zero_optimization/contiguous_gradients", ""},
    {"zero_optimization.stage3_gather_16bit_weights_on_model_save",
     "/parallel/zero_optimization/stage3_gather_16bit_weights_on_model_save", ""},
    {"zero_optimization.gather_16bit_weights_on_model_save",
     "/parallel/zero_optimization/stage3_gather_16bit_weights_on_model_save", "", nullptr, Write::no},
    {"zero_optimization.stage3_prefetch_bucket_size",
     "/parallel/zero_optimization/stage3_prefetch_bucket_size", ""},
    {"zero_optimization.stage3_max_live_parameters", "/parallel/zero_optimization/stage3_max_live_parameters",
     ""},
    {"zero_optimization.stage3_max_reuse_distance", "/parallel/zero_optimization/stage3_max_reuse_distance",
     ""},
    {"zero_optimization.sub_group_size", "/parallel/zero_optimization/sub_group_size", ""},
};
constexpr std::string_view deepspeed_irrelevant =
    "gradient_clipping steps_per_print wall_clock_breakdown scheduler* fp16.* bf16.* bfloat16.* "
    "optimizer.params* zero_allow_untested_optimizer zero_force_ds_cpu_optimizer prescale_gradients "
    "gradient_predivide_factor communication_data_type seq_parallel_communication_data_type "
    "disable_allgather disable_python_gc checkpoint* dataloader_drop_last dump_state comms_logger* "
    "comms_config* tensorboard* wandb* csv_monitor* flops_profiler* autotuning* elasticity* "
    "monitor_config* curriculum_learning* data_efficiency* data_types* log_level "
    "zero_optimization.offload_optimizer.* zero_optimization.offload_param.* "
    "zero_optimization.reduce_scatter zero_optimization.use_multi_rank_bucket_allreduce "
    "zero_optimization.compute_grad_norm zero_optimization.elastic_checkpoint "
    "zero_optimization.ignore_unused_parameters zero_optimization.round_robin_gradients "
    "zero_optimization.stage3_gather_fp16_* zero_optimization.load_from_fp32_weights "
    "zero_optimization.log_trace_cache_warnings zero_optimization.legacy_stage1 "
    "zero_optimization.stage3_max_note zero_optimization.pipeline_loading_checkpoint "
    "zero_optimization.enable_sanity_checks";
constexpr std::string_view deepspeed_implied =
    "train_batch_size optimizer.type fp32* use_data_before_expert_parallelism "
    "zero_optimization.allgather_partitions "
    "zero_optimization.stage3_param_persistence_threshold zero_optimization.param_persistence_threshold "
    "zero_optimization.stage3_model_persistence_threshold zero_optimization.model_persistence_threshold "
    "zero_optimization.cpu_offload_use_pin_memory";
constexpr std::string_view deepspeed_unpriced =
    "activation_checkpointing* torch_autocast* compile* aio_note zero_optimization.* tensor_parallel* "
    "pipeline* sparse_attention* compression_training* hybrid_engine* amp* data_parallel_group zenflow* "
    "keep_in_fp32_modules";
constexpr Table deepspeed_table{deepspeed_rows, "aio*", "", ""};
constexpr Table deepspeed_lists{{}, deepspeed_irrelevant, deepspeed_implied, deepspeed_unpriced};
constexpr Section deepspeed_sections[] = {{"", &deepspeed_table}, {"", &deepspeed_lists}};

bool write_deepspeed(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer != "/parallel/strategy") return false;
  const std::string word = value.get<std::string>();
  if (word.rfind("zero", 0) != 0) return false;
  out.put("zero_optimization.stage", static_cast<uint64_t>(word[4] - '0'), pointer);
  return true;
}

void close_deepspeed(Writing& out) {
  // What the trainer fills in from its own arguments.
  for (const char* key : {"train_micro_batch_size_per_gpu", "gradient_accumulation_steps"}) {
    if (!out.wrote(key)) out.put(key, "auto");
  }
  out.put("train_batch_size", "auto");
  out.put("gradient_clipping", "auto");
  if (!out.wrote("bf16.enabled")) out.put("bf16.enabled", "auto");
}

// accelerate ------------------------------------------------------------------------------------------------

void read_distributed(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "fsdp") {
    if (!reading.has("/parallel/strategy")) reading.values["/parallel/strategy"] = "fsdp";
    reading.finding(leaf).pointer = "/parallel/strategy";
    reading.mark(leaf, Use::used);
  } else if (word == "multi_gpu") {
    reading.set("/parallel/strategy", "ddp", &leaf);
  } else if (word == "no" || word == "false" || word == "deepspeed") {
    reading.mark(leaf, Use::implied);
  } else if (word == "megatron_lm") {
    reading.mark(leaf, Use::unsupported);
    reading.errors.push_back(megatron_error("distributed_type: FSDP or DEEPSPEED"));
  } else {
    reading.mark(leaf, Use::unsupported, "this way of sharing the work cannot be said yet");
  }
}

void read_precision(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "bf16" || word == "fp16") {
    reading.set("/training/" + word, true, &leaf);
  } else if (word == "no" || word == "false" || word.empty()) {
    reading.mark(leaf, Use::implied, "none, as it is anyway");
  } else {
    reading.mark(leaf, Use::unsupported, "this precision cannot be said yet");
  }
}

constexpr Row accelerate_rows[] = {
    {"distributed_type", "/parallel/strategy", "", read_distributed},
    {"mixed_precision", "/training/bf16", "", read_precision},
    {"num_processes", "/parallel/num_gpus", ""},
    {"gradient_accumulation_steps", "/training/gradient_accumulation_steps", "", nullptr, Write::no},
    {"fsdp_config.fsdp_version", "/parallel/strategy", "", read_fsdp_version},
    {"fsdp_config.fsdp_sharding_strategy", "/parallel/strategy", "", read_sharding_strategy},
    {"fsdp_config.fsdp_reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", "",
     read_reshard, Write::yes},
    {"fsdp_config.fsdp_offload_params", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_config.fsdp_use_orig_params", "/parallel/fsdp_config/use_orig_params", ""},
    {"fsdp_config.fsdp_state_dict_type", "/parallel/fsdp_config/state_dict_type", ""},
    {"fsdp_config.fsdp_backward_prefetch", "/parallel/fsdp_config/backward_prefetch", prefetch},
    {"fsdp_config.fsdp_backward_prefetch_policy", "/parallel/fsdp_config/backward_prefetch", prefetch,
     nullptr, Write::no},
    {"fsdp_config.fsdp_forward_prefetch", "/parallel/fsdp_config/forward_prefetch", ""},
    // Beside the script's own setting Transformers stops at it (trainer.py create_accelerator_and_postprocess).
    {"fsdp_config.fsdp_activation_checkpointing", "/training/gradient_checkpointing", "", nullptr, Write::no},
    {"parallelism_config.parallelism_config_cp_size", "/parallel/sequence_parallel_size", ""},
    {"parallelism_config.parallelism_config_sp_size", "/parallel/sequence_parallel_size", "", nullptr,
     Write::no},
    {"deepspeed_config.zero_stage", "/parallel/strategy", "", read_zero_stage},
    {"deepspeed_config.offload_optimizer_device", "/parallel/zero_optimization/offload_optimizer/device", ""},
    {"deepspeed_config.offload_param_device", "/parallel/zero_optimization/offload_param/device", ""},
    {"deepspeed_config.gradient_accumulation_steps", "/training/gradient_accumulation_steps", "", nullptr,
     Write::no},
    {"deepspeed_config.deepspeed_config_file", "/parallel/strategy", "", read_deepspeed_name},
};
constexpr std::string_view accelerate_irrelevant =
    "compute_environment debug machine_rank main_training_function rdzv_backend same_network tpu_* "
    "main_process_ip main_process_port deepspeed_config.deepspeed_hostfile "
    "deepspeed_config.deepspeed_multinode_launcher "
    "deepspeed_config.gradient_clipping deepspeed_config.deepspeed_exclusion_filter "
    "deepspeed_config.deepspeed_inclusion_filter deepspeed_config.offload_*_nvme_path "
    "deepspeed_config.zero3_* enable_cpu_affinity command_file commands mpirun_config* "
    "dynamo_config.dynamo_mode "
    "dynamo_config.dynamo_use* ec2_instance_type profile region use_cpu image_uri py_version pytorch_version "
    "transformers_version additional_args* iam_role_name sagemaker_* base_job_name "
    "deepspeed_config.offload_optimizer_nvme_path deepspeed_config.offload_param_nvme_path "
    "fsdp_config.fsdp_sync_module_states";
constexpr std::string_view accelerate_implied =
    "downcast_bf16 num_machines gpu_ids fsdp_config.fsdp_auto_wrap_policy "
    "fsdp_config.fsdp_transformer_layer_cls_to_wrap "
    "fsdp_config.fsdp_min_num_params "
    "fsdp_config.fsdp_cpu_ram_efficient_loading "
    "deepspeed_config.deepspeed_moe_layer_cls_names fsdp_config.fsdp_cpu_offload_pin_memory";
constexpr std::string_view accelerate_unpriced =
    "megatron_lm_config* fp8_config* parallelism_config* dynamo_config.* dynamo_backend use_kt kt_* "
    "kt_config* fsdp_config.fsdp_activation_checkpointing_offload fsdp_config.fsdp_cpu_offload_policy";
constexpr Table accelerate_table{accelerate_rows, accelerate_irrelevant, accelerate_implied,
                                 accelerate_unpriced};
constexpr Section accelerate_sections[] = {{"", &accelerate_table}};

void finish_accelerate(Reading& reading) {
  if (!reading.has("/parallel/strategy")) reading.drop("/parallel/fsdp_config", "there is no FSDP");
  // Several machines: num_processes counts all of them already.
}

// fsdp_config and deepspeed_config belong to files that say FSDP or DeepSpeed.
bool has_block(const Writing& out, const std::string& pointer) {
  const std::string word = out.word("/parallel/strategy");
  if (pointer.rfind("/parallel/fsdp_config/", 0) == 0) return word == "fsdp" || word == "fsdp2";
  return pointer.rfind("/parallel/zero_optimization/", 0) != 0 || word.rfind("zero", 0) == 0;
}

// A model that is spread over the GPUs: each process of accelerate's would load it anew.
bool is_one_process(const Writing& out) {
  const std::string way = out.word("/parallel/strategy");
  return way == "none" || (way.empty() && !out.word("/model_args/device_map").empty());
}

bool write_way(Writing& out, const std::string& pointer, const std::string& word) {
  if (word == "fsdp" || word == "fsdp2") {
    out.put("distributed_type", "FSDP", pointer);
    out.put("fsdp_config.fsdp_version", word == "fsdp2" ? 2 : 1, pointer);
    // Without it the whole model is one unit (utils/dataclasses.py FullyShardedDataParallelPlugin).
    out.put("fsdp_config.fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  } else if (word == "ddp") {
    out.put("distributed_type", "MULTI_GPU", pointer);
  } else if (word.rfind("zero", 0) == 0) {
    out.put("distributed_type", "DEEPSPEED", pointer);
    out.put("deepspeed_config.zero_stage", static_cast<uint64_t>(word[4] - '0'), pointer);
  } else {
    return false;
  }
  return true;
}

bool write_accelerate(Writing& out, const std::string& pointer, const Json& value) {
  const std::string way = out.word("/parallel/strategy");
  if (pointer == "/training/bf16" || pointer == "/training/fp16") {
    if (value != Json(true)) return false;
    out.put("mixed_precision", pointer == "/training/bf16" ? "bf16" : "fp16", pointer);
    return true;
  }
  // Only DeepSpeed's part has a key for it (commands/config/config_args.py ClusterConfig).
  if (pointer == "/training/gradient_accumulation_steps" && way.rfind("zero", 0) == 0) {
    out.put("deepspeed_config.gradient_accumulation_steps", value, pointer);
    return true;
  }
  if (!has_block(out, pointer) || (pointer == "/parallel/num_gpus" && is_one_process(out))) {
    out.left_out.push_back(pointer);
    return true;
  }
  return pointer == "/parallel/strategy" && write_way(out, pointer, value.get<std::string>());
}

void close_accelerate(Writing& out) {
  out.put("compute_environment", "LOCAL_MACHINE");
  if (out.wrote("distributed_type")) return;
  const Json* gpus = out.find("/parallel/num_gpus");
  const bool several = out.wrote("num_processes") && gpus->is_number_unsigned() && *gpus > Json(1);
  out.put("distributed_type", several ? "MULTI_GPU" : "NO");
}

// adapter_config.json
// -----------------------------------------------------------------------------------------

constexpr Section peft_sections[] = {{"", &peft_table}};

bool write_peft(Writing& out, const std::string& pointer, const Json&) {
  const bool lora = out.find("/peft/peft_type") == nullptr || out.is("/peft/peft_type", "LORA");
  if (lora && pointer.rfind("/peft/", 0) == 0 && in_list(pointer.substr(6), keys_of_other_adapters)) {
    out.left_out.push_back(pointer);
    return true;
  }
  if (pointer != "/peft") return false;
  if (!out.wrote("peft_type")) out.put("peft_type", "LORA", pointer);
  return true;
}

constexpr Refusal peft_refused[] = {{"max_seq_length"}};

// config.json
// ---------------------------------------------------------------------------------------------------

Json plain(const Node& node) {
  if (node.is_scalar()) return node.value;
  Json made = node.is_list() ? Json::array() : Json::object();
  for (const Node& item : node.items) made.push_back(plain(item));
  for (const Member& member : node.members) made[member.key] = plain(member.value);
  return made;
}

constexpr Row config_rows[] = {{"*", "/model", "", [](Reading& reading, const Leaf& leaf) {
                                  reading.finding(leaf).pointer = "/model";
                                  reading.mark(leaf, Use::used);
                                }}};
constexpr Table config_table{config_rows, "", "", ""};
constexpr Section config_sections[] = {{"", &config_table}};

void finish_config(Reading& reading) {
  Json config = plain(reading.document.root);
  const Node* name = reading.document.root.find("_name_or_path");
  Json model = {{"config", config}};
  if (name != nullptr && name->value.is_string() && !name->raw.empty()) model["name"] = name->raw;
  reading.values["/model"] = std::move(model);
}

// model.safetensors.index.json
// -----------------------------------------------------------------------------------

void read_total_size(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, Use::implied, "the size of the checkpoint");
  if (!leaf.node->value.is_number()) return;
  const double bytes = leaf.node->value.get<double>();
  const auto millions = static_cast<uint64_t>(bytes / 2e6);
  reading.notes.push_back("The checkpoint holds " + leaf.node->raw + " bytes: " + std::to_string(millions) +
                          " million parameters if they are stored in 16 bits, " +
                          std::to_string(millions / 2) +
                          " million in 32. Its config.json says which model it is.");
}
constexpr Row index_rows[] = {{"metadata.total_size", "", "", read_total_size}};
constexpr Table index_table{index_rows, "weight_map* metadata.*", "metadata.total_parameters", ""};
constexpr Section index_sections[] = {{"", &index_table}};

// Plimsoll's own request
// -------------------------------------------------------------------------------------------

}  // namespace

const Format deepspeed{
    .id = "deepspeed",
    .name = "DeepSpeed",
    .written = Language::json,
    .sections = deepspeed_sections,
    .marks =
        "!zero_optimization !train_micro_batch_size_per_gpu train_batch_size gradient_clipping bf16 fp16",
    .write = write_deepspeed,
    .close = close_deepspeed,
    .needed = "",
};
const Format accelerate{
    .id = "accelerate",
    .name = "accelerate",
    .written = Language::yaml,
    .sections = accelerate_sections,
    .marks =
        "!compute_environment !distributed_type num_processes mixed_precision fsdp_config deepspeed_config",
    .finish = finish_accelerate,
    .write = write_accelerate,
    .close = close_accelerate,
    .needed = "",
};
const Format peft{
    .id = "peft",
    .name = "PEFT adapter_config.json",
    .written = Language::json,
    .sections = peft_sections,
    .marks = "!peft_type base_model_name_or_path r lora_alpha target_modules",
    .finish = finish_flat,
    .write = write_peft,
    .refused = peft_refused,
    .needed = "",
};
const Format hf_config{
    .id = "config",
    .name = "Hugging Face config.json",
    .written = Language::none,
    .sections = config_sections,
    .marks = "!architectures model_type hidden_size vocab_size num_hidden_layers",
    .finish = finish_config,
};
const Format safetensors_index{
    .id = "safetensors-index",
    .name = "model.safetensors.index.json",
    .written = Language::none,
    .sections = index_sections,
    .marks = "!weight_map metadata",
};

}  // namespace plimsoll::exchange
