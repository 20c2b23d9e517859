// The driver itself: no figures, so it may be the context of a second process, or a failure reported late.
// Source: CUDA runtime cudaErrorMemoryAllocation (2), ROCm hipErrorOutOfMemory, Intel's
// unified runtime, DirectML as users quote it.
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"cuda error: out of memory",
                                        "cuda error : out of memory",
                                        "hip error: out of memory",
                                        "cuda driver error: out of memory",
                                        "cuda runtime error (2)",
                                        "cuda error 2: out of memory",
                                        "cudaerrormemoryallocation",
                                        "cuda_error_out_of_memory",
                                        "hiperroroutofmemory",
                                        "hiperrormemoryallocation",
                                        "hsa_status_error_out_of_resources",
                                        "cudamalloc failed: out of memory",
                                        "ur_result_error_out_of_device_memory",
                                        "pt_devmem allocation failed",  // Intel Gaudi
                                        "not enough gpu video memory available"};

constexpr Clause clauses[] = {{&Numbers::tried, "failed to allocate", ""},
                              {&Numbers::tried, "could not allocate tensor with", ""},
                              {&Numbers::tried, "allocating", "on device"},
                              {&Numbers::free, "available free mem :", ""}};  // ROCclr rocdevice.cpp

}  // namespace

const Family driver_family = {
    .id = "driver",
    .kind = MessageKind::driver,
    .what = "The driver refused memory and says nothing about how much was asked or is left.",
    .markers = markers,
    .clauses = clauses,
    .row = 20};

}  // namespace plimsoll::diagnosis
