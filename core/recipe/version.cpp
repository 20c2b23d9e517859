// Versions of libraries: "4.51.3" against ">=4.46".
#include "core/recipe/version.h"

#include <algorithm>

#include "core/json/ascii.h"
#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

namespace {

struct Part {
  int numbers[4] = {0, 0, 0, 0};
  int given = 0;
};
// Asked for many times in a replay, so nothing is allocated and no locale is looked at.
Part split(std::string_view version) {
  constexpr int most = 99999999;
  Part part;
  const char *at = version.data(), *const end = at + version.size();
  while (part.given < 4 && at != end && ascii::is_digit(*at)) {
    int number = 0;
    for (; at != end && ascii::is_digit(*at); ++at) number = std::min(most, 10 * number + (*at - '0'));
    part.numbers[part.given++] = number;
    if (at == end || *at != '.') break;
    ++at;
  }
  return part;
}
int compare(const Part& a, const Part& b, int parts) {
  for (int i = 0; i < parts; ++i) {
    if (a.numbers[i] != b.numbers[i]) return a.numbers[i] < b.numbers[i] ? -1 : 1;
  }
  return 0;
}

// PEP 440: "4.51.3", and what may follow it.
bool is_version(std::string_view text) {
  if (text.empty() || !ascii::is_digit(text.front()) || !ascii::is_alnum(text.back())) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool part = ascii::is_word(text[i]) || text[i] == '+' || text[i] == '-';
    if (!part && (text[i] != '.' || text[i + 1] == '.')) return false;
  }
  return true;
}

}  // namespace

std::string version_of(std::string_view text) {
  text = ascii::trim(text);
  if (!text.empty() && text.front() == 'v') text.remove_prefix(1);
  return is_version(text) ? std::string(text) : "";
}

bool means_the_newest(std::string_view text) {
  return !text.empty() && ascii::is_letter(text.front()) && !is_version(text);
}

bool version_at_least(std::string_view have, std::string_view want) {
  return compare(split(have), split(want), 4) >= 0;
}

bool version_matches(std::string_view have, std::string_view conditions) {
  const Part release = split(have);
  size_t start = 0;
  while (start <= conditions.size()) {
    const size_t end = std::min(conditions.find(',', start), conditions.size());
    const std::string_view condition = conditions.substr(start, end - start);
    const size_t sign = condition.find_first_not_of("<>=");
    if (sign == std::string_view::npos) return false;
    const std::string_view op = condition.substr(0, sign);
    const Part wanted = split(condition.substr(sign));
    const int order = compare(release, wanted, op.empty() ? wanted.given : 4);
    const bool good = op == ">="   ? order >= 0
                      : op == "<"  ? order < 0
                      : op == "<=" ? order <= 0
                      : op == ">"  ? order > 0
                                   : order == 0;
    if (!good) return false;
    start = end + 1;
  }
  return true;
}

}  // namespace plimsoll::recipe
