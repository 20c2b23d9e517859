// What nobody said of the images of a run: how large, how many. The run is priced once more with images that
// fill its samples, since a figure that counts none or small ones promises too much.
//
//     if (const auto open = open_images(run)) open->words;
//     // "What images a sample has is not said, and none is counted; with one of 1,260 x 1,260 pixels, the
//     // most that 2,048 tokens hold, it needs 15.79 GiB."
#pragma once

#include <optional>
#include <string>

#include "core/run/run.h"

namespace plimsoll::run {

struct OpenImages {
  memory::Sizes sizes;  ///< with images that fill a sample
  std::string words;
};
/// Nothing where all is said, and where images add nothing to the text.
std::optional<OpenImages> open_images(const Run& run);

/// The verdict of the run, "fits" only where it does with those images too.
memory::Verdict verdict_of(const memory::Sizes& sizes, const std::optional<OpenImages>& open, double usable);

}  // namespace plimsoll::run
