#include "core/diagnosis/gpu_table.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/diagnosis/size.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;

constexpr std::size_t most_cards = 64, most_processes = 256, longest_line = 400;

void skip_blanks(CountedText text, std::size_t& at) {
  while (at < text.size() && text[at] == ' ') ++at;
}

std::optional<double> read_whole(CountedText text, std::size_t& at) {
  const std::size_t begin = at;
  double value = 0;
  for (; at < text.size() && is_digit(text[at]) && at - begin < 12; ++at)
    value = value * 10 + (text[at] - '0');
  if (at == begin) return std::nullopt;
  return value;
}

// "7600MiB / 7680MiB", "12799 / 24268 MB": the two figures and where the first begins.
struct Use {
  double used, total;
  std::size_t begin;
};
std::optional<Use> read_use(CountedText line) {
  for (std::size_t slash = line.find('/'); slash != std::string_view::npos;
       slash = line.find('/', slash + 1)) {
    std::size_t end = slash;
    while (end > 0 && line[end - 1] == ' ') --end;
    const bool unit = end >= 3 && line.substr(0, end).ends_with("mib");
    if (unit) end -= 3;
    while (end > 0 && line[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 && is_digit(line[begin - 1])) --begin;
    std::size_t at = begin;
    const auto used = read_whole(line, at);
    at = slash + 1;
    skip_blanks(line, at);
    const auto total = read_whole(line, at);
    skip_blanks(line, at);
    const CountedText rest = line.substr(at);
    const bool labelled = rest.starts_with("mib") || (!unit && rest.starts_with("mb"));
    if (used && total && labelled && *total > 0) return Use{*used * mebibyte, *total * mebibyte, begin};
  }
  return std::nullopt;
}

// "0  Tesla M60          TCC": a number, two blanks, a name, two blanks.
bool read_name(CountedText line, Card& card) {
  std::size_t at = 0;
  while (at < line.size() && (line[at] == '|' || line[at] == ' ' || line[at] == '[')) ++at;
  const auto index = read_whole(line, at);
  if (!index || *index > 63) return false;
  if (at < line.size() && line[at] == ']') ++at;
  skip_blanks(line, at);
  std::size_t end = line.find("  ", at);
  end = std::min(end, line.find(" |", at));
  if (end == std::string_view::npos || end == at) return false;
  card.index = static_cast<int>(*index);
  card.name = std::string(line.substr(at, end - at).all());
  return true;
}

bool has_letters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

// "NVIDIA A100-PCIE-40GB 39721MiB / 40960MiB": the name before the figures.
std::string name_before(CountedText line, std::size_t end) {
  std::size_t begin = 0;
  while (begin < end && (line[begin] == '|' || line[begin] == ' ')) ++begin;
  while (end > begin && (line[end - 1] == ' ' || line[end - 1] == '|' || line[end - 1] == ',')) --end;
  const std::string_view name = line.substr(begin, end - begin).all();
  // A row of nvidia-smi has fan, temperature and power there.
  const bool row = name.find("W /") != std::string_view::npos || name.find('|') != std::string_view::npos ||
                   name.size() > 60 || !has_letters(name);
  return row ? std::string() : std::string(name);
}

// "|    0   N/A  N/A      1234      C   python      1234MiB |"
std::optional<CardProcess> read_process(CountedText line, CountedText folded) {
  std::size_t end = folded.size();
  while (end > 0 && (folded[end - 1] == ' ' || folded[end - 1] == '|')) --end;
  if (end < 4 || !folded.substr(0, end).ends_with("mib")) return std::nullopt;
  std::size_t begin = end - 3;
  while (begin > 0 && is_digit(folded[begin - 1])) --begin;
  std::size_t at = begin;
  const auto used = read_whole(folded, at);
  at = 0;
  while (at < folded.size() && (folded[at] == '|' || folded[at] == ' ')) ++at;
  const auto card = read_whole(folded, at);
  if (!used || !card || *card > 63) return std::nullopt;
  CardProcess out;
  out.card = static_cast<int>(*card);
  out.bytes = *used * mebibyte;
  bool found = false;
  while (at < begin) {  // words up to the figure: one of them is the process number, the last is its name
    skip_blanks(folded, at);
    const std::size_t word_begin = at;
    while (at < begin && folded[at] != ' ') ++at;
    const CountedText word = line.substr(word_begin, at - word_begin);
    if (word.empty()) break;
    std::size_t digits = 0;
    const auto id = read_whole(word, digits);
    if (!found && id && digits == word.size()) {
      out.id = static_cast<uint64_t>(*id);
      found = true;
    } else {
      out.name = std::string(word.all());
    }
  }
  if (!found) return std::nullopt;
  return out;
}

}  // namespace

GpuTable read_gpu_table(const Text& text, Work* work) {
  const CountedText lines(text.lines, work), folded_lines(text.folded_lines, work);
  GpuTable out;
  Card named;  // of the row above the figures
  std::size_t at = 0;
  while (at < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::size_t length = std::min(end - at, longest_line);
    const CountedText line = lines.substr(at, length);
    const CountedText folded = folded_lines.substr(at, length);
    at = end + 1;
    Card here;
    if (const auto use = read_use(folded)) {
      here = named;
      if (read_name(line, here)) {
        // gpustat has everything in one line
      } else if (std::string name = name_before(line, use->begin); !name.empty()) {
        here.name = std::move(name);
      }
      here.used = use->used;
      here.total = use->total;
      if (out.cards.size() < most_cards) out.cards.push_back(here);
      named = Card();
    } else if (auto process = read_process(line, folded); process && out.processes.size() < most_processes) {
      out.processes.push_back(std::move(*process));
    } else if (read_name(line, here)) {
      named = here;
    }
  }
  return out;
}

}  // namespace plimsoll::diagnosis
