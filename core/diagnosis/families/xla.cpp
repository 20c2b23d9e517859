// XLA: JAX on GPU, PyTorch/XLA and TPU. Sizes in bytes or as 10.51G, never a capacity of the card.
// Source: openxla/xla xla/tsl/framework/bfc_allocator.cc, TPU runtime messages as users quote them.
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {
    "resource_exhausted", "resourceexhaustederror", "resource exhausted: out of memory",
    "out of memory while trying to allocate", "ran out of memory in memory space hbm"};

constexpr std::string_view weak_markers[] = {"attempting to reserve", "attempting to allocate"};

constexpr Clause clauses[] = {
    {&Numbers::tried, "trying to allocate", ""},    {&Numbers::tried, "out of memory allocating", ""},
    {&Numbers::tried, "attempting to reserve", ""}, {&Numbers::tried, "attempting to allocate", ""},
    {&Numbers::free, "there are", "free"},          {&Numbers::free, "there is", "free"},
    {&Numbers::capacity, "", "hbm. exceeded"},
};

}  // namespace

const Family xla_family = {
    .id = "xla",
    .kind = MessageKind::xla,
    .what = "XLA's own allocator, which took its share of the card at the start, has no block left.",
    .markers = markers,
    .weak_markers = weak_markers,
    .clauses = clauses,
    .row = 19};

}  // namespace plimsoll::diagnosis
