#include "core/exchange/patcher.h"

#include <algorithm>

#include "core/exchange/export.h"
#include "core/exchange/render.h"
#include "core/exchange/tree_paths.h"
#include "core/recipe/fields.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

constexpr size_t most_changes = 64;

// What a field comes to in others, for formats that have only those.
struct Meaning {
  std::string_view pointer, value;
  std::string_view others;  ///< switches that are on
};
constexpr Meaning meanings[] = {
    {"/training/use_liger_kernel", "true",
     "/training/liger_kernel_config/rms_norm /training/liger_kernel_config/swiglu "
     "/training/liger_kernel_config/rope /training/liger_kernel_config/fused_linear_cross_entropy"},
    {"/training/loss_kernel", "\"liger\"", "/training/liger_kernel_config/fused_linear_cross_entropy"},
};

}  // namespace

void Patcher::run(const std::vector<Change>& changes) {
  target_ = values_;
  for (const Change& change : changes) aim(change);
  approach();
  if (distance(values_, target_) == 0) return;
  (void)take(written_difference(target_), Needed::no_further);
  if (say_otherwise()) approach();
}

bool Patcher::keeps_what_it_said(const Json& request) const {
  const recipe::Values again = fields_of(request);
  return std::all_of(wanted_.begin(), wanted_.end(), [&](const auto& field) {
    return says(again, field.first, &field.second) == says(values_, field.first, &field.second);
  });
}

void Patcher::approach() {
  bool moved = true;
  while (moved && distance(values_, target_) > 0) {
    moved = false;
    for (const auto& [pointer, wanted] : wanted_) {
      if (!says(values_, pointer, &wanted)) moved = change_one(pointer, wanted) || moved;
    }
  }
}

bool Patcher::say_otherwise() {
  bool any = false;
  for (const Meaning& meaning : meanings) {
    const std::string pointer(meaning.pointer);
    const auto found = wanted_.find(pointer);
    if (found == wanted_.end() || says(values_, pointer, &found->second) ||
        json::write(found->second) != meaning.value)
      continue;
    Patcher before = *this;
    target_ = restored(target_, pointer);
    wanted_.erase(pointer);
    for (std::string_view rest = meaning.others; !rest.empty();) {
      const size_t blank = std::min(rest.find(' '), rest.size());
      aim_field(std::string(rest.substr(0, blank)), true);
      rest.remove_prefix(std::min(blank + 1, rest.size()));
    }
    approach();
    bool all = true;
    for (const auto& [other, value] : wanted_)
      all = all && (before.wanted_.count(other) != 0 || says(values_, other, &value));
    any = any || all;
    if (!all) restore(std::move(before));
  }
  return any;
}

void Patcher::restore(Patcher before) {
  import_ = std::move(before.import_);
  values_ = std::move(before.values_);
  target_ = std::move(before.target_);
  wanted_ = std::move(before.wanted_);
  keys_ = std::move(before.keys_);
  edits_ = std::move(before.edits_);
}

void Patcher::aim(const Change& change) {
  const std::string below = change.pointer + "/";
  const bool leaf = recipe::find_field(change.pointer) != nullptr || change.pointer == "/model";
  if (leaf) {
    aim_field(change.pointer, change.to);
    return;
  }
  // A whole section: what it does not name is no longer stated.
  for (const auto& [pointer, value] : values_) {
    if (pointer == change.pointer || pointer.compare(0, below.size(), below) == 0)
      aim_field(pointer, nullptr);
  }
  recipe::Values inner;
  if (!change.to.is_null()) flatten(change.to, change.pointer, inner);
  for (const auto& [pointer, value] : inner) aim_field(pointer, value);
}

void Patcher::aim_field(const std::string& pointer, const Json& asked) {
  // PEFT knows the word alone; in a list it is a module's name.
  const Json to = asked == Json::array({"all-linear"}) ? Json("all-linear") : asked;
  if (says(values_, pointer, &to)) {
    target_ = restored(target_, pointer);
    wanted_.erase(pointer);
    return;
  }
  wanted_[pointer] = to;
  if (to.is_null()) {
    target_.erase(pointer);
  } else {
    target_[pointer] = to;
  }
}

