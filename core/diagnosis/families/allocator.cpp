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
                                        "memory allocation failed with oom on device",
                                        "内存不足",
                                        "显存不足"};

// Its figures without its first words: in brackets, and in sentences.
constexpr std::string_view weak_markers[] = {
    "tried to allocate",     "尝试分配",       "试图分配",
    "total capacity;",       "total capacty;", "has a total capacity of",
    "has a total capacty of"};

constexpr Clause clauses[] = {
    {&Numbers::tried, "tried to allocate", ""},
    {&Numbers::tried, "tried to allocate more than", ""},
    {&Numbers::tried, "trying to allocate", ""},
    {&Numbers::capacity, "total capacty of", ""},
    {&Numbers::capacity, "total capacity of", ""},
    {&Numbers::capacity, "", "total capacity"},
    {&Numbers::capacity, ", total:", ""},
    {&Numbers::free, "of which", "is free"},
    {&Numbers::free, "of which", ""},
    {&Numbers::free, "", "is free"},
    {&Numbers::free, "(free:", ""},
    {&Numbers::free, "", "free"},
    {&Numbers::limit, "", "allowed"},
    {&Numbers::this_process, "this process has", ""},
    {&Numbers::allocated, "of the allocated memory", ""},
    {&Numbers::allocated, "", "already allocated"},
    {&Numbers::allocated, "", "is allocated by pytorch"},
    {&Numbers::pools, "", "allocated in private pools"},
    {&Numbers::unallocated, "", "is reserved by pytorch but"},
    {&Numbers::reserved, "", "reserved in total"},
    {&Numbers::cached, "", "cached"},
    // Machine-translated into Chinese, numbers in the same order.
    {&Numbers::tried, "尝试分配", ""},
    {&Numbers::tried, "试图分配", ""},
    {&Numbers::capacity, "总容量为", ""},
    {&Numbers::capacity, "总容量是", ""},
    {&Numbers::capacity, "", "总容量"},
    {&Numbers::capacity, "", "的总容量"},
    {&Numbers::free, "其中", ""},
    {&Numbers::free, "", "空闲"},
    {&Numbers::free, "", "可用"},
    {&Numbers::this_process, "此进程有", ""},
    {&Numbers::this_process, "该进程有", ""},
    {&Numbers::this_process, "此进程使用了", ""},
    {&Numbers::allocated, "", "已分配"},
    {&Numbers::allocated, "", "已经分配"},
    {&Numbers::allocated, "", "由 pytorch 分配"},
    {&Numbers::unallocated, "", "由 pytorch 保留但未分配"},
    {&Numbers::unallocated, "", "被 pytorch 保留但未分配"},
};

}  // namespace

const Family allocator_family = {
    .id = "pytorch_allocator",
    .kind = MessageKind::allocator,
    .what = "PyTorch's allocator asked the driver for memory and did not get it.",
    .markers = markers,
    .weak_markers = weak_markers,
    .clauses = clauses};

}  // namespace plimsoll::diagnosis
