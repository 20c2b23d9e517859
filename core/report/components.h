// The lines of the breakdown: what each component is, how its bytes come about in this run, and where that is
// known from.
//
//     write_components(out, instant.live, facts);
#pragma once

#include <string>
#include <string_view>

#include "core/json/writer.h"
#include "core/memory/step/replay.h"

namespace plimsoll::report {

/// What the words are made of.
struct Facts {
  const model::Architecture* network;
  const recipe::Recipe* recipe;
  const memory::Replay* replay;
};

struct ComponentRow {
  std::string_view id;
  double bytes;
  std::string_view what;
  std::string formula;
  std::string_view source;
};

/// {"id", "bytes", "what", "formula", "source"}
void write_component(json::Writer& out, const ComponentRow& row);

/// One row for every component with bytes, largest first.
void write_components(json::Writer& out, const memory::Snapshot& live, const Facts& facts);

/// "weights", "gradients", ...: a component's name in a report.
std::string_view component_id(memory::Component component);

/// 1234567 as "1,234,567".
std::string grouped(double number);

}  // namespace plimsoll::report
