// What a training stack's own code made of a configuration, on a CPU, and what Plimsoll makes of it.
//
//     {"source": "axolotl-ai-cloud/axolotl v0.19.0 examples/llama-3/qlora.yml",
//      "versions": {"transformers": "5.16.1", "trl": "1.9.0"},      // of the libraries beside it
//      "config": {"base_model": "...", "micro_batch_size": 2},      // or "text": a script or command, or
//      "request" "fields": {"/training/packing": true, "/peft": true},        // as the stack resolved them
//      "trainable": 20971520,                                       // parameters, where the stack counted
//      them "differs": {"/training/optim": "why it is not so here"}}
//
//     for (const Golden& golden : read_goldens("tests/stacks", errors))
//       for (const Difference& d : compare(golden, catalog)) ...
//
// What a person labelled has "asked": [POINTER] and perhaps "may_ask" besides (by-hand/README.md).
// Such files stand in tests/stacks/STACK/RELEASE/; ./dev stacks writes them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/run/catalog.h"

namespace plimsoll::stacks {

struct Golden {
  std::string path;            ///< of the file, below the folder that was read
  std::string stack, release;  ///< the two folders that it stands in
  json::Json content;
};

/// The configuration as text, one that was kept as values as JSON; "" none.
std::string text_of(const Golden& golden);

/// Every golden below a folder; or the rows of a list [{"file", "stack", "version", "fields"}], whose
/// configurations lie at "file" beside the list. Adds an error for what cannot be read.
std::vector<Golden> read_goldens(const std::string& path, json::Errors& errors);

struct Difference {
  std::string pointer;
  json::Json ours, theirs;
  std::string reason;  ///< the golden's; "" none
};

struct Comparison {
  size_t fields = 0;
  std::vector<Difference> differences;
  std::vector<std::string> settled;  ///< pointers with a reason that agree now
  std::string problem;               ///< why nothing could be compared
};

Comparison compare(const Golden& golden, const run::Catalog& catalog);

}  // namespace plimsoll::stacks
