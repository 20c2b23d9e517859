// How sizes and fields are written in the sentences of a report.
//
//     gib(15032385536.0)             // "14.00 GiB"
//     dotted("/training/max_length") // "training.max_length"
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::run {

/// Hundredths of a GiB; nothing below zero.
inline std::string gib(double bytes) {
  const auto hundredths = static_cast<uint64_t>(std::llround(std::max(0.0, bytes) / 1073741824.0 * 100));
  std::string words = std::to_string(hundredths / 100);
  words.append(hundredths % 100 < 10 ? ".0" : ".").append(std::to_string(hundredths % 100)).append(" GiB");
  return words;
}

/// "q_proj, v_proj".
inline std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

/// What a field is called in the tools, by its JSON pointer.
inline std::string dotted(std::string_view pointer) {
  std::string name(pointer.substr(1));
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

}  // namespace plimsoll::run
