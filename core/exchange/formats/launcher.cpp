// How a run is started: accelerate launch, torchrun, deepspeed, Slurm, environment variables. Keys:
// huggingface/accelerate v1.15 src/accelerate/commands/launch.py.
#include <algorithm>

#include "core/exchange/formats/refused.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"
#include "core/exchange/scalar.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// "1:4" of torchrun is from one to four machines (torch/distributed/run.py parse_min_max_nnodes); to YAML it is sixty-four.
bool is_range(const Leaf& leaf) { return leaf.node->raw.find(':') != std::string::npos; }

// Machines that the launcher or the job names; 1 where it does not.
uint64_t machines(const Reading& reading) {
  for (const char* key : {"nnodes", "num_nodes", "$NNODES", "$SBATCH_nodes", "nodes"}) {
    const Leaf* leaf = reading.leaf(key);
    if (leaf == nullptr) continue;
    Json said = leaf->node->value;
    if (is_range(*leaf))
      said = meant_number(leaf->node->raw.substr(0, leaf->node->raw.find(':'))).value_or(Json());
    if (!said.is_number_unsigned()) continue;
    const auto count = said.get<uint64_t>();
    if (count >= 1 && count <= 4096) return count;
  }
  return 1;
}

void read_machines(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, is_range(leaf) ? Use::implied : Use::irrelevant,
               is_range(leaf) ? "the fewest machines that it starts on are taken" : "");
}

// Processes of one machine: all of them together share the work.
void set_processes(Reading& reading, const Leaf& leaf, uint64_t count) {
  const uint64_t many = machines(reading);
  if (many == 1) return reading.set("/parallel/num_gpus", count, &leaf);
  reading.values["/parallel/num_gpus"] = count * many;
  reading.mark(leaf, Use::used, "times the number of machines");
}

void read_processes(Reading& reading, const Leaf& leaf) {
  if (leaf.node->raw == "gpu" || leaf.node->raw == "auto")
    return reading.mark(leaf, Use::implied, "as many as the machine has");
  const Json& value = leaf.node->value;
  if (!value.is_number_unsigned() || value > 4096) return reading.set("/parallel/num_gpus", leaf);
  set_processes(reading, leaf, value.get<uint64_t>());
}

// Slurm's --gres=gpu:a100:8 and --gpus-per-node=8: what a job gets of each machine, unless its launcher says
// how much of it is used.
void read_job_gpus(Reading& reading, const Leaf& leaf) {
  const std::string word = leaf.node->raw;
  const size_t colon = word.rfind(':');
  const std::string count = colon == std::string::npos ? word : word.substr(colon + 1);
  if (word.find("gpu") != 0 && colon != std::string::npos && leaf.path != "$SBATCH_gpus_per_node")
    return reading.mark(leaf, Use::irrelevant);
  if (count.empty() || count.size() > 3 || count.find_first_not_of("0123456789") != std::string::npos ||
      count == "0")
    return reading.mark(leaf, Use::implied);
  if (reading.has("/parallel/num_gpus"))
    return reading.mark(leaf, Use::implied, "the launcher says how many");
  set_processes(reading, leaf, std::stoul(count));
}

// srun's --ntasks: the processes of a job that no other launcher starts; one or one a machine starts a
// launcher.
void read_tasks(Reading& reading, const Leaf& leaf) {
  const Json& value = leaf.node->value;
  if (!value.is_number_unsigned() || value > 4096 || value.get<uint64_t>() <= machines(reading))
    return reading.mark(leaf, Use::irrelevant);
  reading.set("/parallel/num_gpus", leaf);
}

// --include worker-0:0,1@worker-1:2,3 of the deepspeed launcher (launcher/runner.py parse_resource_filter).
void read_include(Reading& reading, const Leaf& leaf) {
  uint64_t count = 0;
  for (std::string_view rest = leaf.node->raw; !rest.empty();) {
    const size_t end = std::min(rest.find('@'), rest.size());
    const std::string_view machine = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (machine.find(':') == std::string_view::npos)
      return reading.mark(leaf, Use::implied, "as many as the machine has");
    count += 1 + static_cast<uint64_t>(std::count(machine.begin(), machine.end(), ','));
  }
  if (count == 0) return reading.mark(leaf, Use::implied);
  reading.set("/parallel/num_gpus", count, &leaf);
}

