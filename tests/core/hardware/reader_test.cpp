#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/hardware/gpu.h"

namespace plimsoll::hardware {
namespace {

// A file with everything that must be in one, and with nothing else.
json::Json smallest_file() {
  json::Errors errors;
  return *json::parse(R"({
    "id": "x-1", "name": "X 1", "vendor": "NVIDIA", "segment": "consumer", "architecture": "Ampere",
    "compute_capability": 8.6,
    "memory": {"nominal_gib": 24, "bandwidth_gb_per_s": 900},
    "compute": {},
    "supports": {"bf16": true, "tf32": true, "fp8": false, "fp4": false, "flash_attention_2": true},
    "sources": ["the box it came in"]
  })",
                      errors);
}

json::Json changed(const char* pointer, const char* value) {
  json::Json file = smallest_file();
  json::Errors errors;
  file[json::Json::json_pointer(pointer)] = *json::parse(value, errors);
  return file;
}

json::Json without(const char* object, const char* key) {
  json::Json file = smallest_file();
  file[json::Json::json_pointer(object)].erase(key);
  return file;
}

std::vector<std::pair<std::string, std::string>> errors_of(const json::Json& file) {
  json::Errors errors;
  const auto gpu = read_gpu(file, "gpus/x-1.json", errors);
  EXPECT_EQ(gpu.has_value(), errors.empty());
  std::vector<std::pair<std::string, std::string>> found;
  for (const json::Error& error : errors) {
    found.emplace_back(error.code, error.pointer);
    EXPECT_EQ(error.message.rfind("gpus/x-1.json: ", 0), 0u) << error.message;
  }
  return found;
}

double usable_gib(const json::Json& file) {
  json::Errors errors;
  const auto gpu = read_gpu(file, "gpus/x-1.json", errors);
  EXPECT_TRUE(gpu.has_value()) << (errors.empty() ? "" : errors[0].pointer + " " + errors[0].message);
  return gpu ? static_cast<double>(gpu->usable_bytes) / 1073741824.0 : 0;
}

using testing::ElementsAre;
using testing::Pair;

TEST(GpuReader, TakesTheSmallestFile) { EXPECT_TRUE(errors_of(smallest_file()).empty()); }

TEST(GpuReader, NamesTheExactPlaceOfAMistake) {
  EXPECT_THAT(errors_of(without("", "name")), ElementsAre(Pair("missing", "/name")));
  EXPECT_THAT(errors_of(without("", "compute_capability")),
              ElementsAre(Pair("missing", "/compute_capability")));
  EXPECT_THAT(errors_of(without("/memory", "bandwidth_gb_per_s")),
              ElementsAre(Pair("missing", "/memory/bandwidth_gb_per_s")));
  EXPECT_THAT(errors_of(without("/supports", "fp8")), ElementsAre(Pair("missing", "/supports/fp8")));
  EXPECT_THAT(errors_of(changed("/memory/nominal_gib", "23.5")),
              ElementsAre(Pair("fractional", "/memory/nominal_gib")));
  EXPECT_THAT(errors_of(changed("/memory/nominal_gib", "-24")),
              ElementsAre(Pair("negative", "/memory/nominal_gib")));
  EXPECT_THAT(errors_of(changed("/memory/nominal_gib", "\"24\"")),
              ElementsAre(Pair("wrong_type", "/memory/nominal_gib")));
  EXPECT_THAT(errors_of(changed("/memory/type", "6")), ElementsAre(Pair("wrong_type", "/memory/type")));
  EXPECT_THAT(errors_of(changed("/memory/inline_ecc", "\"maybe\"")),
              ElementsAre(Pair("unknown_value", "/memory/inline_ecc")));
  EXPECT_THAT(errors_of(changed("/vendor", "\"Nvidia\"")), ElementsAre(Pair("unknown_value", "/vendor")));
  EXPECT_THAT(errors_of(changed("/supports/bf16", "1")), ElementsAre(Pair("wrong_type", "/supports/bf16")));
  EXPECT_THAT(errors_of(changed("/memory/nominal_gb", "24")),
              ElementsAre(Pair("unknown_key", "/memory/nominal_gb")));
  EXPECT_THAT(errors_of(changed("/price", "1")), ElementsAre(Pair("unknown_key", "/price")));
  EXPECT_THAT(errors_of(changed("/id", "\"x-2\"")), ElementsAre(Pair("conflict", "/id")));
  EXPECT_THAT(errors_of(changed("/sources", "[1]")), ElementsAre(Pair("wrong_type", "/sources/0")));
}

