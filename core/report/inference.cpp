#include "core/report/inference.h"

#include "core/json/writer.h"
#include "core/question/inference.h"
#include "core/report/diagnose_parts.h"
#include "core/report/heading.h"
#include "core/report/report.h"

namespace plimsoll::report {

// No cause of a training run, and no request to plan for.
std::string inference_text(const question::SaidRequest& said, const diagnosis::Diagnosis& read,
                           const run::Catalog& catalog) {
  diagnosis::Diagnosis nothing;
  nothing.reading.text = read.reading.text;
  json::Writer out;
  out.open_object();
  out.field("schema", uint64_t{1});
  out.field("core", version());
  out.field("ok", true);
  out.field("inference", true);
  out.key("errors");
  write_errors(out, {});
  out.key("request_errors");
  write_errors(out, {});
  out.field("summary", question::inference_words(said, catalog));
  write_findings(out, nothing);
  out.key("said");
  out.value(json::Json{{"request", json::Json::object()}, {"unknown", json::Json::array()}});
  for (const char* list : {"answers", "plans", "adjusted"}) {
    out.key(list);
    out.open_array();
    out.close_array();
  }
  for (const char* open : {"run", "request"}) {
    out.key(open);
    out.null();
  }
  out.close_object();
  return out.take();
}

}  // namespace plimsoll::report
