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
    {Quantity::tried, "trying to allocate", ""},    {Quantity::tried, "out of memory allocating", ""},
    {Quantity::tried, "attempting to reserve", ""}, {Quantity::tried, "attempting to allocate", ""},
    {Quantity::free, "there are", "free"},          {Quantity::free, "there is", "free"},
    {Quantity::capacity, "", "hbm. exceeded"},
};

}  // namespace

const Family xla_family = {
    "xla",
    MessageKind::xla,
    "XLA's own allocator, which took its share of the card at the start, has no block left.",
    markers,
    weak_markers,
    clauses};

}  // namespace plimsoll::diagnosis