// Its short form, -i localhost:0; a lone i is anything.
void read_brief_include(Reading& reading, const Leaf& leaf) {
  if (leaf.node->raw.find(':') == std::string::npos) return reading.mark(leaf, Use::irrelevant);
  read_include(reading, leaf);
}

// trl v1.16 trl/accelerate_configs/*.yaml: each says 8 processes, of which accelerate starts one where no strategy is
// named. The mixed precision of all is bf16, which TRL's own configurations say too.
struct AccelerateConfig {
  std::string_view name;
  const char* strategy;
  uint64_t processes;
};
constexpr AccelerateConfig accelerate_configs[] = {
    {"single_gpu", "", 1}, {"multi_gpu", "ddp", 8}, {"fsdp1", "fsdp", 8}, {"fsdp2", "fsdp2", 8},
    {"zero1", "zero1", 8}, {"zero2", "zero2", 8},   {"zero3", "zero3", 8}};

// trl/cli/accelerate_config.py: one of those by its name, or a file.
void read_accelerate_config(Reading& reading, const Leaf& leaf) {
  const std::string_view name = leaf.node->raw;
  const auto* found = std::find_if(std::begin(accelerate_configs), std::end(accelerate_configs),
                                   [&](const AccelerateConfig& row) { return row.name == name; });
  if (found == std::end(accelerate_configs)) return read_deepspeed_name(reading, leaf);
  if (*found->strategy != '\0') reading.set("/parallel/strategy", found->strategy, &leaf);
  reading.mark(leaf, Use::used);
  if (reading.leaf("num_processes") != nullptr) return;
  reading.values["/parallel/num_gpus"] = found->processes;
  reading.notes.push_back("TRL's own configuration " + std::string(name) + " of accelerate starts " +
                          std::to_string(found->processes) +
                          (found->processes == 1 ? " process." : " processes."));
}

void read_use_fsdp(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  if (!reading.has("/parallel/strategy")) reading.values["/parallel/strategy"] = "fsdp";
  reading.finding(leaf).pointer = "/parallel/strategy";
  reading.mark(leaf, Use::used);
}

void read_mixed_precision(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "bf16" || word == "fp16") {
    reading.set(word == "bf16" ? "/training/bf16" : "/training/fp16", true, &leaf);
  } else if (word == "no" || word == "false" || word.empty()) {
    reading.mark(leaf, Use::implied, "none, as it is anyway");
  } else {
    reading.mark(leaf, Use::unsupported, "this precision cannot be said yet");
  }
}

