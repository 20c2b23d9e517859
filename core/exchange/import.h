// Any configuration to a request, with a word on every key of it.
//
//     Document document = exchange::read_text(text);           // or from_wire(tree) for YAML
//     Import import = exchange::import_document(document, text);
//     import.format->name;                                      // "Axolotl"
//     import.request;                                           // {"model": "...", "stack": "axolotl", ...}
//     for (const Finding& key : import.findings) ...            // used, implied, irrelevant, unsupported, unknown
//
// A text that is no training configuration gives errors and says which it took it for. A part of one (a
// DeepSpeed file, an adapter_config.json without its base) gives a request without "model" and `partial`.
#pragma once

#include "core/exchange/format.h"
#include "core/run/essentials.h"

namespace plimsoll::exchange {

struct Import {
  const Format* format = nullptr;
  json::Json request;  ///< null when there are errors
  std::string model;   ///< the name the text gives, as it stands; "" none
  std::string card;    ///< the GPU, likewise; see Document::card
  bool partial = false;
  bool command = false;  ///< the text starts a program, whose flags win over its files
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  std::vector<run::Missing> missing;  ///< filled where the presets are known, see core/run/essentials.h
  json::Errors errors;  ///< codes: those of tree.h, unknown_format, not_training, settings_elsewhere
};

Import import_document(const Document& document, std::string_view text);

/// The tree that the formats' tables describe: of Python source the calls as sections, else the document.
Document prepared(const Document& document);

/// A prepared document by the tables of one format, whatever others would claim.
Import import_prepared(const Document& document, std::string_view text, const Format& format);

/// The format that claims most of the keys, null when none does.
const Format* recognise(const Document& document);

/// Versions of libraries that stand in `text`, for the fields that the import does not have. Where the text
/// is nothing but such a list, the import becomes a part of a request with these alone.
/// Outputs of a notebook count unless they deny what its cells install.
void add_versions(Import& import, const Document& document, std::string_view text);

/// Values by pointer to a nested request; "/peft": true alone is an empty section.
json::Json nest(const recipe::Values& values);

}  // namespace plimsoll::exchange
