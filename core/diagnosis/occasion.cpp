#include "core/diagnosis/occasion.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "core/diagnosis/sentence.h"
#include "core/diagnosis/text.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using Words = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view word, Words words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Verb {
  Occasion kind;
  Words forms;    ///< the verb itself
  Words objects;  ///< what it must be said of, within three words; none: anything
};

const Verb* verb_of(std::string_view word) {
  static const Verb verbs[] = {
      {Occasion::save, {"save", "saves", "saved", "saving"}, {}},
      {Occasion::save,
       {"checkpointing", "write", "writes", "writing", "gathers", "gathering", "create", "creates",
        "creating"},
       {"checkpoint", "checkpoints", "ckpt", "state_dict", "state"}},
      {Occasion::resume,
       {"resume", "resumes", "resumed", "resuming", "restoring", "restore", "restart", "restarting"},
       {}},
      {Occasion::resume,
       {"load", "loads", "loading", "train", "training", "continue", "continuing", "start"},
       {"checkpoint", "ckpt", "checkpoints"}},
      {Occasion::evaluate,
       {"evaluate", "evaluates", "evaluating", "evaluation", "eval", "validation", "validate", "validating",
        "validates", "predicting"},
       {}},
      {Occasion::merge,
       {"merge", "merges", "merging", "merged"},
       {"lora", "adapter", "adapters", "model", "weights", "peft"}},
      {Occasion::load, {"load", "loads", "loading", "initializing", "initialization", "initialisation"}, {}},
  };
  for (const Verb& verb : verbs) {
    if (is_one_of(word, verb.forms)) return &verb;
  }
  return nullptr;
}

struct Token {
  std::size_t at = 0, size = 0;
  bool ends = false;  ///< a sentence ends behind it
};

// Words of letters, figures and lines; what stands between them ends a sentence or does not.
std::vector<Token> tokens_of(std::string_view text) {
  constexpr std::size_t longest = 16384;
  text = text.substr(0, longest);
  std::vector<Token> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto in_word = [&](std::size_t i) {
      const char c = text[i];
      return ascii::is_lower(c) || ascii::is_digit(c) || c == '_' || c == '\'';
    };
    if (!in_word(at)) {
      const bool stop = text[at] == '\n' || text[at] == ';' || text[at] == '?' || text[at] == '!' ||
                        (text[at] == '.' && (at + 1 >= text.size() || text[at + 1] == ' '));
      if (stop && !out.empty()) out.back().ends = true;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && in_word(end)) ++end;
    out.push_back({at, end - at, false});
    at = end;
  }
  return out;
}

// "to save memory", "save some VRAM" is no save.
bool saves_memory(std::string_view text, const std::vector<Token>& tokens, std::size_t verb) {
  for (std::size_t i = verb + 1; i < tokens.size() && i <= verb + 3 && !tokens[i - 1].ends; ++i) {
    if (is_one_of(text.substr(tokens[i].at, tokens[i].size),
                  {"memory", "vram", "ram", "gpu", "space", "time", "money", "resources"}))
      return true;
  }
  return false;
}

bool speaks_of(std::string_view text, const std::vector<Token>& tokens, std::size_t verb, Words objects) {
  if (objects.size() == 0) return true;
  for (std::size_t i = verb + 1; i < tokens.size() && i <= verb + 5 && !tokens[i - 1].ends; ++i) {
    if (is_one_of(text.substr(tokens[i].at, tokens[i].size), objects)) return true;
  }
  return false;
}

// Of loading, what comes behind it is no part: "after loading the model, training dies".
bool opens(std::string_view word, Occasion kind) {
  if (is_one_of(word, {"when", "while", "during", "whenever", "upon", "at"})) return true;
  if (kind == Occasion::load) return is_one_of(word, {"trying", "tries", "failed", "fails", "cannot"});
  if (kind == Occasion::evaluate && is_one_of(word, {"after", "in", "only", "enabling"})) return true;
  if (kind == Occasion::resume && is_one_of(word, {"if", "trying", "try", "tried", "after"})) return true;
  return kind == Occasion::save && is_one_of(word, {"tries", "trying", "try", "once", "before", "after"});
}

// "Saving every 100 steps causes an OOM", "evaluation fails with OOM": the occasion is what does it.
bool ends_in_failure(std::string_view text, const std::vector<Token>& tokens, std::size_t verb) {
  constexpr std::size_t reach = 8;
  for (std::size_t i = verb + 1; i < tokens.size() && i <= verb + reach && !tokens[i - 1].ends; ++i) {
    if (is_one_of(text.substr(tokens[i].at, tokens[i].size),
                  {"cause", "causes", "caused", "causing", "leads", "results", "triggers", "ooms", "crash",
                   "crashes", "fails", "failing"}))
      return true;
  }
  return false;
}

