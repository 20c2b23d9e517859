// The sizes of a run as fields of an object that is open.
//
//     out.open_object();
//     write_size_fields(out, sizes_at_peak(run));    // "allocated", "reserved", ...
#pragma once

#include "core/json/rounding.h"
#include "core/json/writer.h"
#include "core/memory/allocator/sizes.h"

namespace plimsoll::report {

inline void write_size_fields(json::Writer& out, const memory::Sizes& sizes) {
  out.field("allocated", json::whole(sizes.allocated));
  out.field("reserved", json::whole(sizes.reserved));
  out.field("device", json::whole(sizes.device));
  out.field("low", json::whole(sizes.low));
  out.field("high", json::whole(sizes.high));
  out.field("needed", json::whole(sizes.needed));
  out.field("enough", json::whole(sizes.enough));
}

}  // namespace plimsoll::report
