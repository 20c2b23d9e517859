#include "core/report/answers.h"

#include <algorithm>

#include "core/diagnosis/signs.h"
#include "core/json/rounding.h"
#include "core/run/components.h"
#include "core/run/run.h"

namespace plimsoll::report {

namespace {

using diagnosis::size_text;
using recipe::Values;

struct Open {
  std::string name;
  Values values;
};

bool is_set(const Values& values, const char* pointer) {
  const auto found = values.find(pointer);
  return found != values.end() && found->second == json::Json(true);
}

std::string method_of(const SaidRequest& said) {
  const bool adapters = said.values.count("/peft") != 0;
  if (!adapters) return "Full fine-tuning";
  if (is_set(said.values, "/quantization/load_in_4bit")) return "QLoRA";
  if (is_set(said.values, "/quantization/load_in_8bit")) return "LoRA on an 8-bit base";
  return "LoRA";
}

// Methods that the text leaves open.
std::vector<Open> methods(const SaidRequest& said) {
  if (said.method) return {{method_of(said), {}}};
  const bool quantized =
      is_set(said.values, "/quantization/load_in_4bit") || is_set(said.values, "/quantization/load_in_8bit");
  if (quantized) return {{"Adapters on the quantised base", {{"/peft", true}}}};
  return {{"QLoRA", {{"/peft", true}, {"/quantization/load_in_4bit", true}}},
          {"LoRA", {{"/peft", true}}},
          {"Full fine-tuning", {}}};
}

std::string counted(double count, const hardware::Gpu& gpu) {
  const std::string name = gpu.name.substr(0, gpu.name.find(','));
  return count > 1 ? std::to_string(static_cast<uint64_t>(count)) + " x " + name : "one " + name;
}

// Machines that the text weighs, and the ways to share the work where it names none.
std::vector<Open> machines(const SaidRequest& said) {
  std::vector<Open> out;
  for (const SaidCards& cards : said.cards) {
    Open one{" on " + counted(cards.count, *cards.gpu), {{"/hardware/gpu", cards.gpu->id}}};
    const auto count = static_cast<uint64_t>(std::max(1.0, cards.count));
    one.values["/parallel/num_gpus"] = count;
    if (count > 1 && said.values.count("/parallel/strategy") == 0) {
      Open divided = one;
      one.name += ", a whole copy on each card";
      one.values["/parallel/strategy"] = "ddp";
      divided.name += ", the weights divided over them (ZeRO-3)";
      divided.values["/parallel/strategy"] = "zero3";
      out.push_back(std::move(one));
      out.push_back(std::move(divided));
    } else {
      out.push_back(std::move(one));
    }
  }
  if (out.empty()) out.push_back({});
  return out;
}

// Whether it can fit is asked: what nobody said is taken so that little is needed, and named.
constexpr uint64_t smallest_batch = 1;
void take_least(SaidRequest& said) {
  said.values.emplace("/training/per_device_train_batch_size", smallest_batch);
  said.values.emplace("/training/gradient_checkpointing", true);
}

// The largest components of the peak, each a twentieth of it at least.
std::string parts_of(const memory::Snapshot& live) {
  constexpr std::size_t most = 4;
  std::vector<std::pair<double, std::size_t>> parts;
  for (std::size_t i = 0; i < memory::component_count; ++i) {
    if (live.bytes[i] > 0.05 * live.total()) parts.emplace_back(live.bytes[i], i);
  }
  std::sort(parts.rbegin(), parts.rend());
  std::string out;
  for (std::size_t i = 0; i < std::min(most, parts.size()); ++i) {
    out += (out.empty() ? "" : ", ") +
           std::string(run::component_id(static_cast<memory::Component>(parts[i].second))) + " " +
           size_text(parts[i].first);
  }
  return out;
}

std::optional<Way> price(const SaidRequest& said, const Open& method, const Open& machine,
                         const run::Catalog& catalog) {
  SaidRequest whole = said;
  for (const auto* open : {&method, &machine}) {
    for (const auto& [pointer, value] : open->values) whole.values[pointer] = value;
  }
  take_least(whole);
  Way way;
  way.name = method.name + machine.name;
  way.request = whole.request();
  json::Errors ignored;
  const std::optional<run::Run> run = run::read_run(json::write(way.request), catalog, ignored);
  if (!run) return std::nullopt;
  const memory::Sizes sizes = sizes_of(run->replay.instants[run->replay.peak], *run);
  way.needed = sizes.needed;
  way.parts = parts_of(run->replay.instants[run->replay.peak].live);
  way.length = run->resolved.recipe.training.max_length;
  way.batch = run->resolved.recipe.training.per_device_train_batch_size;
  if (run->gpu == nullptr) return way;
  way.usable = usable_for(*run, run->gpu->usable_bytes);
  way.verdict = memory::word(memory::verdict(sizes, way.usable));
  return way;
}

// The largest micro-batch that fits, by doubling; 0: not even that of `way`.
uint64_t largest_batch(const Way& way, const run::Catalog& catalog) {
  constexpr uint64_t most = 256;
  uint64_t fits = 0;
  for (uint64_t batch = way.batch; batch <= most; batch *= 2) {
    json::Json request = way.request;
    request["training"]["per_device_train_batch_size"] = batch;
    json::Errors ignored;
    const std::optional<run::Run> run = run::read_run(json::write(request), catalog, ignored);
    if (!run) break;
    const memory::Sizes sizes = sizes_of(run->replay.instants[run->replay.peak], *run);
    if (memory::verdict(sizes, way.usable) != memory::Verdict::fits) break;
    fits = batch;
  }
  return fits;
}

std::string words_of(const Way& way) {
  std::string out = way.name + " needs " + size_text(way.needed);
  if (way.verdict.empty()) return out + ".";
  out += " of " + size_text(way.usable) + " on each card: it ";
  return out + (way.verdict == "fits" ? "fits." : way.verdict == "tight" ? "fits barely." : "does not fit.");
}

bool is_open(const SaidRequest& said, std::string_view pointer) {
  return std::any_of(said.unknown.begin(), said.unknown.end(),
                     [&](const run::Missing& one) { return one.pointer == pointer; });
}

std::string taken(const SaidRequest& said, const Way& way) {
  std::string out;
  const auto add = [&out](const std::string& what) { out += (out.empty() ? "" : ", ") + what; };
  if (is_open(said, "/training/max_length")) add(std::to_string(way.length) + " tokens");
  if (is_open(said, "/training/per_device_train_batch_size"))
    add("a micro-batch of " + std::to_string(way.batch));
  if (said.values.count("/training/gradient_checkpointing") == 0) add("gradient checkpointing");
  return out.empty() ? "" : " Not said, and taken here: " + out + ".";
}

}  // namespace

Answers answer(const SaidRequest& said, const run::Catalog& catalog) {
  Answers out;
  for (const Open& machine : machines(said)) {
    for (const Open& method : methods(said)) {
      if (auto way = price(said, method, machine, catalog)) out.ways.push_back(std::move(*way));
    }
  }
  if (out.ways.empty()) return out;
  out.words = said.model + ":";
  for (const Way& way : out.ways) out.words += " " + words_of(way);
  const bool shared =
      std::any_of(said.cards.begin(), said.cards.end(), [](const SaidCards& one) { return one.count > 1; });
  if (shared)
    out.words += " The memory of several cards adds up only for what is divided over them (FSDP, ZeRO-3).";
  if (out.ways.size() == 1) out.words += " At its peak: " + out.ways.front().parts + ".";
  out.words += taken(said, out.ways.front());
  const Way& first = out.ways.front();
  if (first.verdict == "fits" && is_open(said, "/training/per_device_train_batch_size")) {
    if (const uint64_t batch = largest_batch(first, catalog); batch > first.batch)
      out.words += " A micro-batch of " + std::to_string(batch) + " fits as well" +
                   (out.ways.size() > 1 ? " (" + first.name + ")." : ".");
  }
  return out;
}

void write_said(json::Writer& out, const SaidRequest& said) {
  if (said.model.empty()) return out.null();
  out.open_object();
  out.field("request", said.request());
  out.key("unknown");
  out.open_array();
  for (const run::Missing& one : said.unknown) {
    out.open_object();
    out.field("pointer", one.pointer);
    out.field("message", one.message);
    out.close_object();
  }
  out.close_array();
  out.close_object();
}

void write_answers(json::Writer& out, const Answers& answers) {
  out.open_array();
  for (const Way& way : answers.ways) {
    out.open_object();
    out.field("name", way.name);
    out.field("needed", json::whole(way.needed));
    if (way.usable > 0) out.field("usable", json::whole(way.usable));
    out.field("verdict", way.verdict);
    out.field("parts", way.parts);
    out.field("request", way.request);
    out.close_object();
  }
  out.close_array();
}

}  // namespace plimsoll::report
