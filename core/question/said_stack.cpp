#include "core/question/said_stack.h"

namespace plimsoll::question {

namespace {

struct Called {
  std::string_view phrase, stack;
};
constexpr Called called_stacks[] = {{"axolotl", "axolotl"},
                                    {"llamafactory", "llamafactory"},
                                    {"llama factory", "llamafactory"},
                                    {"torchtune", "torchtune"},
                                    {"trl", "trl"},
                                    {"ms swift", "ms-swift"},
                                    {"litgpt", "litgpt"},
                                    {"lit gpt", "litgpt"}};

}  // namespace

void read_stack(std::string_view folded, const SaidWords& words, SaidRequest& out) {
  const bool frames = folded.find("file \"") != std::string_view::npos;  // how Python begins a frame
  if (frames || !is_brief(words) || out.values.count("/stack") != 0) return;
  std::string_view found;
  for (const Called& one : called_stacks) {
    if (!affirms(words, one.phrase)) continue;
    if (!found.empty() && found != one.stack) return;
    found = one.stack;
  }
  if (!found.empty()) out.values["/stack"] = std::string(found);
}

}  // namespace plimsoll::question
