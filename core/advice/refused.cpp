#include "core/advice/refused.h"

#include <algorithm>

namespace plimsoll::advice {

recipe::Refusing refusing(const model::Architecture& network, const hardware::Gpu* gpu) {
  recipe::Refusing around;
  around.model_type = network.model_type;
  around.sees = network.kind == model::Kind::vlm;
  for (const model::LayerGroup& group : network.stacks.front().groups) {
    around.widest_head = std::max(around.widest_head, static_cast<uint64_t>(group.head_dim));
  }
  if (gpu != nullptr && gpu->vendor == "NVIDIA") around.compute_capability = gpu->compute_capability;
  return around;
}

Refused::Refused(const model::Architecture& network, const hardware::Gpu* gpu, const recipe::Recipe& before)
    : around_(refusing(network, gpu)) {
  for (const recipe::Refusal& row : recipe::refusals()) {
    if (recipe::can_refuse(row, before) && !row.applies(before, around_)) rows_.push_back(&row);
  }
}

bool Refused::adds(const recipe::Recipe& changed) const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [&](const recipe::Refusal* row) { return row->applies(changed, around_); });
}

}  // namespace plimsoll::advice
