#include <algorithm>
#include <set>

#include "core/advice/space.h"
#include "core/recipe/locks.h"
#include "core/report/advice.h"
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {

namespace {

// The request with a plan's changes made, as a person would make them.
Json applied(Json request, const Json& changes) {
  for (const Json& change : changes)
    request[Json::json_pointer(change.at("pointer").get<std::string>())] = change.at("to");
  return request;
}

uint64_t sequences_in_a_step(const Draw& draw) {
  return draw.report.at(Json::json_pointer("/memory/effective_batch")).get<uint64_t>();
}

// What libraries refuse of a run, in their words.
std::set<std::string> refusals(const Draw& draw) {
  std::set<std::string> found;
  for (const Json& note : draw.report.at("notes")) {
    if (note.at("code") == "refused") found.insert(note.at("source").get<std::string>());
  }
  return found;
}

bool refuses_more(const Draw& changed, const Draw& draw) {
  const std::set<std::string> before = refusals(draw), after = refusals(changed);
  return !std::includes(before.begin(), before.end(), after.begin(), after.end());
}

void every_change_is_needed(const Draw& draw, const Json& plan) {
  std::set<std::string> fixes;
  for (const Json& change : plan.at("changes")) fixes.insert(change.at("fix").get<std::string>());
  for (const std::string& fix : fixes) {
    Json rest = Json::array();
    bool rest_needs_it = false;
    for (const Json& change : plan.at("changes")) {
      if (change.at("fix") == fix) continue;
      rest.push_back(change);
      // A field of /peft alone would bring adapters back.
      const bool of_adapters = change.at("pointer").get<std::string>().rfind("/peft/", 0) == 0;
      rest_needs_it = rest_needs_it || (fix == "adapters_instead_of_full" && of_adapters);
    }
    if (rest_needs_it) continue;
    const Draw less = answered(draw.seed, applied(draw.request, rest));
    if (!is_answered(less) || refuses_more(less, draw)) continue;  // the rest needs it
    EXPECT_NE(less.report.at("gpu").at("verdict"), plan.at("verdict"))
        << fix << " is not needed" << said(draw);
  }
}

void plan_holds(const Draw& draw, const Json& plan, const std::vector<std::string>& locks) {
  const Draw changed = answered(draw.seed, applied(draw.request, plan.at("changes")));
  ASSERT_TRUE(is_answered(changed)) << changed.answer.substr(0, 600) << "\n"
                                    << plan.at("changes") << said(draw);
  EXPECT_EQ(changed.report.at("memory").at("peak").at("high"), plan.at("peak").at("high"))
      << plan.at("changes") << said(draw);
  EXPECT_EQ(changed.report.at("gpu").at("verdict"), plan.at("verdict")) << plan.at("changes") << said(draw);
  EXPECT_EQ(changed.report.at("gpu").at("headroom"), plan.at("headroom")) << plan.at("changes") << said(draw);
  EXPECT_NE(plan.at("verdict"), "no") << said(draw);
  EXPECT_FALSE(refuses_more(changed, draw)) << changed.report.at("notes") << plan.at("changes") << said(draw);
  EXPECT_EQ(sequences_in_a_step(changed), plan.at("effective_batch").get<uint64_t>()) << said(draw);
  EXPECT_EQ(sequences_in_a_step(changed), sequences_in_a_step(draw)) << plan.at("changes") << said(draw);
  for (const Json& change : plan.at("changes")) {
    EXPECT_FALSE(recipe::is_locked(change.at("pointer").get<std::string>(), locks)) << change << said(draw);
  }
  every_change_is_needed(draw, plan);
}

// "If that still fails, next": the first plan's changes and one more at a time.
void ladder_holds(const Draw& draw, const Json& card) {
  Json request = draw.request;
  if (!card.at("plans").empty()) request = applied(request, card.at("plans")[0].at("changes"));
  for (const Json& rung : card.at("ladder")) {
    for (const auto& [pointer, value] : rung.at("changes").items())
      request[Json::json_pointer(pointer)] = value;
    const Draw changed = answered(draw.seed, request);
    ASSERT_TRUE(is_answered(changed)) << changed.answer.substr(0, 600) << "\n" << rung << said(draw);
    for (const char* size : {"device", "high"})
      EXPECT_EQ(changed.report.at("memory").at("peak").at(size), rung.at("peak").at(size))
          << rung << said(draw);
  }
}

// The same request with the largest model that is said to fit.
void largest_model_holds(const Draw& draw, const Json& limits) {
  if (limits.is_null() || limits.at("model").is_null()) return;
  Json request = draw.request;
  request["model"] = limits.at("model").at("id");
  const Draw changed = answered(draw.seed, request);
  ASSERT_TRUE(is_answered(changed)) << changed.answer.substr(0, 600) << said(draw);
  EXPECT_EQ(changed.report.at("memory").at("peak").at("high"), limits.at("model").at("high")) << said(draw);
  EXPECT_EQ(changed.report.at("gpu").at("verdict"), "fits") << said(draw);
}

}  // namespace

void plans_hold(const Draw& draw) {
  const std::string text = report::advise_text(draw.text, presets());
  json::Errors errors;
  const auto advice = json::parse(text, errors);
  ASSERT_TRUE(advice) << text.substr(0, 300) << said(draw);
  EXPECT_EQ(advice->at("ok"), true) << said(draw);
  numbers_are_sound(draw, "the advice", text);
  std::vector<std::string> locks;
  if (draw.request.contains("locks")) {
    for (const Json& lock : draw.request.at("locks")) locks.push_back(lock.get<std::string>());
  }
  EXPECT_EQ(advice->at("peak").at("high"), draw.report.at("memory").at("peak").at("high")) << said(draw);
  const Json& card = advice->at("gpu");
  EXPECT_EQ(card.is_null(), draw.report.at("gpu").is_null()) << said(draw);
  if (card.is_null()) return;  // an Apple chip, which gets no verdict
  for (const Json& plan : card.at("plans")) plan_holds(draw, plan, locks);
  ladder_holds(draw, card);
  largest_model_holds(draw, advice->at("limits"));
}

}  // namespace plimsoll::drawn
