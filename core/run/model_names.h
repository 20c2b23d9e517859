// Which preset a name means that no list holds: a local copy, a quantised copy, a spelling of one's own.
//
//     NamedModel found = find_by_name(catalog, "/data/Meta-Llama-3-8B-Instruct/");
//     found.entry->preset.id;   // "meta-llama-3-8b"
//     found.how;                // "read as meta-llama/Meta-Llama-3-8B-Instruct from the last part of the name"
//
// A listed name (id, hub id, alias, checkpoint of the same shapes) is taken as it is. Any other is a guess,
// and `how` says so: the last part of a path, less what copies and tuned versions add to a name (-Instruct,
// -bnb-4bit, -GPTQ), spelled with or without hyphens. Sizes and version numbers are never dropped.
#pragma once

#include <string>
#include <string_view>

#include "core/run/catalog.h"

namespace plimsoll::run {

struct NamedModel {
  const ModelEntry* entry = nullptr;  ///< null: nothing like it
  std::string how;                    ///< what was guessed, for a person; "" when the name is listed
  std::string_view known;             ///< the listed name that it was taken for, of the catalog's
};
NamedModel find_by_name(const Catalog& catalog, std::string_view name);

/// The hub's own name of a preset's id, alias or checkpoint that is written without its owner, as what loads
/// models needs it: "gemma-3-4b-it" is "google/gemma-3-4b-it". Any other name as it is.
std::string hub_id(const Catalog& catalog, std::string_view name);

/// The part of a checkpoint's name that says its weights are stored quantised ("bnb-4bit", "AWQ"), or "".
std::string_view packing_in(std::string_view name);

/// The quantization of a checkpoint that is stored in few bits and loads so, though no key says it: of
/// "unsloth/mistral-7b-bnb-4bit" {"load_in_4bit": true, ...}. Null of any other name.
json::Json stored_quantization(std::string_view model);

}  // namespace plimsoll::run
