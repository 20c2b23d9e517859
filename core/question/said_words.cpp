#include "core/question/said_words.h"

#include <algorithm>
#include <string>

#include "core/json/ascii.h"
#include "core/question/said_languages.h"

namespace plimsoll::question {

namespace {

using ascii::is_digit;
using ascii::is_lower;

// Chinese and its like, which know no blanks.
bool is_foreign(char c) { return static_cast<unsigned char>(c) >= 0xE0; }

// Bytes of the letter, digit included, that stands at `at`: "ä" and "д" have two; 0: none.
std::size_t letter_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  if (is_lower(text[at]) || is_digit(text[at])) return 1;
  const auto lead = static_cast<unsigned char>(text[at]);
  const bool times = text.substr(at, 2) == "\xC3\x97";
  const bool latin = lead >= 0xC3 && lead <= 0xC9, cyrillic = lead >= 0xD0 && lead <= 0xD3;
  return (latin && !times) || cyrillic ? 2 : 0;
}

// "é" of "É", "д" of "Д": what is folded before is ASCII alone.
std::string in_small_letters(std::string_view word) {
  std::string out(word);
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const auto lead = static_cast<unsigned char>(out[i]), next = static_cast<unsigned char>(out[i + 1]);
    const bool latin = lead == 0xC3 && next >= 0x80 && next <= 0x9E && next != 0x97;
    const bool first = lead == 0xD0 && next >= 0x90 && next <= 0x9F;
    const bool second = lead == 0xD0 && next >= 0xA0 && next <= 0xAF;
    if (second) out[i] = '\xD1';
    if (latin || first || second) out[i + 1] = static_cast<char>(second ? next - 0x20 : next + 0x20);
  }
  return out;
}

// Whether a word of a text is that of a phrase: of "désactiv*" the stem, of "梯度检查点" a part is enough.
bool is_word_of(std::string_view word, std::string_view wanted) {
  if (word == wanted) return true;
  if (is_foreign(wanted.front())) return word.find(wanted) != std::string_view::npos;
  const bool stem = wanted.back() == '*';
  if (stem) wanted.remove_suffix(1);
  const bool ascii_word =
      std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
  if (ascii_word) return stem && word.starts_with(wanted);
  const std::string small = in_small_letters(word);
  return stem ? small.starts_with(wanted) : small == wanted;
}

// "2,048": a comma and three digits that no further digit follows.
bool is_group(std::string_view text, std::size_t at) {
  const auto digit = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  return text[at] == ',' && digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4);
}

std::size_t end_of_digits(std::string_view text, std::size_t at) {
  bool fraction = false;
  for (; at < text.size(); ++at) {
    if (is_digit(text[at])) continue;
    if (!fraction && is_group(text, at)) continue;
    const bool point = text[at] == '.' && !fraction && at + 1 < text.size() && is_digit(text[at + 1]);
    if (!point) break;
    fraction = true;
  }
  return at;
}

double value_of(std::string_view digits) {
  double value = 0, scale = 0;
  for (const char c : digits) {
    if (c == '.') scale = 1;
    if (!is_digit(c)) continue;
    value = value * 10 + (c - '0');
    scale *= 10;
  }
  return scale > 1 ? value / scale : value;
}

SaidWord number_at(std::string_view text, std::size_t at) {
  const std::size_t digits = end_of_digits(text, at);
  std::size_t end = digits;
  while (end < text.size() && (is_lower(text[end]) || is_digit(text[end]))) ++end;
  return {text.substr(at, end - at), value_of(text.substr(at, digits - at)),
          text.substr(digits, end - digits)};
}

// Full-width marks are no part of a word: "，长度" is "长度".
struct Mark {
  std::string_view bytes;
  bool pauses = true, ends = false;
};
constexpr Mark marks[] = {{"，"},
                          {"、"},
                          {"（"},
                          {"）"},
                          {"：", false},
                          {"“", false},
                          {"”", false},
                          {"。", false, true},
                          {"；", false, true},
                          {"？", false, true},
                          {"！", false, true}};

const Mark* mark_at(std::string_view text, std::size_t at) {
  for (const Mark& mark : marks) {
    if (text.substr(at, mark.bytes.size()) == mark.bytes) return &mark;
  }
  return nullptr;
}