recipe::Values Patcher::restored(recipe::Values target, const std::string& pointer) const {
  const auto found = values_.find(pointer);
  if (found == values_.end()) {
    target.erase(pointer);
  } else {
    target[pointer] = found->second;
  }
  return target;
}

const Row* Patcher::row_of(std::string_view path) const {
  for (const Section& section : format_.sections) {
    std::string_view key = path;
    if (!section.below.empty()) {
      if (key.size() <= section.below.size() || key.substr(0, section.below.size()) != section.below ||
          key[section.below.size()] != '.')
        continue;
      key.remove_prefix(section.below.size() + 1);
    }
    for (const Row& row : section.table->rows) {
      if (row.key == key) return &row;
    }
  }
  return nullptr;
}

bool Patcher::change_one(const std::string& pointer, const Json& wanted) {
  std::vector<std::string> said;
  for (const Finding& found : import_.findings) {
    if (found.pointer == pointer && found.use != Use::irrelevant) said.push_back(found.path);
  }
  // The key that says it now, in its own words.
  for (const std::string& path : said) {
    if (wanted.is_null()) {
      if (take({{path, std::nullopt, pointer}})) return true;
      continue;
    }
    const Row* row = row_of(path);
    const Json theirs = row == nullptr ? wanted : foreign_value(*row, wanted);
    if (take({{path, theirs, pointer}})) return true;
    if (theirs != wanted && take({{path, wanted, pointer}})) return true;
    if (path.size() > 1 && wanted.is_boolean() && take({{path, std::nullopt, pointer}})) return true;
  }
  // Beside its like, where the file has such a block.
  if (!wanted.is_null() && said.empty()) {
    for (const std::string& path : paths_beside(pointer, wanted)) {
      if (take({{path, foreign_value(*row_of(path), wanted), pointer}})) return true;
    }
  }
  // As this format writes it: often several keys.
  recipe::Values with = values_;
  if (wanted.is_null()) {
    with.erase(pointer);
  } else {
    with[pointer] = wanted;
  }
  std::vector<KeyChange> composed = written_difference(with);
  if (take(composed)) return true;
  for (const std::string& path : said) {
    const bool named = std::any_of(composed.begin(), composed.end(),
                                   [&path](const KeyChange& change) { return change.key == path; });
    if (!named) composed.push_back({path, std::nullopt, pointer});
  }
  return !said.empty() && take(composed);
}

// No export writes dtype into model_init_kwargs, but a file that has that dict has a place for it.
bool Patcher::has_dict_of(const std::string& below, const Row& row) const {
  const size_t dot = row.key.rfind('.');
  if (dot == std::string_view::npos || row.read != nullptr || row.is_switch) return false;
  const std::string dict = below + std::string(row.key.substr(0, dot + 1));
  return std::any_of(import_.findings.begin(), import_.findings.end(),
                     [&dict](const Finding& found) { return found.path.starts_with(dict); });
}

