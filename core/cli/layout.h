// Columns, wrapped words and numbers for a terminal.
//
//     const std::vector<Column> columns = {{"size", Align::right}, {"what", Align::left, true}};
//     std::string text = layout(columns, {{{"13.50"}, {"weights in fp16"}}}, style);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/cli/table.h"

namespace plimsoll::cli {

enum class Align { left, right };

struct Column {
  std::string head;
  Align align = Align::left;
  bool wraps = false;  // takes the room that is left, on several lines; left out where that is too little
};

struct Cell {
  std::string text;
  std::string_view colour = {};  // an SGR parameter such as "31"; empty for none
};

/// Rows under their headings, indented by two spaces. Headings are left out when all are empty. At most one
/// column wraps.
std::string layout(const std::vector<Column>& columns, const std::vector<std::vector<Cell>>& rows,
                   const Style& style);

/// Words on lines of at most `width` characters. A longer word keeps a line of its own.
std::vector<std::string> wrap(std::string_view text, size_t width);

/// Characters, not bytes, of UTF-8 text.
size_t character_count(std::string_view text);

std::string coloured(std::string_view text, std::string_view colour, const Style& style);

/// A title on a line of its own; words that wrap; the colour of "fits", "tight" and "no".
std::string heading(std::string_view title, const Style& style);
std::string paragraph(const std::string& words, const Style& style);
/// A list of points, each with a hanging indent.
std::string points(const std::vector<std::string>& lines, const Style& style);
std::string_view verdict_colour(std::string_view verdict);

/// 14.05, and 14.05 GiB, of bytes that may be negative.
std::string gib(double bytes);
std::string gib_words(double bytes);

/// 14.05 GiB, 26.0 MiB: for a size that stands alone.
std::string size_words(double bytes);

}  // namespace plimsoll::cli
