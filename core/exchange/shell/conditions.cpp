// [ ... ], [[ ... ]] and test: strings and whole numbers are compared; what lies on a disk is not known.
#include <algorithm>

#include "core/exchange/shell/interpreter.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::shell {

namespace {

bool is_unknown(std::string_view text) { return text.find_first_of("$`") != std::string_view::npos; }

std::optional<int64_t> whole(std::string_view text) {
  if (text.empty() || text.size() > 12) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (!ascii::is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

Status compared(std::string_view left, std::string_view sign, std::string_view right) {
  const bool strings = sign == "=" || sign == "==" || sign == "!=";
  if (is_unknown(left) || is_unknown(right)) return std::nullopt;
  if (strings) return matches(right, left) == (sign != "!=");
  const auto a = whole(left), b = whole(right);
  if (!a || !b) return std::nullopt;
  if (sign == "-eq") return *a == *b;
  if (sign == "-ne") return *a != *b;
  if (sign == "-lt" || sign == "<") return *a < *b;
  if (sign == "-le") return *a <= *b;
  if (sign == "-gt" || sign == ">") return *a > *b;
  if (sign == "-ge") return *a >= *b;
  return std::nullopt;
}

bool is_comparison(std::string_view word) {
  static constexpr std::string_view signs[] = {"=",   "==",  "!=",  "-eq", "-ne", "-lt",
                                               "-le", "-gt", "-ge", "<",   ">",   "=~"};
  return std::find(std::begin(signs), std::end(signs), word) != std::end(signs);
}

Status inverse(Status status) { return status ? Status(!*status) : status; }

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Status Interpreter::test(const std::vector<Text>& written) {
  std::vector<std::string> words;
  const bool was = unset_is_empty_;
  unset_is_empty_ = true;
  for (const Text& word : written) words.push_back(value_of(word).characters);
  unset_is_empty_ = was;
  if (!words.empty() && (words.back() == "]" || words.back() == "]]")) words.pop_back();
  size_t at = 0;
  const Status status = joined(words, at, true);
  return at == words.size() ? status : std::nullopt;
}

// One of those that || stands between, or all of those that && stands between, which binds closer.
Status Interpreter::joined(const std::vector<std::string>& words, size_t& at, bool any) {
  const auto next = [&] { return any ? joined(words, at, false) : one(words, at); };
  Status status = next();
  while (at < words.size() &&
         (any ? words[at] == "||" || words[at] == "-o" : words[at] == "&&" || words[at] == "-a")) {
    ++at;
    const Status other = next();
    if (status == Status(any) || other == Status(any)) {
      status = any;
    } else if (!status || !other) {
      status = std::nullopt;
    }
  }
  return status;
}

Status Interpreter::one(const std::vector<std::string>& words, size_t& at) {
  if (at >= words.size() || !spend(10)) return false;
  const std::string& word = words[at];
  const size_t left = words.size() - at;
  if (left >= 3 && is_comparison(words[at + 1])) {
    at += 3;
    return compared(word, words[at - 2], words[at - 1]);
  }
  if (word == "!" && left > 1) return inverse(one(words, ++at));
  if (word == "(" && left > 1) {
    const Status inner = joined(words, ++at, true);
    if (at < words.size() && words[at] == ")") ++at;
    return inner;
  }
  if (word.size() == 2 && word[0] == '-' && left > 1) {
    at += 2;
    if (word[1] == 'v' && variables_.count(words[at - 1]) > 0) return true;
    if (word[1] != 'z' && word[1] != 'n') return std::nullopt;
    if (is_unknown(words[at - 1])) return std::nullopt;
    return words[at - 1].empty() == (word[1] == 'z');
  }
  ++at;
  return is_unknown(word) ? Status() : Status(!word.empty());
}

}  // namespace plimsoll::exchange::shell