std::vector<std::string> Patcher::paths_beside(const std::string& pointer, const Json& wanted) const {
  const std::string section = pointer.substr(0, pointer.find('/', 1) + 1);
  std::vector<std::pair<size_t, std::string>> ranked;
  const auto said = values_.find("/task");
  const std::string task = said == values_.end() ? "sft" : said->second.get<std::string>();
  for (const Section& place : format_.sections) {
    const std::string below = std::string(place.below) + ".";
    size_t like = 0;
    for (const Finding& found : import_.findings) {
      const bool inside_block = found.path.compare(0, below.size(), below) == 0;
      like += inside_block && found.pointer.compare(0, section.size(), section) == 0 ? 1 : 0;
    }
    if (place.below.empty()) continue;
    for (const Row& row : place.table->rows) {
      if (row.pointer != pointer || row.key.back() == '*') continue;
      if (!has_dict_of(below, row) && (like == 0 || !can_write(row, wanted))) continue;
      if (is_refused(format_, task, below + std::string(row.key), foreign_value(row, wanted))) continue;
      ranked.emplace_back(like, below + std::string(row.key));
      break;
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> paths;
  for (auto& [like, path] : ranked) paths.push_back(std::move(path));
  return paths;
}

Writing Patcher::composed(const recipe::Values& values) const {
  recipe::Request given;
  given.values = values;
  if (const auto model = values.find("/model"); model != values.end()) {
    if (model->second.is_string()) given.model_id = model->second.get<std::string>();
    given.values.erase("/model");
  }
  return compose(format_, given);
}

std::vector<KeyChange> Patcher::written_difference(const recipe::Values& with) const {
  const Writing now = composed(values_), then = composed(with);
  std::vector<KeyChange> changes;
  for (const Entry& entry : then.entries) {
    const auto old = std::find_if(now.entries.begin(), now.entries.end(),
                                  [&entry](const Entry& other) { return other.key == entry.key; });
    if (old == now.entries.end() || old->value != entry.value)
      changes.push_back({entry.key, with_file(entry), entry.pointer});
  }
  for (const Entry& entry : now.entries) {
    if (!then.wrote(entry.key)) changes.push_back({entry.key, std::nullopt, entry.pointer});
  }
  return changes;
}

Json Patcher::with_file(const Entry& entry) const {
  Node root = document_.root;
  const Node* node = find_path(root, entry.key);
  if (!entry.pointer.empty() || !entry.value.is_array() || node == nullptr || !node->is_list())
    return entry.value;
  Json all = Json::array();
  for (const Node& item : node->items) all.push_back(item.value);
  for (const Json& item : entry.value) {
    if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(item);
  }
  return all;
}

void Patcher::load_for_adapters(Node& root) {
  Node* full = find_path(root, "model.full_finetuning");
  if (full == nullptr || full->value != Json(true)) return;
  *full = node_of(Json(false));
  if (find_path(root, "model.load_in_4bit") == nullptr)
    plant(root, "model.load_in_4bit", node_of(Json(false)));
}

bool Patcher::take(const std::vector<KeyChange>& more, Needed needed) {
  if (more.empty() || more.size() > most_changes) return false;
  const bool has_variables = document_.language == Language::python || document_.language == Language::shell;
  for (const KeyChange& change : more) {
    if (!has_variables && change.key[0] == '$') return false;
  }
  std::vector<KeyChange> all = keys_;
  for (const KeyChange& change : more) {
    const auto old = std::find_if(all.begin(), all.end(),
                                  [&change](const KeyChange& other) { return other.key == change.key; });
    if (old == all.end()) {
      all.push_back(change);
    } else {
      *old = change;
    }
  }
  Document tried = document_;
  std::vector<KeyChange> kept;
  for (const KeyChange& change : all) {
    Node* node = find_path(tried.root, change.key);
    if (!change.value) {
      if (node == nullptr) continue;
      (void)remove_path(tried.root, change.key);
    } else if (node != nullptr) {
      const Span span = node->span;
      const Node by = node_of(*change.value);
      *node = by;
      if (span.length > 0) replace_span(tried.root, span, by);
    } else {
      if (!has_room(tried.root, change.key)) return false;
      plant(tried.root, change.key, node_of(*change.value));
    }
    kept.push_back(change);
    if (change.value && change.key.rfind("peft", 0) == 0) load_for_adapters(tried.root);
  }
  std::vector<Edit> edits;
  if (!write_keys(document_, format_, text_, kept, edits)) return false;
  Import import = import_prepared(tried, text_, format_);
  if (!import.errors.empty()) return false;
  recipe::Values values = fields_of(import.request);
  // As near, but with a setting gone that is to be said: its old value was better than the tool's default.
  const bool loses = std::any_of(target_.begin(), target_.end(), [&](const auto& field) {
    return values_.count(field.first) != 0 && values.count(field.first) == 0;
  });
  if (needed == Needed::no_further && loses) return false;
  const size_t before = distance(values_, target_), after = distance(values, target_);
  if (needed == Needed::no_further ? after > before : after >= before) return false;
  keys_ = std::move(kept);
  edits_ = std::move(edits);
  import_ = std::move(import);
  values_ = std::move(values);
  return true;
}

}  // namespace plimsoll::exchange
