// A request as its fields, and what two of them differ by.
//
//     const recipe::Values before = fields_of(request);
//     says(before, "/training/packing", &on);      // whether it says so
//     distance(before, fields_of(changed));        // fields that differ
#pragma once

#include <cstddef>
#include <string>

#include "core/json/json.h"
#include "core/recipe/recipe.h"

namespace plimsoll::exchange {

/// Adds the fields of a part of a request that stands at `pointer`.
void flatten(const json::Json& node, const std::string& pointer, recipe::Values& out);

/// By pointer; an empty section stands as true, as in import.h, and null is left out.
recipe::Values fields_of(const json::Json& request);

/// "all-linear" is also written as a list of that one word.
bool same(const json::Json& one, const json::Json& other);

/// `wanted` null: says nothing of it.
bool says(const recipe::Values& values, const std::string& pointer, const json::Json* wanted);

/// Whether the section or any field of it is there.
bool inside(const recipe::Values& values, const std::string& section);

size_t distance(const recipe::Values& from, const recipe::Values& to);

}  // namespace plimsoll::exchange
