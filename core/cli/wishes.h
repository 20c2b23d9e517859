// What is asked for by flags: `--gpu 4090 --qlora --rank 16 --set training.packing=true`.
//
//     Wishes wishes;                       // filled by CLI11, see core/cli/app.cpp
//     Changed changed = with_wishes(request, wishes, true, catalog);
//     changed.request;  changed.said;      // the request to answer, and what to tell about it
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/cli/flags.h"
#include "core/cli/typed.h"
#include "core/json/json.h"
#include "core/run/catalog.h"
#include "core/run/choice.h"

namespace plimsoll::cli {

struct Wishes {
  std::string method;                        ///< lora, qlora, full; "" for none
  std::map<std::string, std::string> given;  ///< pointer to text, of the flags
  std::map<std::string, bool> on;            ///< pointers of the flags without a value
  std::vector<std::string> set;              ///< POINTER=VALUE
  std::vector<std::string> beside;           ///< paths of other files of the same run
};
bool any(const Wishes& wishes);

/// Parts that several names share.
json::Error ambiguous(const std::string& pointer, const Typed& typed);

/// What the command made of a request: values, and where they come from. As /assumptions of a report.
using AllSaid = std::vector<run::Choice>;

struct Changed {
  json::Json request;
  AllSaid said;
  json::Errors errors;  ///< of the flags themselves; everything else is for the core to refuse
};

/// `fresh`: there is no request but the flags. Then what they leave open is bf16 and all-linear adapters.
Changed with_wishes(json::Json request, const Wishes& wishes, bool fresh, const run::Catalog& catalog);

/// A model that no list holds, by the config.json that this computer has of it.
void use_local_config(Changed& changed, const run::Catalog& catalog);

/// ["hardware.gpu is rtx-4090: found by the parts of "4090"", ...]
std::vector<std::string> sentences(const AllSaid& said);

/// [{"pointer", "value", "why"}]
json::Json as_json(const AllSaid& said);

}  // namespace plimsoll::cli
