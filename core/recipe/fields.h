// The field table: every key of a request, declared once.
//
//     for (const recipe::Field& field : recipe::field_table()) print(field.pointer, field.what);
//
// Reading, defaults, assumptions, the form and the documentation all walk this table; a new field is one row
// here and one member in recipe.h.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

enum class FieldType { count, number, flag, word, text, texts, texts_or_text, text_map };

/// A default that depends on what is already known. Null JSON: this rule does not apply.
struct DefaultContext {
  const Values& values;  ///< fields above this one in the table, resolved
  const Surroundings& around;
  const std::string& stack;
};
struct Default {
  json::Json value;
  std::string why;
};

struct Field {
  std::string_view pointer;
  FieldType type;
  json::Range range;
  std::vector<std::string_view> words;  ///< allowed words of a FieldType::word
  std::function<void(Recipe&, const json::Json&)> set;
  std::function<Default(const DefaultContext&)> fallback;  ///< when neither the user nor the stack says
  std::string_view what;                                   ///< one sentence for a person
};

/// In the order in which defaults are resolved: a field may look at those above it.
const std::vector<Field>& field_table();

/// Null when there is no such field.
const Field* find_field(std::string_view pointer);

}  // namespace plimsoll::recipe
