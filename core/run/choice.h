// A value of a request that nobody gave, and why it is taken.
//
//     for (const Choice& one : usual_choices(request, catalog)) put(request, one.pointer, one.value);
#pragma once

#include <string>

#include "core/json/json.h"

namespace plimsoll::run {

struct Choice {
  std::string pointer;  ///< of the request
  json::Json value;
  std::string why;
  bool proven = false;  ///< by what failed: it can have no other value
  bool operator==(const Choice&) const = default;
};

}  // namespace plimsoll::run
