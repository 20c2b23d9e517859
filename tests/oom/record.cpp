#include "tests/oom/record.h"

namespace plimsoll::oom {

std::vector<Record> read_records(const json::Json& rows, json::Errors& errors) {
  std::vector<Record> out;
  if (!rows.is_array()) {
    errors.push_back({"wrong_type", "", "The file must hold a list of records.", "an array"});
    return out;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json::Object row(rows[i], "/" + std::to_string(i), errors);
    if (!row.is_object()) continue;
    Record r;
    r.id = row.text("id").value_or("");
    r.kind = row.text("source_kind").value_or("");
    r.text = row.text("error_text").value_or("");
    r.phase = row.text("phase").value_or("other");
    r.frame = row.text("frame").value_or("");
    r.gpu = row.text("gpu").value_or("");
    r.category = row.text("category").value_or("");
    r.outcome = row.text("outcome").value_or("");
    r.tried_mib = row.number("tried_mib");
    r.total_gib = row.number("total_gib");
    r.allocated_gib = row.number("allocated_gib");
    r.reserved_gib = row.number("reserved_gib");
    r.free_mib = row.number("free_mib");
    r.other_process_gib = row.number("other_process_gib");
    r.complete = row.flag("config_complete").value_or(false);
    if (const json::Json* answers = row.find("answers"); answers != nullptr && answers->is_object()) {
      json::Object given(*answers, "/" + std::to_string(i) + "/answers", errors);
      for (const auto& [question, choice] : answers->items())
        r.answers[question] = given.text(question).value_or("");
    }
    const json::Json* config = row.find("config");
    r.config = config != nullptr && config->is_object() ? *config : json::Json::object();
    r.kind_of = row.text("case").value_or("");
    r.expected = row.text("expected").value_or("");
    const json::Json* said = row.find("said");
    if (said != nullptr && said->is_object()) r.said = *said;
    const json::Json* unsaid = row.find("unsaid");
    if (unsaid != nullptr && unsaid->is_array()) {
      for (const json::Json& pointer : *unsaid)
        r.unsaid.push_back(json::read_text(pointer, "", errors).value_or(""));
    }
    out.push_back(std::move(r));
  }
  return out;
}

}  // namespace plimsoll::oom
