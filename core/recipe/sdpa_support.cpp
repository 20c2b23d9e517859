#include "core/recipe/sdpa_support.h"

#include <algorithm>

#include "core/model/model_types.h"
#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

namespace {

bool is_in(const std::array<model::Releases, 2>& gaps, const std::string& transformers) {
  return std::any_of(gaps.begin(), gaps.end(), [&transformers](const model::Releases& gap) {
    if (gap.from == nullptr) return false;
    const bool begun = *gap.from == 0 || version_at_least(transformers, gap.from);
    const bool ended = *gap.until != 0 && version_at_least(transformers, gap.until);
    return begun && !ended;
  });
}

}  // namespace

bool supports_sdpa(std::string_view model_type, const std::string& transformers) {
  return version_at_least(transformers, "4.36") &&
         !is_in(model::model_type(model_type).without_sdpa, transformers);
}

bool supports_flash_attention(std::string_view model_type, const std::string& transformers) {
  return !is_in(model::model_type(model_type).without_flash_attention, transformers);
}

}  // namespace plimsoll::recipe
