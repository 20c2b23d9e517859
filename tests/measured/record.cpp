#include "tests/measured/record.h"

#include <array>
#include <regex>

namespace plimsoll::accuracy {

namespace {

using json::Json;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
bool any_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts) {
    if (contains(text, part)) return true;
  }
  return false;
}

struct Unit {
  std::string_view word;
  double bytes;
};
// "MB" is what nvidia-smi and NVML print for MiB. A figure without a unit is taken as decimal, like the axes
// and tables that leave it out.
constexpr std::array<Unit, 6> units = {{
    {"gib", 1073741824.0},
    {"gb", 1e9},
    {"mib", 1048576.0},
    {"mb", 1048576.0},
    {"bytes", 1.0},
    {"unknown", 1e9},
}};

double unit_bytes(std::string_view word) {
  for (const Unit& unit : units) {
    if (contains(word, unit.word)) return unit.bytes;
  }
  return 0;
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

Kind kind_of(const std::string& word) {
  if (contains(word, "alloc")) return Kind::allocated;
  if (contains(word, "reserved")) return Kind::reserved;
  if (any_of(word, {"smi", "nvml", "device", "process"})) return Kind::device;
  return Kind::unstated;
}

// Names such as bytes_peak_allocated, peak_reserved_mib or process_mib. Whole-process figures are peaks by
// the way they are taken; of PyTorch's counters only the maxima are.
std::optional<Reading> second_reading(const std::string& key, double figure) {
  if (any_of(key, {"before", "after", "resident", "avg", "p99", "baseline", "end_of", "context"})) {
    return std::nullopt;
  }
  const Kind kind = kind_of(key);
  if (kind == Kind::unstated) return std::nullopt;
  if (kind != Kind::device && !any_of(key, {"peak", "max"})) return std::nullopt;
  for (const Unit& unit : units) {
    if (contains(key, unit.word)) return Reading{kind, figure * unit.bytes};
  }
  return std::nullopt;
}

// Of a kind the record keeps one: a figure in bytes is worth more than the same one rounded for a table.
void add_reading(Record& record, const Reading& reading) {
  for (Reading& known : record.readings) {
    if (known.kind != reading.kind) continue;
    known.bytes = reading.bytes;
    return;
  }
  record.readings.push_back(reading);
}

void read_second_readings(const Json& also, Record& record, json::Errors& errors) {
  if (!also.is_object()) return;
  for (const auto& [key, value] : also.items()) {
    if (value.is_null() || !value.is_number()) continue;
    const auto figure = json::read_number(value, "/also/" + json::escape(key), {}, errors);
    if (!figure || *figure <= 0) continue;
    if (const auto reading = second_reading(key, *figure)) add_reading(record, *reading);
  }
}

// What the whole-device figure holds besides this run: the context, other processes. The rest is what PyTorch
// reserves.
double held_besides(const Record& record) {
  json::Errors ignored;
  std::smatch match;
  const std::string note = record.text("note");
  static const std::regex context("includes an? ([0-9]+) MiB CUDA context");
  if (std::regex_search(note, match, context)) {
    const auto mebibytes = json::parse(match[1].str(), ignored);
    return json::read_number(mebibytes.value_or(Json()), "", {}, ignored).value_or(0) * 1048576.0;
  }
  const auto baseline = json::parse(record.text("also.device_baseline_gib"), ignored);
  return json::read_number(baseline.value_or(Json()), "", {}, ignored).value_or(0) * 1073741824.0;
}

void leave_out_what_is_held_besides(Record& record) {
  const double besides = held_besides(record);
  if (besides <= 0) return;
  for (Reading& reading : record.readings) {
    if (reading.kind == Kind::device) reading = {Kind::reserved, reading.bytes - besides};
  }
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  json::Errors ignored;
  if (value.is_string()) return json::read_text(value, "", ignored).value_or("");
  if (!value.is_array()) return json::write(value);
  std::string joined;
  for (const std::string& word : json::read_texts(value, "", ignored).value_or(std::vector<std::string>())) {
    joined += (joined.empty() ? "" : ", ") + word;
  }
  return joined;
}

std::string series_of(const std::string& id) {
  const std::size_t dash = id.rfind('-');
  return dash == std::string::npos ? id : id.substr(0, dash);
}

}  // namespace

std::string_view name(Kind kind) {
  constexpr std::array<std::string_view, 4> names = {"allocated", "reserved", "device", "unstated"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string Record::text(std::string_view field) const {
  const std::size_t dot = field.find('.');
  const auto outer = fields.find(field.substr(0, dot));
  if (outer == fields.end()) return "";
  if (dot == std::string_view::npos) return text_of(*outer);
  if (!outer->is_object()) return "";
  const auto inner = outer->find(field.substr(dot + 1));
  return inner == outer->end() ? "" : text_of(*inner);
}

const Reading* Record::reading(Kind kind) const {
  for (const Reading& reading : readings) {
    if (reading.kind == kind) return &reading;
  }
  return nullptr;
}

Record read_record(const Json& row, json::Errors& errors) {
  Record record;
  json::Object object(row, "", errors);
  if (!object.is_object()) return record;
  record.fields = row;
  record.id = object.text("id").value_or("");
  record.series = series_of(record.id);
  record.tier = object.text("tier").value_or("");
  record.model = object.text("model").value_or("");
  record.method = object.text("method").value_or("");
  record.gpus = object.count("n_gpus", {1, 1e6}).value_or(1);
  record.batch = object.count("batch", {1, 1e6});
  record.length = object.count("seq_len", {1, 1e9});
  record.rank = object.count("lora_rank", {1, 1e6});
  record.exact_length = object.flag("seq_exact").value_or(false);
  const std::string outcome = object.text("outcome").value_or("fits");
  record.died = outcome == "oom";
  // A name of a selective scheme stands where others say true or false.
  if (const Json* checkpointing = object.find("grad_checkpointing"); checkpointing != nullptr) {
    if (checkpointing->is_boolean()) record.checkpointing = object.flag("grad_checkpointing");
  }
  if (const Json* targets = object.find("lora_targets"); targets != nullptr && targets->is_array()) {
    record.targets = object.texts("lora_targets").value_or(std::vector<std::string>());
  }
  const double unit = unit_bytes(lower(object.text("unit").value_or("unknown")));
  const auto figure = object.number("measured_gb", {0, 1e6});
  // What an out-of-memory run showed before it ended is no peak of the run.
  if (!record.died) {
    if (figure && unit > 0) {
      record.readings.push_back({kind_of(lower(object.text("kind").value_or(""))), *figure * unit});
    }
    if (const Json* also = object.find("also"); also != nullptr) read_second_readings(*also, record, errors);
    leave_out_what_is_held_besides(record);
  }
  if (record.id.empty()) errors.push_back({"missing", "/id", "A record needs an id.", "a string"});
  if (record.model.empty()) errors.push_back({"missing", "/model", "A record needs a model.", "a string"});
  return record;
}

}  // namespace plimsoll::accuracy
