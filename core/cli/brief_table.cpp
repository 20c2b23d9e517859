#include "core/cli/brief_table.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/cli/flags.h"
#include "core/cli/layout.h"
#include "core/cli/values.h"
#include "core/json/at.h"
#include "core/json/rounding.h"
#include "core/run/phrases.h"

namespace plimsoll::cli {

namespace {

using json::grouped;

using json::at;
using json::Json;

constexpr std::size_t most_components = 3;
constexpr std::size_t most_fixes = 3;

std::string tenths(double bytes) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.1f", bytes / 1073741824.0);
  return buffer;
}

// "25.0 of 23.5": with a second decimal where the first would say that both are the same.
std::string of(double needs, double has) {
  const bool alike = tenths(needs) == tenths(has);
  return (alike ? gib(needs) : tenths(needs)) + " of " + (alike ? gib(has) : tenths(has)) + " GiB";
}

std::string name_line(const Json& report, const Style& style) {
  const Json &model = at(report, "model"), &gpu = at(report, "gpu");
  std::string line = words(at(model, "name").is_null() ? at(model, "id") : at(model, "name"));
  if (gpu.is_object()) {
    const double gpus = number(at(at(report, "memory"), "gpus"));
    line += gpus > 1 ? " on " + grouped(static_cast<uint64_t>(gpus)) + " x " : " on ";
    line += words(at(gpu, "name"));
  }
  return heading(line, style);
}

std::string verdict_line(const Json& report, const Style& style) {
  const Json& gpu = at(report, "gpu");
  const double usable = number(at(gpu, "usable")), headroom = number(at(gpu, "headroom"));
  const std::string verdict = words(at(gpu, "verdict"));
  std::string line = "Needs " + of(usable - headroom, usable) + ": ";
  line += headroom < 0 ? size_words(-headroom) + " too much" : size_words(headroom) + " to spare";
  if (number(at(at(report, "memory"), "gpus")) > 1) line += " on each";
  if (verdict == "tight") line += ", but that is not sure to be enough";
  return layout({{""}, {"", Align::left, true}}, {{{verdict, verdict_colour(verdict)}, {line}}}, style);
}

// What lies in the machine's own memory, where that is more than on a card.
std::string host_line(const Json& report, const Style& style) {
  const Json& memory = at(report, "memory");
  const double host = number(at(memory, "host_bytes"));
  if (host <= number(at(at(memory, "peak"), "device"))) return "";
  return paragraph("Host memory of the machine: " + size_words(host) + " at least.", style);
}

// Without a card there is no verdict for one: the sizes that it fits.
std::string sizes_line(const Json& report, const Style& style) {
  std::string fitting, tight;
  for (const Json& tier : at(report, "tiers")) {
    const std::string verdict = words(at(tier, "verdict")), size = words(at(tier, "gib"));
    if (verdict == "fits" && fitting.empty()) {
      fitting = " Fits " + size + " GiB and more";
      std::string names;
      for (const Json& gpu : at(tier, "gpus")) {
        if (names.size() < 40) names += (names.empty() ? "" : ", ") + words(gpu);
      }
      fitting += " (" + names + ").";
    }
    if (verdict == "tight") tight = " Tight on " + size + " GiB.";
  }
  const double needed = number(at(at(at(report, "memory"), "peak"), "needed"));
  if (fitting.empty()) fitting = " Fits no single GPU.";
  const std::string why = no_verdict(report);
  return paragraph("Needs " + tenths(needed) + " GiB." + fitting + tight + " " +
                       (why.empty() ? "Name a card with --gpu." : why),
                   style);
}

// Of what the run needs: PyTorch would cache more where there is room, and gives that back.
std::string largest_lines(const Json& report, const Style& style) {
  const Json& highest = at(at(report, "memory"), "peak");
  const Json& peak = at(highest, "instant");
  std::vector<std::pair<double, const Json*>> parts;
  double others = 0;
  for (const Json& instant : at(at(report, "memory"), "instants")) {
    if (at(instant, "id") != peak) continue;
    for (const Json& component : at(instant, "components")) {
      parts.emplace_back(number(at(component, "bytes")), &component);
      if (at(component, "id") != "allocator_slack") others += parts.back().first;
    }
  }
  for (auto& [bytes, component] : parts) {
    if (at(*component, "id") == "allocator_slack")
      bytes = std::clamp(number(at(highest, "needed")) - others, 0.0, bytes);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (parts.size() > most_components) parts.resize(most_components);
  std::vector<std::vector<Cell>> rows;
  for (const auto& [bytes, one] : parts)
    rows.push_back({{tenths(bytes)}, {words(at(*one, "id"))}, {words(at(*one, "what"))}});
  return rows.empty() ? ""
                      : "\n" + heading("Most of it, in GiB (peak: " + words(peak) + ")", style) +
                            layout({{"", Align::right}, {""}, {"", Align::left, true}}, rows, style);
}

std::string titles(const Json& plan) {
  std::string joined, last;
  for (const Json& change : at(plan, "changes")) {
    if (words(at(change, "title")) == last) continue;
    last = words(at(change, "title"));
    joined += (joined.empty() ? "" : " + ") + last;
  }
  return joined;
}

// So that a fix can be tried at once.
std::string as_flags(const Json& plan) {
  std::string joined;
  for (const Json& change : at(plan, "changes"))
    joined += " " + as_flag(words(at(change, "pointer")), words(at(change, "to")));
  return joined.empty() ? joined : joined.substr(1);
}

std::string effect(const std::string& quality) {
  if (quality == "none") return "no effect on training";
  return quality == "parity" ? "equal quality in published runs" : quality + " cost in quality";
}

// Another stack is one setting too, and adapters are a few.
std::vector<std::vector<Cell>> other_ways(const Json& gpu, std::size_t taken) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& way : at(gpu, "elsewhere")) {
    const std::string id = words(at(way, "id"));
    if (id != "with_adapters" && (id != "with_unsloth" || taken > 0)) continue;
    std::string flags;
    for (const auto& [pointer, value] : at(way, "changes").items())
      flags += (flags.empty() ? "" : " ") + as_flag(pointer, words(value));
    rows.push_back({{std::to_string(++taken)},
                    {words(at(way, "title")) + ", " + words(at(way, "name")) + ": at most " +
                     tenths(number(at(way, "high"))) + " GiB"}});
    rows.push_back({{""}, {flags, "2"}});
  }
  return rows;
}

