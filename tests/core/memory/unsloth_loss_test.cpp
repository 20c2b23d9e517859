// Into how many chunks Unsloth cuts its loss: get_chunk_size of three releases of unsloth-zoo was run with the free
// memory given.
#include "core/memory/head/unsloth_loss.h"

#include <gtest/gtest.h>

namespace plimsoll::memory {
namespace {

constexpr double gib = 1073741824;

struct Cut {
  const char* release;
  double free_gib, tokens, vocabulary, chunks;
};

TEST(UnslothLoss, IsCutAsEachReleaseCutsIt) {
  constexpr Cut cuts[] = {
      {"2026.6.7", 6, 8192, 151936, 1},     {"2026.6.7", 6, 32768, 262144, 12},
      {"2026.6.7", 6, 32768, 128256, 4},    {"2026.6.7", 20, 32768, 262144, 4},
      {"2026.6.7", 20, 32768, 128256, 1},   {"2026.6.7", 60, 32768, 262144, 1},
      {"2026.9.2", 6, 2048, 128256, 1},     {"2026.9.2", 6, 8192, 151936, 4},
      {"2026.9.2", 6, 32768, 262144, 12},   {"2026.9.2", 6, 32768, 128256, 8},
      {"2026.9.2", 20, 32768, 262144, 8},   {"2026.9.2", 60, 32768, 128256, 4},
      {"2026.10.9", 6, 2048, 128256, 4},    {"2026.10.9", 6, 8192, 151936, 8},
      {"2026.10.9", 6, 32768, 262144, 44},  {"2026.10.9", 20, 2048, 128256, 1},
      {"2026.10.9", 20, 8192, 151936, 8},   {"2026.10.9", 6, 32768, 128256, 24},
      {"2026.10.9", 60, 32768, 262144, 32}, {"2026.10.9", 60, 32768, 128256, 16},
  };
  for (const Cut& cut : cuts) {
    const ChunkedLogits logits = {
        .tokens = cut.tokens, .vocabulary = cut.vocabulary, .free = cut.free_gib * gib};
    EXPECT_EQ(unsloth_chunks(logits, cut.release), cut.chunks)
        << cut.release << ", " << cut.free_gib << " GiB free, " << cut.tokens << " x " << cut.vocabulary;
  }
}

TEST(UnslothLoss, WhatNoChunkMakesSmallerIsTakenOffTheShare) {
  const ChunkedLogits logits = {.tokens = 8192, .vocabulary = 128256, .free = 60 * gib, .fixed = 2 * gib};
  EXPECT_EQ(unsloth_chunks(logits, "2026.10.9"), 8);
  EXPECT_EQ(unsloth_chunks({.tokens = 8192, .vocabulary = 128256, .free = 60 * gib}, "2026.10.9"), 4);
}

}  // namespace
}  // namespace plimsoll::memory
