#include "core/hardware/gpu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

namespace plimsoll::hardware {

namespace {

constexpr uint64_t mib = uint64_t{1} << 20;
constexpr double gib = 1073741824.0;

// What the file says about memory, before a single usable size is drawn from it.
struct Readings {
  uint64_t nominal_gib = 0;
  bool unified = false;
  std::vector<double> torch_visible_gib;
  std::string torch_visible_source;
  uint64_t nvidia_smi_mib = 0;
  std::string inline_ecc;
};

std::string two_decimals(double value) {
  const auto hundredths = static_cast<uint64_t>(std::llround(value * 100));
  const std::string tail = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (tail.size() < 2 ? "0" : "") + tail;
}

uint64_t whole_bytes(double size_gib) { return static_cast<uint64_t>(std::floor(size_gib * gib)); }

// Differences between nvidia-smi totals and PyTorch capacities read on the same cards: 0.2 to 0.4 GiB on
// GeForce cards up to Ada (23.99 and 23.51 to 23.70 GiB with 24 GB), 0.3 to 0.6 on data-centre cards (15.00
// and 14.74 on a T4, 79.65 and 79.10 on an H100), and more on Blackwell (31.84 and 31.34 on an RTX 5090,
// 179.06 and 178.36 on a B200).
double shortfall_gib(const Gpu& gpu) {
  const bool geforce = gpu.segment == "consumer" || gpu.segment == "laptop" || gpu.segment == "modified";
  const bool blackwell = gpu.compute_capability >= 10.0;
  if (geforce) return blackwell ? 0.5 : 0.3;
  return blackwell ? 0.7 : 0.45;
}

void set_usable(const Readings& memory, Gpu& gpu) {
  if (!memory.torch_visible_gib.empty()) {
    const double lowest = *std::min_element(memory.torch_visible_gib.begin(), memory.torch_visible_gib.end());
    gpu.usable_bytes = whole_bytes(lowest);
    gpu.usable_high_bytes =
        whole_bytes(*std::max_element(memory.torch_visible_gib.begin(), memory.torch_visible_gib.end()));
    gpu.usable_source =
        "read: PyTorch reports " + two_decimals(lowest) + " GiB (" + memory.torch_visible_source + ")";
    return;
  }
  if (memory.unified) {
    const double nominal = static_cast<double>(memory.nominal_gib), share = metal_share(nominal);
    gpu.usable_bytes = whole_bytes(nominal * share);
    gpu.usable_source = std::string("rule: macOS lends the GPU ") +
                        (share < 0.7 ? "two thirds" : "three quarters") + " of " +
                        std::to_string(memory.nominal_gib) + " GiB unless told otherwise";
    return;
  }
  if (memory.nvidia_smi_mib != 0) {
    const double shortfall = shortfall_gib(gpu);
    gpu.usable_bytes = whole_bytes(static_cast<double>(memory.nvidia_smi_mib) / 1024.0 - shortfall);
    gpu.usable_source = "rule: nvidia-smi shows " + std::to_string(memory.nvidia_smi_mib) +
                        " MiB and PyTorch sees about " + two_decimals(shortfall) + " GiB less";
    return;
  }
  const bool ecc = memory.inline_ecc == "on";
  gpu.usable_bytes = whole_bytes(static_cast<double>(memory.nominal_gib) * 0.98 * (ecc ? 15.0 / 16.0 : 1.0));
  gpu.usable_source = "rule: 98 % of " + std::to_string(memory.nominal_gib) + " GiB" +
                      (ecc ? ", less one sixteenth for inline ECC" : "");
}

// Reads the members of one object and says which of them are missing.
class Section {
 public:
  Section(const json::Json& value, std::string pointer, json::Errors& errors)
      : object_(value, std::move(pointer), errors), errors_(errors) {}

  bool present() const { return object_.is_object(); }

