// The score as a table for people and as one JSON object for programs.
#pragma once

#include <string>

#include "tests/measured/score.h"

namespace plimsoll::accuracy {

std::string table(const Score& score);
json::Json object(const Score& score);
/// One run a line: the request, the readings and the errors, so that a large error can be looked into.
std::string lines(const std::vector<Run>& runs);

}  // namespace plimsoll::accuracy
