// What changed, in words: memory that grows from step to step, and a release that needs more than another.
#include <algorithm>
#include <initializer_list>

#include "core/diagnosis/occasion.h"
#include "core/diagnosis/sentence.h"
#include "core/diagnosis/text.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using Words = std::initializer_list<std::string_view>;

std::size_t first_of(std::string_view text, Words words) {
  std::size_t first = std::string_view::npos;
  for (const std::string_view word : words) first = std::min(first, text.find(word));
  return first;
}

// What is left of the sentence from `at` on, at most `most` bytes.
std::string_view rest_of_sentence(std::string_view text, std::size_t at, std::size_t most) {
  std::string_view rest = text.substr(at, most);
  for (const std::string_view stop : {"\n", ". ", "; ", "? "}) rest = rest.substr(0, rest.find(stop));
  return rest;
}

// "rises from 20GB to 79GB": figures of memory, the second a third larger, and a word of rising.
std::string rises_from_to(std::string_view folded) {
  constexpr std::size_t longest = 16384;
  folded = folded.substr(0, longest);
  const auto gigabytes_at = [&](std::size_t i, std::size_t& end) {
    double value = 0;
    for (end = i; end < folded.size() && ascii::is_digit(folded[end]) && end - i < 6; ++end)
      value = value * 10 + (folded[end] - '0');
    const bool none = end == i;
    while (end < folded.size() && (ascii::is_digit(folded[end]) || folded[end] == '.')) ++end;
    while (end < folded.size() && folded[end] == ' ') ++end;
    const bool unit =
        folded.substr(end, 1) == "g" || folded.substr(end, 2) == "mb" || folded.substr(end, 2) == "mi";
    return none || !unit ? 0 : value;
  };
  constexpr std::string_view from = "from ", to = " to ";
  for (std::size_t at = folded.find(from); at != std::string_view::npos; at = folded.find(from, at + 5)) {
    std::size_t end = 0;
    const double first = gigabytes_at(at + from.size(), end);
    const std::size_t next = folded.substr(end, 12).find(to);
    if (first <= 0 || next == std::string_view::npos) continue;
    const double second = gigabytes_at(end + next + to.size(), end);
    const std::string_view said = sentence_around(folded, at, end - at, 60);
    if (second > 1.33 * first &&
        says_any(said,
                 {"increas", "grow", "rise", "rising", "climb", "creep", "goes", "going", "went", "jump"}) &&
        says_any(said,
                 {"step", "epoch", "iter", "train", "over", "time", "until", "gradual", "slow", "batch"}))
      return first_bytes(said, 100);
  }
  return "";
}

// "12 GB at step 10, 18 GB at step 100, 24 GB at step 200": three figures of memory that rise with the steps.
std::string rising_series(std::string_view folded) {
  constexpr std::size_t longest = 16384, near = 48;
  folded = folded.substr(0, longest);
  const auto number_at = [&](std::size_t i, std::size_t& end) {
    double value = 0, scale = 0;
    for (end = i; end < folded.size() && (ascii::is_digit(folded[end]) || folded[end] == '.'); ++end) {
      if (folded[end] == '.') {
        scale = 1;
      } else {
        value = value * 10 + (folded[end] - '0');
        scale *= 10;
      }
    }
    return scale > 1 ? value / scale : value;
  };
  double last_step = -1, last_memory = -1, first_memory = 0;
  std::size_t count = 0, begin = 0;
  for (std::size_t at = 0; at < folded.size(); ++at) {
    std::size_t word = 0;
    for (const std::string_view unit : {"steps", "step", "epoch", "iteration", "iter"}) {
      if (word == 0 && folded.substr(at, unit.size()) == unit) word = unit.size();
    }
    if (word == 0) continue;
    std::size_t i = at + word, end = 0;
    while (i < folded.size() && std::string_view(" :=#`").find(folded[i]) != std::string_view::npos) ++i;
    if (i >= folded.size() || !ascii::is_digit(folded[i])) continue;
    const double step = number_at(i, end);
    // The figure of memory stands behind the step, or before it.
    double memory = -1;
    const auto find_memory = [&](std::size_t from, std::size_t to) {
      for (std::size_t j = from; j < to; ++j) {
        if (!ascii::is_digit(folded[j]) ||
            (j > 0 && (ascii::is_digit(folded[j - 1]) || folded[j - 1] == '.')))
          continue;
        std::size_t stop = 0;
        const double value = number_at(j, stop);
        while (stop < folded.size() && (folded[stop] == ' ' || folded[stop] == '*')) ++stop;
        const std::string_view unit = folded.substr(stop, 3);
        const bool named = says_any(folded.substr(j > 24 ? j - 24 : 0, std::min<std::size_t>(j, 24)),
                                    {"memory_allocated", "memory allocated", "memory usage"});
        if (unit.substr(0, 2) == "gb" || unit == "gib" || unit.substr(0, 2) == "mb" || unit == "mib" ||
            named) {
          memory = value;
          return;
        }
      }
    };
    std::size_t stop = std::min(folded.size(), end + near);
    for (const std::string_view other : {"step", "epoch", "iter"})
      stop = std::min(stop, std::min(folded.find(other, end), folded.size()));
    const std::size_t start = at > 20 ? at - 20 : 0;
    find_memory(start, at);
    if (memory < 0) find_memory(end, stop);
    if (memory < 0) continue;
    if (step > last_step && memory > last_memory) {
      if (count == 0) {
        begin = start;
        first_memory = memory;
      }
      ++count;
    } else {
      count = 1;
      begin = start;
      first_memory = memory;
    }
    last_step = step;
    last_memory = memory;
    // A tenth more: a peak that only settles is no growth.
    if (count >= 3 && memory > 1.1 * first_memory)
      return first_bytes(folded.substr(begin, end + near - begin), 100);
  }
  return "";
}

