#include "core/cli/layout.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace plimsoll::cli {

namespace {

constexpr size_t indent = 2;
constexpr size_t gap = 2;
constexpr size_t narrowest = 16;

std::string padded(const Cell& cell, size_t width, Align align, const Style& style) {
  const size_t taken = character_count(cell.text);
  const std::string space(width > taken ? width - taken : 0, ' ');
  const std::string text = coloured(cell.text, cell.colour, style);
  return align == Align::right ? space + text : text + space;
}

void end_line(std::string& line, std::string& out) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  out += line + "\n";
  line.clear();
}

void add_row(const std::vector<Column>& columns, const std::vector<size_t>& widths,
             const std::vector<Cell>& row, const Style& style, std::string& out) {
  std::vector<std::vector<std::string>> parts(columns.size());
  size_t lines = 1;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& text = i < row.size() ? row[i].text : std::string();
    if (columns[i].wraps && widths[i] == 0) continue;
    parts[i] = columns[i].wraps ? wrap(text, widths[i]) : std::vector<std::string>{text};
    lines = std::max(lines, parts[i].size());
  }
  for (size_t line = 0; line < lines; ++line) {
    std::string text(indent, ' ');
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i != 0) text += std::string(gap, ' ');
      const std::string part = line < parts[i].size() ? parts[i][line] : std::string();
      text += padded({part, i < row.size() ? row[i].colour : ""}, widths[i], columns[i].align, style);
    }
    end_line(text, out);
  }
}

std::string fixed(double value, int decimals) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  return buffer;
}

}  // namespace

size_t character_count(std::string_view text) {
  // Bytes that continue a UTF-8 character begin with the bits 10.
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string coloured(std::string_view text, std::string_view colour, const Style& style) {
  if (!style.colour || colour.empty() || text.empty()) return std::string(text);
  return "\x1b[" + std::string(colour) + "m" + std::string(text) + "\x1b[0m";
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (character_count(line) + 1 + character_count(word) <= width) {
      line += ' ';
      line += word;
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

std::string layout(const std::vector<Column>& columns, const std::vector<std::vector<Cell>>& rows,
                   const Style& style) {
  std::vector<size_t> widths;
  bool heads = false;
  size_t taken = indent;
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t width = character_count(columns[i].head);
    heads = heads || width != 0;
    for (const auto& row : rows) {
      if (i < row.size()) width = std::max(width, character_count(row[i].text));
    }
    widths.push_back(width);
    taken += (i == 0 ? 0 : gap) + (columns[i].wraps ? 0 : width);
  }
  const size_t left = style.width > taken ? style.width - taken : 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].wraps) widths[i] = left < narrowest ? 0 : std::min(widths[i], left);
  }

  std::string out;
  if (heads) {
    std::vector<Cell> head;
    for (const Column& column : columns) head.push_back({column.head, "2"});
    add_row(columns, widths, head, style, out);
  }
  for (const auto& row : rows) add_row(columns, widths, row, style, out);
  return out;
}

std::string heading(std::string_view title, const Style& style) { return coloured(title, "1", style) + "\n"; }

std::string paragraph(const std::string& words, const Style& style) {
  return layout({{"", Align::left, true}}, {{{words}}}, style);
}

std::string points(const std::vector<std::string>& lines, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  for (const std::string& line : lines) rows.push_back({{"-"}, {line}});
  return layout({{""}, {"", Align::left, true}}, rows, style);
}

std::string_view verdict_colour(std::string_view verdict) {
  if (verdict == "fits") return "32";
  return verdict == "tight" ? "33" : "31";
}

std::string gib(double bytes) {
  const double size = bytes / 1073741824.0;
  return fixed(std::fabs(size) < 0.005 ? 0.0 : size, 2);
}

std::string gib_words(double bytes) { return gib(bytes) + " GiB"; }

std::string size_words(double bytes) {
  return bytes >= 1073741824.0 ? gib_words(bytes) : fixed(bytes / 1048576.0, 1) + " MiB";
}

}  // namespace plimsoll::cli
