#include "tests/drawn/checks.h"
#include "tests/drawn/corruption.h"

namespace plimsoll::drawn {

namespace {

double allocated(const Draw& draw) {
  return draw.report.at(Json::json_pointer("/memory/peak/allocated")).get<double>();
}

// What each field is in this request, given or by default.
uint64_t resolved_count(const Draw& draw, const char* pointer, uint64_t otherwise) {
  const Json::json_pointer where(pointer);
  if (draw.request.contains(where)) return draw.request.at(where).get<uint64_t>();
  for (const Json& assumption : draw.report.at("assumptions")) {
    if (assumption.at("pointer") == pointer) return assumption.at("value").get<uint64_t>();
  }
  return otherwise;
}

bool has_note(const Draw& draw, std::string_view code) {
  for (const Json& note : draw.report.at("notes")) {
    if (note.at("code") == code) return true;
  }
  return false;
}

Json with(Json request, const char* pointer, uint64_t value) {
  request[Json::json_pointer(pointer)] = value;
  return request;
}

}  // namespace

// The rest stays as it is, defaults too: a stack may accumulate less where the batch is larger.
void more_is_never_less(const Draw& draw) {
  Json request = draw.request;
  for (const Json& assumption : draw.report.at("assumptions"))
    request[Json::json_pointer(assumption.at("pointer").get<std::string>())] = assumption.at("value");
  const double before = allocated(draw);
  const auto raise = [&](const char* pointer, uint64_t otherwise, uint64_t by) {
    const Draw more =
        answered(draw.seed, with(request, pointer, resolved_count(draw, pointer, otherwise) + by));
    if (!is_answered(more)) return;  // beyond its range, or of an adapter that has none
    EXPECT_GE(allocated(more), before) << pointer << said(draw);
  };
  const char* const batch = "/training/per_device_train_batch_size";
  if (!has_note(draw, "size_may_take_less")) {
    // A sample alone needs no mask, and so takes another kernel; the note says it.
    const bool alone = has_note(draw, "sdpa_without_flash") && resolved_count(draw, batch, 8) == 1;
    // Rows that flash attention joins count with their mean length, and a loss that goes row by row with it.
    const bool joined = stated(draw, "/model_args/attn_implementation").rfind("flash", 0) == 0 &&
                        draw.request.contains("/data/mean_length"_json_pointer);
    if (!alone && !joined) raise(batch, 8, 1);
    raise("/training/max_length", 1024, 64);
  }
  // What is in `request` by now is given or a default: a run without adapters has no rank.
  if (request.contains("/peft/r"_json_pointer) && !has_note(draw, "rank_may_take_less"))
    raise("/peft/r", 8, 8);
}

void a_corruption_is_named(const Draw& draw) {
  Dice dice(draw.seed + 77);
  const Corruption wrong = corrupted(draw.request, dice);
  const Draw refused = answered(draw.seed, wrong.request);
  ASSERT_TRUE(refused.report.is_object()) << said(draw);
  EXPECT_EQ(refused.report.at("ok"), false) << wrong.what << " at " << wrong.pointer << said(refused);
  bool named = false;
  for (const Json& error : refused.report.at("errors")) {
    const auto pointer = error.at("pointer").get<std::string>();
    const bool there = pointer.rfind(wrong.pointer, 0) == 0;
    for (const std::string& code : wrong.codes) named = named || (there && error.at("code") == code);
    EXPECT_NE(error.at("message"), "") << said(refused);
  }
  EXPECT_TRUE(named) << wrong.what << " at " << wrong.pointer << ": " << refused.answer.substr(0, 500)
                     << said(refused);
}

}  // namespace plimsoll::drawn
