// The card that a report has, from the request, a table of nvidia-smi, the message, or the words around it.
#pragma once

#include <string_view>

#include "core/diagnosis/facts.h"

namespace plimsoll::diagnosis {

/// The card by its name, and the memory it really reports.
void find_card(const Situation& situation, const Numbers& numbers, const GpuTable& table, Facts& facts);

/// "48 GB GPU", "GPUs with 40GB memory each", "24G显存": the size of a card that has no name, in bytes; 0:
/// none.
double spoken_size(std::string_view folded);

/// The card that a report in words names; one of several sizes only when the size stands there too.
/// Where its size stays open, the largest of that name is returned: what does not fit there fits on none.
double find_spoken_card(const Situation& situation, std::string_view folded, Facts& facts);

/// What people call a card by: "4090" of rtx-4090, "a100" of a100-sxm-80.
std::string board_of(const hardware::Gpu& gpu);

/// How many cards a text speaks of: a launcher's flag, "8 x A100", "8卡", ranks of a log; nothing: not said.
/// `known`: those whose names may stand beside a count.
std::optional<double> cards_in_words(const Text& text, const std::vector<const hardware::Gpu*>& known);

}  // namespace plimsoll::diagnosis
