// MLX on Apple's Metal. Source: ml-explore/mlx mlx/backend/metal/allocator.cpp
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"[malloc_or_wait] unable to allocate", "[metal::malloc]",
                                        "[metal] command buffer execution failed: insufficient memory",
                                        "kiogpucommandbuffercallbackerroroutofmemory"};

constexpr Clause clauses[] = {{&Numbers::tried, "unable to allocate", ""},
                              {&Numbers::tried, "attempting to allocate", ""},
                              {&Numbers::capacity, "maximum allowed buffer size of", ""}};

}  // namespace

const Family mlx_family = {
    .id = "mlx",
    .kind = MessageKind::unified,
    .what =
        "Metal could not give MLX the memory: the unified memory is full, or one buffer is larger "
        "than Metal allows.",
    .markers = markers,
    .clauses = clauses,
    .row = 18};

}  // namespace plimsoll::diagnosis
