#include "core/diagnosis/phrases.h"

#include <string>
#include <utility>

#include "core/diagnosis/attempts.h"
#include "core/diagnosis/moment.h"
#include "core/diagnosis/occasion.h"
#include "core/diagnosis/progress.h"
#include "core/diagnosis/sentence.h"
#include "core/diagnosis/text.h"
#include "core/diagnosis/troubles.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_lower;

void say(std::vector<Evidence>& out, Sign sign, std::string words) {
  out.push_back({sign, std::move(words)});
}

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

}  // namespace

void read_words(const Reading& r, std::vector<Evidence>& out) {
  // OpenRLHF gives each engine cards of its own unless it is told to share them.
  const bool engines_apart =
      says_any(r.text.folded_lines, {"vllm_num_engines"}) &&
      !says_any(r.text.folded_lines, {"colocate_all", "colocate_actor", "hybrid", "sleep"});
  for (const Phrase& phrase : phrase_lists()) {
    if (phrase.sign == Sign::vllm_words && engines_apart) continue;
    for (const std::string_view word : phrase.any) {
      const std::size_t at = find_said(r.text.folded_lines, word, tells_when(phrase.sign));
      if (at == std::string::npos) continue;
      say(out, phrase.sign, std::string(phrase.words) + " (\"" + std::string(word) + "\")");
      break;
    }
  }
  const std::string_view text = r.text.folded_lines;
  if (std::string words = progress_in_words(text); !words.empty())
    say(out, Sign::after_steps, std::move(words));
  read_troubles(text, out);
  if (runs_in_one_process(text) && r.facts.several())
    say(out, Sign::one_card_only,
        "The launcher's log speaks of one process, although several cards are meant.");
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
  if (const std::string words = less_fits_in_words(text); !words.empty())
    say(out, Sign::fits_with_less, "It fits with fewer tokens (\"" + words + "\").");
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
