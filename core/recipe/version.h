// What a request may write as the version of a library. How versions are compared is in recipe.h.
//
//     version_of("v4.51.3")                       // "4.51.3"
//     version_of(">=4.46")                        // ""
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::recipe {

/// A version as pip prints it, without the "v" of a tag: "4.51.3", "4.51.0.dev0", "2.6.0+cu124"; "" when it is
/// none. A condition (">=4.46", "4.46.*") is none: which release it leads to depends on the day.
std::string version_of(std::string_view text);

/// A word in place of a version that has been read.
bool means_the_newest(std::string_view text);

/// What a version may be: a word for the newest, or such a number.
constexpr std::string_view version_words = "latest, main, git, 4.51.3";

}  // namespace plimsoll::recipe
