#include "core/question/said_stack.h"

#include <algorithm>

#include "core/question/said_switches.h"

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

// How Python begins a frame.
constexpr std::string_view file = "file \"";

void blank(std::string& text, std::size_t begin, std::size_t end) {
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
            text.begin() + static_cast<std::ptrdiff_t>(std::min(end, text.size())), ' ');
}

}  // namespace

std::string without_addresses(std::string_view folded) {
  std::string out(folded);
  for (const std::string_view scheme : {"http://", "https://", "www."}) {
    for (std::size_t at = out.find(scheme); at != std::string::npos; at = out.find(scheme, at))
      blank(out, at, out.find_first_of(" \n\"'<>)]", at));
  }
  constexpr std::string_view packages_at = "-packages/";
  for (std::size_t at = out.find(file); at != std::string::npos; at = out.find(file, at + file.size())) {
    const std::size_t begin = at + file.size(), end = std::min(out.find('"', begin), out.size());
    const std::size_t library = out.find(packages_at, begin);
    blank(out, begin, library < end ? library : end);
  }
  return out;
}

void read_stack(std::string_view folded, const SaidWords& words, SaidRequest& out) {
  const bool frames = folded.find(file) != std::string_view::npos;
  if (frames || words.size() > most_asking_words || out.values.count("/stack") != 0) return;
  std::string_view found;
  for (const Called& one : called_stacks) {
    if (!affirms(words, one.phrase)) continue;
    if (!found.empty() && found != one.stack) return;
    found = one.stack;
  }
  if (!found.empty()) out.values["/stack"] = std::string(found);
}

}  // namespace plimsoll::question
