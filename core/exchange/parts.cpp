#include "core/exchange/parts.h"

#include <algorithm>
#include <array>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

using ascii::is_alnum;

constexpr size_t most_parts = 16;
constexpr size_t fewest_keys = 3;
constexpr size_t most_bytes = size_t{1} << 20;  // nobody writes more about one run

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
    line.remove_suffix(1);
  return line;
}

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

// "lora_r: 16", "- path: data.jsonl", "peft:"; no "RuntimeError: CUDA out of memory".
bool is_key_line(std::string_view line) {
  line = trimmed(line);
  if (line.substr(0, 2) == "- ") line = trimmed(line.substr(2));
  size_t end = 0;
  while (end < line.size() &&
         (is_alnum(line[end]) || line[end] == '_' || line[end] == '.' || line[end] == '-'))
    ++end;
  if (end == 0 || end >= line.size() || line[end] != ':') return false;
  if (end + 1 < line.size() && line[end + 1] != ' ') return false;
  return !begins_a_log_line(line.substr(0, end));
}

bool is_filler(std::string_view line) {
  const std::string_view inner = trimmed(line);
  return inner.empty() || inner.front() == '#';
}

// A line that can only go on from a key above it: an item of a list, or something further to the right.
bool goes_on(std::string_view line) {
  const std::string_view inner = trimmed(line);
  return inner.substr(0, 2) == "- " || (!inner.empty() && line.front() == ' ');
}

bool is_command(std::string_view line) {
  size_t flags = 0;
  for (size_t at = line.find("--"); at != std::string_view::npos && flags < 2; at = line.find("--", at + 2)) {
    const bool begins = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t';
    if (begins && at + 2 < line.size() && is_alnum(line[at + 2])) ++flags;
  }
  if (flags >= 2) return true;
  // "accelerate launch --config_file zero3.yaml train.py" says how a run is shared.
  for (const std::string_view launcher : {"accelerate launch ", "torchrun ", "deepspeed "}) {
    if (flags == 1 && line.substr(0, launcher.size()) == launcher &&
        line.find(".py") != std::string_view::npos)
      return true;
  }
  if (line.empty() || line.back() != '\\') return false;
  static constexpr std::array<std::string_view, 11> starters = {
      "python", "torchrun", "accelerate ",   "deepspeed", "llamafactory-cli", "swift ", "litgpt ",
      "tune ",  "axolotl ", "openrlhf.cli.", "mlx_lm"};
  return std::any_of(starters.begin(), starters.end(),
                     [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

// "{", "args = SFTConfig(", "lora_config = LoraConfig(r=16,".
bool opens(std::string_view line) {
  if (!line.empty() && line.front() == '{') return true;
  static constexpr std::array<std::string_view, 8> calls = {
      "Arguments(",          "Config(",   "Trainer(", "from_pretrained(", "dict(", "get_peft_model(",
      "BitsAndBytesConfig(", "Estimator("};
  return std::any_of(calls.begin(), calls.end(), [&](std::string_view call) {
    const size_t at = line.find(call);
    // A traceback shows the line of a call too, below its place.
    return at != std::string_view::npos && line.find("File \"") == std::string_view::npos;
  });
}

struct Lines {
  std::string_view text;
  std::vector<std::string_view> all;

  explicit Lines(std::string_view given) : text(given) {
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      all.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  size_t first_said() const {
    size_t at = 0;
    while (at + 1 < all.size() && trimmed(all[at]).empty()) ++at;
    return at;
  }
  size_t last_said() const {
    size_t at = all.size() - 1;
    while (at > 0 && trimmed(all[at]).empty()) --at;
    return at;
  }
  std::string_view span(size_t first, size_t last) const {  // both included
    const auto* begin = all[first].data();
    return {begin, static_cast<size_t>(all[last].data() + all[last].size() - begin)};
  }
};

// Each of these gives the last line of the part that begins at `first`, or `first` - 1 when none does.

size_t end_of_command(const Lines& lines, size_t first) {
  size_t last = first;
  while (last + 1 < lines.all.size()) {
    const std::string_view here = trimmed(lines.all[last]), next = trimmed(lines.all[last + 1]);
    const bool continued = !here.empty() && here.back() == '\\';
    if (!continued && next.substr(0, 2) != "--") break;
    ++last;
  }
  return last;
}

size_t end_of_brackets(const Lines& lines, size_t first) {
  long depth = 0;
  char quote = 0;
  for (size_t at = first; at < lines.all.size() && at < first + 400; ++at) {
    for (const char c : lines.all[at]) {
      if (quote != 0) {
        quote = c == quote ? char{0} : quote;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth;
      } else if (c == ')' || c == ']' || c == '}') {
        --depth;
      }
    }
    quote = 0;  // no string of a setting spans lines
    if (depth <= 0) return at;
  }
  return first - 1;
}

size_t end_of_keys(const Lines& lines, size_t first) {
  size_t keys = 0, last = first;
  for (size_t at = first; at < lines.all.size(); ++at) {
    const std::string_view line = lines.all[at];
    if (is_key_line(line)) {
      ++keys;
      last = at;
    } else if (goes_on(line)) {
      last = at;
    } else if (!is_filler(line)) {
      break;
    }
  }
  return keys >= fewest_keys ? last : first - 1;
}

}  // namespace

bool begins_a_log_line(std::string_view key) {
  return ends_with(key, "Error") || ends_with(key, "error") || ends_with(key, "Warning") || key == "INFO" ||
         key == "WARNING" || key == "ERROR";
}

std::vector<std::string_view> settings_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  const Lines lines(text.substr(0, most_bytes));
  for (size_t at = 0; at < lines.all.size() && parts.size() < most_parts; ++at) {
    const std::string_view line = trimmed(lines.all[at]);
    if (line.substr(0, 3) == "```") continue;
    size_t last = at - 1;
    if (is_command(line)) {
      last = end_of_command(lines, at);
    } else if (opens(line)) {
      last = end_of_brackets(lines, at);
    } else if (is_key_line(line)) {
      last = end_of_keys(lines, at);
    }
    if (last + 1 == at) continue;
    // Calls that follow each other are one script.
    while (opens(line) && line.front() != '{' && last + 1 < lines.all.size()) {
      size_t next = last + 1;
      while (next < lines.all.size() && trimmed(lines.all[next]).empty()) ++next;
      if (next >= lines.all.size() || !opens(trimmed(lines.all[next]))) break;
      const size_t end = end_of_brackets(lines, next);
      if (end + 1 == next) break;
      last = end;
    }
    const std::string_view part = lines.span(at, last);
    const bool whole = at == lines.first_said() && last == lines.last_said();
    if (!whole) parts.push_back(part);
    at = last;
  }
  return parts;
}

}  // namespace plimsoll::exchange
