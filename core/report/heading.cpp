#include "core/report/heading.h"

#include "core/report/report.h"
#include "core/run/notes.h"

namespace plimsoll::report {

using json::Errors;
using json::Writer;

void write_errors(Writer& out, const Errors& errors) {
  out.open_array();
  for (const json::Error& error : errors) {
    out.open_object();
    out.field("code", error.code);
    out.field("pointer", error.pointer);
    out.field("message", error.message);
    out.field("allowed", error.allowed);
    out.close_object();
  }
  out.close_array();
}

void write_heading(Writer& out, const Errors& errors) {
  out.field("schema", uint64_t{1});
  out.field("core", version());
  out.field("ok", errors.empty());
  out.key("errors");
  write_errors(out, errors);
}

std::string refusal(const Errors& errors) {
  Writer out;
  out.open_object();
  write_heading(out, errors);
  out.close_object();
  return out.take();
}

void write_notes(json::Writer& out, const std::vector<model::Note>& notes) {
  out.open_array();
  for (const model::Note& note : notes) {
    out.open_object();
    out.field("code", note.code);
    out.field("message", note.message);
    out.field("source", note.source);
    if (run::decides(note.code)) out.field("decisive", true);
    out.close_object();
  }
  out.close_array();
}

}  // namespace plimsoll::report
