// Libraries that ask the driver past PyTorch's cache: cuBLAS and cuDNN for handles, NCCL for its channels.
// Source: NVIDIA/nccl src/include/alloc.h; cuBLAS and cuDNN status codes.
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view handle_markers[] = {
    "cublas_status_alloc_failed",   "cublas_status_not_initialized",
    "cudnn_status_not_initialized", "cudnn_status_alloc_failed",
    "cusolver_status_alloc_failed", "cusparse_status_insufficient_resources",
    "create cublas handle failed",  "cufft_alloc_failed",
    "rocblas_status_memory_error",  "cudnn_status_internal_error"};

constexpr std::string_view nccl_markers[] = {"cuda failure 'out of memory'", "cuda failure 2 'out of memory'",
                                             "failed to cuda calloc", "failed to cuda malloc"};

constexpr Clause nccl_clauses[] = {{&Numbers::tried, "failed to cuda calloc async", ""},
                                   {&Numbers::tried, "failed to cuda calloc (async)", ""},
                                   {&Numbers::tried, "failed to cuda calloc", ""},
                                   {&Numbers::tried, "failed to cuda malloc", ""}};

}  // namespace

const Family handle_family = {
    .id = "library_handle",
    .kind = MessageKind::library,
    .what = "A library could not make its handle: PyTorch's cache holds what the library would need.",
    .markers = handle_markers,
    .row = 21};

const Family nccl_family = {
    .id = "nccl",
    .kind = MessageKind::library,
    .what =
        "NCCL takes its buffers from the driver, outside PyTorch's allocator, and there was "
        "nothing left.",
    .markers = nccl_markers,
    .clauses = nccl_clauses,
    .row = 21};

}  // namespace plimsoll::diagnosis
