// One way, driven by libFuzzer:
//
//     FUZZ_WAY=import build/fuzz/plimsoll_fuzz -max_total_time=60 build/fuzz/seeds/import
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/ways.h"

namespace {

const plimsoll::fuzz::Way& chosen() {
  const char* name = std::getenv("FUZZ_WAY");
  const plimsoll::fuzz::Way* way = plimsoll::fuzz::find_way(name == nullptr ? "" : name);
  if (way != nullptr) return *way;
  std::fputs("FUZZ_WAY names one of:\n", stderr);
  for (const plimsoll::fuzz::Way& one : plimsoll::fuzz::ways()) {
    std::fprintf(stderr, "  %-12s %s\n", one.name.data(), one.what.data());
  }
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const plimsoll::fuzz::Way& way = chosen();
  const std::string wrong = way.wrong(std::string(data, data + size));
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}
