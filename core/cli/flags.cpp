#include "core/cli/flags.h"

#include <algorithm>

#include "core/json/ascii.h"
#include "core/question/said_request.h"
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

// What no sentence says alone.
constexpr std::pair<std::string_view, std::string_view> elsewhere[] = {
    {"vram", "--gpu with a card's name"},
    {"gpu-memory", "--gpu with a card's name"},
    {"deepspeed", "--strategy zero2 or --strategy zero3"},
    {"zero", "--strategy zero2 or --strategy zero3"},
};

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

std::string flag_called(std::string_view name, std::string_view value) {
  while (name.starts_with("-")) name.remove_prefix(1);
  for (const auto& [known, flag] : elsewhere) {
    if (name == known) return std::string(flag);
  }
  const bool number = !value.empty() && ascii::is_digit(value.front());
  // A rank is one of adapters; and a setting of numbers is known by its number.
  const std::string sentence = "LoRA, " + std::string(name) + " " + (number ? std::string(value) : "64");
  const question::SaidRequest said = question::said_request(diagnosis::clean(sentence), {});
  if (said.methods == std::vector<question::Method>{question::Method::qlora}) return "--qlora";
  for (const auto& [pointer, meant] : said.values) {
    if (pointer == "/peft" || pointer == "/hardware/gpu") continue;
    const std::string flag =
        as_flag(pointer, meant.is_string() ? meant.get<std::string>() : json::write(meant));
    return meant.is_number() && !number ? flag.substr(0, flag.find('=')) : flag;
  }
  return "";
}

}  // namespace plimsoll::cli
