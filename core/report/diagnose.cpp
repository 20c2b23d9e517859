#include "core/report/diagnose.h"

#include <algorithm>
#include <cmath>

#include "core/json/writer.h"
#include "core/report/model_names.h"
#include "core/report/report.h"

namespace plimsoll::report {

namespace {

using diagnosis::Diagnosis;
using diagnosis::Message;
using json::Writer;

int64_t whole(double bytes) {
  constexpr double most = 9007199254740992.0;  // exact in JavaScript
  return static_cast<int64_t>(std::llround(std::clamp(bytes, -most, most)));
}

void write_size(Writer& out, const char* key, const std::optional<diagnosis::Size>& size) {
  if (size) out.field(key, whole(size->bytes));
}
void write_figure(Writer& out, const char* key, const std::optional<double>& bytes) {
  if (bytes) out.field(key, whole(*bytes));
}

void write_numbers(Writer& out, const Message& message) {
  const diagnosis::Numbers& n = message.numbers;
  const diagnosis::Derived d = diagnosis::derive(n);
  out.open_object();
  write_size(out, "tried", n.tried);
  if (n.tried) out.field("tried_half_step", whole(std::ceil(n.tried->half)));
  if (n.at_least) out.field("tried_at_least", true);
  write_size(out, "capacity", n.capacity);
  write_size(out, "free", n.free);
  write_size(out, "allocated", n.allocated);
  write_figure(out, "reserved", d.reserved);
  write_size(out, "private_pools", n.pools);
  write_size(out, "limit", n.limit);
  if (!d.sentinel) write_size(out, "this_process", n.this_process);
  write_figure(out, "other_processes", d.other);
  write_size(out, "other_allocations", n.other);
  write_figure(out, "slack", d.slack);
  write_figure(out, "residual", d.residual);
  write_figure(out, "shortfall", d.shortfall);
  if (d.sentinel) out.field("process_figure_unknown", true);
  out.close_object();
}

void write_messages(Writer& out, const Diagnosis& d) {
  out.open_array();
  for (const Message& message : d.reading.messages) {
    out.open_object();
    out.field("form", message.family->id);
    out.field("kind", diagnosis::name(message.family->kind));
    out.field("what", message.family->what);
    if (message.rank >= 0) out.field("rank", uint64_t(message.rank));
    if (message.gpu >= 0) out.field("gpu", uint64_t(message.gpu));
    if (message.cut_off) out.field("cut_off", true);
    out.field("repeats", message.repeats);
    out.key("traits");
    out.open_array();
    for (const uint8_t row : message.forms) out.value(diagnosis::forms()[row - 1].what);
    out.close_array();
    out.field("quote", message.quote);
    out.key("numbers");
    write_numbers(out, message);
    out.close_object();
  }
  out.close_array();
}

void write_cards(Writer& out, const Diagnosis& d) {
  out.open_object();
  out.field("gpus", d.cards);
  out.key("table");
  out.open_array();
  for (const diagnosis::Card& card : d.reading.table.cards) {
    out.open_object();
    if (card.index >= 0) out.field("index", uint64_t(card.index));
    out.field("name", card.name);
    out.field("used", whole(card.used));
    out.field("total", whole(card.total));
    out.close_object();
  }
  out.close_array();
  out.key("processes");
  out.open_array();
  for (const diagnosis::CardProcess& process : d.reading.table.processes) {
    out.open_object();
    out.field("gpu", uint64_t(process.card));
    out.field("pid", process.id);
    out.field("name", process.name);
    out.field("bytes", whole(process.bytes));
    out.close_object();
  }
  out.close_array();
  out.close_object();
}

void write_tensors(Writer& out, const Diagnosis& d) {
  out.open_array();
  for (const diagnosis::Match& match : d.reading.matches) {
    out.open_object();
    out.field("model", match.model);
    out.field("what", match.what);
    out.field("dtype", match.dtype);
    out.field("bytes", whole(match.bytes));
    out.field("off", whole(match.off));
    out.field("phase", match.phase);
    out.field("implies", match.implies);
    out.close_object();
  }
  out.close_array();
}

std::string_view word(diagnosis::Found found) {
  constexpr std::string_view words[] = {"figures", "frame", "request", "not_shown"};
  return words[static_cast<std::size_t>(found)];
}

void write_causes(Writer& out, const Diagnosis& d) {
  out.open_array();
  for (const diagnosis::Named& named : d.causes) {
    out.open_object();
    out.field("id", named.cause->id);
    out.field("title", named.cause->title);
    out.field("confidence", std::round(1000 * named.confidence) / 1000);
    out.field("detectable_from", word(named.cause->found));
    out.field("evidence", named.shown);
    out.field("why", named.cause->why);
    out.field("remedy", named.cause->remedy);
    out.field("ask", named.cause->ask);
    out.close_object();
  }
  out.close_array();
}

// What a person reads first.
std::string summary_of(const Diagnosis& d) {
  using diagnosis::size_text;
  const Message* message = d.reading.message();
  std::string out;
  if (message == nullptr) {
    return d.reading.table.cards.empty() ? "No message of lacking memory was found in this text."
                                         : "A table of cards, and no error message beside it.";
  }
  const diagnosis::Numbers& n = message->numbers;
  if (n.tried && message->family->kind == diagnosis::Kind::allocator) {
    out = size_text(n.tried->bytes) + " were asked for";
    if (n.free && n.capacity) {
      out += "; " + size_text(n.free->bytes) + " of " + size_text(n.capacity->bytes) + " were free";
    }
    out += ". ";
  } else {
    out = std::string(message->family->what) + " ";
  }
  if (!d.causes.empty()) {
    const diagnosis::Named& first = d.causes.front();
    out += (first.confidence >= 0.6 ? "" : "Most likely: ") + std::string(first.cause->title) + ".";
  }
  return out;
}

bool is_unsupported(const json::Error& error) { return error.code == "unsupported"; }

}  // namespace

void read_case(std::string_view text, std::string_view request, std::string_view phase,
               const Catalog& catalog, Case& out) {
  diagnosis::Situation& s = out.situation;
  s.text = text;
  s.phase = diagnosis::phase_named(phase);
  for (const ModelEntry& entry : catalog.models) {
    s.models.push_back({entry.preset.id, &entry.network, entry.preset.same_shapes.size()});
  }
  std::stable_sort(s.models.begin(), s.models.end(),
                   [](const auto& a, const auto& b) { return a.copies > b.copies; });
  for (const hardware::Gpu& gpu : catalog.gpus) s.gpus.push_back(&gpu);
  if (request.empty()) return;
  const auto tree = json::parse(request, out.errors);
  if (!tree) return;
  out.given = recipe::read_given(*tree, out.errors);
  s.values = out.given.values;
  s.model = out.given.model_id.empty() ? out.given.model_name : out.given.model_id;
  const auto gpu = s.values.find("/hardware/gpu");
  if (gpu != s.values.end() && gpu->second.is_string()) {
    json::Errors ignored;
    s.gpu = catalog.find_gpu(json::read_text(gpu->second, "", ignored).value_or(""));
  }
  // What the replay cannot do is left out: the whole run on one card is still a measure of it.
  recipe::Given given = out.given;
  for (int attempt = 0; attempt < 4 && out.errors.empty(); ++attempt) {
    json::Errors errors;
    out.run = read_run(given, catalog, errors);
    if (out.run) break;
    const bool all_unsupported = std::all_of(errors.begin(), errors.end(), is_unsupported);
    if (!all_unsupported) {
      out.errors = errors;
      break;
    }
    for (const json::Error& error : errors) {
      given.values.erase(error.pointer);
      out.left_out.push_back(error.pointer);
    }
  }
  if (out.run) {
    s.network = &out.run->network;
    s.recipe = &out.run->resolved.recipe;
    s.replay = &out.run->replay;
  } else if (const NamedModel named = find_by_name(catalog, s.model);
             named.entry != nullptr && !s.model.empty()) {
    s.network = &named.entry->network;
  } else if (out.given.model_config.is_object()) {
    json::Errors ignored;
    auto network = model::read_config(out.given.model_config, out.given.model_name, "/model/config", ignored);
    if (network) {
      out.network = std::move(*network);
      s.network = &out.network;
    }
  }
}

std::string diagnosis_text(std::string_view text, std::string_view request, std::string_view phase,
                           const Catalog& catalog) {
  Case one;
  read_case(text, request, phase, catalog, one);
  const Diagnosis d = diagnosis::diagnose(one.situation);
  const bool found = !d.reading.messages.empty() || !d.reading.table.cards.empty();
  Writer out;
  out.open_object();
  out.field("schema", uint64_t{1});
  out.field("core", version());
  out.field("ok", found);
  out.key("errors");
  out.open_array();
  if (!found) {
    out.open_object();
    out.field("code", "no_message");
    out.field("pointer", "");
    out.field("message", "No message of lacking memory was found in this text.");
    out.field("allowed",
              "an error of PyTorch, JAX, MLX, a library, the driver or the system; or a table of nvidia-smi");
    out.close_object();
  }
  out.close_array();
  out.key("request_errors");
  out.open_array();
  for (const json::Error& error : one.errors) {
    out.open_object();
    out.field("code", error.code);
    out.field("pointer", error.pointer);
    out.field("message", error.message);
    out.field("allowed", error.allowed);
    out.close_object();
  }
  out.close_array();
  out.field("summary", summary_of(d));
  out.field("shortened", d.reading.text.shortened);
  out.key("messages");
  write_messages(out, d);
  out.field("first", uint64_t(d.reading.first));
  out.key("cards");
  write_cards(out, d);
  out.key("phase");
  out.open_object();
  out.field("id", diagnosis::name(d.reading.phase));
  out.field("frame", d.reading.frames.words);
  out.close_object();
  out.key("tensors");
  write_tensors(out, d);
  out.key("causes");
  write_causes(out, d);
  out.close_object();
  return out.take();
}

}  // namespace plimsoll::report
