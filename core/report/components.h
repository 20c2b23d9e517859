// The lines of the breakdown: what each component is, how its bytes come about in this run, and where that is
// known from.
//
//     json::Json rows = component_rows(instant.live, facts);
#pragma once

#include <string>

#include "core/json/json.h"
#include "core/memory/replay.h"

namespace plimsoll::report {

/// What the words are made of.
struct Facts {
  const model::Architecture* network;
  const recipe::Recipe* recipe;
  const memory::Replay* replay;
};

/// [{"id", "bytes", "what", "formula", "source"}] for every component with bytes, largest first.
json::Json component_rows(const memory::Snapshot& live, const Facts& facts);

/// A row for what PyTorch does not count as allocated.
json::Json component_row(const std::string& id, double bytes, const std::string& what,
                         const std::string& formula, const std::string& source);

/// 1234567 as "1,234,567".
std::string grouped(double number);

}  // namespace plimsoll::report
