// What the writers of plans, ladders and fixes share.
//
//     write_sizes(out, price.sizes);
//     out.field("time_factor", factor(seconds, seconds_as_it_is));
#pragma once

#include "core/json/writer.h"
#include "core/memory/allocator/sizes.h"

namespace plimsoll::report {

/// 1 where nothing is known of the time before.
double factor(double now, double before);
/// "none", "parity", "small" or "visible"
const char* quality_word(int cost);
void write_sizes(json::Writer& out, const memory::Sizes& sizes);

}  // namespace plimsoll::report
