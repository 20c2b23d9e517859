// Regular expressions as PEFT uses them in target_modules: Python's re.fullmatch over a module's whole name.
//
//     std::optional<Pattern> pattern = read_pattern(R"(.*language_model.*\.(q|v)_proj)", why);
//     pattern->matches("model.language_model.layers.0.self_attn.q_proj");   // true
//
// Literals, ., classes, \d \w \s \b, groups, |, * + ? {m,n} (lazy or not), ^ $ and lookahead. What it cannot
// read (backreferences, lookbehind) is refused with a sentence. Runs all alternatives side by side, so no
// pattern can take more than its own length times that of the name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::recipe {

class Pattern {
 public:
  /// True when the whole of `text` matches.
  bool matches(std::string_view text) const { return run(0, text, 0, true); }

  struct Instruction {
    enum class Kind : uint8_t {
      set,
      split,
      jump,
      begin,
      end,
      boundary,
      no_boundary,
      ahead,
      not_ahead,
      match
    };
    Kind kind = Kind::match;
    std::array<uint64_t, 4> set{};  ///< of bytes
    uint32_t x = 0, y = 0;          ///< where to go on; ahead: x begins it, y follows
  };

 private:
  friend std::optional<Pattern> read_pattern(std::string_view, std::string&);
  bool run(uint32_t start, std::string_view text, std::size_t at, bool whole) const;
  void follow(std::vector<uint32_t>& list, std::vector<uint8_t>& seen, uint32_t start, std::string_view text,
              std::size_t at) const;
  std::vector<Instruction> program_;
};

/// Nothing when the pattern cannot be read; `why` then says what stands in the way.
std::optional<Pattern> read_pattern(std::string_view pattern, std::string& why);

}  // namespace plimsoll::recipe
