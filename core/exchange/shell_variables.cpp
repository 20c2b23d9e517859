#include "core/exchange/shell_variables.h"

#include <utility>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

constexpr size_t longest = 4096;
constexpr int64_t largest = int64_t{1} << 40;

std::string_view name_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && ascii::is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

// + - * / % and parentheses over whole numbers and variables, as in $((A / B)).
class Sum {
 public:
  Sum(std::string_view text, const ShellVariables& variables) : text_(text), variables_(variables) {}

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
      const std::string* known = variables_.find(std::string(word));
      return known == nullptr ? std::nullopt : number(*known);
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
  const ShellVariables& variables_;
  size_t at_ = 0;
};

// The first of the two parentheses that end what begins at `at`; npos when there are none.
size_t behind_sum(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && depth-- == 0) return text.substr(at, 2) == "))" ? at : std::string_view::npos;
  }
  return std::string_view::npos;
}

}  // namespace

void ShellVariables::set(const std::string& name, std::string value) {
  if (value.size() <= longest && values_.size() < 10000) values_[name] = std::move(value);
}

const std::string* ShellVariables::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::string ShellVariables::expanded(std::string_view text) const {
  std::string out;
  size_t i = 0;
  const auto put = [&](const std::string* known, size_t end, std::string_view otherwise) {
    if (known != nullptr) {
      out += *known;
    } else if (!otherwise.empty()) {
      out += otherwise;
    } else {
      out += text.substr(i, end - i);
    }
    i = end;
  };
  while (i < text.size()) {
    if (out.size() > longest) return std::string(text);
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i++];
    } else if (text.substr(i, 3) == "$((") {
      const size_t end = behind_sum(text, i + 3);
      const auto sum =
          end == std::string_view::npos ? std::nullopt : Sum(text.substr(i + 3, end - i - 3), *this).value();
      if (!sum) return std::string(text);
      out += std::to_string(*sum);
      i = end + 2;
    } else if (text.substr(i, 7) == "$(expr ") {
      const size_t end = text.find(')', i);
      const auto sum =
          end == std::string_view::npos ? std::nullopt : Sum(text.substr(i + 7, end - i - 7), *this).value();
      if (!sum) return std::string(text);
      out += std::to_string(*sum);
      i = end + 1;
    } else if (text[i + 1] == '{') {
      const std::string_view name = name_at(text, i + 2);
      const size_t close = text.find('}', i + 2);
      if (name.empty() || close == std::string_view::npos) return std::string(text);
      std::string_view rest = text.substr(i + 2 + name.size(), close - i - 2 - name.size());
      std::string_view otherwise;
      if (rest.substr(0, 2) == ":-" || rest.substr(0, 2) == ":=") {
        otherwise = rest.substr(2);
      } else if (rest.substr(0, 1) == "-" || rest.substr(0, 1) == "=") {
        otherwise = rest.substr(1);
      } else if (!rest.empty() && rest != "[@]" && rest != "[*]") {
        return std::string(text);
      }
      const size_t braces = otherwise.find("${");
      if (braces != std::string_view::npos) return std::string(text);
      put(find(std::string(name)), close + 1, otherwise);
    } else {
      const std::string_view name = name_at(text, i + 1);
      if (name.empty() || ascii::is_digit(name[0])) {
        out += text[i++];
      } else {
        put(find(std::string(name)), i + 1 + name.size(), {});
      }
    }
  }
  return out.size() > longest ? std::string(text) : out;
}

std::optional<std::string> ShellVariables::whole(std::string_view text) {
  if (text.size() < 2 || text[0] != '$') return std::nullopt;
  const bool braced = text[1] == '{';
  const std::string_view name = name_at(text, braced ? 2 : 1);
  if (name.empty()) return std::nullopt;
  const std::string_view rest = text.substr((braced ? 2 : 1) + name.size());
  const bool ends = braced ? rest == "}" || rest == "[@]}" || rest == "[*]}" : rest.empty();
  return ends ? std::optional<std::string>(std::string(name)) : std::nullopt;
}

}  // namespace plimsoll::exchange
