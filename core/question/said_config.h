// A model's config.json that is pasted into a sentence: "Will QLoRA of this fit on a 4090? { ... }".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json/json.h"

namespace plimsoll::question {

struct SaidConfig {
  json::Json config;
  std::string name;  ///< as it calls itself, or its model_type
  std::string rest;  ///< the text around it
};
/// Nothing where the text has none, or nothing but one.
std::optional<SaidConfig> config_in(std::string_view text);

}  // namespace plimsoll::question
