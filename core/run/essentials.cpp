#include "core/run/essentials.h"

#include <algorithm>

#include "core/recipe/fields.h"

namespace plimsoll::run {

namespace {

using json::Json;

struct Essential {
  const char* pointer;
  const char* message;
  const char* unless;  // a field that makes it needless
};
constexpr Essential essentials[] = {
    {"/model", "Which model is trained: its Hugging Face id, or its config.json.", ""},
    {"/hardware/gpu", "On which GPU: no memory is compared with a card before it is known.", ""},
    {"/parallel/num_gpus", "How many GPUs train together; one is taken until it is said.", ""},
    {"/data/samples", "How many samples the data set has: hours and cost follow from it, memory does not.",
     "/training/max_steps"},
};

}  // namespace

std::vector<Missing> missing_in(const Json& request, const Catalog& catalog) {
  std::vector<Missing> missing;
  json::Errors ignored;
  const recipe::Request given = recipe::read_request(request, ignored);
  const auto said = [&given](std::string_view pointer) {
    return given.values.count(std::string(pointer)) != 0;
  };
  const bool model = !given.model_id.empty() || !given.model_name.empty() || !given.model_config.is_null();
  for (const Essential& one : essentials) {
    const bool known = std::string_view(one.pointer) == "/model" ? model : said(one.pointer);
    if (!known && !said(one.unless)) missing.push_back({one.pointer, one.message});
  }
  const recipe::StackPreset* preset = catalog.find_stack(recipe::stack_of(given));
  if (preset == nullptr) return missing;
  for (const recipe::Assumption& one :
       recipe::resolve(given, *preset, recipe::ModelTraits{}, ignored).assumptions) {
    const bool listed = std::any_of(missing.begin(), missing.end(),
                                    [&one](const Missing& other) { return other.pointer == one.pointer; });
    if (one.asked && !listed) missing.push_back({one.pointer, one.why});
  }
  return missing;
}

}  // namespace plimsoll::run
