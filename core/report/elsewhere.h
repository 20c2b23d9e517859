// Ways out that change the machine or the model instead of the recipe: a larger card, more cards, a rented
// one, a smaller model of the same family.
//
//     write_elsewhere(out, run, catalog, basis, usable);    // [{"id": "larger_gpu", "gpu": "l40s", ...},
//     ...]
//
// Each is the smallest of its kind that fits with the recipe as it is. Locks on "hardware", "parallel" and
// "model" rule them out.
#pragma once

#include "core/advice/price.h"
#include "core/json/writer.h"
#include "core/run/run.h"

namespace plimsoll::report {

void write_elsewhere(json::Writer& out, const run::Run& run, const run::Catalog& catalog,
                     const advice::Basis& basis, double usable);

/// Whether a run may move to this card: emulated bfloat16 is no way out, and a card of another make is
/// another installation.
bool suits(const run::Run& run, const hardware::Gpu& gpu);

/// The largest smaller model of the same family that the recipe as it is trains within `usable`, or null.
const run::ModelEntry* smaller_sibling(const run::Run& run, const run::Catalog& catalog, double usable);

}  // namespace plimsoll::report
