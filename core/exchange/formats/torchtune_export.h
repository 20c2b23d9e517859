// Fields of a request that no row of the table writes into a torchtune file: components, and lists of layers.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

/// False: torchtune cannot say it.
bool write_torchtune(Writing& out, const std::string& pointer, const json::Json& value);
/// What its recipes need to build a model.
void close_torchtune(Writing& out);

}  // namespace plimsoll::exchange
