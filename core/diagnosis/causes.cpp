#include "core/diagnosis/causes.h"

#include <algorithm>

namespace plimsoll::diagnosis {

namespace {

constexpr Weight for_host_ram[] = {{Sign::says_host, 14.0F}, {Sign::loading, 0.5F}, {Sign::shards, 0.5F}};
constexpr Weight for_driver_level_oom[] = {
    {Sign::says_driver, 8.0F}, {Sign::foreign_process, 2.0F}, {Sign::vllm_frame, -2.5F}};
constexpr Weight for_library_workspace_alloc[] = {{Sign::says_handle, 12.0F}};
constexpr Weight for_nccl_buffers[] = {{Sign::says_nccl, 12.0F}};
constexpr Weight for_bnb_paged_managed_memory[] = {{Sign::says_paged, 13.0F}};
constexpr Weight for_mps_watermark[] = {{Sign::says_metal, 13.0F}};
constexpr Weight for_jax_preallocation[] = {
    {Sign::says_xla, 7.5F}, {Sign::says_tpu, -4.0F}, {Sign::is_embedding16, -3.0F}};
constexpr Weight for_kernel_shared_memory[] = {{Sign::says_kernel, 13.0F}};
constexpr Weight for_vllm_kv_cache[] = {{Sign::says_vllm, 13.0F}};
constexpr Weight for_single_giant_tensor[] = {{Sign::asks_nonsense, 12.0F},
                                              {Sign::asks_beyond_card, 7.0F},
                                              {Sign::sees_images, -3.5F},
                                              {Sign::vision_frame, -3.0F},
                                              {Sign::nothing_allocated, -6.0F},
                                              {Sign::is_scores, -2.0F},
                                              {Sign::is_logits, -2.0F},
                                              {Sign::eager, -2.0F},
                                              {Sign::is_power_of_two, -3.0F},
                                              {Sign::less_than_card, -4.0F},
                                              {Sign::loss, -2.5F}};
constexpr Weight for_capacity_misreported[] = {{Sign::less_than_card, 9.0F}, {Sign::nothing_allocated, 4.5F}};
constexpr Weight for_sentinel_process_memory[] = {{Sign::sentinel, 11.0F}};
constexpr Weight for_windows_sysmem_fallback[] = {{Sign::beyond_card, 9.0F},
                                                  {Sign::spills, 7.5F},
                                                  {Sign::free_covers, 8.0F},
                                                  {Sign::on_windows, 1.5F},
                                                  {Sign::on_wsl, 1.0F}};
constexpr Weight for_other_process[] = {
    {Sign::foreign_process, 8.0F}, {Sign::mostly_foreign, 7.0F},  {Sign::large_residual, 7.5F},
    {Sign::some_residual, 4.5F},   {Sign::in_use_at_start, 6.0F}, {Sign::merging, -1.0F},
    {Sign::after_steps, -1.0F},    {Sign::vllm_words, -2.0F},     {Sign::generates_rollouts, -1.5F}};
constexpr Weight for_fragmentation[] = {{Sign::slack_covers, 6.5F},     {Sign::some_slack, 2.5F},
                                        {Sign::says_fragmented, 5.5F},  {Sign::asks_beyond_card, -4.0F},
                                        {Sign::foreign_process, -1.0F}, {Sign::is_scores, -3.0F},
                                        {Sign::packs, -1.0F},           {Sign::sees_images, -1.0F}};
constexpr Weight for_single_gpu_used[] = {
    {Sign::one_card_only, 9.0F}, {Sign::at_resume, -5.0F}, {Sign::at_save, -4.0F}};
constexpr Weight for_hardware_fallback[] = {{Sign::old_card, 2.0F}, {Sign::quantized, 1.5F}};
constexpr Weight for_dora_overhead[] = {{Sign::uses_dora, 7.0F}, {Sign::dora_frame, 5.0F}};
constexpr Weight for_merge_peak[] = {{Sign::merging, 10.0F}};
// Whose memory ran out is said first: a process that the kernel ended while it saved had no room in RAM.
constexpr Weight for_resume_or_save_peak[] = {
    {Sign::saving, 8.0F},      {Sign::resumes, 7.0F},  {Sign::at_save, 6.0F},   {Sign::at_resume, 6.0F},
    {Sign::vllm_frame, -7.0F}, {Sign::merging, -4.0F}, {Sign::says_host, -7.0F}};
constexpr Weight for_eval_accumulates_logits[] = {{Sign::evaluating, 8.0F}, {Sign::at_evaluation, 6.0F}};
constexpr Weight for_optimizer_foreach_temporary[] = {{Sign::foreach, 9.0F}, {Sign::optimizer, 1.0F}};
constexpr Weight for_optimizer_states_first_step[] = {
    {Sign::optimizer, 7.0F},    {Sign::makes_states, 4.0F}, {Sign::prepares, 5.0F},
    {Sign::full_tuning, 1.0F},  {Sign::foreach, -4.0F},     {Sign::is_layer32, 0.5F},
    {Sign::is_partition, 5.0F}, {Sign::says_driver, -7.0F}, {Sign::after_first_step, 2.0F},
    {Sign::at_resume, -2.5F},   {Sign::moves_model, -7.0F}, {Sign::says_optimizer, 5.5F}};
constexpr Weight for_dequantisation_temporary[] = {
    {Sign::dequantizes, 7.5F}, {Sign::is_weight16, 1.0F}, {Sign::not_checkpointed, -4.0F}};
constexpr Weight for_kbit_upcast[] = {
    {Sign::kbit_frame, 8.0F}, {Sign::is_embedding32, 3.0F}, {Sign::quantized, 1.5F}, {Sign::loading, 0.5F}};
constexpr Weight for_dequantised_base[] = {
    {Sign::dequantizes_base, 7.0F}, {Sign::low_bit_checkpoint, 4.0F}, {Sign::loading, 1.0F}};
constexpr Weight for_bnb_not_applied[] = {{Sign::near_16bit_though_quantized, 6.0F}};
constexpr Weight for_fp32_by_mistake[] = {{Sign::in_fp32, 5.0F},        {Sign::near_fp32, 5.0F},
                                          {Sign::is_weight32, 2.5F},    {Sign::fp32_of_a_frozen_base, 4.0F},
                                          {Sign::is_embedding32, 1.0F}, {Sign::loading, 1.0F},
                                          {Sign::full_tuning, -2.0F},   {Sign::quantized, -2.0F},
                                          {Sign::says_mlx, 0.5F},       {Sign::is_weight16, -1.0F},
                                          {Sign::fits_in_16bit, 6.0F},  {Sign::untyped, 5.0F},
                                          {Sign::whole_beyond, -0.5F}};
constexpr Weight for_load_peak[] = {
    {Sign::is_whole_model, 3.0F}, {Sign::loading, 2.0F}, {Sign::full_tuning, -1.0F}};
constexpr Weight for_sharding_load_peak[] = {{Sign::shards, 2.5F},
                                             {Sign::loading, 4.0F},
                                             {Sign::resumes, -3.0F},
                                             {Sign::at_resume, -3.0F},
                                             {Sign::says_driver, -3.0F},
                                             {Sign::quantized_and_sharded, 1.5F},
                                             {Sign::whole_beyond, 1.0F},
                                             // What happens behind a step is no loading.
                                             {Sign::saving, -4.0F},
                                             {Sign::at_save, -3.0F},
                                             {Sign::at_evaluation, -3.0F},
                                             {Sign::after_steps, -3.0F}};
constexpr Weight for_replicated_not_sharded[] = {{Sign::replicates, 4.0F},
                                                 {Sign::sums_cards, 2.0F},
                                                 {Sign::is_partition, -1.0F},
                                                 {Sign::whole_beyond, 2.5F},
                                                 {Sign::quantized_and_sharded, 2.0F},
                                                 {Sign::loading, 1.0F},
                                                 {Sign::optimizer, -3.0F},
                                                 {Sign::share_well_within, -1.0F},
                                                 {Sign::asks_beyond_card, -4.0F},
                                                 {Sign::generates_rollouts, -1.5F},
                                                 {Sign::fits_with_less, -6.0F},
                                                 {Sign::says_logits, -1.5F},
                                                 {Sign::says_driver, 2.5F},
                                                 {Sign::loss, -2.0F},
                                                 {Sign::share_is_small, -4.0F},
                                                 {Sign::inference, -1.0F}};
constexpr Weight for_packing_interaction[] = {{Sign::packs, 2.0F}, {Sign::varlen, 5.5F}};
constexpr Weight for_eager_attention_quadratic[] = {
    {Sign::is_scores, 6.0F},       {Sign::large_request, 1.0F}, {Sign::is_power_of_two, 3.8F},
    {Sign::eager, 4.0F},           {Sign::attention, 4.0F},     {Sign::asks_beyond_card, 0.5F},
    {Sign::explicit_scores, 5.5F}, {Sign::generating, -3.0F},   {Sign::sees_images, -2.5F}};
constexpr Weight for_vision_tokens[] = {{Sign::sees_images, 5.5F},     {Sign::sees_fixed_images, 2.0F},
                                        {Sign::many_images, 2.0F},     {Sign::after_update, -3.0F},
                                        {Sign::at_evaluation, -2.0F},  {Sign::at_save, -3.0F},
                                        {Sign::at_resume, -3.0F},      {Sign::grows, -1.0F},
                                        {Sign::large_request, 1.0F},   {Sign::vision_frame, 6.0F},
                                        {Sign::beyond_the_text, 1.5F}, {Sign::asks_beyond_card, 3.0F},
                                        {Sign::loading, -3.0F},        {Sign::optimizer, -3.0F},
                                        {Sign::says_driver, -5.0F}};
constexpr Weight for_logits_peak[] = {
    {Sign::loss, 6.0F},        {Sign::logits_frame, 3.0F},      {Sign::says_logits, 5.5F},
    {Sign::is_logits, 5.5F},   {Sign::product_of_logits, 3.2F}, {Sign::large_request, 3.0F},
    {Sign::evaluating, -3.0F}, {Sign::asks_beyond_card, 0.5F},  {Sign::is_logits_as_said, 2.5F}};
constexpr Weight for_embedding_tensor[] = {{Sign::is_embedding16, 3.5F},
                                           {Sign::says_xla, 3.0F},
                                           {Sign::loading, 0.5F},
                                           {Sign::is_embedding32, 0.5F}};
constexpr Weight for_vllm_colocate[] = {
    {Sign::generates_rollouts, 3.0F}, {Sign::vllm_words, 4.0F}, {Sign::vllm_frame, 4.5F},
    {Sign::mostly_foreign, 3.0F},     {Sign::forward, -1.0F},   {Sign::backward, -1.0F},
    {Sign::large_pools, 5.0F},        {Sign::generating, 1.0F}, {Sign::large_residual, 1.5F},
    {Sign::foreign_process, 1.0F},    {Sign::foreach, -2.0F},   {Sign::uses_dora, -3.0F}};
constexpr Weight for_dpo_reference_model[] = {{Sign::pairs, 7.5F},          {Sign::four_models, 5.0F},
                                              {Sign::loss, -1.0F},          {Sign::grows, -4.0F},
                                              {Sign::after_steps, -1.0F},   {Sign::after_update, -3.0F},
                                              {Sign::at_evaluation, -3.0F}, {Sign::at_save, -3.0F}};
constexpr Weight for_pairwise_doubles_batch[] = {{Sign::pairs, 2.0F}, {Sign::two_sequences, 8.2F}};
constexpr Weight for_modules_to_save[] = {{Sign::saves_modules, 8.0F}};
constexpr Weight for_checkpointing_not_active[] = {{Sign::not_checkpointed, 5.5F},
                                                   {Sign::forward, 0.5F},
                                                   {Sign::whole_beyond, -1.5F},
                                                   {Sign::full_tuning, -1.0F},
                                                   {Sign::short_and_single, -1.0F}};
constexpr Weight for_long_outlier_sequences[] = {
    {Sign::after_steps, 5.5F}, {Sign::says_mlx, 3.0F},       {Sign::long_context, 0.5F},
    {Sign::grows, -2.0F},      {Sign::saving, -3.0F},        {Sign::evaluating, -3.0F},
    {Sign::at_save, -2.0F},    {Sign::at_evaluation, -2.0F}, {Sign::loading, -3.0F}};
// What grows while it evaluates is the heap of logits that evaluation keeps.
constexpr Weight for_growth_over_steps[] = {{Sign::grows, 6.0F},          {Sign::loading, -5.0F},
                                            {Sign::one_card_only, -2.0F}, {Sign::at_evaluation, -4.0F},
                                            {Sign::evaluating, -4.0F},    {Sign::says_host, -4.0F}};
constexpr Weight for_regression_in_library[] = {{Sign::after_update, 8.5F}};
constexpr Weight for_wrong_method_flag[] = {{Sign::contradicted_method, 8.0F}};
constexpr Weight for_adapters_large_or_fp32[] = {{Sign::high_rank, 4.0F}, {Sign::adapters, 0.5F}};
constexpr Weight for_does_not_fit_at_all[] = {
    {Sign::share_beyond, 4.0F},
    {Sign::whole_beyond, 0.5F},
    {Sign::loading, 2.5F},
    {Sign::inference, 4.0F},
    {Sign::fits_in_16bit, -4.0F},
    {Sign::in_fp32, -1.0F},
    {Sign::full_tuning, 1.5F},
    {Sign::small_network, -1.5F},
    {Sign::untyped, -2.0F},
    {Sign::optimizer, -1.0F},
    {Sign::is_whole_model, 1.0F},
    {Sign::is_layer32, 1.5F},
    {Sign::is_partition, -1.5F},
    {Sign::short_and_single, 1.0F},
    {Sign::one_sample_fails, 0.8F},
    {Sign::batch_no_help, 1.0F},
    {Sign::tiny_card, 1.5F},
    {Sign::replicates, -0.5F},
    {Sign::asks_beyond_card, -5.0F},
    {Sign::says_tpu, 4.5F},
    {Sign::says_xla, -1.0F},
    {Sign::says_host, -6.0F},
    {Sign::loss, -3.0F},
    {Sign::generating, 2.5F},
    {Sign::sees_images, -1.0F},
    {Sign::whole_well_within, -3.0F},
    // What happens after a step says that weights, gradients and states had their place.
    {Sign::saving, -5.0F},
    {Sign::at_save, -3.0F},
    {Sign::at_resume, -3.0F},
    {Sign::at_evaluation, -3.0F},
    {Sign::evaluating, -4.0F},
    {Sign::after_steps, -3.0F},
    {Sign::grows, -4.5F},
    {Sign::fits_with_less, -3.0F},
    {Sign::after_update, -3.0F},
    {Sign::after_first_step, -1.5F},
    {Sign::resumes, -1.5F},
    {Sign::free_covers, -5.0F},
    {Sign::vllm_frame, -3.0F},
    {Sign::generates_rollouts, -2.0F},
    {Sign::saves_modules, -1.5F},
    {Sign::prepares, -1.5F},
    {Sign::moves_model, 3.0F},
    {Sign::share_is_most, 2.0F},
    {Sign::vllm_words, -2.5F},
    {Sign::asks_requirements, 1.5F}};
constexpr Weight for_batch_or_sequence_too_large[] = {
    {Sign::share_well_within, 1.5F}, {Sign::large_request, 0.5F},     {Sign::large_batch, 1.5F},
    {Sign::forward, 0.5F},           {Sign::backward, 0.5F},          {Sign::loading, -4.0F},
    {Sign::optimizer, -3.0F},        {Sign::inference, -3.0F},        {Sign::short_and_single, -2.0F},
    {Sign::share_beyond, -2.0F},     {Sign::asks_beyond_card, -4.0F}, {Sign::says_host, -6.0F},
    {Sign::full_tuning, -0.3F},      {Sign::generating, -1.0F},       {Sign::long_context, 1.0F},
    {Sign::fits_with_less, 5.0F},    {Sign::one_sample_fails, -1.0F}, {Sign::batch_no_help, -0.5F},
    {Sign::beyond_the_text, -2.0F},  {Sign::saving, -3.0F},           {Sign::evaluating, -3.0F},
    {Sign::merging, -3.0F}};
constexpr Weight for_qlora_not_smaller[] = {
    {Sign::quantized, 1.0F}, {Sign::share_well_within, 0.5F}, {Sign::quantised_saves_nothing, 8.0F}};
constexpr Weight for_adapters_save_little[] = {
    {Sign::adapters, 1.0F}, {Sign::share_well_within, 0.5F}, {Sign::adapters_save_nothing, 8.0F}};
constexpr Weight for_estimate_missing_terms[] = {{Sign::own_estimate, 5.0F}};

constexpr Cause all_causes[] = {
    {"host_ram", "The machine's RAM ran out", Found::figures, -4.0F, for_host_ram,
     "The kernel, the container or a launcher ended the process: loading on every rank, offload, pinned "
     "buffers or data workers filled the host.",
     "Load on one rank only (low_cpu_mem_usage, rank-0 broadcast), offload less, raise the container's "
     "limit, fewer workers. Nothing on the GPU helps.",
     "dmesg, or the container's memory limit and use."},
    {"driver_level_oom", "The driver refused, without figures", Found::figures, -4.0F, for_driver_level_oom,
     "Not PyTorch's allocator but the driver itself failed: a context, another process, pinned memory, or an "
     "error that is reported late.",
     "Look at nvidia-smi before the start; end what holds the card; then run once with "
     "CUDA_LAUNCH_BLOCKING=1.",
     "nvidia-smi before the start."},
    {"library_workspace_alloc", "A library could not make its handle", Found::figures, -4.0F,
     for_library_workspace_alloc,
     "cuBLAS or cuDNN asks the driver for its workspace after PyTorch's cache has taken everything.",
     "Leave 0.5 to 1 GiB free: a smaller batch, or torch.cuda.set_per_process_memory_fraction(0.95).", ""},
    {"nccl_buffers", "NCCL found no room for its buffers", Found::figures, -4.0F, for_nccl_buffers,
     "Each communicator takes buffers from the driver, outside PyTorch's allocator.",
     "Leave 1 to 2 GiB free, fewer process groups, NCCL_BUFFSIZE smaller.", ""},
    {"bnb_paged_managed_memory", "Managed memory was refused", Found::figures, -4.0F,
     for_bnb_paged_managed_memory,
     "A paged optimizer takes CUDA managed memory, which WSL and Windows hardly give, or which is backed by "
     "a full host.",
     "Use adamw_8bit or adamw_bnb_8bit in place of the paged optimizer.", ""},
    {"mps_watermark", "Metal's watermark was reached", Found::figures, -4.0F, for_mps_watermark,
     "PyTorch on Apple stops at a multiple of the working set that macOS recommends; allocated and other "
     "allocations together reached it.",
     "Close other programs, a smaller batch or length, 16-bit weights; PYTORCH_MPS_HIGH_WATERMARK_RATIO "
     "lifts the limit at the risk of swapping.",
     ""},
    {"jax_preallocation", "JAX had taken its share before", Found::figures, -4.0F, for_jax_preallocation,
     "JAX takes three quarters of the card at its start; what is asked beyond that fails, also when another "
     "program holds the card.",
     "XLA_PYTHON_CLIENT_MEM_FRACTION=0.95 (or PREALLOCATE=false), and end what else holds the card.",
     "nvidia-smi before the start."},
    {"vllm_kv_cache", "vLLM's cache cannot hold one longest sequence", Found::figures, -4.0F,
     for_vllm_kv_cache,
     "What gpu_memory_utilization leaves after the weights is less than the keys and values of max_model_len "
     "tokens.",
     "A smaller max_model_len, a higher gpu_memory_utilization, or more cards.", ""},
    {"kernel_shared_memory", "A kernel wants more on-chip memory than this card has", Found::figures, -4.0F,
     for_kernel_shared_memory,
     "Triton compiled a block that does not fit the shared memory of a multiprocessor. The GPU's memory did "
     "not run out, and a smaller batch changes nothing.",
     "Another kernel (attn_implementation sdpa, Liger or Unsloth off), smaller blocks or fewer stages, or a "
     "card with more of it: 99 KiB on consumer cards, 163 KiB on A100, 227 KiB on H100.",
     "the kernel's name in the traceback."},
    {"single_giant_tensor", "One tensor of a size that nothing needs", Found::figures, -3.0F,
     for_single_giant_tensor,
     "A wrong length or shape: padding to the model's maximum position, position tables of a million tokens, "
     "a corrupt size.",
     "Truncate to the data's length; look at the shapes that enter the failing line.",
     "the frame of the failing line."},
    {"capacity_misreported", "The software sees less memory than the card has", Found::figures, -4.0F,
     for_capacity_misreported, "Runtime or firmware give the GPU a smaller pool than the machine has.",
     "Check the carve-out (BIOS, kernel parameters), the runtime's version, and nvidia-smi or rocm-smi.", ""},
    {"sentinel_process_memory", "The driver cannot attribute memory", Found::figures, -4.0F,
     for_sentinel_process_memory,
     "Under WSL the process figure is 2^64 bytes and memory may be allocated past the card.",
     "Ignore that figure; compare what is allocated with the card, and lower the peak below it.", ""},
    {"windows_sysmem_fallback", "Windows moved memory to the host, or limits the process", Found::figures,
     -4.0F, for_windows_sysmem_fallback,
     "The driver for Windows spills to host memory or commits against a limit before the card is full.",
     "Turn the driver's system memory fallback off, raise the page file, or run under Linux.", ""},
    {"other_process", "Another program holds part of the card", Found::figures, -3.0F, for_other_process,
     "A second process, a zombie, another user or the desktop holds memory that this run counts on.",
     "End it (nvidia-smi, fuser -v /dev/nvidia*), choose another card with CUDA_VISIBLE_DEVICES, or subtract "
     "it from the card.",
     "nvidia-smi before the start."},
    {"fragmentation", "Free blocks, but none large enough", Found::figures, -3.0F, for_fragmentation,
     "The cache holds more than was asked for, in pieces: lengths that change from batch to batch, or "
     "engines that sleep and wake.",
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True gives back at most the slack.", ""},
    {"single_gpu_used", "Only one of the cards is used", Found::figures, -4.0F, for_single_gpu_used,
     "The process sees or uses one card; the model is not spread.",
     "Start with torchrun or accelerate, or set device_map; look at CUDA_VISIBLE_DEVICES.", ""},
    {"hardware_fallback", "The card lacks the kernels", Found::request, -4.0F, for_hardware_fallback,
     "Below compute capability 7.5 the 8-bit product falls back to 16-bit copies; without bf16 other paths "
     "are taken.",
     "Another card, or 4-bit weights with fp16.", ""},
    {"dora_overhead", "DoRA holds matrices as large as the weights", Found::request, -3.0F, for_dora_overhead,
     "The norm of the adapted weight and its product are full-size matrices for each layer.",
     "use_dora=false, or gradient checkpointing, or fewer target modules.", ""},
    {"merge_peak", "Merging needs a second copy", Found::frame, -3.0F, for_merge_peak,
     "merge_and_unload and export hold 16-bit or fp32 copies beside the model.",
     "Merge on the CPU, or layer by layer.", ""},
    {"resume_or_save_peak", "Saving or resuming gathers what was spread", Found::frame, -3.0F,
     for_resume_or_save_peak,
     "A state dict gathered on the GPU, or a checkpoint kept alive after it was loaded.",
     "Save sharded or offload_to_cpu; load with map_location=\"cpu\"; delete the checkpoint after loading.",
     ""},
    {"eval_accumulates_logits", "Evaluation keeps all logits", Found::frame, -3.0F,
     for_eval_accumulates_logits,
     "Trainer joins the logits of the whole evaluation set on the GPU, or the evaluation batch is larger "
     "than the training batch.",
     "prediction_loss_only=true, or eval_accumulation_steps=1 with preprocess_logits_for_metrics, and a "
     "smaller per_device_eval_batch_size.",
     ""},
    {"optimizer_foreach_temporary", "The multi-tensor optimizer holds one more list", Found::frame, -3.0F,
     for_optimizer_foreach_temporary, "torch's AdamW takes square roots of all parameters at once.",
     "optim=adamw_torch_fused, or foreach=False.", ""},
    {"optimizer_states_first_step", "The optimizer's states did not exist before", Found::frame, -3.0F,
     for_optimizer_states_first_step,
     "exp_avg and exp_avg_sq are made at the first step (or by accelerate's and DeepSpeed's preparation), "
     "after forward and backward had passed.",
     "An 8-bit or paged optimizer, adapters, or sharded states (ZeRO).", ""},
    {"dequantisation_temporary", "A quantised weight was expanded for its product", Found::frame, -3.0F,
     for_dequantisation_temporary, "bitsandbytes expands one weight matrix to 16 bits each time it is used.",
     "It only names the moment: the card was full. Lower what stays: batch, length, checkpointing.", ""},
    {"kbit_upcast", "The k-bit preparation casts to fp32", Found::frame, -3.0F, for_kbit_upcast,
     "prepare_model_for_kbit_training turns norms, embeddings and head to fp32, and the residual stream with "
     "them.",
     "Skip the preparation's cast (upcast only norms), keep embeddings in 16 bits.", ""},
    {"dequantised_base", "The checkpoint's format has no training kernel", Found::request, -3.0F,
     for_dequantised_base, "MXFP4 and FP8 checkpoints are expanded to 16 bits before they are trained.",
     "A bitsandbytes copy of the model, or a card that holds two bytes a parameter.", ""},
    {"bnb_not_applied", "The base is not quantised after all", Found::request, -3.0F, for_bnb_not_applied,
     "The 4-bit or 8-bit flag did not reach the loader.",
     "Pass BitsAndBytesConfig to from_pretrained; print model.get_memory_footprint().",
     "model.get_memory_footprint() after loading."},
    {"fp32_by_mistake", "The weights are held in fp32", Found::request, -3.0F, for_fp32_by_mistake,
     "Without a dtype the checkpoint is loaded in fp32: four bytes a parameter.",
     "torch_dtype=torch.bfloat16 (dtype=\"bfloat16\") in from_pretrained.", "the dtype of the first weight."},
    {"load_peak", "Loading holds a second copy", Found::frame, -3.0F, for_load_peak,
     "A state dict beside the module, or fp32 before a cast.",
     "low_cpu_mem_usage=True, a device_map, safetensors.", ""},
    {"sharding_load_peak", "Every rank holds the whole model before it is sharded", Found::frame, -2.0F,
     for_sharding_load_peak, "Sharding begins after loading: each rank first has everything.",
     "Meta-device initialisation: fsdp_cpu_ram_efficient_loading with sync_module_states, zero.Init under "
     "ZeRO-3.",
     ""},
    {"replicated_not_sharded", "Each card holds the whole model", Found::request, -2.0F,
     for_replicated_not_sharded,
     "The memory of several cards is not summed: data parallelism, ZeRO-1 and -2 and most quantised bases "
     "put a whole copy on each.",
     "ZeRO-3 or FSDP with an unquantised base, FSDP with quantised storage, or a model that fits one card.",
     ""},
    {"packing_interaction", "Packed sequences enlarge the attention's workspace", Found::request, -3.0F,
     for_packing_interaction,
     "Attention over packed sequences keeps buffers that grow with the number of sequences in a row.",
     "A shorter packed length, or padding-free batches of fewer samples.", ""},
    {"eager_attention_quadratic", "Attention scores grow with the square of the length", Found::frame, -3.0F,
     for_eager_attention_quadratic, "Without a fused kernel batch x heads x length x length scores are kept.",
     "attn_implementation sdpa or flash_attention_2; on old cards a shorter length.", ""},
    {"vision_tokens", "Images become thousands of tokens", Found::request, -3.0F, for_vision_tokens,
     "Native-resolution images and video frames are not bounded by the text length, and the vision tower has "
     "activations of its own.",
     "max_pixels, fewer images or frames, a frozen and checkpointed tower.", "pixels of the largest image."},
    {"logits_peak", "Logits over a large vocabulary", Found::frame, -2.0F, for_logits_peak,
     "Tokens x vocabulary in 16 and 32 bits, several copies, reduced by neither sharding nor checkpointing.",
     "A fused or chunked loss (Liger, chunked_nll, Unsloth), or fewer tokens in a micro-batch.", ""},
    {"embedding_tensor", "The embedding matrix in one piece", Found::figures, -3.0F, for_embedding_tensor,
     "Vocabulary x hidden is one tensor, asked for when the card was nearly full.",
     "The weights themselves do not fit here: a smaller dtype, or a card for itself.", ""},
    {"vllm_colocate", "The rollout engine shares the card", Found::request, -3.0F, for_vllm_colocate,
     "vLLM reserves its share (gpu_memory_utilization) on the card that trains.",
     "A lower vllm_gpu_memory_utilization, sleep mode, or vLLM on cards of its own.", ""},
    {"dpo_reference_model", "Policy, reference and two answers", Found::request, -3.0F,
     for_dpo_reference_model,
     "The batch is doubled (chosen, rejected), a second model stands beside the first unless adapters are "
     "switched off for it, and both make logits.",
     "Adapters with ref_model=None, precompute_ref_log_probs, a fused preference loss, half the batch.", ""},
    {"pairwise_doubles_batch", "Two or more sequences an example", Found::request, -4.0F,
     for_pairwise_doubles_batch, "Reward and contrastive trainers feed several sequences an example.",
     "Half the batch for the same memory.", ""},
    {"modules_to_save", "Embedding and head are trained in full", Found::request, -3.0F, for_modules_to_save,
     "modules_to_save makes fp32 copies of embedding and head with gradients and states.",
     "Leave them out, or use trainable_token_indices for new tokens.", ""},
    {"checkpointing_not_active", "Gradient checkpointing is off", Found::request, -3.0F,
     for_checkpointing_not_active, "Every activation of every layer is kept for backward.",
     "gradient_checkpointing=true (with use_reentrant=false and enable_input_require_grads for adapters).",
     ""},
    {"long_outlier_sequences", "A long sample came up", Found::frame, -2.0F, for_long_outlier_sequences,
     "Batches are padded to their longest sample: it fits until the longest one comes.",
     "Truncate (max_length), or group by length and test the longest batch first.",
     "the longest sample in tokens, not the mean."},
    {"growth_over_steps", "The use creeps up", Found::frame, -3.0F, for_growth_over_steps,
     "Tensors are kept over steps: loss history, metrics, generated samples.",
     "loss.item() in place of loss, no kept outputs; a memory snapshot shows who holds them.",
     "the curve of memory_allocated over steps."},
    {"regression_in_library", "Another release fitted", Found::frame, -4.0F, for_regression_in_library,
     "The same configuration fitted with another version of a library.",
     "Compare the versions; pin the one that fitted.",
     "versions of torch, transformers, peft, bitsandbytes before and now."},
    {"wrong_method_flag", "Another method runs than the one meant", Found::frame, -4.0F,
     for_wrong_method_flag, "The share of trained parameters contradicts the method.",
     "Look at print_trainable_parameters() and at the method's flag.",
     "the line with the trainable parameters."},
    {"adapters_large_or_fp32", "The adapters themselves are large", Found::request, -4.0F,
     for_adapters_large_or_fp32,
     "A high rank on all layers in fp32 with two states takes sixteen bytes a parameter.",
     "A lower rank or fewer target modules, 16-bit adapters, an 8-bit optimizer.", ""},
    {"does_not_fit_at_all", "The model does not fit this card with this method", Found::request, 0.0F,
     for_does_not_fit_at_all, "Weights, gradients and optimizer states alone exceed the card.",
     "Adapters, a quantised base, sharding over cards, offload, or a larger card.", ""},
    {"batch_or_sequence_too_large", "Too many tokens in a micro-batch", Found::request, 0.6F,
     for_batch_or_sequence_too_large,
     "Activations of micro-batch x length exceed what weights and states leave.",
     "Half the micro-batch and twice the accumulation, a shorter length, checkpointing, a fused loss.", ""},
    {"qlora_not_smaller", "Four bits save weights only", Found::not_shown, -4.0F, for_qlora_not_smaller,
     "At long lengths or large batches activations decide, and the k-bit casts may cost more than the "
     "weights save.",
     "Reduce tokens, not bits.", "the report's share of activations."},
    {"adapters_save_little", "Adapters save gradients and states only", Found::not_shown, -4.0F,
     for_adapters_save_little, "Activations are the same as in full fine-tuning.",
     "Reduce tokens, or checkpoint.", "the report's share of activations."},
    {"estimate_missing_terms", "The expectation left something out", Found::not_shown, -3.0F,
     for_estimate_missing_terms,
     "An own estimate left out activations, logits, gathered layers, buffers or the context, or summed over "
     "cards.",
     "Compare with the report's components.", "the estimate that was made."},
};

}  // namespace

std::span<const Cause> causes() { return all_causes; }

const Cause* find_cause(std::string_view id) {
  const auto* found =
      std::find_if(std::begin(all_causes), std::end(all_causes), [&](const Cause& c) { return c.id == id; });
  return found == std::end(all_causes) ? nullptr : found;
}

}  // namespace plimsoll::diagnosis
