// Cases of a cause that have a name and a remedy of their own: a setting that is set and does not take
// effect, and memory that is not the GPU's (RAM of the machine by who fills it, /dev/shm, an engine's or
// JAX's own reservation).
//
//     for (const CaseShown& one : cases_in(text, prose)) {
//       one.what->title;   // "Gradient checkpointing is set without effect"
//       if (recipe::Recipe r = recipe; one.what->undo != nullptr && one.what->undo(r)) ...   // the run then
//     }
//
// A case raises its cause, and speaks in its stead where that cause comes first.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/prose.h"
#include "core/diagnosis/text.h"
#include "core/recipe/recipe.h"

namespace plimsoll::diagnosis {

struct Case {
  std::string_view id;
  std::string_view cause;  ///< id of the cause that it is a case of
  std::string_view title, why, remedy;
  std::string_view without = {};  ///< of a setting: "gradient checkpointing off"
  /// Makes the recipe what runs without the setting; false where it is not set. Null: no setting.
  bool (*undo)(recipe::Recipe&) = nullptr;
  std::initializer_list<std::string_view> alone = {};   ///< any of these shows it: what a library prints
  std::initializer_list<std::string_view> things = {};  ///< one of these and one of `said` in a sentence
  std::initializer_list<std::string_view> said = {};    ///< empty: that it has no effect
  bool speaks = false;  ///< it is a failure of memory where nobody calls it so
};
std::span<const Case> all_cases();
const Case* find_case(std::string_view id);

struct CaseShown {
  const Case* what = nullptr;
  std::string words;  ///< of the text
  std::size_t at = 0;
  bool alone = false;     ///< by words that mean nothing else
  bool computed = false;  ///< `words` are a sum and no quotation
};
std::vector<CaseShown> cases_in(const Text& text, const Prose& prose);
/// Whether it is about memory in a text in which nobody speaks of a failure.
bool speaks_of_memory(const CaseShown& one, std::string_view folded);

}  // namespace plimsoll::diagnosis
