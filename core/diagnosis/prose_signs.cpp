#include "core/diagnosis/prose_signs.h"

#include "core/diagnosis/progress.h"
#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

struct SaidSign {
  Say say;
  Sign sign;
  const char* words;  ///< one sentence for a person, without its full stop
};
constexpr SaidSign said_signs[] = {
    {Say::save, Sign::at_save, "The words place it at a save"},
    {Say::resume, Sign::at_resume, "The words place it after a resume"},
    {Say::eval, Sign::at_evaluation, "The words place it in evaluation"},
    {Say::merge, Sign::merging, "Adapters are merged or the model is exported"},
    {Say::generate, Sign::generates_rollouts, "It dies while samples are generated"},
    {Say::optimizer, Sign::says_optimizer, "It dies when the optimizer makes its states"},
    {Say::later, Sign::after_steps, "It ran for a while before it died, or one long sample does it"},
    {Say::growing, Sign::grows, "The use grows from step to step"},
    {Say::update, Sign::after_update, "It fitted with another release"},
    {Say::occupied, Sign::in_use_at_start, "Something else holds the card"},
    {Say::alone, Sign::one_sample_fails, "A single sample fails too"},
    {Say::fewer, Sign::fits_with_less, "It fits with fewer tokens"},
    {Say::logits, Sign::says_logits, "The words place it at the logits or the loss"},
    {Say::one_card, Sign::one_card_only, "One card is full and the others are not"},
    {Say::fragments, Sign::says_fragmented, "The memory is in pieces"},
    {Say::estimate, Sign::own_estimate, "By the person's own sum it should fit"},
    {Say::requirement, Sign::asks_requirements, "Whether the card is enough is the question"},
    {Say::modules, Sign::saves_modules, "Embeddings are trained beside the adapters"},
    {Say::scores, Sign::eager, "Scores of all pairs of positions are made"},
    {Say::spills, Sign::spills, "The driver moves memory to the host"},
};

struct Name {
  Sign sign;
  const char* words;
  std::initializer_list<std::string_view> any;
};

// Names and commands that mean one thing wherever they stand.
const Name name_signs[] = {
    {Sign::on_wsl, "It runs under WSL.", {"wsl"}},
    {Sign::on_windows, "It runs under Windows.", {"windows", ".exe", "c:\\"}},
    {Sign::merging,
     "Adapters are merged or the model is exported.",
     {"export_model", "llamafactory-cli export", "swift export", "merge_lora.py", "merge_and_unload"}},
    {Sign::vllm_words, "An engine that generates shares the card.", {"vllm", "colocate", "sglang", "verl"}},
    {Sign::old_card,
     "The card has no 8-bit or bf16 kernels.",
     {"p40", "p100", "gtx 10", "pascal", "m60", "k80"}},
    {Sign::low_bit_checkpoint, "The checkpoint is stored in 4 or 8 bits.", {"gpt-oss", "mxfp4", "fp8"}},
    {Sign::says_tpu, "It is a TPU.", {"tpu", "at the bottom of memory", "memory space hbm", "hbm capacity"}},
    {Sign::at_resume, "The run goes on from a checkpoint.", {"init_from=resume"}},
    {Sign::one_card_only,
     "The launcher's log speaks of one process, although several cards are meant.",
     {"member: 1/1", "starting with 1 processes", "world size: 1\n", "data parallel gpus = 1\n"}},
};

// "tpu" is no part of "output", nor "wsl" of "newsletter".
std::size_t find_name(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool before = at > 0 && ascii::is_lower(word.front()) && ascii::is_lower(text[at - 1]);
    const bool behind = word.size() <= 4 && end < text.size() && ascii::is_lower(text[end]);
    if (!before && !behind) return at;
  }
  return std::string_view::npos;
}

void read_names(const TextReading& r, std::vector<Evidence>& out) {
  const std::string_view text = r.text.folded_lines;
  // OpenRLHF gives each engine cards of its own unless it is told to share them.
  const bool engines_apart = says_any(text, {"vllm_num_engines"}) &&
                             !says_any(text, {"colocate_all", "colocate_actor", "hybrid", "sleep"});
  for (const Name& name : name_signs) {
    if (name.sign == Sign::vllm_words && engines_apart) continue;
    if (name.sign == Sign::one_card_only && !r.facts.several()) continue;
    for (const std::string_view word : name.any) {
      if (find_name(text, word) == std::string_view::npos) continue;
      out.push_back({name.sign, std::string(name.words) + " (\"" + std::string(word) + "\")"});
      break;
    }
  }
}

// Benchmarks of a finished model evaluate no training run.
bool measures_a_finished_model(std::string_view text) {
  return says_any(text, {"lm-eval", "lm_eval", "lmms_eval", "lmms-eval", "vlmevalkit", "opencompass"});
}

