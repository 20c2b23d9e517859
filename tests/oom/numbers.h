// Whether every figure that a record states was read from its line, to the digit.
#pragma once

#include <string>

#include "core/diagnosis/message.h"
#include "tests/oom/record.h"

namespace plimsoll::oom {

/// "" when all are right, else the names of the fields that are not, each with both values.
std::string wrong_numbers(const Record& record, const std::vector<diagnosis::Message>& messages);

}  // namespace plimsoll::oom
