#include "core/diagnosis/cards_said.h"

#include <algorithm>
#include <string>

#include "core/diagnosis/sentence.h"
#include "core/diagnosis/size.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

using ascii::is_digit;
using ascii::is_lower;

bool is_card_brand(std::string_view word) {
  return std::any_of(std::begin(card_brands), std::end(card_brands),
                     [word](const CardBrand& one) { return one.name == word; });
}

void find_card(const Situation& s, const Numbers& n, const GpuTable& table, Facts& f) {
  if (s.gpu != nullptr) {
    f.capacity = static_cast<double>(s.gpu->usable_bytes);
    f.nominal = static_cast<double>(s.gpu->tier_gib) * gibibyte;
  }
  if (!table.cards.empty()) f.capacity = table.cards.front().total;
  if (n.capacity) f.capacity = n.capacity->bytes;
}

double spoken_size(std::string_view folded) {
  for (std::size_t at = folded.find('g'); at != std::string_view::npos; at = folded.find('g', at + 1)) {
    std::size_t end = at;
    while (end > 0 && folded[end - 1] == ' ') --end;
    std::size_t begin = end;
    double value = 0;
    while (begin > 0 && is_digit(folded[begin - 1]) && end - begin < 4) --begin;
    for (std::size_t i = begin; i < end; ++i) value = value * 10 + (folded[i] - '0');
    if (begin == end || (begin > 0 && (folded[begin - 1] == '.' || is_lower(folded[begin - 1])))) continue;
    if (value < 4 || value > 300) continue;
    std::size_t behind = at + 1;
    while (behind < folded.size() && (folded[behind] == 'b' || folded[behind] == 'i')) ++behind;
    const std::string_view what = folded.substr(behind, 20);
    bool card = false;
    for (const std::string_view word : {" gpu", " card", " vram", " memory each", " memory per", " per gpu",
                                        " per card", " each", "显存", "显卡", " 显存"})
      card = card || what.substr(0, word.size() + 9).find(word) != std::string_view::npos;
    // "a 30B on 48GB": what a run is on is a card, unless its RAM is meant.
    const std::string_view before = folded.substr(0, begin);
    const bool on = before.ends_with(" on ") || before.ends_with(" on a ") || before.ends_with(" on one ") ||
                    before.ends_with(" on my ");
    card = card ||
           (on && what.find("ram") == std::string_view::npos && what.find("disk") == std::string_view::npos);
    if (card && what.find("cpu") == std::string_view::npos) return value * gibibyte;
  }
  return 0;
}

double find_spoken_card(const Situation& s, std::string_view folded, Facts& f) {
  const hardware::Gpu* found = nullptr;
  for (const hardware::Gpu* gpu : s.gpus) {
    if (!is_named(*gpu, folded) || gpu->usable_bytes == 0) continue;
    const bool sized = says_size(*gpu, folded);
    if (found != nullptr && found->tier_gib != gpu->tier_gib && !sized) {
      if (!says_size(*found, folded)) {
        double most = 0;
        for (const hardware::Gpu* other : s.gpus) {
          if (is_named(*other, folded)) most = std::max(most, static_cast<double>(other->usable_bytes));
        }
        return most;
      }
      continue;
    }
    if (found == nullptr || sized) found = gpu;
  }
  if (found != nullptr) f.capacity = static_cast<double>(found->usable_bytes);
  return f.capacity;
}

namespace {

// Boards that differ from a known one in links or clocks alone, and hold as much; and other names of one.
struct Sister {
  std::string_view board, like;
};
constexpr Sister sisters[] = {{"v100s", "v100"},    {"4090d", "4090 d"}, {"5090d", "5090"},
                              {"5090 d", "5090"},   {"mi250", "mi250x"}, {"mi300", "mi300x"},
                              {"dgx spark", "gb10"}};

std::string board_of(const hardware::Gpu& gpu) {
  std::string_view name = gpu.id;
  for (std::size_t end = name.find('-'); end != std::string_view::npos && is_card_brand(name.substr(0, end));
       end = name.find('-'))
    name.remove_prefix(end + 1);
  std::string board(name.substr(0, name.find('-')));
  if (name.ends_with("-d")) board += " d";
  if (board == "rtx") return "titan rtx";  // every card of the brand is an RTX
  if (board == "pro") return "pro 6000";   // and every MacBook may be a Pro
  return board;
}

// Whether a board's name stands in a text as a word of its own: "two 4090s", "rtx4090", not "14090".
bool stands_as_a_name(std::string_view folded, std::string_view name) {
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  for (std::size_t at = folded.find(name); at != std::string_view::npos; at = folded.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool digit_before =
        at > 0 && is_word(folded[at - 1]) && folded.substr(at > 3 ? at - 3 : 0, 3) != "rtx";
    const std::size_t stop = end < folded.size() && folded[end] == 's' ? end + 1 : end;
    if (!digit_before && (stop >= folded.size() || !is_word(folded[stop]))) return true;
  }
  return false;
}

}  // namespace

bool says_size(const hardware::Gpu& gpu, std::string_view folded) {
  const std::string size = std::to_string(gpu.tier_gib);
  if (says_any(folded, {size + "g", size + " g"})) return true;
  // "A100-80", "V100 32"
  for (const std::string& board : boards_of(gpu)) {
    for (const char* between : {"-", " "}) {
      const std::string name = board + between + size;
      const std::size_t at = folded.find(name), end = at + name.size();
      if (at != std::string_view::npos &&
          (end == folded.size() || (!ascii::is_word(folded[end]) && folded[end] != '.')))
        return true;
    }
  }
  return false;
}

std::vector<std::string> boards_of(const hardware::Gpu& gpu) {
  std::vector<std::string> out = {board_of(gpu)};
  for (const Sister& one : sisters) {
    if (one.like == out.front()) out.emplace_back(one.board);
  }
  return out;
}

bool is_named(const hardware::Gpu& gpu, std::string_view folded) {
  if (gpu.segment == "slice") {
    return folded.find(std::string_view(gpu.name).substr(gpu.name.rfind(' ') + 1)) != std::string_view::npos;
  }
  // Whoever has one says its size: "4090 48G".
  if (gpu.segment == "modified" && !says_size(gpu, folded)) return false;
  const std::vector<std::string> boards = boards_of(gpu);
  return std::any_of(boards.begin(), boards.end(),
                     [folded](const std::string& board) { return stands_as_a_name(folded, board); });
}

double gibibytes_in_name(std::string_view name) {
  const std::string folded = fold(name);
  for (std::size_t at = folded.find('g'); at != std::string::npos; at = folded.find('g', at + 1)) {
    std::size_t end = at;
    while (end > 0 && folded[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 && is_digit(folded[begin - 1])) --begin;
    const bool unit = at + 1 < folded.size() && (folded[at + 1] == 'b' || folded[at + 1] == 'i');
    if (begin == end || end - begin > 4 || !unit) continue;
    double value = 0;
    for (std::size_t i = begin; i < end; ++i) value = value * 10 + (folded[i] - '0');
    return value;
  }
  return 0;
}

}  // namespace plimsoll::diagnosis
