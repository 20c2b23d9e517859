#include "core/exchange/import.h"

#include <algorithm>

#include "core/exchange/commands.h"
#include "core/exchange/formats.h"
#include "core/exchange/formats/autotrain.h"
#include "core/exchange/formats/flat.h"
#include "core/exchange/formats/fms_tuning.h"
#include "core/exchange/formats/llamafactory.h"
#include "core/exchange/formats/python_calls.h"
#include "core/exchange/formats/refused.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/torchtune_command.h"
#include "core/exchange/formats/verl_sft.h"
#include "core/exchange/parts.h"
#include "core/exchange/placeholder.h"
#include "core/exchange/versions.h"
#include "core/recipe/fields.h"
#include "core/recipe/tasks.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// Whether a key that matters has a value under which it does: null, false, 0, "none" are the state without
// it.
bool is_active(const Node& node) {
  if (node.is_map()) return !node.members.empty();
  if (node.is_list()) return !node.items.empty();
  if (node.opaque) return true;
  if (node.value.is_boolean()) return node.value.get<bool>();  // a bare flag is on, and has no text
  if (node.value.is_null() || node.value == Json(0)) return false;
  return node.raw != "none" && node.raw != "None" && node.raw != "no" && node.raw != "" && node.raw != "1" &&
         node.raw != "false" && node.raw != "False" && node.raw != "auto";
}

struct Found {
  const Row* row = nullptr;
  Use use = Use::unknown;
};

Found look_up(const Format& format, std::string_view path) {
  Found listed;
  for (const Section& section : format.sections) {
    std::string_view key = path;
    if (!section.below.empty()) {
      if (key.substr(0, section.below.size()) != section.below || key.size() <= section.below.size() ||
          key[section.below.size()] != '.') {
        continue;
      }
      key.remove_prefix(section.below.size() + 1);
    }
    for (const Row& row : section.table->rows) {
      if (row.key == key || (row.key.back() == '*' && in_list(key, row.key))) return {&row, Use::used};
    }
    if (listed.use != Use::unknown) continue;
    if (in_list(key, section.table->unpriced)) listed.use = Use::unsupported;
    if (in_list(key, section.table->irrelevant)) listed.use = Use::irrelevant;
    if (in_list(key, section.table->implied)) listed.use = Use::implied;
  }
  return listed;
}

void read_switch(Reading& reading, const Leaf& leaf, const Row& row) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  const bool flag = row.values == "true" || row.values == "false";
  reading.set(row.pointer, flag ? Json(row.values == "true") : Json(std::string(row.values)), &leaf);
}

void read_keys(Reading& reading) {
  for (const Leaf& leaf : reading.all) {
    Found found = look_up(reading.format, leaf.path);
    // A variable of a script is read where it is used.
    if (found.use == Use::unknown && leaf.path[0] == '$') found.use = Use::irrelevant;
    if (found.row != nullptr) {
      if (found.row->read != nullptr) {
        found.row->read(reading, leaf);
      } else if (found.row->is_switch) {
        read_switch(reading, leaf, *found.row);
      } else {
        reading.set(found.row->pointer, leaf, found.row->values);
      }
    } else if (found.use == Use::unsupported && !is_active(*leaf.node)) {
      reading.mark(leaf, Use::implied, "off or empty, as it is anyway");
    } else if (found.use == Use::unsupported) {
      reading.mark(leaf, Use::unsupported, "this changes memory, and a request has no field for it yet");
    } else {
      reading.mark(leaf, found.use);
    }
  }
}

void refuse(Reading& reading, const std::string& pointer, const std::string& message) {
  reading.values.erase(pointer);
  for (Finding& found : reading.findings) {
    if (found.pointer != pointer || found.use != Use::used) continue;
    found.use = Use::unsupported;
    found.message = message;
  }
}

bool is_unknown(const std::string& pointer, const Json& value) {
  if (recipe::find_field(pointer) != nullptr) return false;
  if (!recipe::is_section_mark(pointer, value)) return pointer != "/model";
  const auto table = recipe::field_table();
  return std::none_of(table.begin(), table.end(), [below = pointer + "/"](const recipe::Field& field) {
    return field.pointer.starts_with(below);
  });
}

