// PyTorch's caching allocator, rule by rule. Numbers are those of pytorch/pytorch
// c10/cuda/CUDACachingAllocator.cpp: kMinBlockSize 512, kSmallSize 1 MiB, kSmallBuffer 2 MiB, kLargeBuffer
// 20 MiB, kMinLargeAlloc 10 MiB, kRoundLarge 2 MiB.
#include "core/memory/allocator/caching_allocator.h"

#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::memory {
namespace {

constexpr uint64_t mib = 1048576;

AllocatorSettings with(const char* conf) { return read_allocator_settings(conf); }

TEST(AllocatorSettings, BlanksAroundOneChangeNothing) {
  for (const char* conf : {"expandable_segments:True", "expandable_segments:True ",
                           " expandable_segments: True", "max_split_size_mb:128, expandable_segments:True "})
    EXPECT_TRUE(with(conf).expandable_segments) << conf;
  EXPECT_EQ(with("max_split_size_mb: 128 ,expandable_segments:True").max_split_size, uint64_t{128} << 20);
}

TEST(CachingAllocator, RoundsARequestToHalfAKibibyte) {
  EXPECT_EQ(rounded_request(1, {}), 512u);
  EXPECT_EQ(rounded_request(512, {}), 512u);
  EXPECT_EQ(rounded_request(513, {}), 1024u);
  CachingAllocator cuda({});
  cuda.allocate(1);
  EXPECT_EQ(cuda.allocated(), 512u);
}

// torch.cuda documents 1200 with four divisions as 1280: 1024, 1280, 1536, 1792 are the steps.
TEST(CachingAllocator, RoundsToAShareOfAPowerOfTwoWhenToldTo) {
  EXPECT_EQ(rounded_request(5000, with("roundup_power2_divisions:4")), 5120u);
  EXPECT_EQ(rounded_request(65 * mib, with("roundup_power2_divisions:4")), 80 * mib);
  EXPECT_EQ(rounded_request(64 * mib, with("roundup_power2_divisions:4")), 64 * mib);
}

TEST(CachingAllocator, AsksTheDriverForSegmentsByTheSizeOfTheRequest) {
  const auto reserved = [](uint64_t bytes) {
    CachingAllocator cuda({});
    cuda.allocate(bytes);
    return cuda.reserved();
  };
  EXPECT_EQ(reserved(1), 2 * mib);
  EXPECT_EQ(reserved(mib), 2 * mib);
  EXPECT_EQ(reserved(mib + 1), 20 * mib);
  EXPECT_EQ(reserved(10 * mib - 512), 20 * mib);
  EXPECT_EQ(reserved(10 * mib), 10 * mib);
  EXPECT_EQ(reserved(11 * mib), 12 * mib);
}

// 84 weights of Qwen2.5-7B in 16 bits are 129.5 MiB each: the half MiB beside each is too small to split off.
TEST(CachingAllocator, CountsAnUnsplitRemainderAsAllocated) {
  CachingAllocator cuda({});
  for (int i = 0; i < 84; ++i) cuda.allocate(18944ull * 3584 * 2);
  EXPECT_EQ(cuda.allocated(), 84 * 130 * mib);
  CachingAllocator expandable(with("expandable_segments:True"));
  for (int i = 0; i < 84; ++i) expandable.allocate(18944ull * 3584 * 2);
  EXPECT_EQ(expandable.allocated(), 84 * (129 * mib + mib / 2));
}

TEST(CachingAllocator, KeepsWhatIsReleasedAndJoinsNeighbours) {
  CachingAllocator cuda({});
  const uint32_t a = cuda.allocate(64 * mib);
  cuda.release(a);
  EXPECT_EQ(cuda.reserved(), 64 * mib);
  const uint32_t b = cuda.allocate(20 * mib), c = cuda.allocate(20 * mib);
  EXPECT_EQ(cuda.reserved(), 64 * mib);
  cuda.release(b);
  cuda.release(c);
  cuda.allocate(64 * mib);
  EXPECT_EQ(cuda.reserved(), 64 * mib);
  EXPECT_EQ(cuda.peak_reserved(), 64 * mib);
}

TEST(CachingAllocator, TakesTheSmallestBlockThatIsLargeEnough) {
  CachingAllocator cuda({});
  const uint32_t large = cuda.allocate(100 * mib), small = cuda.allocate(40 * mib);
  cuda.release(large);
  cuda.release(small);
  cuda.allocate(38 * mib);
  cuda.allocate(100 * mib);  // still whole
  EXPECT_EQ(cuda.reserved(), 140 * mib);
}

// A hole between two tensors is no use to a larger one: 60 MiB are free, and 40 do not fit.
TEST(CachingAllocator, Fragments) {
  CachingAllocator cuda({});
  const uint32_t whole = cuda.allocate(120 * mib);
  cuda.release(whole);
  std::vector<uint32_t> pieces;
  for (int i = 0; i < 6; ++i) pieces.push_back(cuda.allocate(20 * mib));
  for (int i = 0; i < 6; i += 2) cuda.release(pieces[static_cast<std::size_t>(i)]);
  cuda.allocate(40 * mib);
  EXPECT_EQ(cuda.reserved(), 160 * mib);
  EXPECT_EQ(cuda.allocated(), 100 * mib);
}

TEST(CachingAllocator, NeverSplitsBlocksAboveTheLimit) {
  CachingAllocator cuda(with("max_split_size_mb:64"));
  const uint32_t large = cuda.allocate(200 * mib);
  cuda.release(large);
  cuda.allocate(32 * mib);  // may not take from the 200
  EXPECT_EQ(cuda.reserved(), 232 * mib);
  cuda.allocate(190 * mib);  // may have all of it: less than 20 MiB are wasted
  EXPECT_EQ(cuda.reserved(), 232 * mib);
  EXPECT_EQ(cuda.allocated(), 232 * mib);
}

TEST(CachingAllocator, GrowsExpandableSegmentsByPages) {
  CachingAllocator cuda(with("backend:native,expandable_segments:True"));
  const uint32_t a = cuda.allocate(50 * mib);
  EXPECT_EQ(cuda.reserved(), 60 * mib);
  cuda.release(a);
  cuda.allocate(70 * mib);  // grows the same segment
  EXPECT_EQ(cuda.reserved(), 80 * mib);
  cuda.allocate(mib);
  EXPECT_EQ(cuda.reserved(), 82 * mib);
}

TEST(CachingAllocator, GivesCachedSegmentsBackBeforeItFails) {
  CachingAllocator cuda({}, 100 * mib);
  const uint32_t a = cuda.allocate(60 * mib);
  cuda.release(a);
  EXPECT_NE(cuda.allocate(80 * mib), CachingAllocator::none);
  EXPECT_EQ(cuda.reserved(), 80 * mib);
  EXPECT_EQ(cuda.retries(), 1u);
  EXPECT_EQ(cuda.allocate(40 * mib), CachingAllocator::none);
}

TEST(CachingAllocator, EmptyCacheReturnsWholeSegmentsOnly) {
  CachingAllocator cuda({});
  const uint32_t a = cuda.allocate(64 * mib);
  cuda.allocate(32 * mib);
  cuda.release(a);
  cuda.allocate(20 * mib);  // in the first segment
  cuda.empty_cache();
  EXPECT_EQ(cuda.reserved(), 96 * mib);
}

// Any order of requests and releases: everything is given back in the end, and nothing is counted twice.
TEST(CachingAllocator, LosesNothing) {
  for (const char* conf :
       {"", "expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:8"}) {
    CachingAllocator cuda(with(conf));
    std::vector<uint32_t> alive;
    uint64_t dice = 12345;
    for (int i = 0; i < 20000; ++i) {
      dice = dice * 6364136223846793005u + 1442695040888963407u;
      const uint64_t drawn = dice >> 33;
      if (alive.size() < 50 || (drawn & 1) == 0) {
        alive.push_back(cuda.allocate((drawn % 4 == 0 ? 300000 : 1) * (drawn % 97) + 1));
      } else {
        std::swap(alive[drawn % alive.size()], alive.back());
        cuda.release(alive.back());
        alive.pop_back();
      }
      ASSERT_LE(cuda.allocated(), cuda.reserved()) << conf;
    }
    for (const uint32_t block : alive) cuda.release(block);
    EXPECT_EQ(cuda.allocated(), 0u) << conf;
    cuda.empty_cache();
    EXPECT_EQ(cuda.reserved(), 0u) << conf;
  }
}

}  // namespace
}  // namespace plimsoll::memory
