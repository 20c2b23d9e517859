// Every model_type and its reader. The table lies in a file of its own, so that a program can be linked with
// a shorter one: the page's first module carries the families of the documented cases alone
// (wasm/first_families.cpp).
//
//     for (const Family& family : family_table()) { ... family.model_type ... }
#pragma once

#include <span>
#include <string_view>

#include "core/model/families.h"

namespace plimsoll::model {

struct Family {
  std::string_view model_type;
  Kind kind;
  FamilyReader read;
};

std::span<const Family> family_table();

/// Whether the table has the model_type of a config.json, and that of the text model within it.
bool reads_family(const json::Json& config);

}  // namespace plimsoll::model
