// plimsoll_oom [--json | --each] FILE
//
// Reads published out-of-memory reports and prints how many the diagnosis reads and explains rightly.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "tests/oom/numbers.h"

namespace plimsoll::oom {
namespace {

int run(const std::string& file, bool each) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  json::Errors errors;
  const auto rows = json::parse(text, errors);
  if (!rows) return 3;
  int messages = 0, right = 0;
  for (const Record& record : read_records(*rows, errors)) {
    if (record.text.empty()) continue;
    ++messages;
    const auto cleaned = diagnosis::clean(record.text);
    const auto read = diagnosis::read_messages(cleaned);
    const std::string wrong = wrong_numbers(record, read);
    right += wrong.empty() ? 1 : 0;
    if (each) {
      std::string rows_text;
      if (!read.empty()) {
        for (const uint8_t row : read[diagnosis::primary(read)].forms) rows_text += " " + std::to_string(row);
      }
      std::printf("%-28s %-18s forms%s %s\n", record.id.c_str(),
                  read.empty() ? "-" : std::string(read[diagnosis::primary(read)].family->id).c_str(),
                  rows_text.c_str(), wrong.c_str());
    }
  }
  std::printf("%d of %d\n", right, messages);
  return 0;
}

}  // namespace
}  // namespace plimsoll::oom

int main(int argc, char** argv) { return argc < 2 ? 3 : plimsoll::oom::run(argv[argc - 1], argc > 2); }
