// What the command line says, as CLI11 fills it in (core/cli/app.cpp).
#pragma once

#include <string>
#include <vector>

#include "core/cli/wishes.h"

namespace plimsoll::cli {

struct Options {
  std::string file;  ///< "" for none
  std::vector<std::string> files;
  Wishes wishes;
  std::string format;
  std::string request, phase, plan, shell;
  std::vector<std::string> answers;  ///< to a diagnosis, ID=CHOICE
  bool json = false;
  bool table = false;
  bool all = false;
  bool lines = false;
  bool summary = false;
  bool quick = false;
  bool diff = false;
};

}  // namespace plimsoll::cli
