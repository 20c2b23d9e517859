#include "core/advice/fixes/fixes.h"

#include "core/json/words.h"

namespace plimsoll::advice {

std::span<const Fix* const> fixes() {
  static const Fix* const table[] = {
      &gradient_checkpointing,
      &micro_batch,
      &fused_optimizer,
      &newer_trl,
      &fused_loss,
      &sixteen_bit_load,
      &non_reentrant_checkpointing,
      &reentrant_checkpointing,
      &offloaded_checkpoints,
      &cut_cross_entropy,
      &plain_loss,
      &sdpa,
      &flash_attention,
      &padding_free,
      &pure_bfloat16,
      &adapters_instead_of_full,
      &nf4,
      &int8,
      &linear_experts,
      &quantized_experts,
      &double_quantization,
      &no_kbit_upcast,
      &paged_optimizer,
      &eight_bit_optimizer,
      &paged_eight_bit_optimizer,
      &adafactor,
      &lion,
      &sixteen_bit_adapters,
      &fewer_targets,
      &lower_rank,
      &shorter,
      &shorter_completions,
      &vllm_sleep_mode,
      &vllm_memory_share,
      &smaller_images,
      &fewer_images,
      &frozen_tower,
      &expandable_segments,
      &smaller_eval_batch,
      &eval_accumulation,
      &loss_only,
      &precomputed_reference,
      &optimizer_in_backward,
      &optimizer_on_cpu,
      &sharded_states,
      &sharded_parameters,
      &sync_each_batch,
      &optimizer_in_host_memory,
      &parameters_in_host_memory,
      &sharded_in_host_memory,
  };
  return table;
}

const json::Json* value_of(const FixContext& situation, const char* pointer) {
  const auto found = situation.values.find(pointer);
  return found == situation.values.end() || found->second.is_null() ? nullptr : &found->second;
}

std::string evidence_for(const Fix& fix, const Level& level) {
  return std::string(level.said.empty() ? fix.evidence : level.said);
}

namespace {

const Setting* find_setting(const Fix& fix, std::string_view stack) {
  for (const Setting& setting : fix.settings) {
    if (setting.stacks == "*" || json::is_listed(stack, setting.stacks)) return &setting;
  }
  return nullptr;
}

}  // namespace

std::vector<Level> levels_of(const Fix& fix, const FixContext& situation) {
  if (find_setting(fix, situation.recipe.stack) == nullptr) return {};
  if (fix.to_host && situation.gpu != nullptr && situation.gpu->unified_memory) return {};
  return fix.levels(situation);
}

std::string setting_for(const Fix& fix, const Level& level, const std::string& stack) {
  const Setting* chosen = find_setting(fix, stack);
  if (chosen == nullptr) return "";
  std::string text(chosen->text);
  for (const auto& [pointer, value] : level.changes) {
    const std::string name = "{" + pointer.substr(pointer.rfind('/') + 1) + "}";
    const std::string written = value.is_string() ? value.get<std::string>() : json::write(value);
    for (std::size_t at = text.find(name); at != std::string::npos;
         at = text.find(name, at + written.size())) {
      text.replace(at, name.size(), written);
    }
    // Where a library counts pixels instead of the length of a side.
    const std::string squared = name.substr(0, name.size() - 1) + "^2}";
    const std::size_t at = text.find(squared);
    if (at == std::string::npos || !value.is_number_unsigned()) continue;
    const auto side = value.get<uint64_t>();
    text.replace(at, squared.size(), std::to_string(side * side));
  }
  return text;
}

}  // namespace plimsoll::advice
