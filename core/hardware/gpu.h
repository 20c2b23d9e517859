// GPUs as they really report their memory: what a run can use is less than what the box says.
//
// Example, the load lines of all known cards:
//
//     std::vector<hardware::Gpu> gpus;                       // one read_gpu() for each file of presets/gpus
//     for (const hardware::Tier& tier : hardware::tiers(gpus)) {
//       tier.gib;            // 24, as people say
//       tier.usable_bytes;   // what the smallest 24 GB card leaves to PyTorch
//     }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::hardware {

/// One device as a single process sees it: one of the four GPUs of an A16, one of the two dies of an MI250X.
struct Gpu {
  std::string id;
  std::string name;
  std::string vendor;  // NVIDIA, AMD, Intel, Apple
  std::string
      segment;  // consumer, laptop, workstation, datacenter, unified, slice (of MIG), modified (by its seller)
  std::string architecture;
  double compute_capability = 0;  // 7.5, 8.6, 9.0, 12.0; 0 where there is none

  uint64_t tier_gib = 0;                // the size that people say: 24
  uint64_t usable_bytes = 0;            // what PyTorch reports as the total capacity, the lowest reading
  uint64_t usable_high_bytes = 0;       // the highest reading; the same where there is one or none
  std::string usable_source;            // begins with "read: " or "rule: "
  uint64_t nvidia_smi_total_bytes = 0;  // 0 where nobody has read it

  double memory_bandwidth_bytes_per_second = 0;
  double tensor_flops = 0;         // dense fp16 or bf16 with fp32 accumulation; 0 where unknown
  bool tensor_flops_read = false;  // false: by rule from the fp32 rate
  double matmul_flops = 0;         // measured on large bf16 matrices; 0 where nobody has

  bool bf16 = false;
  bool flash_attention_2 = false;
  bool fp8 = false;
  bool tf32 = false;
  bool unified_memory = false;
  bool nvlink = false;         // part of its board, or through a bridge
  bool nvlink_bridge = false;  // sold apart, and between two cards alone

  std::vector<std::string> sources;
  std::string notes;

  /// A card as its maker sells it, with memory of its own.
  bool whole_card() const { return !unified_memory && segment != "slice" && segment != "modified"; }
  /// Whether what is replayed is what runs on it: Metal has kernels and an allocator of its own.
  bool replayed() const { return vendor != "Apple"; }
};

/// The part of an Apple machine's memory that macOS lends the GPU unless told otherwise: the default limit of
/// Metal's working set. In GiB, as machines are sold.
constexpr double metal_share(double gib) { return gib <= 32 ? 2.0 / 3 : 0.75; }

/// The card that a verdict may name; null where there is none.
inline const Gpu* judged(const Gpu* gpu) { return gpu != nullptr && gpu->replayed() ? gpu : nullptr; }

/// Reads one file of presets/gpus. Error pointers are those of the file; messages begin with its name.
std::optional<Gpu> read_gpu(const json::Json& value, const std::string& file, json::Errors& errors);

/// The buffer that PyTorch allocates for each handle and stream that multiplies matrices. A training step
/// owns two: forward and backward run on different threads.
uint64_t cublas_workspace_bytes(const Gpu& gpu);

/// Memory that the driver and the loaded kernels hold outside PyTorch's own count.
struct Context {
  uint64_t low = 0;
  uint64_t typical = 0;
  uint64_t high = 0;
  std::string_view source;
};
Context context(const Gpu& gpu);

/// A memory size that GPUs come in. `usable_bytes` is that of its smallest card.
struct Tier {
  uint64_t gib = 0;
  uint64_t usable_bytes = 0;
  std::vector<std::string> gpus;
};

/// Whole cards with their own memory that run PyTorch through CUDA or ROCm, by size, ascending.
std::vector<Tier> tiers(const std::vector<Gpu>& gpus);

}  // namespace plimsoll::hardware
