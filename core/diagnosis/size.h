// Sizes as programs print them: "224.00 MiB", "0 bytes", "10.51G", "1EB".
//
//     for (const Size& size : sizes_in("tried to allocate 224.00 mib ("))
//       size.bytes;    // 234881024
//       size.half;     // 5242.88: the printed figure stands for bytes - half .. bytes + half
//
// Every unit is a power of 1024, whatever its label: PyTorch's older MPS backend writes MB and GB and divides
// by 1024 (pytorch aten/src/ATen/mps/MPSAllocator.mm format_size), XLA and Ray do the same.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/diagnosis/counted_text.h"

namespace plimsoll::diagnosis {

constexpr double gibibyte = 1073741824.0, mebibyte = 1048576.0;

struct Size {
  double bytes = 0;
  double half = 0;  ///< half of the last printed digit; 0 for whole bytes
  double value = 0;
  std::string unit;  ///< as printed, in lower case; "" for a bare number of five or more digits
  std::size_t begin = 0, end = 0;
};

/// The sizes in a folded text (text.h), in order; at most `most`.
std::vector<Size> sizes_in(CountedText folded, std::size_t most = 64);

}  // namespace plimsoll::diagnosis
