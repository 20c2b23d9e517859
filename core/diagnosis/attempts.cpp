#include "core/diagnosis/attempts.h"

#include <algorithm>
#include <initializer_list>

#include "core/diagnosis/sentence.h"
#include "core/diagnosis/text.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

using ascii::is_digit;

namespace {

char at_or_blank(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : ' '; }

}  // namespace

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
      // A setting of one is no complaint about it. Of a paste of one long line what stands near is read.
      constexpr std::size_t near = 200;
      const std::string_view ahead = text.substr(at > near ? at - near : 0, std::min(at, near));
      const std::string_view before = ahead.substr(ahead.rfind('\n') + 1);
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

// Where the length or the batch decides, weights and states have their place: "超过2w时OOM", "the maximum I
// can use is 14,000", "works with 2k".
std::string less_fits_in_words(std::string_view folded) {
  constexpr std::size_t near = 40, most_places = 200;
  for (const std::string_view thing : {"length", "seq_len", "max_len", "cutoff_len", "block_size", "context",
                                       "长度", "batch size", "batch_size", "batchsize", "bsz"}) {
    const bool batch = thing.front() == 'b' && thing != "block_size";
    std::size_t places = 0;
    for (std::size_t at = folded.find(thing); at != std::string_view::npos && places < most_places;
         at = folded.find(thing, at + thing.size())) {
      ++places;
      const std::string_view said = sentence_around(folded, at, thing.size(), near);
      const bool more = says_any(said, {"超过", "增大", "加大", "调大", "大于", "increas", "larger than",
                                        "more than", "above ", "beyond ", "longer than", "greater than"});
      const bool fails = says_any(said, {"oom", "out of mem", "out-of-mem", "爆", "显存不", "溢出", "crash"});
      const bool denied = says_any(said, {"even", "still", "no matter", "即使", "就算", "还是", "仍", "都"});
      if (!batch && more && fails && !denied) return std::string(said);
      const bool most = says_any(said, {"maximum", "at most", "up to", "最大", "最多", "最长"});
      // "With a smaller batch it works", "reducing the length solved it".
      const bool less = says_any(said, {"reduc", "lower", "decreas", "smaller", "shorter", "halv", "降低",
                                        "降到", "减小", "调小", "改小", "减少"});
      const bool works =
          says_any(said, {"works", "solve", "fixed", "resolved", "able to", "could train", "can train",
                          "no oom", "without oom", "runs fine", "就可以", "就能", "可以跑", "就不会"});
      const bool in_vain =
          denied || says_any(said, {"n't", "not ", "cannot", "how to", "is there", "any way"});
      if (less && works && !in_vain) return std::string(said);
      if (most && says_any(said, {"without oom", "without running out", "can use", "can train", "能跑"}) &&
          !denied)
        return std::string(said);
    }
  }
  // "tested with 2k and it worked", "512 works": a length that fits.
  for (std::size_t at = folded.find("k "); at != std::string_view::npos; at = folded.find("k ", at + 2)) {
    if (at == 0 || !is_digit(folded[at - 1])) continue;
    const std::string_view behind = folded.substr(at, 28);
    if (says_any(behind.substr(0, behind.find('.')),
                 {" works", " worked", " is fine", " was fine", " fits"}) &&
        says_any(sentence_around(folded, at, 1, 60), {"context", "length", "token", "seq"}))
      return std::string(sentence_around(folded, at, 1, near));
  }
  return "";
}

}  // namespace plimsoll::diagnosis
