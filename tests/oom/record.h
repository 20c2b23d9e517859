// A published out-of-memory report: the line as it was printed, the figures in it, and the cause that was
// found.
//
// The cause, its category and the remedy are what the diagnosis is scored on; nothing of them reaches it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::oom {

struct Record {
  std::string id, kind, text, phase, frame, gpu, category, outcome;
  std::optional<double> tried_mib, total_gib, allocated_gib, reserved_gib, free_mib, other_process_gib;
  bool complete = false;
  std::map<std::string, std::string> answers;  ///< to the questions of the diagnosis, as the thread has them
  json::Json config;                           ///< the settings in the source's words
  std::string kind_of;  ///< "not_applied" a setting without effect, "shm", "ray", ...: the case of the cause
  /// Of a question: what its text says of the request, what it leaves open, and the verdict.
  json::Json said;
  std::vector<std::string> unsaid;
  std::string expected;
};

/// Fields that are not needed are left alone; of wrong type are errors.
std::vector<Record> read_records(const json::Json& rows, json::Errors& errors);

}  // namespace plimsoll::oom
