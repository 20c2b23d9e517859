// One line a draw with a checksum of each answer, for a comparison of two builds
// (tests/wasm/same_answers.sh):
//
//     DIGESTS=500 build/native/plimsoll_drawn --gtest_filter='Digests*'
#include <cstdio>

#include "core/report/advice.h"
#include "core/report/compare.h"
#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "core/report/report.h"
#include "tests/drawn/checks.h"
#include "tests/drawn/corruption.h"

namespace plimsoll::drawn {
namespace {

// FNV-1a.
uint64_t checksum(const std::string& text) {
  uint64_t sum = 14695981039346656037u;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return sum;
}

void write(uint64_t seed, const char* what, const std::string& answer) {
  std::printf("digest %llu %s %016llx\n", static_cast<unsigned long long>(seed), what,
              static_cast<unsigned long long>(checksum(answer)));
}

constexpr const char* failure =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of "
    "23.64 "
    "GiB of which 115.38 MiB is free.";

TEST(Digests, AreWrittenForEveryAnswer) {
  const uint64_t first = from_environment("SEED", 0), draws = from_environment("DIGESTS", 0);
  if (draws == 0) GTEST_SKIP() << "DIGESTS=n asks for them";
  const auto& catalog = presets();
  for (uint64_t seed = first; seed < first + draws; ++seed) {
    const Draw draw = make_draw(seed, {});
    write(seed, "request", draw.text);
    write(seed, "report", draw.answer);
    Dice dice(seed);
    write(seed, "refusal", answered(seed, corrupted(draw.request, dice).request).answer);
    write(seed, "diagnosis", report::diagnosis_text(failure, draw.text, "", catalog));
    if (seed % 12 == 0) {  // each is hundreds of reports
      const Draw other = make_draw(seed + 1, {.small = true, .plain = true});
      const Draw one = make_draw(seed, {.small = true, .plain = true});
      write(seed, "comparison", report::compare_text(one.text, other.text, catalog));
    }
    if (seed % 4 == 0) {
      for (const char* format : {"axolotl", "llamafactory", "transformers", "checklist", "markdown"})
        write(seed, format, report::export_text(draw.text, format, catalog));
    }
    if (seed % 50 == 0) {
      const Draw small = make_draw(seed, {.gpu = true, .small = true, .plain = true});
      write(seed, "advice", report::advise_text(small.text, catalog));
    }
  }
}

// For tests/wasm/same_reports.mjs: PRINT=300, a line a request and one for its quick report.
TEST(Requests, ArePrinted) {
  const uint64_t first = from_environment("SEED", 0), draws = from_environment("PRINT", 0);
  if (draws == 0) GTEST_SKIP() << "PRINT=n asks for them";
  for (uint64_t seed = first; seed < first + draws; ++seed) {
    const std::string request = json::write(drawn_request(seed));
    std::printf("request %s\n", request.c_str());
    std::printf("quick %s\n", report::quick_report_text(request, presets()).c_str());
  }
}

}  // namespace
}  // namespace plimsoll::drawn
