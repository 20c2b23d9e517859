#include "core/diagnosis/moment.h"

#include <algorithm>
#include <utility>

#include "core/diagnosis/occasion.h"
#include "core/diagnosis/troubles.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;
using ascii::is_lower;

struct SaidPhase {
  std::string_view words;
  Phase phase;
};

// The first that is found decides: what happens seldom (a save, an evaluation) before what happens always.
constexpr SaidPhase said[] = {
    {"when resuming", Phase::load},
    {"after resuming", Phase::load},
    {"on resume", Phase::load},
    {"to resume training", Phase::load},
    {"resume the training", Phase::load},
    {"resuming from", Phase::load},
    {"init_from=resume", Phase::load},
    {"restoring checkpoint", Phase::load},
    {"loading optimizer state", Phase::load},
    {"when saving", Phase::save},
    {"when i saved", Phase::save},
    {"while saving", Phase::save},
    {"during saving", Phase::save},
    {"during checkpoint saving", Phase::save},
    {"tries to save", Phase::save},
    {"on save steps", Phase::save},
    {"checkpoint gets created", Phase::save},
    {"during ckpt saving", Phase::save},
    {"saving the final", Phase::save},
    {"saving the model", Phase::save},
    {"after the last epoch", Phase::save},
    {"training finished", Phase::save},
    {"training was finished", Phase::save},
    {"保存模型时", Phase::save},
    {"保存checkpoint", Phase::save},
    {"evaluation phase", Phase::eval},
    {"during the first eval", Phase::eval},
    {"evaluation step", Phase::eval},
    {"eval step", Phase::eval},
    {"validation fails", Phase::eval},
    {"validation step", Phase::eval},
    {"evaluating process", Phase::eval},
    {"validate() phase", Phase::eval},
    {"`validate()`", Phase::eval},
    {"during the eval", Phase::eval},
    {"eval阶段", Phase::eval},
    {"eval 阶段", Phase::eval},
    {"eval时", Phase::eval},
    {"validation phase", Phase::eval},
    {"during eval", Phase::eval},
    {"during validation", Phase::eval},
    {"in evaluation", Phase::eval},
    {"while evaluating", Phase::eval},
    {"when evaluating", Phase::eval},
    {"evaluate时", Phase::eval},
    {"评估时", Phase::eval},
    {"验证时", Phase::eval},
    {"评估阶段", Phase::eval},
    {"验证阶段", Phase::eval},
    {"during generation", Phase::generate},
    {"while generating", Phase::generate},
    {"during rollout", Phase::generate},
    {"during inference", Phase::generate},
    {"while doing inference", Phase::generate},
    {"when i run inference", Phase::generate},
    {"when i run an inference", Phase::generate},
    {"when running inference", Phase::generate},
    {"while running inference", Phase::generate},
    {"when doing inference", Phase::generate},
    {"推理时", Phase::generate},
    {"推理的时候", Phase::generate},
    {"while merging", Phase::merge},
    {"when merging", Phase::merge},
    {"合并模型", Phase::merge},
    {"合并lora", Phase::merge},
    {"合并 lora", Phase::merge},
    {"lora merge", Phase::merge},
    {"lora合并", Phase::merge},
    {"合并的时候", Phase::merge},
    {"llamafactory-cli export", Phase::merge},
    {"in rollout", Phase::generate},
    {"rollout阶段", Phase::generate},
    {"during backward", Phase::backward},
    {"in the backward", Phase::backward},
    {"backward pass fails", Phase::backward},
    {"at the optimizer step", Phase::optimizer},
    {"during optimizer step", Phase::optimizer},
    {"in optimizer.step", Phase::optimizer},
    {"更新参数", Phase::optimizer},
    {"参数更新", Phase::optimizer},
    {"优化器更新", Phase::optimizer},
    {"while loading", Phase::load},
    {"when loading the model", Phase::load},
    {"can not load the model", Phase::load},
    {"cannot load the model", Phase::load},
    {"can't load the model", Phase::load},
    {"unable to load the model", Phase::load},
    {"fails to load the model", Phase::load},
    {"failed to load the model", Phase::load},
    {"when loading model", Phase::load},
    {"loading the base model", Phase::load},
    {"模型加载阶段", Phase::load},
    {"加载模型的时候", Phase::load},
    {"加载模型就", Phase::load},
    {"during model loading", Phase::load},
    {"trainer init", Phase::load},
    {"before initializing optimizer states", Phase::load},  // DeepSpeed's see_memory_usage
    {"加载模型时", Phase::load},
    {"模型加载时", Phase::load},
};

