#include "core/time/step.h"

#include <algorithm>

#include "core/recipe/strategies.h"

namespace plimsoll::time {

namespace {

// One set of shares for every card, set on the packed A100 runs of the fms-acceleration benchmark
// (foundation-model-stack/fms-acceleration scripts/benchmarks/refs/a100_80gb*.csv, train_tokens_per_second)
// and checked on others: docs/time.md.
constexpr double multiply_share = 0.85;   // of what large matrices reach, averaged over a layer's shapes
constexpr double matmul_of_peak = 0.85;   // large matrices against the data sheet, where nobody measured it
constexpr double attention_share = 0.45;  // fused attention kernels, forward and backward
constexpr double move_share = 0.80;       // elementwise kernels, of the memory bandwidth
constexpr double unpack_share = 0.25;     // bitsandbytes' dequantisation: 2.5 bytes a weight
constexpr double unpack_bytes = 2.52;
// Python, PyTorch and PEFT launch the kernels of one layer and pass in about 1.6 ms: Qwen and ms-swift tables
// at 256 and 512 tokens, where every model from 1.8B to 14B takes 4.2 to 5 ms a layer with checkpointing. A
// quantised base launches half as many again: 7 ms.
constexpr double launch_seconds = 0.0016;
// On a virtual machine with an H100 LoRA and full fine-tuning took 2.9 to 5.4 ms (tests/core/golden/gpu_runs.json).
constexpr double slow_launches = 3.4;
constexpr double quantised_launch = 1.5;
// Between cards: what NCCL reaches over the NVLink of their boards, and through the host over PCIe 4.0, which is
// taken where a bridge would have to be bought: nobody says that it is there. To host
// memory: PCIe 4.0 x16. DeepSpeed's CPU Adam updates about a billion parameters a second.
constexpr double nvlink_bandwidth = 200e9, between_cards = 12e9, to_host = 20e9;
constexpr double cpu_elements_per_second = 1e9;
// Several cards wait for one another and start their kernels together: 93 pairs of fms-acceleration runs that
// differ in the number of cards alone (A100, NVLink, FSDP) reach 1.943 times one card's tokens on two, 3.891
// on four.
constexpr double several_cards = 0.972;
constexpr double band_low = 0.75, band_high = 1.60;
constexpr double shortest_completion = 0.25;  // of what they may be: no published run says

struct Rates {
  double flops, bandwidth, launch;
};

// Seconds that the GPU, or Python, takes over what is computed.
struct Busy {
  double multiply = 0, attention = 0, move = 0, unpack = 0, launch = 0;
  double all() const { return multiply + attention + move + unpack; }
};

// With few rows the weights are read for little work: both times add up, as tiles cannot overlap them fully.
Busy busy_with(const Computed& work, const Rates& rates) {
  Busy busy;
  busy.multiply =
      work.matmul_flops / (rates.flops * multiply_share) + work.weight_bytes / (rates.bandwidth * move_share);
  busy.attention = work.attention_flops / (rates.flops * attention_share);
  busy.move = work.moved_bytes / (rates.bandwidth * move_share);
  busy.unpack = work.unpacked * unpack_bytes / (rates.bandwidth * unpack_share);
  busy.launch = work.layer_passes * rates.launch;
  return busy;
}

}  // namespace

StepTime step_time(const Work& work, const recipe::Recipe& r, const hardware::Gpu& gpu) {
  StepTime t;
  const double bandwidth = gpu.memory_bandwidth_bytes_per_second;
  double rate = gpu.matmul_flops > 0 ? gpu.matmul_flops : matmul_of_peak * gpu.tensor_flops;
  if (rate <= 0 || bandwidth <= 0) return t;
  const bool thirty_two = !r.autocast() && r.model_args.dtype == "float32" && !r.quantized();
  if (thirty_two) rate *= gpu.tf32 ? 0.5 : 0.125;
  // Cards without bfloat16 units emulate it on the fp32 cores, at an eighth of the fp16 rate.
  const bool emulated = !gpu.bf16 && (r.training.bf16 || (!r.autocast() && r.model_args.dtype == "bfloat16"));
  if (emulated) rate *= 0.125;
  const auto steps = static_cast<double>(r.training.gradient_accumulation_steps);
  const Rates rates{rate, bandwidth, launch_seconds * (r.quantized() ? quantised_launch : 1)};
  const Busy batch = busy_with(work.batch, rates), token = busy_with(work.token, rates);
  t.multiply = batch.multiply;
  t.attention = batch.attention;
  t.move = batch.move;
  t.unpack = batch.unpack;
  t.launch = batch.launch;
  const double busy = batch.all();
  t.launch_bound = t.launch > busy;
  t.generate = work.tokens_written * std::max(token.all(), token.launch);
  t.optimizer = work.step_bytes / (bandwidth * move_share);
  // Communication runs beside the computation; the longer of the two counts.
  const double link = gpu.nvlink && !gpu.nvlink_bridge ? nvlink_bandwidth : between_cards;
  const double wire = work.traffic / link + work.host_traffic / to_host;
  const auto processes = static_cast<double>(recipe::processes(r));
  const double together = processes > 1 ? several_cards : 1;
  t.optimizer += work.step_traffic / link + (work.host_step + work.paged_bytes) / to_host +
                 work.host_elements / cpu_elements_per_second;
  const double waited = work.host_waited / to_host;
  t.seconds =
      steps * (std::max({busy / together, t.launch / together, wire}) + waited) + t.optimizer + t.generate;
  for (double* part : {&t.multiply, &t.attention, &t.move, &t.unpack, &t.launch}) *part *= steps;
  // Completions end before they must.
  t.low = band_low * (t.seconds - (1 - shortest_completion) * t.generate);
  t.high = std::max(band_high * t.seconds, slow_launches * t.launch / together + t.optimizer + t.generate);
  t.tokens_per_second = work.tokens * steps * processes / t.seconds;
  t.known = true;
  return t;
}

}  // namespace plimsoll::time
