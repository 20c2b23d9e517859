#include "core/exchange/formats.h"

namespace plimsoll::exchange {

std::span<const Format* const> formats() {
  static constexpr const Format* table[] = {
      &axolotl,
  };
  return table;
}

const Format* find_format(std::string_view id) {
  for (const Format* format : formats()) {
    if (format->id == id) return format;
  }
  return nullptr;
}

}  // namespace plimsoll::exchange
