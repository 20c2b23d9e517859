#include "core/diagnosis/moment.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/diagnosis/occasion.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

constexpr double most_gpus = 1024;

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

double number_before(std::string_view text, std::size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1]) && end - begin < 5) --begin;
  // "2.1 a100" and "v100" are no counts.
  if (begin == end || (begin > 0 && (is_lower(text[begin - 1]) || text[begin - 1] == '.'))) return 0;
  double value = 0;
  for (std::size_t i = begin; i < end; ++i) value = value * 10 + (text[i] - '0');
  return value;
}
double number_behind(std::string_view text, std::size_t begin) {
  while (begin < text.size() && (text[begin] == ' ' || text[begin] == '=' || text[begin] == ':')) ++begin;
  double value = 0;
  for (std::size_t i = begin; i < text.size() && i < begin + 5 && is_digit(text[i]); ++i)
    value = value * 10 + (text[i] - '0');
  return value;
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

// Whether the number that ends at `end` is a setting's: "batch size 4", "rank=8".
bool counts_another_thing(std::string_view text, std::size_t end) {
  while (end > 0 && is_digit(text[end - 1])) --end;
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == ':')) --end;
  for (const std::string_view word :
       {"size", "bs", "rank", "r", "stage", "zero", "=", "steps", "cuda", "torch"}) {
    if (end >= word.size() && text.substr(end - word.size(), word.size()) == word &&
        (end == word.size() || !is_lower(word.front()) || !is_lower(text[end - word.size() - 1])))
      return true;
  }
  return false;
}

bool says_each(std::string_view behind) {
  return behind.find("each") != std::string_view::npos || behind.find("per ") != std::string_view::npos;
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
  return Phase::unknown;
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

std::optional<double> cards_in_words(const Text& text) {
  const std::string_view folded = text.folded_lines;
  double most = 0;
  for (const std::string_view flag :
       {"--nproc_per_node", "--nproc-per-node", "nproc_per_node=", "--num_gpus", "--num_processes",
        "n_gpus_per_node", "num gpus used =", "num gpus =", "number of gpus", "gpu count"}) {
    for (std::size_t at = folded.find(flag); at != std::string_view::npos; at = folded.find(flag, at + 4))
      most = std::max(most, number_behind(folded, at + flag.size()));
  }
  // "CUDA_VISIBLE_DEVICES=0,1,2,3", DeepSpeed's "--include localhost:4,5,6,7"
  for (const std::string_view list : {"cuda_visible_devices=", "--include localhost:"}) {
    const std::size_t at = folded.find(list);
    if (at == std::string_view::npos) continue;
    double count = 0;
    bool digits = false;
    for (std::size_t i = at + list.size(); i < folded.size() && (is_digit(folded[i]) || folded[i] == ',');
         ++i) {
      if (is_digit(folded[i]) && !digits) ++count;
      digits = is_digit(folded[i]);
    }
    most = std::max(most, count);
  }
  // "多卡": more than one. Counts in words: "四卡", "两张".
  for (const auto& [word, count] : {std::pair<std::string_view, double>{"多卡", 2},
                                    {"多张", 2},
                                    {"双卡", 2},
                                    {"两卡", 2},
                                    {"两张", 2},
                                    {"两块", 2},
                                    {"三张", 3},
                                    {"三卡", 3},
                                    {"四卡", 4},
                                    {"四张", 4},
                                    {"四块", 4},
                                    {"八卡", 8},
                                    {"八张", 8},
                                    {"八块", 8}}) {
    if (folded.find(word) != std::string_view::npos) most = std::max(most, count);
  }
  for (const std::string_view word : {" gpus", " gpu cards"}) {
    for (std::size_t at = folded.find(word); at != std::string_view::npos; at = folded.find(word, at + 4)) {
      double count = number_before(folded, at);
      // "8 nvidia gpus", "four" is left to its reader
      const std::size_t blank = at == 0 ? std::string_view::npos : folded.rfind(' ', at - 1);
      if (count == 0 && blank != std::string_view::npos && is_lower(folded[at - 1]) && at - blank < 9)
        count = number_before(folded, blank);
      if (count <= 64) most = std::max(most, count);
    }
  }
  // "8 x A100", "4*A800", "8卡", "4张3090", "7块40G的显卡", "4 GPUs", "eight-card" is left to its reader.
  for (const std::string_view sign : {"卡", "张", "块"}) {
    for (std::size_t at = folded.find(sign); at != std::string_view::npos; at = folded.find(sign, at + 3)) {
      const double count = number_before(folded, at);
      if (count <= 64) most = std::max(most, count);
    }
  }
  for (const std::string_view card : {"a100", "h100", "a800", "h800", "h20", "v100", "a6000", "3090", "4090",
                                      "rtx", "l40", "a10", "t4", "h200", "mi300"}) {
    for (std::size_t at = folded.find(card); at != std::string_view::npos; at = folded.find(card, at + 2)) {
      std::size_t end = at;
      while (end > 0 && folded[end - 1] == ' ') --end;
      if (end == 0) continue;
      // "8 x a100", "8*a100" and "8 rtx3090"; in "batch size 4, a100" and "size 4 a100" it is another number.
      const bool times = folded[end - 1] == 'x' || folded[end - 1] == '*';
      if (!times && (end == at || !is_digit(folded[end - 1]) || counts_another_thing(folded, end))) continue;
      const double count = number_before(folded, times ? end - 1 : end);
      if (count <= 64) most = std::max(most, count);
    }
  }
  // "4台A800*8", "2机8卡", "2 nodes with 8 GPUs each"
  for (const std::string_view machine : {"台", "机", " nodes", " machines"}) {
    const bool english = machine.front() == ' ';
    for (std::size_t at = folded.find(machine); at != std::string_view::npos;
         at = folded.find(machine, at + 3)) {
      const double machines = number_before(folded, at);
      if (machines < 2 || machines > 64) continue;
      const std::string_view behind = folded.substr(at + machine.size(), 40);
      double each = 0;
      if (const std::size_t cards = behind.find("卡"); !english && cards != std::string_view::npos)
        each = number_before(behind, cards);
      for (const std::string_view times : {"*", " x ", "×"}) {
        const std::size_t sign = behind.find(times);
        if (each == 0 && sign != std::string_view::npos) each = number_behind(behind, sign + times.size());
      }
      const std::size_t gpus = behind.find(" gpus");
      if (each == 0 && english && gpus != std::string_view::npos && says_each(behind.substr(gpus)))
        each = number_before(behind, gpus);
      if (each <= 16) most = std::max(most, machines * each);
    }
  }
  for (const Stream& stream : text.streams) {
    if (stream.rank >= 0) most = std::max(most, static_cast<double>(stream.rank) + 1);
  }
  if (most < 1 || most > most_gpus) return std::nullopt;
  return most;
}

}  // namespace plimsoll::diagnosis