  std::string text(std::string_view key) { return need(key, object_.text(key)).value_or(""); }
  std::string text_of(std::string_view key, std::initializer_list<std::string_view> allowed) {
    const std::string value = text(key);
    check(key, value, allowed);
    return value;
  }
  std::string optional_text_of(std::string_view key, std::initializer_list<std::string_view> allowed) {
    const std::string value = object_.text(key).value_or("");
    check(key, value, allowed);
    return value;
  }
  uint64_t count(std::string_view key, json::Range range) {
    return need(key, object_.count(key, range)).value_or(0);
  }
  double number(std::string_view key, json::Range range) {
    return need(key, object_.number(key, range)).value_or(0);
  }
  bool flag(std::string_view key) { return need(key, object_.flag(key)).value_or(false); }
  std::vector<std::string> texts(std::string_view key) {
    return need(key, object_.texts(key)).value_or(std::vector<std::string>());
  }
  std::vector<double> numbers(std::string_view key, json::Range range) {
    std::vector<double> found;
    if (!object_.has(key)) return found;
    const json::Json& list = *object_.find(key);
    if (!list.is_array() || list.empty()) {
      errors_.push_back(
          {"wrong_type", object_.pointer(key), "Expected a list of numbers.", "a list of numbers"});
      return found;
    }
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string pointer = object_.pointer(key) + "/" + std::to_string(i);
      if (auto number = json::read_number(list[i], pointer, range, errors_)) found.push_back(*number);
    }
    return found;
  }
  // Figures and words that nothing computes with: only their types are checked.
  void also_numbers(std::initializer_list<std::string_view> keys) {
    for (std::string_view key : keys) object_.number(key);
  }
  void also_texts(std::initializer_list<std::string_view> keys) {
    for (std::string_view key : keys) object_.text(key);
  }

  json::Object& object() { return object_; }

