#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "core/hardware/gpu.h"
#include "core/run/preset_files.h"

namespace plimsoll::hardware {
namespace {

constexpr double gib = 1073741824.0;

const std::vector<Gpu>& all_gpus() {
  static const std::vector<Gpu> gpus = [] {
    std::vector<Gpu> read;
    for (const PresetFile& file : preset_files()) {
      if (file.path.substr(0, 5) != "gpus/") continue;
      json::Errors errors;
      const auto tree = json::parse(file.text, errors);
      const auto gpu = tree ? read_gpu(*tree, std::string(file.path), errors) : std::nullopt;
      for (const json::Error& error : errors) ADD_FAILURE() << error.pointer << " " << error.message;
      if (gpu) read.push_back(*gpu);
    }
    return read;
  }();
  return gpus;
}

const Gpu& gpu(const std::string& id) {
  for (const Gpu& gpu : all_gpus()) {
    if (gpu.id == id) return gpu;
  }
  ADD_FAILURE() << "no GPU " << id;
  static const Gpu none;
  return none;
}

double usable_gib(const std::string& id) { return static_cast<double>(gpu(id).usable_bytes) / gib; }

TEST(GpuPresets, EveryFileIsReadWithoutAnError) {
  size_t files = 0;
  for (const PresetFile& file : preset_files()) files += file.path.substr(0, 5) == "gpus/";
  EXPECT_GE(files, 102u);
  EXPECT_EQ(all_gpus().size(), files);
}

TEST(GpuPresets, UsableMemoryIsWhatPyTorchPrintsInItsErrors) {
  // Total capacities as they stand in published out-of-memory messages.
  const std::map<std::string, double> printed = {
      {"a10g", 22.18},        {"rtx-a6000", 47.54},    {"t4", 14.74},          {"rtx-4090", 23.51},
      {"rtx-3090", 23.68},    {"a100-sxm-40", 39.39},  {"a100-sxm-80", 79.15}, {"h100-sxm", 79.10},
      {"h200-sxm", 139.72},   {"l4", 22.05},           {"l40s", 44.53},        {"v100-sxm2-16", 15.77},
      {"rtx-2080-ti", 10.75}, {"p100-pcie-16", 15.89}, {"rtx-5090", 31.34}};
  for (const auto& [id, total] : printed) {
    EXPECT_NEAR(usable_gib(id), total, 0.001) << id;
    EXPECT_EQ(gpu(id).usable_source.rfind("read: ", 0), 0u) << id;
  }
}

TEST(GpuPresets, AnA10gLeavesBetween22And22Point3Gib) {
  EXPECT_GT(usable_gib("a10g"), 22.0);
  EXPECT_LT(usable_gib("a10g"), 22.3);
}

TEST(GpuPresets, CardsThatNobodyReadFromPyTorchFallBackToARuleAndSaySo) {
  for (const char* id : {"rtx-4080", "a40", "rtx-3090-ti", "a16", "mi300x"}) {
    EXPECT_EQ(gpu(id).usable_source.rfind("rule: ", 0), 0u) << id << ": " << gpu(id).usable_source;
  }
  // A CUDA program on an RTX 4080 was seen to get 16,072 MiB.
  EXPECT_NEAR(usable_gib("rtx-4080"), 16072.0 / 1024, 0.01);
}

TEST(GpuPresets, AReadingUnderWslIsNotTakenForTheUsableSize) {
  // PyTorch printed 11.99 and 11.94 GiB there, the whole of what nvidia-smi shows.
  EXPECT_LT(usable_gib("rtx-4070-super"), 11.75);
  EXPECT_LT(usable_gib("rtx-5070"), 11.70);
}

TEST(GpuPresets, NoCardLeavesMoreThanItsNominalSizeAndEachLeavesMostOfIt) {
  for (const Gpu& gpu : all_gpus()) {
    const double nominal = static_cast<double>(gpu.tier_gib) * gib;
    EXPECT_LE(static_cast<double>(gpu.usable_bytes), nominal) << gpu.id;
    EXPECT_GE(static_cast<double>(gpu.usable_bytes), nominal * (gpu.unified_memory ? 0.66 : 0.9)) << gpu.id;
    EXPECT_LE(gpu.nvidia_smi_total_bytes, gpu.tier_gib << 30) << gpu.id;
    if (gpu.nvidia_smi_total_bytes == 0) continue;
    EXPECT_GE(gpu.nvidia_smi_total_bytes, gpu.usable_bytes) << gpu.id;
  }
}

TEST(GpuPresets, EveryFigureHasASourceThatAReaderCanFollow) {
  for (const Gpu& gpu : all_gpus()) {
    EXPECT_FALSE(gpu.sources.empty()) << gpu.id;
    for (const std::string& source : gpu.sources) EXPECT_GE(source.size(), 15u) << gpu.id << ": " << source;
    EXPECT_GT(gpu.memory_bandwidth_bytes_per_second, 5e10) << gpu.id;
  }
}

TEST(GpuPresets, TuringAndOlderHaveNeitherBf16NorFlashAttention2) {
  for (const Gpu& gpu : all_gpus()) {
    if (gpu.vendor != "NVIDIA") continue;
    const bool ampere_or_newer = gpu.compute_capability >= 8.0;
    EXPECT_EQ(gpu.bf16, ampere_or_newer) << gpu.id;
    EXPECT_EQ(gpu.tf32, ampere_or_newer) << gpu.id;
    EXPECT_EQ(gpu.flash_attention_2, ampere_or_newer) << gpu.id;
    EXPECT_EQ(gpu.fp8, gpu.compute_capability >= 8.9) << gpu.id;
  }
}

TEST(GpuPresets, TensorRatesAreThoseOfTheDatasheets) {
  EXPECT_DOUBLE_EQ(gpu("a100-sxm-80").tensor_flops, 312e12);
  EXPECT_DOUBLE_EQ(gpu("h100-sxm").tensor_flops, 989e12);
  EXPECT_DOUBLE_EQ(gpu("t4").tensor_flops, 65e12);
  EXPECT_TRUE(gpu("t4").tensor_flops_read);
  EXPECT_FALSE(gpu("rtx-5080").tensor_flops_read);
}

// What the data sheet lists beside PCIe as the way in is part of the board.
TEST(GpuPresets, NvlinkIsOfTheBoardOrABridgeAndBothAreSaid) {
  for (const char* id : {"h20", "h100-sxm", "a100-sxm-80", "gh200-96", "v100-sxm2-16"}) {
    EXPECT_TRUE(gpu(id).nvlink) << id;
    EXPECT_FALSE(gpu(id).nvlink_bridge) << id;
  }
  for (const char* id : {"rtx-3090", "a40", "h100-nvl", "a100-pcie-80"})
    EXPECT_TRUE(gpu(id).nvlink_bridge) << id;
  for (const char* id : {"rtx-4090", "l4"}) EXPECT_FALSE(gpu(id).nvlink) << id;
}

// Sold beside the cards that they resemble: in Chinese data centres, and with memory doubled by their seller.
TEST(GpuPresets, VariantsAreAsLargeAsTheCardsThatTheyResemble) {
  for (const auto& [id, like] :
       {std::pair{"a800-sxm-80", "a100-sxm-80"}, std::pair{"a800-pcie-80", "a100-pcie-80"},
        std::pair{"h800-sxm", "h100-sxm"}, std::pair{"rtx-4090-d", "rtx-4090"},
        std::pair{"h200-nvl", "h200-sxm"}, std::pair{"l20", "l40s"}}) {
    EXPECT_EQ(gpu(id).tier_gib, gpu(like).tier_gib) << id;
    EXPECT_NEAR(static_cast<double>(gpu(id).usable_bytes), static_cast<double>(gpu(like).usable_bytes),
                0.5 * 1024 * 1024 * 1024)
        << id;
  }
  for (const char* id : {"rtx-4090-48", "rtx-2080-ti-22", "gb10"}) EXPECT_FALSE(gpu(id).whole_card()) << id;
}

TEST(Tiers, AscendAndHoldEachDiscreteCardOnce) {
  const std::vector<Tier> all = tiers(all_gpus());
  std::set<std::string> seen;
  uint64_t before = 0;
  for (const Tier& tier : all) {
    EXPECT_GT(tier.gib, before);
    before = tier.gib;
    EXPECT_FALSE(tier.gpus.empty());
    EXPECT_LE(tier.usable_bytes, tier.gib << 30) << tier.gib;
    for (const std::string& id : tier.gpus) {
      EXPECT_TRUE(seen.insert(id).second) << id << " is in two tiers";
      EXPECT_EQ(gpu(id).tier_gib, tier.gib);
      EXPECT_GE(gpu(id).usable_bytes, tier.usable_bytes) << id;
    }
  }
  for (const Gpu& gpu : all_gpus()) {
    const bool listed = seen.count(gpu.id) != 0;
    EXPECT_EQ(listed, gpu.whole_card() && (gpu.vendor == "NVIDIA" || gpu.vendor == "AMD")) << gpu.id;
  }
}

// As nvidia-smi mig -lgip lists them; "39.25 GiB total capacity" is PyTorch's word on an A100 80GB MIG
// 3g.40gb.
TEST(GpuPresets, ASliceOfMigHasItsProfilesMemoryAndItsShareOfTheMultiprocessors) {
  EXPECT_EQ(gpu("a100-80-mig-3g.40gb").usable_bytes, static_cast<uint64_t>(39.25 * gib));
  EXPECT_EQ(gpu("a100-40-mig-1g.5gb").usable_bytes, static_cast<uint64_t>(4.75 * gib));
  EXPECT_NEAR(gpu("a100-80-mig-3g.40gb").tensor_flops / gpu("a100-sxm-80").tensor_flops, 42.0 / 108, 1e-3);
  EXPECT_NEAR(gpu("h100-mig-1g.10gb").memory_bandwidth_bytes_per_second, 3350e9 / 8, 1e9);
}

TEST(Tiers, TheSmallestCardSetsTheLoadLine) {
  for (const Tier& tier : tiers(all_gpus())) {
    const double usable = static_cast<double>(tier.usable_bytes) / gib;
    if (tier.gib == 24) {
      // The A10 prints 22.02 GiB, the least of all cards that are sold as 24 GB.
      EXPECT_NEAR(usable, 22.02, 0.001);
    } else if (tier.gib == 16) {
      // A T4 prints 14.74 GiB.
      EXPECT_LE(usable, 14.741);
    }
  }
}

TEST(CublasWorkspace, Is8125KibInGeneralAnd32MibFromHopperOn) {
  // PyTorch issue 95668: one Linear leaves 8,519,680 bytes allocated.
  EXPECT_EQ(cublas_workspace_bytes(gpu("a100-sxm-80")), 8519680u);
  EXPECT_EQ(cublas_workspace_bytes(gpu("t4")), 8519680u);
  EXPECT_EQ(cublas_workspace_bytes(gpu("rtx-4090")), 8519680u);
  EXPECT_EQ(cublas_workspace_bytes(gpu("h100-sxm")), 33554432u);
  EXPECT_EQ(cublas_workspace_bytes(gpu("b200-sxm")), 33554432u);
  EXPECT_EQ(cublas_workspace_bytes(gpu("rtx-5090")), 33554432u);
  EXPECT_EQ(cublas_workspace_bytes(gpu("mi300x")), 134217728u);
}

TEST(CudaContext, IsWhatWasMeasuredOnAT4AndAnL4) {
  EXPECT_EQ(context(gpu("t4")).typical, 141u << 20);
  EXPECT_EQ(context(gpu("l4")).typical, 226u << 20);
  EXPECT_EQ(context(gpu("a100-sxm-40")).typical, 500u << 20);
}

TEST(CudaContext, OfACardWithoutAReadingIsHalfAGibibyteWithAWideBand) {
  Gpu unknown;
  EXPECT_EQ(context(unknown).typical, 512u << 20);
  EXPECT_LT(context(unknown).low * 3, context(unknown).typical);
  EXPECT_GT(context(unknown).high, context(unknown).typical * 2);
  for (const Gpu& gpu : all_gpus()) {
    const Context held = context(gpu);
    EXPECT_LE(held.low, held.typical) << gpu.id;
    EXPECT_LE(held.typical, held.high) << gpu.id;
    EXPECT_FALSE(held.source.empty()) << gpu.id;
  }
}

}  // namespace
}  // namespace plimsoll::hardware
