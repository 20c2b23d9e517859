#include "core/run/model_names.h"

#include <algorithm>
#include <array>

#include "core/json/ascii.h"
#include "core/json/words.h"

namespace plimsoll::run {

namespace {

using ascii::is_digit;
using ascii::lower;

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

// What a person puts behind the name of the base says nothing of its shapes, but for these words.
constexpr std::array<std::string_view, 60> other_shapes = {
    "vision",    "vl",     "vlm",       "audio",      "omni",       "moe",    "mini",     "tiny",
    "small",     "medium", "large",     "xl",         "xxl",        "xlarge", "xlm",      "big",
    "huge",      "lite",   "nano",      "nemo",       "pro",        "plus",   "max",      "turbo",
    "flash",     "next",   "distill",   "distilled",  "pruned",     "sliced", "expanded", "upscaled",
    "extended",  "embed",  "embedding", "embeddings", "encoder",    "shrunk", "mixture",  "linear",
    "hybrid",    "mamba",  "rwkv",      "draft",      "drafter",    "eagle",  "medusa",   "speculator",
    "assistant", "scout",  "maverick",  "preview",    "multimodal", "mm",     "image",    "video",
    "speech",    "ocr",    "tts",       "asr"};
// Of these the ones that are called after a language were trained from nothing, with a vocabulary of their own
// ("gpt2-chinese", "roberta-base-japanese"); larger models and multilingual ones are tuned for it.
constexpr std::string_view own_vocabularies =
    "bert roberta electra distilbert deberta-v2 modernbert gpt2 bart t5";
constexpr std::string_view tongues =
    "chinese japanese german french spanish italian portuguese dutch russian arabic korean turkish polish finnish "
    "swedish danish norwegian hebrew hindi bengali thai vietnamese indonesian greek czech hungarian romanian "
    "ukrainian persian multilingual zh ja de fr es it pt nl ru ar ko tr pl fi sv vi";
// And in front of it only these are a person's own.
constexpr std::array<std::string_view, 9> own_words = {"my",   "our",   "finetuned", "ft",   "sft",
                                                       "lora", "qlora", "merged",    "local"};
// Folders that hold a model without naming it.
constexpr std::array<std::string_view, 11> nameless = {
    "final", "merged", "output", "outputs", "model", "models", "latest", "main", "hf", "snapshots", "best"};

std::string_view trimmed(std::string_view name) {
  while (!name.empty() && (name.back() == '/' || name.back() == ' ')) name.remove_suffix(1);
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  return name;
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  const std::string small = lower(word);
  for (std::string_view known : words) {
    if (known == small) return true;
  }
  return false;
}

// A commit, as the hub's cache names a folder.
bool is_hash(std::string_view word) {
  return word.size() >= 20 && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The part of a path that names the model: not "checkpoint-500", not a commit, and of the hub's cache
// ("models--meta-llama--Llama-3.1-8B/snapshots/...") what stands behind the owner.
std::string_view naming_part(std::string_view path) {
  path = trimmed(path);
  while (true) {
    std::string_view part = last_part(path);
    const bool passing =
        lower(part.substr(0, 10)) == "checkpoint" || is_hash(part) || is_one_of(part, nameless);
    if (passing && part.size() < path.size()) {
      path = trimmed(path.substr(0, path.size() - part.size() - 1));
      continue;
    }
    const std::size_t owner = part.rfind("--");
    return part.substr(0, 8) == "models--" && owner > 8 ? part.substr(owner + 2) : part;
  }
}

bool ends_in_word(std::string_view name, std::string_view word) {
  if (name.size() <= word.size() + 1) return false;
  const char before = name[name.size() - word.size() - 1];
  if (before != '-' && before != '_' && before != '.') return false;
  return lower(name.substr(name.size() - word.size())) == word;
}

template <std::size_t N>
std::string_view ending(std::string_view name, const std::array<std::string_view, N>& words) {
  for (std::string_view word : words) {
    if (ends_in_word(name, word)) return name.substr(name.size() - word.size());
  }
  return "";
}

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

NamedModel find_named(const Catalog& catalog, std::string_view name) {
  const auto listed = catalog.names.find(lower(name));
  if (listed == catalog.names.end()) return {};
  return {&catalog.models[listed->second], "", listed->first};
}

// The one preset that is listed so, or answers to this spelling; null when none does, or several.
NamedModel find_listed(const Catalog& catalog, std::string_view name) {
  if (NamedModel listed = find_named(catalog, name); listed.entry != nullptr) return listed;
  const std::string wanted = squeezed(name);
  NamedModel found;
  for (const auto& [known, index] : catalog.names) {
    if (squeezed(last_part(known)) != wanted) continue;
    const ModelEntry* entry = &catalog.models[index];
    if (found.entry != nullptr && found.entry != entry) return {};
    found = {entry, "", known};
  }
  return found;
}

bool is_between(char c) { return c == '-' || c == '_' || c == ' '; }

// "7b", "1.5B", "8x7b", "350m": a size that differs is another model.
bool is_size(std::string_view word) {
  const char last = word.empty() ? ' ' : lower(word.back());
  return word.size() >= 2 && (last == 'b' || last == 'm') && is_digit(word[word.size() - 2]);
}

// "finetuned-v3" behind the name of a base: a word of letters first, and no size anywhere.
bool is_of_a_person(std::string_view words) {
  bool first = true;
  while (!words.empty()) {
    std::size_t end = 0;
    while (end < words.size() && !is_between(words[end])) ++end;
    const std::string_view word = words.substr(0, end);
    const bool letters = word.find_first_of("0123456789.") == std::string_view::npos;
    if ((first && (!letters || word.size() < 2)) || is_size(word) || is_one_of(word, other_shapes))
      return false;
    first = false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return !first;
}

bool holds_a_tongue(std::string_view words) {
  while (!words.empty()) {
    std::size_t end = 0;
    while (end < words.size() && !is_between(words[end])) ++end;
    if (json::is_listed(lower(words.substr(0, end)), tongues)) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

// The longest beginning of a name that is a model's own, the rest being what a person added.
NamedModel find_base(const Catalog& catalog, std::string_view name, std::string_view part) {
  while (true) {
    std::size_t end = 0;
    while (end < part.size() && !is_between(part[end])) ++end;
    if (end == part.size() || !is_one_of(part.substr(0, end), own_words)) break;
    part.remove_prefix(end + 1);
  }
  constexpr std::size_t longest_name = 120;
  if (part.size() > longest_name) return {};
  for (std::size_t end = part.size(); end > 1; --end) {
    if (end < part.size() && !is_between(part[end])) continue;
    const std::string_view base = part.substr(0, end), rest = part.substr(std::min(end + 1, part.size()));
    if (!rest.empty() && !is_of_a_person(rest)) continue;
    NamedModel found = find_listed(catalog, base);
    if (found.entry == nullptr) continue;
    if (json::is_listed(found.entry->network.model_type, own_vocabularies) && holds_a_tongue(rest)) return {};
    found.how = "\"" + std::string(name);
    found.how += "\" is not listed; by its name it was made from " + found.entry->preset.hf_id;
    found.how += ", whose shapes are taken.";
    return found;
  }
  return {};
}

}  // namespace

NamedModel find_by_name(const Catalog& catalog, std::string_view name) {
  if (NamedModel listed = find_named(catalog, name); listed.entry != nullptr) return listed;
  const std::string_view part = naming_part(name);
  std::string_view rest = part;
  std::string left_out;
  while (!rest.empty()) {
    if (NamedModel found = find_listed(catalog, rest); found.entry != nullptr) {
      found.how = "\"" + std::string(name) + "\" is not listed; its name was read as " +
                  found.entry->preset.hf_id + " with the same shapes";
      found.how += left_out.empty() ? "." : ", \"" + left_out + "\" left out.";
      return found;
    }
    std::string_view word = ending(rest, packings);
    if (word.empty()) word = ending(rest, tunings);
    if (word.empty()) return find_base(catalog, name, part);
    left_out = left_out.empty() ? std::string(word) : std::string(word) + "-" + left_out;
    rest.remove_suffix(word.size() + 1);
  }
  return {};
}

std::string hub_id(const Catalog& catalog, std::string_view name) {
  const ModelEntry* entry = name.find('/') == std::string_view::npos ? catalog.find_model(name) : nullptr;
  if (entry == nullptr) return std::string(name);
  const model::ModelPreset& preset = entry->preset;
  const std::string wanted = lower(name);
  const auto is_wanted = [&wanted](const std::string& id) { return lower(last_part(id)) == wanted; };
  if (is_wanted(preset.hf_id)) return preset.hf_id;
  // Of copies the one by the model's own makers; "mistral-7b" is a copy's name, and theirs is "Mistral-7B-v0.1".
  const std::string owner = preset.hf_id.substr(0, preset.hf_id.find('/') + 1);
  const std::string* found = nullptr;
  for (const std::string& id : preset.same_shapes) {
    if (!is_wanted(id)) continue;
    if (found == nullptr || id.rfind(owner, 0) == 0) found = &id;
  }
  const bool theirs = found != nullptr && found->rfind(owner, 0) == 0;
  const bool begins = lower(last_part(preset.hf_id)).rfind(wanted, 0) == 0;
  return found == nullptr || (begins && !theirs) ? preset.hf_id : *found;
}

std::string_view packing_in(std::string_view name) { return ending(trimmed(name), packings); }

// What is unpacked before it is trained (fp8, nvfp4, mxfp4) says nothing here.
json::Json stored_quantization(std::string_view model) {
  const std::string packing = lower(packing_in(model));
  if (packing.empty()) return nullptr;
  const auto says = [&packing](std::string_view part) { return packing.find(part) != std::string::npos; };
  json::Json quantization;
  for (const char* method : {"gptq", "awq", "aqlm", "hqq"}) {
    if (says(method)) quantization = {{"quant_method", method}};
  }
  if (quantization.is_object()) {
    if (says("8bit") || says("int8")) quantization["bits"] = 8;
    if (says("2bit")) quantization["bits"] = 2;
  } else if (says("bnb") || packing == "4bit" || packing == "8bit" || packing == "nf4") {
    quantization = {{says("8bit") ? "load_in_8bit" : "load_in_4bit", true}};
    // quantization_config of huggingface.co/unsloth/*-bnb-4bit config.json.
    if (quantization.contains("load_in_4bit") && lower(model).starts_with("unsloth/")) {
      quantization["bnb_4bit_quant_type"] = "nf4";
      quantization["bnb_4bit_use_double_quant"] = true;
    }
  }
  return quantization;
}

}  // namespace plimsoll::run
