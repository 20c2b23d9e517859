#include "core/report/diagnose.h"

#include <algorithm>
#include <cmath>

#include "core/diagnosis/remedies.h"
#include "core/diagnosis/taken.h"
#include "core/exchange/docstring.h"
#include "core/exchange/notebook.h"
#include "core/json/rounding.h"
#include "core/json/writer.h"
#include "core/model/not_replayed.h"
#include "core/question/answers.h"
#include "core/question/pasted_case.h"
#include "core/report/advice.h"
#include "core/report/diagnose_parts.h"
#include "core/report/exchange.h"
#include "core/report/heading.h"
#include "core/report/inference.h"
#include "core/report/report.h"
#include "core/report/said.h"
#include "core/run/model_names.h"
#include "core/run/unsaid.h"

namespace plimsoll::report {

namespace {

using question::Answers;
using question::PastedCase;

using diagnosis::Diagnosis;
using diagnosis::Message;
using json::whole;
using json::Writer;

// What has this size: only where it is a large part of the card, since any size fails on a full one.
std::string size_sentence(const Diagnosis& d, const diagnosis::Size& tried) {
  using diagnosis::size_text;
  if (tried.bytes > diagnosis::largest_tensor)
    return "No tensor has that size: a shape or a length is wrong. ";
  const bool large = tried.bytes > 0.03 * d.reading.facts.capacity && tried.bytes > 512 * diagnosis::mebibyte;
  if (!large || d.reading.products.empty()) return "";
  const diagnosis::Product& first = d.reading.products.front();
  if (first.beyond || !(first.exact || first.sole)) return "";
  const diagnosis::Facts& f = d.reading.facts;
  if (f.batch && f.length && first.tokens > 2 * *f.batch * *f.length) return "";  // more than there are
  // Of a model that nobody named a size says little, and nothing beside another cause.
  const bool leads = !d.causes.empty() && d.causes.front().cause->id == "logits_peak";
  if (!first.model.empty() && !leads) return "";
  return size_text(tried.bytes) + " is " + first.words +
         (first.model.empty() ? "" : " (as in " + first.model + ")") + ". ";
}

// What a person reads first.
std::string summary_of(const Diagnosis& d) {
  using diagnosis::size_text;
  const Message* message = d.reading.message();
  std::string out;
  if (message == nullptr) {
    return d.reading.table.cards.empty() ? "No message of lacking memory was found in this text."
                                         : "A table of cards, and no error message beside it.";
  }
  const diagnosis::Numbers& n = message->numbers;
  const diagnosis::Rerun& rerun = d.reading.rerun;
  if (!rerun.contradiction.empty()) out = rerun.contradiction + " " + rerun.explained + " ";
  const bool told = rerun.match && !d.causes.empty() && d.causes.front().replayed;
  if (n.tried && message->family->kind == diagnosis::MessageKind::allocator) {
    out += size_text(n.tried->bytes) + " were asked for";
    if (n.free && n.capacity) {
      out += "; " + size_text(n.free->bytes) + " of " + size_text(n.capacity->bytes) + " were free";
    }
    out += ". ";
    out += told ? rerun.words + " " : size_sentence(d, *n.tried);
  } else {
    // What shows a case need not have failed: "a step takes ten times as long".
    const bool spoken = message->family->kind == diagnosis::MessageKind::spoken;
    const bool shown = !d.causes.empty() && d.causes.front().narrower != nullptr;
    if (!spoken || !shown) out += std::string(message->family->what) + " ";
    if (spoken && d.reading.asked) out += size_sentence(d, *d.reading.asked);
  }
  if (!d.causes.empty()) {
    const diagnosis::Named& first = d.causes.front();
    out += (first.confidence >= 0.6 ? "" : "Most likely: ") + std::string(title_of(first)) + ".";
  }
  return out;
}

// A model's name alone is no run.
bool is_told(const PastedCase& one) { return one.found_request.empty() || one.situation.recipe != nullptr; }

// What the request that plans are to be made for has besides what was given.
using Adjustments = std::vector<run::Choice>;

// What the text alone says of a run is completed by what failed, and not by a trainer's defaults; a request that
// was given, by what is proven.
Adjustments taken_from_failure(const PastedCase& one, const Diagnosis& d) {
  Adjustments out;
  if (!is_told(one)) return out;
  out = one.usual;
  for (run::Choice& taken : diagnosis::taken_of(one.situation, d.reading)) {
    if (taken.proven || !one.found_request.empty()) out.push_back(std::move(taken));
  }
  return out;
}
Adjustments versions_said(const PastedCase& one) {
  Adjustments out;
  for (const auto& [pointer, version] : one.versions)
    out.push_back({pointer, version, "the text says so, or is as old"});
  return out;
}
Adjustments adjustments(const PastedCase& one, const Diagnosis& d) {
  Adjustments out;
  const recipe::Values& values = one.given.values;
  if (values.count("/hardware/gpu") == 0 && !d.cards.empty()) {
    out.push_back({"/hardware/gpu", d.cards.front(), "the first card that reports such a capacity"});
  }
  for (run::Choice& said : versions_said(one)) out.push_back(std::move(said));
  for (run::Choice& taken : taken_from_failure(one, d)) out.push_back(std::move(taken));
  const bool foreign = std::any_of(d.evidence.begin(), d.evidence.end(), [](const diagnosis::Evidence& e) {
    return e.sign == diagnosis::Sign::foreign_process || e.sign == diagnosis::Sign::large_residual;
  });
  if (foreign && values.count("/hardware/in_use_gib") == 0) {
    constexpr double gibibyte = 1073741824.0;
    const double held = d.reading.derived.other.value_or(0) > 0 ? *d.reading.derived.other
                                                                : d.reading.derived.residual.value_or(0);
    out.push_back({"/hardware/in_use_gib", std::round(100 * held / gibibyte) / 100,
                   "what other programs held when it failed"});
  }
  return out;
}

json::Json adjusted_request(std::string_view request, const Adjustments& changes) {
  json::Errors ignored;
  json::Json tree = json::parse(request, ignored).value_or(json::Json::object());
  if (!tree.is_object()) tree = json::Json::object();
  for (const run::Choice& change : changes) {
    const json::Json::json_pointer at(change.pointer);
    if (json::Json& section = tree[at.parent_pointer()]; !section.is_object()) section = json::Json::object();
    tree[at] = change.value;
  }
  return tree;
}

// The run with what its failure shows of it; nothing where that is the run as it was given.
std::optional<run::Run> run_that_failed(const PastedCase& one, const Diagnosis& d, std::string_view request,
                                        const run::Catalog& catalog) {
  Adjustments shown = taken_from_failure(one, d);
  if (!one.run || shown.empty()) return std::nullopt;
  for (run::Choice& said : versions_said(one)) shown.push_back(std::move(said));
  json::Errors ignored;
  const std::string_view given = one.found_request.empty() ? request : one.found_request;
  return run::read_run(json::write(adjusted_request(given, shown)), catalog, ignored);
}

// What the text leaves open is taken as it is usual, unless the failure rules that out.
Diagnosis diagnosis_of(PastedCase& one, const run::Catalog& catalog) {
  Diagnosis d = diagnosis::diagnose(one.situation);
  if (one.found_request.empty() || !diagnosis::weights_are_16bit(one.situation, d.reading)) return d;
  question::assume({"/model_args/dtype", "bfloat16", "less was allocated than weights in fp32 take"}, catalog,
                   one);
  return diagnosis::diagnose(one.situation);
}

// What this run may use of the card that failed.
double usable_of(const run::Run& run, const Diagnosis& d) {
  double usable = run.gpu == nullptr ? 0 : usable_for(run, run.gpu->usable_bytes);
  if (d.reading.facts.capacity > 0 && d.reading.message() != nullptr &&
      d.reading.message()->family->kind == diagnosis::MessageKind::allocator) {
    usable = d.reading.facts.capacity - d.reading.derived.other.value_or(0);
  }
  return std::max(0.0, usable);
}

// What gets a run past the failure, on the card that failed and with what other programs leave of it.
void write_diagnosed_plans(Writer& out, const run::Run* run, double usable,
                           std::span<const std::string_view> remedies, const run::Catalog& catalog) {
  out.key("plans");
  if (run == nullptr || usable <= 0) {
    out.open_array();
    out.close_array();
    return;
  }
  advice::Advisor advisor(*run, catalog);
  write_plans(out, advisor, usable, remedies);
  out.key("blocked");
  write_blocked(out, advisor, usable);
  // What the plans take is what costs least; the remedy of the cause named is offered in any case.
  if (remedies.empty()) return;
  out.key("remedies");
  write_fixes(out, advisor, advisor.fixes(remedies));
}

void write_ways_out(Writer& out, const PastedCase& one, const run::Run* run, const Diagnosis& d,
                    const Answers& answers, const run::Catalog& catalog) {
  const auto remedies = d.causes.empty() ? std::span<const std::string_view>()
                                         : diagnosis::remedies_of(d.causes.front().cause->id);
  if (!answers.ways.empty()) {
    const question::Way& way = answers.ways.front();
    json::Errors ignored;
    const std::optional<run::Run> said = run::read_run(json::write(way.request), catalog, ignored);
    return write_diagnosed_plans(out, said && (way.verdict != "fits" || !remedies.empty()) ? &*said : nullptr,
                                 way.usable, remedies, catalog);
  }
  const bool priced =
      run != nullptr && is_told(one) && one.left_out.empty() && diagnosis::is_helped_on_the_card(d.reading);
  write_diagnosed_plans(out, priced ? run : nullptr, priced ? usable_of(*run, d) : 0, remedies, catalog);
}

void write_run(Writer& out, const PastedCase& one, const run::Run* run, const Diagnosis& d,
               const run::Catalog& catalog) {
  if (run == nullptr || !is_told(one)) return out.null();
  const memory::Instant& peak = run->replay.at_peak();
  const memory::Sizes sizes = sizes_of(peak, *run);
  const double usable = usable_of(*run, d);
  out.open_object();
  out.field("instant", name(peak.phase));
  out.field("allocated", whole(sizes.allocated));
  out.field("device", whole(sizes.device));
  out.field("needed", whole(sizes.needed));
  out.field("usable", whole(usable));
  out.field("verdict",
            usable > 0 ? memory::word(run::verdict_of(sizes, run::unsaid(*run, catalog), usable)) : "");
  out.field("on_one_card", !one.left_out.empty());
  out.field("left_out", one.left_out);
  out.close_object();
}

// What ran out is not the card.
bool is_of_the_host(const Message& message) { return message.family->kind == diagnosis::MessageKind::host; }

// An empty list where there is something to explain.
void write_no_message(Writer& out, bool found, const question::SaidRequest& said) {
  json::Errors errors;
  const bool run = said.method || !said.cards.empty() || said.card_bytes > 0;
  if (!found && run && !said.unknown_model.empty()) {
    const std::string_view what = model::not_replayed_by_name(said.unknown_model);
    errors.push_back(
        {"unknown_model", "/model",
         said.unknown_model + (what.empty() ? " is no model that is known by name."
                                            : " is " + std::string(what) + ", which is not replayed here."),
         "a name of \"plimsoll models\", a size (\"a 7B\"), or a request with the model's config"});
  } else if (!found) {
    errors.push_back({"no_message", "", "No message of lacking memory was found in this text.",
                      "an error of PyTorch, JAX, MLX, a library, the driver or the system; a table of "
                      "nvidia-smi; or a question that names a model: \"Is a 4090 enough for QLoRA of "
                      "Llama-3.1-8B?\""});
  }
  write_errors(out, errors);
}

// The request to make plans for, and where it is another than was given.
void write_request(Writer& out, const PastedCase& one, const Diagnosis& d, const Answers& answers,
                   std::string_view request) {
  const Adjustments changes = answers.ways.empty() ? adjustments(one, d) : answers.ways.front().taken;
  out.key("request");
  if (!answers.ways.empty()) {
    out.value(answers.ways.front().request);
  } else if (one.situation.model.empty()) {
    out.null();
  } else {
    out.value(
        adjusted_request(one.found_request.empty() ? request : std::string_view(one.found_request), changes));
  }
  out.key("adjusted");
  out.open_array();
  for (const run::Choice& change : changes) {
    out.open_object();
    out.field("pointer", change.pointer);
    out.field("value", change.value);
    out.field("why", change.why);
    if (change.proven) out.field("proven", true);
    out.close_object();
  }
  out.close_array();
}

// A message is of something that failed, whatever it was; what only words tell of, and a question, is of a model that
// is served.
bool is_served(const PastedCase& one, const Diagnosis& d, std::string_view text) {
  if (!one.said.inference || one.situation.is_source) return false;
  const Message* message = d.reading.message();
  if (message == nullptr) return d.reading.table.cards.empty();
  return message->family->kind == diagnosis::MessageKind::spoken &&
         (question::asks(d.reading.text.folded_lines) || tells(one.said, text));
}

// What a program printed into a notebook is what happened; its cells say the run, and words report nothing.
std::string notebook_diagnosis(std::string_view text, std::string_view request, std::string_view phase,
                               const run::Catalog& catalog) {
  const exchange::Import import = import_known(exchange::read_notebook(text), text, catalog);
  const bool says = request.empty() && import.errors.empty() && import.request.is_object();
  const std::string of_cells = says ? json::write(import.request) : std::string(request);
  std::string printed = exchange::notebook_outputs(text);
  if (diagnosis::read_messages(diagnosis::clean(printed)).empty()) printed.clear();
  return diagnosis_text(printed, of_cells, phase, catalog);
}

}  // namespace

std::string diagnosis_text(std::string_view text, std::string_view request, std::string_view phase,
                           const run::Catalog& catalog) {
  if (exchange::is_notebook(text)) return notebook_diagnosis(text, request, phase, catalog);
  PastedCase one;
  question::read_case(text, request, phase, catalog, one);
  one.situation.is_source = exchange::begins_as_source(text);
  const Diagnosis d = diagnosis_of(one, catalog);
  if (is_served(one, d, text)) return inference_text(one.said, d, catalog);
  const bool failed = !d.reading.messages.empty() || !d.reading.table.cards.empty();
  const Message* message = d.reading.message();
  const bool in_words = message == nullptr || (request.empty() && !message->numbers.tried &&
                                               !message->numbers.capacity && !is_of_the_host(*message));
  const bool said = failed ? states_a_run(one.said) : tells(one.said, text);
  const bool asked = in_words && !one.said.inference && d.reading.table.cards.empty() &&
                     question::has_subject(one.said) && (said || question::asks(d.reading.text.folded_lines));
  const Answers answers = asked ? question::answer(one.said, catalog) : Answers();
  const bool found = failed || !answers.ways.empty();
  Writer out;
  out.open_object();
  out.field("schema", uint64_t{1});
  out.field("core", version());
  out.field("ok", found);
  out.key("errors");
  if (!found && !answers.errors.empty()) {
    write_errors(out, answers.errors);
  } else {
    write_no_message(out, found, one.said);
  }
  out.key("request_errors");
  write_errors(out, one.errors);
  out.field("summary", answers.ways.empty() ? summary_of(d)
                       : failed             ? summary_of(d) + " " + answers.words
                                            : answers.words);
  write_findings(out, d);
  out.key("said");
  write_said(out, one.said);
  out.key("answers");
  write_answers(out, answers);
  const std::optional<run::Run> failing = run_that_failed(one, d, request, catalog);
  const run::Run* run = failing ? &*failing : one.run ? &*one.run : nullptr;
  out.key("run");
  write_run(out, one, answers.ways.empty() ? run : nullptr, d, catalog);
  write_ways_out(out, one, run, d, answers, catalog);
  write_request(out, one, d, answers, request);
  out.close_object();
  return out.take();
}

}  // namespace plimsoll::report
