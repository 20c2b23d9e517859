// What each command does. All arithmetic is in the core; what is printed, in answer.h and the tables.
#pragma once

#include "core/cli/options.h"

namespace plimsoll::cli {

int command_report(const Options& options);
int command_check(const Options& options);
int command_advise(const Options& options);
int command_compare(const Options& options);
int command_export(const Options& options);
int command_import(const Options& options);
int command_patch(const Options& options);
int command_diagnose(const Options& options);
int command_models(const Options& options);
int command_fields(const Options& options);
int command_gpus(const Options& options);

}  // namespace plimsoll::cli
