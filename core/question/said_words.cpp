#include "core/question/said_words.h"

#include <algorithm>

#include "core/json/ascii.h"

namespace plimsoll::question {

namespace {

using ascii::is_digit;
using ascii::is_lower;

// Chinese and its like, which know no blanks.
bool is_foreign(char c) { return static_cast<unsigned char>(c) >= 0xE0; }

// Bytes of the letter, digit included, that stands at `at`: "ä" has two; 0: none.
std::size_t letter_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  if (is_lower(text[at]) || is_digit(text[at])) return 1;
  const auto lead = static_cast<unsigned char>(text[at]);
  const bool times = text.substr(at, 2) == "\xC3\x97";
  return lead >= 0xC3 && lead <= 0xC9 && !times ? 2 : 0;
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
  const bool mark = text[at] == '.' || text[at] == '?' || text[at] == '!' || text[at] == ';';
  return mark && (at + 1 >= text.size() || text[at + 1] == ' ' || text[at + 1] == '\n');
}

// "没有开", "关闭": said of what stands behind it, or before it. "有没有" asks, and "关于" is "about".
bool denies_in_chinese(std::string_view word) {
  constexpr std::string_view denials[] = {"没",   "未",   "不开", "不用", "不使用", "不启用",
                                          "不带", "不加", "禁用", "关闭", "关掉",   "关了"};
  if (word.empty() || !is_foreign(word.front()) || word.find("有没有") != std::string_view::npos)
    return false;
  return std::any_of(std::begin(denials), std::end(denials),
                     [&](std::string_view one) { return word.find(one) != std::string_view::npos; });
}

bool denies_before(const SaidWords& words, std::size_t at) {
  constexpr std::string_view before[] = {"no",   "without", "not",   "instead", "disable", "disabled",
                                         "ohne", "kein",    "keine", "keinen",  "statt",   "deaktiviere"};
  const std::string_view word = words[at].text;
  if (word == "o") return at > 0 && words[at - 1].text == "w";  // "w/o"
  return std::find(std::begin(before), std::end(before), word) != std::end(before) || denies_in_chinese(word);
}

bool denies_behind(std::string_view word) {
  constexpr std::string_view behind[] = {"off", "false", "disabled", "aus", "deaktiviert", "ausgeschaltet"};
  return std::find(std::begin(behind), std::end(behind), word) != std::end(behind) || denies_in_chinese(word);
}

// "没开梯度检查点" is one word, and denies what it ends in.
bool denies_within(std::string_view word, std::string_view phrase) {
  const std::size_t at = word.find(phrase);
  if (at == std::string_view::npos) return false;
  return denies_in_chinese(word.substr(0, at)) || denies_in_chinese(word.substr(at + phrase.size()));
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
    const std::string_view word = words[at + count].text;
    const bool foreign = is_foreign(wanted.front());
    if (word != wanted && !(foreign && word.find(wanted) != std::string_view::npos)) return 0;
    ++count;
  }
  return count;
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
    bool denied = denies_within(words[at].text, phrase);
    for (std::size_t back = 1; back <= 2 && back <= at && !words[at - back].stops(); ++back)
      denied = denied || denies_before(words, at - back);
    for (std::size_t on = at + count; on < words.size() && on < at + count + 2 && !words[on - 1].stops();
         ++on)
      denied = denied || denies_behind(words[on].text);
    if (!denied) return true;
  }
  return false;
}

}  // namespace plimsoll::question
