// What a text says is kept outside the card: in host memory or on a disk.
#include <algorithm>
#include <string>

#include "core/question/said_methods.h"

namespace plimsoll::question {

void read_offload(const SaidWords& words, SaidRequest& out) {
  constexpr std::size_t longest_plan = 60;
  if (words.size() > longest_plan) return;
  const auto at = std::find_if(words.begin(), words.end(), [](const SaidWord& word) {
    return word.text.starts_with("offload") || word.text.starts_with("ausgelagert") ||
           word.text.find("卸载") != std::string_view::npos;
  });
  if (at == words.end() || !affirms_at(words, static_cast<std::size_t>(at - words.begin()))) return;
  const auto near = [&](std::string_view stem) {
    const auto first = words.begin() + std::max<std::ptrdiff_t>(0, at - words.begin() - 3);
    const auto last =
        words.begin() + std::min<std::ptrdiff_t>(words.end() - words.begin(), at - words.begin() + 4);
    return std::any_of(first, last, [&](const SaidWord& word) { return word.text.starts_with(stem); });
  };
  const auto found = out.values.find("/parallel/strategy");
  const std::string strategy = found == out.values.end() ? "" : found->second.get<std::string>();
  const bool optimizer = near("optim") || near("优化器");
  const char* device = near("nvme") || near("ssd") || near("disk") ? "nvme" : "cpu";
  if (near("activation")) {
    out.values["/training/activation_offloading"] = true;
  } else if (strategy.starts_with("zero")) {
    out.values["/parallel/zero_optimization/offload_optimizer/device"] = device;
    if (strategy == "zero3" && !optimizer)
      out.values["/parallel/zero_optimization/offload_param/device"] = device;
  } else if (std::string_view(device) == "nvme") {
    out.unread.emplace_back("what is offloaded to NVMe (ZeRO-3 does)");
  } else if (strategy == "fsdp") {
    out.values["/parallel/fsdp_config/offload_params"] = true;
  } else if (optimizer) {
    out.values["/training/optimizer_offload"] = "states";
  } else {
    out.unread.emplace_back("what is offloaded to the host (with ZeRO, FSDP or of the optimizer)");
  }
}

}  // namespace plimsoll::question
