// How many cards a report speaks of, in the ways that people count them.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diagnosis/cards_said.h"
#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

constexpr double most_gpus = 1024;

using ascii::is_digit;
using ascii::is_lower;

// "两", "八": a number of Chinese that one character says; 0: none.
double numeral_before(std::string_view text) {
  constexpr std::pair<std::string_view, double> numerals[] = {
      {"两", 2}, {"二", 2}, {"双", 2}, {"三", 3}, {"四", 4}, {"五", 5}, {"六", 6}, {"七", 7}, {"八", 8}};
  for (const auto& [word, number] : numerals) {
    const bool ends = text.ends_with(word);
    if (ends && !text.substr(0, text.size() - word.size()).ends_with("十")) return number;
  }
  return 0;
}

double number_before(std::string_view text, std::size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  if (const double numeral = numeral_before(text.substr(0, end)); numeral > 0) return numeral;
  std::size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1]) && end - begin < 5) --begin;
  // "2.1 a100" and "v100" are no counts.
  if (begin == end || (begin > 0 && (is_lower(text[begin - 1]) || text[begin - 1] == '.'))) return 0;
  double value = 0;
  for (std::size_t i = begin; i < end; ++i) value = value * 10 + (text[i] - '0');
  return value;
}
double number_behind(std::string_view text, std::size_t begin) {
  while (begin < text.size() && (text[begin] == ' ' || text[begin] == '=' || text[begin] == ':')) ++begin;
  double value = 0;
  for (std::size_t i = begin; i < text.size() && i < begin + 5 && is_digit(text[i]); ++i)
    value = value * 10 + (text[i] - '0');
  return value;
}

// Whether the number that ends at `end` is a setting's: "batch size 4", "rank=8".
bool counts_another_thing(std::string_view text, std::size_t end) {
  while (end > 0 && is_digit(text[end - 1])) --end;
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == ':')) --end;
  for (const std::string_view word :
       {"size", "bs", "rank", "r", "stage", "zero", "=", "steps", "cuda", "torch"}) {
    if (end >= word.size() && text.substr(end - word.size(), word.size()) == word &&
        (end == word.size() || !is_lower(word.front()) || !is_lower(text[end - word.size() - 1])))
      return true;
  }
  return false;
}

bool says_each(std::string_view behind) {
  return behind.find("each") != std::string_view::npos || behind.find("per ") != std::string_view::npos;
}

// Behind " 24 gb" at the front of a text; 0: no size stands there.
std::size_t size_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && text[at] == ' ') ++at;
  const std::size_t digits = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == digits) return 0;
  while (at < text.size() && text[at] == ' ') ++at;
  if (text.substr(at, 3) == "gib") return at + 3;
  return text.substr(at, 2) == "gb" ? at + 2 : 0;
}

// Any card of the brand, and Ascend's, which no preset has.
constexpr std::string_view other_boards[] = {"rtx", "910b"};

// A round number is one of tokens or steps: "2 6000" counts nothing, "2 rtx 6000" cards of the brand.
bool is_round(std::string_view board) { return is_digit(board.front()) && board.ends_with("000"); }

// The boards of all cards that are known, and what stands for one.
class Boards {
 public:
  explicit Boards(const std::vector<const hardware::Gpu*>& cards)
      : names_(std::begin(other_boards), std::end(other_boards)) {
    for (const hardware::Gpu* gpu : cards) {
      for (std::string& board : boards_of(*gpu)) {
        if (gpu->vendor != "Apple" && !is_round(board)) names_.push_back(std::move(board));
      }
    }
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  }

  // Bytes of the longest board that begins at `at`: 4 of "l40s x 2"; 0: none. "a10" is no part of "a1000".
  std::size_t length_at(std::string_view folded, std::size_t at) const {
    if (is_digit(folded[at]) && at > 0 && (is_digit(folded[at - 1]) || folded[at - 1] == '.')) return 0;
    std::size_t most = 0;
    for (auto one = std::lower_bound(names_.begin(), names_.end(), folded.substr(at, 1));
         one != names_.end() && one->front() == folded[at]; ++one) {
      if (folded.substr(at, one->size()) == *one && ends_there(folded, at + one->size(), *one))
        most = std::max(most, one->size());
    }
    return most;
  }

  bool stands_in(std::string_view folded) const {
    for (std::size_t at = 0; at < folded.size(); ++at) {
      if (length_at(folded, at) > 0) return true;
    }
    return false;
  }

 private:
  // "rtx4090", "a100x8"; of what is a number alone "3060s" and "3090ti", and no "3060mib".
  static bool ends_there(std::string_view folded, std::size_t end, std::string_view board) {
    constexpr std::string_view suffixes[] = {"", "s", "d", "ti", "tis", "super", "x", "xt", "xtx"};
    const std::string_view behind = folded.substr(end);
    if (behind.empty() || board == "rtx") return true;
    if (is_digit(behind.front())) return false;
    if (board.find_first_not_of("0123456789") != std::string_view::npos) return true;
    const std::size_t letters =
        std::min(behind.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), behind.size());
    return std::find(std::begin(suffixes), std::end(suffixes), behind.substr(0, letters)) !=
           std::end(suffixes);
  }

  std::vector<std::string> names_;
};

