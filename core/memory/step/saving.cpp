#include "core/memory/step/saving.h"

#include <algorithm>

#include "core/memory/parameters/targets.h"

namespace plimsoll::memory {

namespace {

// Of a file that save_pretrained writes, which safetensors builds in RAM before it goes to the disk
// (transformers modeling_utils.py save_pretrained max_shard_size; safetensors/torch.py save_file).
double file_bytes(const recipe::Recipe& r) {
  return recipe::version_at_least(r.versions.transformers, "5") ? 50e9 : 5e9;
}

double trained_files(const Plan& plan) {
  const Parameters& p = plan.parameters;
  return plan.recipe.peft.on ? p.adapter_bytes : p.weight_bytes - p.buffer_bytes;
}

bool gathers_whole(const Sharding& rank, const recipe::Recipe& r) {
  if (is_fsdp(rank.strategy)) return r.parallel.fsdp.state_dict_type == "FULL_STATE_DICT";
  return rank.strategy == Strategy::zero3 && r.parallel.zero.stage3_gather_16bit_weights_on_model_save;
}

Aside checkpoint(const Plan& plan, const Sharding& rank) {
  const recipe::Recipe& r = plan.recipe;
  if (gathers_whole(rank, r)) {
    // Rank 0 collects the whole model, adapters or not; after that, where a resumed run shall go on as
    // before, FSDP collects the optimizer's states too. DeepSpeed's ranks write their own.
    const bool states = rank.strategy != Strategy::zero3 && !r.training.save_only_model;
    return {Phase::save, only(Component::gathered, rank.saved.unit),
            std::max(rank.saved.whole, states ? rank.saved.states : 0),
            "a checkpoint is written: the first process collects the whole model in RAM, piece by piece over "
            "its GPU"};
  }
  // SHARDED_STATE_DICT of the first FSDP: each unit is gathered before it is cut again, the root unit stays.
  const bool gathers = rank.strategy == Strategy::fsdp;
  return {Phase::save, only(Component::gathered, gathers ? rank.saved.unit + rank.saved.root : 0),
          rank.saved.whole > 0 ? rank.saved.whole : std::min(trained_files(plan), file_bytes(r)),
          rank.saved.whole > 0 ? "a checkpoint is written: each process writes its own part"
                               : "a checkpoint is written, one file after another"};
}

// Trained tensors of one GPU are written over; adapters are read to the GPU first (peft
// utils/save_and_load.py load_peft_weights).
Aside best_loaded(const Plan& plan, const Sharding& rank) {
  const recipe::Recipe& r = plan.recipe;
  const char* what = "the best checkpoint is read back";
  if (gathers_whole(rank, r) && rank.strategy != Strategy::zero3)
    return {Phase::load_best, only(Component::gathered, rank.saved.unit + rank.saved.root), rank.saved.whole,
            what};
  if (rank.saved.whole > 0)  // every process reads its part, with DeepSpeed that of its states
    return {Phase::load_best, {}, std::max(rank.saved.whole, rank.saved.states), what};
  if (r.peft.on) return {Phase::load_best, only(Component::adapters, rank.adapters), 0, what};
  return {Phase::load_best, {}, std::min(trained_files(plan), file_bytes(r)), what};
}

// Elements of the largest linear that has an adapter.
double largest_adapted(const Plan& plan) {
  double largest = 0;
  for (const model::Stack& stack : plan.network.stacks) {
    const auto look = [&](const model::Linear& linear) {
      if (is_target(linear, stack, plan.recipe))
        largest = std::max(largest, static_cast<double>(linear.in) * static_cast<double>(linear.out));
    };
    for (const model::LayerGroup& group : stack.groups)
      for (const model::Linear& linear : group.linears) look(linear);
    for (const model::Linear& linear : stack.linears) look(linear);
  }
  return largest;
}

// One linear after another: the product of its adapters, the same scaled, and where the base is packed an
// unpacked copy, the sum, and that sum once more on its way from the CPU to be packed again.
Aside merging(const Plan& plan) {
  const double adapter = dtype_size(plan.recipe.peft.adapter_dtype), elements = largest_adapted(plan);
  if (!plan.recipe.quantized())
    return {Phase::merge, only(Component::transient, 2 * adapter * elements), 0,
            "adapters are merged into the weights, one matrix after another"};
  const double unpacked = dtype_size(plan.recipe.model_args.dtype), sum = std::max(adapter, unpacked);
  const double packed = 0.5 + absmax_bytes(1);
  return {Phase::merge, only(Component::transient, (unpacked + adapter + 2 * sum + packed) * elements),
          sum * elements,
          "adapters are merged: one packed matrix after another is unpacked, added to and packed again"};
}

}  // namespace

std::vector<Aside> asides(const Plan& plan, const Sharding& rank) {
  const recipe::Recipe& r = plan.recipe;
  std::vector<Aside> list;
  if (r.training.save_strategy != "no") list.push_back(checkpoint(plan, rank));
  if (r.training.load_best_model_at_end) list.push_back(best_loaded(plan, rank));
  if (r.peft.on && r.peft.merge_and_unload) list.push_back(merging(plan));
  return list;
}

}  // namespace plimsoll::memory
