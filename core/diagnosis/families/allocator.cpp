// PyTorch's caching allocator on CUDA, ROCm and XPU, in brackets (up to 2.0) and in sentences (since 2.1).
// Source: pytorch c10/cuda/CUDACachingAllocator.cpp, c10/xpu/XPUCachingAllocator.cpp, by release.
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"cuda out of memory",
                                        "hip out of memory",
                                        "xpu out of memory",
                                        "npu out of memory",
                                        "privateuse1 out of memory",
                                        "would exceed allowed memory. (out of memory)",  // cudaMallocAsync
                                        "memory allocation failed with oom on device",
                                        "内存不足",
                                        "显存不足"};

constexpr std::string_view weak_markers[] = {"tried to allocate", "尝试分配", "试图分配"};

constexpr Clause clauses[] = {
    {Quantity::tried, "tried to allocate", ""},
    {Quantity::tried, "tried to allocate more than", ""},
    {Quantity::tried, "trying to allocate", ""},
    {Quantity::capacity, "total capacty of", ""},
    {Quantity::capacity, "total capacity of", ""},
    {Quantity::capacity, "", "total capacity"},
    {Quantity::capacity, ", total:", ""},
    {Quantity::free, "of which", "is free"},
    {Quantity::free, "of which", ""},
    {Quantity::free, "", "is free"},
    {Quantity::free, "(free:", ""},
    {Quantity::free, "", "free"},
    {Quantity::limit, "", "allowed"},
    {Quantity::this_process, "this process has", ""},
    {Quantity::allocated, "of the allocated memory", ""},
    {Quantity::allocated, "", "already allocated"},
    {Quantity::allocated, "", "is allocated by pytorch"},
    {Quantity::pools, "", "allocated in private pools"},
    {Quantity::unallocated, "", "is reserved by pytorch but"},
    {Quantity::reserved, "", "reserved in total"},
    {Quantity::cached, "", "cached"},
    {Quantity::allocated, "currently allocated :", ""},
    {Quantity::tried, "requested :", ""},
    {Quantity::capacity, "device limit :", ""},
    {Quantity::free, "free (according to cuda):", ""},
    {Quantity::limit, "memory fraction) :", ""},
    // Machine-translated into Chinese, numbers in the same order.
    {Quantity::tried, "尝试分配", ""},
    {Quantity::tried, "试图分配", ""},
    {Quantity::capacity, "总容量为", ""},
    {Quantity::capacity, "总容量是", ""},
    {Quantity::capacity, "", "总容量"},
    {Quantity::capacity, "", "的总容量"},
    {Quantity::free, "其中", ""},
    {Quantity::free, "", "空闲"},
    {Quantity::free, "", "可用"},
    {Quantity::this_process, "此进程有", ""},
    {Quantity::this_process, "该进程有", ""},
    {Quantity::this_process, "此进程使用了", ""},
    {Quantity::allocated, "", "已分配"},
    {Quantity::allocated, "", "已经分配"},
    {Quantity::allocated, "", "由 pytorch 分配"},
    {Quantity::unallocated, "", "由 pytorch 保留但未分配"},
    {Quantity::unallocated, "", "被 pytorch 保留但未分配"},
};

}  // namespace

const Family allocator_family = {"pytorch_allocator",
                                 MessageKind::allocator,
                                 "PyTorch's allocator asked the driver for memory and did not get it.",
                                 markers,
                                 weak_markers,
                                 clauses};

}  // namespace plimsoll::diagnosis
