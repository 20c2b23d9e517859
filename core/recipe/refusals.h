// Combinations that a library refuses: what it prints, in which versions, and what to do instead.
//
//     const Refusing t4 = {.model_type = "llama", .compute_capability = 7.5};
//     for (const Refusal* row : refusals_of(recipe, t4)) print(error_of(*row, recipe, t4));
//     // "FlashAttention only supports Ampere GPUs or newer."
//
// A request that has one stays valid and gets a note (core/report/refused.h); no plan proposes one
// (core/advice/refused.h). What a request cannot say, such as which packages are installed, is left out, and
// so is what a library only warns of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

/// What a refusal depends on besides the recipe. Of the card: only where one was chosen.
struct Refusing {
  std::string_view model_type;
  bool sees = false;              ///< the model has a vision tower
  bool tied_head = false;         ///< its head is its embedding
  uint64_t widest_head = 0;       ///< of its text layers
  double compute_capability = 0;  ///< of an NVIDIA card; 0: no such card is chosen
  double parameters = 0;          ///< of the network
  double gpu_bytes = 0;           ///< what the card has; 0: none is chosen
};

struct Refusal {
  std::string_view id;
  std::string_view library;             ///< who prints it, for a person
  std::string_view stacks;              ///< ids with spaces between them; empty: whatever the stack
  std::string Versions::*of = nullptr;  ///< the package whose version decides; null: all versions
  const char* versions = "";            ///< as in version_matches
  bool (*applies)(const Recipe&, const Refusing&);
  std::string_view error;  ///< its own words; {name}: a value of this run (error_of), …: what is left out
  std::string_view instead;
  std::string_view source;  ///< package, file, function
};

/// In the order of the table.
std::span<const Refusal> refusals();

/// Whether the stack and its versions are among those of the row.
bool can_refuse(const Refusal& row, const Recipe& recipe);

std::vector<const Refusal*> refusals_of(const Recipe& recipe, const Refusing& around);

/// What the library prints, with the values of this run.
std::string error_of(const Refusal& row, const Recipe& recipe, const Refusing& around);

}  // namespace plimsoll::recipe