double count_in_words(std::string_view folded, const Boards& boards) {
  struct Word {
    std::string_view word;
    double count;
  };
  static constexpr Word words[] = {{"two", 2},  {"both", 2}, {"dual", 2}, {"double", 2}, {"three", 3},
                                   {"four", 4}, {"quad", 4}, {"six", 6},  {"eight", 8},  {"multiple", 2},
                                   {"zwei", 2}, {"drei", 3}, {"vier", 4}, {"acht", 8}};
  double most = 0;
  for (const Word& one : words) {
    for (std::size_t at = folded.find(one.word); at != std::string_view::npos;
         at = folded.find(one.word, at + one.word.size())) {
      const std::size_t end = at + one.word.size();
      if (at > 0 && is_lower(folded[at - 1])) continue;
      if (end >= folded.size() || (folded[end] != ' ' && folded[end] != '-')) continue;
      std::string_view behind = folded.substr(end, 24);
      behind.remove_prefix(size_length(behind));  // "two 24 gb cards"
      behind = behind.substr(0, behind.find_first_of(".,;:\n("));
      // The second blank ends the second word behind the count.
      for (std::size_t blank = 0, i = 1; i < behind.size(); ++i) {
        if (behind[i] == ' ' && ++blank == 2) behind = behind.substr(0, i);
      }
      const bool card = behind.find("gpu") != std::string_view::npos ||
                        behind.find("card") != std::string_view::npos ||
                        behind.find("karte") != std::string_view::npos || boards.stands_in(behind);
      if (card) most = std::max(most, one.count);
    }
  }
  return most;
}

double count_behind_a_card(std::string_view folded, const Boards& boards) {
  constexpr std::size_t near = 16;
  double most = 0;
  for (std::size_t at = 0; at < folded.size(); ++at) {
    const std::size_t board = boards.length_at(folded, at);
    if (board == 0) continue;
    // Between the two stand a size and blanks alone: "a100 (80g) x 2".
    std::size_t i = at + board;
    const std::size_t last = std::min(folded.size(), i + near);
    while (i < last && (is_digit(folded[i]) || folded[i] == ' ' || folded[i] == '(' || folded[i] == ')' ||
                        folded[i] == 'g' || folded[i] == 'b' || folded[i] == '-'))
      ++i;
    const bool times = i < last && (folded[i] == '*' || folded.substr(i, 2) == "\xC3\x97" ||
                                    (folded[i] == 'x' && folded[i - 1] == ' '));
    if (!times) continue;
    const double count = number_behind(folded, i + (folded[i] == '\xC3' ? 2 : 1));
    // "80g*2" counts; "a100 * 40gb" is a size.
    std::size_t end = i + 1;
    while (end < folded.size() && (folded[end] == ' ' || is_digit(folded[end]))) ++end;
    if (end < folded.size() && folded[end] == 'g' && folded.substr(end, 3) != "gpu") continue;
    if (count >= 2 && count <= 64) most = std::max(most, count);
  }
  return most;
}

double count_of_flags(std::string_view folded) {
  double most = 0;
  for (const std::string_view flag :
       {"--nproc_per_node", "--nproc-per-node", "nproc_per_node=", "--num_gpus", "--num_processes",
        "n_gpus_per_node", "num gpus used =", "num gpus =", "number of gpus", "gpu count"}) {
    for (std::size_t at = folded.find(flag); at != std::string_view::npos; at = folded.find(flag, at + 4))
      most = std::max(most, number_behind(folded, at + flag.size()));
  }
  return most;
}

// "CUDA_VISIBLE_DEVICES=0,1,2,3", DeepSpeed's "--include localhost:4,5,6,7"
double count_of_visible(std::string_view folded) {
  double most = 0;
  for (const std::string_view list : {"cuda_visible_devices=", "--include localhost:"}) {
    const std::size_t at = folded.find(list);
    if (at == std::string_view::npos) continue;
    double count = 0;
    bool digits = false;
    for (std::size_t i = at + list.size(); i < folded.size() && (is_digit(folded[i]) || folded[i] == ',');
         ++i) {
      if (is_digit(folded[i]) && !digits) ++count;
      digits = is_digit(folded[i]);
    }
    most = std::max(most, count);
  }
  return most;
}

// "多卡": more than one.
double count_in_chinese(std::string_view folded) {
  for (const std::string_view several : {"多卡", "多张"}) {
    if (folded.find(several) != std::string_view::npos) return 2;
  }
  return 0;
}

double count_before_gpus(std::string_view folded) {
  double most = 0;
  for (const std::string_view word : {" gpus", " gpu cards"}) {
    for (std::size_t at = folded.find(word); at != std::string_view::npos; at = folded.find(word, at + 4)) {
      double count = number_before(folded, at);
      // "8 nvidia gpus", "four" is left to its reader
      const std::size_t blank = at == 0 ? std::string_view::npos : folded.rfind(' ', at - 1);
      // "24 gb gpus" counts gigabytes
      const bool sized = blank != std::string_view::npos &&
                         (folded.substr(blank + 1, 2) == "gb" || folded.substr(blank + 1, 3) == "gib");
      if (count == 0 && blank != std::string_view::npos && is_lower(folded[at - 1]) && at - blank < 9 &&
          !sized)
        count = number_before(folded, blank);
      if (count <= 64) most = std::max(most, count);
    }
  }
  return most;
}

