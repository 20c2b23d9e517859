// A text that counts how many of its bytes are looked at. So a test can hold a reader to work in proportion
// to its text without a clock, with the same figure on every machine: a reader that begins again at each line
// looks at more than it was given.
//
//     Work work;
//     const CountedText lines(text.lines, &work);
//     lines.find('\n', 40);      // work.bytes grows by how far the line break is
//
// Reads like a std::string_view, and is made from one where nobody counts.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plimsoll::diagnosis {

struct Work {
  uint64_t bytes = 0;  ///< looked at; one that is looked at again counts again
};

class CountedText {
 public:
  static constexpr std::size_t npos = std::string_view::npos;

  template <std::convertible_to<std::string_view> Chars>
  CountedText(const Chars& text, Work* work = nullptr) : text_(text), work_(work) {}

  std::size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }
  CountedText substr(std::size_t at, std::size_t length = npos) const {
    return {text_.substr(at, length), work_};
  }
  void remove_prefix(std::size_t length) { text_.remove_prefix(length); }
  void remove_suffix(std::size_t length) { text_.remove_suffix(length); }
  /// Another text, counted together with this one.
  CountedText beside(std::string_view other) const { return {other, work_}; }

  char operator[](std::size_t at) const {
    count(1);
    return text_[at];
  }
  char front() const { return (*this)[0]; }
  char back() const { return (*this)[size() - 1]; }
  /// Every byte of it, looked at once.
  std::string_view all() const {
    count(size());
    return text_;
  }
  std::size_t find(char wanted, std::size_t from = 0) const {
    const std::size_t at = text_.find(wanted, from);
    count(std::min(at, size()) - std::min(from, size()));
    return at;
  }
  std::size_t find(std::string_view wanted, std::size_t from = 0) const {
    const std::size_t at = text_.find(wanted, from);
    count(std::min(at, size()) - std::min(from, size()) + wanted.size());
    return at;
  }
  std::size_t rfind(char wanted, std::size_t from) const {
    const std::size_t at = text_.rfind(wanted, from);
    count(std::min(from, size()) - (at == npos ? 0 : at));
    return at;
  }
  std::size_t find_last_of(std::string_view wanted) const {
    const std::size_t at = text_.find_last_of(wanted);
    count(size() - (at == npos ? 0 : at));
    return at;
  }
  bool starts_with(std::string_view head) const {
    count(std::min(head.size(), size()));
    return text_.starts_with(head);
  }
  bool ends_with(std::string_view tail) const {
    count(std::min(tail.size(), size()));
    return text_.ends_with(tail);
  }
  bool operator==(std::string_view other) const {
    count(size() == other.size() ? size() : 0);
    return text_ == other;
  }

 private:
  void count(std::size_t bytes) const {
    if (work_ != nullptr) work_->bytes += bytes;
  }

  std::string_view text_;
  Work* work_;
};

}  // namespace plimsoll::diagnosis