// A remark that begins with the name of a phase: "loss after the first evaluation".
constexpr SaidPhase names[] = {{"loss ", Phase::loss},       {"backward ", Phase::backward},
                               {"forward ", Phase::forward}, {"optimizer ", Phase::optimizer},
                               {"loading ", Phase::load},    {"saving ", Phase::save},
                               {"save ", Phase::save},       {"checkpoint at ", Phase::save}};

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// "shard 18 of 19", "checkpoint shards: 18/19".
bool counts_shards(std::string_view text) {
  const std::size_t at = text.find("shard ");
  if (at == std::string_view::npos || at + 6 >= text.size() || !is_digit(text[at + 6])) return false;
  return text.substr(at, 16).find(" of ") != std::string_view::npos;
}

constexpr std::string_view step_units[] = {"step",   "batch", "iteration", "iter",   "hour",
                                           "minute", "epoch", "sample",    "example"};

// The word at `at`, and where it ends.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && std::string_view(" \n,.:;)\"").find(text[end]) == std::string_view::npos) ++end;
  return text.substr(at, end - at);
}

bool is_unit(std::string_view word) {
  return std::any_of(std::begin(step_units), std::end(step_units), [&](std::string_view unit) {
    return word.substr(0, unit.size()) == unit && word.size() <= unit.size() + 2;
  });
}
bool is_one(std::string_view word) {
  return word == "first" || word == "1st" || word == "1" || word == "one";
}

// "after" and at most six words to a unit of time: the words, and whether the first or one unit is meant.
struct After {
  std::string words;
  bool first = false;
};
After after(std::string_view text) {
  After out;
  for (std::size_t at = text.find("after "); at != std::string_view::npos; at = text.find("after ", at + 6)) {
    if (at > 0 && is_lower(text[at - 1])) continue;
    bool one = false;
    std::size_t next = at + 6;
    for (int count = 0; count < 7 && next < text.size(); ++count) {
      const std::string_view word = word_at(text, next);
      // "after about 3h", "after 40min", "after 15% of it"
      const bool timed = word.size() >= 2 && is_digit(word.front()) &&
                         (word.back() == 'h' || word.back() == '%' || word.substr(word.size() - 2) == "in");
      if (is_unit(word) || timed) {
        // A first epoch has many steps in it.
        const bool first = one && word.substr(0, 5) != "epoch";
        if (out.words.empty() || !first) out = {std::string(text.substr(at, next + word.size() - at)), first};
        if (!first) return out;
        break;
      }
      one = one || is_one(word);
      next += word.size();
      if (next >= text.size() || text[next] != ' ') break;  // the sentence ends
      ++next;
    }
  }
  return out;
}

}  // namespace

Phase phase_in_words(const Text& text) {
  const std::string_view folded = text.folded_lines;
  for (const SaidPhase& one : said) {
    const std::size_t at = folded.find(one.words);
    if (at == std::string_view::npos) continue;
    if (one.words.find('=') != std::string_view::npos || !in_setting(folded, at)) return one.phase;
  }
  if (counts_shards(folded)) return Phase::load;
  const std::string_view remark = without_blanks(folded);
  const bool short_remark = remark.size() <= 60 && remark.find('\n') == std::string_view::npos;
  for (const SaidPhase& one : names) {
    if (short_remark && remark.substr(0, one.words.size()) == one.words) return one.phase;
  }
  switch (occasion_in_words(folded).kind) {
    case Occasion::save:
      return Phase::save;
    case Occasion::evaluate:
      return Phase::eval;
    case Occasion::merge:
      return Phase::merge;
    case Occasion::resume:
    case Occasion::load:
      return Phase::load;
    case Occasion::none:
      break;
  }
  return phase_of_a_trouble(folded);
}

std::string later_than_the_start(std::string_view folded) {
  for (const std::string_view words :
       {"part way through", "partway through", "mid-epoch", "mid epoch", "middle of the epoch",
        "middle of an epoch", "middle of training", "after training for", "after running for"}) {
    if (folded.find(words) != std::string_view::npos) return std::string(words);
  }
  After found = after(folded);
  return found.first ? std::string() : std::move(found.words);
}

std::string after_the_first_step(std::string_view folded) {
  for (const std::string_view words : {"on the second step", "at the second step", "at step 2,", "at step 2.",
                                       "first step passes", "first step works", "second iteration"}) {
    if (folded.find(words) != std::string_view::npos) return std::string(words);
  }
  After found = after(folded);
  return found.first ? std::move(found.words) : std::string();
}

}  // namespace plimsoll::diagnosis