std::string fix_lines(const Json& gpu, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& plan : at(gpu, "plans")) {
    if (rows.size() / 2 >= most_fixes) break;
    char time[32];
    std::snprintf(time, sizeof time, "%.2f x time", number(at(plan, "time_factor")));
    rows.push_back({{std::to_string(rows.size() / 2 + 1)},
                    {titles(plan) + ": " + tenths(number(at(gpu, "usable")) - number(at(plan, "headroom"))) +
                     " GiB, " + time + ", " + effect(words(at(plan, "quality")))}});
    rows.push_back({{""}, {as_flags(plan), "2"}});
  }
  for (const std::vector<Cell>& row : other_ways(gpu, rows.size() / 2)) {
    if (rows.size() / 2 < most_fixes || rows.size() % 2 == 1) rows.push_back(row);
  }
  if (!rows.empty())
    return "\n" + heading("Makes it fit", style) + layout({{""}, {"", Align::left, true}}, rows, style);
  const Json& blocked = at(gpu, "blocked");
  if (!blocked.is_object()) return "";
  std::string line = "Nothing makes it fit: the least is " + size_words(number(at(blocked, "least"))) + ".";
  if (!at(blocked, "smallest_tier").is_null())
    line += " The smallest size that works is " + words(at(blocked, "smallest_tier")) + " GiB.";
  return "\n" + paragraph(line, style);
}

std::string room_line(const Json& advice, const Style& style) {
  const Json& limits = at(advice, "limits");
  std::string line;
  const auto add = [&](const char* key, const char* what) {
    const auto most = static_cast<uint64_t>(number(at(limits, key)));
    if (most > 0)
      line += std::string(line.empty() ? "Largest that still fits: " : ", or ") + what + " " + grouped(most);
  };
  add("per_device_train_batch_size", "batch");
  add("max_length", "length");
  return line.empty() ? "" : "\n" + paragraph(line + ".", style);
}

// What no library sets stands in for what only the person can say.
std::string asked_lines(const Json& report, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& one : at(report, "assumptions")) {
    if (at(one, "asked") != Json(true)) continue;
    rows.push_back({{run::dotted(words(at(one, "pointer"))) + " = " + words(at(one, "value"))},
                    {words(at(one, "why"))}});
  }
  if (rows.empty()) return "";
  return "\n" + heading("Not said, so assumed", style) + layout({{""}, {"", Align::left, true}}, rows, style);
}

// Notes without which the verdict would be another, or of no run that starts.
std::string decisive_lines(const Json& report, const Style& style) {
  std::vector<std::string> lines;
  for (const Json& note : at(report, "notes")) {
    // Why there is no verdict stands in place of one.
    const bool instead = at(note, "code") == Json("not_replayed");
    if (at(note, "decisive") == Json(true) && !instead) lines.push_back(words(at(note, "message")));
  }
  return lines.empty() ? "" : "\n" + heading("Notes", style) + points(lines, style);
}

}  // namespace

std::string no_verdict(const Json& report) {
  for (const Json& note : at(report, "notes")) {
    if (at(note, "code") == Json("not_replayed")) return words(at(note, "message"));
  }
  return "";
}

std::string brief_table(const Json& report, const Json& advice, const Style& style) {
  const bool card = at(report, "gpu").is_object();
  const Json& gpu = at(advice, "gpu");
  std::string out = name_line(report, style);
  out += card ? verdict_line(report, style) : sizes_line(report, style);
  out += host_line(report, style) + decisive_lines(report, style) + largest_lines(report, style);
  if (card)
    out +=
        at(at(report, "gpu"), "verdict") == Json("fits") ? room_line(advice, style) : fix_lines(gpu, style);
  return out + asked_lines(report, style);
}

}  // namespace plimsoll::cli
