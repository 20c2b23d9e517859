// Requests answered as anybody would get them, read back as data:
//
//     const json::Json report = answer({{"model", "gpt2"}});
//     bytes(report, "/memory/peak/allocated");
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "core/report/advice.h"
#include "core/report/report.h"

namespace plimsoll::report {

using json::Json;

inline const run::Catalog& presets() {
  static const run::Catalog catalog = run::read_catalog(preset_files());
  return catalog;
}

inline Json answer_text(std::string_view request) {
  json::Errors errors;
  const auto read = json::parse(report_text(request, presets()), errors);
  EXPECT_TRUE(errors.empty()) << "the answer is no strict JSON, for " << request;
  return read.value_or(Json::object());
}

/// The advice on a request, as text. It is hundreds of reports and many tests ask for the same, so it is kept.
inline const std::string& advice_text(const std::string& request) {
  static std::unordered_map<std::string, std::string> known;
  const auto [place, fresh] = known.try_emplace(request);
  if (fresh) place->second = advise_text(request, presets());
  return place->second;
}

inline Json advice_on(const Json& request) {
  json::Errors errors;
  return json::parse(advice_text(json::write(request)), errors).value_or(Json::object());
}

inline Json answer(const Json& request) { return answer_text(json::write(request)); }

/// The value at a JSON pointer; a place that does not exist fails the test.
inline Json at(const Json& report, const std::string& pointer) {
  const Json::json_pointer where(pointer);
  if (report.contains(where)) return report.at(where);
  ADD_FAILURE() << pointer << " is not in " << json::write(report).substr(0, 600);
  return {};
}

/// A whole number of bytes or parameters.
inline uint64_t bytes(const Json& report, const std::string& pointer) {
  const Json value = at(report, pointer);
  if (value.is_number_integer() && value >= 0) return value.get<uint64_t>();
  ADD_FAILURE() << pointer << " is " << json::write(value) << ", not a whole number";
  return 0;
}

inline double gib(const Json& report, const std::string& pointer) {
  return static_cast<double>(bytes(report, pointer)) / 1073741824.0;
}

/// The instant of that id, or null.
inline Json instant(const Json& report, std::string_view id) {
  for (const Json& row : at(report, "/memory/instants")) {
    if (row.at("id") == id) return row;
  }
  return nullptr;
}

/// Bytes of one line of the breakdown; 0 when it is not there.
inline uint64_t component(const Json& instant, std::string_view id) {
  for (const Json& row : instant.at("components")) {
    if (row.at("id") == id) return row.at("bytes").get<uint64_t>();
  }
  return 0;
}

constexpr double gibibyte = 1073741824.0, mebibyte = 1048576.0;

inline double peak(const Json& report) {
  return static_cast<double>(bytes(report, "/memory/peak/allocated"));
}

inline void expect_within(double predicted, double measured, double share) {
  EXPECT_NEAR(predicted / measured, 1, share) << predicted << " against " << measured;
}

inline Json merged(Json request, const Json& changes) {
  request.merge_patch(changes);
  return request;
}

/// One of the documented cases, as a whole: "c-before".
inline const Json& scenario(std::string_view id) {
  for (const Json& one : presets().scenarios) {
    if (one.at("id") == id) return one;
  }
  ADD_FAILURE() << "no scenario " << id;
  static const Json none = {{"request", Json::object()}};
  return none;
}
inline const Json& request_of(std::string_view id) { return scenario(id).at("request"); }

/// Samples in a step of one GPU.
inline uint64_t effective_batch(const Json& request) {
  const Json& training = request.at("training");
  return training.at("per_device_train_batch_size").get<uint64_t>() *
         training.at("gradient_accumulation_steps").get<uint64_t>();
}

inline bool has_note(const Json& report, std::string_view code) {
  for (const Json& note : at(report, "/notes")) {
    if (note.at("code") == code) return true;
  }
  return false;
}

}  // namespace plimsoll::report