constexpr Row launcher_rows[] = {
    {"num_processes", "/parallel/num_gpus", ""},
    {"np", "/parallel/num_gpus", "", nullptr, Write::no},  // of mpirun
    {"nnodes", "", "", read_machines},
    {"nproc_per_node", "/parallel/num_gpus", "", read_processes},
    {"num_gpus", "/parallel/num_gpus", "", read_processes},
    {"$SBATCH_gres", "/parallel/num_gpus", "", read_job_gpus},
    {"$SBATCH_gpus_per_node", "/parallel/num_gpus", "", read_job_gpus},
    {"gres", "/parallel/num_gpus", "", read_job_gpus},
    {"gpus", "/parallel/num_gpus", "", read_job_gpus},
    {"ntasks", "/parallel/num_gpus", "", read_tasks},
    {"$NPROC_PER_NODE", "/parallel/num_gpus", "", read_processes},
    {"$CUDA_VISIBLE_DEVICES", "/parallel/num_gpus", "", read_visible_devices},
    {"gpu_ids", "/parallel/num_gpus", "", read_visible_devices},
    {"include", "/parallel/num_gpus", "", read_include},
    {"i", "/parallel/num_gpus", "", read_brief_include, Write::no},
    {"$PYTORCH_CUDA_ALLOC_CONF", "/hardware/PYTORCH_CUDA_ALLOC_CONF", ""},
    {"$PYTORCH_ALLOC_CONF", "/hardware/PYTORCH_CUDA_ALLOC_CONF", "", nullptr, Write::no},
    {"mixed_precision", "/training/bf16", "", read_mixed_precision},
    {.key = "multi_gpu", .pointer = "/parallel/strategy", .values = "ddp", .is_switch = true},
    {"use_fsdp", "/parallel/strategy", "", read_use_fsdp},
    {"use_megatron_lm", "", "", refuse_megatron},
    {"fsdp_version", "/parallel/strategy", "", read_fsdp_version},
    {"fsdp_sharding_strategy", "/parallel/strategy", "", read_sharding_strategy},
    {"fsdp_offload_params", "/parallel/fsdp_config/offload_params", ""},
    {"fsdp_reshard_after_forward", "/parallel/fsdp_config/reshard_after_forward", "", read_reshard},
    {"fsdp_use_orig_params", "/parallel/fsdp_config/use_orig_params", ""},
    {"fsdp_state_dict_type", "/parallel/fsdp_config/state_dict_type", ""},
    {"fsdp_backward_prefetch", "/parallel/fsdp_config/backward_prefetch", prefetch},
    {"fsdp_forward_prefetch", "/parallel/fsdp_config/forward_prefetch", ""},
    {"fsdp_activation_checkpointing", "/training/gradient_checkpointing", "", nullptr, Write::no},
    {"parallelism_config_cp_size", "/parallel/sequence_parallel_size", ""},
    {"parallelism_config_sp_size", "/parallel/sequence_parallel_size", "", nullptr, Write::no},
    {"zero_stage", "/parallel/strategy", "", read_zero_stage},
    {"deepspeed_stage", "/parallel/strategy", "", read_zero_stage, Write::no},
    {"offload_optimizer_device", "/parallel/zero_optimization/offload_optimizer/device", ""},
    {"offload_param_device", "/parallel/zero_optimization/offload_param/device", ""},
    {"deepspeed_config_file", "/parallel/strategy", "", read_deepspeed_name},
    {"deepspeed_config", "/parallel/strategy", "", read_deepspeed_name},
    {"config_file", "/parallel/strategy", "", read_deepspeed_name},
    {"accelerate_config", "/parallel/strategy", "", read_accelerate_config, Write::no},
};
constexpr std::string_view launcher_irrelevant =
    "$* quiet same_network machine_rank main_process_ip main_process_port master_addr master_port "
    "node_rank nodes rdzv_* tee log_dir role max_restarts monitor_interval module no_python tpu* "
    "main_training_function downcast_bf16 gradient_clipping zero3_* deepspeed_hostfile "
    "deepspeed_exclusion_filter deepspeed_inclusion_filter deepspeed_multinode_launcher mpirun_hostfile "
    "debug env num_cpu_threads_per_process enable_cpu_affinity standalone dynamo_use* dynamo_mode "
    "hostfile num_nodes fsdp_cpu_ram_efficient_loading fsdp_sync_module_states aws_* vm m c config b h v "
    "redirects t";
constexpr std::string_view launcher_implied =
    "use_deepspeed num_machines fsdp_auto_wrap_policy fsdp_transformer_layer_cls_to_wrap "
    "fsdp_min_num_params deepspeed_moe_layer_cls_names local_rank cpu";
constexpr std::string_view launcher_unpriced =
    "megatron_lm_* fp8_* dynamo_backend parallelism_config_* use_parallelism_config "
    "fsdp_activation_checkpointing_offload";

}  // namespace

const Table launcher_table{launcher_rows, launcher_irrelevant, launcher_implied, launcher_unpriced};

}  // namespace plimsoll::exchange
