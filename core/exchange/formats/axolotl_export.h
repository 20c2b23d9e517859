// Writing Axolotl's YAML.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

bool write_axolotl(Writing& out, const std::string& pointer, const json::Json& value);
void close_axolotl(Writing& out);

}  // namespace plimsoll::exchange
