// What a person takes to the machine: settings of the shell, a list to check a run against, tables.
//
//     std::string text = report::handout("checklist", request, "", catalog, errors);
//
// environment  the variables that the request states, to be sourced
// shell        the card's state, the variables, and the launch
// checklist    the settings, then what memory_allocated, nvidia-smi and print_trainable_parameters should say
// markdown     the request's settings and figures as a table; of two requests, before and after
// csv          every component of every instant, in bytes
// json         the report
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/json/json.h"
#include "core/run/catalog.h"

namespace plimsoll::report {

struct HandoutKind {
  std::string_view id, name, language;
};
std::span<const HandoutKind> handout_kinds();

/// `before` is another request, for markdown alone, or "". Empty when there are errors.
std::string handout(std::string_view id, std::string_view request, std::string_view before,
                    const run::Catalog& catalog, json::Errors& errors);

/// PEFT's print_trainable_parameters, to the digit.
std::string trainable_line(uint64_t trainable, uint64_t all);

}  // namespace plimsoll::report
