#include "core/question/said_cards.h"

#include <algorithm>
#include <functional>

#include "core/diagnosis/cards_said.h"
#include "core/diagnosis/facts.h"
#include "core/diagnosis/message.h"
#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"
#include "core/json/rounding.h"
#include "core/question/said_languages.h"
#include "core/question/said_methods.h"
#include "core/question/said_numbers.h"

namespace plimsoll::question {

namespace {

using diagnosis::card_brands;
using diagnosis::CardBrand;
using diagnosis::is_card_brand;
using diagnosis::says_any;
using diagnosis::says_size;

constexpr std::size_t most_cards = 4;

// Words of a card's name: "4070", "ti", "super" of "GeForce RTX 4070 Ti SUPER 16GB". Brands, sizes and
// what a seller changed are none.
std::vector<std::string> name_words(const hardware::Gpu& gpu) {
  const std::string name = diagnosis::fold(gpu.name.substr(0, gpu.name.find('(')));
  std::vector<std::string> words;
  for (const SaidWord& word : split(name)) {
    const auto* brand = std::find_if(std::begin(card_brands), std::end(card_brands),
                                     [&](const CardBrand& one) { return one.name == word.text; });
    const bool told = brand != std::end(card_brands) && !brand->is_a_card;
    if (!told && word.text != "intel" && word.text != "modified" && word.unit != "gb" &&
        word.text != "usable")
      words.emplace_back(word.text);
  }
  return words;
}

bool has_digit(std::string_view word) { return word.find_first_of("0123456789") != std::string_view::npos; }

// "sxm4" and "pcie" are seldom said: a card is that one without them too.
bool is_socket(std::string_view word) {
  return word.substr(0, 3) == "sxm" || word == "pcie" || word == "blackwell" || word == "workstation";
}

// How well the words say this card: its board, what stands beside the board ("ti", "ada", "quadro"), and no
// word of another one. 0: it is not named.
int likeness(const hardware::Gpu& gpu, const SaidWords& said) {
  const std::vector<std::string> words = name_words(gpu);
  if (words.empty()) return 0;
  const auto board_at = std::find_if(words.begin(), words.end(), [](const std::string& w) {
    return w.size() > 1 && has_digit(w) && !is_socket(w);
  });
  const std::string board = board_at == words.end() ? words.front() : *board_at;
  int best = 0;
  for (std::size_t at = 0; at < said.size(); ++at) {
    std::string_view rest = said[at].text;
    if (said[at].is_number() && said[at].unit.substr(0, 1) == "x")
      rest = said[at].unit.substr(1);  // "2xH100"
    if (rest.substr(0, 3) == "rtx") rest.remove_prefix(3);
    if (rest.substr(0, board.size()) != board) continue;
    rest.remove_prefix(board.size());  // "3060ti", "3090s"
    const bool plural = rest == "s" && has_digit(board);
    const bool told =
        rest == "ti" || rest == "tisuper" || std::find(words.begin(), words.end(), rest) != words.end();
    if (!rest.empty() && !plural && !told) continue;
    int like = plural ? 8 : 10;
    for (const std::string& word : words) {
      if (word == board) continue;
      bool beside = !rest.empty() && !plural && rest.find(word) != std::string_view::npos;
      // "MacBook Pro M3" is no M3 Pro.
      const std::size_t before = gpu.vendor == "Apple" ? 0 : std::min<std::size_t>(at, 2);
      for (std::size_t i = at - before; i < std::min(said.size(), at + 4); ++i) {
        const bool of_the_mac = i > 0 && said[i - 1].text == "macbook";  // "M3 Max MacBook Pro"
        beside = beside || (said[i].text == word && !of_the_mac);
      }
      like += beside ? 2 : is_socket(word) ? 0 : -1;
    }
    best = std::max(best, like);
  }
  return best;
}

// "M3" alone may be anything; a Mac, or a chip with its second word, is a machine of Apple.
bool says_mac(const SaidWords& said) {
  return says(said, "mac") || says(said, "macbook") || says(said, "imac") || says(said, "apple silicon");
}
bool is_apples(const hardware::Gpu& gpu, const SaidWords& said) {
  if (gpu.vendor != "Apple") return false;
  return likeness(gpu, said) > 10 || says_mac(said) || says(said, "apple") || says(said, "mps");
}

// "6000" alone may be a number of tokens.
bool is_round(const hardware::Gpu& gpu, const SaidWords& said) {
  const bool number = gpu.id.find("-6000") != std::string::npos ||
                      gpu.id.find("-8000") != std::string::npos ||
                      gpu.id.find("-5000") != std::string::npos || gpu.id.find("-4000") != std::string::npos;
  const bool branded = says(said, "rtx*") || says(said, "ada") || says(said, "quadro");
  return number && !branded;
}

// The cards that a clause may mean: of several sizes the one that is said, or the smallest and the largest;
// of several sockets the usual one.
std::vector<const hardware::Gpu*> cards_in(std::string_view folded, const run::Catalog& catalog) {
  const SaidWords said = split(folded);
  std::vector<const hardware::Gpu*> named;
  int best = 0;
  for (const hardware::Gpu& gpu : catalog.gpus) {
    const bool known = gpu.usable_bytes > 0 && gpu.vendor != "Apple";
    if (!(known || is_apples(gpu, said)) || gpu.segment == "slice" || is_round(gpu, said)) continue;
    if (gpu.segment == "modified" && !says_size(gpu, folded)) continue;
    const int like = likeness(gpu, said);
    if (like == 0 || like < best) continue;
    if (like > best) named.clear();
    best = like;
    named.push_back(&gpu);
  }
  if (named.empty()) return named;
  const bool sized = std::any_of(named.begin(), named.end(),
                                 [&](const hardware::Gpu* gpu) { return says_size(*gpu, folded); });
  if (sized) std::erase_if(named, [&](const hardware::Gpu* gpu) { return !says_size(*gpu, folded); });
  const auto usual = [](const hardware::Gpu* gpu) { return gpu->id.find("sxm") != std::string::npos; };
  std::stable_sort(named.begin(), named.end(), [&](const hardware::Gpu* a, const hardware::Gpu* b) {
    return a->tier_gib != b->tier_gib ? a->tier_gib < b->tier_gib : usual(a) && !usual(b);
  });
  const auto largest = std::find_if(named.begin(), named.end(), [&](const hardware::Gpu* gpu) {
    return gpu->tier_gib == named.back()->tier_gib;
  });
  if (2 * (*largest)->tier_gib < 3 * named.front()->tier_gib) return {named.front()};
  return {named.front(), *largest};
}

// "a single A100", "one 4090", "单张": the number that no digit says.
bool is_one(const SaidWords& words) { return says(words, Means::one); }

// How many cards the words speak of; 0: not said.
double count_in(std::string_view folded, const run::Catalog& catalog) {
  const SaidWords words = split(folded);
  std::vector<const hardware::Gpu*> known;
  for (const hardware::Gpu& gpu : catalog.gpus) known.push_back(&gpu);
  double most = diagnosis::cards_in_words(diagnosis::clean(folded), known).value_or(0);
  for (const SaidNumber& found : numbers_in(words)) {
    if (found.pointer == "/parallel/num_gpus") most = std::max(most, found.value);
  }
  // "4x L4", and no "8x 7B", nor "2x 16GB" of a machine's memory.
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    const bool times = words[at].is_number() && words[at].unit == "x" && !words[at].stops();
    const SaidWord& next = words[at + 1];
    const bool board = has_digit(next.text) && next.unit != "b" && next.unit.substr(0, 1) != "g";
    if (times && board) most = std::max(most, words[at].number);
  }
  return most > 0 ? most : is_one(words) ? 1 : 0;
}

// What stands around the name of a card: brands, sizes, types of memory.
bool is_beside_a_name(const SaidWord& word) {
  constexpr std::string_view known[] = {"gpu", "gpus", "card", "vram", "edition", "generation", "gb", "gib"};
  const bool memory = word.text.starts_with("hbm") || word.text.starts_with("gddr");
  const bool size = word.is_number() && is_gibibytes(word.unit);
  return memory || size || is_socket(word.text) || is_card_brand(word.text) ||
         std::find(std::begin(known), std::end(known), word.text) != std::end(known);
}

std::vector<const hardware::Gpu*> cards_named(const std::string& folded, const run::Catalog& catalog) {
  std::vector<const hardware::Gpu*> cards = cards_in(folded, catalog);
  if (cards.empty()) return cards;
  const SaidWords words = split(folded);
  for (const SaidWord& word : words) {  // "a100-80"
    if (!word.is_bare()) continue;
    const auto sized = [&](const hardware::Gpu* gpu) {
      return word.number == static_cast<double>(gpu->tier_gib);
    };
    if (std::any_of(cards.begin(), cards.end(), sized)) std::erase_if(cards, std::not_fn(sized));
  }
  const std::string known = diagnosis::fold(cards.front()->name + " " + cards.front()->id);
  for (const SaidWord& word : words) {
    std::string_view name = word.text;
    if (name.size() > 2 && name.back() == 's' && has_digit(name) && known.find(name) == std::string::npos)
      name.remove_suffix(1);
    if (!is_beside_a_name(word) && known.find(name) == std::string::npos) return {};
  }
  return cards;
}

// "7900xtx", "m3max"
std::string divided(const std::string& folded) {
  std::string words;
  for (std::size_t i = 0; i < folded.size(); ++i) {
    const bool begins = i > 0 && ascii::is_letter(folded[i]) && ascii::is_digit(folded[i - 1]);
    if (begins && i + 1 < folded.size() && ascii::is_letter(folded[i + 1])) words += ' ';
    words += folded[i];
  }
  return words;
}

// "24GB" that no word makes the machine's, the data's or the model's: what is left to be the card's.
double size_alone(const SaidWords& words, double asked_for) {
  constexpr std::string_view others[] = {"ram",    "disk",       "ssd",  "data",     "file", "model",
                                         "weight", "checkpoint", "cpu",  "host",     "swap", "system",
                                         "of",     "for",        "free", "arbeitssp"};
  constexpr std::string_view uses[] = {"needs",  "need", "uses", "using", "takes",
                                       "weighs", "its",  "ram",  "only"};
  double found = 0;
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::size_t behind = at + 1;
    const double size = gibibytes_at(words, at, behind);
    if (size < 4 || size > 300 || size == asked_for) continue;
    const bool other = behind < words.size() && !words[behind - 1].stops() &&
                       std::any_of(std::begin(others), std::end(others), [&](std::string_view stem) {
                         return words[behind].text.starts_with(stem);
                       });
    const bool used =
        at > 0 && std::find(std::begin(uses), std::end(uses), words[at - 1].text) != std::end(uses);
    if (other || used) continue;
    if (found != 0 && found != size) return 0;
    found = size;
  }
  return found * 1024 * 1024 * 1024;
}

