// What is said of a layer once holds for all that repeat it.
#include "core/memory/step/peak_sink.h"

#include <gtest/gtest.h>

namespace plimsoll::memory {
namespace {

// Each repetition keeps 3 bytes in a pool and 2 outside it, and needs 5 for itself.
PeakSink repeated(int32_t times) {
  PeakSink sink(only(Component::weights, 100));
  sink.enter(Phase::forward);
  sink.repeat(times, [&sink](int32_t) {
    sink.put(Pool::cache, sink.allocate(Component::autocast, 3, "cast"));
    sink.allocate(Component::boundaries, 2, "layer input");
    sink.release(sink.allocate(Component::transient, 5, "at work"));
  });
  return sink;
}

TEST(PeakSink, AddsTheConstantOfRepetitionsThatItDoesNotPlay) {
  for (int32_t times = 1; times <= 9; ++times) {
    PeakSink sink = repeated(times);
    EXPECT_EQ(sink.live().total(), 100 + 5 * times) << times;
    EXPECT_EQ(sink.highest(Phase::forward).total(), 105 + 5 * times) << times;
    EXPECT_EQ(sink.bytes(Pool::cache), 3 * times) << times;
    sink.release_all(Pool::cache);
    EXPECT_EQ(sink.live()[Component::autocast], 0) << times;
    EXPECT_EQ(sink.live()[Component::boundaries], 2 * times) << times;
  }
}

// A layer that fetches less ahead than the others stands at either end of its stack.
TEST(PeakSink, PlaysTheTwoRepetitionsAtEachEnd) {
  for (int32_t times = 1; times <= 9; ++times) {
    PeakSink sink({});
    std::vector<int32_t> played;
    sink.repeat(times, [&played](int32_t i) { played.push_back(i); });
    for (const int32_t end : {0, 1, times - 2, times - 1}) {
      if (end < 0 || end >= times) continue;
      EXPECT_NE(std::find(played.begin(), played.end(), end), played.end()) << end << " of " << times;
    }
    EXPECT_LE(played.size(), 4u);
    EXPECT_TRUE(std::is_sorted(played.begin(), played.end()));
  }
}

TEST(PeakSink, KeepsNoRemainderOfWhatIsGone) {
  PeakSink sink({});
  sink.enter(Phase::forward);
  std::vector<PeakSink::Handle> made;
  for (const double bytes : {3e17, 0.1, 7.3e11})
    made.push_back(sink.allocate(Component::activations, bytes, ""));
  for (const PeakSink::Handle& each : made) sink.release(each);
  sink.enter(Phase::optimizer_step);
  EXPECT_EQ(sink.highest(Phase::optimizer_step).total(), 0);
  EXPECT_EQ(sink.live()[Component::activations], 0);
}

}  // namespace
}  // namespace plimsoll::memory
