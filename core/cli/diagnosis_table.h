// A diagnosis as text for people: what was asked and free, the causes with what speaks for them, the tensor.
#pragma once

#include <string>

#include "core/cli/table.h"
#include "core/json/json.h"

namespace plimsoll::cli {

/// The answer of report::diagnosis_text.
std::string diagnosis_table(const json::Json& diagnosis, const Style& style);

}  // namespace plimsoll::cli
