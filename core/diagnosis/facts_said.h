// What a text says of a run in words and flags, where no request says it.
//
//     trained_percent("trainable%: 24.05");   // 24.05
#pragma once

#include <initializer_list>
#include <string_view>

#include "core/diagnosis/facts.h"
#include "core/diagnosis/text.h"

namespace plimsoll::diagnosis {

bool mentions(const Text& text, std::initializer_list<std::string_view> words);

/// Megatron, tensor or pipeline parallelism of the training, which no replay knows; an engine's does not count.
bool divides_the_model(const Text& text);
Method method_said(const Text& text);
bool denies_adapters(std::string_view folded);
bool loads_untyped(std::string_view folded);
bool names_modules(std::string_view folded);
double trained_percent(std::string_view folded);
bool names_a_vl_model(std::string_view folded);

}  // namespace plimsoll::diagnosis