// "2x 24gb", "4 * 48 gb": of a size, unless it is the machine's memory.
double count_of_a_size(std::string_view folded) {
  double most = 0;
  for (std::size_t at = folded.find_first_of("x*"); at != std::string_view::npos;
       at = folded.find_first_of("x*", at + 1)) {
    const std::size_t size = size_length(folded.substr(at + 1));
    const double count = size == 0 ? 0 : number_before(folded, at);
    const std::string_view behind = folded.substr(at + 1 + size).substr(0, 12);
    const bool other = behind.find("ram") < 10 || behind.find("ddr") < 10 || behind.find("ssd") < 10;
    if (count >= 2 && count <= 64 && (!other || behind.find("vram") < 10)) most = std::max(most, count);
  }
  return most;
}

// "8卡", "4张3090", "7块40G的显卡"
double count_before_a_sign(std::string_view folded) {
  double most = 0;
  for (const std::string_view sign : {"卡", "张", "块"}) {
    for (std::size_t at = folded.find(sign); at != std::string_view::npos; at = folded.find(sign, at + 3)) {
      const double count = number_before(folded, at);
      if (count <= 64) most = std::max(most, count);
    }
  }
  return most;
}

// Where the blanks and brands end that stand before `at`: behind the "4 *" of "4 * nvidia a10g".
std::size_t before_brands(std::string_view folded, std::size_t at) {
  std::size_t end = at;
  for (bool found = true; found;) {
    while (end > 0 && folded[end - 1] == ' ') --end;
    found = false;
    for (const CardBrand& brand : card_brands) {
      if (!folded.substr(0, end).ends_with(brand.name)) continue;
      end -= brand.name.size();
      found = true;
    }
  }
  return end;
}

double count_before_a_board(std::string_view folded, const Boards& boards) {
  double most = 0;
  for (std::size_t at = 0; at < folded.size(); ++at) {
    if (boards.length_at(folded, at) == 0) continue;
    const std::size_t end = before_brands(folded, at);
    if (end == 0) continue;
    // "8 x a100", "8*a100" and "8 rtx3090"; in "batch size 4, a100" and "size 4 a100" it is another number.
    const bool times = folded[end - 1] == 'x' || folded[end - 1] == '*';
    if (!times && (end == at || !is_digit(folded[end - 1]) || counts_another_thing(folded, end))) continue;
    const double count = number_before(folded, times ? end - 1 : end);
    if (count <= 64) most = std::max(most, count);
  }
  return most;
}

// "4台A800*8", "2机8卡", "2 nodes with 8 GPUs each"
double count_on_machines(std::string_view folded) {
  double most = 0;
  for (const std::string_view machine : {"台", "机", " nodes", " machines"}) {
    const bool english = machine.front() == ' ';
    for (std::size_t at = folded.find(machine); at != std::string_view::npos;
         at = folded.find(machine, at + 3)) {
      const double machines = number_before(folded, at);
      if (machines < 2 || machines > 64) continue;
      const std::string_view behind = folded.substr(at + machine.size(), 40);
      double each = 0;
      for (const std::string_view sign : {"卡", "张", "块"}) {
        const std::size_t cards = behind.find(sign);
        if (!english && each == 0 && cards != std::string_view::npos) each = number_before(behind, cards);
      }
      for (const std::string_view times : {"*", " x ", "×"}) {
        const std::size_t sign = behind.find(times);
        if (each == 0 && sign != std::string_view::npos) each = number_behind(behind, sign + times.size());
      }
      const std::size_t gpus = behind.find(" gpus");
      if (each == 0 && english && gpus != std::string_view::npos && says_each(behind.substr(gpus)))
        each = number_before(behind, gpus);
      if (each <= 16) most = std::max(most, machines * each);
    }
  }
  return most;
}

}  // namespace

std::optional<double> cards_in_words(const Text& text, const std::vector<const hardware::Gpu*>& known) {
  const Boards boards(known);
  const std::string_view folded = std::string_view(text.folded_lines).substr(0, longest_prose);
  double most =
      std::max({count_of_flags(folded), count_of_visible(folded), count_in_words(folded, boards),
                count_behind_a_card(folded, boards), count_in_chinese(folded), count_before_gpus(folded),
                count_before_a_sign(folded), count_before_a_board(folded, boards), count_on_machines(folded),
                count_of_a_size(folded)});
  for (const Stream& stream : text.streams) {
    if (stream.rank >= 0) most = std::max(most, static_cast<double>(stream.rank) + 1);
  }
  if (most < 1 || most > most_gpus) return std::nullopt;
  return most;
}

}  // namespace plimsoll::diagnosis
