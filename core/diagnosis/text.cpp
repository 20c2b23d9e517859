#include "core/diagnosis/text.h"

#include <algorithm>
#include <map>

#include "core/json/ascii.h"
#include "core/json/utf8.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;

constexpr std::size_t most_ranks = 64;

unsigned byte_at(CountedText text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

// "\x1b[31m" and its kind: the length, or 0.
std::size_t escape_length(CountedText text, std::size_t at) {
  if (text[at] != '\x1b' || byte_at(text, at + 1) != '[') return 0;
  std::size_t end = at + 2;
  while (end < text.size() && end < at + 16 && (is_digit(text[end]) || text[end] == ';')) ++end;
  return end < text.size() ? end + 1 - at : 0;
}

// "<b>", "</span>", "<td class=x>": the length, or 0. A bare "<" or "<<" is no tag.
std::size_t tag_length(CountedText text, std::size_t at) {
  if (text[at] != '<') return 0;
  const std::size_t first = at + (byte_at(text, at + 1) == '/' ? 2 : 1);
  const unsigned letter = byte_at(text, first);
  if (letter < 'a' || letter > 'z') return 0;
  // Names that Python prints in angle brackets (<module>, <listcomp>, <lambda>) are part of a traceback.
  for (std::size_t end = first; end < text.size() && end < at + 80; ++end) {
    const char c = text[end];
    if (c == '\n' || c == '<') return 0;
    if (c != '>') continue;
    const CountedText name = text.substr(first, end - first);
    return name == "module" || name == "listcomp" || name == "lambda" || name == "locals" ? 0 : end + 1 - at;
  }
  return 0;
}

struct Entity {
  std::string_view name, text;
};
constexpr Entity entities[] = {{"&gt;", ">"},   {"&lt;", "<"},    {"&amp;", "&"},
                               {"&nbsp;", " "}, {"&quot;", "\""}, {"&#39;", "'"}};

// One character of the cleaned text for one of the pasted one, in place of control bytes, boxes and markup.
void clean_into(std::string& out, CountedText text) {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (const std::size_t skip = escape_length(text, at); skip > 0) {
      at += skip;
      continue;
    }
    if (const std::size_t skip = tag_length(text, at); skip > 0) {
      out += ' ';
      at += skip;
      continue;
    }
    if (c == '&') {
      const auto* known = std::find_if(std::begin(entities), std::end(entities), [&](const Entity& entity) {
        return text.substr(at).starts_with(entity.name);
      });
      if (known != std::end(entities)) {
        out += known->text;
        at += known->name.size();
        continue;
      }
    }
    if (c == '\n' || c == '\r') {
      out += '\n';
      ++at;
      continue;
    }
    if (c == '*' && byte_at(text, at + 1) == '*' && (at == 0 || text[at - 1] != '(')) {  // Markdown's bold
      at += 2;
      continue;
    }
    const std::size_t length = json::utf8_length(text, at);
    if (length == 0 || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += ' ';
      ++at;
      continue;
    }
    const unsigned second = byte_at(text, at + 1);
    const unsigned third = byte_at(text, at + 2);
    const unsigned lead = byte_at(text, at);
    const bool box = length == 3 && lead == 0xE2 && (second == 0x94 || second == 0x95);
    const bool blank = (length == 2 && lead == 0xC2 && second == 0xA0) ||
                       (length == 3 && lead == 0xE2 && second == 0x80 && third >= 0x80 && third <= 0x8F) ||
                       (length == 3 && lead == 0xEF && second == 0xBB && third == 0xBF);
    if (box || blank) {
      out += ' ';
    } else {
      out += text.substr(at, length).all();
    }
    at += length;
  }
}

CountedText trimmed(CountedText line) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '|' || line.front() == '>')) {
    line.remove_prefix(1);
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == '|')) line.remove_suffix(1);
  return line;
}

// Takes "[rank3]:" from the front of a line. torchrun writes "[default3]:" too.
int take_rank(CountedText& line) {
  for (const std::string_view prefix : {std::string_view("[rank"), std::string_view("[default")}) {
    if (!line.starts_with(prefix)) continue;
    std::size_t end = prefix.size();
    int rank = 0;
    while (end < line.size() && end < prefix.size() + 5 && is_digit(line[end])) {
      rank = rank * 10 + (line[end] - '0');
      ++end;
    }
    if (end == prefix.size() || !line.substr(end).starts_with("]:")) return -1;
    line = trimmed(line.substr(end + 2));
    return rank;
  }
  return -1;
}

// Appends the words of a line, with one blank between any two.
void append_words(std::string& flow, CountedText line) {
  for (const char c : line.all()) {
    if (c != ' ') {
      flow += c;
    } else if (!flow.empty() && flow.back() != ' ') {
      flow += ' ';
    }
  }
  if (!flow.empty() && flow.back() != ' ') flow += ' ';
}

}  // namespace

std::string whole_characters(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t size = lead < 0x80U              ? 1
                             : (lead & 0xE0U) == 0xC0U ? 2
                             : (lead & 0xF0U) == 0xE0U ? 3
                             : (lead & 0xF8U) == 0xF0U ? 4
                                                       : 0;
    bool whole = size > 0 && i + size <= text.size();
    for (std::size_t k = 1; whole && k < size; ++k)
      whole = (static_cast<unsigned char>(text[i + k]) & 0xC0U) == 0x80U;
    if (whole) out.append(text, i, size);
    i += whole ? size : 1;
  }
  return out;
}

std::string first_bytes(std::string_view text, std::size_t most) {
  std::size_t end = std::min(text.size(), most);
  // Bytes 10xxxxxx go on with the character before them.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end));
}

std::string fold(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::vector<Stream> streams_of(CountedText lines, Joining joining) {
  constexpr std::size_t terminal = 60;  // columns: a shorter line ended by itself
  std::map<int, std::string> flows;
  int above = -1;
  bool full = false;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    CountedText line = trimmed(lines.substr(0, end));
    const bool blank_first = !lines.empty() && lines.front() == ' ';
    int rank = take_rank(line);
    const bool continues = joining != Joining::by_rank && rank < 0 && above >= 0 && !line.empty();
    if (continues) rank = above;
    if (flows.count(rank) != 0 || flows.size() < most_ranks) {
      std::string& flow = flows[rank];
      const bool broken = joining == Joining::unbroken && full && rank == above && !blank_first;
      if (broken && !flow.empty() && flow.back() == ' ') flow.pop_back();
      append_words(flow, line);
    }
    above = rank;
    // A whole unit at its end is a line that ended: "... Tried to allocate 394.00 MiB".
    const CountedText above_it = lines.substr(0, end);
    full = end >= terminal && lines[end - 1] != ' ' && !above_it.ends_with("iB");
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  std::vector<Stream> streams;
  for (auto& [rank, flow] : flows) {
    std::string folded = fold(lines.beside(flow).all());
    streams.push_back({rank, std::move(flow), std::move(folded)});
  }
  return streams;
}

Text clean(CountedText pasted) {
  Text text;
  text.lines.reserve(std::min(pasted.size(), most_bytes) + 16);
  if (pasted.size() <= most_bytes) {
    clean_into(text.lines, pasted);
  } else {
    text.shortened = true;
    clean_into(text.lines, pasted.substr(0, most_bytes / 4));
    text.lines += '\n';
    clean_into(text.lines, pasted.substr(pasted.size() - (most_bytes - most_bytes / 4)));
  }
  const CountedText lines = pasted.beside(text.lines);
  text.streams = streams_of(lines, Joining::by_rank);
  text.folded_lines = fold(lines.all());
  return text;
}

}  // namespace plimsoll::diagnosis
