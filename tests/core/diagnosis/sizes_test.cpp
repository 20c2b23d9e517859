// Sums that an answer makes: how much a card had, what its part of a run is, what others could not give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

// The words are those of pytorch c10/cuda/CUDAMallocAsyncAllocator.cpp, mallocAsync.
constexpr const char* of_cudas_own_pool =
    "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\n"
    "Currently allocated     : 22.01 GiB\nRequested               : 1.96 GiB\n"
    "Device limit            : 23.99 GiB\nFree (according to CUDA): 27.19 MiB\n"
    "PyTorch limit (set by user-supplied memory fraction)\n"
    "                        : 17179869184.00 GiB\n";

TEST(DiagnosisSizes, ADeviceLimitIsWhatTheCardHasAndNotWhatIsFree) {
  const Diagnosis d = explained(of_cudas_own_pool);
  ASSERT_EQ(d.reading.messages.size(), 1U);
  const Numbers& n = d.reading.messages[0].numbers;
  ASSERT_TRUE(n.tried && n.capacity && n.free && n.allocated);
  EXPECT_DOUBLE_EQ(n.tried->bytes, 1.96 * gibibyte);
  EXPECT_DOUBLE_EQ(n.capacity->bytes, 23.99 * gibibyte);
  EXPECT_DOUBLE_EQ(n.free->bytes, 27.19 * mebibyte);
  EXPECT_DOUBLE_EQ(n.allocated->bytes, 22.01 * gibibyte);
  EXPECT_FALSE(n.limit) << "2^64 bytes is no limit";
  EXPECT_FALSE(d.reading.messages[0].cut_off);
  for (const Named& named : d.causes) EXPECT_NE(named.cause->id, "windows_sysmem_fallback");
}

TEST(DiagnosisSizes, TheFirstWordsOfAnErrorOfCudasOwnPoolAreEnough) {
  const Diagnosis d = explained(
      "torch.OutOfMemoryError: Allocation on device \n"
      "This error means you ran out of memory on your GPU.");
  ASSERT_EQ(d.reading.messages.size(), 1U);
  EXPECT_EQ(d.reading.messages[0].family->id, "pytorch_async_pool");
}

}  // namespace
}  // namespace plimsoll::diagnosis
