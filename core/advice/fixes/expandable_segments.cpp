#include "core/advice/fixes/fixes.h"
#include "core/memory/allocator/caching_allocator.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> expandable_segments_levels(const FixContext& s) {
  const std::string& now = s.recipe.hardware.cuda_alloc_conf;
  if (memory::read_allocator_settings(now).expandable_segments) return {};
  if (s.gpu != nullptr && (s.gpu->vendor != "NVIDIA" || s.gpu->unified_memory)) return {};
  // max_split_size_mb has no meaning inside expandable segments; other settings stay.
  const bool keep = !now.empty() && now.find("max_split_size_mb") == std::string::npos &&
                    now.find("expandable_segments") == std::string::npos;
  return {{{{"/hardware/PYTORCH_CUDA_ALLOC_CONF", (keep ? now + "," : "") + "expandable_segments:True"}},
           quality::none}};
}

constexpr Setting expandable_segments_settings[] = {
    {"*", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
};

}  // namespace

const Fix expandable_segments = {
    .id = "expandable_segments",
    .title = "Expandable segments",
    .slot = "allocator",
    .effort = "an environment variable",
    .why =
        "The allocator grows its segments in place, so that less reserved memory lies idle. It makes no "
        "tensor smaller.",
    .evidence = "The same numbers.",
    .source = "pytorch c10/cuda/CUDACachingAllocator.cpp ExpandableSegment; docs notes/cuda",
    .levels = expandable_segments_levels,
    .settings = expandable_segments_settings,
};

}  // namespace plimsoll::advice
