// Two requests side by side: what each difference is worth in memory and time (core/run/comparison.h).
//
//     compare_text(a, b, catalog);
//     // {"a": {...}, "b": {...}, "differences": [{"pointer", "a", "b", "device", "allocated", "seconds"}]}
#pragma once

#include <string>
#include <string_view>

#include "core/run/catalog.h"

namespace plimsoll::report {

std::string compare_text(std::string_view a, std::string_view b, const run::Catalog& catalog);

}  // namespace plimsoll::report
