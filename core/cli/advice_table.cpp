#include "core/cli/advice_table.h"

#include <cmath>

#include "core/cli/layout.h"
#include "core/cli/values.h"
#include "core/json/at.h"

namespace plimsoll::cli {

namespace {

using json::at;
using json::Json;

std::string times(double factor) {
  const auto hundredths = static_cast<uint64_t>(std::llround(factor * 100));
  const std::string tail = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (tail.size() < 2 ? "0" : "") + tail + " x time";
}

std::string reading(const std::string& name) {
  if (name == "usual") return "what is usually tried first";
  if (name == "same") return "nothing learned changes";
  return name == "fewest" ? "fewest changes" : "fastest";
}

std::string plan_lines(const Json& plan, const Style& style) {
  std::string title;
  for (const Json& name : at(plan, "readings")) title += (title.empty() ? "" : ", ") + reading(words(name));
  title += ": " + words(at(plan, "verdict")) + ", peak " + gib_words(number(at(at(plan, "peak"), "device"))) +
           " (up to " + gib(number(at(at(plan, "peak"), "high"))) + "), " +
           times(number(at(plan, "time_factor"))) + ", effective batch " +
           words(at(plan, "effective_batch")) + ", cost in quality: " + words(at(plan, "quality"));
  const double host = number(at(plan, "host_bytes"));
  if (host >= 1073741824.0) title += ", and " + gib_words(host) + " of the computer's own memory";
  std::vector<std::vector<Cell>> rows;
  std::string last;  // what a change is good for is said once, not for each of its fields
  for (const Json& change : at(plan, "changes")) {
    const double saves = number(at(change, "saves"));
    rows.push_back({{words(at(change, "pointer")).substr(1)},
                    {words(at(change, "from"))},
                    {words(at(change, "to"))},
                    {saves == 0 ? "" : gib(saves)},
                    {words(at(change, "fix")) == last ? "" : words(at(change, "why"))}});
    last = words(at(change, "fix"));
  }
  return heading(title, style) +
         layout({{"field"}, {"from"}, {"to"}, {"saves GiB", Align::right}, {"why", Align::left, true}}, rows,
                style) +
         "\n";
}

std::string changed_fields(const Json& changes) {
  std::string text;
  if (!changes.is_object()) return text;
  for (const auto& [pointer, value] : changes.items()) {
    text += (text.empty() ? "" : ", ") + pointer.substr(pointer.rfind('/') + 1) + " " + words(value);
  }
  return text;
}

std::string blocked_lines(const Json& blocked, const Style& style) {
  if (!blocked.is_object()) return "";
  std::string text = "Nothing makes it fit: the least this model can be trained in is " +
                     gib_words(number(at(blocked, "least"))) + ", of which " +
                     words(at(blocked, "component")) + " are " +
                     gib_words(number(at(blocked, "component_bytes"))) + ".";
  if (!at(blocked, "smallest_tier").is_null()) {
    text += " The smallest size that works is " + words(at(blocked, "smallest_tier")) + " GiB.";
  }
  for (const Json& lock : at(blocked, "locks_in_the_way")) {
    text += " Without the lock on " + words(lock) + " it would fit.";
  }
  return layout({{"", Align::left, true}}, {{{text}}}, style) + "\n";
}

std::string dated(const Json& offer) {
  const std::string date = words(at(offer, "date"));
  return date == "undated" ? ", price without a date" : ", price of " + date;
}

// One line a way out that leaves the recipe as it is.
std::string elsewhere_lines(const Json& ways, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  if (!ways.is_array()) return "";
  for (const Json& way : ways) {
    const std::string id = words(at(way, "id"));
    std::string what = id == "smaller_model" ? words(at(way, "model")) : words(at(way, "name"));
    if (id == "more_gpus") {
      what = words(at(way, "gpus")) + " x " + what + ": " + changed_fields(at(way, "changes"));
    }
    if (id == "rented_machine") {
      what = words(at(way, "provider")) + " " + words(at(way, "instance")) + " (" + what + "), " +
             words(at(way, "usd_per_hour")) + " USD an hour";
      if (!at(way, "usd").is_null()) {
        what += ", " + words(at(way, "usd")) + " USD in " + words(at(way, "hours")) + " hours";
      }
      what += dated(way);
    }
    const Json& factor = at(way, "time_factor");
    rows.push_back({{words(at(way, "title"))}, {factor.is_null() ? "" : times(number(factor))}, {what}});
  }
  if (rows.empty()) return "";
  return heading("Without changing the recipe", style) +
         layout({{""}, {""}, {"", Align::left, true}}, rows, style) + "\n";
}

// The three answers; the lists of all machines are in the JSON.
std::string rent_lines(const Json& rent, const Style& style) {
  if (!rent.is_object()) return "";
  std::vector<std::vector<Cell>> rows;
  const auto add = [&](const char* key, const char* title) {
    const Json& row = at(rent, key);
    if (!row.is_object()) return;
    std::string what = words(at(row, "provider_name")) + " " + words(at(row, "instance")) + ", " +
                       words(at(row, "gpus")) + " x " + words(at(row, "name"));
    if (number(at(row, "gpus")) > 1) what += " (" + words(at(row, "strategy")) + ")";
    what += ", " + words(at(row, "usd_per_hour")) + " USD an hour";
    if (at(row, "usd").is_null()) {
      what += ", " + words(at(row, "usd_per_1000_steps")) + " USD for 1,000 steps";
    } else {
      what += ", " + words(at(row, "usd")) + " USD in " + words(at(row, "hours")) + " hours";
    }
    what += dated(row);
    if (words(at(row, "fix")) != "") what += "; with: " + words(at(row, "title"));
    const double host = number(at(row, "host_bytes"));
    if (host > 0) {
      what += "; needs " + gib_words(host) + " of the machine's own memory" +
              (at(row, "host_gib").is_null() ? ", which the price does not state" : "");
    }
    rows.push_back({{title}, {what}});
  };
  add("cheapest", "cheapest that works");
  add("unchanged", "cheapest without a change");
  add("fastest", "fastest");
  add("undated", "cheaper, perhaps");
  if (rows.empty()) return "";
  return heading("To rent", style) + layout({{""}, {"", Align::left, true}}, rows, style) + "\n";
}

std::string left(double headroom) {
  return headroom < 0 ? gib_words(-headroom) + " too much for " : gib_words(headroom) + " left of ";
}

std::string gpu_lines(const Json& gpu, const Style& style) {
  if (!gpu.is_object()) return "";
  const std::string verdict = words(at(gpu, "verdict"));
  std::string out = heading(words(at(gpu, "name")), style) +
                    layout({{""}, {""}},
                           {{{verdict, verdict_colour(verdict)},
                             {left(number(at(gpu, "headroom"))) + gib_words(number(at(gpu, "usable")))}}},
                           style) +
                    "\n";
  for (const Json& plan : at(gpu, "plans")) out += plan_lines(plan, style);
  out += blocked_lines(at(gpu, "blocked"), style);
  const auto steps = [&](const char* key, const char* title, const char* amount) {
    std::vector<std::vector<Cell>> rows;
    for (const Json& step : at(gpu, key)) {
      // A further step says what it does alone, then what all so far do; a way to spend room stands alone.
      const Json& alone = at(step, "step");
      const Json& factor = alone.is_object() ? at(alone, "time_factor") : at(step, "time_factor");
      rows.push_back({{words(at(step, "title"))}, {gib(number(at(step, amount)))}, {times(number(factor))}});
      if (alone.is_object()) {
        const Json& so_far = at(step, "so_far");
        rows.back().push_back({gib(number(at(so_far, "saves")))});
        rows.back().push_back({times(number(at(so_far, "time_factor")))});
      }
      rows.back().push_back({changed_fields(at(step, "changes"))});
    }
    if (rows.empty()) return std::string();
    std::vector<Column> columns = {{""}, {"GiB", Align::right}, {""}};
    if (rows.front().size() > 4) columns.back() = {"this step"};
    if (rows.front().size() > 4) {
      columns.push_back({"GiB", Align::right});
      columns.push_back({"so far"});
    }
    columns.push_back({"", Align::left, true});
    return heading(title, style) + layout(columns, rows, style) + "\n";
  };
  out += steps("ladder", "If that still fails, next", "saves");
  out += elsewhere_lines(at(gpu, "elsewhere"), style);
  out += steps("spend", "With room to spare", "costs");
  return out;
}

std::string tier_lines(const Json& tiers, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& tier : tiers) {
    const std::string verdict = words(at(tier, "verdict"));
    std::string plan;
    const Json& plans = at(tier, "plans");
    const Json none = Json::array();
    std::string last;
    for (const Json& change : plans.empty() ? none : at(plans[0], "changes")) {
      if (words(at(change, "title")) == last) continue;
      last = words(at(change, "title"));
      plan += (plan.empty() ? "" : "; ") + last;
    }
    if (verdict != "fits" && plan.empty()) plan = "nothing makes it fit";
    rows.push_back({{words(at(tier, "gib"))}, {verdict, verdict_colour(verdict)}, {plan}});
  }
  return heading("Every size, with what is usually tried first", style) +
         layout({{"GiB", Align::right}, {""}, {"", Align::left, true}}, rows, style) + "\n";
}

std::string cost_lines(const Json& costs, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  const auto add = [&](const char* key, const char* what) {
    const Json& bytes = at(costs, key);
    if (!bytes.is_null()) rows.push_back({{what}, {gib(number(bytes))}});
  };
  add("one_more_sample", "one more sample in the micro-batch");
  add("256_more_tokens", "256 more tokens of length");
  add("twice_the_rank", "twice the rank");
  add("one_more_image", "one more image a sample");
  return heading("What more costs", style) + layout({{""}, {"GiB", Align::right}}, rows, style) + "\n";
}

// Micro-batches down, lengths across.
std::string map_lines(const Json& map, const Style& style) {
  std::vector<Column> columns = {{"batch", Align::right}};
  for (const Json& length : at(map, "max_length")) columns.push_back({words(length)});
  std::vector<std::vector<Cell>> rows;
  const Json& batches = at(map, "per_device_train_batch_size");
  for (std::size_t i = 0; i < batches.size(); ++i) {
    std::vector<Cell> row = {{words(batches[i])}};
    for (const Json& verdict : at(map, "verdicts")[i]) {
      row.push_back({words(verdict), verdict_colour(words(verdict))});
    }
    rows.push_back(row);
  }
  return heading("Micro-batch by length, the rest unchanged", style) + layout(columns, rows, style) + "\n";
}

std::string limit_lines(const Json& limits, const Style& style) {
  if (!limits.is_object()) return "";
  std::vector<std::vector<Cell>> rows;
  for (const char* key : {"per_device_train_batch_size", "max_length", "r", "image_size"}) {
    if (!at(limits, key).is_null()) rows.push_back({{key}, {words(at(limits, key))}});
  }
  if (at(limits, "model").is_object()) rows.push_back({{"model"}, {words(at(at(limits, "model"), "id"))}});
  std::string out;
  if (!rows.empty()) {
    out = heading("Largest that still fits, the rest unchanged", style) + layout({{""}, {""}}, rows, style) +
          "\n";
  }
  return out + cost_lines(at(limits, "costs"), style) + map_lines(at(limits, "map"), style);
}

}  // namespace

