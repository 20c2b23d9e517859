// A DeepSpeed or accelerate file that is named and not there: its name says what people name such files for.
#include <string>
#include <string_view>

#include "core/exchange/formats/shared.h"

namespace plimsoll::exchange {

namespace {

bool holds(std::string_view name, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

// stage3_no_offloading.conf, ds_zero2_wo_offload.json
bool denies_offload(std::string_view file) {
  for (const char* no : {"no", "non", "not", "wo", "without"})
    for (const char* gap : {"", "_", "-", "."})
      if (file.find(std::string(no) + gap + "offload") != std::string_view::npos) return true;
  return false;
}

bool says_parameters(std::string_view file) { return holds(file, {"all", "param"}); }

std::string strategy_in(std::string_view file, std::string_view key) {
  for (const char stage : {'1', '2', '3'}) {
    for (const char* form : {"zero", "z", "zero_", "zero-", "stage", "stage_", "stage-", "zero_stage"})
      if (file.find(std::string(form) + stage) != std::string_view::npos) return std::string("zero") + stage;
  }
  if (holds(file, {"zero0", "z0"})) return "zero0";
  // accelerate launch --config_file fsdp_config.yaml
  const bool of_accelerate = key == "config_file" || key == "accelerate_config";
  if (of_accelerate && holds(file, {"fsdp"})) return holds(file, {"fsdp2"}) ? "fsdp2" : "fsdp";
  // Parameters wait in host memory under ZeRO-3 alone.
  if (holds(file, {"offload"}) && !denies_offload(file) && says_parameters(file)) return "zero3";
  return "";
}

}  // namespace

void read_deepspeed_name(Reading& reading, const Leaf& leaf) {
  const std::string name = reading.word(leaf.path);
  const bool null = !leaf.node->is_scalar() || leaf.node->value.is_null();
  if (null || name == "false" || name == "none") return reading.mark(leaf, Use::implied, "no DeepSpeed");
  // A variable that is set elsewhere leaves nothing in a command.
  const bool shell = reading.document.language == Language::shell;
  if (name.empty() && !shell) return reading.mark(leaf, Use::implied, "no DeepSpeed");
  const std::string file = name.substr(name.rfind('/') + 1);
  const std::string strategy = strategy_in(file, leaf.path);
  if (strategy.empty()) {
    return reading.mark(leaf, Use::unsupported,
                        "the name of this file does not say the ZeRO stage; import the file itself as well");
  }
  reading.set("/parallel/strategy", strategy, &leaf);
  reading.finding(leaf).message = "read from the name of the file; import the file itself to be sure";
  if (denies_offload(file) || !holds(file, {"offload", "cpu"})) return;
  reading.set("/parallel/zero_optimization/offload_optimizer/device", "cpu");
  const bool optimizer_alone = holds(file, {"optim", "offload_opt"}) && !says_parameters(file);
  if (says_parameters(file) || (strategy == "zero3" && !optimizer_alone))
    reading.set("/parallel/zero_optimization/offload_param/device", "cpu");
}

}  // namespace plimsoll::exchange
