#include "core/recipe/pattern.h"

#include <utility>

#include "core/json/ascii.h"

namespace plimsoll::recipe {

namespace {

using ascii::is_word;

using Instruction = Pattern::Instruction;
using Kind = Instruction::Kind;
using Program = std::vector<Instruction>;

constexpr std::size_t most_instructions = 20000;  // nested {m,n} would grow without bound
constexpr int deepest = 64;

void put(std::array<uint64_t, 4>& set, unsigned char c) { set[c / 64] |= uint64_t{1} << (c % 64); }
bool holds(const std::array<uint64_t, 4>& set, unsigned char c) { return (set[c / 64] >> (c % 64) & 1) != 0; }
void invert(std::array<uint64_t, 4>& set) {
  for (uint64_t& word : set) word = ~word;
}

bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// \d \w \s and their opposites; false for any other letter.
bool put_class(std::array<uint64_t, 4>& set, char letter) {
  std::array<uint64_t, 4> members{};
  for (unsigned c = 0; c < 256; ++c) {
    const auto byte = static_cast<unsigned char>(c);
    const bool digit = byte >= '0' && byte <= '9';
    const char lower = static_cast<char>(letter | 0x20);
    if ((lower == 'd' && digit) || (lower == 'w' && is_word(static_cast<char>(byte))) ||
        (lower == 's' && is_space(byte))) {
      put(members, byte);
    }
  }
  const bool known = letter == 'd' || letter == 'w' || letter == 's';
  const bool opposite = letter == 'D' || letter == 'W' || letter == 'S';
  if (opposite) invert(members);
  if (known || opposite) {
    for (std::size_t i = 0; i < 4; ++i) set[i] |= members[i];
  }
  return known || opposite;
}

// Recursive descent; each part is a program whose jumps count from its own beginning.
class Reader {
 public:
  Reader(std::string_view text, std::string& why) : text_(text), why_(why) {}

  Program read() {
    Program program = alternatives(0);
    if (at_ < text_.size() && why_.empty()) refuse("a \")\" closes nothing");
    return program;
  }

 private:
  void refuse(const char* why) {
    if (why_.empty()) why_ = why;
  }
  bool done() const { return at_ >= text_.size() || !why_.empty(); }
  bool take(std::string_view what) {
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }

  static void append(Program& to, Program part) {
    const auto shift = static_cast<uint32_t>(to.size());
    for (Instruction& i : part) {
      i.x += shift;
      i.y += shift;
      to.push_back(i);
    }
  }
  static Instruction make(Kind kind, std::size_t x = 0, std::size_t y = 0) {
    Instruction i;
    i.kind = kind;
    i.x = static_cast<uint32_t>(x);
    i.y = static_cast<uint32_t>(y);
    return i;
  }

  Program alternatives(int depth) {
    if (depth > deepest) refuse("groups are nested too deeply");
    Program first = sequence(depth);
    while (!done() && take("|")) {
      Program second = sequence(depth);
      Program both;
      both.push_back(make(Kind::split, 1, first.size() + 2));
      append(both, std::move(first));
      both.push_back(make(Kind::jump, both.size() + 1 + second.size()));
      append(both, std::move(second));
      first = std::move(both);
    }
    return first;
  }

  Program sequence(int depth) {
    Program program;
    while (!done() && text_[at_] != '|' && text_[at_] != ')') {
      Program part = repeated(atom(depth));
      append(program, std::move(part));
      if (program.size() > most_instructions) refuse("it is too large");
    }
    return program;
  }

  Program repeated(Program part) {
    while (!done()) {
      std::size_t least = 0, most = 0;
      bool endless = false;
      if (take("*")) {
        endless = true;
      } else if (take("+")) {
        least = 1;
        endless = true;
      } else if (take("?")) {
        most = 1;
      } else if (!counted(least, most, endless)) {
        break;
      }
      take("?");  // lazy: a full match is the same either way
      part = times(part, least, most, endless);
    }
    return part;
  }

  // {3}, {1,}, {,2}, {1,2}; anything else in braces is literal, as in Python.
  bool counted(std::size_t& least, std::size_t& most, bool& endless) {
    if (text_[at_] != '{') return false;
    std::size_t at = at_ + 1;
    const auto number = [&](std::size_t& value) {
      const std::size_t from = at;
      value = 0;
      while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9' && value < 100000) {
        value = value * 10 + static_cast<std::size_t>(text_[at++] - '0');
      }
      return at > from;
    };
    const bool low = number(least);
    bool high = false;
    most = least;
    if (at < text_.size() && text_[at] == ',') {
      ++at;
      high = number(most);
      endless = !high;
    } else if (!low) {
      return false;
    }
    if (at >= text_.size() || text_[at] != '}' || (!low && !high)) return false;
    at_ = at + 1;
    if (!endless && most < least) refuse("{m,n} counts down");
    return true;
  }

  Program times(const Program& part, std::size_t least, std::size_t most, bool endless) {
    Program out;
    if ((least + most + 2) * (part.size() + 2) > most_instructions) {
      refuse("it is too large");
      return out;
    }
    for (std::size_t i = 0; i < least; ++i) append(out, part);
    if (endless) {
      const std::size_t loop = out.size();
      out.push_back(make(Kind::split, loop + 1, loop + part.size() + 2));
      append(out, part);
      out.push_back(make(Kind::jump, loop));
    }
    for (std::size_t i = least; !endless && i < most; ++i) {
      const std::size_t here = out.size();
      out.push_back(make(Kind::split, here + 1, here + 1 + part.size()));
      append(out, part);
    }
    return out;
  }

