// nvidia-smi, gpustat and their like: which card it is, how full, and by whom.
//
//     GpuTable table = read_gpu_table(text);
//     table.cards[0].total;      // 85899345920: the total tells the card where the name is cut off
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/diagnosis/text.h"

namespace plimsoll::diagnosis {

struct Card {
  int index = -1;
  std::string name;  ///< as printed, perhaps cut off: "NVIDIA A100-SXM..."; "" when there is none
  double used = 0, total = 0;
};

struct CardProcess {
  int card = -1;
  uint64_t id = 0;
  std::string name;
  double bytes = 0;
};

struct GpuTable {
  std::vector<Card> cards;
  std::vector<CardProcess> processes;
};

/// At most 64 cards and 256 processes; a text without such a table gives none.
GpuTable read_gpu_table(const Text& text, Work* work = nullptr);

}  // namespace plimsoll::diagnosis
