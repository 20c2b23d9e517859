// Request in, report out: the whole of Plimsoll as one pure function of two texts.
//
//     run::Catalog catalog = run::read_catalog(preset_files());
//     std::string request = R"({"model": "mistral-7b-v0.3", "peft": {"r": 16}})";
//     std::string answer = report::report_text(request, catalog);
//
// The shape of both is the public contract; README.md shows an example, timeline.h the shape of
// /memory/timeline. A bad request is a normal result:
// {"schema", "core", "ok": false, "errors": [{"code", "pointer", "message", "allowed"}]}.
#pragma once

#include <string>
#include <string_view>

#include "core/run/catalog.h"

namespace plimsoll::report {

/// The report as JSON text, compact. Never throws, never fails: what is wrong is in "errors".
std::string report_text(std::string_view request, const run::Catalog& catalog);
/// The same without plans, limits and timeline, even where the request wants them (core/report/slow_parts.h).
std::string quick_report_text(std::string_view request, const run::Catalog& catalog);

/// The same text as report_text(), and whether it is a report and no refusal.
struct ReportAnswer {
  std::string text;
  bool ok = false;
};
ReportAnswer report_answer(std::string_view request, const run::Catalog& catalog);

/// {"models": [{"id", "hf_id", "family", "parameters", "kind", "verified", "aliases"}]}
std::string models_text(const run::Catalog& catalog);
/// {"gpus": [{"id", "name", "vendor", ...}], "tiers": [{"gib", "usable", "gpus"}]}
std::string gpus_text(const run::Catalog& catalog);
/// {"scenarios": [...]} as in presets/scenarios
std::string scenarios_text(const run::Catalog& catalog);
/// {"fields": [{"pointer", "type", "allowed", "what"}], "stacks": [{"id", "name", "summary"}],
/// "methods": [{"id", "adapters", "quantization"}], "tasks": [{"id", "online", "reference", ...}]}
std::string fields_text(const run::Catalog& catalog);

/// What nobody trains without and a request leaves open: {"usual": [{"pointer", "value", "why"}]}; core/run/usual.h.
std::string usual_text(std::string_view request, const run::Catalog& catalog);

std::string_view version();

}  // namespace plimsoll::report