// "a2000", "mi355x", "gb10": a letter or two and a board's number, which no setting is called.
bool is_like_a_board(std::string_view word) {
  const std::size_t digits = word.find_first_of("0123456789");
  if (digits == 0 || digits > 2 || digits == std::string_view::npos) return false;
  const std::size_t end = std::min(word.find_first_not_of("0123456789", digits), word.size());
  const std::string_view letters = word.substr(0, digits), rest = word.substr(end);
  constexpr std::string_view settings[] = {"fp", "bf", "tf", "nf", "bs", "r", "x",
                                           "v",  "q",  "s",  "e",  "c",  "n", "lr"};
  const bool setting = std::find(std::begin(settings), std::end(settings), letters) != std::end(settings);
  return !setting && end - digits >= 2 && end - digits <= 4 && (rest.empty() || rest == "x" || rest == "s");
}

// The name of a card that no preset has: "RTX A2000", "DGX Spark", "MI355X".
std::string unknown_card_in(const diagnosis::Text& text, const SaidWords& words) {
  if (!is_brief(words)) return "";
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at].text;
    const bool machine = at > 0 && words[at - 1].text == "dgx";
    const bool before = at > 0 && (machine || is_card_brand(words[at - 1].text)) && !words[at - 1].stops();
    const bool sized = words[at].is_number() && words[at].unit.starts_with("g");
    const bool numbered = before && has_digit(word) && !sized && !is_card_brand(word);
    const bool named = before && machine;
    if (!numbered && !named && !is_like_a_board(word)) continue;
    std::string name(as_written(text, words[at]));
    if (before && words[at - 1].text != "nvidia")
      name = std::string(as_written(text, words[at - 1])) + " " + name;
    return name;
  }
  return "";
}

