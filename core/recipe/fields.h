// The field table: every key of a request, declared once.
//
//     for (const recipe::Field& field : recipe::field_table()) print(field.pointer, field.what);
//
// Reading, defaults, assumptions, the form and the documentation all walk this table; a new field is one row
// here and one member in recipe.h. Plain constant data: no code runs to make it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/json/json.h"
#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

enum class FieldType { count, number, flag, word, optimizer, text, version, texts, texts_or_text, text_map };

/// What a default may look at.
struct DefaultContext {
  const Values& values;  ///< fields above this one in the table, resolved
  const ModelTraits& traits;
  const std::string& stack;       ///< its id
  const std::string& stack_name;  ///< for a person
};
struct Default {
  json::Json value;
  std::string why;
  bool asked = false;  ///< no library sets it: it stands in for what only the person can say
};

struct Field {
  std::string_view pointer;
  FieldType type;
  double low = 0, high = 9007199254740992.0;          ///< of a count or number; 2^53 is no limit
  std::string_view words = {};                        ///< allowed words, joined by ", "; empty: see words_of
  void (*set)(Recipe&, const json::Json&) = nullptr;  ///< null: read, checked, not yet used
  Default (*rule)(const DefaultContext&) = nullptr;   ///< the default, when it depends on other fields
  std::string_view value = {};                        ///< else this one, as it would be written; empty: none
  std::string_view why = {};  ///< without it a default is not told among the assumptions: it changes nothing
  std::string_view what;      ///< one sentence for a person
  std::string_view needs = {};  ///< the field that must be given for this one to mean anything
};

/// Why a version is what it is where nobody says one, or the newest. There are rules of later releases too.
constexpr std::string_view release_taken =
    "the release taken where no number is given; say yours if it is another";

/// In the order in which defaults are resolved: a field may look at those above it.
std::span<const Field> field_table();

/// Null when there is no such field.
const Field* find_field(std::string_view pointer);

/// Among fields by pointer a section that is there stands as `true`, so that an empty one ("/peft") is there too.
bool is_section_mark(std::string_view pointer, const json::Json& value);

/// The words that a field allows, joined by ", ".
std::string words_of(const Field& field);

/// The stack that a request names, or the default one.
std::string stack_of(const Request& given);

/// The fixed default as JSON of the field's type.
json::Json fixed_default(const Field& field);

}  // namespace plimsoll::recipe
