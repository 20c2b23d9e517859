// A value for one field, drawn from its row of the field table.
//
//     Json value = drawn_value(*recipe::find_field("/training/max_length"), dice);
//
// Counts, numbers, flags and words follow from the row. What a text or a list may say is a row of its own
// here; a field of free text without one stays unset, which the test of coverage reports.
#pragma once

#include "core/model/architecture.h"
#include "core/recipe/fields.h"
#include "tests/drawn/request.h"

namespace plimsoll::drawn {

/// Null where the row does not say what to draw.
Json drawn_value(const recipe::Field& field, Dice& dice);

/// The words of a list that is joined by ", ".
std::vector<std::string> words_in(std::string_view list);

/// Up to `most` names of linears in the layers of the text model, the last parts of their paths, each once.
std::vector<std::string> drawn_linears(const model::Architecture& network, std::size_t most, Dice& dice);

}  // namespace plimsoll::drawn
