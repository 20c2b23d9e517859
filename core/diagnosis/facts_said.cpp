#include "core/diagnosis/facts_said.h"

#include <algorithm>

#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;
using ascii::is_lower;

bool mentions_head_or_embedding(std::string_view value) {
  for (const std::string_view word : {"embed", "lm_head", "wte", "head", "score"}) {
    if (value.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

bool mentions(const Text& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.folded_lines.find(word) != std::string::npos;
  });
}

bool divides_the_model(const Text& text) {
  const bool engine = mentions(text, {"vllm", "sglang", "grpo", "rollout"});
  return mentions(text, {"megatron", "pipeline parallel", "pipeline-parallel", "pipeline_parallel",
                         "pipeline_model_parallel", "tensor_model_parallel"}) ||
         (!engine && mentions(text, {"tensor parallel", "tensor-parallel", "tensor_parallel"}));
}

// What a text says of the method outright: an own word of the report, or a frame of PEFT.
Method method_said(const Text& text) {
  if (mentions(text, {"method: inference", "only inference", "inference only", "just inference"}))
    return Method::inference;
  if (mentions(text, {"peft/peft_model.py", "peft/tuners/", "peftmodelforcausallm"})) return Method::adapters;
  return Method::unknown;
}

// "without any PEFT", "not LoRA": who denies adapters trains all of it.
bool denies_adapters(std::string_view folded) {
  constexpr std::size_t near = 12;
  for (const std::string_view word : {"peft", "lora"}) {
    for (std::size_t at = folded.find(word); at != std::string_view::npos; at = folded.find(word, at + 1)) {
      const std::string_view before = folded.substr(at - std::min(at, near), std::min(at, near));
      if (says_any(before, {"without", "not ", "no ", "ohne", "kein", "不用", "没用"})) return true;
    }
  }
  return false;
}

// "AutoModelForCausalLM.from_pretrained(path).cuda()" in a script: neither a type nor a quantisation among
// the arguments. Transformers up to 4.56 then load fp32, whatever the checkpoint holds (modeling_utils.py).
// Frames of the library itself, which quote such calls too, name no AutoModel before the dot.
bool loads_untyped(std::string_view folded) {
  constexpr std::string_view call = ".from_pretrained(";
  for (std::size_t at = folded.find(call); at != std::string_view::npos; at = folded.find(call, at + 4)) {
    std::size_t begin = at;
    while (begin > 0 && (is_lower(folded[begin - 1]) || is_digit(folded[begin - 1]))) --begin;
    const std::string_view name = folded.substr(begin, at - begin);
    if (name.substr(0, 9) != "automodel" || folded.substr(at, 600).find("...") != std::string_view::npos)
      continue;
    std::size_t end = at + call.size();
    for (int open = 1; end < folded.size() && end < at + 600 && open > 0; ++end)
      open += folded[end] == '(' ? 1 : folded[end] == ')' ? -1 : 0;
    const std::string_view arguments = folded.substr(at, end - at);
    bool typed = false;
    for (const std::string_view word : {"dtype", "load_in", "quant", "**", "bnb"})
      typed = typed || arguments.find(word) != std::string_view::npos;
    if (!typed) return true;
  }
  return false;
}

// "modules_to_save=\"embed_tokens,lm_head\"", "modules_to_save: [...]", not "modules_to_save: null".
bool names_modules(std::string_view folded) {
  // "target_modules = [..., "embed_tokens", "lm_head"]": Unsloth and PEFT then train them whole, or nearly
  // so.
  for (std::size_t at = folded.find("target_modules"); at != std::string_view::npos;
       at = folded.find("target_modules", at + 1)) {
    const std::string_view list = folded.substr(at, 240);
    if (list.substr(0, list.find(']')).find("embed_tokens") != std::string_view::npos) return true;
  }
  constexpr std::string_view key = "modules_to_save";
  for (std::size_t at = folded.find(key); at != std::string_view::npos; at = folded.find(key, at + 1)) {
    std::size_t i = at + key.size();
    bool assigned = false;
    for (; i < folded.size() && std::string_view(" :=\"'[(\n-").find(folded[i]) != std::string_view::npos;
         ++i)
      assigned = assigned || std::string_view(":= ").find(folded[i]) != std::string_view::npos;
    const std::string_view value = folded.substr(i, 5);
    const bool none = value.substr(0, 4) == "none" || value.substr(0, 4) == "null" || value == "false";
    if (assigned && !none && !value.empty() && is_lower(value.front()) &&
        mentions_head_or_embedding(folded.substr(i, 48)))
      return true;
  }
  return false;
}

// "24.05% trained)" of Unsloth, "trainable%: 24.05" of PEFT: the share in percent, or 0.
double trained_percent(std::string_view folded) {
  const auto number_from = [&](std::size_t at) {
    double value = 0, scale = 0;
    for (; at < folded.size() && (is_digit(folded[at]) || folded[at] == '.'); ++at) {
      if (folded[at] == '.') {
        scale = 1;
      } else {
        value = value * 10 + (folded[at] - '0');
        scale *= 10;
      }
    }
    return scale > 1 ? value / scale : value;
  };
  if (const std::size_t at = folded.find("trainable%: "); at != std::string_view::npos)
    return number_from(at + 12);
  const std::size_t at = folded.find("% trained)");
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && at - begin < 8 && (is_digit(folded[begin - 1]) || folded[begin - 1] == '.')) --begin;
  return number_from(begin);
}

// "qwen2.5vl", "qwen3-vl-8b", "deepseek_vl2": "vl" behind a figure, a dash or a line, and no word's
// beginning.
bool names_a_vl_model(std::string_view folded) {
  for (std::size_t at = folded.find("vl"); at != std::string_view::npos; at = folded.find("vl", at + 2)) {
    const bool tied = at > 0 && (is_digit(folded[at - 1]) || folded[at - 1] == '-' || folded[at - 1] == '_');
    const bool ends = at + 2 >= folded.size() || !is_lower(folded[at + 2]);
    if (tied && ends) return true;
  }
  return false;
}

}  // namespace plimsoll::diagnosis
