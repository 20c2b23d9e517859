// What only a person can say of a run: no file says it, and no library sets it.
//
//     for (const exchange::Missing& one : missing_in(import.request, catalog)) ask(one.pointer, one.message);
//
// These are the model, the GPU and how many, the length where the stack sets none, the samples, and whatever
// else the run's stack leaves to its user. Nothing stands in for them without being asked for.
#pragma once

#include <vector>

#include "core/exchange/import.h"
#include "core/report/catalog.h"

namespace plimsoll::report {

std::vector<exchange::Missing> missing_in(const json::Json& request, const Catalog& catalog);

}  // namespace plimsoll::report
