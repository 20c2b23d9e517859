#include "core/diagnosis/phrases.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "core/diagnosis/moment.h"
#include "core/diagnosis/occasion.h"
#include "core/diagnosis/text.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;
using ascii::is_lower;

void say(std::vector<Evidence>& out, Sign sign, std::string words) {
  out.push_back({sign, std::move(words)});
}

struct Phrase {
  Sign sign;
  const char* words;
  std::initializer_list<std::string_view> any;
};

// Signs of the moment, which the name of a setting ("save_steps: 500") says nothing of.
bool tells_when(Sign sign) {
  return sign == Sign::after_steps || sign == Sign::at_save || sign == Sign::at_resume ||
         sign == Sign::at_evaluation || sign == Sign::after_update || sign == Sign::merging;
}

// "tpu" is no part of "output", nor "wsl" of "newsletter"; "saving the model" may go on.
std::size_t find_said(std::string_view text, std::string_view word, bool no_setting) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool goes_on_before = at > 0 && is_lower(word.front()) && is_lower(text[at - 1]);
    const std::size_t end = at + word.size();
    const bool goes_on =
        word.size() <= 4 && end < text.size() && is_lower(word.back()) && is_lower(text[end]);
    if (!goes_on_before && !goes_on && !(no_setting && in_setting(text, at))) return at;
  }
  return std::string_view::npos;
}

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

char at_or_blank(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : ' '; }

// "Reducing the batch_size didn't help", "changing the batch size from 8 to 4": smaller batches were tried,
// and it fails still. The words; "" elsewhere.
std::string smaller_batch_in_words(std::string_view text) {
  for (const std::string_view name :
       {"batch size", "batch_size", "batchsize", "batch-size", "bsz", "batch"}) {
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 4)) {
      // Within the line, and not far: a paste of one long line is read no slower than one of many.
      const std::string_view ahead = text.substr(at > 48 ? at - 48 : 0, std::min<std::size_t>(at, 48));
      const std::string_view before = ahead.substr(ahead.rfind('\n') + 1);
      const std::string_view rest = text.substr(at, 80);
      const std::string_view behind = rest.substr(0, rest.find('\n'));
      const auto any = [](std::string_view where, std::initializer_list<std::string_view> words) {
        return std::any_of(words.begin(), words.end(),
                           [&](std::string_view word) { return where.find(word) != std::string_view::npos; });
      };
      const bool smaller =
          any(before, {"reduc", "lower", "decreas", "smaller", "changing", "changed", "tried"});
      const bool in_vain = any(behind, {"n't help", "not help", "still", "no effect", "no use", "didn't work",
                                        "doesn't work", "did not work", "same error", "but "}) ||
                           any(before, {"tried every", "even reduc", "even after reduc",
                                        "even with a smaller", "already reduc", "despite reduc"});
      if (smaller && in_vain && !in_setting(text, at)) return std::string(behind.substr(0, 40));
    }
  }
  return "";
}

// "even with a batch size of 1", "batch_size is already 1": the words, where a person says so; "" elsewhere.
std::string one_sample_in_words(std::string_view text) {
  for (const std::string_view name :
       {"batch size", "batch_size", "batchsize", "batch-size", "bsz", "micro-batch", "microbatch"}) {
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 4)) {
      const std::size_t line = text.rfind('\n', at);
      const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
      // A setting of one is no complaint about it.
      const std::string_view before = text.substr(begin, at - begin);
      bool complains = false;
      for (const std::string_view word :
           {"even", "still", "reduc", "already", "lower", "decreas", "tried", "minim", "only", "despite",
            "just", "changed", "即使", "就算", "已经", "哪怕", "调到", "改成", "改为"}) {
        complains = complains || before.find(word) != std::string_view::npos;
      }
      std::size_t end = at + name.size();
      const std::string_view behind = text.substr(end, 24);
      complains = complains || behind.find("already") != std::string_view::npos ||
                  behind.find("reduced") != std::string_view::npos ||
                  behind.find("还是") != std::string_view::npos ||
                  behind.find("也不行") != std::string_view::npos;
      if (!complains || in_setting(text, at)) continue;
      if (const std::size_t from = behind.find(" to 1"); behind.substr(0, 6) == " from " && from < 12)
        end += from;
      while (end < text.size() && end < at + 40 && !is_digit(text[end]) && text[end] != '\n' &&
             text[end] != ',' && text[end] != '.') {
        ++end;
      }
      const bool one =
          end + 1 <= text.size() && text[end] == '1' &&
          !is_digit(text.substr(end + 1, 1) == "." ? at_or_blank(text, end + 2) : at_or_blank(text, end + 1));
      // "batch size 1 sometimes works" is no complaint.
      const std::string_view then = text.substr(std::min(end + 1, text.size()), 36);
      const bool works = then.find("work") != std::string_view::npos &&
                         then.find("n't work") == std::string_view::npos &&
                         then.find("not work") == std::string_view::npos;
      if (one && !works) return std::string(text.substr(at, end + 1 - at));
    }
  }
  return "";
}

}  // namespace

