// A published, measured training run, as its source tells it.
//
// Example, a record and what was read on the GPU:
//
//     json::Errors errors;
//     Record record = read_record(row, errors);        // fields nobody asked for are fine, wrong types are
//     not record.text("framework");                        // "TRL SFTTrainer ...; torch 2.4.1,
//     transformers 4.48.1" for (const Reading& reading : record.readings) { ... reading.kind, reading.bytes
//     ... }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::accuracy {

/// What a figure counts: what PyTorch gave to tensors, what it held, what the driver showed, or nobody said.
enum class Kind { allocated, reserved, device, unstated };
std::string_view name(Kind kind);

struct Reading {
  Kind kind = Kind::unstated;
  double bytes = 0;
};

struct Record {
  std::string id;
  std::string series;  ///< the id without its number: one source, one way of measuring
  std::string tier;    ///< A nothing open, B one or two fields open, C more
  std::string model, method;
  uint64_t gpus = 1;
  std::optional<uint64_t> batch, length, rank;
  std::optional<bool> checkpointing;
  std::vector<std::string> targets;
  bool exact_length = false;
  bool died = false;
  std::vector<Reading> readings;  ///< the record's own first, then those of its field "also"
  json::Json fields;              ///< all of it

  /// Any field as text: "" when it is absent or null, a list joined by ", ". A dot leads into an object.
  std::string text(std::string_view field) const;
  /// The first reading of a kind.
  const Reading* reading(Kind kind) const;
  /// Whether the peak is known to the byte that PyTorch counts, of a run with nothing left open.
  bool is_reference() const { return tier == "A" && exact_length && reading(Kind::allocated) != nullptr; }
};

Record read_record(const json::Json& row, json::Errors& errors);

}  // namespace plimsoll::accuracy
