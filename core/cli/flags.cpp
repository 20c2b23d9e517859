#include "core/cli/flags.h"

#include "core/report/phrases.h"

namespace plimsoll::cli {

namespace {

constexpr Flag table[] = {
    {"--model", "/model", "NAME"},
    {"--gpu", "/hardware/gpu", "NAME"},
    {"--gpus", "/parallel/num_gpus", "N"},
    {"--strategy", "/parallel/strategy", "WORD"},
    {"--stack", "/stack", "WORD"},
    {"--task", "/task", "WORD"},
    {"--rank", "/peft/r", "N"},
    {"--targets", "/peft/target_modules", "NAMES"},
    {"--batch", "/training/per_device_train_batch_size", "N"},
    {"--accumulation", "/training/gradient_accumulation_steps", "N"},
    {"--length", "/training/max_length", "N"},
    {"--optim", "/training/optim", "WORD"},
    {"--dtype", "/model_args/dtype", "WORD"},
    {"--attention", "/model_args/attn_implementation", "WORD"},
    {"--bf16", "/training/bf16", ""},
    {"--packing", "/training/packing", ""},
    {"--checkpointing", "/training/gradient_checkpointing", ""},
    {"--liger", "/training/use_liger_kernel", ""},
};

}  // namespace

std::span<const Flag> flags() { return table; }

std::string as_flag(std::string_view pointer, const std::string& value) {
  std::string flag = "--set=" + report::dotted(pointer) + "=" + value;
  for (const Flag& row : table) {
    if (row.pointer != pointer) continue;
    if (*row.value != '\0') flag = std::string(row.name) + "=" + value;
    if (*row.value == '\0' && value == "true") flag = row.name;
  }
  return flag;
}

}  // namespace plimsoll::cli
