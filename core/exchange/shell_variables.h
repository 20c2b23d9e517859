// The variables of a shell script, put where they are used; nothing is run.
//
//     ShellVariables variables;
//     variables.set("GPUS", "8");
//     variables.expanded("$((128 / GPUS))");      // "16"
//     variables.expanded("${MODEL:-gpt2}");       // "gpt2"
//     variables.expanded("$UNKNOWN/model");       // as it stands
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::exchange {

class ShellVariables {
 public:
  void set(const std::string& name, std::string value);
  const std::string* find(const std::string& name) const;
  /// $NAME, ${NAME}, ${NAME:-default} and $((whole numbers)) replaced; what is not known stays as it is, and
  /// so does a text that would grow beyond what a setting can be.
  std::string expanded(std::string_view text) const;
  /// The name when the whole text is $NAME, ${NAME} or ${NAME[@]}.
  static std::optional<std::string> whole(std::string_view text);

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace plimsoll::exchange