SaidWord word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (is_foreign(text[at])) {
    while (end < text.size() && static_cast<unsigned char>(text[end]) > 127 && mark_at(text, end) == nullptr)
      ++end;
  } else {
    while (const std::size_t letter = letter_at(text, end)) end += letter;
  }
  return {text.substr(at, std::min(end, text.size()) - at)};
}

bool ends_a_sentence(std::string_view text, std::size_t at) {
  if (text[at] == '\n') return true;
  // "world_size ........ 4": the columns of a table.
  if (text[at] == '.' && at > 0 && text[at - 1] == '.') return false;
  const bool mark = text[at] == '.' || text[at] == '?' || text[at] == '!' || text[at] == ';';
  return mark && (at + 1 >= text.size() || text[at + 1] == ' ' || text[at + 1] == '\n');
}

// "有没有" asks, and denies nothing.
bool asks_whether(std::string_view word) { return word.find("有没有") != std::string_view::npos; }

bool says_any_of(std::string_view part, Means means) {
  const std::vector<SaidPhrase>& phrases = phrases_of(means);
  return !asks_whether(part) && std::any_of(phrases.begin(), phrases.end(), [part](const SaidPhrase& one) {
    return is_foreign(one.phrase.front()) && part.find(one.phrase) != std::string_view::npos;
  });
}

// What is said of a thing before and behind its name.
struct Denial {
  Means before, behind;
};
constexpr Denial off{Means::denies_before, Means::denies_behind},
    not_to_be_had{Means::cannot_before, Means::cannot_behind},
    out_of_order{Means::cannot_before, Means::broken};

// "没开梯度检查点" is one word, and denies what it ends in.
bool denies_within(std::string_view word, std::string_view phrase, Denial denial) {
  const std::size_t at = word.find(phrase);
  if (at == std::string_view::npos) return false;
  return says_any_of(word.substr(0, at), denial.before) ||
         says_any_of(word.substr(at + phrase.size()), denial.behind);
}

constexpr std::size_t reach =
    2;  // words: "sans le gradient checkpointing", "gradient checkpointing est désactivé"

bool denied_before(const SaidWords& words, std::size_t at, Means means) {
  constexpr std::size_t longest = 4;  // words of a phrase
  for (std::size_t back = 1; back < reach + longest && back <= at && !words[at - back].stops(); ++back) {
    const std::size_t count = phrase_at(words, at - back, means);
    if (count > 0 && count <= back && back - count < reach) return true;
  }
  return false;
}

// "Without any PEFT and quantization"; "no packing and LoRA" has LoRA.
bool denied_with_another(const SaidWords& words, std::size_t at) {
  if (at < 2 || words[at - 1].stops() || words[at - 2].stops()) return false;
  return phrase_at(words, at - 1, Means::joins) > 0 && denied_before(words, at - 2, Means::without);
}

bool denied_behind(const SaidWords& words, std::size_t at, Means means) {
  for (std::size_t on = at; on < words.size() && on < at + reach && !words[on - 1].stops(); ++on) {
    if (phrase_at(words, on, means) > 0) return true;
  }
  return false;
}

bool denies(const SaidWords& words, std::size_t at, std::size_t count, std::string_view phrase,
            Denial denial) {
  const bool joined = denial.before == Means::denies_before && denied_with_another(words, at);
  return joined || denies_within(words[at].text, phrase, denial) || denied_before(words, at, denial.before) ||
         denied_behind(words, at + count, denial.behind);
}

// How Python begins a frame.
constexpr std::string_view file = "file \"";

void blank(std::string& text, std::size_t begin, std::size_t end) {
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
            text.begin() + static_cast<std::ptrdiff_t>(std::min(end, text.size())), ' ');
}

}  // namespace

SaidWords split(std::string_view text) {
  SaidWords words;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (text.substr(at, 2) == "\xC3\x97") {  // ×
      words.push_back({"x"});
      at += 2;
      continue;
    }
    const Mark* mark = mark_at(text, at);
    if (mark != nullptr || (letter_at(text, at) == 0 && !is_foreign(c))) {
      const bool ends = mark == nullptr ? ends_a_sentence(text, at) : mark->ends;
      if (!words.empty() && ends) words.back().ends = true;
      if (!words.empty() && (mark == nullptr ? c == ',' : mark->pauses)) words.back().pauses = true;
      at += mark == nullptr ? 1 : mark->bytes.size();
      continue;
    }
    words.push_back(is_digit(c) ? number_at(text, at) : word_at(text, at));
    at += words.back().text.size();
  }
  return words;
}

