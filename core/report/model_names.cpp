#include "core/report/model_names.h"

#include <array>

namespace plimsoll::report {

namespace {

// What a copy of a checkpoint adds when its weights are stored in fewer bits.
constexpr std::array<std::string_view, 31> packings = {"unsloth-bnb-4bit",
                                                       "dynamic-bnb-4bit",
                                                       "bnb-nf4-bf16",
                                                       "bnb-4bit",
                                                       "bnb-8bit",
                                                       "bnb-nf4",
                                                       "gptq-int4",
                                                       "gptq-int8",
                                                       "gptq-4bit",
                                                       "gptq-8bit",
                                                       "awq-4bit",
                                                       "awq-int4",
                                                       "gptq",
                                                       "awq",
                                                       "aqlm-2bit-1x16",
                                                       "aqlm",
                                                       "hqq",
                                                       "fp8-dynamic",
                                                       "fp8",
                                                       "nvfp4",
                                                       "mxfp4",
                                                       "int4",
                                                       "int8",
                                                       "4bit",
                                                       "8bit",
                                                       "nf4",
                                                       "w4a16",
                                                       "w8a8",
                                                       "quantized",
                                                       "exl2",
                                                       "gguf"};
// What says nothing about shapes: tuned for instructions, or stored in another 16-bit type or layout.
constexpr std::array<std::string_view, 21> tunings = {
    "instruct", "chat",   "base",   "it",          "pt",        "hf",      "thinking",
    "sft",      "dpo",    "bf16",   "fp16",        "fp32",      "unsloth", "2507",
    "inst",     "dpo-v2", "merged", "dequantized", "reasoning", "source",  "linearized"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

std::string_view trimmed(std::string_view name) {
  while (!name.empty() && (name.back() == '/' || name.back() == ' ')) name.remove_suffix(1);
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  return name;
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

bool ends_in_word(std::string_view name, std::string_view word) {
  if (name.size() <= word.size() + 1) return false;
  const char before = name[name.size() - word.size() - 1];
  if (before != '-' && before != '_' && before != '.') return false;
  return lowered(name.substr(name.size() - word.size())) == word;
}

template <std::size_t N>
std::string_view ending(std::string_view name, const std::array<std::string_view, N>& words) {
  for (std::string_view word : words) {
    if (ends_in_word(name, word)) return name.substr(name.size() - word.size());
  }
  return "";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "Llama2-7b" and "llama-2-7b" alike; an underscore between digits is a decimal point ("1_8B").
std::string squeezed(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool between = i > 0 && i + 1 < name.size() && is_digit(name[i - 1]) && is_digit(name[i + 1]);
    if (name[i] == '_' && between) out += '.';
    if (name[i] != '-' && name[i] != '_' && name[i] != ' ') out += lower(name[i]);
  }
  return out;
}

// The one preset that answers to this spelling; null when none does, or several.
const ModelEntry* find_spelling(const Catalog& catalog, std::string_view name) {
  const std::string wanted = squeezed(name);
  const ModelEntry* found = nullptr;
  for (const auto& [known, index] : catalog.names) {
    if (squeezed(last_part(known)) != wanted) continue;
    const ModelEntry* entry = &catalog.models[index];
    if (found != nullptr && found != entry) return nullptr;
    found = entry;
  }
  return found;
}

}  // namespace

NamedModel find_by_name(const Catalog& catalog, std::string_view name) {
  if (const ModelEntry* listed = catalog.find_model(name)) return {listed, ""};
  std::string_view rest = last_part(trimmed(name));
  std::string left_out;
  while (!rest.empty()) {
    const ModelEntry* entry = catalog.find_model(rest);
    if (entry == nullptr) entry = find_spelling(catalog, rest);
    if (entry != nullptr) {
      std::string how = "\"" + std::string(name) + "\" is not listed; its name was read as " +
                        entry->preset.hf_id + " with the same shapes";
      how += left_out.empty() ? "." : ", \"" + left_out + "\" left out.";
      return {entry, how};
    }
    std::string_view word = ending(rest, packings);
    if (word.empty()) word = ending(rest, tunings);
    if (word.empty()) return {};
    left_out = left_out.empty() ? std::string(word) : std::string(word) + "-" + left_out;
    rest.remove_suffix(word.size() + 1);
  }
  return {};
}

std::string_view packing_in(std::string_view name) { return ending(trimmed(name), packings); }

}  // namespace plimsoll::report
