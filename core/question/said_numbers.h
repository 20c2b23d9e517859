// Which number of a few sentences is which setting: "8k context, batch size of 2".
//
//     const SaidWords words = split("rank 64 LoRA at 2,048 tokens");
//     for (const SaidNumber& found : numbers_in(words)) print(found.pointer, found.value);
//     // "/peft/r" 64, "/training/max_length" 2048
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/question/said_words.h"

namespace plimsoll::question {

/// No field: the samples of a whole step on all cards, which cards, accumulation and micro-batch multiply to.
constexpr std::string_view effective_batch = "effective batch";
/// Of a sample that is cut in two parts: neither is a field, and both together are its length.
constexpr std::string_view input_length = "input_length", output_length = "output_length";

struct SaidNumber {
  std::string_view pointer;
  double value;
};

/// Every number that the words around it make a setting, in the order of the text.
std::vector<SaidNumber> numbers_in(const SaidWords& words);

/// "batch 99999999999": what is named as a setting with more than any run has, in the text's own words.
std::vector<std::string> out_of_reach(const SaidWords& words);

}  // namespace plimsoll::question
