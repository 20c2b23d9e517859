// What is made of a run besides its report: a comparison, a diagnosis, limits, hand-outs.
#include "core/report/compare.h"
#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "core/report/handout.h"
#include "core/run/run.h"
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {

namespace {

Json read(const Draw& draw, std::string_view what, const std::string& text) {
  json::Errors errors;
  auto value = json::parse(text, errors);
  EXPECT_TRUE(value) << what << " is no strict JSON: " << text.substr(0, 300) << said(draw);
  return value ? std::move(*value) : Json();
}

// "1.25 GiB", as PyTorch writes it.
std::string in_gib(double bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f GiB", bytes / 1073741824.0);
  return text;
}

}  // namespace

void compared_with_itself_is_nothing(const Draw& draw) {
  const std::string text = report::compare_text(draw.text, draw.text, presets());
  const Json comparison = read(draw, "the comparison", text);
  ASSERT_TRUE(comparison.is_object());
  EXPECT_EQ(comparison.at("ok"), true) << said(draw);
  EXPECT_EQ(comparison.at("differences").size(), 0u) << comparison.at("differences") << said(draw);
  EXPECT_EQ(comparison.at("no_effect").size(), 0u) << said(draw);
  EXPECT_EQ(comparison.at("a"), comparison.at("b")) << said(draw);
  EXPECT_EQ(comparison.at("a").at("allocated"), draw.report.at(Json::json_pointer("/memory/peak/allocated")))
      << said(draw);
}

// The run meets its end at its peak, on a card that is a little too small for it.
void its_failure_is_diagnosed(const Draw& draw) {
  const Json& peak = draw.report.at(Json::json_pointer("/memory/peak"));
  const double allocated = peak.at("allocated").get<double>(), device = peak.at("device").get<double>();
  if (allocated < 1e9 || allocated > 1e14) return;
  const std::string message =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a "
      "total capacity of " +
      in_gib(device) +
      " of which 115.38 MiB is free. Including "
      "non-PyTorch memory, this process has " +
      in_gib(device - 115e6) +
      " memory in use. Of "
      "the allocated memory " +
      in_gib(allocated - 4e8) +
      " is allocated by PyTorch, and "
      "161.45 MiB is reserved by PyTorch but unallocated.";
  const std::string text = report::diagnosis_text(message, draw.text, "", presets());
  const Json diagnosis = read(draw, "the diagnosis", text);
  ASSERT_TRUE(diagnosis.is_object());
  EXPECT_EQ(diagnosis.at("ok"), true) << said(draw);
  EXPECT_EQ(diagnosis.at("request_errors").size(), 0u) << diagnosis.at("request_errors") << said(draw);
  EXPECT_EQ(diagnosis.at("messages").size(), 1u) << said(draw);
  EXPECT_FALSE(diagnosis.at("run").is_null()) << said(draw);
  numbers_are_sound(draw, "the diagnosis", text);
}

void handouts_are_written(const Draw& draw) {
  for (const report::HandoutKind& kind : report::handout_kinds()) {
    const Json made = read(draw, kind.id, report::export_text(draw.text, kind.id, presets()));
    ASSERT_TRUE(made.is_object());
    EXPECT_EQ(made.at("ok"), true) << kind.id << said(draw);
  }
}

void fits_is_the_verdict_for_less_work(const Draw& draw) {
  json::Errors errors;
  const std::optional<run::Run> run = run::read_run(draw.text, presets(), errors);
  if (!run) return;
  const double usable = usable_on_card(*run);
  EXPECT_EQ(fits(*run), memory::verdict(sizes_at_peak(*run), usable) == memory::Verdict::fits) << said(draw);
}

// A limit fits by the report of the request with it, and the next size does not.
void limits_fit_and_no_more(const Draw& draw) {
  const Json::json_pointer place("/limits");
  if (!draw.report.contains(place) || draw.report.at(place).is_null()) return;
  const Json& limits = draw.report.at(place);
  const auto verdict = [&](const char* pointer, uint64_t value) -> std::string {
    Json changed = draw.request;
    changed[Json::json_pointer(pointer)] = value;
    changed["want"] = Json::array();
    // Of a longer sequence the completion stays, and the prompt takes the rest.
    if (changed.contains("rl") && std::string_view(pointer) == "/training/max_length")
      changed["rl"].erase("max_prompt_length");
    const Draw other = answered(draw.seed, changed);
    if (!is_answered(other)) return "refused";
    return other.report.at(Json::json_pointer("/gpu/verdict")).get<std::string>();
  };
  json::Errors ignored;
  const auto run = run::read_run(json::write(draw.request), presets(), ignored);
  const uint64_t learned = run ? model::learned_positions(run->network) : 0;
  const uint64_t positions = learned > 0 ? learned : UINT64_MAX;
  const auto holds = [&](const char* name, const char* pointer, uint64_t step) {
    const Json& limit = limits.at(name);
    if (limit.is_null()) return;
    const auto value = limit.get<uint64_t>();
    EXPECT_EQ(verdict(pointer, value), "fits") << name << " " << value << said(draw);
    // A table of learned positions ends the row, and no memory does.
    if (std::string_view(name) == "max_length" && value + step > positions) return;
    const std::string beyond = verdict(pointer, value + step);
    EXPECT_TRUE(beyond != "fits") << name << " " << value + step << " fits too" << said(draw);
  };
  holds("per_device_train_batch_size", "/training/per_device_train_batch_size", 1);
  holds("max_length", "/training/max_length", 16);
  if (draw.request.contains("peft")) holds("r", "/peft/r", 1);
}

}  // namespace plimsoll::drawn
