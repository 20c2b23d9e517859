// What somebody tried in vain, in words: a smaller batch, a batch of one.
//
//     smaller_batch_in_words("reducing the batch size didn't help");   // the words
//     one_sample_in_words("oom even with a batch size of 1");          // the words
//
// Texts are folded (ASCII in lower case); "" where nobody says so.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::diagnosis {

/// Smaller batches were tried, and it fails still.
std::string smaller_batch_in_words(std::string_view folded);
/// It fits with fewer tokens: "2k works, 8k does not", "beyond 20k it is OOM".
std::string less_fits_in_words(std::string_view folded);
/// It fails with a single sample too.
std::string one_sample_in_words(std::string_view folded);

}  // namespace plimsoll::diagnosis
