// A valid request with one field spoiled, and what must be said of it.
//
//     Corruption wrong = corrupted(drawn_request(seed), dice);
//     answer(wrong.request).at("errors");       // one of wrong.codes at wrong.pointer
#pragma once

#include "core/recipe/fields.h"
#include "tests/drawn/request.h"

namespace plimsoll::drawn {

struct Corruption {
  Json request;
  std::string pointer;             ///< where the error must lie, or below it
  std::vector<std::string> codes;  ///< any of these
  std::string what;                ///< in words, for a message of the test
};

Corruption corrupted(Json request, Dice& dice);

/// What somebody writes into a field by mistake: other types, numbers out of all ranges, words of nobody.
std::vector<Json> corruptions(const recipe::Field& field);

}  // namespace plimsoll::drawn
