#include "core/report/time.h"

#include <cmath>

#include "core/json/rounding.h"
#include "core/recipe/strategies.h"
#include "core/run/machines.h"
#include "core/time/cost.h"
#include "core/time/step.h"

namespace plimsoll::report {

namespace {

using json::significant;
using json::Writer;

double rounded(double value, double steps) { return std::round(value * steps) / steps; }
double cents(double usd) { return rounded(usd, 100); }

void write_range(Writer& out, std::string_view name, double low, double high) {
  out.key(name);
  out.open_array();
  out.value(low);
  out.value(high);
  out.close_array();
}

void write_parts(Writer& out, const time::StepTime& t) {
  out.open_object();
  out.field("multiply", significant(t.multiply));
  out.field("attention", significant(t.attention));
  out.field("move", significant(t.move));
  out.field("unpack", significant(t.unpack));
  out.field("optimizer", significant(t.optimizer));
  out.field("launch", significant(t.launch));
  if (t.generate > 0) out.field("generate", significant(t.generate));
  out.close_object();
}

void write_price(Writer& out, const hardware::Price& price, double hours) {
  out.open_object();
  write_range(out, "usd_per_hour", price.low, price.high);
  if (hours > 0) write_range(out, "usd", cents(price.low * hours), cents(price.high * hours));
  out.close_object();
}

void write_spot(Writer& out, const hardware::Offer& offer, double hours, double interval,
                const recipe::Recipe& r) {
  out.open_object();
  write_range(out, "usd_per_hour", offer.spot.low, offer.spot.high);
  if (hours > 0) {
    const time::Spot spot = time::on_spot(hours, interval, r.cloud);
    out.field("expected_hours", significant(spot.hours));
    out.field("expected_interruptions", significant(spot.interruptions));
    out.field("chance_of_none", rounded(spot.chance_of_none, 1000));
    write_range(out, "expected_usd", cents(offer.spot.low * spot.hours), cents(offer.spot.high * spot.hours));
  }
  out.close_object();
}

void write_machine(Writer& out, const run::OfferedMachine& m, const run::Run& run, const time::Length& length,
                   double chosen) {
  const double hours = length.steps * m.step.seconds / 3600;
  const auto every = static_cast<double>(run.resolved.recipe.training.save_steps);
  out.open_object();
  out.field("provider", m.offer->provider);
  out.field("provider_name", m.offer->provider_name);
  out.field("instance", m.offer->instance);
  out.field("region", m.offer->region);
  out.field("gpu", m.gpu->id);
  out.field("gpus", m.offer->gpus);
  out.field("gpus_used", m.used);
  if (m.offer->session_hours > 0) out.field("session_hours", m.offer->session_hours);
  out.field("verdict", memory::word(m.verdict));
  if (m.step.known) {
    out.field("seconds_per_step", significant(m.step.seconds));
    if (length.steps > 0) out.field("hours", significant(hours));
    if (chosen > 0) out.field("relative_speed", significant(chosen / m.step.seconds));
  }
  if (m.offer->on_demand.known) {
    out.key("on_demand");
    write_price(out, m.offer->on_demand, m.step.known ? hours : 0);
  }
  if (m.offer->spot.known) {
    out.key("spot");
    write_spot(out, *m.offer, m.step.known ? hours : 0, every * m.step.seconds / 3600, run.resolved.recipe);
  }
  out.field("date", m.offer->date);
  if (m.offer->low_confidence) out.field("confidence", "low");
  if (!m.offer->note.empty()) out.field("note", m.offer->note);
  out.field("source", m.offer->source);
  out.close_object();
}

void write_chosen(Writer& out, const run::Run& run, const run::Catalog& catalog, const time::StepTime& t,
                  const time::Length& length) {
  out.field("gpu", run.gpu->id);
  if (!t.known) return;
  out.field("seconds_per_step", significant(t.seconds));
  out.field("tokens_per_second", significant(t.tokens_per_second));
  out.field("low", significant(t.low));
  out.field("high", significant(t.high));
  out.field("launch_bound", t.launch_bound);
  out.key("parts");
  write_parts(out, t);
  if (length.steps == 0) return;
  const double hours = length.steps * t.seconds / 3600;
  out.field("hours", significant(hours));
  write_range(out, "hours_range", significant(length.steps * t.low / 3600),
              significant(length.steps * t.high / 3600));
  const double price = price_of_chosen(run, catalog);
  if (price > 0) out.field("cost", cents(price * hours));
}

}  // namespace

void write_time(Writer& out, const run::Run& run, const run::Catalog& catalog) {
  const bool listed = wants(run, "machines");
  if (run.gpu == nullptr && !listed) return out.null();
  const recipe::Recipe& r = run.resolved.recipe;
  const time::Work work = time::work_of(run.network, r, known_parameters(run));
  const time::Length length = time::length_of(r);
  time::StepTime chosen;
  out.open_object();
  if (run.gpu != nullptr) {
    chosen = step_of(run, *run.gpu);
    write_chosen(out, run, catalog, chosen, length);
  }
  out.field("tokens_per_step", work.tokens * static_cast<double>(r.training.gradient_accumulation_steps) *
                                   static_cast<double>(recipe::processes(r)));
  out.field("flops_per_step",
            significant(work.batch.flops() * static_cast<double>(r.training.gradient_accumulation_steps)));
  if (length.steps > 0) {
    out.field("steps", length.steps);
    out.field("checkpoints", length.checkpoints);
    out.field("checkpoints_kept", length.kept);
    out.field("disk_bytes", json::whole(length.kept * checkpoint_bytes(run)));
  }
  if (listed) {
    out.key("machines");
    out.open_array();
    for (const run::OfferedMachine& m : run::machines(run, catalog)) {
      write_machine(out, m, run, length, chosen.seconds);
    }
    out.close_array();
  }
  out.close_object();
}

}  // namespace plimsoll::report
