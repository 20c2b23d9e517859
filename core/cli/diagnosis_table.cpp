#include "core/cli/diagnosis_table.h"

#include <cmath>
#include <vector>

#include "core/cli/layout.h"
#include "core/cli/values.h"
#include "core/json/at.h"

namespace plimsoll::cli {

namespace {

using json::at;
using json::Json;

struct Figure {
  const char* key;
  const char* what;
};
constexpr Figure figures[] = {
    {"tried", "asked for"},
    {"free", "free"},
    {"capacity", "capacity of the card"},
    {"allocated", "allocated by PyTorch"},
    {"reserved", "reserved by PyTorch"},
    {"other_processes", "held by other processes"},
    {"slack", "reserved but free (slack)"},
    {"residual", "neither PyTorch's nor free (context, libraries, others)"},
    {"shortfall", "short of the request"},
};

std::string numbers_lines(const Json& numbers, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Figure& figure : figures) {
    const Json& value = at(numbers, figure.key);
    if (value.is_number()) rows.push_back({{size_words(number(value))}, {figure.what}});
  }
  return rows.empty() ? "" : layout({{"", Align::right}, {"", Align::left, true}}, rows, style) + "\n";
}

std::string causes_lines(const Json& causes, const Style& style) {
  std::string out;
  if (!causes.is_array()) return out;
  bool first = true;
  for (const Json& cause : causes) {
    const auto percent = std::llround(100 * number(at(cause, "confidence")));
    if (!first && percent < 2) continue;
    out +=
        coloured(std::to_string(percent) + " %  " + text(at(cause, "title")), first ? "1" : "", style) + "\n";
    std::vector<std::vector<Cell>> rows;
    for (const Json& shown : at(cause, "evidence")) rows.push_back({{"-"}, {text(shown)}});
    if (!rows.empty()) out += layout({{""}, {"", Align::left, true}}, rows, style);
    if (first) {
      out += paragraph(text(at(cause, "why")), style);
      out += paragraph("What gets past it: " + text(at(cause, "remedy")), style);
      if (!text(at(cause, "ask")).empty())
        out += paragraph("What would settle it: " + text(at(cause, "ask")), style);
    }
    out += "\n";
    first = false;
  }
  return out;
}

std::string tensors_lines(const Json& tensors, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  if (tensors.is_array()) {
    for (const Json& tensor : tensors) {
      const std::string model = text(at(tensor, "model"));
      rows.push_back({{text(at(tensor, "dtype"))},
                      {(model.empty() ? "" : model + ": ") + text(at(tensor, "what")) + ". " +
                       text(at(tensor, "implies"))}});
    }
  }
  if (rows.empty()) return "";
  return coloured("Tensors of that size", "1", style) + "\n" +
         layout({{""}, {"", Align::left, true}}, rows, style) + "\n";
}

std::string sizes_lines(const Json& sizes, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& size : sizes) {
    const std::string model = text(at(size, "model"));
    rows.push_back({{text(at(size, "tensor"))},
                    {text(at(size, "text")) + (model.empty() ? "" : " (as in " + model + ")") +
                     ". Smaller by " + text(at(size, "knob"))}});
  }
  if (rows.empty()) return "";
  return coloured("What has that size", "1", style) + "\n" +
         layout({{""}, {"", Align::left, true}}, rows, style) + "\n";
}

std::string question_lines(const Json& question, const Style& style) {
  if (!question.is_object()) return "";
  const std::string id = text(at(question, "id"));
  std::vector<std::vector<Cell>> rows;
  for (const Json& choice : at(question, "choices")) {
    rows.push_back({{"--answer " + id + "=" + text(at(choice, "id"))},
                    {text(at(choice, "text")) + ". " + text(at(choice, "means"))}});
  }
  return coloured(text(at(question, "text")), "1", style) + "\n" +
         layout({{""}, {"", Align::left, true}}, rows, style) + "\n";
}

// Whether a request says the field that a pointer names; what nobody said has no value to change from.
bool says(const Json& request, const std::string& pointer) {
  const std::size_t slash = pointer.rfind('/');  // every pointer has two parts, or one
  const Json& section = slash == 0 ? request : at(request, pointer.substr(1, slash - 1).c_str());
  return section.is_object() && section.contains(pointer.substr(slash + 1));
}

// What plans are made for besides what is said.
std::string assumed_lines(const Json& adjusted, const Style& style) {
  std::string out;
  for (const Json& one : adjusted)
    out += paragraph("Assumed: " + text(at(one, "pointer")) + " " + json::write(at(one, "value")) + " (" +
                         text(at(one, "why")) + ").",
                     style);
  return out;
}

