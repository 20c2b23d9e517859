// The card that a report has, from the request, a table of nvidia-smi, the message, or the words around it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/facts.h"

namespace plimsoll::diagnosis {

/// Who makes a card or sells it, and its line.
struct CardBrand {
  std::string_view name;
  bool is_a_card = false;  ///< a card is told from others by it: "TITAN RTX", "Quadro RTX 6000"
};
constexpr CardBrand card_brands[] = {{"nvidia"},   {"amd"},          {"geforce"},    {"rtx"},
                                     {"gtx"},      {"tesla"},        {"radeon"},     {"rx"},
                                     {"instinct"}, {"quadro", true}, {"titan", true}};
bool is_card_brand(std::string_view word);

/// The card by its name, and the memory it really reports.
void find_card(const Situation& situation, const Numbers& numbers, const GpuTable& table, Facts& facts);

/// "48 GB GPU", "GPUs with 40GB memory each", "24G显存": the size of a card that has no name, in bytes; 0:
/// none.
double spoken_size(std::string_view folded);

/// The card that a report in words names; one of several sizes only when the size stands there too.
/// Where its size stays open, the largest of that name is returned: what does not fit there fits on none.
double find_spoken_card(const Situation& situation, std::string_view folded, Facts& facts);

/// What people call a card by: "4090 d" and "4090d" of rtx-4090-d, "a100" of a100-sxm-80.
std::vector<std::string> boards_of(const hardware::Gpu& gpu);

/// Whether a text in lower case speaks of a card: "4090" of "rtx-4090", "a100" of "a100-sxm-80". A slice of
/// MIG is spoken of by its profile alone ("3g.40gb"): its card's name means the whole card.
bool is_named(const hardware::Gpu& gpu, std::string_view folded);
/// Whether its size stands in the text: "48G", "48 GB".
bool says_size(const hardware::Gpu& gpu, std::string_view folded);
/// Gibibytes in a card's name: "RTX 3090 24GB" 24, "A100 80GB" 80; 0: none.
double gibibytes_in_name(std::string_view name);

/// How many cards a text speaks of: a launcher's flag, "8 x A100", "8卡", ranks of a log; nothing: not said.
/// `known`: those whose names may stand beside a count.
std::optional<double> cards_in_words(const Text& text, const std::vector<const hardware::Gpu*>& known);

}  // namespace plimsoll::diagnosis
