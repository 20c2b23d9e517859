#include "core/report/limits.h"

#include "core/json/rounding.h"
#include "core/run/limits.h"

namespace plimsoll::report {

namespace {

using json::whole;
using json::Writer;

void write_limit(Writer& out, std::string_view name, const std::optional<uint64_t>& value) {
  out.key(name);
  if (value) {
    out.value(*value);
  } else {
    out.null();
  }
}

void write_model(Writer& out, const std::optional<run::LargestModel>& model) {
  if (!model) return out.null();
  out.open_object();
  out.field("id", model->entry->preset.id);
  out.field("parameters", model->entry->preset.parameters);
  out.field("high", whole(model->high));
  out.close_object();
}

void write_costs(Writer& out, const run::Costs& costs) {
  const auto cost = [&out](std::string_view name, const std::optional<double>& bytes) {
    out.key(name);
    if (!bytes) return out.null();
    out.value(whole(*bytes));
  };
  out.open_object();
  cost("one_more_sample", costs.one_more_sample);
  cost("256_more_tokens", costs.more_tokens);
  cost("twice_the_rank", costs.twice_the_rank);
  cost("one_more_image", costs.one_more_image);
  out.close_object();
}

void write_numbers(Writer& out, std::string_view name, const std::vector<uint64_t>& numbers) {
  out.key(name);
  out.open_array();
  for (uint64_t number : numbers) out.value(number);
  out.close_array();
}

void write_map(Writer& out, const run::Map& map) {
  out.open_object();
  write_numbers(out, "per_device_train_batch_size", map.batches);
  write_numbers(out, "max_length", map.lengths);
  out.key("verdicts");
  out.open_array();
  for (const std::vector<memory::Verdict>& row : map.verdicts) {
    out.open_array();
    for (const memory::Verdict verdict : row) out.value(memory::word(verdict));
    out.close_array();
  }
  out.close_array();
  out.close_object();
}

}  // namespace

void write_limits(Writer& out, const run::Run& run, const run::Catalog& catalog) {
  const std::optional<run::Limits> limits = limits_of(run, catalog);
  if (!limits) return out.null();
  out.open_object();
  write_limit(out, "per_device_train_batch_size", limits->batch);
  write_limit(out, "max_length", limits->length);
  write_limit(out, "r", limits->rank);
  write_limit(out, "image_size", limits->image_size);
  out.key("model");
  write_model(out, limits->model);
  out.key("costs");
  write_costs(out, limits->costs);
  out.key("map");
  write_map(out, limits->map);
  out.close_object();
}

}  // namespace plimsoll::report
