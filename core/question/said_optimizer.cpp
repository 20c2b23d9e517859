#include <algorithm>
#include <utility>

#include "core/json/ascii.h"
#include "core/question/said_methods.h"
#include "core/question/said_switches.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::question {

namespace {

using Parts = std::vector<std::string_view>;

Parts id_parts(std::string_view id) {
  Parts parts;
  while (!id.empty()) {
    const std::size_t end = std::min(id.find('_'), id.size());
    parts.push_back(id.substr(0, end));
    id.remove_prefix(std::min(end + 1, id.size()));
  }
  return parts;
}

// What says how an optimizer is built, and not which one it is.
bool is_common(std::string_view part) {
  constexpr std::string_view common[] = {"paged", "torch", "bnb",  "hf",        "apex", "fused",
                                         "for",   "loop",  "8bit", "4bit",      "fp8",  "32bit",
                                         "none",  "free",  "step", "layerwise", "adam", "momentum"};
  return std::find(std::begin(common), std::end(common), part) != std::end(common);
}

std::string_view optimizer_part(std::string_view word) { return word == "adam" ? "adamw" : word; }

bool names_an_optimizer(std::string_view word) {
  const std::string_view part = optimizer_part(word);
  if (is_common(part)) return false;
  return std::any_of(recipe::optimizers().begin(), recipe::optimizers().end(), [&](const auto& row) {
    const Parts parts = id_parts(row.id);
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  });
}

// The words around `at` that may be of the same name: up to what stands between two of which one is taken.
std::pair<std::size_t, std::size_t> name_around(const SaidWords& words, std::size_t at) {
  constexpr std::size_t reach = 3;
  std::size_t first = at > reach ? at - reach : 0, end = std::min(words.size(), at + reach + 1);
  for (std::size_t i = first; i < at; ++i) {
    const std::size_t count = words[i].text == "to" ? 1 : rather_at(words, i);
    if (count > 0) first = std::min(at, i + count);
  }
  for (std::size_t i = at + 1; i < end; ++i) {
    if (words[i].text == "to" || rather_at(words, i) > 0) end = i;
  }
  return {first, end};
}

// How well an optimizer's name is said around the word at `at`: its parts, less those that are not there.
int likeness_of(std::string_view id, const SaidWords& words, std::size_t at, bool eight) {
  const auto [first, end] = name_around(words, at);
  // "AdamW or 8-bit AdamW": of two that are weighed each has its own words.
  if (weighs(words)) {
    eight = false;
    for (std::size_t i = first; i < end; ++i) eight = eight || is_of_bits(words, i, 8);
  }
  int like = 0;
  const Parts parts = id_parts(id);
  if (std::find(parts.begin(), parts.end(), optimizer_part(words[at].text)) == parts.end()) return 0;
  for (const std::string_view part : parts) {
    // "QLoRA in 4 bits with AdamW" has them of its base.
    bool said = part == "8bit" && eight;
    for (std::size_t i = first; i < end && part != "4bit" && part != "fp8"; ++i)
      said = said || optimizer_part(words[i].text) == part || (part == "32bit" && is_of_bits(words, i, 32)) ||
             (part == "torch" && words[i].text == "torchao");
    if (part == "paged") said = says(words, part);
    like += said ? 2 : part == "32bit" ? 0 : -1;
  }
  return like;
}

std::string_view optimizer_at(const SaidWords& words, std::size_t at, bool eight) {
  std::string_view found;
  int best = 0;
  for (const recipe::Optimizer& row : recipe::optimizers()) {
    const int like = likeness_of(row.id, words, at, eight);
    if (like > best) {
      found = row.id;
      best = like;
    }
  }
  return found;
}

// "The Sophia optimizer": a name that no row has.
void read_unknown_optimizer(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out) {
  for (std::size_t at = 1; at < words.size() && is_brief(words); ++at) {
    if (!words[at].text.starts_with("optimi") || words[at - 1].stops()) continue;
    const std::string_view name = as_written(text, words[at - 1]);
    const bool proper = name.size() > 2 && name.front() >= 'A' && name.front() <= 'Z';
    const bool mine = names_an_optimizer(words[at - 1].text) || is_common(words[at - 1].text) ||
                      words[at - 1].text == "deepspeed" || words[at - 1].text == "cpu";
    if (proper && !mine && affirms_at(words, at - 1))
      out.unread.push_back("the optimizer " + std::string(name));
  }
}

// GaLore and APOLLO project the gradients of the layers that they are told of.
void set_optimizer(const std::string& id, SaidRequest& out) {
  out.values["/training/optim"] = id;
  const recipe::Optimizer* known = recipe::find_optimizer(id);
  if (known == nullptr || known->projection == recipe::Projection::none) return;
  out.values.emplace("/training/optim_target_modules", "all-linear");
  if (out.method) return;
  out.method = true;
  out.methods.push_back(Method::full);
}

}  // namespace

