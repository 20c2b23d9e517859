#include "core/cli/table.h"

#include <algorithm>
#include <cmath>

#include "core/cli/layout.h"
#include "core/cli/values.h"
#include "core/json/at.h"
#include "core/json/rounding.h"

namespace plimsoll::cli {

namespace {

using json::at;
using json::grouped;
using json::Json;

uint64_t count(const Json& value) { return static_cast<uint64_t>(std::max(0.0, number(value))); }

// 0.0940 % rather than 0.09 %: PEFT prints four decimals, and so can be compared.
std::string percent(double value) {
  const auto parts = static_cast<uint64_t>(std::llround(value * 10000));
  std::string tail = std::to_string(parts % 10000);
  tail.insert(0, 4 - tail.size(), '0');
  return std::to_string(parts / 10000) + "." + tail + " %";
}

std::string model_lines(const Json& report, const Style& style) {
  const Json& model = at(report, "model");
  std::string name = text(at(model, "name"));
  if (name.empty()) name = text(at(model, "id"));
  std::string out = heading(name.empty() ? "Model" : name, style);
  out += paragraph(grouped(count(at(model, "parameters"))) + " parameters, " +
                       grouped(count(at(model, "trainable"))) + " trainable (" +
                       percent(number(at(model, "trainable_percent"))) + ")",
                   style);
  const double adapter = number(at(model, "adapter_file_bytes"));
  const double checkpoint = number(at(model, "checkpoint_bytes"));
  std::string files;
  if (adapter > 0) files = "adapter file " + size_words(adapter);
  if (checkpoint > 0) files += (files.empty() ? "" : ", ") + ("each checkpoint " + size_words(checkpoint));
  return files.empty() ? out : out + paragraph(files, style);
}

std::string verdict_lines(const Json& report, const Style& style) {
  const Json& gpu = at(report, "gpu");
  if (!gpu.is_object()) return "";
  const std::string verdict = text(at(gpu, "verdict"));
  const double headroom = number(at(gpu, "headroom"));
  std::string words = headroom < 0 ? gib_words(-headroom) + " too much" : gib_words(headroom) + " to spare";
  if (verdict == "tight") words += ", but that is not sure to be enough";
  words += " (usable: " + gib_words(number(at(gpu, "usable"))) + ")";
  return heading(text(at(gpu, "name")), style) +
         layout({{""}, {"", Align::left, true}}, {{{verdict, verdict_colour(verdict)}, {words}}}, style);
}

std::string peak_lines(const Json& report, const Style& style) {
  const Json& peak = at(at(report, "memory"), "peak");
  std::vector<std::vector<Cell>> rows = {
      {{"allocated"}, {gib_words(number(at(peak, "allocated")))}, {"what PyTorch counts"}},
      {{"reserved"}, {gib_words(number(at(peak, "reserved")))}, {"what PyTorch holds"}},
      {{"device"},
       {gib_words(number(at(peak, "device"))), "1"},
       {"what nvidia-smi shows; between " + gib(number(at(peak, "low"))) + " and " +
            gib_words(number(at(peak, "high"))),
        ""}}};
  const std::string first = text(at(at(peak, "first_step"), "instant"));
  if (first != text(at(peak, "instant"))) {
    rows.push_back({{"first step"},
                    {gib_words(number(at(at(peak, "first_step"), "allocated")))},
                    {"allocated until it is over; its peak: " + first}});
  }
  return heading("Peak: " + text(at(peak, "instant")), style) +
         layout({{""}, {"", Align::right}, {"", Align::left, true}}, rows, style);
}

std::string component_lines(const Json& report, const Style& style) {
  const std::string peak = text(at(at(at(report, "memory"), "peak"), "instant"));
  std::vector<Json> components;
  for (const Json& instant : at(at(report, "memory"), "instants")) {
    if (text(at(instant, "id")) == peak) components = at(instant, "components");
  }
  if (components.empty()) return "";
  std::stable_sort(components.begin(), components.end(), [](const Json& a, const Json& b) {
    return number(at(a, "bytes")) > number(at(b, "bytes"));
  });
  std::vector<std::vector<Cell>> rows;
  for (const Json& component : components) {
    if (number(at(component, "bytes")) == 0) continue;
    rows.push_back(
        {{gib(number(at(component, "bytes")))}, {text(at(component, "id"))}, {text(at(component, "what"))}});
  }
  return heading("What fills it", style) +
         layout({{"GiB", Align::right}, {"component"}, {"what", Align::left, true}}, rows, style);
}

std::string instant_lines(const Json& report, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  const std::string peak = text(at(at(at(report, "memory"), "peak"), "instant"));
  for (const Json& instant : at(at(report, "memory"), "instants")) {
    const std::string id = text(at(instant, "id"));
    rows.push_back({{id, id == peak ? "1" : ""},
                    {gib(number(at(instant, "allocated")))},
                    {gib(number(at(instant, "reserved")))},
                    {gib(number(at(instant, "device")))},
                    {(id == peak ? "the peak: " : "") + text(at(instant, "what"))}});
  }
  if (rows.empty()) return "";
  return heading("Instants (GiB)", style) + layout({{"instant"},
                                                    {"allocated", Align::right},
                                                    {"reserved", Align::right},
                                                    {"device", Align::right},
                                                    {"", Align::left, true}},
                                                   rows, style);
}

std::string tier_verdicts(const Json& report, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& tier : at(report, "tiers")) {
    const std::string verdict = text(at(tier, "verdict"));
    std::string gpus;
    for (const Json& gpu : at(tier, "gpus")) gpus += (gpus.empty() ? "" : ", ") + text(gpu);
    rows.push_back({{grouped(count(at(tier, "gib")))},
                    {gib(number(at(tier, "usable")))},
                    {verdict, verdict_colour(verdict)},
                    {gib(number(at(tier, "headroom")))},
                    {gpus}});
  }
  if (rows.empty()) return "";
  return heading("Tiers (GiB)", style) + layout({{"size", Align::right},
                                                 {"usable", Align::right},
                                                 {"verdict"},
                                                 {"headroom", Align::right},
                                                 {"GPUs", Align::left, true}},
                                                rows, style);
}

std::string note_lines(const Json& report, const Style& style) {
  std::vector<std::string> lines;
  for (const Json& note : at(report, "notes")) lines.push_back(text(at(note, "message")));
  return lines.empty() ? "" : heading("Notes", style) + points(lines, style);
}

std::string assumption_lines(const Json& report, const Style& style) {
  std::vector<std::string> lines;
  for (const Json& assumption : at(report, "assumptions")) {
    const Json& value = at(assumption, "value");
    lines.push_back(text(at(assumption, "pointer")) + " = " +
                    (value.is_string() ? text(value) : json::write(value)) + ": " +
                    text(at(assumption, "why")));
  }
  return lines.empty() ? ""
                       : heading("Assumed, because the request does not say", style) + points(lines, style);
}

std::string with_gaps(const std::vector<std::string>& sections) {
  std::string out;
  for (const std::string& section : sections) {
    if (section.empty()) continue;
    if (!out.empty()) out += "\n";
    out += section;
  }
  return out;
}

}  // namespace

