// What a text says of a run, and its answers, as JSON.
//
//     write_said(out, question::said_request(text, catalog));
#pragma once

#include "core/json/writer.h"
#include "core/question/answers.h"

namespace plimsoll::report {

/// {"request", "card_bytes", "unknown": [{"pointer", "message"}]}, or null where nothing of a run is said.
void write_said(json::Writer& out, const question::SaidRequest& said);
/// [{"name", "needed", "usable", "verdict", "parts", "request"}]
void write_answers(json::Writer& out, const question::Answers& answers);

}  // namespace plimsoll::report
