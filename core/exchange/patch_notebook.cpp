// A patch of a notebook's cells, put back into the notebook: its JSON stays as it is but for the characters
// of the lines that change.
#include "core/exchange/languages.h"
#include "core/exchange/notebook.h"
#include "core/exchange/patch.h"
#include "core/json/writer.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

constexpr uint64_t nowhere = ~uint64_t{0};

// Where each byte of the joined cells stands in the notebook, escapes included. A line break that joins two
// cells stands nowhere.
struct Cells {
  std::string code;
  std::vector<uint64_t> start, end, string;
};

void add_byte(Cells& cells, char c, uint64_t start, uint64_t end, uint64_t string) {
  cells.code += c;
  cells.start.push_back(start);
  cells.end.push_back(end);
  cells.string.push_back(string);
}

// `value` is what the string at `span` of the notebook says; its characters are walked side by side.
void add_string(std::string_view text, const Node& node, Cells& cells) {
  const uint64_t stop = node.span.at + node.span.length - 1;
  uint64_t at = node.span.at + 1;
  const std::string& value = node.raw;
  for (size_t i = 0; i < value.size() && at < stop;) {
    uint64_t width = 1;
    size_t bytes = 1;
    if (text[at] == '\\') {
      width = text[at + 1] == 'u' ? 6 : 2;
      const auto lead = static_cast<unsigned char>(value[i]);
      bytes = width == 2 || lead < 0x80 ? 1 : (lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4));
      if (bytes == 4) width = 12;  // two halves of a pair
    }
    for (size_t k = 0; k < bytes && i < value.size(); ++k, ++i)
      add_byte(cells, value[i], at, at + width, node.span.at);
    at += width;
  }
}

void add_source(std::string_view text, const Node* source, Cells& cells) {
  if (source == nullptr) return;
  if (source->is_scalar() && source->value.is_string()) add_string(text, *source, cells);
  for (const Node& line : source->items) {
    if (line.is_scalar() && line.value.is_string()) add_string(text, line, cells);
  }
  if (!cells.code.empty() && cells.code.back() != '\n') add_byte(cells, '\n', nowhere, nowhere, nowhere);
}

void add_cells(std::string_view text, const Node* list, Cells& cells) {
  if (list == nullptr) return;
  for (const Node& cell : list->items) {
    const Node* type = cell.find("cell_type");
    if (type == nullptr || type->raw != "code") continue;
    add_source(text, cell.find("source"), cells);
    add_source(text, cell.find("input"), cells);
  }
}

std::string escaped(const std::string& text) {
  const std::string quoted = json::write(Json(text));
  return quoted.substr(1, quoted.size() - 2);
}

void add_insertion(const Cells& cells, uint64_t at, std::string text, std::vector<Edit>& edits) {
  if (at < cells.code.size() && cells.start[at] != nowhere) {
    edits.push_back({cells.start[at], 0, escaped(text)});
    return;
  }
  // Behind the last character of a cell.
  uint64_t before = at;
  while (before > 0 && cells.end[before - 1] == nowhere) --before;
  if (before == 0) return;
  if (before < at) {
    text.insert(0, "\n");
    if (text.back() == '\n') text.pop_back();
  }
  edits.push_back({cells.end[before - 1], 0, escaped(text)});
}

void add_edit(const Cells& cells, uint64_t offset, const Edit& edit, std::vector<Edit>& edits) {
  const uint64_t from = edit.at + offset, to = from + edit.length;
  std::string text = edit.text;
  bool written = false;
  for (uint64_t i = from; i < to && i < cells.code.size();) {
    if (cells.start[i] == nowhere) {
      ++i;
      continue;
    }
    uint64_t last = i;
    while (last + 1 < to && cells.string[last + 1] == cells.string[i]) ++last;
    edits.push_back({cells.start[i], cells.end[last] - cells.start[i], written ? "" : escaped(text)});
    written = true;
    i = last + 1;
  }
  if (!written) add_insertion(cells, from, std::move(text), edits);
}

}  // namespace

void put_in_notebook(const Document& document, std::string_view notebook, Patch& patch) {
  const Document tree = read_json(notebook);
  if (!tree.errors.empty()) return;
  Cells cells;
  add_cells(notebook, tree.root.find("cells"), cells);
  if (const Node* sheets = tree.root.find("worksheets")) {
    for (const Node& sheet : sheets->items) add_cells(notebook, sheet.find("cells"), cells);
  }
  const size_t offset = cells.code.find(document.code);
  if (offset == std::string::npos) return;
  std::vector<Edit> edits;
  for (const Edit& edit : patch.edits) add_edit(cells, offset, edit, edits);
  std::string whole = edited(notebook, edits);
  const Document again = read_notebook(whole);
  if (!again.errors.empty() || again.code != patch.text) return;
  patch.edits = std::move(edits);
  patch.diff = line_diff(notebook, whole);
  patch.text = std::move(whole);
}

}  // namespace plimsoll::exchange
