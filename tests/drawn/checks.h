// What must hold for every request, each a function over one draw that fails the running test in words.
//
//     const Draw draw = make_draw(seed, {});
//     numbers_are_sound(draw);
//
// A failure names the seed: SEED=17 DRAWS=1 build/native/plimsoll_drawn draws that request again.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "tests/drawn/request.h"

namespace plimsoll::drawn {

/// A number that the environment gives the program: DRAWS, SEED.
uint64_t from_environment(const char* name, uint64_t usual);

struct Draw {
  uint64_t seed = 0;
  Json request;
  std::string text;    ///< the request as text
  std::string answer;  ///< its report as text
  Json report;         ///< the same, read strictly; null where it is no JSON
};
Draw make_draw(uint64_t seed, const Wish& wish);
/// Of any request; `seed` is for messages.
Draw answered(uint64_t seed, const Json& request);

/// "SEED=17 DRAWS=1" and the request, for a message.
std::string said(const Draw& draw);

bool is_answered(const Draw& draw);
/// What two sums over the same bytes may differ by when they are made in another order: 64 bytes, or what doubles
/// lose of sizes beyond a TiB.
inline double rounding(double bytes) { return 64 + 1e-12 * std::fabs(bytes); }
/// A word that the request states, "" where it states none. Not Json::value(), which throws within, and wasm
/// has no exceptions.
std::string stated(const Draw& draw, const char* pointer);

// Of a report.
void is_answered_without_errors(const Draw& draw);
void peak_is_the_highest_instant(const Draw& draw);
void lines_sum_to_totals(const Draw& draw);
void readings_are_ordered(const Draw& draw);
void larger_tiers_never_fit_less(const Draw& draw);
void defaults_written_out_change_nothing(const Draw& draw);
/// The request with the defaults written out that the report says it assumed.
json::Json written_out(const Draw& draw);
/// No number is NaN, infinite or beyond what is exact, and none is negative but differences.
void numbers_are_sound(const Draw& draw);
void numbers_are_sound(const Draw& draw, std::string_view what, const std::string& answer);

// Of a run, its highest moments and the list of its tensors.
void unrolled_list_holds_what_the_peaks_say(const Draw& draw);
void layers_leave_no_gradient_that_is_not_weighed(const Draw& draw);
void later_step_is_the_same_without_the_first(const Draw& draw);
void drawing_leaves_out_no_highest_moment(const Draw& draw);
void replayed_layers_change_no_replay(const Draw& draw);

void timeline_keeps_every_peak(const Draw& draw);
void simulated_allocator_holds_what_is_allocated(const Draw& draw);

// Of what plans lean on.
void batches_and_lengths_weigh_nothing(const Draw& draw);

// Of several reports.
void the_same_is_answered_twice(const Draw& draw);
void checkpointing_keeps_less_until_the_loss(const Draw& draw);
void more_is_never_less(const Draw& draw);
void one_more_costs_what_is_said(const Draw& draw);
void a_corruption_is_named(const Draw& draw);

// Of other answers.
void compared_with_itself_is_nothing(const Draw& draw);
void its_failure_is_diagnosed(const Draw& draw);
void fits_is_the_verdict_for_less_work(const Draw& draw);
void limits_fit_and_no_more(const Draw& draw);
void handouts_are_written(const Draw& draw);
void spoiled_files_are_refused_or_read(const Draw& draw);

// Of plans; the request has a card.
void plans_hold(const Draw& draw);
void search_finds_what_trying_everything_finds(const Draw& draw);
void scales_take_less_at_every_step(const Draw& draw);
void a_price_is_that_of_a_full_replay(const Draw& draw);

}  // namespace plimsoll::drawn
