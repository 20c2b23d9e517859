#include "core/cli/typed.h"

#include <algorithm>
#include <cmath>

#include "core/exchange/format.h"
#include "core/exchange/scalar.h"
#include "core/json/ascii.h"
#include "core/json/near.h"
#include "core/model/not_replayed.h"
#include "core/question/said_cards.h"
#include "core/run/model_names.h"

namespace plimsoll::cli {

namespace {

using json::Json;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// A context of "4k" is 4096 tokens; "50k" samples are 50,000.
bool counts_in_binary(std::string_view pointer) {
  const std::string_view name = pointer.substr(pointer.rfind('/') + 1);
  return name.find("length") != std::string_view::npos || name.find("tokens") != std::string_view::npos;
}

// "8,192" without its comma; nothing where a comma stands for something else.
std::optional<std::string> without_groups(std::string_view text) {
  std::string digits;
  std::size_t group = 0;
  bool grouped = false;
  for (char c : text) {
    if (c == ',') {
      if (digits.empty() || (grouped ? group != 3 : group > 3)) return std::nullopt;
      grouped = true;
      group = 0;
      continue;
    }
    digits += c;
    ++group;
  }
  if (grouped && group != 3) return std::nullopt;
  return digits;
}

Json number_of(const std::string& text, bool binary, std::string& why) {
  const auto read = amount(text, binary);
  if (!read) return text;
  if (ascii::is_letter(text.back())) why = "for " + text;
  const bool whole = *read == std::floor(*read) && std::fabs(*read) < 9007199254740992.0;
  if (!whole) return *read;
  return *read < 0 ? Json(static_cast<int64_t>(*read)) : Json(static_cast<uint64_t>(*read));
}

constexpr std::size_t most_candidates = 12;

// A name that nothing is called, by its parts. Of several the shortest is meant when the others are more of
// it: rtx-4090-laptop of rtx-4090. The best come first among those that are not.
Typed named(const std::string& word, const std::string& list) {
  const json::Near found = json::near(word, list);
  if (!found.by_parts) return {word, "", {}};
  const bool one = found.names.find(',') == std::string::npos;
  bool nested = true;
  std::vector<std::string> candidates = items_of(found.names);
  for (const std::string& item : items_of(list)) {
    if (!json::near(word, item).by_parts) continue;
    nested = nested && json::near(found.names, item).by_parts;
    const std::string name = item.substr(0, item.find('\t'));
    if (std::find(candidates.begin(), candidates.end(), name) == candidates.end()) candidates.push_back(name);
  }
  if (one && nested) return {found.names, "found by the parts of \"" + word + "\"", {}};
  if (candidates.size() > most_candidates) {
    const std::string rest = std::to_string(candidates.size() - most_candidates) + " more";
    candidates.resize(most_candidates);
    candidates.push_back(rest);
  }
  return {word, "", std::move(candidates)};
}

Typed word_of(const std::string& word, const std::string& allowed) {
  const std::string padded = ", " + allowed + ", ";
  if (allowed.empty() || padded.find(", " + word + ", ") != std::string::npos) return {word, "", {}};
  return named(word, allowed);
}

// "fa2" of attention: as a question's words are read.
Typed word_in_words(const recipe::FieldInfo& field, const std::string& text) {
  Typed word = word_of(text, field.allowed);
  if (word.value != Json(text) || !word.candidates.empty()) return word;
  const bool known = (", " + field.allowed + ", ").find(", " + text + ", ") != std::string::npos;
  if (known) return word;
  const recipe::Values said = question::said_request(diagnosis::clean(text), {}).values;
  const auto found = said.find(field.pointer);
  return found == said.end() ? word : Typed{found->second, "what \"" + text + "\" is", {}};
}

Typed list_of(const recipe::FieldInfo& field, const std::string& text) {
  Typed list{Json::array(), "", {}};
  for (const std::string& item : items_of(text)) {
    Typed one = word_of(item, field.allowed);
    list.value.push_back(std::move(one.value));
    if (!one.why.empty()) list.why = std::move(one.why);
    if (!one.candidates.empty()) list.candidates = std::move(one.candidates);
  }
  return list;
}

// "a100" means a whole card: a slice of one says "mig".
Typed card_of(const std::string& word, const run::Catalog& catalog) {
  if (catalog.find_gpu(word) != nullptr) return {word, "", {}};
  const bool slices = ascii::lower(word).find("mig") != std::string::npos;
  if (const hardware::Gpu* card = question::card_called(word, catalog))
    return {card->id, "found by the parts of \"" + word + "\"", {}};
  return named(word, run::gpu_list(catalog, slices));
}

std::string stack_list(const run::Catalog& catalog) {
  std::string list;
  for (const recipe::StackPreset& stack : catalog.stacks) list += (list.empty() ? "" : ", ") + stack.id;
  return list;
}

}  // namespace

std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view item = ascii::trim(list.substr(at, end - at));
    if (!item.empty()) items.emplace_back(item);
    at = end + 1;
  }
  return items;
}

