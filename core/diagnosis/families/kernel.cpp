// Triton: a kernel whose blocks exceed the on-chip memory of a multiprocessor. No GPU memory is lacking.
// Source: triton-lang/triton python/triton/runtime/errors.py OutOfResources.
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"out of resource: shared memory", "out of resource: threads",
                                        "out of resource: registers", "outofresources"};

}  // namespace

const Family kernel_family = {
    .id = "kernel",
    .kind = MessageKind::kernel,
    .what =
        "A kernel needs more shared memory on the chip than this card's multiprocessors have; the "
        "GPU's memory did not run out.",
    .markers = markers};

}  // namespace plimsoll::diagnosis
