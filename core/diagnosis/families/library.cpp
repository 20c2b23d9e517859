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

constexpr Clause nccl_clauses[] = {{Quantity::tried, "failed to cuda calloc async", ""},
                                   {Quantity::tried, "failed to cuda calloc (async)", ""},
                                   {Quantity::tried, "failed to cuda calloc", ""},
                                   {Quantity::tried, "failed to cuda malloc", ""}};

}  // namespace

const Family handle_family = {
    "library_handle",
    MessageKind::library,
    "A library could not make its handle: PyTorch's cache holds what the library would need.",
    handle_markers,
    {},
    {}};

const Family nccl_family = {
    "nccl",
    MessageKind::library,
    "NCCL takes its buffers from the driver, outside PyTorch's allocator, and there was nothing left.",
    nccl_markers,
    {},
    nccl_clauses};

}  // namespace plimsoll::diagnosis
