// PyTorch over CUDA's own pool (PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync, ComfyUI's default). Labels stand
// before their figures here, so that none of the other form's words behind a figure may claim them.
// Source: pytorch c10/cuda/CUDAMallocAsyncAllocator.cpp, mallocAsync.
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

// Programs that print an exception's first words alone leave "Allocation on device".
constexpr std::string_view markers[] = {"outofmemoryerror: allocation on device",
                                        "would exceed allowed memory. (out of memory)"};

constexpr Clause clauses[] = {{&Numbers::allocated, "currently allocated :", ""},
                              {&Numbers::tried, "requested :", ""},
                              {&Numbers::capacity, "device limit :", ""},
                              {&Numbers::free, "free (according to cuda):", ""},
                              {&Numbers::limit, "memory fraction) :", ""}};

}  // namespace

const Family async_pool_family = {
    .id = "pytorch_async_pool",
    .kind = MessageKind::allocator,
    .what = "PyTorch asked CUDA's own pool (cudaMallocAsync) for memory and did not get it.",
    .markers = markers,
    .clauses = clauses};

}  // namespace plimsoll::diagnosis