// Fields that this core does not have yet.
void refuse_unknown_fields(Reading& reading) {
  std::vector<std::string> unknown;
  for (const auto& [pointer, value] : reading.values) {
    if (is_unknown(pointer, value)) unknown.push_back(pointer);
  }
  for (const std::string& pointer : unknown) {
    const Json& value = reading.values[pointer];
    const bool off = value == Json(false) || value == Json("none") || value.is_null();
    for (Finding& found : reading.findings) {
      if (!off || found.pointer != pointer || found.use != Use::used) continue;
      found.use = Use::implied;
      found.message = "off, as it is anyway";
      found.pointer.clear();
    }
    refuse(reading, pointer, "this changes memory, and a request has no field for it yet");
  }
}

// Values that the reader of requests refuses. Where one is gone another may be: a section that is left empty.
void refuse_bad_values(Reading& reading) {
  constexpr int most_rounds = 4;
  for (int round = 0; round < most_rounds; ++round) {
    json::Errors errors;
    Json request = nest(reading.values);
    if (!request.contains("model")) request["model"] = "gpt2";
    (void)recipe::read_request(request, errors);
    if (errors.empty()) return;
    for (const json::Error& error : errors) {
      // An error inside a list belongs to the list.
      std::string pointer = error.pointer;
      while (!pointer.empty() && reading.values.count(pointer) == 0)
        pointer.resize(pointer.rfind('/') == std::string::npos ? 0 : pointer.rfind('/'));
      if (!pointer.empty())
        refuse(reading, pointer,
               error.message + (error.allowed.empty() ? "" : " Allowed: " + error.allowed + "."));
    }
  }
}

// "training.max_length": whether a request has such a field, or it describes the model.
bool is_field(std::string_view path) {
  if (path.substr(0, 5) == "model") return path == "model" || path.substr(0, 13) == "model.config.";
  std::string pointer = "/";
  for (const char c : path) pointer += c == '.' ? '/' : c;
  return recipe::find_field(pointer) != nullptr;
}

// Sizes that the text gives by an expression: a default in their place would be a silent change.
std::vector<run::Missing> not_evaluated(const Reading& reading) {
  constexpr std::string_view sizes =
      "/training/max_length /training/per_device_train_batch_size /training/gradient_accumulation_steps "
      "/training/gradient_checkpointing /training/optim /training/packing /peft/r /peft/target_modules "
      "/quantization/load_in_4bit /quantization/load_in_8bit /rl/num_generations "
      "/rl/max_completion_length /rl/max_prompt_length";
  std::vector<run::Missing> missing;
  for (const Finding& found : reading.findings) {
    if (found.use != Use::unsupported || !in_list(found.pointer, sizes) || reading.has(found.pointer))
      continue;
    if (found.message != expression_message) continue;
    const bool known = std::any_of(missing.begin(), missing.end(),
                                   [&](const run::Missing& one) { return one.pointer == found.pointer; });
    if (!known)
      missing.push_back(
          {found.pointer, "The text gives it by an expression that is not evaluated; say its value."});
  }
  for (const Reading::Unsaid& one : reading.unsaid) missing.push_back({one.pointer, one.message});
  return missing;
}

// Files say the length at which TRL up to 0.28 cut prompts; of a preference a request says how long they are.
void forget_cap_on_prompts(Reading& reading) {
  const auto named = reading.values.find("/task");
  if (named == reading.values.end() || !named->second.is_string() || reading.format.of_fields) return;
  const recipe::Task* task = recipe::find_task(named->second.get_ref<const std::string&>());
  if (task != nullptr && task->preference)
    reading.drop("/rl/max_prompt_length", "prompts are cut there: how long they are it does not say");
}