std::optional<double> amount(std::string_view text, bool binary) {
  text = ascii::trim(text);
  double unit = 1;
  if (ends_with(text, "k") || ends_with(text, "K")) unit = binary ? 1024 : 1000;
  if (ends_with(text, "m") || ends_with(text, "M")) unit = binary ? 1048576 : 1000000;
  if (unit != 1) text.remove_suffix(1);
  const auto digits = without_groups(text);
  const auto number = digits ? exchange::meant_number(*digits) : std::nullopt;
  json::Errors ignored;
  const auto value = number
                         ? json::read_number(*number, "", {-9007199254740992.0, 9007199254740992.0}, ignored)
                         : std::nullopt;
  return value ? std::optional<double>(*value * unit) : std::nullopt;
}

Typed typed_model(const std::string& name, const run::Catalog& catalog) {
  // What another tool can load too.
  if (const run::ModelEntry* listed = catalog.find_model(name); listed != nullptr) {
    const std::string id = run::hub_id(catalog, name), &shapes = listed->preset.hf_id;
    return {id, ascii::lower(id) == ascii::lower(shapes) ? "" : "its shapes are those of " + shapes, {}};
  }
  if (run::find_by_name(catalog, name).entry != nullptr) return {name, "", {}};
  // Of parts of a name another model comes out: "microsoft/deberta-base" is no DeBERTa-v3.
  const bool whole = name.find('/') != std::string::npos || !model::not_replayed_by_name(name).empty();
  return whole ? Typed{name, "", {}} : named(name, run::model_list(catalog));
}

Typed typed(const recipe::FieldInfo& field, const std::string& text, const run::Catalog& catalog) {
  if (text == "null") return {Json(), "", {}};
  if (!text.empty() && std::string_view("{[\"").find(text[0]) != std::string_view::npos) {
    json::Errors errors;
    if (auto value = json::parse(text, errors); value && errors.empty()) return {std::move(*value), "", {}};
  }
  if (field.pointer == "/model") return typed_model(text, catalog);
  if (field.pointer == "/stack") return word_of(text, stack_list(catalog));
  if (field.pointer == "/hardware/gpu") return card_of(text, catalog);
  if (field.type == "count" || field.type == "number") {
    std::string why;
    Json value = number_of(text, counts_in_binary(field.pointer), why);
    return {std::move(value), std::move(why), {}};
  }
  if (field.type == "flag") {
    const auto flag = exchange::meant_flag(text);
    return {flag ? Json(*flag) : Json(text), "", {}};
  }
  if (const std::string dtype = exchange::dtype_word(text);
      field.pointer.ends_with("dtype") && dtype != text &&
      exchange::in_list(dtype, "float32 bfloat16 float16"))
    return {dtype, "for " + text, {}};
  if (field.type == "word") return word_in_words(field, text);
  if (field.type == "texts") return list_of(field, text);
  if (field.type == "texts_or_text") {
    const bool pattern = text == "all-linear" || text.find_first_of("^$*+?()[]|\\") != std::string::npos;
    return pattern ? Typed{text, "", {}} : list_of(field, text);
  }
  return {text, "", {}};
}

}  // namespace plimsoll::cli
