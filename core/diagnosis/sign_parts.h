// The parts that signs.cpp collects from, one file each: the figures of the message, the run, the sizes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/diagnosis/signs.h"

namespace plimsoll::diagnosis {

using Signs = std::vector<Evidence>;

inline void add(Signs& out, bool holds, Sign sign, std::string words) {
  if (holds) out.push_back({sign, std::move(words)});
}

/// Of the card's figures alone: who holds the memory, and whether a block of that size could exist.
void read_figures(const TextReading& r, const Situation& situation, Signs& out);
/// Of nvidia-smi's table.
void read_table(const TextReading& r, Signs& out);
/// What kind of run it is: method, task, how the cards share it.
void read_run(const TextReading& r, Signs& out);
/// What the run must hold, against the card and against what is allocated.
void read_arithmetic(const TextReading& r, Signs& out);
/// Of the tensor that failed.
void read_tensor(const TextReading& r, const Situation& situation, Signs& out);

/// Whether what lies unused in the cache and what is free would together have been one block large enough.
bool lies_in_pieces(const TextReading& r);

}  // namespace plimsoll::diagnosis
