// Every property of checks.h on requests drawn by seed.
//
//     build/native/plimsoll_drawn                          as many as a minute takes on two slow cores
//     DRAWS=200000 build/native/plimsoll_drawn             more
//     SEED=17 DRAWS=1 build/native/plimsoll_drawn          one again, under every property
//
// The draws are dealt out to blocks, so that two processes share them evenly (GTEST_TOTAL_SHARDS). A draw is in the
// same block whatever the property, so that one process answers it once. Dear properties take one draw in several; with
// DRAWS=1 all are tried.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "tests/drawn/checks.h"

namespace plimsoll::drawn {
namespace {

constexpr uint64_t blocks = 16;
constexpr uint64_t usual_draws = 500;

// Told when the process dies on it.
volatile uint64_t at_work = 0;

#ifndef __EMSCRIPTEN__
void tell_the_seed(int signal) {
  char text[] = "\nDied at SEED=                     DRAWS=1\n";
  uint64_t rest = at_work;
  for (std::size_t place = 33; place > 14 && (rest > 0 || place == 33); --place, rest /= 10)
    text[place] = static_cast<char>('0' + rest % 10);
  std::fputs(text, stderr);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}
#endif

class Drawn : public testing::TestWithParam<uint64_t> {
 public:
  static void SetUpTestSuite() {
#ifndef __EMSCRIPTEN__
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(signal, tell_the_seed);
#endif
  }

 protected:
  // `check` on one in `every` of this block's draws.
  template <typename Check>
  void each(uint64_t every, const Wish& wish, const Check& check) {
    const uint64_t first = from_environment("SEED", 0), draws = from_environment("DRAWS", usual_draws);
    const uint64_t enough = from_environment("FAILURES", 5);  // to read
    if (draws < blocks) every = 1;
    for (uint64_t i = 0; i < draws; i += every) {
      if ((i + i / blocks) % blocks != GetParam()) continue;  // even for every multiple
      at_work = first + i;
      const Draw draw = make_draw(first + i, wish);
      const int before = failed_parts();
      check(draw);
      if (failed_parts() > before && ++failures_ == enough) return;
    }
  }

 private:
  static int failed_parts() {
    return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  }
  uint64_t failures_ = 0;
};

TEST_P(Drawn, RequestIsAnsweredInSoundNumbers) {
  each(1, {}, [](const Draw& draw) {
    is_answered_without_errors(draw);
    if (!is_answered(draw)) return;
    numbers_are_sound(draw);
    peak_is_the_highest_instant(draw);
    lines_sum_to_totals(draw);
    readings_are_ordered(draw);
    larger_tiers_never_fit_less(draw);
    fits_is_the_verdict_for_less_work(draw);
    limits_fit_and_no_more(draw);
  });
}

TEST_P(Drawn, DefaultsWrittenOutChangeNothing) {
  each(2, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) defaults_written_out_change_nothing(draw);
  });
}

TEST_P(Drawn, MoreIsNeverLess) {
  each(2, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) more_is_never_less(draw);
  });
}

TEST_P(Drawn, CorruptionIsNamed) {
  each(1, {.plain = true}, [](const Draw& draw) { a_corruption_is_named(draw); });
}

TEST_P(Drawn, ComparisonWithItselfIsNothing) {
  each(4, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) compared_with_itself_is_nothing(draw);
  });
}

TEST_P(Drawn, FailureIsDiagnosed) {
  each(4, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) its_failure_is_diagnosed(draw);
  });
}

TEST_P(Drawn, HandoutIsWritten) {
  each(4, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) handouts_are_written(draw);
  });
}

TEST_P(Drawn, SpoiledFilesAreRefusedOrRead) {
  each(8, {.small = true, .plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) spoiled_files_are_refused_or_read(draw);
  });
}

TEST_P(Drawn, UnrolledListHoldsWhatThePeaksSay) {
  each(1, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) unrolled_list_holds_what_the_peaks_say(draw);
  });
}

TEST_P(Drawn, LayersLeaveNoGradientThatIsNotWeighed) {
  each(4, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) layers_leave_no_gradient_that_is_not_weighed(draw);
  });
}

TEST_P(Drawn, LaterStepIsTheSameWithoutTheFirst) {
  each(8, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) later_step_is_the_same_without_the_first(draw);
  });
}

TEST_P(Drawn, DrawingLeavesOutNoHighestMoment) {
  each(4, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) drawing_leaves_out_no_highest_moment(draw);
  });
}

TEST_P(Drawn, ReplayedLayersChangeNoReplay) {
  each(8, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) replayed_layers_change_no_replay(draw);
  });
}

TEST_P(Drawn, TimelineKeepsEveryPeak) {
  each(8, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) timeline_keeps_every_peak(draw);
  });
}

TEST_P(Drawn, SimulatedAllocatorHoldsWhatIsAllocated) {
  each(16, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) simulated_allocator_holds_what_is_allocated(draw);
  });
}

TEST_P(Drawn, BatchesAndLengthsWeighNothing) {
  each(8, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) batches_and_lengths_weigh_nothing(draw);
  });
}

TEST_P(Drawn, TheSameIsAnsweredTwice) {
  each(8, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) the_same_is_answered_twice(draw);
  });
}

TEST_P(Drawn, OneMoreCostsWhatIsSaid) {
  each(4, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) one_more_costs_what_is_said(draw);
  });
}

TEST_P(Drawn, CheckpointingKeepsLessUntilTheLoss) {
  each(4, {.plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) checkpointing_keeps_less_until_the_loss(draw);
  });
}

TEST_P(Drawn, PlanHolds) {
  each(100, {.gpu = true, .small = true, .plain = true}, [](const Draw& draw) {
    if (is_answered(draw)) plans_hold(draw);
  });
}

TEST_P(Drawn, SearchFindsWhatTryingEverythingFinds) {
  each(20, {.gpu = true, .small = true, .plain = true}, search_finds_what_trying_everything_finds);
}

TEST_P(Drawn, ScaleTakesLessAtEveryStep) {
  each(20, {.gpu = true, .plain = true}, scales_take_less_at_every_step);
}

TEST_P(Drawn, PriceIsThatOfAFullReplay) {
  each(10, {.gpu = true, .plain = true}, a_price_is_that_of_a_full_replay);
}

INSTANTIATE_TEST_SUITE_P(Block, Drawn, testing::Range(uint64_t{0}, blocks));

}  // namespace
}  // namespace plimsoll::drawn
