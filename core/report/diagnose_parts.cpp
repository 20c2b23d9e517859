#include "core/report/diagnose_parts.h"

#include <cmath>

#include "core/json/rounding.h"

namespace plimsoll::report {

using diagnosis::Diagnosis;
using diagnosis::Message;
using json::whole;
using json::Writer;

namespace {

void write_size(Writer& out, const char* key, const std::optional<diagnosis::Size>& size) {
  if (size) out.field(key, whole(size->bytes));
}
void write_figure(Writer& out, const char* key, const std::optional<double>& bytes) {
  if (bytes) out.field(key, whole(*bytes));
}

void write_numbers(Writer& out, const Message& message) {
  const diagnosis::Numbers& n = message.numbers;
  const diagnosis::Derived d = diagnosis::derive(n);
  out.open_object();
  write_size(out, "tried", n.tried);
  if (n.tried) out.field("tried_half_step", whole(std::ceil(n.tried->half)));
  if (n.at_least) out.field("tried_at_least", true);
  write_size(out, "capacity", n.capacity);
  write_size(out, "free", n.free);
  write_size(out, "allocated", n.allocated);
  write_figure(out, "reserved", d.reserved);
  write_size(out, "private_pools", n.pools);
  write_size(out, "limit", n.limit);
  if (!d.sentinel) write_size(out, "this_process", n.this_process);
  write_figure(out, "other_processes", d.other);
  write_size(out, "other_allocations", n.other);
  write_figure(out, "slack", d.slack);
  write_figure(out, "residual", d.residual);
  write_figure(out, "shortfall", d.shortfall);
  if (d.sentinel) out.field("process_figure_unknown", true);
  out.close_object();
}

std::string_view word(diagnosis::Found found) {
  constexpr std::string_view words[] = {"figures", "frame", "request", "not_shown"};
  return words[static_cast<std::size_t>(found)];
}

}  // namespace

std::string_view title_of(const diagnosis::Named& named) {
  return named.narrower != nullptr ? named.narrower->title : named.cause->title;
}

void write_messages(Writer& out, const Diagnosis& d) {
  out.open_array();
  for (const Message& message : d.reading.messages) {
    out.open_object();
    out.field("form", message.family->id);
    out.field("kind", diagnosis::name(message.family->kind));
    out.field("what", message.family->what);
    if (message.rank >= 0) out.field("rank", uint64_t(message.rank));
    if (message.gpu >= 0) out.field("gpu", uint64_t(message.gpu));
    if (message.cut_off) out.field("cut_off", true);
    out.field("repeats", message.repeats);
    out.key("traits");
    out.open_array();
    for (const uint8_t row : message.forms) out.value(diagnosis::forms()[row - 1].what);
    out.close_array();
    out.field("quote", message.quote);
    out.key("numbers");
    write_numbers(out, message);
    out.close_object();
  }
  out.close_array();
}

void write_cards(Writer& out, const Diagnosis& d) {
  out.open_object();
  out.field("gpus", d.cards);
  out.key("table");
  out.open_array();
  for (const diagnosis::Card& card : d.reading.table.cards) {
    out.open_object();
    if (card.index >= 0) out.field("index", uint64_t(card.index));
    out.field("name", card.name);
    out.field("used", whole(card.used));
    out.field("total", whole(card.total));
    out.close_object();
  }
  out.close_array();
  out.key("processes");
  out.open_array();
  for (const diagnosis::CardProcess& process : d.reading.table.processes) {
    out.open_object();
    out.field("gpu", uint64_t(process.card));
    out.field("pid", process.id);
    out.field("name", process.name);
    out.field("bytes", whole(process.bytes));
    out.close_object();
  }
  out.close_array();
  out.close_object();
}

void write_tensors(Writer& out, const Diagnosis& d) {
  out.open_array();
  for (const diagnosis::Match& match : d.reading.matches) {
    out.open_object();
    out.field("model", match.model);
    out.field("what", match.what);
    out.field("dtype", match.dtype);
    out.field("bytes", whole(match.bytes));
    out.field("off", whole(match.off));
    out.field("phase", match.phase);
    out.field("implies", match.implies);
    out.close_object();
  }
  out.close_array();
}

void write_causes(Writer& out, const Diagnosis& d) {
  out.open_array();
  for (const diagnosis::Named& named : d.causes) {
    out.open_object();
    const diagnosis::Case* narrower = named.narrower;
    out.field("id", named.cause->id);
    if (narrower != nullptr) out.field("case", narrower->id);
    out.field("title", title_of(named));
    out.field("confidence", std::round(1000 * named.confidence) / 1000);
    out.field("detectable_from", word(named.cause->found));
    out.field("evidence", named.shown);
    out.field("why", narrower != nullptr ? narrower->why : named.cause->why);
    out.field("remedy", narrower != nullptr ? narrower->remedy : named.cause->remedy);
    out.field("ask", named.cause->ask);
    out.close_object();
  }
  out.close_array();
}

void write_sizes(Writer& out, const Diagnosis& d) {
  out.open_array();
  for (const diagnosis::Product& one : d.reading.products) {
    out.open_object();
    out.field("tensor", one.tensor);
    out.field("text", one.words);
    out.field("model", one.model);
    out.field("tokens", whole(one.tokens));
    out.field("exact", one.exact);
    out.field("knob", one.knob);
    out.close_object();
  }
  out.close_array();
}

void write_rerun(Writer& out, const Diagnosis& d) {
  const diagnosis::Rerun& rerun = d.reading.rerun;
  if (!rerun.match && rerun.contradiction.empty()) return out.null();
  out.open_object();
  if (rerun.match) {
    out.field("instant", memory::name(rerun.match->at));
    out.field("tensor", rerun.match->what);
    out.field("bytes", whole(rerun.match->bytes));
    out.field("allocated", whole(rerun.match->allocated));
    out.field("case", rerun.setting);
    out.field("text", rerun.words);
  }
  if (!rerun.contradiction.empty()) {
    out.field("contradiction", rerun.contradiction);
    out.field("explained", rerun.explained);
    out.field("contradicts", rerun.contradicts);
    out.field("explanation", rerun.explanation);
    out.field("expected", whole(rerun.expected));
  }
  out.close_object();
}

void write_vetoed(Writer& out, const Diagnosis& d) {
  out.open_array();
  for (const diagnosis::Vetoed& one : d.vetoed) {
    out.open_object();
    out.field("id", one.cause->id);
    out.field("title", one.cause->title);
    out.field("why", one.why);
    out.close_object();
  }
  out.close_array();
}

void write_question(Writer& out, const Diagnosis& d) {
  if (d.question == nullptr) return out.null();
  out.open_object();
  out.field("id", d.question->id);
  out.field("text", d.question->words);
  out.key("choices");
  out.open_array();
  for (const diagnosis::Choice& choice : d.question->choices) {
    out.open_object();
    out.field("id", choice.id);
    out.field("text", choice.words);
    out.field("means", choice.means);
    out.close_object();
  }
  out.close_array();
  out.close_object();
}

void write_findings(Writer& out, const Diagnosis& d) {
  out.field("shortened", d.reading.text.shortened);
  out.key("messages");
  write_messages(out, d);
  out.field("first", uint64_t(d.reading.first));
  out.key("cards");
  write_cards(out, d);
  out.key("phase");
  out.open_object();
  out.field("id", diagnosis::name(d.reading.phase));
  out.field("frame", d.reading.frames.words);
  out.close_object();
  out.key("tensors");
  write_tensors(out, d);
  out.key("sizes");
  write_sizes(out, d);
  out.key("causes");
  write_causes(out, d);
  out.key("vetoed");
  write_vetoed(out, d);
  out.key("question");
  write_question(out, d);
  out.key("replay");
  write_rerun(out, d);
}

}  // namespace plimsoll::report
