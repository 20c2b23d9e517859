// The lines that two texts do not share, with their neighbours.
#include <algorithm>

#include "core/exchange/patch.h"

namespace plimsoll::exchange {

namespace {

constexpr size_t neighbours = 2;
constexpr size_t largest_table = size_t{4} << 20;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Line {
  char sign;
  std::string_view text;
};

// The longest common subsequence of what is left when equal ends are cut off.
void middle(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b,
            std::vector<Line>& out) {
  const size_t width = b.size() + 1;
  if ((a.size() + 1) * width > largest_table) {
    for (const std::string_view line : a) out.push_back({'-', line});
    for (const std::string_view line : b) out.push_back({'+', line});
    return;
  }
  std::vector<uint32_t> common((a.size() + 1) * width, 0);
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      common[i * width + j] = a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                                           : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      out.push_back({' ', a[i]});
      ++i;
      ++j;
    } else if (j >= b.size() || (i < a.size() && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      out.push_back({'-', a[i++]});
    } else {
      out.push_back({'+', b[j++]});
    }
  }
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after) {
  std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail + head < a.size() && tail + head < b.size() && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<Line> lines;
  for (size_t i = 0; i < head; ++i) lines.push_back({' ', a[i]});
  const std::vector<std::string_view> rest(a.end() - static_cast<std::ptrdiff_t>(tail), a.end());
  a = {a.begin() + static_cast<std::ptrdiff_t>(head), a.end() - static_cast<std::ptrdiff_t>(tail)};
  b = {b.begin() + static_cast<std::ptrdiff_t>(head), b.end() - static_cast<std::ptrdiff_t>(tail)};
  middle(a, b, lines);
  for (const std::string_view line : rest) lines.push_back({' ', line});

  std::vector<bool> shown(lines.size(), false);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].sign == ' ') continue;
    const size_t from = i < neighbours ? 0 : i - neighbours;
    for (size_t k = from; k <= i + neighbours && k < lines.size(); ++k) shown[k] = true;
  }
  std::string out;
  size_t old_line = 1, new_line = 1;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (shown[i]) {
      if (i == 0 || !shown[i - 1])
        out += "@@ -" + std::to_string(old_line) + " +" + std::to_string(new_line) + " @@\n";
      out += lines[i].sign + std::string(lines[i].text) + "\n";
    }
    old_line += lines[i].sign != '+' ? 1 : 0;
    new_line += lines[i].sign != '-' ? 1 : 0;
  }
  return out;
}

}  // namespace plimsoll::exchange
