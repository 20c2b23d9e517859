#include "core/report/handout.h"

#include <algorithm>
#include <cmath>

#include "core/exchange/export.h"
#include "core/exchange/formats.h"
#include "core/exchange/patch.h"
#include "core/json/at.h"
#include "core/recipe/fields.h"
#include "core/report/exchange.h"
#include "core/report/report.h"
#include "core/run/phrases.h"

namespace plimsoll::report {

namespace {

using json::at;
using json::Json;

constexpr HandoutKind kinds[] = {
    {"environment", "Environment variables"},
    {"shell", "Shell commands"},
    {"checklist", "Checklist to verify a run"},
    {"markdown", "Table, Markdown"},
    {"csv", "Components, CSV"},
    {"json", "Report, JSON"},
};

std::string text_at(const Json& object, const std::string& key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get_ref<const std::string&>() : "";
}
uint64_t bytes_at(const Json& object, const std::string& key) {
  const Json& value = at(object, key);
  return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
}

// 7254839296 to "7,254,839,296".
std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string mib(uint64_t bytes) { return std::to_string((bytes + (1 << 19)) >> 20) + " MiB"; }

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json::write(value);
}

struct Subject {
  Json request, report;
  recipe::Given given;
};

bool read(std::string_view text, const run::Catalog& catalog, Subject& subject, json::Errors& errors) {
  const auto request = json::parse(text, errors);
  if (!request || !errors.empty()) return false;
  subject.request = *request;
  subject.given = recipe::read_given(*request, errors);
  if (!errors.empty()) return false;
  json::Errors ignored;
  subject.report = json::parse(quick_report_text(text, catalog), ignored).value_or(Json());
  if (at(subject.report, "ok") == Json(true)) return true;
  for (const Json& error : at(subject.report, "errors"))
    errors.push_back({text_at(error, "code"), text_at(error, "pointer"), text_at(error, "message"),
                      text_at(error, "allowed")});
  return false;
}

std::string variables(const Subject& subject) {
  std::string out;
  for (const auto& [pointer, value] : subject.given.values) {
    if (pointer == "/hardware/PYTORCH_CUDA_ALLOC_CONF")
      out +=
          "export PYTORCH_CUDA_ALLOC_CONF=" + exchange::literal(exchange::Language::shell, "", value) + "\n";
  }
  return out;
}

std::string environment(const Subject& subject) {
  const std::string out = variables(subject);
  return out.empty() ? "# This request states no environment variable.\n" : out;
}

std::string shell(const Subject& subject) {
  recipe::Given given = subject.given;
  given.values.erase("/hardware/PYTORCH_CUDA_ALLOC_CONF");
  return "# What the card holds before the run begins\n"
         "nvidia-smi --query-gpu=name,memory.total,memory.used --format=csv\n\n" +
         variables(subject) + exchange::export_as(exchange::command_line, given).text;
}

const Json& instant(const Json& report, std::string_view id) {
  static const Json nothing;
  for (const Json& each : at(at(report, "memory"), "instants")) {
    if (text_at(each, "id") == id) return each;
  }
  return nothing;
}

// What stays when the moment is over: all that PyTorch counts but the passing tensors.
uint64_t standing(const Json& moment) {
  uint64_t passing = 0;
  for (const Json& component : at(moment, "components")) {
    if (text_at(component, "id") == "transient") passing += bytes_at(component, "bytes");
  }
  const uint64_t allocated = bytes_at(moment, "allocated");
  return allocated > passing ? allocated - passing : 0;
}

std::string settings(const Subject& subject, std::string_view mark) {
  std::string out;
  if (!subject.given.model_id.empty()) out += std::string(mark) + "model: " + subject.given.model_id + "\n";
  for (const recipe::Field& field : recipe::field_table()) {
    const auto found = subject.given.values.find(std::string(field.pointer));
    if (found == subject.given.values.end() || field.pointer == "/schema" || field.pointer == "/locks" ||
        field.pointer == "/want")
      continue;
    out += std::string(mark) + run::dotted(field.pointer) + ": " + plain(found->second) + "\n";
  }
  return out;
}

std::string checklist(const Subject& subject) {
  const Json& report = subject.report;
  const Json &memory = at(report, "memory"), &peak = at(memory, "peak"), &model = at(report, "model");
  std::string out = "# Checklist\n\n## The run is what was priced\n\n" + settings(subject, "- [ ] ");
  const Json& prepared = instant(report, "prepare");
  const uint64_t loaded = standing(prepared.is_object() ? prepared : instant(report, "load"));
  out += "\n## Before the first step\n\n";
  if (at(subject.request, "peft").is_object()) {
    out += "- [ ] `model.print_trainable_parameters()` prints\n  `" +
           trainable_line(bytes_at(model, "trainable"), bytes_at(model, "all_parameters")) + "`\n";
  } else {
    out += "- [ ] `sum(p.numel() for p in model.parameters() if p.requires_grad)` is " +
           grouped(bytes_at(model, "trainable")) + "\n";
  }
  if (loaded > 0)
    out += "- [ ] `torch.cuda.memory_allocated()` is about " + run::gib(loaded) + " (" + grouped(loaded) +
           " bytes) when the model is ready\n";
  out += "\n## After two steps\n\n- [ ] `torch.cuda.max_memory_allocated()` is about " +
         run::gib(bytes_at(peak, "allocated")) + ", reached at: " + text_at(peak, "instant") +
         "\n- [ ] `torch.cuda.max_memory_reserved()` is about " + run::gib(bytes_at(peak, "reserved")) +
         "\n- [ ] `nvidia-smi` shows between " + mib(bytes_at(peak, "low")) + " and " +
         mib(bytes_at(peak, "high")) + ", most likely " + mib(bytes_at(peak, "device")) + "\n";
  const Json& gpu = at(report, "gpu");
  if (gpu.is_object()) {
    out += "- [ ] that leaves room on the " + text_at(gpu, "name") + ", which gives " +
           run::gib(bytes_at(gpu, "usable")) + " to a program\n";
  }
  return out + "\nA figure beyond these ranges means that a setting above is not what the run uses.\n";
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

struct Figure {
  const char* name;
  const char* key;
};
constexpr Figure figures[] = {{"Peak allocated", "allocated"},
                              {"Peak reserved", "reserved"},
                              {"Peak on the device", "device"},
                              {"Low end", "low"},
                              {"High end", "high"}};

std::string markdown(const Subject& subject) {
  std::string out = "| Setting | Value |\n|---|---|\n";
  std::string lines = settings(subject, "");
  for (size_t from = 0; from < lines.size();) {
    const size_t end = lines.find('\n', from), colon = lines.find(": ", from);
    out += "| " + cell(lines.substr(from, colon - from)) + " | " +
           cell(lines.substr(colon + 2, end - colon - 2)) + " |\n";
    from = end + 1;
  }
  const Json& peak = at(at(subject.report, "memory"), "peak");
  for (const Figure& figure : figures)
    out += std::string("| **") + figure.name + "** | **" + run::gib(bytes_at(peak, figure.key)) + "** |\n";
  return out;
}

std::string verdict(const Json& report) {
  const Json& gpu = at(report, "gpu");
  return gpu.is_object() ? text_at(gpu, "verdict") + " (" + text_at(gpu, "name") + ")" : "no GPU chosen";
}

std::string before_and_after(const Subject& before, const Subject& after) {
  std::string out = "| | Before | After |\n|---|---|---|\n";
  const auto stated = [](const Subject& subject, const std::string& pointer) {
    const auto found = subject.given.values.find(pointer);
    if (found != subject.given.values.end()) return cell(plain(found->second));
    if (pointer == "/model") return cell(subject.given.model_id);
    return std::string("not stated");
  };
  for (const exchange::Change& change : exchange::changes_between(before.request, after.request)) {
    if (recipe::find_field(change.pointer) == nullptr && change.pointer != "/model") continue;
    out += "| " + run::dotted(change.pointer) + " | " + stated(before, change.pointer) + " | " +
           stated(after, change.pointer) + " |\n";
  }
  const Json &was = at(at(before.report, "memory"), "peak"), &is = at(at(after.report, "memory"), "peak");
  for (const Figure& figure : figures) {
    out += std::string("| **") + figure.name + "** | " + run::gib(bytes_at(was, figure.key)) + " | **" +
           run::gib(bytes_at(is, figure.key)) + "** |\n";
  }
  return out + "| **Verdict** | " + verdict(before.report) + " | **" + verdict(after.report) + "** |\n";
}

// RFC 4180; a cell that a spreadsheet would take for a formula is made text.
std::string csv_cell(const std::string& text) {
  std::string cell = text;
  if (!cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != std::string_view::npos)
    cell.insert(0, "'");
  if (cell.find_first_of("\",\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv(const Subject& subject) {
  std::string out = "instant,component,bytes,what,formula,source\r\n";
  for (const Json& moment : at(at(subject.report, "memory"), "instants")) {
    for (const Json& component : at(moment, "components")) {
      out += csv_cell(text_at(moment, "id")) + "," + csv_cell(text_at(component, "id")) + "," +
             std::to_string(bytes_at(component, "bytes"));
      for (const char* key : {"what", "formula", "source"}) out += "," + csv_cell(text_at(component, key));
      out += "\r\n";
    }
    for (const char* figure : {"allocated", "reserved", "device"}) {
      out += csv_cell(text_at(moment, "id")) + "," + figure + "," + std::to_string(bytes_at(moment, figure)) +
             ",,,\r\n";
    }
  }
  return out;
}

}  // namespace

std::span<const HandoutKind> handout_kinds() { return kinds; }

std::string trainable_line(uint64_t trainable, uint64_t all) {
  // Four digits behind the point, as PEFT formats 100 * trainable / all.
  uint64_t share = 0;
  if (all > 0) {
    const double exact = 1e6 * static_cast<double>(trainable) / static_cast<double>(all);
    share = static_cast<uint64_t>(std::llround(exact));
  }
  std::string part = std::to_string(share % 10000);
  part.insert(0, 4 - part.size(), '0');
  return "trainable params: " + grouped(trainable) + " || all params: " + grouped(all) +
         " || trainable%: " + std::to_string(share / 10000) + "." + part;
}

std::string handout(std::string_view id, std::string_view request, std::string_view before,
                    const run::Catalog& catalog, json::Errors& errors) {
  Subject subject, other;
  if (!read(request, catalog, subject, errors)) return "";
  if (!before.empty() && !read(before, catalog, other, errors)) return "";
  if (id == "environment") return environment(subject);
  if (id == "shell") return shell(subject);
  if (id == "checklist") return checklist(subject);
  if (id == "markdown") return before.empty() ? markdown(subject) : before_and_after(other, subject);
  if (id == "csv") return csv(subject);
  if (id == "json") return json::write(subject.report, true) + "\n";
  errors.push_back({"unknown_format", "", "There is no handout of this name.", "environment, shell, ..."});
  return "";
}

}  // namespace plimsoll::report
