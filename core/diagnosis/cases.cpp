#include "core/diagnosis/cases.h"

#include <algorithm>

#include "core/recipe/strategies.h"

namespace plimsoll::diagnosis {

namespace {

bool without_checkpointing(recipe::Recipe& r) {
  const bool set = r.training.gradient_checkpointing;
  r.training.gradient_checkpointing = false;
  return set;
}
bool without_quantization(recipe::Recipe& r) {
  const bool set = r.quantized();
  r.quantization.load_in_4bit = r.quantization.load_in_8bit = false;
  r.quantization.quant_method.clear();
  return set;
}
bool without_sharding(recipe::Recipe& r) {
  const bool set = r.parallel.num_gpus > 1 && recipe::shards_states(recipe::strategy_of(r));
  r.parallel.strategy = "ddp";
  return set;
}
bool without_wrapping(recipe::Recipe& r) {
  const bool set =
      r.parallel.num_gpus > 1 && r.parallel.strategy.rfind("fsdp", 0) == 0 && r.parallel.fsdp.auto_wrap;
  r.parallel.fsdp.auto_wrap = false;
  return set;
}
bool without_stage(recipe::Recipe& r) {
  const bool set = r.parallel.num_gpus > 1 && r.parallel.strategy == "zero3";
  r.parallel.strategy = "zero2";
  return set;
}
bool without_kernel(recipe::Recipe& r) {
  const bool set = r.model_args.attn_implementation != "eager";
  r.model_args.attn_implementation = "eager";
  return set;
}
bool without_dtype(recipe::Recipe& r) {
  const bool set = r.model_args.dtype != "float32" && !r.quantized();
  r.model_args.dtype = "float32";
  return set;
}
bool without_fused_loss(recipe::Recipe& r) {
  const bool set = r.training.loss_kernel != "stock";
  r.training.loss_kernel = "stock";
  return set;
}

const Case the_cases[] = {
    {.id = "checkpointing_ignored",
     .cause = "checkpointing_not_active",
     .title = "Gradient checkpointing is set, but it does not take effect",
     .why =
         "A model class of its own code may not implement it, a training loop may never call it, adapters on "
         "a frozen base give its inputs no gradient, and Transformers switches it off for what keeps a "
         "cache.",
     .remedy = "model.gradient_checkpointing_enable(), then model.is_gradient_checkpointing must be True and "
               "model.training too; with adapters model.enable_input_require_grads(); use_cache=False; "
               "use_reentrant=False. A traceback of the backward pass then shows checkpoint.py.",
     .without = "gradient checkpointing off",
     .undo = without_checkpointing,
     .alone = {"does not support gradient checkpointing", "doesn't support gradient checkpointing",
               "gradients will be none"},
     .things = {"checkpointing", "gradient_checkpoint", "grad_checkpoint", "activation_recompute",
                "recompute_granularity", "梯度检查点"}},
    {.id = "quantization_ignored",
     .cause = "bnb_not_applied",
     .title = "The base is to be quantised, but all of it or a part is not",
     .why =
         "The flag did not reach from_pretrained, or the weights are no nn.Linear: Transformers 5 holds all "
         "experts of a layer as one 3-D parameter, which bitsandbytes passes over.",
     .remedy =
         "quantization_config=BitsAndBytesConfig(load_in_4bit=True) to from_pretrained itself; for experts "
         "a checkpoint that is quantised already, Unsloth's loader, or Transformers 4. Compare "
         "model.get_memory_footprint() with half a byte a parameter.",
     .without = "nothing quantised",
     .undo = without_quantization,
     .things = {"4bit", "4-bit", "4 bit", "8bit", "8-bit", "8 bit", "nf4", "quantiz", "quantis",
                "experts are", "量化"}},
    {.id = "sharding_ignored",
     .cause = "replicated_not_sharded",
     .title = "Sharding is set, but each card still holds everything",
     .why = "FSDP without an auto-wrap policy makes one unit of the whole network; ZeRO below stage 3 leaves "
            "the "
            "weights whole; a quantised base is not divided; and a script that was not started by accelerate "
            "or deepspeed reads no such configuration.",
     .remedy = "fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP with the layer's class; ZeRO-3 in the file that "
               "the launcher is given, with HfDeepSpeedConfig before from_pretrained; one process a card "
               "(WORLD_SIZE must be their number).",
     .without = "nothing sharded",
     .undo = without_sharding,
     .alone = {"could not find the transformer layer class"},
     .things = {"fsdp", "zero3", "zero-3", "zero 3", "zero_3", "zero2", "zero-2", "zero1", "zero_stage",
                "zero stage", "zero_optimization", "deepspeed", "ds_z3"}},
    {.id = "wrapping_ignored",
     .cause = "replicated_not_sharded",
     .title = "FSDP wraps no layer: each card gathers the whole model at once",
     .why = "Without a wrap policy that names the layer's class the network is one unit.",
     .remedy = "fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP and transformer_layer_cls_to_wrap.",
     .without = "the whole network as one FSDP unit",
     .undo = without_wrapping,
     .alone = {"no_wrap"}},  // accelerate, utils/constants.py, FSDP_AUTO_WRAP_POLICY
    {.id = "stage_ignored",
     .cause = "replicated_not_sharded",
     .title = "ZeRO-3 is set, but the weights are whole on each card",
     .why = "A model that is made before HfDeepSpeedConfig, or a file that the launcher is not given.",
     .remedy = "ZeRO-3 in the file that the launcher is given, with HfDeepSpeedConfig before "
               "from_pretrained.",
     .without = "ZeRO-2",
     .undo = without_stage},
    {.id = "attention_kernel_ignored",
     .cause = "eager_attention_quadratic",
     .title = "The attention kernel asked for does not run: scores are made in full",
     .why = "Flash attention 2 needs an Ampere card or newer, and 16 bits; output_attentions, some masks and "
            "head dimensions make Transformers fall back to the manual path, which keeps heads x length x "
            "length scores.",
     .remedy = "attn_implementation=\"sdpa\" on a T4, V100 or older (its memory-efficient path runs there); "
               "output_attentions=False; look for the word fallback in the first lines of the log.",
     .without = "eager attention",
     .undo = without_kernel,
     .alone = {"only supports ampere", "falling back to the manual attention", "falling back to eager",
               "fall back to eager", "does not support an attention implementation through"},
     .things = {"flash attention", "flash_attention", "flash-attn", "flash_attn", "flashattention", "sdpa"}},
    {.id = "loss_kernel_ignored",
     .cause = "logits_peak",
     .title = "A fused loss is set, but the logits are made all the same",
     .why = "Liger's loss runs only where the model itself is given the labels: a compute_loss of one's own, "
            "label smoothing, metrics and evaluation (before Transformers 5.15) take the ordinary path.",
     .remedy = "Leave compute_loss and label_smoothing_factor to the trainer, or call "
               "LigerFusedLinearCrossEntropyLoss on "
               "the hidden states in it; prediction_loss_only=true in evaluation.",
     .without = "the ordinary loss",
     .undo = without_fused_loss,
     .things = {"liger", "fused loss", "fused cross", "cut_cross_entropy", "cut cross entropy", "chunked_nll",
                "chunked loss"}},
    {.id = "dtype_ignored",
     .cause = "fp32_by_mistake",
     .title = "16-bit weights are asked for, but they are held in fp32",
     .why = "bf16=True sets autocast alone; the weights keep the dtype that from_pretrained was given.",
     .remedy = "dtype=\"bfloat16\" (torch_dtype before Transformers 4.56) in from_pretrained.",
     .without = "weights in fp32",
     .undo = without_dtype},
    {.id = "release_differs",
     .cause = "regression_in_library",
     .title = "Another release fitted, which needs less for this run",
     .why = "Both are replayed, each with its own defaults.",
     .remedy = "Set what the newer release changed back in the configuration, or pin the one that fitted."},
    {.id = "release_same",
     .cause = "regression_in_library",
     .title = "Another release fitted, of which no difference in memory is known",
     .why = "Both are replayed, each with its own defaults, and come to the same.",
     .remedy =
         "Compare what came with the upgrade: pip list before and after, the configuration, the data; or "
         "pin the release that fitted."},
    {.id = "length_ignored",
     .cause = "batch_or_sequence_too_large",
     .title = "The maximum length is set, but longer samples reach the model",
     .why = "The setting was renamed (max_seq_length is max_length in TRL's SFTConfig), or belongs to a "
            "tokenizer that a dataset of token ids never meets.",
     .remedy = "Truncate the data itself, and print the longest input_ids of a batch.",
     .things = {"max_seq_length", "max_length", "max_seq_len", "cutoff_len", "truncation"}},
    {.id = "gathered_at_save",
     .cause = "resume_or_save_peak",
     .title = "Saving gathers the whole model on one card",
     .why =
         "A full state dict under FSDP or ZeRO-3 brings every share to the card before it is written, beside what "
         "the card trains with.",
     .remedy =
         "fsdp_state_dict_type SHARDED_STATE_DICT, or StateDictOptions(full_state_dict=True, cpu_offload=True); "
         "with ZeRO-3 stage3_gather_16bit_weights_on_model_save=false, and zero_to_fp32.py afterwards.",
     .alone = {"full_post_state_dict_hook", "full_pre_state_dict_hook", "in full_tensor", "full_tensor(",
               "summon_full_params", "_unshard_fsdp_state_params", "consolidated_16bit_state_dict",
               "save_16bit_model", "_gather_state_dict"}},
    {.id = "shared_memory",
     .cause = "host_ram",
     .title = "Shared memory (/dev/shm) is full",
     .why = "Data workers and NCCL hand their tensors over through /dev/shm; a container gets 64 MB of it.",
     .remedy = "docker run --shm-size=16g (or --ipc=host), in Kubernetes an emptyDir with medium: Memory; or "
               "fewer data workers. Neither the GPU nor the disk is full.",
     .alone = {"shared memory (shm)", "out of shared memory", "shared memory segment"},
     .things = {"no space left on device", "bus error", "/dev/shm"},
     .said = {"multiprocessing", "data loader", "dataloader", "shared memory", "nccl", "is full", "64m",
              "too small"},
     .speaks = true},
    {.id = "ray",
     .cause = "host_ram",
     .title = "Ray ended a worker because the node's RAM was full",
     .why = "Ray's monitor ends workers at 95 % of the node's (or the container's) RAM: weights of engines "
            "that sleep, offloaded states and every actor's copy while it loads lie there.",
     .remedy = "More RAM or fewer actors a node; no sleep mode and no offload; load one actor after another. "
               "RAY_memory_usage_threshold only moves the limit.",
     .alone = {"due to the node running low on memory", "ray.exceptions.outofmemory", "ray oom"},
     .things = {"actor is dead", "actor died", "raylet"},
     .said = {"oom killer", "memory usage", "worker process has died", "low on memory"},
     .speaks = true},
    {.id = "dataset_workers",
     .cause = "host_ram",
     .title = "The processes that tokenise the data fill the machine's RAM",
     .why = "Each process of map() holds a batch of samples and its own copy of what the function refers to; "
            "images multiply that.",
     .remedy =
         "A smaller num_proc (preprocessing_num_workers) and writer_batch_size, tokenise once and save, "
         "or stream the data set. The GPU plays no part.",
     .alone = {"abruptly died during map"},
     .things = {"tokeniz", "tokenis", "num_proc", "preprocessing_num_workers", "dataset.map"},
     .said = {"killed", "cannot allocate memory", "can't allocate memory", "abruptly died", " ram",
              "cpu memory", "host memory"},
     .speaks = true},
    {.id = "wsl",
     .cause = "host_ram",
     .title = "WSL gives Linux half of the machine's RAM, and the rest is out of reach",
     .why = "The virtual machine of WSL 2 ends a process beyond its own limit, however much Windows has "
            "free; the page file of "
            "Windows does not count.",
     .remedy =
         "memory= and swap= below [wsl2] in %UserProfile%\\.wslconfig, then wsl --shutdown; or a smaller "
         "peak while loading (safetensors, low_cpu_mem_usage).",
     .alone = {".wslconfig"},
     .things = {"wsl"},
     .said = {"killed", " ram", "memory limit", "exit code 137", "signal 9"},
     .speaks = true},
    {.id = "offload",
     .cause = "host_ram",
     .title = "What is offloaded does not fit the machine's RAM",
     .why =
         "Offloaded optimizer states take 12 bytes a parameter in RAM (fp32 copy and two moments), gradients "
         "2 to 4 more, offloaded parameters 2, all of it pinned.",
     .remedy = "Compare 16 to 18 bytes a parameter with the node's RAM; more nodes, NVMe in place of cpu, "
               "adapters, or pin_memory=false.",
     .things = {"offload"},
     .said = {"killed", "-9", "137", "sigkill", "gb ram", "cpu memory", "host memory", "bad_alloc", "of ram",
              "内存"}},
    {.id = "every_rank_loads",
     .cause = "host_ram",
     .title = "Every process loads the whole model into RAM",
     .why = "As many copies of the checkpoint as there are processes lie in RAM before anything is sharded.",
     .remedy = "fsdp_cpu_ram_efficient_loading with fsdp_sync_module_states, ZeRO-3's init "
               "(HfDeepSpeedConfig), low_cpu_mem_usage=True.",
     .things = {"loading checkpoint shards", "each process", "every process", "each rank", "every rank",
                "all ranks", "processes", "每个进程"},
     .said = {"free -g", "killed", "sigkill", "exitcode: -9", "cpu memory", "host memory", " ram", "内存"}},
    {.id = "weights_beyond_ram",
     .cause = "host_ram",
     .title = "The weights are larger than the machine's RAM",
     .why =
         "Weights that go to the card by way of RAM must find room there, all of them where one file or one "
         "state dict holds them.",
     .remedy =
         "A checkpoint in several safetensors files with low_cpu_mem_usage=True (or device_map), one that is "
         "quantised already, a smaller model, or a machine with more RAM."},
    {.id = "loader_workers",
     .cause = "host_ram",
     .title = "The data loader's workers fill the machine's RAM",
     .why = "Each worker of each process holds its own libraries, its copy of the data set's objects and the "
            "batches that it fetches ahead.",
     .remedy = "dataloader_num_workers 2 to 4, a smaller prefetch_factor, and a data set that lies in a file "
               "(Arrow) and not in Python lists."},
    {.id = "windows_commit",
     .cause = "host_ram",
     .title = "Windows' page file is too small for what the processes reserve",
     .why = "Windows promises memory up to RAM and page file together. CUDA's libraries reserve some GiB in "
            "every process that loads them, each data worker included, whether they use it or not.",
     .remedy = "A larger page file (System, Advanced, Performance, Virtual memory: once or twice the RAM), "
               "dataloader_num_workers=0, and close other programs. The card is not full.",
     .alone = {"winerror 1455", "os error 1455", "paging file is too small"},
     .speaks = true},
    {.id = "hsa_resources",
     .cause = "driver_level_oom",
     .title = "ROCm's runtime found no memory, on the card first of all",
     .why = "The runtime says the same of the card's memory and of the machine's (threads, events). What it "
            "prints as free is the card's.",
     .remedy = "rocm-smi --showmeminfo vram while it runs, and end what else holds the card; then a smaller "
               "batch or model. With the card half empty: free -g and ulimit -u on the machine; from the "
               "first call on, in rocminfo too: the groups render and video.",
     .alone = {"hsa_status_error_out_of_resources"}},
    {.id = "wsl_driver",
     .cause = "driver_level_oom",
     .title = "Under WSL the driver gives less than Windows shows as free",
     .why =
         "Windows and its programs hold the card as well, which WSL's nvidia-smi does not list, and memory that "
         "is pinned on the host is limited: CUDA then says \"out of memory\" with room on the card.",
     .remedy =
         "Free the card in Windows (Task Manager), pin_memory=False and no pinned or paged offload, then wsl "
         "--shutdown and the newest driver of Windows.",
     .things = {"wsl"},
     .said = {"cuda error", "cuda driver error", "cudaerrormemoryallocation", "cuda_error_out_of_memory",
              "cudahostalloc"},
     .speaks = true},
    {.id = "shared_gpu_memory",
     .cause = "windows_sysmem_fallback",
     .title = "Windows lets the run spill into shared GPU memory, which is RAM",
     .why = "NVIDIA's driver for Windows (from 536.40 on) moves what does not fit the card to RAM in place "
            "of an "
            "error; each step then waits for the PCIe bus.",
     .remedy =
         "Take the run below the card's own memory; to get the error back: NVIDIA control panel, CUDA - "
         "Sysmem Fallback Policy, prefer no sysmem fallback.",
     .alone = {"shared gpu memory", "sysmem fallback", "共享gpu内存", "gemeinsamer gpu-speicher"},
     .things = {"shared memory", "共享显存", "共享内存"},
     .said = {"win10", "win11", "windows", "task manager", "任务管理器", "dedicated", "专用"},
     .speaks = true},
    {.id = "jax_share",
     .cause = "jax_preallocation",
     .title = "JAX takes three quarters of the card when it is first used",
     .why = "What nvidia-smi shows is its reservation, the same for every model; it is no need.",
     .remedy = "XLA_PYTHON_CLIENT_PREALLOCATE=false, or XLA_PYTHON_CLIENT_MEM_FRACTION=0.2, before jax is "
               "imported.",
     .things = {"jax", "flax"},
     .said = {"nvidia-smi", "gb in use", "takes about", "75%", "75 %", "% of the gpu", "of memory used",
              "gpu memory usage", "import", "preallocat", "whole card", "all of the", "all my", "gb on a"},
     .speaks = true},
    {.id = "vllm_share",
     .cause = "vllm_kv_cache",
     .title = "vLLM reserves its share of the card at the start, whatever the model",
     .why =
         "gpu_memory_utilization (0.9) is what it takes, on each card: weights first, and all the rest as a "
         "cache of keys and values.",
     .remedy = "A smaller gpu_memory_utilization, or --kv-cache-memory-bytes; max_model_len alone does not "
               "lower it.",
     .things = {"vllm"},
     .said = {"why ", "instance would take", "that much", "reserved memory is", "same memory",
              "each of them uses", "whatever model", "regardless of the model", "uses 9", "takes 9",
              "so much memory", "so much vram", "为什么占用", "占用这么多"},
     .speaks = true},
    {.id = "vllm_share_not_free",
     .cause = "other_process",
     .title = "vLLM wants more of the card than is free when it starts",
     .why =
         "gpu_memory_utilization is a share of the whole card, and something holds part of it already: the trainer "
         "in the same process, another program, or what a run that died has left.",
     .remedy =
         "A smaller gpu_memory_utilization (vllm_gpu_memory_utilization in TRL), or end what holds the card "
         "(nvidia-smi).",
     .alone = {"is less than desired gpu memory utilization"}},
    {.id = "dispatched_to_cpu",
     .cause = "does_not_fit_at_all",
     .title = "The quantised model does not fit what is free of the card",
     .why =
         "With device_map=\"auto\" accelerate puts on the CPU what the card has no room for, and bitsandbytes "
         "computes on the GPU alone, so that Transformers stops.",
     .remedy =
         "Free the card (nvidia-smi), a smaller model or a larger card; device_map={\"\": 0} ends in the plain "
         "message of how much is missing. llm_int8_enable_fp32_cpu_offload is for inference.",
     .alone = {"some modules are dispatched on the cpu"}},
    {.id = "metal_working_set",
     .cause = "mps_watermark",
     .title = "Metal lets the GPU have a part of the unified memory only",
     .why =
         "macOS recommends a working set of about two thirds of the RAM (three quarters from 36 GB on), and "
         "refuses more, whatever else is free.",
     .remedy =
         "sudo sysctl iogpu.wired_limit_mb=..., leaving the system some 8 GB; or a smaller batch, length, "
         "or a quantised base.",
     .alone = {"recommendedmaxworkingset", "max_recommended_working_set", "iogpu.wired_limit"},
     .things = {"working set", "wired memory"},
     .said = {"metal", "mlx", "m1", "m2", "m3", "m4", "mps"},
     .speaks = true},
};

}  // namespace

std::span<const Case> all_cases() { return the_cases; }

const Case* find_case(std::string_view id) {
  const auto* found = std::find_if(std::begin(the_cases), std::end(the_cases),
                                   [id](const Case& one) { return one.id == id; });
  return found == std::end(the_cases) ? nullptr : found;
}

}  // namespace plimsoll::diagnosis
