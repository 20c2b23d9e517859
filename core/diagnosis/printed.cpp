#include "core/diagnosis/printed.h"

#include <algorithm>
#include <span>

namespace plimsoll::diagnosis {

namespace {

/// A sentence as its program has it: all behind `from` up to the end of `to`.
struct Printed {
  std::string_view from, to;
};
constexpr Printed all_printed[] = {
    // Transformers, quantizers/quantizer_bnb_4bit.py and _8bit.py validate_environment.
    {"some modules are dispatched on the cpu", "to `from_pretrained`"},
    // Slurm, src/plugins/task/cgroup/task_cgroup_memory.c, of several releases.
    {"oom-kill event(s) in", "out-of-memory handler"},
    {"oom_kill event in", "have been oom killed"},
    {"oom_kill events in", "have been oom killed"},
    // ROCm's runtime, hsa_status_string.
    {"hsa_status_error_out_of_resources", "os-specific events"},
};

constexpr std::size_t longest_printed = 600;

// Lines that hold one of these are no person's: Python's warnings, the loggers of Transformers and Accelerate, Unsloth.
constexpr std::string_view logged[] = {"warning: ",  "warnings.warn(", "[info|",        "[warning|",
                                       " - info - ", " - warning - ",  "unsloth: will "};
// Trainer's, when a checkpoint is written.
constexpr std::string_view saved[] = {"saving model checkpoint to ", "configuration saved in ",
                                      "model weights saved in ", "tokenizer config file saved in "};
// What a step that ran leaves in a log.
constexpr std::string_view stepped[] = {"{'loss':", "it/s]", "it/s,", "s/it]", "s/it,"};

bool holds_any(std::string_view line, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

std::size_t last_step(std::string_view folded) {
  std::size_t last = 0;
  for (const std::string_view word : stepped) {
    const std::size_t at = folded.rfind(word);
    if (at != std::string_view::npos) last = std::max(last, at);
  }
  return last;
}

}  // namespace

std::string own_words(std::string_view folded) {
  std::string out(folded);
  for (const Printed& one : all_printed) {
    std::size_t at = folded.find(one.from);
    for (; at != std::string_view::npos; at = folded.find(one.from, at + one.from.size())) {
      const std::size_t begin = at + one.from.size();
      const std::size_t end = folded.substr(begin, longest_printed).find(one.to);
      if (end == std::string_view::npos) continue;
      // Lines stay lines.
      const auto first = out.begin() + static_cast<std::ptrdiff_t>(begin);
      std::replace_if(
          first, first + static_cast<std::ptrdiff_t>(end + one.to.size()), [](char c) { return c != '\n'; },
          ' ');
    }
  }
  return out;
}

std::string without_log_lines(std::string_view folded) {
  std::string out(folded);
  const std::size_t ran_until = last_step(folded);
  for (std::size_t begin = 0; begin < folded.size();) {
    const std::size_t end = std::min(folded.find('\n', begin), folded.size());
    const std::string_view line = folded.substr(begin, end - begin);
    if (holds_any(line, logged) || (end < ran_until && holds_any(line, saved))) {
      const auto first = out.begin() + static_cast<std::ptrdiff_t>(begin);
      std::fill(first, first + static_cast<std::ptrdiff_t>(line.size()), ' ');
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace plimsoll::diagnosis
