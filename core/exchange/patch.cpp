#include "core/exchange/patch.h"

#include "core/exchange/notebook.h"
#include "core/exchange/patcher.h"
#include "core/exchange/render.h"
#include "core/exchange/request_fields.h"
#include "core/exchange/tree_paths.h"
#include "core/recipe/fields.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

bool is_environment(std::string_view pointer) { return pointer == "/hardware/PYTORCH_CUDA_ALLOC_CONF"; }

std::string reason(const std::string& pointer, Node& root) {
  const Node* named = find_path(root, "deepspeed");
  if (named != nullptr && named->value.is_string() && pointer.rfind("/parallel/zero_optimization/", 0) == 0)
    return "\"" + named->raw + "\" says this: change it there, or name another file";
  if (is_environment(pointer)) return "an environment variable: set it where the run is started";
  if (pointer.rfind("/hardware/", 0) == 0 || pointer.rfind("/data/", 0) == 0 || pointer == "/locks" ||
      pointer == "/stack" || pointer.rfind("/versions/", 0) == 0) {
    return "such a file does not say this";
  }
  return "this file has no key that says it, or no place for one";
}

}  // namespace

std::vector<Change> changes_between(const Json& before, const Json& after) {
  const recipe::Values from = fields_of(before), to = fields_of(after);
  std::vector<Change> changes;
  for (const auto& [pointer, value] : to) {
    if (!says(from, pointer, &value)) changes.push_back({pointer, value});
  }
  for (const auto& [pointer, value] : from) {
    if (to.count(pointer) == 0) changes.push_back({pointer, nullptr});
  }
  return changes;
}

json::Error unreadable_with_changes() {
  return {"not_writable", "",
          "With the changes this file would be read as something else: it is not clean as it is.",
          "a file that its own tool reads"};
}

Patch patch_document(const Document& given, std::string_view text, const std::vector<Change>& changes) {
  Patch patch;
  Import import = import_document(given, text);
  patch.format = import.format;
  patch.errors = import.errors;
  if (!patch.errors.empty()) return patch;
  // A model's config.json or index says nothing of a run.
  const bool only_model = import.format->written == Language::none && import.format->stack.empty();
  if (only_model || given.language == Language::link) {
    patch.errors.push_back({"not_writable", "",
                            "This kind of file describes something else than a run's settings, so there is "
                            "nothing in it to change.",
                            "a training configuration"});
    return patch;
  }
  const Document document = prepared(given);
  const Format& format = *import.format;
  Patcher patcher(document, format, text, std::move(import));
  patcher.run(changes);
  patch.request = patcher.import().request;
  patch.edits = patcher.edits();
  patch.text = edited(text, patch.edits);
  // Read again: a script may work out one setting from another, and a text that is not quite of its language
  // (a quote that never ends) may say something else with a line more. YAML is read again by whoever has its
  // parser.
  if (given.language != Language::yaml) {
    const bool cells = !given.code.empty();
    Import again = import_document(cells ? read_cells(patch.text) : read_text(patch.text), patch.text);
    if (!again.errors.empty() || !patcher.keeps_what_it_said(again.request)) {
      patch.errors.push_back(unreadable_with_changes());
      return patch;
    }
    patch.request = std::move(again.request);
  }
  patch.diff = line_diff(text, patch.text);
  for (const KeyChange& change : patcher.keys()) {
    Node root = document.root;
    const bool was = find_path(root, change.key) != nullptr;
    const auto how = !change.value ? Patch::Key::How::removed
                     : was         ? Patch::Key::How::replaced
                                   : Patch::Key::How::added;
    patch.keys.push_back({change.pointer, change.key, how});
  }
  for (const auto& [pointer, wanted] : patcher.wanted()) {
    const bool section = recipe::is_section_mark(pointer, wanted);
    const bool said = section ? inside(patcher.values(), pointer) : says(patcher.values(), pointer, &wanted);
    Node root = document.root;
    if (!said) patch.left_out.push_back({pointer, reason(pointer, root), wanted});
  }
  return patch;
}

}  // namespace plimsoll::exchange
