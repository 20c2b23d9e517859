// What a text says is kept outside the card: in host memory or on a disk.
#include <string>

#include "core/question/said_methods.h"

namespace plimsoll::question {

void read_offload(const SaidWords& words, SaidRequest& out) {
  if (!is_brief(words) || !affirms(words, Means::offload)) return;
  std::size_t at = 0;
  while (at < words.size() && phrase_at(words, at, Means::offload) == 0) ++at;
  const auto near = [&](Means means) {
    constexpr std::size_t reach = 3;
    for (std::size_t i = at > reach ? at - reach : 0; i <= at + reach; ++i) {
      if (phrase_at(words, i, means) > 0) return true;
    }
    return false;
  };
  const auto found = out.values.find("/parallel/strategy");
  const std::string strategy = found == out.values.end() ? "" : found->second.get<std::string>();
  const bool optimizer = near(Means::of_optimizer);
  const char* device = near(Means::on_disk) ? "nvme" : "cpu";
  if (near(Means::of_activations)) {
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