std::size_t phrase_at(const SaidWords& words, std::size_t at, std::string_view phrase) {
  std::size_t count = 0;
  while (!phrase.empty()) {
    const std::size_t blank = std::min(phrase.find(' '), phrase.size());
    const std::string_view wanted = phrase.substr(0, blank);
    phrase.remove_prefix(std::min(blank + 1, phrase.size()));
    if (at + count >= words.size()) return 0;
    if (!is_word_of(words[at + count].text, wanted)) return 0;
    ++count;
  }
  return count;
}

std::size_t phrase_at(const SaidWords& words, std::size_t at, Means means) {
  std::size_t most = 0;
  if (at >= words.size() || asks_whether(words[at].text)) return most;
  for (const SaidPhrase& one : phrases_of(means)) most = std::max(most, phrase_at(words, at, one.phrase));
  return most;
}

bool says(const SaidWords& words, Means means) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (phrase_at(words, at, means) > 0) return true;
  }
  return false;
}

bool affirms(const SaidWords& words, Means means) {
  const std::vector<SaidPhrase>& phrases = phrases_of(means);
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](const SaidPhrase& one) { return affirms(words, one.phrase); });
}

bool denies(const SaidWords& words, Means means) {
  const std::vector<SaidPhrase>& phrases = phrases_of(means);
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](const SaidPhrase& one) { return denies(words, one.phrase); });
}

bool is_gibibytes(std::string_view unit) {
  constexpr std::string_view units[] = {"g", "gb", "gib", "gigs"};
  return std::find(std::begin(units), std::end(units), unit) != std::end(units);
}

double gibibytes_at(const SaidWords& words, std::size_t at, std::size_t& behind) {
  SaidWord word = words[at];
  if (word.is_number() && word.unit.starts_with('x')) {
    const SaidWords times = split(word.unit.substr(1));
    if (times.size() != 1 || !times.front().is_number()) return 0;
    word = times.front();
  }
  const bool apart = word.is_bare() && at + 1 < words.size() && is_gibibytes(words[at + 1].text);
  if (!apart && !(word.is_number() && is_gibibytes(word.unit))) return 0;
  behind = at + (apart ? 2 : 1);
  return word.number;
}

bool says(const SaidWords& words, std::string_view phrase) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (phrase_at(words, at, phrase) > 0) return true;
  }
  return false;
}

bool affirms(const SaidWords& words, std::string_view phrase) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::size_t count = phrase_at(words, at, phrase);
    if (count == 0) continue;
    if (!denies(words, at, count, phrase, off)) return true;
  }
  return false;
}

bool denies(const SaidWords& words, std::string_view phrase) {
  return says(words, phrase) && (!affirms(words, phrase) || rules_out(words, phrase, false));
}

bool rules_out(const SaidWords& words, std::string_view phrase, bool is_package) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::size_t count = phrase_at(words, at, phrase);
    if (count == 0) continue;
    if (denies(words, at, count, phrase, not_to_be_had)) return true;
    if (is_package && denies(words, at, count, phrase, out_of_order)) return true;
  }
  return false;
}

std::size_t rather_at(const SaidWords& words, std::size_t at) { return phrase_at(words, at, Means::rather); }

bool weighs(const SaidWords& words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (rather_at(words, at) > 0) return true;
  }
  return says(words, "from") && says(words, "to");
}

std::string without_addresses(std::string_view folded) {
  std::string out(folded);
  for (const std::string_view scheme : {"http://", "https://", "www."}) {
    for (std::size_t at = out.find(scheme); at != std::string::npos; at = out.find(scheme, at))
      blank(out, at, out.find_first_of(" \n\"'<>)]", at));
  }
  constexpr std::string_view packages_at = "-packages/";
  for (std::size_t at = out.find(file); at != std::string::npos; at = out.find(file, at + file.size())) {
    const std::size_t begin = at + file.size(), end = std::min(out.find('"', begin), out.size());
    const std::size_t library = out.find(packages_at, begin);
    blank(out, begin, library < end ? library : end);
  }
  return out;
}

}  // namespace plimsoll::question
