#include "core/recipe/methods.h"

#include <algorithm>

namespace plimsoll::recipe {

namespace {

constexpr Method methods_by_id[] = {
    {.id = "full", .name = "Full fine-tuning"},
    {.id = "lora", .name = "LoRA", .adapters = true},
    // What Axolotl, LLaMA-Factory, Unsloth and ms-swift load too (presets/stacks).
    {.id = "qlora",
     .name = "QLoRA",
     .adapters = true,
     .quantization =
         R"({"load_in_4bit": true, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": true})",
     .source = "Dettmers et al. 2023, arXiv:2305.14314, section 3; artidoro/qlora qlora.py ModelArguments"},
    {.id = "lora8",
     .name = "LoRA on an 8-bit base",
     .adapters = true,
     .quantization = R"({"load_in_8bit": true})",
     .source = "huggingface/transformers BitsAndBytesConfig"},
};

bool states_its_format(const StackPreset& stack) {
  return std::any_of(stack.defaults.begin(), stack.defaults.end(), [](const StackDefault& one) {
    return one.pointer == "/quantization/bnb_4bit_quant_type";
  });
}

}  // namespace

std::span<const Method> methods() { return methods_by_id; }

const Method* find_method(std::string_view id) {
  for (const Method& method : methods_by_id) {
    if (method.id == id) return &method;
  }
  return nullptr;
}

const Method* method_called(std::string_view name) {
  for (const Method& method : methods_by_id) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

Values quantization_of(const Method& method, const StackPreset* stack) {
  Values out;
  json::Errors none;
  const std::optional<json::Json> fields = json::parse(method.quantization, none);
  if (!fields) return out;
  const bool own = stack != nullptr && states_its_format(*stack);
  for (const auto& [key, value] : fields->items()) {
    if (!own || key.starts_with("load_in_")) out["/quantization/" + key] = value;
  }
  return out;
}

}  // namespace plimsoll::recipe
