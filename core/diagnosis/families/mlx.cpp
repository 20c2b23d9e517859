// MLX on Apple's Metal. Source: ml-explore/mlx mlx/backend/metal/allocator.cpp
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"[malloc_or_wait] unable to allocate", "[metal::malloc]",
                                        "[metal] command buffer execution failed: insufficient memory",
                                        "kiogpucommandbuffercallbackerroroutofmemory"};

constexpr Clause clauses[] = {{Quantity::tried, "unable to allocate", ""},
                              {Quantity::tried, "attempting to allocate", ""},
                              {Quantity::capacity, "maximum allowed buffer size of", ""}};

}  // namespace

const Family mlx_family = {
    "mlx",
    MessageKind::unified,
    "Metal could not give MLX the memory: the unified memory is full, or one buffer is "
    "larger than Metal allows.",
    markers,
    {},
    clauses};

}  // namespace plimsoll::diagnosis
