// What a trainer's own parser takes, release by release: tests/stacks/accepted/*.json, which
// tests/stacks/accepted.py reads from the packages' sources.
//
//     const Accepted trainer = accepted("ms-swift-4.6.0");
//     trainer.refusal("rlhf", "rlhf_type", "sft");     // "rlhf_type takes no sft"
//     trainer.refusal("sft", "lora_rank", 8);          // ""
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/exchange/format.h"

namespace plimsoll::exchange {

struct Accepted {
  json::Json list;

  bool has(const std::string& command) const { return list.at("commands").contains(command); }
  /// Why the command stops at this key or its value; "" it does not.
  std::string refusal(const std::string& command, const std::string& key, const json::Json& value) const;
};

/// A list by its name; one without commands where there is none.
const Accepted& accepted(const std::string& name);

/// A key of a file as its trainer sees it: who reads it, and under which name.
struct Asked {
  std::string list, command, key;
};
/// `task` is what the file trains for, "" as its trainer does by itself. Nothing where a program of one's own
/// reads the key, or what runs before it.
std::optional<Asked> asked_of(std::string_view format, std::string task, const std::string& key);

/// Every key of the entries that the newest release of its trainer stops at, in words.
std::vector<std::string> refusals(std::string_view format, const std::string& task,
                                  const std::vector<Entry>& entries);

}  // namespace plimsoll::exchange
