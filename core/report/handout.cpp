#include "core/report/handout.h"

#include <algorithm>
#include <cmath>

#include "core/exchange/export.h"
#include "core/exchange/formats.h"
#include "core/exchange/patch.h"
#include "core/json/at.h"
#include "core/json/rounding.h"
#include "core/recipe/fields.h"
#include "core/report/exchange.h"
#include "core/report/report.h"
#include "core/run/instant_rows.h"
#include "core/run/likely_length.h"
#include "core/run/phrases.h"

namespace plimsoll::report {

namespace {

using json::grouped;

using json::at;
using json::Json;

constexpr HandoutKind kinds[] = {
    {"environment", "Environment variables", "shell"},
    {"shell", "Shell commands", "shell"},
    {"checklist", "Checklist to verify a run", "markdown"},
    {"markdown", "Table, Markdown", "markdown"},
    {"csv", "Components, CSV", "csv"},
    {"json", "Report, JSON", "json"},
};

std::string mib(uint64_t bytes) { return std::to_string((bytes + (1 << 19)) >> 20) + " MiB"; }

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json::write(value);
}

// As the report writes sizes.
uint64_t rounded(double bytes) { return static_cast<uint64_t>(std::max<int64_t>(0, json::whole(bytes))); }

struct Subject {
  Json request;
  run::Run run;

