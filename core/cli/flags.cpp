#include "core/cli/flags.h"

#include <algorithm>

#include "core/json/ascii.h"
#include "core/run/phrases.h"

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

// A shell splits at spaces and reads brackets and quotes.
std::string quoted(const std::string& text) {
  const auto plain = [](char c) {
    return ascii::is_word(c) || std::string_view("-.,:/=").find(c) != std::string_view::npos;
  };
  if (std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "'";
  for (char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace

std::span<const Flag> flags() { return table; }

std::string as_flag(std::string_view pointer, const std::string& text) {
  const std::string value = quoted(text);
  std::string flag = "--set=" + run::dotted(pointer) + "=" + value;
  for (const Flag& row : table) {
    if (row.pointer != pointer) continue;
    if (*row.value != '\0') flag = std::string(row.name) + "=" + value;
    if (*row.value == '\0' && value == "true") flag = row.name;
  }
  return flag;
}

}  // namespace plimsoll::cli
