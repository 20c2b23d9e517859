#include "core/report/compare.h"

#include <optional>

#include "core/json/rounding.h"
#include "core/recipe/fields.h"
#include "core/report/heading.h"
#include "core/run/comparison.h"
#include "core/run/phrases.h"

namespace plimsoll::report {

namespace {

using json::Json;
using json::significant;
using json::whole;
using json::Writer;

void write_side(Writer& out, const run::Run& run, const run::Worth& worth) {
  const memory::Instant& peak = run.replay.at_peak();
  const memory::Sizes sizes = sizes_of(peak, run);
  out.open_object();
  out.field("model", run.network.name);
  out.field("instant", name(peak.phase));
  out.field("allocated", whole(sizes.allocated));
  out.field("device", whole(sizes.device));
  out.field("needed", whole(sizes.needed));
  out.field("high", whole(sizes.high));
  out.field("seconds_per_step", significant(worth.seconds));
  if (hardware::judged(run.gpu) != nullptr) {
    const double usable = usable_for(run, run.gpu->usable_bytes);
    out.field("gpu", run.gpu->id);
    out.field("verdict", memory::word(memory::verdict(sizes, usable)));
    out.field("headroom", whole(memory::headroom(sizes, usable)));
  }
  out.field("effective_batch", run.resolved.recipe.effective_batch());
  out.field("trainable", run.replay.parameters.trainable);
  out.close_object();
}

void write_value(Writer& out, std::string_view name, const run::Run& run, const run::Player& player) {
  out.key(name);
  if (player.model && player.pointers.empty()) return out.value(run.network.name);
  const auto value_at = [&run](const std::string& pointer) {
    const auto found = run.resolved.values.find(pointer);
    return found == run.resolved.values.end() ? Json() : found->second;
  };
  if (player.pointers.size() == 1) return out.value(value_at(player.pointers[0]));
  Json values = Json::object();
  for (const std::string& pointer : player.pointers) values[run::dotted(pointer)] = value_at(pointer);
  out.value(values);
}

}  // namespace

std::string compare_text(std::string_view first, std::string_view second, const run::Catalog& catalog) {
  json::Errors errors, of_second;
  const std::optional<run::Run> a = run::read_run(first, catalog, errors);
  const std::optional<run::Run> b = run::read_run(second, catalog, of_second);
  for (json::Error& error : errors) error.pointer.insert(0, "/a");
  for (json::Error& error : of_second) {
    error.pointer.insert(0, "/b");
    errors.push_back(std::move(error));
  }
  if (!errors.empty() || !a || !b) return refusal(errors);
  const run::Comparison found = compare(*a, *b, catalog);
  Writer out;
  out.open_object();
  write_heading(out, {});
  out.key("a");
  write_side(out, *a, found.a);
  out.key("b");
  write_side(out, *b, found.b);
  out.key("differences");
  out.open_array();
  for (const run::Difference& one : found.differences) {
    out.open_object();
    out.field("field", one.player.name);
    write_value(out, "a", *a, one.player);
    write_value(out, "b", *b, one.player);
    out.field("device", whole(one.worth.device));
    out.field("allocated", whole(one.worth.allocated));
    out.field("seconds_per_step", significant(one.worth.seconds));
    out.close_object();
  }
  out.close_array();
  out.key("no_effect");
  out.open_array();
  for (const run::Player& player : found.silent) {
    // That a section is there says nothing beside its fields.
    const bool section =
        !player.model && player.pointers.size() == 1 && recipe::find_field(player.pointers[0]) == nullptr;
    if (section) continue;
    out.open_object();
    out.field("field", player.name);
    write_value(out, "a", *a, player);
    write_value(out, "b", *b, player);
    out.close_object();
  }
  out.close_array();
  out.close_object();
  return out.take();
}

}  // namespace plimsoll::report
