#include "core/advice/refused.h"

#include <algorithm>

namespace plimsoll::advice {

recipe::Refusing refusing(const model::Architecture& network, const hardware::Gpu* gpu) {
  recipe::Refusing around;
  around.tied_head = network.tied_head;
  around.model_type = network.model_type;
  around.sees = network.kind == model::NetworkKind::vlm;
  for (const model::LayerGroup& group : network.stacks.front().groups) {
    around.widest_head = std::max(around.widest_head, static_cast<uint64_t>(group.head_dim));
  }
  around.parameters = static_cast<double>(model::parameter_count(network));
  if (gpu != nullptr) around.gpu_bytes = static_cast<double>(gpu->usable_bytes);
  if (gpu != nullptr && gpu->vendor == "NVIDIA") around.compute_capability = gpu->compute_capability;
  return around;
}

Refused::Refused(const model::Architecture& network, const hardware::Gpu* gpu, const recipe::Recipe& before)
    : around_(refusing(network, gpu)), before_(before) {}

// What these versions of its libraries refuse, without what is refused already.
Refused::Rows Refused::rows_for(const recipe::Recipe& recipe) const {
  Rows rows;
  for (const recipe::Refusal& row : recipe::refusals()) {
    const bool there = recipe::can_refuse(row, before_) && row.applies(before_, around_);
    if (recipe::can_refuse(row, recipe) && !there) rows.push_back(&row);
  }
  return rows;
}

bool Refused::adds(const recipe::Recipe& changed) const {
  const recipe::Versions& versions = changed.versions;
  const auto [known, fresh] = rows_.try_emplace({versions.transformers, versions.trl});
  if (fresh) known->second = rows_for(changed);
  return std::any_of(known->second.begin(), known->second.end(),
                     [&](const recipe::Refusal* row) { return row->applies(changed, around_); });
}

}  // namespace plimsoll::advice
