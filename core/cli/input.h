// Where a request comes from, and what stands at the other end of the output.
#pragma once

#include <cstdio>
#include <string>

#include "core/cli/table.h"

namespace plimsoll::cli {

/// A file, or standard input for "-". What went wrong is in problem(); it is empty while all is well.
///
///     Input input("request.json");
///     std::string text = input.rest();
///     if (!input.problem().empty()) { ... }
class Input {
 public:
  explicit Input(const std::string& path);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  std::string rest();            ///< everything that is left
  bool line(std::string& text);  ///< the next line without its end; false when there is none

  const std::string& problem() const { return problem_; }

 private:
  void fail(const std::string& why);

  std::string path_;
  std::FILE* file_ = nullptr;
  std::string problem_;
};

bool output_is_terminal();
bool errors_are_terminal();

/// Width from COLUMNS or the terminal, else 80; colour only on a terminal, and never when NO_COLOR is set.
Style output_style();

}  // namespace plimsoll::cli
