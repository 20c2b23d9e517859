// The command line: it reads requests and prints reports. All arithmetic is in the core.
#include "core/cli/start.h"

int main(int argc, char** argv) { return plimsoll::cli::start(argc, argv); }
