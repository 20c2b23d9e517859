#include "core/exchange/export.h"

#include <algorithm>
#include <cmath>

#include "core/exchange/render.h"
#include "core/recipe/fields.h"
#include "core/recipe/tasks.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

struct Place {
  const Row* row = nullptr;
  std::string key;
  size_t order = 0;
};

// 32.0 where people write 32: an alpha, a number of epochs.
Json as_written(const Json& value) {
  if (!value.is_number_float()) return value;
  const double number = value.get<double>();
  const bool whole = number >= 0 && number < 9e15 && number == std::floor(number);
  return whole ? Json(static_cast<uint64_t>(number)) : value;
}

Place place_of(const Format& format, std::string_view pointer, const Json& value) {
  size_t order = 0;
  for (const Section& section : format.sections) {
    for (const Row& row : section.table->rows) {
      ++order;
      if (row.pointer != pointer || row.key.back() == '*' || !can_write(row, value)) continue;
      const std::string below(section.below);
      return {&row, below.empty() ? std::string(row.key) : below + "." + std::string(row.key), order};
    }
  }
  return {};
}

}  // namespace

size_t order_of(const Format& format, std::string_view key) {
  size_t order = 0;
  for (const Section& section : format.sections) {
    for (const Row& row : section.table->rows) {
      ++order;
      if (section.below.empty() ? row.key == key
                                : key == std::string(section.below) + "." + std::string(row.key)) {
        return order;
      }
    }
  }
  return order + 1;
}

bool can_write(const Row& row, const Json& value) {
  const bool plain = row.read == nullptr && !row.is_switch;
  if (row.write == Write::no || (row.write == Write::unless_read && !plain)) return false;
  // A switch says what its list says, and nothing else.
  if (row.values.find("true=") == std::string_view::npos ||
      row.values.find("false=") != std::string_view::npos)
    return true;
  return foreign_value(row, value).is_boolean() || value.is_boolean();
}

namespace {

// Of tasks that write completions; a number of them says to a reader that they do.
constexpr std::string_view of_generation =
    "/rl/num_generations /rl/steps_per_generation /rl/num_iterations /rl/temperature /rl/use_vllm "
    "/rl/vllm_*";
// 0 is off in a request; Transformers takes None, which is what an argument that is left out is, and stops at
// 0 or divides by it (training_args.py __post_init__, trainer.py evaluation_loop).
constexpr std::string_view off_when_left_out =
    "/training/torch_empty_cache_steps /training/eval_accumulation_steps";

}  // namespace

bool is_idle(const recipe::Values& values, std::string_view pointer) {
  if (pointer.substr(0, 4) != "/rl/") return false;
  const auto stated = values.find("/task");
  const recipe::Task* task =
      recipe::find_task(stated == values.end() ? "sft" : stated->second.get_ref<const std::string&>());
  if (task == nullptr || !task->has_rl()) return true;
  return !task->online && in_list(pointer, of_generation);
}

namespace {

// Whether a word is among a refusal's: "!a b" is all but a and b.
bool among(std::string_view word, std::string_view list) {
  if (list.empty()) return true;
  return list[0] == '!' ? !in_list(word, list.substr(1)) : in_list(word, list);
}

bool has_variables(const Format& format) {
  return format.written == Language::shell || format.written == Language::python;
}

}  // namespace

bool is_refused(const Format& format, std::string_view task, std::string_view key, const Json& value) {
  if (key[0] == '$') return !has_variables(format);  // a variable of the environment has no place in a file
  std::string_view bare = key;
  if (const size_t dot = key.find('.'); format.written == Language::python && dot != std::string_view::npos)
    bare.remove_prefix(dot + 1);
  const std::string word = value.is_string() ? value.get<std::string>() : "";
  return std::any_of(format.refused.begin(), format.refused.end(), [&](const Refusal& refusal) {
    return (in_list(bare, refusal.keys) || in_list(key, refusal.keys)) && among(task, refusal.tasks) &&
           (refusal.words.empty() || (value.is_string() && among(word, refusal.words)));
  });
}

std::string Writing::said_task(const Format& format) const {
  const bool kept = std::find(left_out.begin(), left_out.end(), "/task") == left_out.end();
  const std::string task = word("/task");
  // A file for `trl TASK --config` leaves the task to the command.
  return !task.empty() && (kept || !has_variables(format)) ? task : "sft";
}

namespace {

void leave_out_refused(const Format& format, Writing& out) {
  const std::string task = out.said_task(format);
  std::vector<Entry> kept;
  for (Entry& entry : out.entries) {
    if (!is_refused(format, task, entry.key, entry.value)) {
      kept.push_back(std::move(entry));
    } else if (!entry.pointer.empty()) {
      out.left_out.push_back(entry.pointer);
    }
  }
  out.entries = std::move(kept);
}

}  // namespace

