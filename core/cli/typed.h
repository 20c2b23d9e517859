// Values as people type them, turned into what a field of the contract holds.
//
//     typed({"/training/max_length", "count", ...}, "4k", catalog)    // 4096, "for 4k"
//     typed({"/hardware/gpu", "text", ...}, "4090", catalog)          // "rtx-4090", found by its parts
//
// What cannot be understood stays the text that it is, and the core refuses it in its own words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/recipe/recipe.h"
#include "core/run/catalog.h"

namespace plimsoll::cli {

struct Typed {
  json::Json value;
  std::string why;  ///< what was made of the text, for a person; "" where the value is what was typed
  /// Names that share these parts, where it is not clear which is meant.
  std::vector<std::string> candidates;
};

Typed typed(const recipe::FieldInfo& field, const std::string& text, const run::Catalog& catalog);

/// 4k, 8,192, 1e4, 1.5m. A k is 1024 for a `binary` quantity, such as tokens, else 1000.
std::optional<double> amount(std::string_view text, bool binary);

/// The items of "a, b".
std::vector<std::string> items_of(std::string_view list);

/// A model's listed name, or the only one that has these parts.
Typed typed_model(const std::string& name, const run::Catalog& catalog);

}  // namespace plimsoll::cli
