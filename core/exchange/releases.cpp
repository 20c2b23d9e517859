#include "core/exchange/releases.h"

#include "core/exchange/formats.h"
#include "core/exchange/formats/python_loop.h"

namespace plimsoll::exchange {

namespace {

struct Last {
  std::string_view call;       // the last part of its name
  std::string_view arguments;  // any of these, joined by blanks
  const char* release;         // of TRL, the last that takes them
};
// Later ones take it and do nothing with it.
constexpr Last heeded_last{"GRPOConfig", "vllm_device", "0.15.2"};
// huggingface/trl v0.12.2, v0.15.2, v0.16.1, v0.27.2, v0.29.0: trl/trainer/*_trainer.py __init__ and its
// deprecate_kwarg, grpo_config.py. The oldest first.
constexpr Last lasts[] = {
    {"SFTTrainer", "max_seq_length dataset_text_field packing dataset_num_proc", "0.12.2"},
    {"DPOTrainer", "max_length max_prompt_length beta loss_type", "0.12.2"},
    {"KTOTrainer", "tokenizer", "0.13.0"},
    {"CPOTrainer", "tokenizer", "0.13.0"},
    {"ORPOTrainer", "tokenizer", "0.14.0"},
    {"RewardTrainer", "tokenizer", "0.14.0"},
    {"SFTTrainer", "tokenizer", "0.15.2"},
    {"DPOTrainer", "tokenizer", "0.15.2"},
    heeded_last,
    {"GRPOConfig", "max_prompt_length", "0.27.2"},
};

bool gives_any(const Node& call, std::string_view arguments) {
  for (const Member& member : call.members) {
    if (in_list(member.key, arguments)) return true;
  }
  return false;
}

const Last* oldest(const Node& python) {
  for (const Last& row : lasts) {
    for (const Member& member : python.members) {
      if (is_call(member) && last_part(member.key) == row.call && gives_any(member.value, row.arguments))
        return &row;
    }
  }
  return nullptr;
}

// The same of a file of TRL's, whose keys are those of the configuration.
void add_release_of_file(Import& import, const Document& document) {
  if (document.root.find(heeded_last.arguments) == nullptr) return;
  json::Json& versions = import.request["versions"];
  if (versions.is_object() && versions.contains("trl")) return;
  versions["trl"] = heeded_last.release;
  import.notes.push_back("TRL " + std::string(heeded_last.release) + " is the last release that heeds " +
                         std::string(heeded_last.arguments) + ": its defaults are taken.");
}

}  // namespace

void add_release(Import& import, const Document& document, std::string_view text) {
  if (import.format == &trl_flat && import.request.is_object()) return add_release_of_file(import, document);
  // Unsloth's trainers take the arguments of old releases still.
  if (import.format != &trl_python || document.language != Language::python) return;
  json::Json& versions = import.request["versions"];
  if (versions.is_null() || (versions.is_object() && !versions.contains("trl"))) {
    const Last* found = oldest(document.root);
    // trl/commands became trl/cli.py in 0.13.
    const bool commands = text.find("from trl.commands") != std::string_view::npos;
    const char* release = commands ? "0.12.2" : found != nullptr ? found->release : nullptr;
    if (release != nullptr) {
      versions["trl"] = release;
      import.notes.push_back(
          "TRL " + std::string(release) + " is the last release that takes " +
          (commands ? "what this script imports" : "what this script gives " + std::string(found->call)) +
          ": its defaults are taken.");
    }
  }
  if (versions.is_null()) import.request.erase("versions");
}

}  // namespace plimsoll::exchange
