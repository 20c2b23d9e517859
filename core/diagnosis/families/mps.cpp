// PyTorch on Apple's Metal. "max allowed" is the watermark (1.7 times the recommended working set), not the
// RAM. Source: pytorch aten/src/ATen/mps/MPSAllocator.mm
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"mps backend out of memory", "invalid buffer size:"};

constexpr Clause clauses[] = {
    {Quantity::tried, "tried to allocate", ""},  {Quantity::tried, "invalid buffer size:", ""},
    {Quantity::allocated, "mps allocated:", ""}, {Quantity::other, "other allocations:", ""},
    {Quantity::capacity, "max allowed:", ""},
};

}  // namespace

const Family mps_family = {
    "mps",
    MessageKind::unified,
    "PyTorch's Metal backend reached the limit it sets itself, a multiple of the working "
    "set that macOS recommends.",
    markers,
    {},
    clauses};

}  // namespace plimsoll::diagnosis
