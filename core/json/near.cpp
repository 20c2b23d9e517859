#include "core/json/near.h"

#include <algorithm>

#include "core/json/ascii.h"

namespace plimsoll::json {

namespace {

constexpr std::size_t longest_word = 64, most_names = 240;
constexpr std::size_t by_letters = 100, by_fewer_parts = 200,
                      by_slips = 300;  // the ranks begin here, best first

bool is_number(char c) { return ascii::is_digit(c) || c == '.'; }
bool is_part(char c) { return ascii::is_alnum(c) || c == '.'; }

// "RTX4090-Ti" is " rtx 4090 ti ".
std::string parts(std::string_view text) {
  std::string found;
  char before = ' ';
  for (char c : text) {
    if (is_part(c)) {
      if (!is_part(before) || is_number(c) != is_number(before)) found += ' ';
      found += ascii::lower(c);
    }
    before = c;
  }
  return found + ' ';
}

// Letters may be a beginning: "checkpoint" of "checkpointing". A number is whole: "409" is no 4090.
bool holds(std::string_view all, std::string_view some) {
  for (std::size_t end; (end = some.find(' ', 1)) != std::string_view::npos; some.remove_prefix(end)) {
    const bool beginning = end > 3 && !is_number(some[1]);
    if (all.find(some.substr(0, beginning ? end : end + 1)) == std::string_view::npos) return false;
  }
  return true;
}

// Letters to put in, take out or change, and neighbours to swap.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto same = [&](std::size_t i, std::size_t j) { return ascii::lower(a[i]) == ascii::lower(b[j]); };
  std::size_t rows[3][longest_word + 1];
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t* above = rows[i % 3];
    std::size_t* row = rows[(i + 1) % 3];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min(above[j] + !same(i, j), std::min(above[j + 1], row[j]) + 1);
      if (i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j))
        row[j + 1] = std::min(row[j + 1], rows[(i + 2) % 3][j - 1] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

bool is_slip(std::size_t slips, std::size_t letters) {
  return slips * 3 <= std::max<std::size_t>(letters, 3);
}

// Slips between a single part and the part of `all` that is nearest to it: "4900" of " rtx 4090 ".
std::size_t slips_in_parts(std::string_view all, std::string_view part) {
  std::size_t least = part.size();
  for (std::size_t end; (end = all.find(' ', 1)) != std::string_view::npos; all.remove_prefix(end))
    least = std::min(least, distance(part, all.substr(1, end - 1)));
  return least;
}

}  // namespace

Near near(std::string_view word, std::string_view list) {
  Near found;
  std::size_t best = std::string_view::npos;
  const std::string wanted = parts(word);
  if (wanted.size() < 2 || word.size() > longest_word) return found;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(", "));
    list.remove_prefix(std::min(list.size(), item.size() + 2));
    const std::string_view name = item.substr(0, item.find('\t'));
    if (name.size() > longest_word) continue;
    const std::string own = parts(name);
    std::size_t rank = static_cast<std::size_t>(std::count(own.begin(), own.end(), ' '));
    if (!holds(parts(item), wanted)) {
      const std::size_t slips = distance(word, name);
      if (is_slip(slips, word.size())) {
        rank = by_letters + slips;
      } else if (holds(wanted, own)) {
        rank = by_fewer_parts - rank;
      } else if (const std::size_t some = slips_in_parts(own, word);
                 word.size() > 2 && is_slip(some, word.size())) {
        rank += by_slips + longest_word * some;
      } else {
        continue;
      }
    }
    if (rank < best) found.names.clear();
    if (rank > best || found.names.size() > most_names) continue;
    best = rank;
    if (!found.names.empty()) found.names += ", ";
    found.names += name;
  }
  found.by_parts = best < by_letters;
  return found;
}

std::string did_you_mean(std::string_view word, std::string_view list) {
  const std::string names = near(word, list).names;
  return names.empty() ? names : " Did you mean " + names + "?";
}

}  // namespace plimsoll::json