std::string advice_table(const Json& advice, const Style& style) {
  std::string out = gpu_lines(at(advice, "gpu"), style) + rent_lines(at(advice, "rent"), style) +
                    tier_lines(at(advice, "tiers"), style) + limit_lines(at(advice, "limits"), style);
  std::vector<std::string> habits;
  for (const Json& habit : at(advice, "habits")) habits.push_back(words(at(habit, "message")));
  return out + heading("What does not help", style) + points(habits, style);
}

std::string compare_table(const Json& comparison, const Style& style) {
  std::vector<std::vector<Cell>> sides;
  for (const char* side : {"a", "b"}) {
    const Json& run = at(comparison, side);
    sides.push_back({{side},
                     {words(at(run, "model"))},
                     {gib_words(number(at(run, "needed")))},
                     {gib_words(number(at(run, "device")))},
                     {words(at(run, "instant"))},
                     {words(at(run, "verdict"))},
                     {words(at(run, "seconds_per_step")) + " s"},
                     {words(at(run, "effective_batch"))}});
  }
  std::string out = layout({{""},
                            {"model"},
                            {"needs", Align::right},
                            {"nvidia-smi", Align::right},
                            {"at"},
                            {""},
                            {"step", Align::right},
                            {"batch", Align::right}},
                           sides, style) +
                    "\n";
  std::vector<std::vector<Cell>> rows;
  for (const Json& row : at(comparison, "differences")) {
    rows.push_back({{words(at(row, "field"))},
                    {words(at(row, "a"))},
                    {words(at(row, "b"))},
                    {gib(number(at(row, "device")))},
                    {words(at(row, "seconds_per_step"))}});
  }
  out +=
      heading("From a to b: what each difference is worth", style) +
      layout({{"field"}, {"a"}, {"b", Align::left, true}, {"GiB", Align::right}, {"s a step", Align::right}},
             rows, style);
  rows.clear();
  for (const Json& row : at(comparison, "no_effect")) {
    rows.push_back({{words(at(row, "field"))}, {words(at(row, "a"))}, {words(at(row, "b"))}});
  }
  if (rows.empty()) return out;
  return out + "\n" + heading("Without effect on memory or time", style) +
         layout({{"field"}, {"a"}, {"b", Align::left, true}}, rows, style);
}

}  // namespace plimsoll::cli
