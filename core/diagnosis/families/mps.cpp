// PyTorch on Apple's Metal. "max allowed" is the watermark (1.7 times the recommended working set), not the
// RAM. Source: pytorch aten/src/ATen/mps/MPSAllocator.mm
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"mps backend out of memory", "invalid buffer size:"};

constexpr Clause clauses[] = {
    {&Numbers::tried, "tried to allocate", ""},  {&Numbers::tried, "invalid buffer size:", ""},
    {&Numbers::allocated, "mps allocated:", ""}, {&Numbers::other, "other allocations:", ""},
    {&Numbers::capacity, "max allowed:", ""},
};

}  // namespace

const Family mps_family = {
    .id = "mps",
    .kind = MessageKind::unified,
    .what =
        "PyTorch's Metal backend reached the limit it sets itself, a multiple of the working set "
        "that macOS recommends.",
    .markers = markers,
    .clauses = clauses,
    .row = 17};

}  // namespace plimsoll::diagnosis