  const recipe::Request& given() const { return run.given; }
  const memory::Instant& peak() const { return run.replay.at_peak(); }
};

std::optional<Subject> read(std::string_view text, const run::Catalog& catalog, json::Errors& errors) {
  std::optional<Json> request = json::parse(text, errors);
  if (!request || !errors.empty()) return std::nullopt;
  std::optional<run::Run> run = run::read_run(text, catalog, errors);
  if (!run) return std::nullopt;
  return Subject{*std::move(request), *std::move(run)};
}

std::string variables(const Subject& subject) {
  std::string out;
  for (const auto& [pointer, value] : subject.given().values) {
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
  recipe::Request given = subject.given();
  given.values.erase("/hardware/PYTORCH_CUDA_ALLOC_CONF");
  return "# What the card holds before the run begins\n"
         "nvidia-smi --query-gpu=name,memory.total,memory.used --format=csv\n\n" +
         variables(subject) + exchange::export_as(exchange::command_line, given).text;
}

const memory::Instant* instant(const run::Run& run, memory::Phase phase) {
  for (const memory::Instant& each : run.replay.instants) {
    if (each.phase == phase) return &each;
  }
  return nullptr;
}

// What stays when the moment is over: all that PyTorch counts but the passing tensors.
uint64_t standing(const memory::Instant* moment, const run::Run& run) {
  if (moment == nullptr) return 0;
  const uint64_t passing = rounded(moment->live[memory::Component::transient]);
  const uint64_t allocated = rounded(sizes_of(*moment, run).allocated);
  return allocated > passing ? allocated - passing : 0;
}

// What a report says of the peak.
struct Figures {
  uint64_t allocated, reserved, device, low, high;
};
constexpr std::pair<const char*, uint64_t Figures::*> figure_names[] = {
    {"Peak allocated", &Figures::allocated},
    {"Peak reserved", &Figures::reserved},
    {"Peak on the device", &Figures::device},
    {"Low end", &Figures::low},
    {"High end", &Figures::high}};

Figures figures_of(const run::Run& run) {
  const memory::Sizes s = sizes_at_peak(run);
  const double shorter = shorter_by(run, likely_length(run), s.allocated);
  return {rounded(s.allocated), rounded(s.reserved), rounded(s.device), rounded(s.low * shorter),
          rounded(s.high)};
}

std::string gib(uint64_t bytes) { return run::gib(static_cast<double>(bytes)); }

std::string settings(const Subject& subject, std::string_view mark) {
  std::string out;
  if (!subject.given().model_id.empty())
    out += std::string(mark) + "model: " + subject.given().model_id + "\n";
  for (const recipe::Field& field : recipe::field_table()) {
    const auto found = subject.given().values.find(std::string(field.pointer));
    if (found == subject.given().values.end() || field.pointer == "/schema" || field.pointer == "/locks" ||
        field.pointer == "/want")
      continue;
    out += std::string(mark) + run::dotted(field.pointer) + ": " + plain(found->second) + "\n";
  }
  return out;
}

std::string checklist(const Subject& subject) {
  const run::Run& run = subject.run;
  const memory::Parameters& parameters = run.replay.parameters;
  std::string out = "# Checklist\n\n## The run is what was priced\n\n" + settings(subject, "- [ ] ");
  const memory::Instant* prepared = instant(run, memory::Phase::prepare);
  const uint64_t loaded = standing(prepared != nullptr ? prepared : instant(run, memory::Phase::load), run);
  out += "\n## Before the first step\n\n";
  if (at(subject.request, "peft").is_object()) {
    out += "- [ ] `model.print_trainable_parameters()` prints\n  `" +
           trainable_line(parameters.trainable, parameters.all) + "`\n";
  } else {
    out += "- [ ] `sum(p.numel() for p in model.parameters() if p.requires_grad)` is " +
           grouped(parameters.trainable) + "\n";
  }
  if (loaded > 0)
    out += "- [ ] `torch.cuda.memory_allocated()` is about " + gib(loaded) + " (" + grouped(loaded) +
           " bytes) when the model is ready\n";
  const Figures peak = figures_of(run);
  out += "\n## After two steps\n\n- [ ] `torch.cuda.max_memory_allocated()` is about " + gib(peak.allocated) +
         ", reached at: " + std::string(name(subject.peak().phase)) +
         "\n- [ ] `torch.cuda.max_memory_reserved()` is about " + gib(peak.reserved) +
         "\n- [ ] `nvidia-smi` shows between " + mib(peak.low) + " and " + mib(peak.high) + ", most likely " +
         mib(peak.device) + "\n";
  if (hardware::judged(run.gpu) != nullptr) {
    out += "- [ ] that leaves room on the " + run.gpu->name + ", which gives " +
           gib(rounded(usable_for(run, run.gpu->usable_bytes))) + " to a program\n";
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

std::string markdown(const Subject& subject) {
  std::string out = "| Setting | Value |\n|---|---|\n";
  std::string lines = settings(subject, "");
  for (size_t from = 0; from < lines.size();) {
    const size_t end = lines.find('\n', from), colon = lines.find(": ", from);
    out += "| " + cell(lines.substr(from, colon - from)) + " | " +
           cell(lines.substr(colon + 2, end - colon - 2)) + " |\n";
    from = end + 1;
  }
  const Figures peak = figures_of(subject.run);
  for (const auto& [name, figure] : figure_names)
    out += std::string("| **") + name + "** | **" + gib(peak.*figure) + "** |\n";
  return out;
}

std::string verdict(const Subject& subject) {
  const run::Run& run = subject.run;
  if (run.gpu == nullptr) return "no GPU chosen";
  if (!run.gpu->replayed()) return "none (" + run.gpu->name + ")";
  const double usable = usable_for(run, run.gpu->usable_bytes);
  return std::string(memory::word(memory::verdict(sizes_of(subject.peak(), run), usable))) + " (" +
         run.gpu->name + ")";
}

std::string before_and_after(const Subject& before, const Subject& after) {
  std::string out = "| | Before | After |\n|---|---|---|\n";
  const auto stated = [](const Subject& subject, const std::string& pointer) {
    const auto found = subject.given().values.find(pointer);
    if (found != subject.given().values.end()) return cell(plain(found->second));
    if (pointer == "/model") return cell(subject.given().model_id);
    return std::string("not stated");
  };
  for (const exchange::Change& change : exchange::changes_between(before.request, after.request)) {
    if (recipe::find_field(change.pointer) == nullptr && change.pointer != "/model") continue;
    out += "| " + run::dotted(change.pointer) + " | " + stated(before, change.pointer) + " | " +
           stated(after, change.pointer) + " |\n";
  }
  const Figures was = figures_of(before.run), is = figures_of(after.run);
  for (const auto& [name, figure] : figure_names)
    out += std::string("| **") + name + "** | " + gib(was.*figure) + " | **" + gib(is.*figure) + "** |\n";
  return out + "| **Verdict** | " + verdict(before) + " | **" + verdict(after) + "** |\n";
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
  const run::Run& run = subject.run;
  for (const memory::Instant& moment : run.replay.instants) {
    const std::string id = csv_cell(std::string(name(moment.phase)));
    for (const run::ComponentRow& row : rows_of(moment, run)) {
      out += id + "," + csv_cell(std::string(row.id)) + "," + std::to_string(rounded(row.bytes));
      for (const std::string_view text : {row.what, std::string_view(row.formula), row.source})
        out += "," + csv_cell(std::string(text));
      out += "\r\n";
    }
    const memory::Sizes s = sizes_of(moment, run);
    for (const auto& [figure, bytes] : {std::pair("allocated", s.allocated),
                                        std::pair("reserved", s.reserved), std::pair("device", s.device)})
      out += id + "," + figure + "," + std::to_string(rounded(bytes)) + ",,,\r\n";
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
  const std::optional<Subject> subject = read(request, catalog, errors);
  if (!subject) return "";
  std::optional<Subject> other;
  if (!before.empty() && !(other = read(before, catalog, errors))) return "";
  if (id == "environment") return environment(*subject);
  if (id == "shell") return shell(*subject);
  if (id == "checklist") return checklist(*subject);
  if (id == "markdown") return other ? before_and_after(*other, *subject) : markdown(*subject);
  if (id == "csv") return csv(*subject);
  if (id == "json") {
    const std::optional<Json> report = json::parse(quick_report_text(request, catalog), errors);
    return report ? json::write(*report, true) + "\n" : "";
  }
  errors.push_back({"unknown_format", "", "There is no handout of this name.", "environment, shell, ..."});
  return "";
}

}  // namespace plimsoll::report
