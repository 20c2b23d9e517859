#include "tests/oom/score.h"

#include <algorithm>

#include "core/cli/texts.h"
#include "core/diagnosis/diagnosis.h"
#include "core/diagnosis/prose_signs.h"
#include "core/diagnosis/questions.h"
#include "core/question/answers.h"
#include "core/question/pasted_case.h"
#include "core/report/diagnose.h"
#include "core/report/report.h"
#include "tests/oom/numbers.h"

namespace plimsoll::oom {

namespace {

using json::Json;

std::string text_of(const Json& value) {
  json::Errors ignored;
  return value.is_string() ? json::read_text(value, "", ignored).value_or("") : json::write(value);
}

// The settings as the rules see them: those of the report, and the card.
accuracy::Draft draft_of(const Record& record, const std::vector<accuracy::Rule>& rules) {
  accuracy::Record as_run;
  as_run.fields = record.config;
  as_run.fields["gpu"] = record.gpu;
  accuracy::Draft draft;
  apply(rules, as_run, draft);
  const auto count = [&](const char* key, const char* pointer) {
    const auto found = record.config.find(key);
    if (found != record.config.end() && found->is_number_unsigned()) draft.values[pointer] = *found;
  };
  count("micro_batch", "/training/per_device_train_batch_size");
  count("gradient_accumulation", "/training/gradient_accumulation_steps");
  count("seq_len", "/training/max_length");
  count("n_gpus", "/parallel/num_gpus");
  count("num_generations", "/rl/num_generations");
  count("max_completion_length", "/rl/max_completion_length");
  count("eval_accumulation_steps", "/training/eval_accumulation_steps");
  if (draft.values.count("/peft") != 0) {
    count("lora_rank", "/peft/r");
    const auto targets = record.config.find("lora_targets");
    const bool listed = targets != record.config.end() && targets->is_array() && !targets->empty();
    if (listed && draft.values.count("/peft/target_modules") == 0) {
      draft.values["/peft/target_modules"] = *targets;
    }
  }
  // One card shards nothing, whatever was configured.
  if (draft.values.count("/parallel/num_gpus") != 0 && draft.values["/parallel/num_gpus"] == Json(1)) {
    draft.values.erase("/parallel/strategy");
  }
  return draft;
}

Json request_of(const accuracy::Draft& draft) {
  Json request = Json::object();
  for (const auto& [pointer, value] : draft.values) request[Json::json_pointer(pointer)] = value;
  return request;
}

// What a person would paste below the error: the frame, and settings that have no field.
std::string pasted(const Record& record) {
  std::string out = record.text;
  if (!record.frame.empty()) out += "\n" + record.frame;
  for (const char* key : {"method", "task", "precision", "quantization", "sharding", "os", "vllm",
                          "framework", "alloc_conf", "model"}) {
    const auto found = record.config.find(key);
    if (found != record.config.end() && !found->is_null()) {
      out += "\n" + std::string(key) + ": " + text_of(*found);
    }
  }
  return out;
}

void judge(Scored& one, const run::Catalog& catalog) {
  json::Errors errors;
  const Json report = json::parse(report::report_text(one.request, catalog), errors).value_or(Json());
  const auto gpu = report.find("gpu");
  if (gpu != report.end() && gpu->is_object() && gpu->contains("verdict")) {
    one.verdict = text_of((*gpu)["verdict"]);
    return;
  }
  const auto listed = report.find("errors");
  one.refused = "no GPU among the presets";
  if (listed != report.end() && listed->is_array() && !listed->empty()) {
    const Json& first = listed->front();
    one.refused = text_of(first["code"]) + " " + text_of(first["pointer"]);
  }
}

// What the person answers: as the thread says, or as the cause that was found implies. "" when neither tells.
std::string answer_of(const Record& record, const diagnosis::Question& question) {
  const auto said = record.answers.find(std::string(question.id));
  if (said != record.answers.end())
    return find_choice(question, said->second) == nullptr ? "other" : said->second;
  const diagnosis::Choice* best = nullptr;
  double most = -1;  // an answer that the cause leaves open is none
  for (const diagnosis::Choice& choice : question.choices) {
    const double share = log_share(question, choice, record.category);
    if (share > most) {
      most = share;
      best = &choice;
    }
  }
  return best == nullptr ? "" : std::string(best->id);
}

// What a question says of the request, read from its text alone.
void read_question(const Record& record, const run::Catalog& catalog, Scored& one) {
  const question::SaidRequest said = question::said_request(diagnosis::clean(record.text), catalog);
  for (const auto& [pointer, value] : record.said.items()) {
    if (pointer == "/model") {
      const run::ModelEntry* entry = catalog.find_model(said.model);
      const run::ModelEntry* meant = catalog.find_model(text_of(value));
      if (entry == nullptr || entry != meant) one.said_wrong += " " + pointer + "=" + said.model;
      continue;
    }
    const auto found = said.values.find(pointer);
    if (found == said.values.end() || text_of(found->second) != text_of(value))
      one.said_wrong += " " + pointer + (found == said.values.end() ? "" : "=" + text_of(found->second));
  }
  for (const std::string& pointer : record.unsaid) {
    if (said.values.count(pointer) != 0) one.said_wrong += " not said: " + pointer;
  }
  if (record.expected.empty()) return;
  const question::Answers answers = question::answer(said, catalog);
  if (!answers.ways.empty()) one.answered_verdict = std::string(answers.ways.front().verdict);
}

Scored score_one(const Record& record, const std::vector<accuracy::Rule>& rules,
                 const run::Catalog& catalog) {
  Scored one;
  one.record = record;
  const accuracy::Draft draft = draft_of(record, rules);
  one.request = draft.values.empty() ? "" : json::write(request_of(draft));
  const std::string text = pasted(record);
  // A command or a configuration in the text is the request, as in the command and on the page.
  if (one.request.empty()) one.request = cli::request_in(text, catalog);
  question::PastedCase found;
  question::read_case(text, one.request, record.phase == "other" ? "" : record.phase, catalog, found);
  const diagnosis::Diagnosis d = diagnosis::diagnose(found.situation);
  one.wrong_numbers = wrong_numbers(record, diagnosis::read_messages(diagnosis::clean(record.text)));
  for (const diagnosis::Named& named : d.causes) one.causes.emplace_back(named.cause->id);
  if (!d.causes.empty()) one.confidence = d.causes.front().confidence;
  if (!d.causes.empty() && d.causes.front().narrower != nullptr)
    one.narrower = std::string(d.causes.front().narrower->id);
  if (one.is_question()) read_question(record, catalog, one);
  one.after = one.causes.empty() ? "" : one.causes.front();
  if (d.question != nullptr) {
    one.asked = d.question->id;
    one.answered = answer_of(record, *d.question);
    const std::string told = one.asked + "=" + one.answered;
    found.situation.answers = told;
    const diagnosis::Diagnosis then = diagnosis::diagnose(found.situation);
    if (!then.causes.empty()) one.after = then.causes.front().cause->id;
  }
  const diagnosis::Text frame = diagnosis::clean(record.frame);
  diagnosis::FailurePhase phase = diagnosis::read_frames(frame).phase;
  if (phase == diagnosis::FailurePhase::unknown)
    phase = diagnosis::phase_in_words(frame.folded_lines, diagnosis::read_prose(frame.folded_lines));
  one.phase = diagnosis::name(phase);
  if (!record.complete) return one;
  one.refused = draft.refused;
  if (one.refused.empty()) judge(one, catalog);
  return one;
}

}  // namespace

std::size_t Scored::place() const {
  const auto found = std::find(causes.begin(), causes.end(), record.category);
  return found == causes.end() ? 0 : static_cast<std::size_t>(found - causes.begin()) + 1;
}

// "tight" says that the estimate fits and its high end does not; as in tests/measured it counts as fitting.
bool Scored::verdict_right() const {
  return !verdict.empty() && (verdict == "no") == (record.outcome == "oom");
}

std::vector<Scored> score(const std::vector<Record>& records, const std::vector<accuracy::Rule>& rules,
                          const run::Catalog& catalog) {
  std::vector<Scored> out;
  for (const Record& record : records) out.push_back(score_one(record, rules, catalog));
  return out;
}

namespace {

std::size_t bin_of(double confidence) {
  constexpr double upper[] = {0.3, 0.5, 0.7, 0.8, 0.9};
  return static_cast<std::size_t>(std::lower_bound(std::begin(upper), std::end(upper), confidence) -
                                  std::begin(upper));
}

}  // namespace

Score summarize(const std::vector<Scored>& all) {
  Score s;
  std::size_t right = 0, first = 0, third = 0, framed = 0, phases = 0, wrong = 0, after = 0;
  for (const Scored& one : all) {
    if (one.is_question()) {
      ++s.questions;
      s.questions_read += one.said_wrong.empty() ? 1 : 0;
      s.verdicts_asked += one.record.expected.empty() ? 0 : 1;
      s.verdicts_said += !one.record.expected.empty() && one.answered_verdict == one.record.expected ? 1 : 0;
      continue;
    }
    if (!one.record.kind_of.empty()) {
      ++s.cases;
      s.cases_right += one.place() == 1 && one.narrower == one.record.kind_of ? 1 : 0;
    }
    if (one.has_message()) {
      ++s.messages;
      right += one.wrong_numbers.empty() ? 1 : 0;
    }
    if (one.has_cause()) {
      ++s.causes;
      first += one.place() == 1 ? 1 : 0;
      third += one.place() >= 1 && one.place() <= 3 ? 1 : 0;
      wrong += one.confidently_wrong() ? 1 : 0;
      after += one.after == one.record.category ? 1 : 0;
      s.asked += one.asked.empty() ? 0 : 1;
      if (!one.causes.empty()) {
        Score::Bin& bin = s.calibration.at(bin_of(one.confidence));
        ++bin.stated;
        bin.right += one.place() == 1 ? 1 : 0;
        bin.confidence += one.confidence;
      }
    }
    if (!one.record.frame.empty() && one.record.phase != "other") {
      ++framed;
      phases += one.phase == one.record.phase ? 1 : 0;
    }
    if (!one.record.complete) continue;
    Score::Verdicts& verdicts = one.record.kind == "benchmark" ? s.benchmark : s.issue;
    ++verdicts.records;
    if (!one.verdict.empty()) ++verdicts.answered;
    if (one.verdict_right()) ++verdicts.right;
    if (one.verdict == "fits" && one.record.outcome == "oom") ++verdicts.died_but_called_fits;
    if (one.verdict.empty()) ++s.refusals[one.refused];
  }
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  s.numbers_right = share(right, s.messages);
  s.cause_top1 = share(first, s.causes);
  s.cause_top3 = share(third, s.causes);
  s.confidently_wrong = share(wrong, s.causes);
  s.asked_top1 = share(after, s.causes);
  s.phase_right = share(phases, framed);
  return s;
}

}  // namespace plimsoll::oom
