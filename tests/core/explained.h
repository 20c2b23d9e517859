// A pasted text explained as anybody would get it:
//
//     first_cause("CUDA out of memory. Tried to allocate ...");    // "fragmentation"
#pragma once

#include <string>
#include <string_view>

#include "core/diagnosis/cards_said.h"
#include "core/diagnosis/causes.h"
#include "core/diagnosis/diagnosis.h"
#include "core/question/pasted_case.h"
#include "core/run/preset_files.h"

namespace plimsoll::diagnosis {

inline const run::Catalog& catalog() {
  static const run::Catalog read = run::read_catalog(preset_files());
  return read;
}

inline Diagnosis explained(std::string_view text, std::string_view request = "",
                           std::string_view phase = "") {
  question::PastedCase one;
  question::read_case(text, request, phase, catalog(), one);
  return diagnose(one.situation);
}

inline std::optional<double> cards_counted(std::string_view text) {
  std::vector<const hardware::Gpu*> known;
  for (const hardware::Gpu& gpu : catalog().gpus) known.push_back(&gpu);
  return cards_in_words(clean(text), known);
}

inline FailurePhase phase_of(std::string_view text) { return explained(text).reading.phase; }

inline std::string first_cause(std::string_view text, std::string_view request = "",
                               std::string_view phase = "") {
  const Diagnosis d = explained(text, request, phase);
  return d.causes.empty() ? "" : std::string(d.causes.front().cause->id);
}

inline const Cause* find_cause(std::string_view id) {
  for (const Cause& cause : causes()) {
    if (cause.id == id) return &cause;
  }
  return nullptr;
}

}  // namespace plimsoll::diagnosis
