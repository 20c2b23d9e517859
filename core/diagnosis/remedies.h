// The changes of a request that are the remedy of a cause.
//
//     for (std::string_view id : remedies_of("logits_peak")) ...   // "fused_loss", "cut_cross_entropy"
#pragma once

#include <span>
#include <string_view>

namespace plimsoll::diagnosis {

/// Ids of fixes (core/advice/fixes); empty where the remedy is no field of a request.
std::span<const std::string_view> remedies_of(std::string_view cause);

struct TextReading;

/// Whether less on the card gets a run past the failure: not where the machine's RAM ran out, or a kernel's
/// memory on the chip.
bool is_helped_on_the_card(const TextReading& reading);

}  // namespace plimsoll::diagnosis
