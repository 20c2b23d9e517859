// Values of one request that rule each other out.
//
//     check_conflicts(given, recipe, traits, errors);      // an error of code "conflict" for each
#pragma once

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

void check_conflicts(const Request& given, const Recipe& recipe, const ModelTraits& traits,
                     json::Errors& errors);

}  // namespace plimsoll::recipe
