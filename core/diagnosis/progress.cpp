#include "core/diagnosis/progress.h"

#include <algorithm>

#include "core/diagnosis/sentence.h"
#include "core/diagnosis/text.h"
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

// "around ~280 step", "fine for 553 steps", "after training for ~120+ steps": the number and its unit.
std::string counted_steps(std::string_view text) {
  for (const std::string_view unit : {" step", " iteration", " iters", " batches", " samples"}) {
    for (std::size_t at = text.find(unit); at != std::string_view::npos;
         at = text.find(unit, at + unit.size())) {
      std::size_t digits = at;
      while (digits > 0 && (text[digits - 1] == '+' || text[digits - 1] == 'k')) --digits;
      std::size_t begin = digits;
      double count = 0;
      while (begin > 0 && is_digit(text[begin - 1]) && digits - begin < 7) --begin;
      for (std::size_t i = begin; i < digits; ++i) count = count * 10 + (text[i] - '0');
      if (begin == digits || (count < 20 && text[digits] != 'k') || in_setting(text, at)) continue;
      std::size_t end = begin;
      while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '~')) --end;
      const std::string_view before = text.substr(0, end);
      for (const std::string_view word :
           {"around",  "about",    "after",   "until",    "till",       "approximately", "roughly", "reaches",
            "reached", "fine for", "ran for", "runs for", "well for",   "maybe",         "nearly",  "almost",
            "past",    "over",     "ok for",  "okay for", "stable for", "works for"}) {
        if (before.ends_with(word)) return std::string(text.substr(begin, at + unit.size() - begin));
      }
    }
  }
  return "";
}

// "进行到30step左右时", "跑完三四百个样本就", "到10%就会": a number and its unit, and a word of time behind
// it; "跑起来一阵子".
std::string steps_in_chinese(std::string_view text) {
  constexpr std::string_view units[] = {"step",   "步",     "epoch",   "轮",     "小时", "分钟", "个样本",
                                        "条样本", "条数据", "个batch", "个iter", "iter", "%"};
  constexpr std::string_view numbers[] = {"几", "多", "百", "千", "数", "十", "个", "半"};
  constexpr std::string_view times[] = {"后", "左右", "就", "时", "爆", "以后", "oom"};
  constexpr std::size_t near = 15;
  for (const std::string_view unit : units) {
    for (std::size_t at = text.find(unit); at != std::string_view::npos;
         at = text.find(unit, at + unit.size())) {
      std::size_t end = at;
      while (end > 0 && text[end - 1] == ' ') --end;
      std::size_t begin = end;
      while (begin > 0 && is_digit(text[begin - 1]) && end - begin < 7) --begin;
      const std::string_view number = text.substr(begin, end - begin);
      if (text.substr(0, begin).ends_with("第一") || text.substr(0, begin).ends_with("第一个")) continue;
      bool counted = !number.empty() && number != "1" && number != "0" && number != "100";
      for (const std::string_view word : numbers)
        counted = counted || (begin == end && text.substr(0, end).ends_with(word));
      std::string_view behind = text.substr(at + unit.size(), near);
      for (const std::string_view stop : {"\n", "，", "。"}) behind = behind.substr(0, behind.find(stop));
      bool timed = false;
      for (const std::string_view time : times) timed = timed || behind.find(time) != std::string_view::npos;
      const bool chinese = !behind.empty() && std::any_of(behind.begin(), behind.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0x80U) != 0;
      });
      if (counted && timed && chinese && !in_setting(text, at))
        return std::string(text.substr(begin, at + unit.size() - begin));
    }
  }
  return said_together(text, {"一阵子", "一段时间", "一会", "一阵"}, {"训练", "跑", "微调", "运行"}, 36);
}

// "after nearly a day of training the error came", "训练了一晚上就爆了": a time that a run takes to come far.
std::string time_of_training(std::string_view text) {
  return said_together(
      text, {"a day",   "one day", "days",  "overnight",      "all night",  "one night",   "hours",
             "an hour", "a week",  "weeks", "several epochs", "few epochs", "some epochs", "一天",
             "几天",    "两天",    "一晚",  "一夜",           "小时",       "几轮"},
      {"trained", "training", "ran ", "running", "runs", "oom", "out of mem", "crash", "dies", "died",
       "fails", "error", "爆", "训练", "跑"},
      64, {" ago",      "takes", "took",     "would take", "need",  "eta",    "estimated", "cost",
           "per epoch", "every", "for days", "reply",      "debug", "trying", "tried",     "days old",
           "24 hours",  "spent", "last ",    "few days",   "需要",  "预计"});
}

