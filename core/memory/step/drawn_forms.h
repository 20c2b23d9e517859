// What a drawing can show of a layer: its traces without the tensors that come and go between two of their
// highest moments.
//
//     LayerForms forms = layer_forms(run, stage);
//     keep_what_is_drawn(forms, 2);                // a third of the events, the same highest moments
//
// Kept are all tensors that are alive at the highest moment of each of the equal pieces of a trace, or where
// one of the components is highest in it; and all that a trace leaves to the next one. After an event that is
// not `whole` something that was left out is alive: its sum is too low to be drawn.
#pragma once

#include "core/memory/step/layer_forms.h"

namespace plimsoll::memory {

void keep_what_is_drawn(LayerForms& forms, std::size_t pieces);

}  // namespace plimsoll::memory
