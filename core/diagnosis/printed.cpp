#include "core/diagnosis/printed.h"

#include <algorithm>

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

}  // namespace plimsoll::diagnosis
