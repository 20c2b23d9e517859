// A configuration being changed: keys are tried, and taken where they bring the file nearer to what is asked.
//
//     Patcher patcher(document, format, text, import);
//     patcher.run(changes);
//     patcher.edits();                   // what is to be written where
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exchange/import.h"
#include "core/exchange/patch.h"
#include "core/exchange/patch_sites.h"
#include "core/exchange/request_fields.h"

namespace plimsoll::exchange {

class Patcher {
 public:
  Patcher(const Document& document, const Format& format, std::string_view text, Import import)
      : document_(document), format_(format), text_(text), import_(std::move(import)) {
    values_ = fields_of(import_.request);
  }

  void run(const std::vector<Change>& changes);
  const recipe::Values& wanted() const { return wanted_; }
  const recipe::Values& values() const { return values_; }
  const Import& import() const { return import_; }
  /// Whether another reading says of the wanted fields what this one does.
  bool keeps_what_it_said(const json::Json& request) const;
  const std::vector<KeyChange>& keys() const { return keys_; }
  const std::vector<Edit>& edits() const { return edits_; }

 private:
  void approach();
  // What has no key here may have one under other names.
  bool say_otherwise();
  void restore(Patcher before);
  void aim(const Change& change);
  void aim_field(const std::string& pointer, const json::Json& asked);
  recipe::Values restored(recipe::Values target, const std::string& pointer) const;
  const Row* row_of(std::string_view path) const;
  bool change_one(const std::string& pointer, const json::Json& wanted);
  // Keys that say a field below the blocks of the file that say others of its section, fullest block first.
  std::vector<std::string> paths_beside(const std::string& pointer, const json::Json& wanted) const;
  bool has_dict_of(const std::string& below, const Row& row) const;
  Writing composed(const recipe::Values& values) const;
  std::vector<KeyChange> written_difference(const recipe::Values& with) const;
  // A list that is no field of a request, as Axolotl's plugins: what the file has there stays.
  json::Json with_file(const Entry& entry) const;
  // What write_python_calls makes of a text in which Unsloth loads the model to be trained in full.
  static void load_for_adapters(Node& root);
  // Takes key changes when they bring the file nearer to what is asked, or at least no further away.
  enum class Needed : uint8_t { nearer, no_further };
  bool take(const std::vector<KeyChange>& more, Needed needed = Needed::nearer);

  const Document& document_;
  const Format& format_;
  std::string_view text_;
  Import import_;
  recipe::Values values_, target_, wanted_;
  std::vector<KeyChange> keys_;
  std::vector<Edit> edits_;
};

}  // namespace plimsoll::exchange
