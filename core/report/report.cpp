#include "core/report/report.h"

#include <algorithm>
#include <cmath>

#include "core/json/rounding.h"
#include "core/json/writer.h"
#include "core/memory/step/replay_memo.h"
#include "core/report/heading.h"
#include "core/report/size_fields.h"
#include "core/report/slow_parts.h"
#include "core/report/time.h"
#include "core/run/card_sizes.h"
#include "core/run/instant_rows.h"
#include "core/run/likely_length.h"
#include "core/run/notes.h"
#include "core/run/run.h"

namespace plimsoll::report {

namespace {

using json::Errors;
using json::whole;
using json::Writer;
using memory::Sizes;

// `shorter`: what the estimate may be multiplied with where the longest sample is not known, or not met.
void write_peak(Writer& out, const run::Run& run, const Sizes& s, double shorter) {
  out.open_object();
  out.field("instant", name(run.replay.at_peak().phase));
  Sizes shown = s;
  shown.low *= shorter;
  write_size_fields(out, shown);
  out.field("allocated_low", whole(s.allocated * run.allocated_span.low * shorter));
  out.field("allocated_high", whole(s.allocated * run.allocated_span.high));
  const memory::FirstStep first = memory::first_step(run.replay, run.resolved.recipe);
  out.key("first_step");
  out.open_object();
  out.field("instant", name(first.phase));
  out.field("allocated", whole(first.allocated));
  out.close_object();
  out.key("evidence");
  out.open_array();
  for (const run::Nearest& near : run.nearest) {
    out.open_object();
    out.field("id", near.run->id);
    out.field("source", near.run->source);
    out.field("distance", std::round(near.distance * 100) / 100);
    const auto error = [&out](const char* key, const std::optional<double>& value) {
      if (value) out.field(key, *value);
    };
    error("allocated_error", near.run->allocated);
    error("reserved_error", near.run->reserved);
    error("device_error", near.run->device);
    out.close_object();
  }
  out.close_array();
  out.close_object();
}

void write_component(Writer& out, const run::ComponentRow& row) {
  out.open_object();
  out.field("id", row.id);
  out.field("bytes", whole(std::max(0.0, row.bytes)));
  out.field("what", row.what);
  out.field("formula", row.formula);
  out.field("source", row.source);
  out.close_object();
}

void write_instants(Writer& out, const run::Run& run) {
  out.open_array();
  for (const memory::Instant& instant : run.replay.instants) {
    const Sizes s = sizes_of(instant, run);
    out.open_object();
    out.field("id", name(instant.phase));
    out.field("what", instant.what);
    out.field("allocated", whole(s.allocated));
    out.field("reserved", whole(s.reserved));
    out.field("device", whole(s.device));
    if (instant.host_bytes > 0) out.field("host_bytes", whole(instant.host_bytes));
    out.key("components");
    out.open_array();
    for (const run::ComponentRow& row : rows_of(instant, run)) write_component(out, row);
    out.close_array();
    out.close_object();
  }
  out.close_array();
}

// The caching allocator, simulated: what it holds with room to spare, after loading, and on a card that is
// too small for that.
void write_allocator(Writer& out, const memory::SimulatedReserve& simulated) {
  const auto size = [&out](const char* key, uint64_t bytes) {
    out.field(key, whole(static_cast<double>(bytes)));
  };
  out.open_object();
  size("allocated_blocks", simulated.roomy.allocated);
  size("reserved", simulated.roomy.reserved);
  size("needed", simulated.needed);
  size("loaded_blocks", simulated.roomy.loaded_allocated);
  size("loaded_reserved", simulated.roomy.loaded_reserved);
  out.field("pressed", simulated.pressed);
  out.field("retries", simulated.on_card.retries);
  out.field("dies_on_card", simulated.pressed && simulated.on_card.died);
  out.close_object();
}

void write_tiers(Writer& out, const run::Run& run, const run::Catalog& catalog,
                 const PlanWriter& write_plans) {
  // Plans for the largest size first: what is worked out there serves the smaller ones.
  std::vector<run::CardsOfSize> cards;
  for (const hardware::Tier& tier : catalog.tiers) cards.push_back(cards_of(run, tier, catalog));
  std::vector<std::string> plans(catalog.tiers.size());
  for (std::size_t i = catalog.tiers.size(); write_plans && i-- > 0;) {
    Writer list;
    write_plans(list, cards[i].room);
    plans[i] = list.take();
  }
  out.open_array();
  for (std::size_t i = 0; i < catalog.tiers.size(); ++i) {
    const hardware::Tier& tier = catalog.tiers[i];
    const Sizes s = sizes_on(run, tier);
    out.open_object();
    out.field("gib", tier.gib);
    out.field("gpus", cards[i].gpus);
    out.field("usable", whole(cards[i].usable));
    out.field("verdict", memory::word(memory::verdict(s, cards[i].room)));
    out.field("headroom", whole(memory::headroom(s, cards[i].room)));
    if (write_plans) {
      out.key("plans");
      out.text(plans[i]);
    }
    out.close_object();
  }
  out.close_array();
}

void write_gpu(Writer& out, const run::Run& run, const Sizes& s, const PlanWriter& write_plans) {
  if (hardware::judged(run.gpu) == nullptr) return out.null();
  const double usable = usable_for(run, run.gpu->usable_bytes);
  out.open_object();
  out.field("id", run.gpu->id);
  out.field("name", run.gpu->name);
  out.field("usable", whole(usable));
  out.field("usable_source", run.gpu->usable_source);
  out.field("verdict", memory::word(memory::verdict(s, usable)));
  out.field("headroom", whole(memory::headroom(s, usable)));
  if (write_plans) {
    out.key("plans");
    write_plans(out, usable);
  }
  out.close_object();
}

void write_model(Writer& out, const run::Run& run) {
  const memory::Parameters& p = run.replay.parameters;
  const recipe::Recipe& r = run.resolved.recipe;
  const double share = p.all == 0 ? 0 : static_cast<double>(p.trainable) / static_cast<double>(p.all);
  out.open_object();
  out.field("id", run.entry == nullptr ? run.network.name : run.entry->preset.id);
  out.field("name", run.network.name);
  out.field("parameters", p.base);
  out.field("trainable", p.trainable);
  out.field("all_parameters", p.all);
  out.field("trainable_percent", std::round(1e6 * share) / 1e4);
  out.field("adapter_file_bytes", whole(r.peft.on ? p.adapter_bytes : 0));
  out.field("checkpoint_bytes", whole(checkpoint_bytes(run)));
  out.close_object();
}

std::vector<model::Note> notes_of(const run::Run& run, const std::optional<run::LikelyLength>& likely,
                                  const SlowParts& parts) {
  std::vector<model::Note> notes = parts.refused != nullptr ? parts.refused(run) : std::vector<model::Note>();
  const run::Replayed facts{run.network, run.resolved.recipe, run.replay};
  for (model::Note& note : notes_of(facts, run.gpu)) notes.push_back(std::move(note));
  if (likely) notes.push_back(note_of(*likely, run));
  return notes;
}

void write_assumptions(Writer& out, const run::Run& run) {
  out.open_array();
  for (const recipe::Assumption& assumption : run.resolved.assumptions) {
    out.open_object();
    out.field("pointer", assumption.pointer);
    out.field("value", assumption.value);
    out.field("why", assumption.why);
    if (assumption.asked) out.field("asked", true);
    out.close_object();
  }
  out.close_array();
}

// What one more of something costs at the peak, by replaying the run with it.
double cost_of(const run::Run& run, const memory::Machine& machine, void (*change)(recipe::Recipe&)) {
  recipe::Recipe changed = run.resolved.recipe;
  change(changed);
  const memory::Replay other = memory::replay(run.network, changed, machine);
  return other.at_peak().live.total() - run.replay.at_peak().live.total();
}

void write_per_unit(Writer& out, const run::Run& run, memory::ReplayMemo& memo) {
  const bool sees = run.network.image.rule != model::ImageTokens::Rule::none;
  const bool adapters = run.resolved.recipe.peft.on;
  const memory::Machine machine = with_memo(run, memo);
  memory::Machine counting = machine;
  counting.known_parameters = nullptr;
  const auto cost_on = [&run](const memory::Machine& on, void (*change)(recipe::Recipe&)) {
    return whole(cost_of(run, on, change));
  };
  const auto cost = [&](void (*change)(recipe::Recipe&)) { return cost_on(machine, change); };
  out.open_object();
  out.field("sample", cost([](recipe::Recipe& c) { ++c.training.per_device_train_batch_size; }));
  out.field("token", cost([](recipe::Recipe& c) { ++c.training.max_length; }));
  out.field("rank", adapters ? cost_on(counting, [](recipe::Recipe& c) { ++c.peft.r; }) : 0);
  out.field("image", sees ? cost([](recipe::Recipe& c) { ++c.vision.images_per_sample; }) : 0);
  out.close_object();
}

std::string write_report(const run::Run& run, const run::Catalog& catalog, const SlowParts& parts,
                         memory::ReplayMemo& memo) {
  const Sizes peak = sizes_at_peak(run);
  Writer out;
  out.open_object();
  write_heading(out, {});
  const std::optional<run::LikelyLength> likely = likely_length(run);
  out.key("notes");
  write_notes(out, notes_of(run, likely, parts));
  out.key("assumptions");
  write_assumptions(out, run);
  out.key("model");
  write_model(out, run);
  out.key("memory");
  out.open_object();
  out.key("peak");
  write_peak(out, run, peak, shorter_by(run, likely, peak.allocated));
  out.key("instants");
  write_instants(out, run);
  out.field("host_bytes", whole(run.replay.host_bytes));
  out.field("gpus", run.resolved.recipe.parallel.num_gpus);
  out.field("effective_batch", run.resolved.recipe.effective_batch());
  if (!run.replay.device_map_peaks.empty()) {
    out.key("spread");
    out.open_array();
    for (const double bytes : run.replay.device_map_peaks) out.value(whole(bytes));
    out.close_array();
  }
  out.key("per_unit");
  write_per_unit(out, run, memo);
  if (run.simulated && wants(run, "allocator")) {
    out.key("allocator");
    write_allocator(out, *run.simulated);
  }
  if (parts.timeline != nullptr && wants(run, "timeline") && run::unrolls(run)) {
    out.key("timeline");
    parts.timeline(out, run, with_memo(run, memo));
  }
  out.close_object();
  out.key("gpu");
  const PlanWriter plans =
      parts.plans != nullptr && wants(run, "plans") ? parts.plans(run, catalog) : PlanWriter();
  write_gpu(out, run, peak, plans);
  out.key("tiers");
  write_tiers(out, run, catalog, plans);
  if (parts.limits != nullptr && wants(run, "limits")) {
    out.key("limits");
    parts.limits(out, run, catalog);
  }
  out.key("time");
  write_time(out, run, catalog);
  out.close_object();
  return out.take();
}

}  // namespace

ReportAnswer report_answer_with(std::string_view request, const run::Catalog& catalog,
                                const SlowParts& parts) {
  Errors errors;
  memory::ReplayMemo memo;
  const std::optional<run::Run> run = parts.read(request, catalog, errors, &memo);
  return {run ? write_report(*run, catalog, parts, memo) : refusal(errors), run.has_value()};
}

std::string quick_report_text(std::string_view request, const run::Catalog& catalog) {
  return report_answer_with(request, catalog, {}).text;
}

}  // namespace plimsoll::report
