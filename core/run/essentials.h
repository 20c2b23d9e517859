// What only a person can say of a run: no file says it, and no library sets it.
//
//     for (const Missing& one : missing_in(import.request, catalog)) ask(one.pointer, one.message);
//
// These are the model, the GPU and how many, the length where the stack sets none, the samples, and whatever
// else the run's stack leaves to its user. Nothing stands in for them without being asked for.
#pragma once

#include <vector>

#include "core/run/catalog.h"

namespace plimsoll::run {

/// An essential that the text does not say, and why it is asked for.
struct Missing {
  std::string pointer, message;
};

std::vector<Missing> missing_in(const json::Json& request, const Catalog& catalog);

}  // namespace plimsoll::run
