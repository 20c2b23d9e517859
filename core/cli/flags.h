// The fields that have a flag of their own; every other one is said with --set.
//
//     for (const Flag& flag : flags()) add_option(flag.name, sentence_of(flag.pointer));
//     as_flag("/training/gradient_checkpointing", "true")      // "--checkpointing"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plimsoll::cli {

struct Flag {
  const char* name;
  const char* pointer;
  const char* value;  ///< its word in the help; "" for a flag that needs none: true
};
std::span<const Flag> flags();

/// A field's value as one word of a command line.
std::string as_flag(std::string_view pointer, const std::string& value);

/// The flag that another program's means, read as a question's words are: "--max-seq-length" and 4096 are
/// "--length=4096", "--load-in-4bit" is "--qlora"; "" none. `value` may be empty.
std::string flag_called(std::string_view name, std::string_view value);

}  // namespace plimsoll::cli