// "transformers 4.46.3 runs, 4.47.0 dies", "从4.52.4升级到4.54.0后": two releases in one sentence and what
// came of the change. A list of what is installed names a library before each.
std::string two_releases(std::string_view folded) {
  constexpr std::size_t longest = 16384, between = 48, around = 120;
  folded = folded.substr(0, longest);
  const auto is_part = [&](std::size_t i) { return ascii::is_digit(folded[i]) || folded[i] == '.'; };
  std::size_t last_begin = 0, last_end = 0;
  bool last = false;
  for (std::size_t i = 0; i < folded.size();) {
    if (!ascii::is_digit(folded[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < folded.size() && is_part(i)) ++i;
    std::size_t end = i;
    while (end > begin && folded[end - 1] == '.') --end;
    const std::string_view number = folded.substr(begin, end - begin);
    // Three parts, or two behind a "v" or a library's name, or next to such: other decimals are sizes.
    const std::string_view before =
        folded.substr(begin > 16 ? begin - 16 : 0, std::min<std::size_t>(begin, 16));
    const std::string_view previous = folded.substr(last_begin, last_end - last_begin);
    const bool named = (begin > 0 && folded[begin - 1] == 'v') ||
                       says_any(before, {"transformers", "torch", "trl ", "peft ", "vllm", "unsloth",
                                         "deepspeed", "accelerate", "version", "axolotl", "swift"}) ||
                       (last && begin - last_end <= between &&
                        number.substr(0, number.find('.')) == previous.substr(0, previous.find('.')));
    const auto parts = std::count(number.begin(), number.end(), '.');
    const bool release = parts >= 2 || (parts == 1 && named);
    if (!release) continue;
    // "4.44.2 was fine": so this one is another.
    if (says_any(folded.substr(end, 28), {" was fine", " worked", " works fine", " is fine", " was ok",
                                          " had no", " does not have", "没问题", "没有问题", "是正常"}) &&
        !says_any(folded.substr(end, 28), {"not work", "n't work"}))
      return first_bytes(folded.substr(begin, end + 28 - begin), 60);
    if (last && begin - last_end <= between) {
      const std::string_view joint = folded.substr(last_end, begin - last_end);
      const bool one_library =
          !says_any(joint, {"\n", "torch", "cuda", "python", "transformers", "peft", "trl", "accelerate",
                            "deepspeed", "vllm", "flash", "bitsandbytes", "ubuntu", "driver", "=="});
      const std::string_view said = sentence_around(folded, last_begin, end - last_begin, around);
      const bool change =
          says_any(said, {"upgrad", "updat", "downgrad", "works", "worked", "fine", "since", "no longer",
                          "but", "while", "oom", "out of mem", "升级", "降级", "正常", "报错", "爆"});
      if (one_library && change && folded.substr(last_begin, last_end - last_begin) != number)
        return first_bytes(said, 100);
    }
    last = true;
    last_begin = begin;
    last_end = end;
  }
  return "";
}

}  // namespace

std::string growth_in_words(std::string_view folded) {
  if (std::string rise = rises_from_to(folded); !rise.empty()) return rise;
  if (std::string series = rising_series(folded); !series.empty()) return series;
  constexpr std::size_t reach = 80, most_places = 200;
  struct Tongue {
    Words memory, rises, steadily;
  };
  static const Tongue tongues[] = {
      {{"memory", "vram", "gpu usage", "ram usage"},
       {"increas",
        "grow",
        "rising",
        "rises",
        "climb",
        "creep",
        "accumulat",
        "goes up",
        "going up",
        "go up",
        "builds up",
        "piles up",
        "ramps up",
        "getting bigger",
        "get bigger",
        "getting larger",
        "bigger and bigger",
        "larger and larger",
        "more and more",
        "higher and higher"},
       {"continu",
        "gradual",
        "steadi",
        "slowly",
        "keeps",
        "keep ",
        "until",
        "every step",
        "each step",
        "every batch",
        "every epoch",
        "with the step",
        "with each",
        "with every",
        "over time",
        "constantly",
        "the longer",
        "never comes down",
        "never goes down",
        "not go down",
        "n't go down",
        "bit by bit",
        "little by little",
        "during training",
        "throughout",
        "as training",
        "with time",
        "step by step",
        "over steps",
        "progress",
        "from the first step"}},
      {{"显存", "内存", "gpu", "占用"},
       {"增", "涨", "上升", "升高", "变大", "飙", "变高", "累积", "多占", "越占越多"},
       {"一直",     "不断",     "持续", "控制不住", "不受控",     "疯狂",      "一路", "越来越",
        "逐渐",     "慢慢",     "无限", "缓慢",     "每训练一步", "每个epoch", "每轮", "每一轮",
        "每跑一步", "每过一步", "每步", "每个step", "逐步",       "每一步",    "剧烈", "直到"}}};
  for (const Tongue& one : tongues) {
    for (const std::string_view memory : one.memory) {
      std::size_t places = 0;
      for (std::size_t at = folded.find(memory); at != std::string_view::npos && places < most_places;
           at = folded.find(memory, at + 3)) {
        ++places;
        const std::string_view said = sentence_around(folded, at, memory.size(), reach);
        if (says_any(said, one.rises) && says_any(said, one.steadily)) return first_bytes(said, 100);
      }
    }
  }
  return "";
}

std::string other_release_in_words(std::string_view folded) {
  // "worked with 4.46 and fails since 4.47", "从4.52升级到4.54后报错": a change of release and a change for
  // the worse.
  if (std::string said = said_together(folded,
                                       {"upgraded", "upgrading", "updated to", "updating to", "newer version",
                                        "new version", "升级", "更新"},
                                       {"oom", "out of mem", "no longer", "not any more", "anymore", "fails",
                                        "crash", "爆", "报错", "不够", "溢出"},
                                       90, {"please upgrad", "try upgrad", "still"});
      !said.empty())
    return said;
  if (std::string said = two_releases(folded); !said.empty()) return said;
  for (const std::string_view verb :
       {"switched to", "switching to", "switch to", "downgrad", "rolled back", "rolling back", "roll back",
        "reverted", "reverting", "revert to", "went back to", "going back to", "go back to"}) {
    for (std::size_t at = folded.find(verb); at != std::string_view::npos; at = folded.find(verb, at + 4)) {
      const std::string_view rest = rest_of_sentence(folded, at, 140);
      const std::size_t release =
          first_of(rest, {"torch", "transformers", "peft", "trl", "accelerate", "deepspeed", "bitsandbytes",
                          "unsloth", "xformers", "cuda", "version", "commit"});
      // "going back to 0.10": a release without its library's name
      const std::string_view number = rest.substr(verb.size(), 8);
      const std::size_t dot = number.find('.');
      const bool numbered = dot != std::string_view::npos && dot > 0 && dot + 1 < number.size() &&
                            ascii::is_digit(number[dot - 1]) && ascii::is_digit(number[dot + 1]);
      const bool helped = first_of(rest, {"work", "normal", "fine", "fix", "solv", "disappear", "no problem",
                                          "no oom", "can run", "runs"}) != std::string_view::npos;
      if (((release != std::string_view::npos && release < 40) || numbered) && helped &&
          first_of(rest, {"not work", "n't work", "still"}) == std::string_view::npos)
        return std::string(rest.substr(0, 80));
    }
  }
  return "";
}

}  // namespace plimsoll::diagnosis