// Where no known card is named: the name that was, and the size that stands there.
void read_unnamed_card(const diagnosis::Text& text, const run::Catalog& catalog, SaidRequest& out) {
  const SaidWords words = split(std::string_view(text.folded_lines).substr(0, longest_said));
  out.card_bytes = diagnosis::spoken_size(text.folded_lines);
  // "It was asking for about 10 GB on the GPU" says no size of a card.
  const auto asked = diagnosis::size_in_words(text.folded_lines);
  if (asked && out.card_bytes == asked->bytes) out.card_bytes = 0;
  if (!is_brief(words)) return;
  if (out.card_bytes == 0) out.card_bytes = size_alone(words, asked ? asked->value : 0);
  out.unknown_card = unknown_card_in(text, words);
  const double count = out.card_bytes > 0 ? count_in(text.folded_lines, catalog) : 0;
  if (count > 0) out.values["/parallel/num_gpus"] = json::count_of(count);
}

// "4x RTX 4090 or one A100": where a clause ends, and where the next one begins.
std::pair<std::size_t, std::size_t> end_of_clause(std::string_view folded) {
  std::size_t end = folded.size(), next = folded.size();
  for (const SaidPhrase& one : phrases_of(Means::between)) {
    const bool apart = static_cast<unsigned char>(one.phrase.front()) < 0xE0;  // Chinese knows no blanks
    const std::string word = apart ? " " + std::string(one.phrase) + " " : std::string(one.phrase);
    const std::size_t at = folded.find(word);
    if (at >= end) continue;
    end = at;
    next = at + word.size();
  }
  return {end, next};
}

}  // namespace

