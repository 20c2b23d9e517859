// Every model_type and its reader.
//
//     for (const Family& family : family_table()) { ... family.model_type ... }
#pragma once

#include <span>
#include <string_view>

#include "core/model/families.h"

namespace plimsoll::model {

struct Family {
  std::string_view model_type;
  NetworkKind kind;
  FamilyReader read;
};

std::span<const Family> family_table();

}  // namespace plimsoll::model
