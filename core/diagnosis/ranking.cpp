// The causes by what speaks for them: sums of weights, which are logarithms of odds; without those that
// arithmetic excludes, and with what the person answered.
#include "core/diagnosis/ranking.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::diagnosis {

namespace {

// Nothing speaks for a cause that no sign of its own list shows; what is left then are the two general ones.
constexpr double least_score = -1.5;

enum class Source { figures, frames, words, run };
Source source_of(Sign sign, bool framed) {
  if (sign < Sign::loading) return Source::figures;
  if (sign < Sign::after_steps) return framed ? Source::frames : Source::words;
  return sign < Sign::full_tuning ? Source::words : Source::run;
}

// Where a step failed is not why: on a full card any request fails. What is no part of each step (a merge, a
// save) came to what fitted before.
bool in_every_step(Sign sign) {
  for (const Sign one : {Sign::forward, Sign::loss, Sign::backward, Sign::optimizer, Sign::dequantizes,
                         Sign::attention, Sign::logits_frame}) {
    if (one == sign) return true;
  }
  return false;
}

// A request that is a part of the card worth speaking of is of few tensors.
bool priced(const Ranking& by) {
  const Message* message = by.reading == nullptr ? nullptr : by.reading->message();
  if (message == nullptr || !message->numbers.tried) return false;
  return message->numbers.tried->bytes > 0.02 * by.reading->facts.capacity && by.reading->facts.capacity > 0;
}

// How sure an answer may be, by the surest thing that speaks for it. On reports that no rule had seen, causes
// from words alone were right in about half of all cases, those from a request's arithmetic in three of four.
double most_sure(const Named& named, const std::vector<Evidence>& evidence, const Ranking& by) {
  if (named.answered) return 0.9;
  double most = named.replayed ? 0.85 : named.narrower != nullptr ? 0.7 : by.in_words ? 0.5 : 0.6;
  for (const Sign sign : named.signs) {
    if (sign == Sign::says_in_words) continue;
    const bool said = std::any_of(evidence.begin(), evidence.end(),
                                  [sign](const Evidence& e) { return e.sign == sign && e.strength < 1; });
    switch (said ? Source::words : source_of(sign, by.framed)) {
      case Source::figures:
        most = std::max(most, by.in_words ? 0.9 : 0.97);
        break;
      case Source::frames:
        most = std::max(most, !in_every_step(sign) || priced(by) ? 0.95 : 0.7);
        break;
      case Source::words:
        most = std::max(most, by.in_words ? 0.68 : priced(by) ? 0.8 : 0.7);
        break;
      case Source::run:
        most = std::max(most, by.in_words ? 0.6 : 0.7);
        break;
    }
  }
  return most;
}

Named weigh(const Cause& cause, const std::vector<Evidence>& evidence) {
  Named named;
  named.cause = &cause;
  named.score = cause.base;
  for (const Weight& weight : cause.weights) {
    for (const Evidence& e : evidence) {
      if (e.sign != weight.sign) continue;
      named.score += weight.weight * e.strength;
      if (weight.weight <= 0) continue;
      named.shown.push_back(e.words);
      named.signs.push_back(e.sign);
    }
  }
  return named;
}

// What the replay and the cases that the text speaks of add to a cause.
void lift(Named& named, const TextReading& reading) {
  constexpr double said = 6, alone = 9;
  for (const CaseShown& one : reading.cases) {
    if (one.what->cause != named.cause->id || named.narrower != nullptr) continue;
    // Who fills the machine's RAM is asked where RAM is what ran out.
    const bool host = reading.message() != nullptr && reading.message()->family->kind == MessageKind::host;
    if (one.what->cause == "host_ram" && !host) continue;
    // A reservation is what a person asks after; a program's own message says what it lacked.
    const bool reserved = one.what->id == "jax_share" || one.what->id == "vllm_share";
    if (reserved && (reading.message() == nullptr || reading.message()->family->kind != MessageKind::spoken))
      continue;
    // That the driver refused is its message's own word: where it runs explains it, and proves nothing more.
    const bool driver =
        reading.message() != nullptr && reading.message()->family->kind == MessageKind::driver;
    if (!(driver && one.what->cause == "driver_level_oom" && !one.alone))
      named.score += one.alone ? alone : said;
    named.narrower = one.what;
    named.shown.push_back(one.computed ? one.words : "\"" + one.words + "\"");
  }
  const Rerun& rerun = reading.rerun;
  const bool of_request =
      named.cause->id == "batch_or_sequence_too_large" || named.cause->id == "does_not_fit_at_all";
  if (rerun.refuted && of_request) named.score -= 2.5;
  if (rerun.cause != named.cause->id) return;
  named.score += rerun.weight;
  named.shown.push_back(rerun.words);
  named.replayed = true;
  if (named.narrower == nullptr) named.narrower = find_case(rerun.setting);
}

}  // namespace

Ranked rank(const std::vector<Evidence>& evidence, const Ranking& by) {
  // Weights were set one by one and signs are not independent: their sum says too much.
  // Words least of all: one sentence shows several of them.
  const double spread = by.in_words ? 1.7 : 1.3;
  Ranked out;
  if (evidence.empty()) return out;
  double sum = 0;
  for (const Cause& cause : causes()) {
    Named named = weigh(cause, evidence);
    if (by.reading != nullptr) {
      if (std::string why = veto(cause.id, *by.reading); !why.empty()) {
        if (named.score >= least_score && !named.shown.empty())
          out.vetoed.push_back({&cause, std::move(why)});
        continue;
      }
      lift(named, *by.reading);
    }
    for (const Answer& answer : by.answers) {
      if (answer.choice->open) continue;
      const double told = log_share(*answer.question, *answer.choice, cause.id) +
                          std::log(static_cast<double>(answer.question->choices.size()));
      named.score += spread * told;
      if (told <= 0) continue;
      named.answered = true;
      named.shown.push_back("You said: " + std::string(answer.choice->words) + ". " +
                            std::string(answer.choice->means));
    }
    sum += std::exp(named.score / spread);
    out.causes.push_back(std::move(named));
  }
  for (Named& named : out.causes) {
    named.score /= spread;
    named.confidence = std::min(std::exp(named.score) / sum, most_sure(named, evidence, by));
  }
  std::stable_sort(out.causes.begin(), out.causes.end(),
                   [](const Named& a, const Named& b) { return a.score > b.score; });
  if (by.reading != nullptr) out.question = question_for(out.causes, by.answers, *by.reading);
  while (!out.causes.empty() &&
         (out.causes.back().score < least_score / spread || out.causes.size() > by.most))
    out.causes.pop_back();
  return out;
}

}  // namespace plimsoll::diagnosis
