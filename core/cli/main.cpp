// The command line: it reads requests and prints reports. All arithmetic is in the core.

#include <cstdio>

#include "core/cli/answer.h"
#include "core/cli/app.h"

int main(int argc, char** argv) {
  using namespace plimsoll::cli;
  Options options;
  CLI::App app;
  describe(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (app.exit(problem) == 0) return fits;
    std::fputs(near_words(app, argc, argv).c_str(), stderr);
    return bad_input;
  }
  return run(app, options);
}
