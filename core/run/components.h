// The lines of the breakdown: what each component is, how its bytes come about in this run, and where that is
// known from.
//
//     for (const ComponentRow& row : component_rows(instant.live, replayed)) print(row.what, row.bytes);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/run/replayed.h"

namespace plimsoll::run {

struct ComponentRow {
  std::string_view id;
  double bytes;
  std::string_view what;
  std::string formula;
  std::string_view source;
};

/// One row for every component with bytes, largest first.
std::vector<ComponentRow> component_rows(const memory::Snapshot& live, const Replayed& facts);

/// "weights", "gradients", ...: a component's name in a report.
std::string_view component_id(memory::Component component);

}  // namespace plimsoll::run