// "0.35 epoch", "at epoch 3", "at 57%": somewhere in the middle.
std::string part_of_a_run(std::string_view text) {
  for (std::size_t at = text.find("epoch"); at != std::string_view::npos; at = text.find("epoch", at + 5)) {
    if (in_setting(text, at)) continue;
    std::size_t end = at;
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '-')) --end;
    std::size_t begin = end;
    while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.') && end - begin < 6) --begin;
    const std::string_view number = text.substr(begin, end - begin);
    if (number.find('.') != std::string_view::npos && number.size() >= 3 && is_digit(number.front()))
      return std::string(text.substr(begin, at + 5 - begin));
    const std::string_view before = text.substr(at > 10 ? at - 10 : 0, std::min<std::size_t>(at, 10));
    const std::string_view behind = text.substr(at + 5, 3);
    const bool moment = before.ends_with("at ") || before.ends_with("in ") || before.ends_with("during ");
    if (moment && behind.size() >= 2 && behind[0] == ' ' && is_digit(behind[1]) &&
        (behind[1] >= '2' || (behind.size() == 3 && is_digit(behind[2]))))
      return std::string(text.substr(at, 7));
  }
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    std::size_t begin = at;
    double share = 0;
    while (begin > 0 && is_digit(text[begin - 1]) && at - begin < 3) --begin;
    for (std::size_t i = begin; i < at; ++i) share = share * 10 + (text[i] - '0');
    if (begin == at || share < 2 || share > 98) continue;
    const std::string_view before =
        text.substr(begin > 48 ? begin - 48 : 0, std::min<std::size_t>(begin, 48));
    const std::string_view sentence = before.substr(before.find_last_of("\n.") + 1);
    const bool moment = sentence.ends_with(" at ") || sentence.ends_with("around ") ||
                        sentence.ends_with("about ") || sentence.ends_with("reaches ") ||
                        sentence.ends_with("reached ") || sentence.ends_with("until ") ||
                        sentence.ends_with("after ");
    const std::string_view rest = text.substr(at + 1, 24);
    // "out of memory around 40%" is no share of memory
    const bool of_memory = (says_any(sentence, {"memory", "vram", "gpu", "util", "ram", "usage", "load"}) &&
                            !says_any(sentence, {"out of mem", "out-of-mem", "oom"})) ||
                           says_any(rest, {"memory", "vram", "gpu", "util", "usage", "of the card"});
    if (moment && !of_memory) return std::string(text.substr(begin, at + 1 - begin));
  }
  return "";
}

// "out of memory at 2,350/9,000": how far of how many.
std::string so_far_of_all(std::string_view text) {
  for (std::size_t slash = text.find('/'); slash != std::string_view::npos;
       slash = text.find('/', slash + 1)) {
    const auto counts = [](char c) { return is_digit(c) || c == ','; };
    std::size_t begin = slash, end = slash + 1;
    double step = 0, all = 0;
    while (begin > 0 && counts(text[begin - 1]) && slash - begin < 9) --begin;
    for (; end < text.size() && counts(text[end]) && end - slash < 10; ++end) {
      if (text[end] != ',') all = all * 10 + (text[end] - '0');
    }
    for (std::size_t i = begin; i < slash; ++i) {
      if (text[i] != ',') step = step * 10 + (text[i] - '0');
    }
    const std::string_view before = text.substr(0, begin);
    const bool moment = before.ends_with(" at ") || before.ends_with("around ") ||
                        before.ends_with("after ") || before.ends_with("step ") || before.ends_with("batch ");
    if (moment && step >= 20 && step < all && end < text.size() + 1)
      return std::string(text.substr(begin, end - begin));
  }
  return "";
}

// "dies 200 steps in", not "I follow the steps in the guide".
bool dies_steps_in(std::string_view text) {
  constexpr std::string_view words = " steps in";
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + words.size())) {
    if (at > 0 && is_digit(text[at - 1])) return true;
  }
  return false;
}

}  // namespace

std::string progress_in_words(std::string_view text) {
  for (const std::string_view word : {"step", "iteration", "iter"}) {
    if (const std::string step = numbered_step(text, word); !step.empty())
      return "It died at step " + step + ", so most batches fit.";
  }
  if (const std::string bar = step_of_a_bar(text); !bar.empty())
    return "The progress bar stands at " + bar + ", so most batches fit.";
  // Two lines of a log of losses: steps had passed.
  if (const std::size_t one = text.find("{'loss':");
      one != std::string_view::npos && text.find("{'loss':", one + 1) != std::string_view::npos)
    return "Losses were logged before it died, so most batches fit.";
  if (dies_steps_in(text)) return "It ran for a while before it died (\"steps in\").";
  for (const std::string& steps : {counted_steps(text), steps_in_chinese(text), part_of_a_run(text),
                                   time_of_training(text), so_far_of_all(text)}) {
    if (!steps.empty()) return "It ran for a while before it died (\"" + steps + "\").";
  }
  return "";
}

}  // namespace plimsoll::diagnosis
