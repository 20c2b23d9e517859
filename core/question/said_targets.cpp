#include "core/question/said_targets.h"

#include <algorithm>

#include "core/json/ascii.h"
#include "core/run/model_names.h"

namespace plimsoll::question {

namespace {

using model::Role;

struct Target {
  std::string name;  // "q_proj"
  Role role;
};

// The linear modules of the text layers, each name once.
std::vector<Target> targets_of(const model::Architecture& network) {
  std::vector<Target> out;
  for (const model::LayerGroup& group : network.stacks.front().groups) {
    for (const model::Linear& linear : group.linears) {
      std::string name = linear.path.substr(linear.path.rfind('.') + 1);
      const bool known =
          std::any_of(out.begin(), out.end(), [&name](const Target& one) { return one.name == name; });
      if (!known && !linear.expert) out.push_back({std::move(name), linear.role});
    }
  }
  return out;
}

bool is_of_attention(Role role) {
  return role == Role::q || role == Role::k || role == Role::v || role == Role::o || role == Role::qkv;
}

// "q_proj" as a name of its own.
bool stands_in(std::string_view folded, const std::string& name) {
  for (std::size_t at = folded.find(name); at != std::string_view::npos; at = folded.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !ascii::is_word(folded[at - 1]);
    if (begins && (end == folded.size() || !ascii::is_word(folded[end]))) return true;
  }
  return false;
}

// "q,k,v,o", "q and v", "qkvo": letters of the attention's projections, two at least.
bool says_letter(const SaidWords& words, std::string_view letter) {
  constexpr std::string_view joined[] = {"qv", "qkv", "qkvo"};
  std::size_t letters = 0;
  bool found = false;
  for (const SaidWord& word : words) {
    if (std::find(std::begin(joined), std::end(joined), word.text) != std::end(joined))
      return word.text.find(letter) != std::string_view::npos;
    const bool one = word.text == "q" || word.text == "k" || word.text == "v" || word.text == "o";
    letters += one ? 1 : 0;
    found = found || word.text == letter;
  }
  return found && letters > 1 && says(words, "q");
}

std::string_view letter_of(Role role) {
  return role == Role::q ? "q" : role == Role::k ? "k" : role == Role::v ? "v" : role == Role::o ? "o" : "";
}

}  // namespace

void read_targets(std::string_view folded, const SaidWords& words, const run::Catalog& catalog,
                  SaidRequest& out) {
  if (!is_brief(words) || weighs(words) || out.values.count("/peft") == 0) return;
  const run::ModelEntry* entry = run::find_by_name(catalog, out.model.empty() ? out.like : out.model).entry;
  if (entry == nullptr) return;
  const bool attention = says(words, Means::attention_alone);
  json::Json named = json::Json::array();
  for (const Target& target : targets_of(entry->network)) {
    const std::string_view letter = letter_of(target.role);
    if (stands_in(folded, target.name) || (attention && is_of_attention(target.role)) ||
        (!letter.empty() && says_letter(words, letter)))
      named.push_back(target.name);
  }
  if (!named.empty()) out.values["/peft/target_modules"] = named;
}

}  // namespace plimsoll::question