std::vector<const hardware::Gpu*> cards_called(std::string_view name, const run::Catalog& catalog) {
  const std::string folded = diagnosis::fold(name);
  auto cards = cards_named(folded, catalog);
  return cards.empty() ? cards_named(divided(folded), catalog) : cards;
}

const hardware::Gpu* card_called(std::string_view name, const run::Catalog& catalog) {
  if (const hardware::Gpu* known = catalog.find_gpu(name)) return known;
  if (diagnosis::fold(name).find("mig") != std::string::npos) return nullptr;
  const auto cards = cards_called(name, catalog);
  return cards.size() == 1 ? cards.front() : nullptr;
}

void read_cards(const diagnosis::Text& text, const run::Catalog& catalog, SaidRequest& out) {
  std::string_view rest = std::string_view(text.folded_lines).substr(0, longest_said);
  while (!rest.empty() && out.cards.size() < most_cards) {
    const auto [end, next] = end_of_clause(rest);
    const std::string_view clause = rest.substr(0, end);
    rest.remove_prefix(next);
    for (const hardware::Gpu* gpu : cards_in(clause, catalog)) {
      const bool known = std::any_of(out.cards.begin(), out.cards.end(),
                                     [gpu](const SaidCards& one) { return one.gpu == gpu; });
      if (!known) out.cards.push_back({gpu, count_in(clause, catalog)});
    }
  }
  if (out.cards.empty()) read_unnamed_card(text, catalog, out);
  const SaidWords words = split(std::string_view(text.folded_lines).substr(0, longest_said));
  out.unnamed_mac = out.cards.empty() && is_brief(words) && says_mac(words);
  const bool apples = std::any_of(out.cards.begin(), out.cards.end(),
                                  [](const SaidCards& one) { return one.gpu->vendor == "Apple"; });
  if (apples || out.unnamed_mac)
    out.card_bytes = diagnosis::gibibytes_in_name(text.folded_lines) * 1024 * 1024 * 1024;
  if (out.cards.size() != 1) return;
  SaidCards& only = out.cards.front();
  out.values["/hardware/gpu"] = only.gpu->id;
  if (only.count == 0) only.count = count_in(text.folded_lines, catalog);
  if (only.count > 0) out.values["/parallel/num_gpus"] = json::count_of(only.count);
}

}  // namespace plimsoll::question
