#include "core/diagnosis/progress.h"

#include <algorithm>

#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

using ascii::is_digit;

namespace {

// The step of a training bar, "350/2958 [1:02:15<7:43:02, 10.66s/it]" or "[ 501/1500 06:35 < 13:11, 1.26
// it/s", where it is far beyond the first; "" elsewhere. Bars of loading, of reading data and of evaluation
// count other things.
std::string step_of_a_bar(std::string_view text) {
  std::string last;
  for (std::size_t slash = text.find('/'); slash != std::string_view::npos;
       slash = text.find('/', slash + 1)) {
    std::size_t begin = slash, end = slash + 1;
    double step = 0, all = 0;
    while (begin > 0 && is_digit(text[begin - 1]) && slash - begin < 8) --begin;
    for (std::size_t i = begin; i < slash; ++i) step = step * 10 + (text[i] - '0');
    for (; end < text.size() && is_digit(text[end]) && end - slash < 9; ++end)
      all = all * 10 + (text[end] - '0');
    if (begin == slash || end == slash + 1 || step < 20 || step > all) continue;
    const std::size_t stop = std::min(text.find('\n', end), text.size());
    const std::string_view behind = text.substr(end, std::min<std::size_t>(stop - end, 48));
    const std::size_t line =
        text.rfind('\n', begin) == std::string_view::npos ? 0 : text.rfind('\n', begin) + 1;
    const std::string_view before = text.substr(line, begin - line);
    const bool rate = behind.find("it/s") != std::string_view::npos ||
                      behind.find("s/it") != std::string_view::npos ||
                      behind.find("eta:") != std::string_view::npos;
    bool other = false;
    for (const std::string_view word : {"shards", "map", "token", "eval", "load", "generat", "download",
                                        "example", "process", "fetch", "adding", "truncat", "packing"}) {
      other = other || before.find(word) != std::string_view::npos;
    }
    if (rate && !other) last = std::string(text.substr(begin, end - begin));
  }
  return last;
}

// "step 8402 of 39003", "(step=0001005)": a step far beyond the first. "max_steps=1000" is a setting.
std::string numbered_step(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    const std::size_t begin = at + word.size() + 1;
    const bool own =
        at == 0 || (text[at - 1] != '_' && text[at - 1] != '-') || text.substr(0, at).ends_with("global_");
    if (!own || begin >= text.size() ||
        std::string_view(" =:").find(text[begin - 1]) == std::string_view::npos)
      continue;
    double step = 0;
    std::size_t end = begin;
    for (; end < text.size() && end < begin + 9 && is_digit(text[end]); ++end)
      step = step * 10 + (text[end] - '0');
    if (step >= 20) return std::string(text.substr(begin, end - begin));
  }
  return "";
}

// "after 300 steps", "nach etwa 300 Schritten", "跑了300步": a number of steps that ran, before their word.
std::string counted_steps(std::string_view text) {
  constexpr std::size_t near = 20;
  for (const std::string_view word : {"step", "schritt", "iteration", "步"}) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + word.size())) {
      std::size_t end = at;
      while (end > 0 && text[end - 1] == ' ') --end;
      std::size_t begin = end;
      double step = 0;
      while (begin > 0 && is_digit(text[begin - 1]) && end - begin < 8) --begin;
      for (std::size_t i = begin; i < end; ++i) step = step * 10 + (text[i] - '0');
      const std::string_view before = text.substr(begin - std::min(begin, near), std::min(begin, near));
      if (step >= 20 && says_any(before, {"after", "nach ", "第", "到", "了"}) &&
          !says_any(before, {"every", "alle ", "jede", "每"}))
        return std::string(text.substr(begin, end - begin));
    }
  }
  return "";
}

}  // namespace

std::string progress_in_words(std::string_view text) {
  for (const std::string_view word : {"step", "iteration", "iter"}) {
    if (const std::string step = numbered_step(text, word); !step.empty())
      return "It died at step " + step + ", so most batches fit.";
  }
  if (const std::string step = counted_steps(text); !step.empty())
    return "It died after " + step + " steps, so most batches fit.";
  if (says_any(text, {"halfway", "half way", "midway", "mitten im train", "hälfte des train", "到一半"}))
    return "It died halfway, so most batches fit.";
  if (const std::string bar = step_of_a_bar(text); !bar.empty())
    return "The progress bar stands at " + bar + ", so most batches fit.";
  // Two lines of a log of losses: steps had passed.
  if (const std::size_t one = text.find("{'loss':");
      one != std::string_view::npos && text.find("{'loss':", one + 1) != std::string_view::npos)
    return "Losses were logged before it died, so most batches fit.";
  return "";
}

}  // namespace plimsoll::diagnosis
