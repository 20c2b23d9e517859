// The forms of message, one small file each in families/. Adding one: a file, its name here and in
// families.cpp.
#pragma once

#include "core/diagnosis/message.h"

namespace plimsoll::diagnosis {

extern const Family allocator_family, mps_family, mlx_family, xla_family, driver_family, handle_family,
    nccl_family, bitsandbytes_family, host_family, vllm_family, kernel_family;

}  // namespace plimsoll::diagnosis
