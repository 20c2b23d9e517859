// Where PEFT's methods act: on every target module, or beside the linears.
//
//     recipe::tuner_place("LOHA");         // TunerPlace::linear
//     recipe::tuner_place("LN_TUNING");    // TunerPlace::norms: it needs no target modules
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll::recipe {

/// linear: on every target module. The others leave the linears as they are.
enum class TunerPlace : uint8_t { linear, prompt, prefix, attention, norms };

struct PlacedMethod {
  std::string_view peft_type;
  TunerPlace place;
};
inline constexpr PlacedMethod beside_linears[] = {
    {"LN_TUNING", TunerPlace::norms},           {"PROMPT_TUNING", TunerPlace::prompt},
    {"P_TUNING", TunerPlace::prompt},           {"PREFIX_TUNING", TunerPlace::prefix},
    {"ADAPTION_PROMPT", TunerPlace::attention},
};

constexpr TunerPlace tuner_place(std::string_view peft_type) {
  for (const PlacedMethod& method : beside_linears) {
    if (method.peft_type == peft_type) return method.place;
  }
  return TunerPlace::linear;
}

}  // namespace plimsoll::recipe