 private:
  template <typename Value>
  std::optional<Value> need(std::string_view key, std::optional<Value> value) {
    if (present() && !object_.has(key)) {
      errors_.push_back({"missing", object_.pointer(key), "Every GPU file states this.", std::string(key)});
    }
    return value;
  }
  void check(std::string_view key, const std::string& value,
             std::initializer_list<std::string_view> allowed) {
    if (value.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    std::string list;
    for (std::string_view item : allowed) list += (list.empty() ? "" : ", ") + std::string(item);
    errors_.push_back(
        {"unknown_value", object_.pointer(key), "\"" + value + "\" is not one of these.", list});
  }

  json::Object object_;
  json::Errors& errors_;
};

const json::Json& member(json::Object& object, std::string_view key) {
  static const json::Json empty = json::Json::object();
  return object.has(key) ? *object.find(key) : empty;
}

void read_memory(Section& section, Gpu& gpu, json::Errors& errors) {
  Readings memory;
  memory.nominal_gib = section.count("nominal_gib", {1, 4096});
  memory.unified = section.object().flag("unified").value_or(false);
  gpu.memory_bandwidth_bytes_per_second = section.number("bandwidth_gb_per_s", {1, 1e6}) * 1e9;

  const double nominal = memory.nominal_gib == 0 ? 4096 : static_cast<double>(memory.nominal_gib);
  memory.torch_visible_gib = section.numbers("torch_visible_gib", {0.5, nominal});
  const std::vector<double> under_wsl = section.numbers("torch_visible_wsl_gib", {0.5, nominal});
  if (section.object().has("torch_visible_gib") || section.object().has("torch_visible_wsl_gib")) {
    memory.torch_visible_source = section.text("torch_visible_source");
  }
  if (section.object().has("nvidia_smi_mib")) {
    memory.nvidia_smi_mib = section.count("nvidia_smi_mib", {512, nominal * 1024});
    section.text("nvidia_smi_source");
    section.flag("nvidia_smi_read");
  }
  memory.inline_ecc = section.optional_text_of("inline_ecc", {"on", "off"});
  section.also_numbers({"nvidia_smi_mib_ecc_on"});
  section.also_texts({"type", "torch_visible_note", "nvidia_smi_note", "ecc_note", "unified_note"});
  section.object().no_other_keys();

  if (!under_wsl.empty() && memory.torch_visible_gib.empty() && memory.nvidia_smi_mib == 0) {
    errors.push_back({"conflict", section.object().pointer("torch_visible_wsl_gib"),
                      "Under WSL PyTorch shows the whole card, so this needs an nvidia-smi total beside it.",
                      "nvidia_smi_mib"});
  }
  gpu.tier_gib = memory.nominal_gib;
  gpu.unified_memory = memory.unified;
  gpu.nvidia_smi_total_bytes = memory.nvidia_smi_mib * mib;
  set_usable(memory, gpu);
  gpu.usable_high_bytes = std::max(gpu.usable_high_bytes, gpu.usable_bytes);
}

void read_compute(Section& section, Gpu& gpu) {
  constexpr json::Range teraflops{0.1, 1e6};
  if (section.object().has("tensor_tflops")) {
    gpu.tensor_flops = section.number("tensor_tflops", teraflops) * 1e12;
    gpu.tensor_flops_read = section.flag("tensor_read");
    section.text("tensor_source");
  }
  section.also_numbers({"fp32_tflops", "tf32_tflops", "fp8_tflops", "fp4_tflops"});
  gpu.matmul_flops = section.object().number("measured_bf16_matmul_tflops", teraflops).value_or(0) * 1e12;
  section.numbers("fp32_range_tflops", teraflops);
  section.numbers("fp4_range_tflops", teraflops);
  section.also_texts({"measured_source"});
  section.object().no_other_keys();
}

void read_supports(Section& section, Gpu& gpu) {
  gpu.bf16 = section.flag("bf16");
  gpu.tf32 = section.flag("tf32");
  gpu.fp8 = section.flag("fp8");
  section.flag("fp4");
  gpu.flash_attention_2 = section.flag("flash_attention_2");
  section.also_texts({"flash_attention_2_note"});
  section.object().no_other_keys();
}

void read_board(Section& section, Gpu& gpu) {
  gpu.nvlink = section.object().flag("nvlink").value_or(false);
  gpu.nvlink_bridge = section.object().flag("nvlink_bridge").value_or(false);
  section.also_texts({"nvlink_note", "pcie", "power_note"});
  section.also_numbers({"power_w"});
  section.numbers("power_range_w", {1, 10000});
  section.object().no_other_keys();
}

// presets/gpus/a10g.json -> a10g
std::string stem(const std::string& file) {
  const size_t slash = file.rfind('/');
  const std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  return name.substr(0, name.rfind(".json"));
}

void read_card(const json::Json& value, const std::string& file, Gpu& gpu, json::Errors& errors) {
  Section card(value, "", errors);
  if (!card.present()) return;
  gpu.id = card.text("id");
  if (!gpu.id.empty() && gpu.id != stem(file)) {
    errors.push_back({"conflict", "/id", "The id is the name of the file.", stem(file)});
  }
  gpu.name = card.text("name");
  gpu.vendor = card.text_of("vendor", {"NVIDIA", "AMD", "Intel", "Apple"});
  gpu.segment = card.text_of(
      "segment", {"consumer", "laptop", "workstation", "datacenter", "unified", "slice", "modified"});
  gpu.architecture = card.text("architecture");
  const bool other = gpu.vendor == "AMD" || gpu.vendor == "Intel" || gpu.vendor == "Apple";
  if (!other) gpu.compute_capability = card.number("compute_capability", {5, 20});
  card.also_texts({"gfx"});
  gpu.sources = card.texts("sources");
  gpu.notes = card.object().text("notes").value_or("");

  Section memory(member(card.object(), "memory"), "/memory", errors);
  read_memory(memory, gpu, errors);
  Section compute(member(card.object(), "compute"), "/compute", errors);
  read_compute(compute, gpu);
  Section supports(member(card.object(), "supports"), "/supports", errors);
  read_supports(supports, gpu);
  Section board(member(card.object(), "board"), "/board", errors);
  read_board(board, gpu);
  card.object().no_other_keys();
}

// Readings of what a process holds beyond PyTorch's reserved memory. A card with its own row was measured;
// the other rows stand for every card of that compute capability (first fitting row wins, 0 means any).
struct ContextRow {
  std::string_view gpu;
  double from;
  double below;
  uint64_t low_mib;
  uint64_t typical_mib;
  uint64_t high_mib;
  std::string_view source;
};
constexpr std::array<ContextRow, 9> context_rows = {{
    {"t4", 0, 0, 141, 141, 300, "141 MiB measured on a T4 with torch 2.10 and 2.14 (fitcheck measurements)"},
    {"l4", 0, 0, 200, 226, 500, "226 MiB measured on an L4 (AgileRL measurements)"},
    {"", 6.0, 7.5, 273, 400, 1343,
     "287 MB with lazy module loading (PyTorch pull request 86509); 1,343 MiB on a V100 with an older "
     "PyTorch (Transformers documentation)"},
    {"", 7.5, 8.0, 141, 250, 500,
     "141 MiB measured on a T4, the smallest Turing card; more on cards with more cores"},
    {"", 8.0, 8.6, 273, 500, 1760,
     "about 500 MiB measured on an A100; two series of A100 runs of the fms-acceleration benchmark lie 390 "
     "to 970 and 1,698 to 1,760 MiB above the simulated reserve"},
    {"", 8.6, 8.9, 250, 400, 700, "300 to 450 MiB reported for Ampere cards (PyTorch issues 107667, 109888)"},
    {"", 8.9, 9.0, 226, 400, 700,
     "226 MiB measured on an L4, the smallest Ada data-centre card; reports of 300 to "
     "450 MiB elsewhere (PyTorch issues 107667, 109888)"},
    {"", 9.0, 10.0, 350, 760, 1200,
     "758 to 822 MiB of 28 processes on an H100 with torch 2.11 and CUDA 13, 527 before the first step "
     "(tests/core/golden/gpu_runs.json)"},
    {"", 0, 100, 140, 512, 1300, "no measurement; half a GiB as for an unknown card"},
}};

}  // namespace

std::optional<Gpu> read_gpu(const json::Json& value, const std::string& file, json::Errors& errors) {
  json::Errors found;
  Gpu gpu;
  read_card(value, file, gpu, found);
  if (found.empty()) return gpu;
  for (json::Error& error : found) {
    error.message = file + ": " + error.message;
    errors.push_back(std::move(error));
  }
  return std::nullopt;
}

// aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize(): ":4096:2:16:8" in general, 32 MiB on
// Hopper and, since February 2026, on Blackwell; on ROCm 32 MiB, and 128 MiB on gfx94x (CDNA3).
uint64_t cublas_workspace_bytes(const Gpu& gpu) {
  if (gpu.vendor == "AMD") return (gpu.architecture == "CDNA3" ? 128 : 32) * mib;
  if (gpu.compute_capability >= 9.0) return 32 * mib;
  return 2 * 4096 * 1024 + 8 * 16 * 1024;
}

Context context(const Gpu& gpu) {
  for (const ContextRow& row : context_rows) {
    const bool fits = row.gpu.empty()
                          ? gpu.compute_capability >= row.from && gpu.compute_capability < row.below
                          : gpu.id == row.gpu;
    if (fits) return {row.low_mib * mib, row.typical_mib * mib, row.high_mib * mib, row.source};
  }
  return {};
}

std::vector<Tier> tiers(const std::vector<Gpu>& gpus) {
  std::vector<Tier> tiers;
  for (const Gpu& gpu : gpus) {
    if (!gpu.whole_card() || (gpu.vendor != "NVIDIA" && gpu.vendor != "AMD")) continue;
    const auto place = std::lower_bound(tiers.begin(), tiers.end(), gpu.tier_gib,
                                        [](const Tier& tier, uint64_t size) { return tier.gib < size; });
    if (place == tiers.end() || place->gib != gpu.tier_gib) {
      tiers.insert(place, {gpu.tier_gib, gpu.usable_bytes, {gpu.id}});
      continue;
    }
    place->usable_bytes = std::min(place->usable_bytes, gpu.usable_bytes);
    place->gpus.push_back(gpu.id);
  }
  return tiers;
}

}  // namespace plimsoll::hardware
