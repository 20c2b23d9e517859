#include "core/report/elsewhere.h"

#include <cmath>

#include "core/advice/elsewhere.h"
#include "core/json/rounding.h"
#include "core/recipe/fields.h"
#include "core/time/cost.h"

namespace plimsoll::report {

namespace {

using json::significant;
using json::whole;
using json::Writer;

void write_offer(Writer& out, const hardware::Offer& offer) {
  out.field("provider", offer.provider);
  out.field("provider_name", offer.provider_name);
  out.field("instance", offer.instance);
}

void write_price(Writer& out, const advice::WayOut& way, double steps) {
  out.field("usd_per_hour", way.offer->on_demand.low);
  if (steps == 0) return;
  out.field("hours", significant(way.hours));
  out.field("usd", std::round(100 * steps * way.usd_per_step) / 100);
}

void write_changes(Writer& out, const recipe::Values& changes) {
  out.key("changes");
  out.open_object();
  for (const auto& [pointer, value] : changes) {
    if (recipe::find_field(pointer) != nullptr) out.field(pointer, value);  // "/peft" alone is no field
  }
  out.close_object();
}

void write_way(Writer& out, const advice::WayOut& way, double steps) {
  out.open_object();
  out.field("id", way.id);
  out.field("title", way.title);
  if (way.offer != nullptr) write_offer(out, *way.offer);
  if (way.gpu != nullptr) out.field("gpu", way.gpu->id);
  if (way.gpu != nullptr) out.field("name", way.gpu->name);
  if (!way.name.empty()) out.field("name", way.name);
  if (way.gpus > 0) out.field("gpus", way.gpus);
  if (way.model != nullptr) {
    out.field("model", way.model->preset.id);
    out.field("parameters", way.model->preset.parameters);
  }
  if (way.gpu != nullptr && way.gpus == 0) out.field("usable", way.gpu->usable_bytes);
  if (!way.changes.empty()) write_changes(out, way.changes);
  if (way.high) out.field("high", whole(*way.high));
  if (way.offer != nullptr) write_price(out, way, steps);
  if (way.time_factor > 0) out.field("time_factor", std::round(1000 * way.time_factor) / 1000);
  if (way.efficiency > 0) out.field("efficiency", std::round(100 * way.efficiency) / 100);
  if (way.effective_batch > 0) out.field("effective_batch", way.effective_batch);
  if (way.samples > 0) {
    out.field("samples_per_step_before", significant(way.samples_before));
    out.field("samples_per_step", significant(way.samples));
  }
  out.field("why", way.why);
  if (!way.evidence.empty()) out.field("evidence", way.evidence);
  if (way.offer != nullptr) out.field("date", way.offer->date);
  out.field("source", way.source);
  out.close_object();
}

}  // namespace

void write_elsewhere(Writer& out, const run::Run& run, const run::Catalog& catalog,
                     const advice::Basis& basis, double usable) {
  const double steps = time::length_of(run.resolved.recipe).steps;
  out.open_array();
  for (const advice::WayOut& way : advice::elsewhere(run, catalog, basis, usable)) write_way(out, way, steps);
  out.close_array();
}

}  // namespace plimsoll::report