Writing compose(const Format& format, const recipe::Request& given) {
  Writing out;
  out.values = given.values;
  out.model = given.model_id;
  if (!given.model_id.empty()) {
    out.values["/model"] = given.model_id;
  } else if (!given.model_config.is_null() && format.of_fields) {
    out.values["/model"] = Json{{"config", given.model_config}, {"name", given.model_name}};
  } else if (!given.model_config.is_null()) {
    out.left_out.emplace_back("/model");
  }
  const auto put = [&](const std::string& pointer, const Json& stated) {
    const Json value = as_written(stated);
    // No words after an option are no list on a command line.
    const bool empty_list = value.is_array() && value.empty();
    // No targets but parameters, of which the format knows nothing.
    const bool of_parameters = pointer == "/peft/target_modules" &&
                               place_of(format, "/peft/target_parameters", value).row == nullptr;
    const bool off = value == Json(0) && in_list(pointer, off_when_left_out);
    const bool unsayable = off || (empty_list && (format.written == Language::shell || of_parameters));
    if (!format.of_fields && (unsayable || is_idle(out.values, pointer))) {
      out.left_out.push_back(pointer);
      return;
    }
    if (pointer == "/stack" && (value == Json(std::string(format.stack)))) return;
    if (format.write != nullptr && format.write(out, pointer, value)) return;
    const Place place = place_of(format, pointer, value);
    if (place.row != nullptr) {
      out.put(place.key, foreign_value(*place.row, value), pointer);
      return;
    }
    // A section alone says nothing, but for the adapter that it is.
    const bool section = recipe::find_field(pointer) == nullptr && pointer != "/model";
    if (!section || pointer == "/peft") out.left_out.push_back(pointer);
  };
  if (const auto found = out.values.find("/peft/target_modules");
      found != out.values.end() && found->second == Json::array({"all-linear"})) {
    found->second = "all-linear";
  }
  const recipe::Values values = out.values;
  for (const char* first : {"/model", "/stack", "/task", "/peft"}) {
    if (const auto found = values.find(first); found != values.end()) put(first, found->second);
  }
  for (const recipe::Field& field : recipe::field_table()) {
    const std::string pointer(field.pointer);
    if (pointer == "/stack" || pointer == "/task" || pointer == "/schema") continue;
    if (const auto found = values.find(pointer); found != values.end()) put(pointer, found->second);
  }
  if (format.close != nullptr) format.close(out);
  leave_out_refused(format, out);
  // Where its settings are written, so is the adapter.
  if (std::any_of(out.entries.begin(), out.entries.end(),
                  [](const Entry& one) { return one.pointer.starts_with("/peft/"); }))
    std::erase(out.left_out, "/peft");
  std::stable_sort(out.entries.begin(), out.entries.end(), [&format](const Entry& a, const Entry& b) {
    return order_of(format, a.key) < order_of(format, b.key);
  });
  return out;
}

Export export_as(const Format& format, const recipe::Request& given) {
  Writing out = compose(format, given);
  Export written;
  switch (format.written) {
    case Language::yaml:
      written.text = (format.head == nullptr ? "" : format.head(out)) + render_yaml(out.entries);
      break;
    case Language::json:
      written.text = render_json(out.entries);
      break;
    case Language::python:
      written.text = render_python(format, out.entries);
      break;
    case Language::shell:
      written.text = render_shell(format, out.entries);
      break;
    case Language::link:
    case Language::none:
      break;
  }
  std::sort(out.left_out.begin(), out.left_out.end());
  written.left_out = std::move(out.left_out);
  return written;
}

namespace {

// The first field that a file of this format needs and could not say; "" none.
std::string unsaid_need(const Format& format, const recipe::Request& given) {
  const Writing out = compose(format, given);
  const std::string task = out.word("/task");
  for (const std::string& pointer : out.left_out) {
    if (!in_list(pointer, format.needed)) continue;
    const bool off = out.is(pointer, false) || out.is(pointer, nullptr);
    // What trains on plain text trains on it whatever it is called.
    const bool plain = pointer == "/task" && (task == "sft" || task == "pretrain");
    // A model that is given by its config has no name for any file.
    if (!off && !plain && (pointer != "/model" || !given.model_id.empty())) return pointer;
  }
  return "";
}

}  // namespace

std::optional<json::Error> export_refusal(const Format& format, const recipe::Request& given) {
  const std::string pointer = unsaid_need(format, given);
  if (pointer.empty()) return std::nullopt;
  std::string can;
  for (const Format* other : formats()) {
    const bool written = other->written != Language::none && other->written != Language::link;
    if (!written || other->needed.empty() || other == &format) continue;
    if (unsaid_need(*other, given).empty()) can += (can.empty() ? "" : ", ") + std::string(other->id);
  }
  std::string what = pointer == "/model"  ? "the model " + given.model_id
                     : pointer == "/task" ? "the task " + given.values.at("/task").get<std::string>()
                     : pointer == "/peft" ? "adapters on " + given.model_id
                                          : pointer.substr(1);
  return json::Error{"unsupported", pointer,
                     std::string(format.name) + " has no words for " + what +
                         ", so that its file would be of another training.",
                     can.empty() ? "" : "as one of " + can};
}

}  // namespace plimsoll::exchange
