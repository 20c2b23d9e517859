// Two requests side by side: what each difference is worth in memory and time.
//
//     compare_text(a, b, catalog);
//     // {"a": {...}, "b": {...}, "differences": [{"pointer", "a", "b", "device", "allocated", "seconds"}]}
#pragma once

#include <string>
#include <string_view>

#include "core/report/catalog.h"

namespace plimsoll::report {

/// Shares add up to the whole difference, also where changes interact: each is the mean of what its field
/// adds over all orders in which the fields can be changed (Shapley 1953). With more than eight fields that
/// matter, over a fixed sample of orders.
std::string compare_text(std::string_view a, std::string_view b, const Catalog& catalog);

}  // namespace plimsoll::report
