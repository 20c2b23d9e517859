#include "core/question/least.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace plimsoll::question {

void take_the_least(Way& way, const run::Catalog& catalog) {
  constexpr const char* dtype_at = "/model_args/dtype";
  json::Json& request = way.request;
  // Who names Axolotl in a sentence has not said that nothing else is set.
  json::Json unnamed = request;
  unnamed.erase("stack");
  way.taken = run::usual_choices(unnamed, catalog);
  std::erase_if(way.taken, [&](const run::Usual& one) {
    return one.pointer == "/training/per_device_train_batch_size" ||
           (one.pointer == "/stack" && request.contains("stack"));
  });
  const auto takes = [&](std::string_view pointer) {
    return std::any_of(way.taken.begin(), way.taken.end(),
                       [pointer](const run::Usual& one) { return one.pointer == pointer; });
  };
  if (takes("/stack") && takes("/training/bf16") && !request.contains("quantization") &&
      !request.contains(json::Json::json_pointer(dtype_at)))
    way.taken.push_back({dtype_at, "bfloat16", "most runs say so; TRL loads float32 unless told"});
  const std::pair<const char*, json::Json> least[] = {{"/training/per_device_train_batch_size", 1},
                                                      {"/training/gradient_checkpointing", true}};
  for (const auto& [pointer, value] : least) {
    if (!request.contains(json::Json::json_pointer(pointer)) && !takes(pointer))
      way.taken.push_back({pointer, value, "not said; so it needs least"});
  }
  for (const run::Usual& one : way.taken) request[json::Json::json_pointer(one.pointer)] = one.value;
}

}  // namespace plimsoll::question
