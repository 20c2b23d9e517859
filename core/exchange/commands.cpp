#include "core/exchange/commands.h"

#include "core/exchange/formats.h"
#include "core/exchange/formats/autotrain.h"
#include "core/exchange/formats/fms_tuning.h"
#include "core/exchange/formats/llamafactory.h"
#include "core/exchange/formats/refused.h"
#include "core/exchange/formats/verl_sft.h"

namespace plimsoll::exchange {

namespace {

// Words that may name what a command starts: those without a flag, and what `python -m` or `--module` is
// given.
std::vector<std::string_view> started_by(const Node& root) {
  std::vector<std::string_view> started;
  for (const Member& member : root.members) {
    if (member.key != "$words" && member.key != "m" && member.key != "module") continue;
    if (member.value.is_scalar()) started.push_back(member.value.raw);
    for (const Node& item : member.value.items) started.push_back(item.raw);
  }
  return started;
}

bool is_settings_file(std::string_view name) { return name.ends_with(".yaml") || name.ends_with(".yml"); }

// llamafactory-cli chat, axolotl inference, swift export: whatever their files say.
bool uses_a_model(std::string_view word) {
  return in_list(word,
                 "chat api webchat export eval infer deploy merge inference preprocess serve rollout fetch "
                 "merge-lora vllm-serve");
}

// The file that a command is given as its settings; a launcher's and DeepSpeed's are none.
std::string settings_file(const Node& root) {
  std::string file;
  for (const Member& member : root.members) {
    const bool named = member.key == "config" || member.key == "config_path" || member.key == "cfg_path";
    const Node& first = member.value.items.empty() ? member.value : member.value.items.front();
    if (named && is_settings_file(first.raw)) file = first.raw;
  }
  for (const std::string_view word : started_by(root)) {
    if (uses_a_model(word)) return "";
    if (file.empty() && is_settings_file(word)) file = word;
  }
  return file;
}

}  // namespace

const Format* format_of_command(const Node& root) {
  const std::vector<std::string_view> started = started_by(root);
  for (const std::string_view word : started) {
    if (word.find("openrlhf.cli.") == 0) return &openrlhf;
    if (word.find("axolotl.cli.") == 0) return &axolotl;
    for (const char* script : {"tuning.sft_trainer", "tuning/sft_trainer.py"})
      if (word.find(script) != std::string::npos) return &fms_tuning;
  }
  if (is_verl_sft(root)) return &verl_sft;
  if (const Format* refused = refused_program(started, root); refused != nullptr) return refused;
  const Node* words = root.find("$words");
  if (root.find("rlhf_type") != nullptr) return &ms_swift;  // whatever path its script is started by
  if (words == nullptr) return &command_line;
  for (const Node& word : words->items) {
    if (word.raw == "swift" || word.raw == "megatron") return &ms_swift;
    if (word.raw.find("swift/cli/") != std::string::npos) return &ms_swift;  // what `swift sft` starts
    if (word.raw == "axolotl") return &axolotl;
    if (word.raw == "vllm" && words->items.size() > 1 && words->items[1].raw == "serve") return &serving;
    if (word.raw == "tune") return &torchtune;
    if (word.raw == "litgpt") return &litgpt;
    if (word.raw == "autotrain") return &autotrain;
    if (starts_llamafactory(root, word.raw)) return &llamafactory;
  }
  return &command_line;
}

void tell_of_settings_file(const Node& root, Import& import) {
  std::string file = settings_file(root);
  // Axolotl trains from a file alone: one that a variable names, or that is fetched.
  if (file.empty() && import.format == &axolotl && !import.errors.empty()) file = "a file of Axolotl";
  const bool known = !import.errors.empty() && import.errors.front().code == "unsupported";
  if (file.empty() || known) return;
  const std::string where = "The settings of this command are in " + file;
  if (import.errors.empty()) {
    import.notes.push_back(where + std::string(paste_it_too));
  } else {
    import.errors.clear();
    import.errors.push_back({"settings_elsewhere", "", where + ", which is not here.",
                             "the text of that file, alone or with this command"});
  }
}

}  // namespace plimsoll::exchange
