// The parts of a diagnosis as JSON, each as diagnose.h names it.
#pragma once

#include <string_view>

#include "core/diagnosis/diagnosis.h"
#include "core/json/writer.h"

namespace plimsoll::report {

void write_messages(json::Writer& out, const diagnosis::Diagnosis& d);
void write_cards(json::Writer& out, const diagnosis::Diagnosis& d);
void write_tensors(json::Writer& out, const diagnosis::Diagnosis& d);
void write_causes(json::Writer& out, const diagnosis::Diagnosis& d);
void write_sizes(json::Writer& out, const diagnosis::Diagnosis& d);
void write_vetoed(json::Writer& out, const diagnosis::Diagnosis& d);
/// Where the request's run, replayed, asks for what the message says, and what the two cannot both say.
void write_rerun(json::Writer& out, const diagnosis::Diagnosis& d);
void write_question(json::Writer& out, const diagnosis::Diagnosis& d);
/// All of these, with the phase: what the text says, and what is made of it.
void write_findings(json::Writer& out, const diagnosis::Diagnosis& d);

/// Of the case that is shown, or of the cause.
std::string_view title_of(const diagnosis::Named& named);

}  // namespace plimsoll::report