  Program atom(int depth) {
    const char c = text_[at_];
    if (c == '(') return group(depth);
    if (c == '*' || c == '+' || c == '?') {
      refuse("there is nothing to repeat");
      return {};
    }
    Instruction i = make(Kind::set, 1);
    ++at_;
    if (c == '^') return {make(Kind::begin, 1)};
    if (c == '$') return {make(Kind::end, 1)};
    if (c == '.') {
      put(i.set, '\n');
      invert(i.set);
    } else if (c == '[') {
      characters(i.set);
    } else if (c == '\\') {
      return escape(i);
    } else {
      put(i.set, static_cast<unsigned char>(c));
    }
    return {i};
  }

  Program group(int depth) {
    ++at_;
    Kind ahead = Kind::match;
    if (take("?:")) {
    } else if (take("?=")) {
      ahead = Kind::ahead;
    } else if (take("?!")) {
      ahead = Kind::not_ahead;
    } else if (take("?P<")) {
      while (!done() && text_[at_] != '>') ++at_;
      take(">");
    } else if (at_ < text_.size() && text_[at_] == '?') {
      refuse("it looks behind, sets a flag or refers back, which is not read here");
      return {};
    }
    Program inner = alternatives(depth + 1);
    if (!take(")")) refuse("a \"(\" is not closed");
    if (ahead == Kind::match) return inner;
    Program out;
    out.push_back(make(ahead, 1, inner.size() + 2));
    append(out, std::move(inner));
    out.push_back(make(Kind::match));
    return out;
  }

  Program escape(Instruction i) {
    if (at_ >= text_.size()) {
      refuse("it ends in a backslash");
      return {};
    }
    const char c = text_[at_++];
    if (c == 'b') return {make(Kind::boundary, 1)};
    if (c == 'B') return {make(Kind::no_boundary, 1)};
    if (c == 'A') return {make(Kind::begin, 1)};
    if (c == 'Z') return {make(Kind::end, 1)};
    if (put_class(i.set, c)) return {i};
    if (is_word(c)) {
      refuse("it refers back to a group, or escapes a letter that is not read here");
      return {};
    }
    put(i.set, static_cast<unsigned char>(c));
    return {i};
  }

  void characters(std::array<uint64_t, 4>& set) {
    const bool opposite = take("^");
    bool first = true;
    while (at_ < text_.size() && (text_[at_] != ']' || first)) {
      first = false;
      auto low = static_cast<unsigned char>(text_[at_++]);
      if (low == '\\' && at_ < text_.size()) {
        low = static_cast<unsigned char>(text_[at_++]);
        if (put_class(set, static_cast<char>(low))) continue;
      }
      unsigned char high = low;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        high = static_cast<unsigned char>(text_[at_ + 1]);
        at_ += 2;
      }
      for (unsigned c = low; c <= high; ++c) put(set, static_cast<unsigned char>(c));
    }
    if (!take("]")) refuse("a \"[\" is not closed");
    if (opposite) invert(set);
  }

  std::string_view text_;
  std::string& why_;
  std::size_t at_ = 0;
};

}  // namespace

// All instructions that can be reached from `start` without reading a character.
void Pattern::follow(std::vector<uint32_t>& list, std::vector<uint8_t>& seen, uint32_t start,
                     std::string_view text, std::size_t at) const {
  std::vector<uint32_t> open{start};
  while (!open.empty()) {
    const uint32_t here = open.back();
    open.pop_back();
    if (seen[here] != 0) continue;
    seen[here] = 1;
    const Instruction& i = program_[here];
    const bool before = at > 0 && is_word(text[at - 1]);
    const bool after = at < text.size() && is_word(text[at]);
    switch (i.kind) {
      case Kind::split:
        open.push_back(i.y);
        open.push_back(i.x);
        break;
      case Kind::jump:
        open.push_back(i.x);
        break;
      case Kind::begin:
        if (at == 0) open.push_back(i.x);
        break;
      case Kind::end:
        if (at == text.size()) open.push_back(i.x);
        break;
      case Kind::boundary:
        if (before != after) open.push_back(i.x);
        break;
      case Kind::no_boundary:
        if (before == after) open.push_back(i.x);
        break;
      case Kind::ahead:
        if (run(i.x, text, at, false)) open.push_back(i.y);
        break;
      case Kind::not_ahead:
        if (!run(i.x, text, at, false)) open.push_back(i.y);
        break;
      case Kind::set:
      case Kind::match:
        list.push_back(here);
        break;
    }
  }
}

bool Pattern::run(uint32_t start, std::string_view text, std::size_t at, bool whole) const {
  std::vector<uint32_t> now, next;
  std::vector<uint8_t> seen(program_.size(), 0);
  follow(now, seen, start, text, at);
  for (;; ++at) {
    for (uint32_t here : now) {
      if (program_[here].kind == Kind::match && (!whole || at == text.size())) return true;
    }
    if (at >= text.size() || now.empty()) return false;
    next.clear();
    seen.assign(program_.size(), 0);
    for (uint32_t here : now) {
      const Instruction& i = program_[here];
      if (i.kind == Kind::set && holds(i.set, static_cast<unsigned char>(text[at]))) {
        follow(next, seen, i.x, text, at + 1);
      }
    }
    now.swap(next);
  }
}

std::optional<Pattern> read_pattern(std::string_view text, std::string& why) {
  why.clear();
  Pattern pattern;
  pattern.program_ = Reader(text, why).read();
  if (!why.empty()) return std::nullopt;
  pattern.program_.emplace_back();  // match
  return pattern;
}

}  // namespace plimsoll::recipe
