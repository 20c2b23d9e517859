// How every answer begins: schema, version, and what was wrong with the request.
//
//     if (!run) return refusal(errors);
//     out.open_object();
//     write_heading(out, {});
#pragma once

#include <string>

#include "core/json/writer.h"
#include "core/model/architecture.h"

namespace plimsoll::report {

/// "schema", "core", "ok", "errors"
void write_heading(json::Writer& out, const json::Errors& errors);

/// The list alone: [{"code", "pointer", "message", "allowed"}].
void write_errors(json::Writer& out, const json::Errors& errors);

/// A whole answer that says only what was wrong.
std::string refusal(const json::Errors& errors);

/// [{"code", "message", "source"}]
void write_notes(json::Writer& out, const std::vector<model::Note>& notes);

}  // namespace plimsoll::report
