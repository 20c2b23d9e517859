// The step over time, for a plot: /memory/timeline, only when the request has "want": ["timeline"].
//
//     {"components": ["weights", "adapters", ...],          those that ever hold bytes, bottom first
//      "points": [{"instant": "forward",                    at most 400, in the order of time; x is the index
//                  "micro_batch": 1,                        1 makes the gradients, 2: all later ones,
//                                                           0 outside forward and backward
//                  "part": "text", "layer": 7,              what is at work; layer null outside the layers
//                  "bytes": [14483464192, ...]}, ...],      one for each of "components"; their sum is what
//                                                           PyTorch counts as allocated at that moment
//      "peak": 212,                                         index of the highest point; its sum is
//                                                           /memory/peak/allocated (a little less when that
//                                                           is the load, which counts the largest matrix
//                                                           last)
//      "alive": [{"component": "logits", "what": "cross-entropy", "bytes": 1048576000, "count": 1}, ...],
//      "tensors": [{"component": "logits", "what": "cross-entropy", "bytes": 1048576000,
//                   "counts": [96, 1, 97, 0]}, ...]}        from point 96 on one is alive, from 97 on none
//
// Points begin with load and prepare; then comes a later step (the first one is the same without optimizer
// states). A point is the highest moment of a piece of the step, so that the plot's outline is true and its
// dips are not; the highest moment of each instant and of each component is always there. "alive" lists the
// tensors at the peak, equal ones in one row, largest sum first; "tensors" those of every point.
#pragma once

#include "core/json/writer.h"
#include "core/run/run.h"

namespace plimsoll::report {

/// `machine`: with_memo(run).
void write_timeline(json::Writer& out, const run::Run& run, const memory::Machine& machine);

}  // namespace plimsoll::report
