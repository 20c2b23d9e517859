// Looking into a tree that may lack what is looked for, as a table of a report does.
//
//     at(at(report, "memory"), "peak")     // null when there is no such member, or nothing that has members
#pragma once

#include "core/json/json.h"

namespace plimsoll::json {

/// The member of an object; null when it has none, or is no object.
inline const Json& at(const Json& value, const std::string& key) {
  static const Json none;
  if (!value.is_object()) return none;
  const auto found = value.find(key);
  return found == value.end() ? none : *found;
}

}  // namespace plimsoll::json
