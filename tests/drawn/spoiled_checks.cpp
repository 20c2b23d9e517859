// Files of drawn requests, spoiled by a few bytes, through every way by which a text enters the core
// (tests/fuzz/ways.h).
#include "tests/drawn/checks.h"
#include "tests/fuzz/ways.h"

namespace plimsoll::drawn {

namespace {

// A piece goes, comes twice, or gives way to bytes that settings and errors are made of.
void spoil(std::string& text, Dice& dice) {
  constexpr std::string_view pieces[] = {":", "\n", "  ", "\"",   "{",       "[",     "- ",
                                         "#", "--", "=",  "\xF6", "Error: ", "1e999", "null"};
  for (uint64_t times = dice.draw(4); times > 0 && !text.empty(); --times) {
    const std::size_t at = dice.draw(text.size()),
                      length = std::min<std::size_t>(dice.draw(12), text.size() - at);
    if (dice.one_in(3)) {
      text.erase(at, length);
    } else if (dice.one_in(2)) {
      text.insert(at, text.substr(at, length));
    } else {
      text.replace(at, std::min<std::size_t>(1, length), pieces[dice.draw(std::size(pieces))]);
    }
  }
}

}  // namespace

void spoiled_files_are_refused_or_read(const Draw& draw) {
  Dice dice(draw.seed * 22801763489);
  std::string text = fuzz::exported(draw.text, dice.one_of(fuzz::written_formats()));
  if (text.empty()) text = draw.text;
  spoil(text, dice);
  for (const char* name : {"import", "patch", "parts", "diagnosis"}) {
    const fuzz::Way* way = fuzz::find_way(name);
    EXPECT_EQ(way->wrong(text), "") << name << " of\n" << text << said(draw);
  }
}

}  // namespace plimsoll::drawn
