#include "core/report/said.h"

#include "core/json/rounding.h"

namespace plimsoll::report {

void write_said(json::Writer& out, const question::SaidRequest& said) {
  const bool framed = said.values.count("/parallel/strategy") != 0 || said.values.count("/task") != 0;
  if (!question::has_subject(said) && !said.method && !framed) return out.null();
  out.open_object();
  out.field("request", said.request());
  if (said.card_bytes > 0) out.field("card_bytes", json::whole(said.card_bytes));
  out.key("unknown");
  out.open_array();
  for (const run::Missing& one : said.unknown) {
    out.open_object();
    out.field("pointer", one.pointer);
    out.field("message", one.message);
    out.close_object();
  }
  out.close_array();
  out.close_object();
}

void write_answers(json::Writer& out, const question::Answers& answers) {
  out.open_array();
  for (const question::Way& way : answers.ways) {
    out.open_object();
    out.field("name", way.name);
    out.field("needed", json::whole(way.needed));
    if (way.usable > 0) out.field("usable", json::whole(way.usable));
    out.field("verdict", way.verdict);
    out.field("parts", way.parts);
    out.field("request", way.request);
    out.close_object();
  }
  out.close_array();
}

}  // namespace plimsoll::report
