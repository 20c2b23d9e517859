// Which name was meant, where none is spelled so.
//
//     near("4090", "rtx-4080, rtx-4090, rtx-4090-laptop").names    // "rtx-4090"
//     did_you_mean("adamw_tosch", "adamw_torch, adafactor")        // " Did you mean adamw_torch?"
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::json {

struct Near {
  std::string names;      ///< equally good ones, joined by ", " in the order of the list; "" for none
  bool by_parts = false;  ///< each part of the word is a part of these names, so it is no slip of the pen
};

/// `list` is joined by ", ". Behind a tab a name may have further words that it is known by.
Near near(std::string_view word, std::string_view list);

/// A sentence to end an error with; "" when nothing is near.
std::string did_you_mean(std::string_view word, std::string_view list);

}  // namespace plimsoll::json