size_t count_marks(const Node& root, std::string_view marks, bool& settled) {
  size_t count = 0;
  while (!marks.empty()) {
    const size_t blank = std::min(marks.find(' '), marks.size());
    std::string_view mark = marks.substr(0, blank);
    const bool alone = mark[0] == '!';
    if (alone) mark.remove_prefix(1);
    if (root.find(mark) != nullptr) {
      ++count;
      settled = settled || alone;
    }
    marks.remove_prefix(std::min(blank + 1, marks.size()));
  }
  return count;
}

bool fits_language(const Format& format, Language language) {
  const auto data = [](Language l) { return l == Language::yaml || l == Language::json; };
  if (language == Language::link) return format.of_fields;
  if (language == Language::python) return format.written == language || format.in_python;
  if (data(language)) return data(format.written) || format.written == Language::none || format.in_files;
  return format.written == language;
}

}  // namespace

Json nest(const recipe::Values& values) {
  Json request = Json::object();
  const auto plant = [&request](const std::string& pointer, const Json& value) {
    Json* place = &request;
    size_t at = 1;
    while (true) {
      const size_t slash = pointer.find('/', at);
      const std::string key = pointer.substr(at, slash == std::string::npos ? slash : slash - at);
      Json& inner = (*place)[key];
      if (slash == std::string::npos) {
        if (!recipe::is_section_mark(pointer, value)) {
          inner = value;
        } else if (!inner.is_object()) {
          inner = Json::object();
        }
        return;
      }
      if (!inner.is_object()) inner = Json::object();
      place = &inner;
      at = slash + 1;
    }
  };
  for (const char* first : {"/model", "/stack", "/task"}) {
    if (const auto found = values.find(first); found != values.end()) plant(first, found->second);
  }
  // In the order of the field table, which is also that of the form.
  for (const recipe::Field& field : recipe::field_table()) {
    const std::string pointer(field.pointer);
    if (pointer == "/stack" || pointer == "/task") continue;
    if (const auto found = values.find(pointer); found != values.end()) plant(pointer, found->second);
  }
  for (const auto& [pointer, value] : values) {
    if (recipe::find_field(pointer) == nullptr && pointer != "/model") plant(pointer, value);
  }
  return request;
}

const Format* recognise(const Document& document) {
  if (document.language == Language::shell) return format_of_command(document.root);
  const Format* best = nullptr;
  double highest = 0;
  const std::vector<Leaf> keys = leaves(document.root);
  for (const Format* format : formats()) {
    if (!fits_language(*format, document.language)) continue;
    bool settled = false;
    const size_t marks = count_marks(document.root, format->marks, settled);
    if (marks == 0) continue;
    size_t known = 0;
    const bool own = format->of_fields;  // it takes any key, to say what is wrong with it
    for (const Leaf& leaf : keys) {
      const Found found = look_up(*format, leaf.path);
      if (own ? is_field(leaf.path) : found.row != nullptr || found.use != Use::unknown) ++known;
    }
    const double share = keys.empty() ? 0 : static_cast<double>(known) / static_cast<double>(keys.size());
    const double equal = own && document.language == Language::json ? 0.5 : 0;
    const double score = (settled ? 1000 : 0) + static_cast<double>(marks) + 4 * share + equal;
    if (!settled && marks < 2 && share < 0.5) continue;
    const Node* model = document.root.find("model");
    if (own && !settled && share < 0.5 && (model == nullptr || !model->is_scalar())) continue;
    if (score > highest) {
      highest = score;
      best = format;
    }
  }
  return best;
}

Document prepared(const Document& document) {
  Document made = document;
  if (document.language == Language::shell && is_torchtune_command(document.root))
    made.root = torchtune_command(document.root);
  if (document.language == Language::shell && is_verl_sft(document.root))
    made.root = verl_sft_command(document.root);
  if (document.language == Language::shell && format_of_command(document.root) == &command_line)
    made.root = command_of_own_sections(document.root);
  if (document.language != Language::python) return made;
  const Node* axolotl = axolotl_call(document.root);
  made.root = axolotl != nullptr ? *axolotl : python_sections(document.root);
  return made;
}

