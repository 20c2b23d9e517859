// The ways by which a text from outside enters the core, each with what must hold of its answer whatever the
// text is.
//
//     const Way* way = find_way("import");
//     std::string wrong = way->wrong("base_model: gpt2\n");    // "" when all is well
//
// plimsoll_fuzz drives them with libFuzzer, tests/drawn with spoiled files of drawn requests. A crash is
// found by the sanitizers; what is wrong without one is said in words here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::fuzz {

struct Way {
  std::string_view name;
  std::string_view what;                          ///< the text is
  std::string (*wrong)(const std::string& text);  ///< what is wrong with the answer, or ""
};
std::span<const Way> ways();
const Way* find_way(std::string_view name);  ///< null: there is none

/// Ids of the formats in which a request can be written.
const std::vector<std::string>& written_formats();
/// A request as a file of such a format; "" where that cannot say it.
std::string exported(const std::string& request, std::string_view format);

}  // namespace plimsoll::fuzz
