// The forms of message, one small file each in families/. Adding one: a file, its name here and among
// all_families of message.cpp.
#pragma once

#include "core/diagnosis/message.h"

namespace plimsoll::diagnosis {

extern const Family allocator_family, async_pool_family, mps_family, mlx_family, xla_family, driver_family,
    handle_family, nccl_family, bitsandbytes_family, host_family, vllm_family, vllm_share_family,
    kernel_family, dispatch_family;

/// Fills message.forms: `folded` is the stream it stands in, `segment` the message itself (forms.cpp).
void find_forms(CountedText folded, CountedText segment, Message& message);

}  // namespace plimsoll::diagnosis
