#include "core/json/rounding.h"
#include "core/run/components.h"
#include "core/run/note_rows.h"
#include "core/run/phrases.h"

namespace plimsoll::run {

namespace {

using json::grouped;

using R = const Replayed&;
using G = const hardware::Gpu*;
using memory::Component;

constexpr NoteRow sharing_rows[] = {
    {.code = "shared_over_one_gpu",
     .applies =
         [](R f, G) {
           const recipe::Strategy strategy = strategy_of(f.recipe);
           return f.recipe.parallel.num_gpus <= 1 && !is_plain(strategy) &&
                  strategy != recipe::Strategy::zero0;
         },
     .message = [](R, G) -> std::string {
       return "This run shares the model out over GPUs, and with one that holds all of it there is nothing to share. "
              "Say how many train together where there are more.";
     },
     .source = "pytorch torch/distributed/fsdp; deepspeedai/DeepSpeed runtime/zero"},
    {.code = "nvme_as_host_memory",
     .applies =
         [](R f, G) {
           const recipe::ZeroConfig& zero = f.recipe.parallel.zero;
           return is_zero(strategy_of(f.recipe)) &&
                  (zero.offload_optimizer == "nvme" || zero.offload_param == "nvme");
         },
     .message = [](R, G) -> std::string {
       return "What is offloaded to NVMe is not priced as such: the card is counted as for host memory, and so is the "
              "machine's memory, which holds only pinned buffers of it. Reading and writing the disk takes longer than "
              "the time says.";
     },
     .source = "deepspeedai/DeepSpeed deepspeed/runtime/swap_tensor"},
    {.code = "sequence_is_shared",
     .applies = [](R f, G) { return f.recipe.parallel.sequence_parallel_size > 1; },
     .message = [](R, G) -> std::string {
       return "Each GPU holds its share of every sequence. What the attention sends and receives meanwhile "
              "is not counted: with Ulysses another copy of queries, keys and values, with ring attention "
              "another block of keys and values.";
     },
     .source = "deepspeedai/DeepSpeed deepspeed/sequence/layer.py"},
    {.code = "memory_is_of_one_rank",
     .applies = [](R f, G) { return f.replay.sharding.ranks > 1; },
     .message = [](R f, G) -> std::string {
       return "All sizes are those of one of the " + grouped(f.replay.sharding.ranks) +
              " GPUs; every rank has its own micro-batch, " +
              grouped(static_cast<double>(f.recipe.effective_batch())) +
              " samples stand behind one optimizer step, and host memory is that of all ranks on one "
              "machine.";
     },
     .source = "pytorch torch/distributed; deepspeedai/DeepSpeed"},
    {.code = "fsdp_keeps_boundaries",
     .applies = [](R f, G) { return f.replay.sharding.keeps_boundaries; },
     .message = [](R f, G) -> std::string {
       return "FSDP with adapters and reentrant checkpointing keeps every layer's input and its gradient "
              "until the backward pass ends, " +
              gib(peak(f)[Component::boundaries]) +
              " at the peak. gradient_checkpointing_kwargs={\"use_reentrant\": false} frees them layer by "
              "layer.";
     },
     .source = "pytorch torch/distributed/fsdp/_runtime_utils.py _register_post_backward_reshard_only_hook"},
    {.code = "no_sync_keeps_whole_gradients",
     .applies =
         [](R f, G) {
           return is_fsdp(f.replay.sharding.strategy) && f.recipe.training.gradient_accumulation_steps > 1 &&
                  !f.recipe.syncs_each_batch() && f.replay.sharding.accumulated > 1e9;
         },
     .message = [](R f, G) -> std::string {
       return "With gradient accumulation FSDP keeps the gradients of every micro-batch but the last whole "
              "on each GPU, " +
              gib(f.replay.sharding.accumulated) +
              ", because the Trainer runs them under no_sync(). sync_each_batch reduces each at once.";
     },
     .source = "huggingface/transformers trainer.py no_sync; pytorch fully_sharded_data_parallel.py no_sync"},
    {.code = "sync_each_batch_ignored",
     .applies =
         [](R f, G) {
           return is_fsdp(strategy_of(f.recipe)) && f.recipe.parallel.sync_each_batch &&
                  !f.recipe.syncs_each_batch() && f.recipe.training.gradient_accumulation_steps > 1;
         },
     .message = [](R, G) -> std::string {
       return "sync_each_batch has no effect here: Transformers 4.46.2 to 5.1 hold the gradients back all the "
              "same.";
     },
     .source = "huggingface/transformers 4.57.1 trainer.py _inner_training_loop; 5.2.0 reads the setting"},
    {.code = "zero_buckets",
     .applies =
         [](R f, G) {
           const memory::Sharding& s = f.replay.sharding;
           return is_zero(strategy_of(f.recipe)) && s.buckets + s.backward_buckets > 5e8;
         },
     .message = [](R f, G) -> std::string {
       return "DeepSpeed's buffers for gradients on their way take " +
              gib(f.replay.sharding.buckets + f.replay.sharding.backward_buckets) +
              "; a smaller zero_optimization.reduce_bucket_size takes less.";
     },
     .source = "deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py setup_buckets"},
    {.code = "layers_are_spread",
     .applies = [](R f, G) { return !f.replay.device_map_peaks.empty(); },
     .message = [](R f, G) -> std::string {
       std::string each;
       for (const double bytes : f.replay.device_map_peaks) each += (each.empty() ? "" : ", ") + gib(bytes);
       return "device_map spreads the layers over " +
              grouped(static_cast<double>(f.replay.device_map_peaks.size())) +
              " GPUs that work one after another; their peaks are " + each +
              ", and the report shows the fullest. The last one holds the head and the logits.";
     },
     .source = "huggingface/accelerate utils/modeling.py infer_auto_device_map"},
};

}  // namespace

std::span<const NoteRow> sharing_notes() { return sharing_rows; }

}  // namespace plimsoll::run
