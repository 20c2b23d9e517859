// What nobody said of a run and what may need far more than was taken for it: how large its images are and
// how many, and which release of a library runs. Each is priced once more the other way.
//
//     for (const Unsaid& one : unsaid(run, catalog)) one.words;
//     // "What images a sample has is not said, and none is counted; with one of 1,260 x 1,260 pixels, the
//     // most that 2,048 tokens hold, it needs 15.79 GiB."
#pragma once

#include <string>
#include <vector>

#include "core/run/run.h"

namespace plimsoll::run {

struct Unsaid {
  memory::Sizes sizes;  ///< of the run with images that fill a sample, or with the older release
  std::string words;
};
std::vector<Unsaid> unsaid(const Run& run, const Catalog& catalog);

/// The verdict of the run, "fits" only where it does the other ways too.
memory::Verdict verdict_of(const memory::Sizes& sizes, const std::vector<Unsaid>& other, double usable);

}  // namespace plimsoll::run
