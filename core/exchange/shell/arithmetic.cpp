#include "core/exchange/shell/arithmetic.h"

#include <algorithm>
#include <array>

#include "core/json/ascii.h"

namespace plimsoll::exchange::shell {

namespace {

constexpr int64_t largest = int64_t{1} << 40;

std::string_view name_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && ascii::is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

// + - * / % and parentheses over whole numbers and variables, as in $((A / B)).
class Sum {
 public:
  Sum(std::string_view text, const LookUp& variable) : text_(text), variable_(variable) {}

  std::optional<int64_t> value() {
    const auto result = terms(0);
    skip();
    return at_ == text_.size() ? result : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  static std::optional<int64_t> within(int64_t value) {
    return value > largest || value < -largest ? std::nullopt : std::optional<int64_t>(value);
  }

  std::optional<int64_t> terms(int depth) {
    auto left = factors(depth);
    while (left) {
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      const auto right = factors(depth);
      if (!right) return std::nullopt;
      left = within(plus ? *left + *right : *left - *right);
    }
    return left;
  }
  std::optional<int64_t> factors(int depth) {
    auto left = one(depth);
    while (left) {
      const char sign = take('*') ? '*' : (take('/') ? '/' : (take('%') ? '%' : ' '));
      if (sign == ' ') break;
      const auto right = one(depth);
      if (!right || (sign != '*' && *right == 0)) return std::nullopt;
      if (sign == '*' && *right != 0 &&
          (*left > largest / (*right < 0 ? -*right : *right) || *left < -largest))
        return std::nullopt;
      left = within(sign == '*' ? *left * *right : (sign == '/' ? *left / *right : *left % *right));
    }
    return left;
  }
  std::optional<int64_t> one(int depth) {
    if (depth > 20) return std::nullopt;
    if (take('(')) {
      const auto inner = terms(depth + 1);
      return take(')') ? inner : std::nullopt;
    }
    take('$');
    const bool braced = take('{');
    skip();
    const std::string_view word = name_at(text_, at_);
    if (word.empty() || word.size() > 60) return std::nullopt;
    at_ += word.size();
    if (braced && !take('}')) return std::nullopt;
    if (!ascii::is_digit(word[0])) {
      const std::optional<std::string> known = variable_(word);
      return known ? number(*known) : std::nullopt;
    }
    return number(word);
  }
  static std::optional<int64_t> number(std::string_view word) {
    if (word.empty() || word.size() > 12) return std::nullopt;
    int64_t value = 0;
    for (const char c : word) {
      if (!ascii::is_digit(c)) return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return within(value);
  }

  std::string_view text_;
  const LookUp& variable_;
  size_t at_ = 0;
};

}  // namespace

std::optional<int64_t> whole_number(std::string_view text, const LookUp& variable) {
  return Sum(text, variable).value();
}

std::optional<bool> holds(std::string_view text, const LookUp& variable) {
  static constexpr std::array<std::string_view, 6> signs = {"==", "!=", "<=", ">=", "<", ">"};
  for (size_t sign = 0; sign < signs.size(); ++sign) {
    const size_t at = text.find(signs[sign]);
    if (at == std::string_view::npos) continue;
    const auto left = whole_number(text.substr(0, at), variable);
    const auto right = whole_number(text.substr(at + signs[sign].size()), variable);
    if (!left || !right) return std::nullopt;
    const bool answers[] = {*left == *right, *left != *right, *left <= *right, *left >= *right,
                            *left<*right, *left> * right};
    return answers[sign];
  }
  const auto value = whole_number(text, variable);
  return value ? std::optional<bool>(*value != 0) : std::nullopt;
}

}  // namespace plimsoll::exchange::shell
