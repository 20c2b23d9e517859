#include "core/question/said_upgrade.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/diagnosis/signs.h"
#include "core/diagnosis/text.h"
#include "core/json/ascii.h"
#include "core/question/peak_parts.h"
#include "core/question/said_request.h"

namespace plimsoll::question {

namespace {

using diagnosis::size_text;

// The first digits of its releases: what stands near a library may be Python's or CUDA's.
struct Library {
  std::string_view name, pointer, majors;
};
constexpr Library libraries[] = {{"transformers", "/versions/transformers", "45"},
                                 {"trl", "/versions/trl", "01"},
                                 {"peft", "/versions/peft", "0"}};

struct Release {
  std::size_t begin = 0, end = 0;
};

// "4.50", "0.14.1": digits with a dot that no unit follows.
std::vector<Release> releases_in(std::string_view folded) {
  constexpr std::size_t most = 64;
  std::vector<Release> out;
  for (std::size_t at = 0; at < folded.size() && out.size() < most;) {
    if (!ascii::is_digit(folded[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    std::size_t dots = 0;
    while (at < folded.size() &&
           (ascii::is_digit(folded[at]) ||
            (folded[at] == '.' && at + 1 < folded.size() && ascii::is_digit(folded[at + 1])))) {
      dots += folded[at] == '.' ? 1 : 0;
      ++at;
    }
    std::string_view behind = folded.substr(at, 4);
    if (behind.starts_with(' ')) behind.remove_prefix(1);
    const bool unit = (at < folded.size() && ascii::is_word(folded[at])) || behind.starts_with("g") ||
                      behind.starts_with("mb") || behind.starts_with("mi") || behind.starts_with("%");
    if (dots > 0 && !unit) out.push_back({begin, at});
  }
  return out;
}

bool begins_a_word(std::string_view folded, std::size_t at) {
  return at == 0 || !ascii::is_word(folded[at - 1]);
}

// The library that is named last between `from` and `to`, a few letters before `to` at most.
const Library* library_before(std::string_view folded, std::size_t from, std::size_t to) {
  constexpr std::size_t reach = 14;  // " from version "
  const Library* found = nullptr;
  std::size_t nearest = 0;
  for (const Library& one : libraries) {
    const std::size_t at = folded.substr(0, to).rfind(one.name);
    if (at == std::string_view::npos || at < from || !begins_a_word(folded, at)) continue;
    const std::size_t end = at + one.name.size();
    if (to - end > reach || end <= nearest) continue;
    nearest = end;
    found = &one;
  }
  return found;
}

// "Of transformers"
const Library* library_behind(std::string_view folded, std::size_t from) {
  constexpr std::size_t reach = 6;
  for (const Library& one : libraries) {
    const std::size_t at = folded.substr(from, reach + one.name.size()).find(one.name);
    if (at != std::string_view::npos && begins_a_word(folded, from + at)) return &one;
  }
  return nullptr;
}

// What leads from one release to the next.
bool is_joined(std::string_view between) {
  constexpr std::size_t longest = 60;
  constexpr std::string_view joints[] = {"to",   "since", "with", "on",  "in",   "after",
                                         "from", "auf",   "seit", "mit", "nach", "von"};
  constexpr std::string_view signs[] = {">", "→", "到", "至"};
  if (between.size() > longest || between.find('\n') != std::string_view::npos) return false;
  const auto drop = [&between](std::string_view what) {
    while (!between.empty() && what.find(between.back()) != std::string_view::npos) between.remove_suffix(1);
  };
  drop(" =`'\"");
  if (between.ends_with(" v")) between.remove_suffix(1);
  drop(" ");
  const auto ends = [&between](std::string_view one) { return between.ends_with(one); };
  if (std::any_of(std::begin(signs), std::end(signs), ends)) return true;
  return std::any_of(std::begin(joints), std::end(joints), [&](std::string_view one) {
    return ends(one) && begins_a_word(between, between.size() - one.size());
  });
}

std::string_view text_of(std::string_view folded, const Release& one) {
  return folded.substr(one.begin, one.end - one.begin);
}

// The library of both; null where they are of two, or of none that is known.
const Library* library_of(std::string_view folded, const Release& first, const Release& second) {
  const Library* before = library_before(folded, 0, first.begin);
  const Library* between = library_before(folded, first.end, second.begin);
  const std::string_view gap = folded.substr(first.end, second.begin - first.end);
  if (before != nullptr && between != nullptr && before != between) return nullptr;
  if (between == nullptr && !is_joined(gap)) return nullptr;
  if (between != nullptr && gap.find('\n') != std::string_view::npos) return nullptr;
  const Library* found = before != nullptr    ? before
                         : between != nullptr ? between
                                              : library_behind(folded, second.end);
  if (found == nullptr || found->majors.find(folded[first.begin]) == std::string_view::npos ||
      found->majors.find(folded[second.begin]) == std::string_view::npos)
    return nullptr;
  return found;
}

// "model_args/dtype is float32 with 4.50 and bfloat16 with 4.54": defaults that the newer release changed.
std::string changed_fields(const run::Run& older, const run::Run& newer, const SaidUpgrade& upgrade) {
  constexpr std::size_t most = 2;
  std::size_t found = 0;
  std::string out;
  for (const auto& [pointer, value] : newer.resolved.values) {
    const auto before = older.resolved.values.find(pointer);
    const bool same = before == older.resolved.values.end() || before->second == value;
    if (same || pointer.starts_with("/versions/") || found == most) continue;
    ++found;
    out += " " + pointer.substr(1) + " is " + json::write(before->second) + " with " + upgrade.from +
           " and " + json::write(value) + " with " + upgrade.to + ".";
  }
  return out;
}

std::optional<run::Run> with_release(const run::Run& run, const std::string& pointer,
                                     const std::string& release, const run::Catalog& catalog) {
  recipe::Request given = run.given;
  given.values[pointer] = release;
  // Whoever upgrades TRL trains with it.
  if (pointer == "/versions/trl") given.values.emplace("/stack", "trl");
  given.values.emplace("/training/per_device_train_batch_size", 1);  // nobody said how many
  json::Errors ignored;
  return run::read_like(run, std::move(given), catalog, ignored);
}

}  // namespace

std::optional<SaidUpgrade> upgrade_in(std::string_view all) {
  const std::string_view folded = all.substr(0, longest_said);
  const std::vector<Release> releases = releases_in(folded);
  for (std::size_t i = 0; i + 1 < releases.size(); ++i) {
    const Library* library = library_of(folded, releases[i], releases[i + 1]);
    std::string first(text_of(folded, releases[i])), second(text_of(folded, releases[i + 1]));
    if (library == nullptr || first == second) continue;
    if (recipe::version_at_least(first, second)) std::swap(first, second);
    return SaidUpgrade{std::string(library->pointer), std::move(first), std::move(second)};
  }
  return std::nullopt;
}

void price_upgrade(const SaidUpgrade& upgrade, const run::Run& run, const run::Catalog& catalog,
                   diagnosis::Situation& situation) {
  constexpr double same = 0.005;
  const auto older = with_release(run, upgrade.pointer, upgrade.from, catalog);
  const auto newer = with_release(run, upgrade.pointer, upgrade.to, catalog);
  if (!older || !newer) return;
  const memory::Instant &before = older->replay.at_peak(), &now = newer->replay.at_peak();
  const double was = run::sizes_of(before, *older).needed, is = run::sizes_of(now, *newer).needed;
  const std::string library = upgrade.pointer.substr(upgrade.pointer.rfind('/') + 1);
  if (std::fabs(is - was) <= same * was) {
    situation.upgrade_case = "release_same";
    situation.upgrade = "With " + library + " " + upgrade.to + " as with " + upgrade.from +
                        " this run needs " + size_text(is) +
                        ": the memory model knows no difference between them.";
    return;
  }
  situation.upgrade_case = "release_differs";
  situation.upgrade = "With " + library + " " + upgrade.to + " this run needs " + size_text(is) + ", with " +
                      upgrade.from + " " + size_text(was) + "." + changed_fields(*older, *newer, upgrade);
  if (is > was) situation.upgrade += growth(before.live, now.live);
}

}  // namespace plimsoll::question
