#include "core/report/said_cards.h"

#include <algorithm>

#include "core/diagnosis/cards_said.h"
#include "core/diagnosis/sentence.h"
#include "core/report/said_words.h"

namespace plimsoll::report {

namespace {

using diagnosis::says_any;

constexpr std::size_t most_cards = 4;

// The variant that stands behind a board's number: "3060 Ti", "4080 super", "4070 ti super".
std::string_view variant_of(const hardware::Gpu& gpu) {
  for (const std::string_view one : {"-ti-super", "-ti", "-super", "-ada", "-laptop", "-maxq"}) {
    if (gpu.id.find(one) != std::string::npos) return one.substr(1);
  }
  return "";
}

// Whether the words behind a board's name are those of this variant and of no other.
bool is_variant(const hardware::Gpu& gpu, std::string_view folded) {
  const std::string_view wanted = variant_of(gpu);
  const std::size_t digit = gpu.id.find_first_of("0123456789");
  const std::string number =
      digit == std::string::npos ? "" : gpu.id.substr(digit, gpu.id.find('-', digit) - digit);
  if (wanted == "ada" || wanted == "laptop" || wanted == "maxq")
    return folded.find(wanted) != std::string_view::npos;
  const auto behind = [&](std::string_view variant) {
    const std::string spaced = number + " " + std::string(variant), joined = number + std::string(variant);
    return folded.find(spaced) != std::string_view::npos || folded.find(joined) != std::string_view::npos;
  };
  const bool both = behind("ti super"), ti = behind("ti"), super = behind("super");
  if (wanted == "ti-super") return both;
  if (wanted == "ti") return ti && !both;
  if (wanted == "super") return super && !both;
  return !ti && !super;
}

bool says_size(const hardware::Gpu& gpu, std::string_view folded) {
  const std::string size = std::to_string(gpu.tier_gib);
  return says_any(folded, {size + "g", size + " g"});
}

// The card that a clause names; of several sizes the one that is said, of several sockets the usual one.
const hardware::Gpu* card_in(std::string_view folded, const run::Catalog& catalog) {
  std::vector<const hardware::Gpu*> named;
  for (const hardware::Gpu& gpu : catalog.gpus) {
    const bool counts = gpu.vendor != "Apple" && gpu.segment != "slice" && gpu.usable_bytes > 0;
    // "6000" alone may be a number of tokens.
    const bool round = gpu.id.find("000") != std::string::npos && !says_any(folded, {"rtx", "ada", "quadro"});
    if (counts && !round && diagnosis::is_named(gpu, folded) && is_variant(gpu, folded))
      named.push_back(&gpu);
  }
  const bool sized = std::any_of(named.begin(), named.end(),
                                 [&](const hardware::Gpu* gpu) { return says_size(*gpu, folded); });
  if (sized) std::erase_if(named, [&](const hardware::Gpu* gpu) { return !says_size(*gpu, folded); });
  if (named.empty()) return nullptr;
  const auto usual = [](const hardware::Gpu* gpu) { return gpu->id.find("sxm") != std::string::npos; };
  const auto first = std::find_if(named.begin(), named.end(), usual);
  const hardware::Gpu* chosen = first == named.end() ? named.front() : *first;
  // "A100", and nobody says of how many gigabytes.
  const bool open = std::any_of(named.begin(), named.end(), [&](const hardware::Gpu* gpu) {
    const uint64_t less = std::min(gpu->tier_gib, chosen->tier_gib);
    return gpu->id.substr(0, 4) == chosen->id.substr(0, 4) &&
           3 * less < 2 * std::max(gpu->tier_gib, chosen->tier_gib);
  });
  return open && !sized ? nullptr : chosen;
}

// "a single A100", "one 4090", "单张": the number that no digit says.
bool is_one(const SaidWords& words) {
  constexpr std::string_view ones[] = {"single", "one",  "1x",   "eine", "einer",
                                       "einem",  "单张", "单卡", "一张"};
  return std::any_of(std::begin(ones), std::end(ones),
                     [&](std::string_view one) { return says(words, one); });
}

// How many cards the words speak of; 0: not said.
double count_in(std::string_view folded) {
  const SaidWords words = split(folded);
  double most = diagnosis::cards_in_words(diagnosis::clean(folded)).value_or(0);
  for (const SaidNumber& found : numbers_in(words)) {
    if (found.pointer == "/parallel/num_gpus") most = std::max(most, found.value);
  }
  return most > 0 ? most : is_one(words) ? 1 : 0;
}

}  // namespace

void read_cards(const diagnosis::Text& text, const run::Catalog& catalog, SaidRequest& out) {
  std::string_view rest = std::string_view(text.folded_lines).substr(0, longest_said);
  constexpr std::string_view between[] = {" or ", " vs ", " vs. ", " oder ", "还是"};
  while (!rest.empty() && out.cards.size() < most_cards) {
    std::size_t end = rest.size(), next = rest.size();
    for (const std::string_view word : between) {
      const std::size_t at = rest.find(word);
      if (at < end) {
        end = at;
        next = at + word.size();
      }
    }
    const std::string_view clause = rest.substr(0, end);
    rest.remove_prefix(next);
    const hardware::Gpu* gpu = card_in(clause, catalog);
    if (gpu == nullptr) continue;
    const bool known = std::any_of(out.cards.begin(), out.cards.end(),
                                   [gpu](const SaidCards& one) { return one.gpu == gpu; });
    if (!known) out.cards.push_back({gpu, count_in(clause)});
  }
  if (out.cards.empty()) out.card_bytes = diagnosis::spoken_size(text.folded_lines);
  if (out.cards.size() != 1) return;
  SaidCards& only = out.cards.front();
  out.values["/hardware/gpu"] = only.gpu->id;
  if (only.count == 0) only.count = count_in(text.folded_lines);
  if (only.count > 0) out.values["/parallel/num_gpus"] = static_cast<uint64_t>(only.count);
}

}  // namespace plimsoll::report