bool is_of_bits(const SaidWords& words, std::size_t at, double bits) {
  if (words[at].number != bits) return false;
  return words[at].unit == "bit" || (words[at].is_bare() && phrase_at(words, at + 1, "bit") > 0);
}

EightBits eight_bits(const SaidWords& words) {
  EightBits found;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (!is_of_bits(words, at, 8) && words[at].text != "int8") continue;
    bool optimizer = false;
    for (std::size_t near = at > 2 ? at - 2 : 0; near < std::min(words.size(), at + 4); ++near) {
      const std::string_view word = words[near].text;
      optimizer = optimizer || names_an_optimizer(word) || word.starts_with("optim") || word == "paged" ||
                  word == "states";
    }
    (optimizer ? found.optimizer : found.base) = true;
  }
  return found;
}

bool affirms_at(const SaidWords& words, std::size_t at) {
  const SaidWords here(words.begin() + static_cast<std::ptrdiff_t>(at > 1 ? at - 2 : 0),
                       words.begin() + static_cast<std::ptrdiff_t>(std::min(words.size(), at + 3)));
  return affirms(here, words[at].text);
}

std::string_view as_written(const diagnosis::Text& text, const SaidWord& word) {
  const auto at = static_cast<std::size_t>(word.text.data() - text.folded_lines.data());
  return std::string_view(text.lines).substr(at, word.text.size());
}

void read_optimizer(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out) {
  const bool eight = eight_bits(words).optimizer;
  std::vector<json::Json> found;
  bool named = false;
  for (std::size_t at = 0; at < words.size(); ++at) {
    // "Lion instead of AdamW" names both.
    const bool other = at > 1 && phrase_at(words, at - 2, "instead of") > 0;
    if (!names_an_optimizer(words[at].text) || (!affirms_at(words, at) && !other)) continue;
    named = true;
    const std::string id(optimizer_at(words, at, eight));
    const bool known = std::find(found.begin(), found.end(), json::Json(id)) != found.end();
    if (!id.empty() && !known) found.emplace_back(id);
  }
  if (found.size() == 2 && weighs(words) && is_brief(words)) {
    out.weighed["/training/optim"] = found;
    return;
  }
  // "What would 8-bit Adam save me?" is held against what is taken where nothing is said.
  const bool plain = found.size() == 1 && recipe::plain_adamw(found.front().get<std::string>());
  if (found.size() == 1 && !plain && asks_what_it_brings(words)) {
    out.weighed["/training/optim"] = {"adamw_torch", found.front()};
    return;
  }
  // Plain AdamW is what is taken where nothing is said, and what stands beside Muon is for what Muon leaves out.
  const auto other = std::find_if(found.begin(), found.end(), [](const json::Json& id) {
    return !recipe::plain_adamw(id.get<std::string>());
  });
  if (other != found.end()) set_optimizer(other->get<std::string>(), out);
  const bool optimizer = says(words, "optimizer") || says(words, "optimiser");
  if (!named && optimizer && says(words, "paged"))
    out.values["/training/optim"] = eight ? "paged_adamw_8bit" : "paged_adamw_32bit";
  if (!named) read_unknown_optimizer(text, words, out);
}

}  // namespace plimsoll::question