TEST(GpuReader, RefusesAFileThatIsNotAnObject) {
  EXPECT_THAT(errors_of(json::Json::array()), ElementsAre(Pair("wrong_type", "")));
}

TEST(GpuReader, RefusesAMemoryReadingLargerThanTheCard) {
  json::Json file = changed("/memory/torch_visible_gib", "[23.7, 24.5]");
  file["memory"]["torch_visible_source"] = "a message";
  EXPECT_THAT(errors_of(file), ElementsAre(Pair("out_of_range", "/memory/torch_visible_gib/1")));
}

TEST(GpuReader, RefusesAReadingWithoutItsSource) {
  EXPECT_THAT(errors_of(changed("/memory/torch_visible_gib", "[23.7]")),
              ElementsAre(Pair("missing", "/memory/torch_visible_source")));
  EXPECT_THAT(
      errors_of(changed("/memory/nvidia_smi_mib", "24576")),
      ElementsAre(Pair("missing", "/memory/nvidia_smi_source"), Pair("missing", "/memory/nvidia_smi_read")));
  EXPECT_THAT(
      errors_of(changed("/compute/tensor_tflops", "71")),
      ElementsAre(Pair("missing", "/compute/tensor_read"), Pair("missing", "/compute/tensor_source")));
}

TEST(GpuReader, ReportsSeveralMistakesAtOnce) {
  json::Json file = changed("/vendor", "\"Nvidia\"");
  file["memory"]["nominal_gib"] = 0;
  file.erase("name");
  EXPECT_EQ(errors_of(file).size(), 3u);
}

TEST(UsableMemory, IsTheLowestPyTorchReading) {
  json::Json file = changed("/memory/torch_visible_gib", "[23.7, 23.5, 23.6]");
  file["memory"]["torch_visible_source"] = "a message";
  EXPECT_NEAR(usable_gib(file), 23.5, 1e-6);
}

TEST(UsableMemory, WithoutAReadingIsNvidiaSmiLessWhatTheDriverKeeps) {
  json::Json file = changed("/memory/nvidia_smi_mib", "24576");
  file["memory"]["nvidia_smi_source"] = "a screen";
  file["memory"]["nvidia_smi_read"] = true;
  EXPECT_NEAR(usable_gib(file), 23.70, 1e-6);
  file["segment"] = "datacenter";
  EXPECT_NEAR(usable_gib(file), 23.55, 1e-6);
  file["compute_capability"] = 10.0;
  EXPECT_NEAR(usable_gib(file), 23.30, 1e-6);
  file["segment"] = "laptop";
  EXPECT_NEAR(usable_gib(file), 23.50, 1e-6);
}

TEST(UsableMemory, WithoutAnyReadingIs98PercentAndLosesASixteenthToInlineEcc) {
  EXPECT_NEAR(usable_gib(smallest_file()), 23.52, 1e-6);
  EXPECT_NEAR(usable_gib(changed("/memory/inline_ecc", "\"on\"")), 22.05, 1e-6);
}

TEST(UsableMemory, OfUnifiedMemoryIsTwoThirdsUpTo32GibAndThreeQuartersAbove) {
  json::Json file = without("", "compute_capability");
  file["vendor"] = "Apple";
  file["memory"]["unified"] = true;
  EXPECT_NEAR(usable_gib(file), 16.0, 1e-6);
  file["memory"]["nominal_gib"] = 64;
  EXPECT_NEAR(usable_gib(file), 48.0, 1e-6);
}

}  // namespace
}  // namespace plimsoll::hardware