std::string report_table(const json::Json& report, const Style& style) {
  return with_gaps({model_lines(report, style), verdict_lines(report, style), peak_lines(report, style),
                    component_lines(report, style), instant_lines(report, style),
                    tier_verdicts(report, style), note_lines(report, style),
                    assumption_lines(report, style)});
}

std::string models_table(const json::Json& models, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& model : at(models, "models")) {
    rows.push_back(
        {{text(at(model, "id"))}, {grouped(count(at(model, "parameters")))}, {text(at(model, "hf_id"))}});
  }
  return layout({{"id"}, {"parameters", Align::right}, {"Hugging Face", Align::left, true}}, rows, style);
}

std::string fields_table(const json::Json& fields, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& field : at(fields, "fields"))
    rows.push_back({{text(at(field, "pointer"))}, {text(at(field, "type"))}, {text(at(field, "what"))}});
  return layout({{"field"}, {"type"}, {"what it means", Align::left, true}}, rows, style);
}

std::string gpus_table(const json::Json& gpus, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& gpu : at(gpus, "gpus")) {
    rows.push_back({{text(at(gpu, "id"))},
                    {grouped(count(at(gpu, "tier_gib")))},
                    {gib(number(at(gpu, "usable_bytes")))},
                    {text(at(gpu, "name"))}});
  }
  return layout({{"id"}, {"GiB", Align::right}, {"usable", Align::right}, {"name", Align::left, true}}, rows,
                style);
}

std::string error_lines(const json::Json& errors) {
  std::string out;
  for (const Json& error : errors) {
    const std::string pointer = text(at(error, "pointer"));
    const std::string allowed = text(at(error, "allowed"));
    out += (pointer.empty() ? "" : pointer + ": ") + text(at(error, "message"));
    if (!allowed.empty()) out += " Allowed: " + allowed + ".";
    out += " [" + text(at(error, "code")) + "]\n";
  }
  return out;
}

}  // namespace plimsoll::cli
