// Filling what was left out.
#include "core/recipe/conflicts.h"
#include "core/recipe/defaults.h"
#include "core/recipe/fields.h"
#include "core/recipe/stacks.h"
#include "core/recipe/strategies.h"
#include "core/recipe/task_defaults.h"
#include "core/recipe/tasks.h"
#include "core/recipe/values.h"
#include "core/recipe/version.h"

namespace plimsoll::recipe {

namespace {

using json::Errors;
using json::Json;

// The section a field lies in, when that section may be absent: without "peft" there are no adapters to
// describe.
std::string_view optional_section(std::string_view pointer) {
  for (std::string_view section : {"/peft", "/rl", "/data"}) {
    const bool inside = pointer.size() > section.size() && pointer[section.size()] == '/';
    if (inside && pointer.substr(0, section.size()) == section) return section;
  }
  return "";
}

// Settings of a way to share the work that this run does not use: nothing to fill in.
bool is_idle(std::string_view pointer, const Values& values) {
  if (pointer.substr(0, 10) != "/parallel/" || pointer == "/parallel/num_gpus") return false;
  const std::string said = text(values, "/parallel/strategy");
  if (said.empty()) return false;
  const Strategy strategy = strategy_of(said);
  if (pointer.find("/zero_optimization/") != std::string_view::npos) return !is_zero(strategy);
  const bool of_fsdp =
      pointer.find("/fsdp_config/") != std::string_view::npos || pointer == "/parallel/sync_each_batch";
  if (of_fsdp) return !is_fsdp(strategy);
  return strategy != Strategy::ddp && pointer != "/parallel/strategy";
}

// A default is worth telling only where it can matter.
bool matters(const std::string& pointer, const Values& values, const ModelTraits& traits) {
  const auto below = [&pointer](const char* section) { return pointer.rfind(section, 0) == 0; };
  if (pointer == "/quantization/bits" || pointer == "/quantization/group_size")
    return !text(values, "/quantization/quant_method").empty();
  const bool quantized =
      flag(values, "/quantization/load_in_4bit") || flag(values, "/quantization/load_in_8bit");
  if (below("/quantization/bnb_4bit")) return flag(values, "/quantization/load_in_4bit");
  if (below("/quantization/") || pointer == "/versions/bitsandbytes") return quantized;
  if (pointer.find("/stage3_") != std::string::npos)
    return strategy_of(text(values, "/parallel/strategy")) == Strategy::zero3;
  if (pointer == "/training/eval_loss_kernel" || pointer == "/training/eval_packing")
    return text(values, "/training/eval_strategy") != "no";
  if (pointer == "/data/eval_samples") return flag(values, "/training/compute_metrics");
  if (below("/rl/")) return matters_to_task(pointer, values);
  if (below("/vision/")) return traits.sees_images;
  if (pointer == "/versions/trl") {
    const StackTraits& stack = stack_traits(text(values, "/stack"));
    return stack.trl_sft || (stack.trl_tasks && task_of(values).has_rl());
  }
  if (pointer == "/versions/peft") return values.count("/peft") != 0;
  if (pointer == "/peft/lora_alpha") return false;
  if (below("/training/gradient_checkpointing_kwargs"))
    return flag(values, "/training/gradient_checkpointing");
  return true;
}

// A list of values is met by each of them; as text, which is compared many times in a search.
bool holds(const Json& value, const std::string& condition) {
  const std::string text = json::write(value);
  if (text == condition || condition.rfind('[', 0) != 0) return text == condition;
  for (size_t at = condition.find(text); at != std::string::npos; at = condition.find(text, at + 1)) {
    const char before = condition[at - 1], after = condition[at + text.size()];
    if ((before == '[' || before == ',') && (after == ',' || after == ']')) return true;
  }
  return false;
}

const StackDefault* find_default(const StackPreset& stack, std::string_view pointer, const Values& values,
                                 const ModelTraits& traits) {
  for (const StackDefault& row : stack.defaults) {
    if (row.pointer != pointer) continue;
    bool applies = true;
    for (const auto& [field, condition] : row.when) {
      const auto found = values.find(field);
      const Json value = field == "/model_type"  ? Json(traits.model_type)
                         : field == "/gpu_bf16"  ? Json(traits.gpu_bf16)
                         : found == values.end() ? Json()
                                                 : found->second;
      const bool version = field.substr(0, 10) == "/versions/";
      applies =
          applies && (version ? value.is_string() && version_matches(value.get<std::string>(), condition)
                              : holds(value, condition));
    }
    if (applies) return &row;
  }
  return nullptr;
}

// "value": "/training/per_device_train_batch_size": the same as there.
const Field* same_as(const StackDefault& row) {
  return row.value.is_string() ? find_field(row.value.get_ref<const std::string&>()) : nullptr;
}

// By place in the table; as strings, which the maps of values are searched with.
const std::vector<std::string>& pointers_of_fields() {
  static const std::vector<std::string> pointers = [] {
    std::vector<std::string> all;
    for (const Field& field : field_table()) all.emplace_back(field.pointer);
    return all;
  }();
  return pointers;
}

// In a section that nobody wrote, or of a way to share the work that is not used. Preference and reinforcement
// learning have the fields under "rl" whether that section is written or not.
bool is_absent(std::string_view pointer, const Request& given, const Values& values) {
  const std::string_view section = optional_section(pointer);
  const bool unwritten = !section.empty() && given.values.count(std::string(section)) == 0;
  const bool of_task = section == "/rl" && task_of(values).has_rl();
  return (unwritten && !of_task && pointer != "/data/eval_samples") || is_idle(pointer, values);
}

Default default_of(const Field& field, const Request& given, const StackPreset& stack,
                   const ModelTraits& traits, const Values& values) {
  if (is_absent(field.pointer, given, values)) return {};
  // Where the policy writes its own completions, the length is what prompt and completion add up to.
  const bool follows = field.pointer == "/training/max_length" && task_of(values).online;
  const StackDefault* row = follows ? nullptr : find_default(stack, field.pointer, values, traits);
  if (row != nullptr && same_as(*row) != nullptr) {
    const auto there = values.find(row->value.get_ref<const std::string&>());
    if (there != values.end()) return {there->second, row->why, row->asked};
  }
  const Default by_stack = row != nullptr ? Default{row->value, row->why, row->asked} : Default{};
  if (row != nullptr && field.pointer == "/rl/max_completion_length")
    return beside_a_prompt(by_stack, values);
  const DefaultContext context{values, traits, stack.id, stack.name};
  if (row != nullptr && field.pointer == "/model_args/dtype" && row->value == Json("auto"))
    return published_dtype(context);
  if (row != nullptr) return by_stack;
  if (field.rule != nullptr) return field.rule(context);
  return {fixed_default(field), std::string(field.why)};
}

bool names_attention(const Values& values) { return values.count("/model_args/attn_implementation") != 0; }

}  // namespace

uint64_t Recipe::effective_batch() const {
  return training.per_device_train_batch_size * training.gradient_accumulation_steps * processes(*this) /
         parallel.sequence_parallel_size;
}

Resolved resolve(const Request& given, const StackPreset& stack, const ModelTraits& traits, Errors& errors) {
  Resolved resolved;
  resolved.values = given.values;
  resolved.recipe.peft.on = given.values.count("/peft") != 0;
  resolved.recipe.model_args.attention_is_named = names_attention(given.values);
  const std::vector<std::string>& pointers = pointers_of_fields();
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const Field& field = field_table()[i];
    const std::string& pointer = pointers[i];
    auto found = resolved.values.find(pointer);
    const bool pointless = !field.needs.empty() && given.values.count(std::string(field.needs)) == 0;
    if (found == resolved.values.end() && pointless) continue;
    if (found == resolved.values.end()) {
      auto [value, why, asked] = default_of(field, given, stack, traits, resolved.values);
      if (!why.empty() && matters(pointer, resolved.values, traits)) {
        resolved.assumptions.push_back({pointer, value, why, asked});
      }
      found = resolved.values.emplace(pointer, std::move(value)).first;
    }
    if (pointer == "/model_args/dtype" && found->second == Json("auto")) {
      Default known = published_dtype(DefaultContext{resolved.values, traits, stack.id, stack.name});
      found->second = known.value;
      resolved.assumptions.push_back({pointer, std::move(known.value), std::move(known.why)});
    }
    if (field.type == FieldType::version && found->second.is_string() &&
        means_the_newest(found->second.get_ref<const std::string&>())) {
      found->second = fixed_default(field);
      resolved.assumptions.push_back({pointer, found->second, std::string(release_taken)});
    }
    if (field.set != nullptr) field.set(resolved.recipe, found->second);
  }
  check_conflicts(given, resolved.recipe, traits, errors);
  // A model that sees nothing has no other part to train.
  if (!traits.sees_images) resolved.recipe.vision.freeze_language_model = false;
  return resolved;
}

}  // namespace plimsoll::recipe