std::string plans_lines(const Json& plans, const Json& said, const Json& adjusted, const Style& style) {
  if (!plans.is_array() || plans.empty()) return "";
  std::string out = coloured("What makes it fit this card", "1", style) + "\n";
  out += assumed_lines(adjusted, style);
  for (const Json& plan : plans) {
    out += paragraph(text(at(plan, "name")), style);
    std::vector<std::vector<Cell>> rows;
    for (const Json& change : at(plan, "changes")) {
      const std::string pointer = text(at(change, "pointer"));
      const std::string from = says(said, pointer) ? json::write(at(change, "from")) + " -> " : "";
      rows.push_back({{"-"}, {pointer + ": " + from + json::write(at(change, "to"))}});
    }
    if (!rows.empty()) out += layout({{""}, {"", Align::left, true}}, rows, style);
  }
  return out + "\n";
}

// What the text says of a run, where it is all there is, and what it leaves open.
std::string answers_lines(const Json& diagnosis, const Style& style) {
  std::vector<std::vector<Cell>> rows, open;
  for (const Json& way : at(diagnosis, "answers")) {
    const std::string verdict = text(at(way, "verdict"));
    rows.push_back({{size_words(number(at(way, "needed")))}, {verdict}, {text(at(way, "name"))}});
  }
  if (rows.empty()) return "";
  for (const Json& one : at(at(diagnosis, "said"), "unknown"))
    open.push_back({{text(at(one, "pointer"))}, {text(at(one, "message"))}});
  std::string out = layout({{"", Align::right}, {""}, {"", Align::left, true}}, rows, style) + "\n";
  out += paragraph("Read as: " + json::write(at(at(diagnosis, "said"), "request")), style) + "\n";
  if (open.empty()) return out;
  return out + coloured("Not said", "1", style) + "\n" +
         layout({{""}, {"", Align::left, true}}, open, style) + "\n";
}

// The remedy of the cause named, as changes of the request; the mildest level of each.
std::string remedies_lines(const Json& remedies, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  std::string last;
  for (const Json& fix : remedies) {
    if (text(at(fix, "fix")) == last || number(at(fix, "saves")) <= 0) continue;
    last = text(at(fix, "fix"));
    rows.push_back({{"saves " + size_words(number(at(fix, "saves")))},
                    {text(at(fix, "title"))},
                    {text(at(fix, "setting"))}});
  }
  if (rows.empty()) return "";
  return coloured("The remedy of this cause", "1", style) + "\n" +
         layout({{""}, {""}, {"", Align::left, true}}, rows, style) + "\n";
}

}  // namespace

std::string diagnosis_table(const Json& diagnosis, const Style& style) {
  std::string out = coloured("Diagnosis", "1", style) + "\n";
  const std::string answers = answers_lines(diagnosis, style);
  out += paragraph(text(at(diagnosis, "summary")), style) + "\n" + answers;
  const Json& messages = at(diagnosis, "messages");
  if (messages.is_array() && !messages.empty()) {
    const auto first = static_cast<std::size_t>(number(at(diagnosis, "first")));
    const Json& message = messages[first < messages.size() ? first : 0];
    out += numbers_lines(at(message, "numbers"), style);
    if (messages.size() > 1) {
      out += paragraph(std::to_string(messages.size()) +
                           " messages stand in the text; this is the one that says most.",
                       style) +
             "\n";
    }
  }
  const std::string frame = text(at(at(diagnosis, "phase"), "frame"));
  const std::string phase = text(at(at(diagnosis, "phase"), "id"));
  if (phase != "other" && !phase.empty()) {
    out += paragraph("Phase: " + phase + (frame.empty() ? "" : " (" + frame + ")"), style) + "\n";
  }
  out += causes_lines(at(diagnosis, "causes"), style);
  out += question_lines(at(diagnosis, "question"), style);
  out += sizes_lines(at(diagnosis, "sizes"), style);
  out += tensors_lines(at(diagnosis, "tensors"), style);
  if (answers.empty()) out += remedies_lines(at(diagnosis, "remedies"), style);
  out += plans_lines(at(diagnosis, "plans"), at(diagnosis, "request"), at(diagnosis, "adjusted"), style);
  for (const Json& error : at(diagnosis, "request_errors")) {
    out +=
        paragraph("In the request, " + text(at(error, "pointer")) + ": " + text(at(error, "message")), style);
  }
  return out;
}

}  // namespace plimsoll::cli
