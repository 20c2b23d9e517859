// What a text says of a run in words and flags, where no request says it.
//
//     says_unless_denied("full tuning without any lora", {"lora"});            // false
//     setting_in_words("with a batch size of 8", {"batch size"});              // 8
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "core/diagnosis/facts.h"
#include "core/diagnosis/text.h"

namespace plimsoll::diagnosis {

bool mentions(const Text& text, std::initializer_list<std::string_view> words);
bool says_unless_denied(std::string_view folded, std::initializer_list<std::string_view> words);
Method method_said(const Text& text);
bool loads_untyped(std::string_view folded);
bool names_modules(std::string_view folded);
bool is_the_subject(std::string_view folded, std::string_view task);
double trained_percent(std::string_view folded);
bool names_a_vl_model(std::string_view folded);
std::optional<double> setting_in_words(std::string_view folded,
                                       std::initializer_list<std::string_view> names);

}  // namespace plimsoll::diagnosis
