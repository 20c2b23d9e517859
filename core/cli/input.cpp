#include "core/cli/input.h"

#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace plimsoll::cli {

namespace {

// A request with a pasted config.json is some kilobytes; more than this is a mistake, such as a checkpoint.
constexpr size_t largest_request = size_t{16} << 20;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

size_t output_width() {
  const char* columns = std::getenv("COLUMNS");
  long width = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  winsize size{};
  if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width <= 0) width = 80;
  return static_cast<size_t>(width < 40 ? 40 : width);
}

}  // namespace

Input::Input(const std::string& path) : path_(path) {
  if (path == "-") {
    file_ = stdin;
    if (isatty(STDIN_FILENO) != 0) std::fputs("Type or paste a request, then press Ctrl-D.\n", stderr);
    return;
  }
  file_ = std::fopen(path.c_str(), "rb");
  if (file_ == nullptr) fail(std::strerror(errno));
}

Input::~Input() {
  if (file_ != nullptr && file_ != stdin) std::fclose(file_);
}

void Input::fail(const std::string& why) {
  problem_ = (path_ == "-" ? "Standard input" : path_) + " cannot be read: " + why + ".";
}

std::string Input::rest() {
  std::string text;
  if (file_ == nullptr) return text;
  char block[65536];
  while (const size_t got = std::fread(block, 1, sizeof block, file_)) {
    text.append(block, got);
    if (text.size() > largest_request) {
      fail("it holds more than 16 MiB, so it is not a request");
      return "";
    }
  }
  if (std::ferror(file_) != 0) fail(std::strerror(errno));
  return text;
}

bool Input::line(std::string& text) {
  text.clear();
  if (file_ == nullptr) return false;
  char* buffer = nullptr;
  size_t capacity = 0;
  const ssize_t length = getline(&buffer, &capacity, file_);
  if (length >= 0) text.assign(buffer, static_cast<size_t>(length));
  std::free(buffer);
  if (length < 0 && std::ferror(file_) != 0) fail(std::strerror(errno));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return length >= 0;
}

bool output_is_terminal() { return isatty(STDOUT_FILENO) != 0; }
bool errors_are_terminal() { return isatty(STDERR_FILENO) != 0; }

Style output_style() {
  const char* kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::strcmp(kind, "dumb") == 0;
  return {output_width(), output_is_terminal() && !dumb && !is_set("NO_COLOR")};
}

}  // namespace plimsoll::cli
