#include "core/exchange/python/tokens.h"

#include <optional>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

using ascii::is_digit;

// With the bytes of every other alphabet.
bool is_letter_of_name(char c) { return ascii::is_letter(c) || c == '_' || c < 0; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<PythonToken> scan() {
    std::vector<PythonToken> tokens;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const size_t start = at_;
      if (c == '\n') {
        ++at_;
        tokens.push_back({PythonToken::Type::line, "\n", {start, 1}});
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        at_ += 2;
      } else if (c == '#' || ((c == '!' || c == '%') && line_begins())) {
        skip_line();
      } else if (c == 'F' && is_frame()) {
        skip_line();
        skip_code_of_frame();
      } else if (const auto prefix = string_prefix()) {
        tokens.push_back(string(*prefix));
      } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
        while (at_ < text_.size() &&
               (is_letter_of_name(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.' ||
                ((text_[at_] == '-' || text_[at_] == '+') && (text_[at_ - 1] | 0x20) == 'e' &&
                 text_.substr(start, 2) != "0x"))) {
          ++at_;
        }
        tokens.push_back(
            {PythonToken::Type::number, std::string(text_.substr(start, at_ - start)), {start, at_ - start}});
      } else if (is_letter_of_name(c)) {
        while (at_ < text_.size() && (is_letter_of_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
        tokens.push_back(
            {PythonToken::Type::name, std::string(text_.substr(start, at_ - start)), {start, at_ - start}});
      } else {
        ++at_;
        if ((c == '*' || c == '/') && at_ < text_.size() && text_[at_] == c) ++at_;
        if ((c == '=' || c == '!' || c == '<' || c == '>') && at_ < text_.size() && text_[at_] == '=') ++at_;
        tokens.push_back(
            {PythonToken::Type::sign, std::string(text_.substr(start, at_ - start)), {start, at_ - start}});
      }
    }
    tokens.push_back({PythonToken::Type::end, "", {text_.size(), 0}});
    return tokens;
  }

 private:
  bool line_begins() const {
    size_t i = at_;
    while (i > 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\t')) --i;
    return i == 0 || text_[i - 1] == '\n';
  }
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  // "File "/app/train.py", line 61, in main" of a traceback.
  bool is_frame() const {
    constexpr std::string_view opening = "File \"";
    if (!line_begins() || text_.substr(at_, opening.size()) != opening) return false;
    const std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
    return line.find("\", line ") != std::string_view::npos;
  }
  // The line that a traceback quotes may open what it does not close: "return inner_training_loop(".
  void skip_code_of_frame() {
    if (text_.substr(at_, 2) != "\n ") return;
    at_ = text_.find_first_not_of(" \n", at_);
    if (at_ == std::string_view::npos) at_ = text_.size();
    if (!is_frame()) skip_line();
  }
  // r, b, u, f and pairs of them before a quote.
  std::optional<size_t> string_prefix() const {
    size_t i = at_;
    while (i < text_.size() && i < at_ + 2 &&
           std::string_view("rRbBuUfF").find(text_[i]) != std::string_view::npos)
      ++i;
    if (i < text_.size() && (text_[i] == '"' || text_[i] == '\'')) return i - at_;
    return std::nullopt;
  }
  PythonToken string(size_t prefix) {
    PythonToken token;
    token.type = PythonToken::Type::text;
    token.span.at = at_;
    bool raw = false;
    for (size_t i = 0; i < prefix; ++i) {
      raw = raw || (text_[at_ + i] | 0x20) == 'r';
      token.formatted = token.formatted || (text_[at_ + i] | 0x20) == 'f';
    }
    at_ += prefix;
    const char quote = text_[at_];
    const std::string triple(3, quote);
    const bool is_triple = text_.substr(at_, 3) == triple;
    at_ += is_triple ? 3 : 1;
    while (at_ < text_.size()) {
      if (is_triple ? text_.substr(at_, 3) == triple : text_[at_] == quote) {
        at_ += is_triple ? 3 : 1;
        break;
      }
      if (!is_triple && text_[at_] == '\n') break;
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        const char next = text_[at_ + 1];
        // r'\'' does not end at its first quote either, and keeps the backslash.
        if (raw) {
          token.text += text_.substr(at_, 2);
        } else if (next != '\n')
          token.text += next == 'n' ? '\n' : next == 't' ? '\t' : next;
        at_ += 2;
      } else {
        token.text += text_[at_++];
      }
    }
    token.span.length = at_ - token.span.at;
    return token;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<PythonToken> python_tokens(std::string_view text) { return Scanner(text).scan(); }

}  // namespace plimsoll::exchange
