// bitsandbytes prints this from C and leaves no Python traceback.
// Source: bitsandbytes-foundation/bitsandbytes csrc/pythonInterface.cpp, csrc/ops.cu
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"error out of memory at line"};

}  // namespace

const Family bitsandbytes_family = {
    .id = "bitsandbytes",
    .kind = MessageKind::paged,
    .what = "bitsandbytes asked CUDA for managed (paged) memory and was refused.",
    .markers = markers,
    .row = 22};

}  // namespace plimsoll::diagnosis
