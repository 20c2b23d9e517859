// A size as a product of shapes, with the unknown solved for: 9.27 GiB is 16,384 tokens x 151,936 words in
// fp32.
//
//     const Product likeliest = products_of(size, situation, facts).front();
//     likeliest.words;   // "16,384 tokens x 151,936 words of the vocabulary, fp32"
//     likeliest.knob;    // "use_liger_kernel=true"
#pragma once

#include <string>
#include <vector>

#include "core/diagnosis/facts.h"
#include "core/diagnosis/size.h"

namespace plimsoll::diagnosis {

/// No GPU and no host holds a tensor beyond it: a wrong shape or a corrupt length.
constexpr double largest_tensor = 8.0 * 1099511627776.0;

struct Product {
  std::string tensor;  ///< logits, scores, mlp, hidden, weight
  std::string words;
  std::string model;    ///< whose shapes, where the run's model is not known: "Qwen2.5-7B"
  double tokens = 0;    ///< solved for: tokens, of scores the length
  bool exact = false;   ///< a number of tokens that a person chooses, a multiple of 256
  bool chosen = false;  ///< ... that hardly comes by chance: 2^k, or three or five times it
  bool sole = false;    ///< ... not told to the digit: the one number in reach that a person would choose
  bool beyond = false;  ///< ... or more tokens than a micro-batch can have: it only says that this is not it
  std::string knob = {};  ///< what makes this tensor smaller in the stack at hand
};

/// The likeliest first, at most four, those beyond a micro-batch last. Without a model only products that come
/// out exact.
std::vector<Product> products_of(const Size& tried, const Situation& situation, const Facts& facts);

}  // namespace plimsoll::diagnosis
