#include "core/report/rent.h"

#include <cmath>

#include "core/advice/rent.h"
#include "core/json/rounding.h"
#include "core/recipe/fields.h"
#include "core/recipe/locks.h"
#include "core/time/cost.h"

namespace plimsoll::report {

namespace {

using json::significant;
using json::whole;
using json::Writer;

void write_changes(Writer& out, const advice::Setup& setup) {
  out.open_object();
  for (const auto& [pointer, value] : setup.changes) {
    if (recipe::find_field(pointer) != nullptr) out.field(pointer, value);
  }
  out.close_object();
}

void write_row(Writer& out, const advice::RentRow& row, double steps) {
  const hardware::Offer& offer = *row.offer;
  const advice::Setup& setup = *row.setup;
  out.open_object();
  out.field("provider", offer.provider);
  out.field("provider_name", offer.provider_name);
  out.field("instance", offer.instance);
  out.field("region", offer.region);
  out.field("gpu", setup.gpu->id);
  out.field("name", setup.gpu->name);
  out.field("gpus", setup.cards);
  out.field("strategy", setup.strategy);
  out.field("fix", setup.fix == nullptr ? "" : setup.fix->id);
  out.field("title", setup.fix == nullptr ? "" : setup.fix->title);
  out.key("changes");
  write_changes(out, setup);
  out.field("high", whole(setup.high));
  out.field("host_bytes", setup.host < advice::usual_host ? 0 : whole(setup.host));
  if (offer.host_gib > 0) out.field("host_gib", offer.host_gib);
  out.field("seconds_per_step", significant(setup.seconds));
  out.field("efficiency", std::round(100 * setup.efficiency) / 100);
  out.field("usd_per_hour", offer.on_demand.low);
  out.field("usd_per_1000_steps", std::round(100000 * row.usd_per_step) / 100);
  if (steps > 0) {
    out.field("hours", significant(steps * setup.seconds / 3600));
    out.field("usd", std::round(100 * steps * row.usd_per_step) / 100);
  }
  if (offer.session_hours > 0) {
    out.field("session_hours", offer.session_hours);
    if (steps > 0) out.field("sessions", std::ceil(steps * setup.seconds / 3600 / offer.session_hours));
  }
  out.field("date", offer.date);
  if (!offer.note.empty()) out.field("note", offer.note);
  out.field("source", offer.source);
  out.close_object();
}

void write_one(Writer& out, std::string_view name, const advice::RentRow* row, double steps) {
  out.key(name);
  if (row == nullptr) return out.null();
  write_row(out, *row, steps);
}

}  // namespace

void write_rent(Writer& out, const run::Run& run, const run::Catalog& catalog) {
  const bool locked = recipe::is_locked("/hardware", run.resolved.recipe.locks);
  if (locked) return out.null();
  const advice::Rent rent = advice::rent_of(run, catalog);
  const double steps = time::length_of(run.resolved.recipe).steps;
  out.open_object();
  write_one(out, "cheapest", rent.cheapest(), steps);
  write_one(out, "unchanged", rent.unchanged(), steps);
  write_one(out, "fastest", rent.fastest(), steps);
  write_one(out, "undated", rent.undated(), steps);
  for (const bool notebook : {false, true}) {
    out.key(notebook ? "notebooks" : "machines");
    out.open_array();
    for (const advice::RentRow& row : rent.rows) {
      if (row.offer->notebook() == notebook) write_row(out, row, steps);
    }
    out.close_array();
  }
  out.close_object();
}

}  // namespace plimsoll::report
