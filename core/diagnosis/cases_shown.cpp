// Which of the cases a text shows.
#include <algorithm>

#include "core/diagnosis/cases.h"
#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view chinese[] = {"没", "不", "吗"};
constexpr std::size_t reach = 110, near = 140, most_places = 60;

template <typename List>
bool any_in(std::string_view text, const List& words) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// Where one of the words begins a word: "wsl" is no part of "newsletter".
std::size_t find_thing(std::string_view text, std::string_view thing, std::size_t from) {
  std::size_t at = text.find(thing, from);
  while (at != std::string_view::npos && at > 0 && ascii::is_lower(text[at]) && ascii::is_lower(text[at - 1]))
    at = text.find(thing, at + 1);
  return at;
}

// Where a sentence names the setting first; npos: nowhere.
std::size_t names_setting(std::string_view said, const Case& one) {
  std::size_t first = std::string_view::npos;
  for (const std::string_view thing : one.things) first = std::min(first, find_thing(said, thing, 0));
  return first;
}

bool names_any_setting(std::string_view said) {
  return std::any_of(all_cases().begin(), all_cases().end(), [said](const Case& one) {
    return one.said.size() == 0 && names_setting(said, one) != std::string_view::npos;
  });
}

// A setting, in a sentence that says that something changes nothing; of several the first. Where that
// sentence names none ("memory is as high as without"), the one before it does.
bool shows_setting(std::string_view folded, const Prose& prose, const Case& one, CaseShown& out) {
  std::size_t before = 0;  // where the sentence begins that stands before
  for (const Sentence& sentence : prose.sentences) {
    const std::size_t from = before;
    before = sentence.at;
    if (!sentence.says(Say::no_effect)) continue;
    const std::string_view said = folded.substr(sentence.at, sentence.size);
    std::size_t first = names_setting(said, one);
    if (first != std::string_view::npos) {
      first += sentence.at;
    } else if (!names_any_setting(said)) {
      constexpr std::size_t longest = 400;
      const std::size_t start = sentence.at - std::min(sentence.at - from, longest);
      first = names_setting(folded.substr(start, sentence.at - start), one);
      if (first != std::string_view::npos) first += start;
    }
    if (first == std::string_view::npos) continue;
    out = {&one, first_bytes(said, 100), first};
    return true;
  }
  return false;
}

// Who fills what memory goes over several sentences.
bool shows_end(std::string_view folded, const Case& one, CaseShown& out) {
  for (const std::string_view thing : one.things) {
    std::size_t places = 0;
    for (std::size_t at = find_thing(folded, thing, 0); at != std::string_view::npos && places < most_places;
         at = find_thing(folded, thing, at + thing.size()), ++places) {
      const std::size_t from = at > near ? at - near : 0;
      if (!any_in(folded.substr(from, at - from + thing.size() + near), one.said)) continue;
      out = {&one, first_bytes(sentence_around(folded, at, thing.size(), reach), 100), at};
      return true;
    }
  }
  return false;
}

bool shows(std::string_view folded, const Prose& prose, const Case& one, CaseShown& out) {
  for (const std::string_view word : one.alone) {
    const std::size_t at = folded.find(word);
    if (at == std::string_view::npos) continue;
    out = {&one, first_bytes(folded.substr(at, reach), 100), at, true};
    out.words = out.words.substr(0, out.words.find('\n'));
    return true;
  }
  return one.said.size() == 0 ? shows_setting(folded, prose, one, out) : shows_end(folded, one, out);
}

}  // namespace

bool speaks_of_memory(const CaseShown& one, std::string_view folded) {
  if (one.what->speaks) return true;
  constexpr std::string_view memory[] = {"memory", "vram", "显存", " gb", "speicher"};
  const std::string_view said = sentence_around(folded, one.at, 1, reach);
  const bool prose = one.alone || std::count(said.begin(), said.end(), ' ') >= 4 || any_in(said, chinese);
  const std::size_t from = one.at > near ? one.at - near : 0;
  return one.what->undo != nullptr && prose && any_in(folded.substr(from, 2 * near), memory);
}

std::vector<CaseShown> cases_in(const Text& text, const Prose& prose) {
  const std::string_view folded = std::string_view(text.folded_lines).substr(0, longest_prose);
  std::vector<CaseShown> out;
  for (const Case& one : all_cases()) {
    CaseShown found;
    if (!shows(folded, prose, one, found)) continue;
    // "Checkpointing does not change the memory of FSDP workers": of one sentence the setting named first is
    // meant.
    const auto same = std::find_if(out.begin(), out.end(), [&](const CaseShown& other) {
      return !found.alone && !other.alone && one.said.size() == 0 && other.words == found.words;
    });
    if (same == out.end()) {
      out.push_back(std::move(found));
    } else if (found.at < same->at) {
      *same = std::move(found);
    }
  }
  return out;
}

}  // namespace plimsoll::diagnosis
