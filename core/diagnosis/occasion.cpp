#include "core/diagnosis/occasion.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

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
       {"checkpointing", "write", "writes", "writing", "gathers", "gathering"},
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
  if (kind == Occasion::load) return is_one_of(word, {"trying", "failed", "fails", "cannot"});
  if (kind == Occasion::evaluate && is_one_of(word, {"after", "in", "only", "enabling"})) return true;
  if (kind == Occasion::resume && is_one_of(word, {"if", "trying", "try", "tried", "after"})) return true;
  return kind == Occasion::save && is_one_of(word, {"tries", "trying", "try", "once", "before"});
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
    for (std::size_t back = 1; back <= reach && back <= i && !tokens[i - back].ends; ++back) {
      if (!opens(word(i - back), wanted)) continue;
      const std::size_t from = tokens[i - back].at;
      return {wanted, std::string(text.substr(from, tokens[i].at + tokens[i].size - from))};
    }
  }
  return {};
}

// "保存模型时", "加载模型的时候", "评估阶段": the verb, and at most eight characters to a word of time.
Said in_chinese(std::string_view text, Occasion wanted) {
  struct Zh {
    Occasion kind;
    std::string_view verb;
  };
  static constexpr Zh verbs[] = {
      {Occasion::save, "保存"},     {Occasion::save, "存模型"}, {Occasion::resume, "恢复"},
      {Occasion::resume, "续训"},   {Occasion::resume, "断点"}, {Occasion::evaluate, "评估"},
      {Occasion::evaluate, "验证"}, {Occasion::merge, "合并"},  {Occasion::load, "加载"}};
  static constexpr std::string_view times[] = {"时", "阶段", "过程", "期间", "的瞬间"};
  constexpr std::size_t near = 27;  // nine characters of three bytes
  for (const Zh& one : verbs) {
    if (one.kind != wanted) continue;
    for (std::size_t at = text.find(one.verb); at != std::string_view::npos;
         at = text.find(one.verb, at + 3)) {
      const std::size_t from = at + one.verb.size();
      std::string_view behind = text.substr(from, near);
      for (const std::string_view stop : {"\n", "，", "。", ","})
        behind = behind.substr(0, behind.find(stop));
      for (const std::string_view time : times) {
        const std::size_t found = behind.find(time);
        if (found == std::string_view::npos) continue;
        return {wanted, std::string(text.substr(at, from + found + time.size() - at))};
      }
    }
  }
  return {};
}

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

}  // namespace

std::string growth_in_words(std::string_view folded) {
  for (const std::string_view memory : {"memory", "vram", "gpu usage", "ram usage"}) {
    for (std::size_t at = folded.find(memory); at != std::string_view::npos;
         at = folded.find(memory, at + 4)) {
      const std::string_view rest = rest_of_sentence(folded, at, 80);
      const std::size_t verb =
          first_of(rest, {"increas", "grow", "rising", "rises", "climb", "creep", "accumulat"});
      if (verb == std::string_view::npos) continue;
      if (first_of(rest, {"continu", "gradual", "steadi", "slowly", "keeps", "keep ", "until", "every step",
                          "each step", "with the step", "with each", "with every", "over time", "constantly",
                          "step by step", "over steps"}) == std::string_view::npos) {
        continue;
      }
      return std::string(rest);
    }
  }
  return "";
}

std::string other_release_in_words(std::string_view folded) {
  for (const std::string_view verb :
       {"switched to", "switching to", "switch to", "downgrad", "rolled back", "rolling back", "roll back",
        "reverted", "reverting", "revert to", "went back to"}) {
    for (std::size_t at = folded.find(verb); at != std::string_view::npos; at = folded.find(verb, at + 4)) {
      const std::string_view rest = rest_of_sentence(folded, at, 140);
      const std::size_t release =
          first_of(rest, {"torch", "transformers", "peft", "trl", "accelerate", "deepspeed", "bitsandbytes",
                          "unsloth", "xformers", "cuda", "version", "commit"});
      const bool helped = first_of(rest, {"work", "normal", "fine", "fix", "solv", "disappear", "no problem",
                                          "no oom", "can run", "runs"}) != std::string_view::npos;
      if (release != std::string_view::npos && release < 40 && helped &&
          first_of(rest, {"not work", "n't work", "still"}) == std::string_view::npos)
        return std::string(rest.substr(0, 80));
    }
  }
  return "";
}

Said occasion_in_words(std::string_view folded) {
  for (const Occasion kind :
       {Occasion::save, Occasion::resume, Occasion::evaluate, Occasion::merge, Occasion::load}) {
    Said found = in_english(folded, kind);
    if (found.kind == Occasion::none) found = in_chinese(folded, kind);
    if (found.kind != Occasion::none) return found;
  }
  return {};
}

}  // namespace plimsoll::diagnosis