Said in_english(std::string_view text, Occasion wanted) {
  const std::vector<Token> tokens = tokens_of(text);
  const auto word = [&](std::size_t i) { return text.substr(tokens[i].at, tokens[i].size); };
  constexpr std::size_t reach = 5;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Verb* verb = verb_of(word(i));
    // "loading a checkpoint" is a resume, "loading the model" is not.
    if (verb != nullptr && verb->kind == Occasion::resume && !speaks_of(text, tokens, i, verb->objects) &&
        is_one_of(word(i), {"load", "loads", "loading"})) {
      static const Verb loads = {Occasion::load, {}, {}};
      verb = &loads;
    }
    if (verb == nullptr || verb->kind != wanted || !speaks_of(text, tokens, i, verb->objects)) continue;
    if (wanted == Occasion::save && saves_memory(text, tokens, i)) continue;
    if (in_setting(text, tokens[i].at)) continue;
    if (ends_in_failure(text, tokens, i))
      return {wanted, std::string(sentence_around(text, tokens[i].at, tokens[i].size, 40))};
    for (std::size_t back = 1; back <= reach && back <= i && !tokens[i - back].ends; ++back) {
      if (!opens(word(i - back), wanted)) continue;
      const std::size_t from = tokens[i - back].at;
      return {wanted, std::string(text.substr(from, tokens[i].at + tokens[i].size - from))};
    }
  }
  return {};
}

// "保存模型时", "加载模型的时候", "进行eval的时候", "一到评估就": the verb, and at most nine characters to a
// word of time behind it, or a word of arriving before it.
Said in_chinese(std::string_view text, Occasion wanted) {
  struct Zh {
    Occasion kind;
    std::string_view verb;
  };
  static constexpr Zh verbs[] = {
      {Occasion::save, "保存"},     {Occasion::save, "存模型"},   {Occasion::save, "save"},
      {Occasion::resume, "恢复"},   {Occasion::resume, "续训"},   {Occasion::resume, "断点"},
      {Occasion::resume, "resume"}, {Occasion::evaluate, "评估"}, {Occasion::evaluate, "验证"},
      {Occasion::evaluate, "测评"}, {Occasion::evaluate, "评测"}, {Occasion::evaluate, "预测"},
      {Occasion::evaluate, "eval"}, {Occasion::merge, "合并"},    {Occasion::merge, "merge"},
      {Occasion::load, "加载"},     {Occasion::load, "载入"},     {Occasion::load, "读取"},
      {Occasion::load, "load"}};
  static constexpr std::string_view times[] = {"时", "阶段", "过程", "期间", "的瞬间", "就", "后"};
  static constexpr std::string_view arrivals[] = {"一到", "每到", "每次", "到了",
                                                  "一旦", "进入", "卡在", "跑到"};
  constexpr std::size_t near = 27;  // nine characters of three bytes
  // What is behind loading comes after it; "读取预训练模型出的错" says the failure itself.
  const auto is_chinese = [](std::string_view part) {
    return std::any_of(part.begin(), part.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; });
  };
  for (const Zh& one : verbs) {
    if (one.kind != wanted) continue;
    for (std::size_t at = text.find(one.verb); at != std::string_view::npos;
         at = text.find(one.verb, at + 3)) {
      // "load" is no part of "offload"
      if (in_setting(text, at) ||
          (at > 0 && ascii::is_lower(one.verb.front()) && ascii::is_lower(text[at - 1])))
        continue;
      const std::size_t from = at + one.verb.size();
      std::string_view behind = text.substr(from, near);
      for (const std::string_view stop : {"\n", "，", "。", ","})
        behind = behind.substr(0, behind.find(stop));
      const std::string_view ahead = sentence_around(text, at, 0, 18);
      const std::string_view before =
          ahead.substr(0, static_cast<std::size_t>(text.data() + at - ahead.data()));
      for (const std::string_view arrival : arrivals) {
        if (before.find(arrival) != std::string_view::npos)
          return {wanted, std::string(before) + std::string(one.verb)};
      }
      for (const std::string_view time : times) {
        const std::size_t found = behind.find(time);
        const bool early = time == "后" && (wanted == Occasion::load || wanted == Occasion::merge);
        if (found == std::string_view::npos || early || !is_chinese(behind.substr(0, found + time.size())))
          continue;
        // "保存每个batch的梯度": the backward pass keeps it, no file
        if (wanted == Occasion::save && says_any(behind.substr(0, found), {"梯度", "激活", "中间"})) continue;
        return {wanted, std::string(text.substr(at, from + found + time.size() - at))};
      }
      if (wanted == Occasion::load && says_any(behind, {"出的错", "报错", "失败"}))
        return {wanted, std::string(text.substr(at, from + behind.size() - at))};
    }
  }
  return {};
}

}  // namespace

bool measures_a_finished_model(std::string_view folded) {
  return says_any(folded, {"lmms-eval", "lmms_eval", "lmmseval", "lm_eval", "lm-eval", "evaluation harness",
                           "vlmevalkit", "opencompass", "evalscope"});
}

Said occasion_in_words(std::string_view folded) {
  const bool measures = measures_a_finished_model(folded);
  for (const Occasion kind :
       {Occasion::save, Occasion::resume, Occasion::evaluate, Occasion::merge, Occasion::load}) {
    if (measures && kind == Occasion::evaluate) continue;
    Said found = in_english(folded, kind);
    if (found.kind == Occasion::none) found = in_chinese(folded, kind);
    if (found.kind != Occasion::none) return found;
  }
  return {};
}

}  // namespace plimsoll::diagnosis
