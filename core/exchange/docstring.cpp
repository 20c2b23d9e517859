#include "core/exchange/docstring.h"

#include <algorithm>
#include <array>

#include "core/exchange/languages.h"
#include "core/exchange/parts.h"

namespace plimsoll::exchange {

namespace {

constexpr std::string_view blank = " \t\r\n";

// Behind the comments and empty lines at the head.
std::string_view behind_comments(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
    if (text.empty() || text.front() != '#') return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

bool reads_arguments(std::string_view script) {
  // argparse's, Transformers' HfArgumentParser, TRL's TrlParser, fire.Fire(main).
  constexpr std::array<std::string_view, 3> parsers = {"ArgumentParser(", "TrlParser(", "fire.Fire("};
  return std::any_of(parsers.begin(), parsers.end(),
                     [script](std::string_view one) { return script.find(one) != std::string_view::npos; });
}

}  // namespace

bool begins_as_source(std::string_view text) {
  if (text.starts_with("#!") || !docstring_of(text).empty()) return true;
  const std::string_view head = behind_comments(text);
  const std::string_view line = head.substr(0, head.find('\n'));
  const bool imports = line.starts_with("import ") ||
                       (line.starts_with("from ") && line.find(" import ") != std::string_view::npos);
  return imports && language_of(text) == Language::python;
}

std::string_view docstring_of(std::string_view script) {
  std::string_view text = behind_comments(script);
  if (!text.empty() && (text.front() == 'r' || text.front() == 'R')) text.remove_prefix(1);
  const std::string_view quotes = text.substr(0, 3);
  if (quotes != "\"\"\"" && quotes != "'''") return "";
  text.remove_prefix(3);
  return text.substr(0, text.find(quotes));
}

std::string_view started_in(std::string_view script) {
  const std::string_view words = docstring_of(script);
  if (words.empty()) return "";
  for (const std::string_view part : settings_parts(words)) {
    const std::size_t file = part.find(".py");
    if (language_of(part) != Language::shell || file == std::string_view::npos) continue;
    // What a script is not written to read is a launcher's alone: "accelerate launch --config_file zero3.yaml sft.py".
    const bool launcher = part.find_first_not_of(blank, file + 3) == std::string_view::npos;
    if (!reads_arguments(script) && !launcher) continue;
    if (part.find(" --") != std::string_view::npos) return part;
  }
  return "";
}

}  // namespace plimsoll::exchange
