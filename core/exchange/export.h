// A request in the words of another tool.
//
//     recipe::Request given = recipe::read_request(request, errors);
//     Export written = exchange::export_as(*find_format("axolotl"), given);
//     written.text;       // YAML that Axolotl takes
//     written.left_out;   // pointers that this format cannot say: {"/hardware/gpu"}
//
// Importing the text again gives the request without what was left out.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

struct Export {
  std::string text;
  std::vector<std::string> left_out;
};

/// `given` is what the request states, no more: defaults of the request's stack that the format's own stack
/// does not share must be among it (report/exchange.h completes them).
Export export_as(const Format& format, const recipe::Request& given);

/// Why a file of this format would be of another training: a task, a model, adapters that it cannot say. Nothing:
/// it can say all that it needs.
std::optional<json::Error> export_refusal(const Format& format, const recipe::Request& given);

/// The keys and values alone, in the order of the format's tables.
Writing compose(const Format& format, const recipe::Request& given);

/// Whether the task has no use for a field: what a file says of it would tell its reader of another task.
bool is_idle(const recipe::Values& values, std::string_view pointer);

/// Whether the format's own parser stops at a key with this value in a file for the task.
bool is_refused(const Format& format, std::string_view task, std::string_view key, const json::Json& value);

/// Where a key stands in the tables, so that a file has the order that its readers are used to; beyond the
/// last row: in none.
size_t order_of(const Format& format, std::string_view key);

/// A value in the language of a file: a YAML scalar or flow list, JSON, a Python literal, a shell word. `key`
/// decides in Python whether a word is torch's ("dtype").
std::string literal(Language language, std::string_view key, const json::Json& value);

}  // namespace plimsoll::exchange