void read_words(const Reading& r, std::vector<Evidence>& out) {
  static const Phrase phrases[] = {
      {Sign::after_steps,
       "It ran for a while before it died, so most batches fit.",
       {"after a few hours",
        "hours of training",
        "after some steps",
        "after several",
        "half way",
        "halfway",
        "in the middle of training",
        "mid-training",
        "after running",
        " of training steps",
        "after many steps",
        "randomly",
        "longest sample",
        "after about",
        "after ~",
        "half of the training",
        "after a while",
        "sudden spike",
        "fine until",
        "well until",
        "certain batch",
        "certain consecutive batch",
        "certain sample",
        "specific batch",
        "particular batch",
        "second epoch",
        "after a certain",
        "训练一段时间",
        "训练一会",
        "训练到一半",
        "步之后",
        "步后",
        "步的时候",
        "跑了一段",
        "跑了几",
        "跑了很久",
        "中途",
        "个样本就",
        "个样本后",
        "跑到一半",
        "训到一半",
        "一半就"}},
      {Sign::at_save,
       "The words place it at a save.",
       {"when saving",
        "while saving",
        "at save",
        "saving the model",
        "saving checkpoint",
        "save checkpoint",
        "save_steps",
        "during save",
        "checkpoint saving",
        "saving the final",
        "saving the checkpoint",
        "saved the model",
        "after the last epoch",
        "training finished",
        "training was finished",
        "saving state",
        "ckpt saving",
        "tries to save",
        "on save steps",
        "model save",
        "checkpoint gets created",
        "saving ckpt",
        "when i save",
        "saved the model",
        "保存模型",
        "保存checkpoint",
        "保存权重"}},
      {Sign::at_resume,
       "The words place it after a resume.",
       {"when resuming",
        "after resuming",
        "resume from checkpoint",
        "resuming from",
        "on resume",
        "resume training",
        "resume the training",
        "resuming training",
        "try to resume",
        "tried to resume",
        "tried resuming",
        "want to resume",
        "resume from a checkpoint",
        "resume takes",
        "when i resume",
        "if i resume",
        "resume the run",
        "restoring from checkpoint",
        "restore from checkpoint",
        "checkpointed pretrained",
        "continue training",
        "继续训练",
        "断点续训",
        "恢复训练",
        "续训"}},
      {Sign::at_evaluation,
       "The words place it in evaluation.",
       {"when evaluating",
        "during eval",
        "evaluation step",
        "eval step",
        "at evaluation",
        "in evaluation",
        "while evaluating",
        "during validation",
        "during the eval",
        "during the first eval",
        "first evaluation",
        "evaluation phase",
        "evaluation loop",
        "validation fails",
        "validation step",
        "validation phase",
        "after validation",
        "after a validation",
        "after evaluation",
        "after eval",
        "evaluating process",
        "validate() phase",
        "`validate()`",
        "crashing on eval",
        "crashes on eval",
        "eval would start",
        "enabling eval",
        "enable eval",
        "turn on eval",
        "evaluate时",
        "验证时",
        "评估时",
        "验证阶段",
        "评估阶段",
        "eval阶段",
        "eval时",
        "eval 阶段",
        "到eval",
        "验证集"}},
      {Sign::after_update,
       "It fitted with another release.",
       {"after updating",
        "after upgrading",
        "just updated",
        "just upgraded",
        "recently updated",
        "recently upgraded",
        "since i updated",
        "after i updated",
        "after i upgraded",
        "since updating",
        "since upgrading",
        "previous version",
        "older version",
        "used to work",
        "until last week",
        "until yesterday",
        "worked last week",
        "worked last month",
        "regression",
        "worked before",
        "worked yesterday",
        "used to fit",
        "used to run",
        "didn't use to",
        "after the update",
        "since the update",
        "after an update",
        "after update",
        "upgrading to ",
        "that worked with",
        "transformers version",
        "change the transformers",
        "旧版本",
        "老版本",
        "降级",
        "回退到",
        "x 正常",
        "x正常",
        "版本正常",
        "版本就正常",
        "版本没问题",
        "换回",
        "since version",
        "change of ver",
        "downgrading",
        "days ago, every",
        "days ago everyth",
        "worked fine until",
        "was working until",
        "更新后",
        "升级后",
        "更新之后",
        "升级之后",
        "以前可以",
        "之前可以"}},
      {Sign::grows,
       "The use grows from step to step.",
       {"memory leak",
        "memory accumulat",
        "is gradually increas",
        "creeps up",
        "keeps growing",
        "keeps increasing",
        "gradually increas",
        "gradually reach",
        "will gradually",
        "gradually grow",
        "gradually fill",
        "无限增加",
        "显存会一直",
        "显存增长",
        "increases over time",
        "grows over",
        "increasing gpu memory",
        "keep increasing",
        "keeps rising",
        "memory increase",
        "memory rises",
        "rises continuously",
        "increasing steadily",
        "continuously increas",
        "slowly increas",
        "steadily increas",
        "memory usage increas",
        "显存一直",
        "显存持续",
        "显存不断",
        "显存逐渐",
        "显存泄漏",
        "显存越来越"}},
      {Sign::one_card_only,
       "One card is full and the others are not.",
       {"其他卡的显存",
        "其它卡的显存",
        "第一张卡",
        "第一张显卡",
        "第一个卡",
        "第一块卡",
        "其余卡",
        "其他卡显存",
        "都在0卡",
        "集中在了0卡",
        "first card is full",
        "first gpu is full",
        "rest are barely used",
        "other gpus are not used",
        "the other gpu is idle",
        "只用了一张",
        "只占用一张",
        "only uses one gpu",
        "only one gpu is used",
        "only using one gpu",
        "other gpus are idle",
        "other gpus are empty"}},
      {Sign::on_wsl, "It runs under WSL.", {"wsl"}},
      {Sign::on_windows, "It runs under Windows.", {"windows", ".exe", "c:\\"}},
      {Sign::merging,
       "Adapters are merged or the model is exported.",
       {"merge/export",    "export_model",  "merge and unload",  "lora merge",
        "merge lora",      "merging lora",  "merge the lora",    "merging the lora",
        "merging adapter", "merge adapter", "merge the adapter", "llamafactory-cli export",
        "swift export",    "merge_lora.py", "合并lora",          "合并 lora",
        "lora合并",        "合并的时候",    "合并权重",          "合并模型",
        "合并 7",          "合并7"}},
      {Sign::vllm_words, "An engine that generates shares the card.", {"vllm", "colocate", "sglang", "verl"}},
      {Sign::old_card,
       "The card has no 8-bit or bf16 kernels.",
       {"p40", "p100", "gtx 10", "pascal", "m60", "k80"}},
      {Sign::low_bit_checkpoint, "The checkpoint is stored in 4 or 8 bits.", {"gpt-oss", "mxfp4", "fp8"}},
      {Sign::says_tpu,
       "It is a TPU.",
       {"tpu", "at the bottom of memory", "memory space hbm", "hbm capacity"}},
  };
  for (const Phrase& phrase : phrases) {
    for (const std::string_view word : phrase.any) {
      const std::size_t at = find_said(r.text.folded_lines, word, tells_when(phrase.sign));
      if (at == std::string::npos) continue;
      say(out, phrase.sign, std::string(phrase.words) + " (\"" + std::string(word) + "\")");
      break;
    }
  }
  // "step 8402 of 39003", "8402/39003 [": a step far beyond the first.
  const std::string_view text = r.text.folded_lines;
  for (std::size_t at = text.find("step "); at != std::string_view::npos; at = text.find("step ", at + 5)) {
    double step = 0;
    std::size_t end = at + 5;
    for (; end < text.size() && end < at + 14 && text[end] >= '0' && text[end] <= '9'; ++end) {
      step = step * 10 + (text[end] - '0');
    }
    if (step < 20) continue;
    say(out, Sign::after_steps,
        "It died at step " + std::string(text.substr(at + 5, end - at - 5)) + ", so most batches fit.");
    break;
  }
  if (const std::string bar = step_of_a_bar(text); !bar.empty())
    say(out, Sign::after_steps, "The progress bar stands at " + bar + ", so most batches fit.");
  // Two lines of a log of losses: steps had passed.
  if (const std::size_t one = text.find("{'loss':");
      one != std::string_view::npos && text.find("{'loss':", one + 1) != std::string_view::npos)
    say(out, Sign::after_steps, "Losses were logged before it died, so most batches fit.");
  // "dies 200 steps in", not "I follow the steps in the guide".
  for (std::size_t at = text.find(" steps in"); at != std::string_view::npos;
       at = text.find(" steps in", at + 9)) {
    if (at > 0 && is_digit(text[at - 1])) {
      say(out, Sign::after_steps, "It ran for a while before it died (\"steps in\").");
      break;
    }
  }
  if (const std::string words = one_sample_in_words(text); !words.empty())
    say(out, Sign::one_sample_fails, "A single sample fails too (\"" + words + "\").");
  if (const Said one = occasion_in_words(text); one.kind != Occasion::none) {
    struct Of {
      Occasion kind;
      Sign sign;
      const char* words;
    };
    static constexpr Of occasions[] = {
        {Occasion::save, Sign::at_save, "The words place it at a save"},
        {Occasion::resume, Sign::at_resume, "The words place it after a resume"},
        {Occasion::evaluate, Sign::at_evaluation, "The words place it in evaluation"},
        {Occasion::merge, Sign::merging, "Adapters are merged"}};
    for (const Of& of : occasions) {
      if (of.kind == one.kind) say(out, of.sign, std::string(of.words) + " (\"" + one.words + "\").");
    }
  }
  if (const std::string words = growth_in_words(text); !words.empty())
    say(out, Sign::grows, "The use grows from step to step (\"" + words + "\").");
  if (const std::string words = other_release_in_words(text); !words.empty())
    say(out, Sign::after_update, "It fitted with another release (\"" + words + "\").");
  if (const std::string words = smaller_batch_in_words(text); !words.empty())
    say(out, Sign::batch_no_help, "A smaller batch did not help (\"" + words + "\").");
  if (const std::string words = later_than_the_start(text); !words.empty())
    say(out, Sign::after_steps, "It ran for a while before it died (\"" + words + "\").");
  if (const std::string words = after_the_first_step(text); !words.empty()) {
    say(out, Sign::after_first_step,
        "One step had passed (\"" + words + "\"): what the first step leaves behind is there by then.");
  }
  // A flag that names a checkpoint, not one that says there is none.
  constexpr std::string_view resume = "--resume_from_checkpoint ";
  if (const std::size_t at = text.find(resume); at != std::string_view::npos) {
    const std::string_view value = text.substr(at + resume.size(), 5);
    const bool none = value.substr(0, 4) == "none" || value == "false" || value.substr(0, 2) == "--";
    if (!none) say(out, Sign::at_resume, "The command goes on from a checkpoint.");
  }
  if (text.find("init_from=resume") != std::string_view::npos)
    say(out, Sign::at_resume, "The run goes on from a checkpoint (\"init_from=resume\").");
  // peft prints the share; all of it under LoRA is another method than the one meant.
  const bool all_trained = text.find("trainable%: 100") != std::string_view::npos;
  if (all_trained && r.facts.method == Method::adapters) {
    say(out, Sign::contradicted_method,
        "The trainer prints 100 % trainable parameters although adapters are meant.");
  }
}

}  // namespace plimsoll::diagnosis
