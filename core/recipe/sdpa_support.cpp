#include "core/recipe/sdpa_support.h"

#include "core/model/model_types.h"
#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

bool supports_sdpa(std::string_view model_type, const std::string& transformers) {
  if (!version_at_least(transformers, "4.36")) return false;
  for (const model::Releases& gap : model::model_type(model_type).without_sdpa) {
    if (gap.from == nullptr) continue;
    const bool begun = *gap.from == 0 || version_at_least(transformers, gap.from);
    const bool ended = *gap.until != 0 && version_at_least(transformers, gap.until);
    if (begun && !ended) return false;
  }
  return true;
}

}  // namespace plimsoll::recipe
