#include "core/diagnosis/settings_lines.h"

#include <algorithm>
#include <vector>

#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::size_t least_entries = 3;  // one of plain words may be a remark: "optimizer: dies there"

struct Line {
  std::size_t begin = 0, end = 0;
};

std::string_view trimmed(std::string_view folded, Line line) {
  return ascii::trim(folded.substr(line.begin, line.end - line.begin));
}

bool is_key(char c) { return ascii::is_word(c) || c == '.' || c == '-' || c == '"' || c == '\''; }

// What a program runs or says, where a setting has a value: "f(y)", "nn.functional.softmax" of a line that a
// traceback cut off, "the paging file is too small".
bool is_value(std::string_view text) {
  constexpr std::ptrdiff_t most_words = 3;
  constexpr std::string_view code[] = {"nn.", "self.", "f.", "torch.nn", "torch.mat"};
  const std::string_view said = ascii::trim(text.substr(0, text.find('#')));
  const bool runs = said.find('(') != std::string_view::npos ||
                    std::any_of(std::begin(code), std::end(code),
                                [said](std::string_view begin) { return said.starts_with(begin); });
  return !runs && std::count(said.begin(), said.end(), ' ') < most_words;
}

// The key of a line that gives one thing a value; "" of any other. "bf16: auto", "lora_r = 32,", "- q_proj".
std::string_view key_of(std::string_view line) {
  const std::size_t item = line.starts_with("- ") ? 2 : 0;
  std::size_t end = item;
  while (end < line.size() && is_key(line[end])) ++end;
  const std::string_view key = line.substr(item, end - item);
  if (end == line.size()) return item > 0 ? key : "";
  while (end < line.size() && line[end] == ' ') ++end;
  if (end == line.size() || (line[end] != ':' && line[end] != '=')) return "";
  // "accelerator.prepare: _prepare_deepspeed" is where somebody says that it died, "train_model.py:12" a place.
  const bool place = line[end] == ':' && (key.find('.') != std::string_view::npos ||
                                          (end + 1 < line.size() && ascii::is_digit(line[end + 1])));
  const bool exception = key.find("error") != std::string_view::npos;
  return !place && !exception && is_value(line.substr(end + 1)) ? key : "";
}

// In company with its like; alone it may be a remark.
bool is_entry(std::string_view line) { return line.starts_with("--") || !key_of(line).empty(); }

// Between entries, and none itself.
bool is_between(std::string_view line) {
  return line.empty() || line.front() == '#' || line == "{" || line == "}" || line == "}," || line == "```";
}

// "args = TrainingArguments(": its lines up to the parenthesis that closes it.
bool makes_settings(std::string_view line) {
  for (const std::string_view call : {"arguments(", "config("})
    if (line.find(call) != std::string_view::npos && line.find('=') != std::string_view::npos) return true;
  return false;
}

void blank(std::string& out, std::size_t begin, std::size_t end) {
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(begin), out.begin() + static_cast<std::ptrdiff_t>(end),
      [](char c) { return c != '\n'; }, ' ');
}

std::vector<Line> lines_of(std::string_view folded) {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin <= folded.size();) {
    const std::size_t end = std::min(folded.find('\n', begin), folded.size());
    lines.push_back({begin, end});
    begin = end + 1;
  }
  return lines;
}

// How many lines a call goes on, from its first; at most so many, as one that never ends is no call.
std::size_t lines_of_call(std::string_view folded, const std::vector<Line>& lines, std::size_t first) {
  constexpr std::size_t most = 100;
  int open = 0;
  for (std::size_t i = first; i < lines.size() && i < first + most; ++i) {
    for (const char c : trimmed(folded, lines[i])) open += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (open <= 0) return i + 1 - first;
  }
  return 1;
}

}  // namespace

bool is_setting(std::string_view line) {
  return line.starts_with("--") || key_of(line).find('_') != std::string_view::npos;
}

bool in_setting(CountedText whole, std::size_t place) {
  // No setting is longer; a paste of one line of megabytes is asked about at each of its words.
  constexpr std::size_t longest = 2048;
  const std::size_t from = place > longest ? place - longest : 0;
  const CountedText near = whole.substr(from, 2 * longest);
  const std::size_t at = place - from;
  const std::size_t before = at == 0 ? CountedText::npos : near.rfind('\n', at - 1);
  const std::size_t first = before == CountedText::npos ? 0 : before + 1;
  const std::size_t blank = near.substr(0, at).find_last_of(" \t\n\"'");
  if (near.substr(blank == CountedText::npos ? 0 : blank + 1).starts_with("--")) return true;
  const std::size_t end = std::min(near.find('\n', at), near.size());
  return is_setting(ascii::trim(near.substr(first, end - first).all()));
}

std::string without_settings(std::string_view folded) {
  std::string out(folded);
  const std::vector<Line> lines = lines_of(folded);
  std::size_t first = 0, entries = 0;
  const auto close = [&](std::size_t behind) {
    if (entries >= least_entries) blank(out, lines[first].begin, lines[behind - 1].end);
    entries = 0;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = trimmed(folded, lines[i]);
    // "[rank5]: File ..." says that the next line is quoted by a traceback.
    const bool quoted = i > 0 && trimmed(folded, lines[i - 1]).find("file \"") != std::string_view::npos;
    if (makes_settings(line) && !quoted) {
      close(i);
      const std::size_t count = lines_of_call(folded, lines, i);
      blank(out, lines[i].begin, lines[i + count - 1].end);
      i += count - 1;
    } else if (is_entry(line) && !quoted) {
      if (entries++ == 0) first = i;
    } else if (!is_between(line)) {
      close(i);
    }
  }
  close(lines.size());
  return out;
}

}  // namespace plimsoll::diagnosis
