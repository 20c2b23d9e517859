// What a sentence says of a run, and what is answered to it.
//
//     said("LoRA of Llama-3.1-8B on a 4090").cards.front().gpu->id;                // "rtx-4090"
//     value_of("LoRA of Llama-3.1-8B, batch 4", "/training/per_device_train_batch_size");   // "4"; "" nobody says it
#pragma once

#include <string>
#include <string_view>

#include "core/question/answers.h"
#include "tests/core/explained.h"

namespace plimsoll::question {

inline SaidRequest said(std::string_view text) {
  return said_request(diagnosis::clean(text), diagnosis::catalog());
}
inline std::string value_of(const SaidRequest& request, const char* pointer) {
  const auto found = request.values.find(pointer);
  return found == request.values.end() ? "" : json::write(found->second);
}
inline std::string value_of(std::string_view text, const char* pointer) {
  return value_of(said(text), pointer);
}
inline std::string words_for(std::string_view text) { return answer(said(text), diagnosis::catalog()).words; }

}  // namespace plimsoll::question