// A name that stands for somebody's own is asked for.
void ask_for_placeholder(Reading& reading) {
  const auto model = reading.values.find("/model");
  if (model == reading.values.end() || !model->second.is_string()) return;
  const std::string name = model->second.get<std::string>();
  if (!is_placeholder(name)) return;
  reading.values.erase(model);
  for (Finding& found : reading.findings) {
    if (found.pointer != "/model" || found.use != Use::used) continue;
    found.use = Use::unsupported;
    found.message = name + " stands for a model of your own; say which";
    found.pointer.clear();
  }
}

Import import_prepared(const Document& document, std::string_view text, const Format& format) {
  Import import;
  import.format = &format;
  Reading reading(document, format, text);
  read_keys(reading);
  if (format.finish != nullptr) format.finish(reading);
  // An empty list of targets says something beside parameters alone.
  if (const auto targets = reading.values.find("/peft/target_modules");
      targets != reading.values.end() && targets->second == Json::array() &&
      !reading.has("/peft/target_parameters")) {
    reading.drop("/peft/target_modules", "empty");
  }
  finish_sequence_parallel(reading);
  ask_for_placeholder(reading);
  forget_cap_on_prompts(reading);
  if (!reading.errors.empty()) {
    import.errors = std::move(reading.errors);
    import.findings = std::move(reading.findings);
    return import;
  }
  if (!reading.has("/stack") && !format.stack.empty()) reading.values["/stack"] = std::string(format.stack);
  refuse_unknown_fields(reading);
  refuse_bad_values(reading);
  const bool otherwise = std::any_of(reading.values.begin(), reading.values.end(), [](const auto& one) {
    return one.first.rfind("/peft", 0) == 0 || one.first.rfind("/quantization", 0) == 0;
  });
  if (reading.all_trained && !otherwise) reading.values["/peft"] = nullptr;
  const auto model = reading.values.find("/model");
  import.partial = model == reading.values.end();
  if (!import.partial && model->second.is_string()) import.model = model->second.get<std::string>();
  import.request = nest(reading.values);
  import.missing = not_evaluated(reading);
  import.findings = std::move(reading.findings);
  import.notes = std::move(reading.notes);
  return import;
}

Import import_document(const Document& given, std::string_view given_text) {
  constexpr size_t most_keys = 2000;  // keys are compared with each other, and no run has a tenth of them
  Import import;
  import.errors = given.errors;
  if (!import.errors.empty()) return import;
  const std::string_view text = text_of(given, given_text);
  // A script may hold its data too: of one only the calls that set something are keys.
  const Document document = prepared(given);
  const Node& root = given.language == Language::python ? document.root : given.root;
  if (!is_weight_index(text) && leaves(root).size() > most_keys) {
    import.errors.push_back(
        {"too_large", "", "This has more settings than any configuration.", "at most 2,000 settings"});
    return import;
  }
  // A file with its error below it may be YAML as a whole; handed back with changes it would be no file.
  const auto& keys = given.root.members;
  const bool with_log = given.language == Language::yaml &&
                        std::any_of(keys.begin(), keys.end(),
                                    [](const Member& member) { return begins_a_log_line(member.key); });
  const Format* format = document.root.is_map() && !with_log ? recognise(document) : nullptr;
  if (format == nullptr) {
    import.errors.push_back(
        {"unknown_format", "",
         "None of the known formats has these keys, so this is not read as a training "
         "configuration.",
         "a configuration of Axolotl, LLaMA-Factory, torchtune, TRL, Transformers, ms-swift, "
         "PEFT, DeepSpeed or accelerate, a command line, or a request"});
    return import;
  }
  import = import_prepared(document, text, *format);
  import.command = given.language == Language::shell;
  import.card = given.card;
  if (given.language == Language::shell) tell_of_settings_file(given.root, import);
  if (!given.code.empty())
    import.notes.emplace_back("Of the notebook its code cells are read, as one script in their order.");
  return import;
}

}  // namespace plimsoll::exchange