// "Trying to save GPU memory": nothing is written.
bool spares(std::string_view said) {
  constexpr std::string_view spared[] = {"memory", "vram", "ram", "gpu", "money", "cost", "space", "time"};
  constexpr std::size_t beside = 20;
  bool any = false;
  for (std::size_t at = said.find("sav"); at != std::string_view::npos; at = said.find("sav", at + 3)) {
    const std::size_t blank = said.find(' ', at);
    if (blank == std::string_view::npos) return false;
    std::string_view behind = said.substr(blank + 1, beside);
    for (const std::string_view filler : {"some ", "more ", "a lot of ", "the ", "my ", "on "}) {
      if (behind.starts_with(filler)) behind.remove_prefix(filler.size());
    }
    if (std::none_of(std::begin(spared), std::end(spared),
                     [behind](std::string_view what) { return behind.starts_with(what); }))
      return false;
    any = true;
  }
  return any && !says_any(said, {"checkpoint ", "checkpoints", "checkpoint-"});
}

// The sentence that says it and is not about something else; null: none does.
const Sentence* told(const Prose& prose, std::string_view folded, Say what) {
  const Sentence* found = prose.says(what);
  if (found == nullptr || (what == Say::eval && measures_a_finished_model(folded))) return nullptr;
  return what == Say::save && spares(folded.substr(found->at, found->size)) ? nullptr : found;
}

// A flag that names a checkpoint, not one that says there is none.
bool resumes_by_flag(std::string_view text) {
  constexpr std::string_view resume = "--resume_from_checkpoint ";
  const std::size_t at = text.find(resume);
  if (at == std::string_view::npos) return false;
  const std::string_view value = text.substr(at + resume.size(), 5);
  return value.substr(0, 4) != "none" && value != "false" && value.substr(0, 2) != "--";
}

// "shard 18 of 19"
bool counts_shards(std::string_view text) {
  const std::size_t at = text.find("shard ");
  if (at == std::string_view::npos || at + 6 >= text.size() || !ascii::is_digit(text[at + 6])) return false;
  return text.substr(at, 16).find(" of ") != std::string_view::npos;
}

}  // namespace

std::string quote(std::string_view folded, const Sentence& sentence) {
  return first_bytes(folded.substr(sentence.at, sentence.size), 100);
}

void read_words(const TextReading& r, std::vector<Evidence>& out) {
  const std::string_view text = r.text.folded_lines;
  read_names(r, out);
  if (std::string words = progress_in_words(text); !words.empty())
    out.push_back({Sign::after_steps, std::move(words)});
  for (const SaidSign& one : said_signs) {
    const Sentence* sentence = told(r.prose, text, one.say);
    if (sentence != nullptr)
      out.push_back({one.sign, std::string(one.words) + " (\"" + quote(text, *sentence) + "\").",
                     sentence->strength(one.say)});
  }
  // What a setting or a method was expected to save, and does not.
  if (const Sentence* vain = r.prose.says(Say::no_effect)) {
    const std::string_view said = text.substr(vain->at, vain->size);
    if (says_any(said, {"qlora"})) {
      out.push_back(
          {Sign::quantised_saves_nothing, "Quantising saves nothing (\"" + quote(text, *vain) + "\")."});
    } else if (says_any(said, {"lora"}) && says_any(said, {"full", "全"})) {
      out.push_back({Sign::adapters_save_nothing, "Adapters save nothing (\"" + quote(text, *vain) + "\")."});
    }
  }
  if (resumes_by_flag(text)) out.push_back({Sign::at_resume, "The command goes on from a checkpoint."});
  // peft prints the share; all of it under LoRA is another method than the one meant.
  if (text.find("trainable%: 100") != std::string_view::npos && r.facts.method == Method::adapters)
    out.push_back({Sign::contradicted_method,
                   "The trainer prints 100 % trainable parameters although adapters are meant."});
}

FailurePhase phase_in_words(std::string_view folded, const Prose& prose) {
  struct Of {
    Say say;
    FailurePhase phase;
  };
  static constexpr Of phases[] = {
      {Say::save, FailurePhase::save},          {Say::resume, FailurePhase::load},
      {Say::eval, FailurePhase::eval},          {Say::merge, FailurePhase::merge},
      {Say::generate, FailurePhase::generate},  {Say::optimizer, FailurePhase::optimizer},
      {Say::inference, FailurePhase::generate}, {Say::load, FailurePhase::load}};
  FailurePhase best = counts_shards(folded) ? FailurePhase::load : FailurePhase::unknown;
  int most = 1;  // one half of a logarithm of odds is no moment
  for (const Of& one : phases) {
    const Sentence* sentence = told(prose, folded, one.say);
    const int score = sentence == nullptr ? 0 : sentence->of(one.say);
    if (score <= most) continue;
    most = score;
    best = one.phase;
  }
  return best;
}

}  // namespace plimsoll::diagnosis
