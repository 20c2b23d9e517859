// One note of a report: a row of a table.
#pragma once

#include <span>
#include <string>

#include "core/hardware/gpu.h"
#include "core/run/replayed.h"

namespace plimsoll::run {

struct NoteRow {
  const char* code;
  bool (*applies)(const Replayed&, const hardware::Gpu*);
  std::string (*message)(const Replayed&, const hardware::Gpu*);
  const char* source;
};

inline const memory::Snapshot& peak(const Replayed& replayed) { return replayed.replay.at_peak().live; }

/// What is special in this kind of network: experts, state spaces, towers.
std::span<const NoteRow> network_notes();
/// What several GPUs do to the memory of one.
std::span<const NoteRow> sharing_notes();

}  // namespace plimsoll::run
