// What plans for a run are found from.
//
//     const recipe::ModelTraits traits = run::model_traits(run);
//     const advice::Basis basis = advice::basis_of(run, traits, catalog);
//     std::optional<advice::Changed> changed = advice::change(basis, {{"/peft/r", 8}});
#pragma once

#include "core/advice/change.h"
#include "core/advice/fix.h"
#include "core/run/run.h"

namespace plimsoll::advice {

/// `run`, `traits` and `catalog` outlive it.
Basis basis_of(const run::Run& run, const recipe::ModelTraits& traits, const run::Catalog& catalog);

/// What a fix may look at of it; `run` outlives it.
FixContext situation_of(const run::Run& run);

}  // namespace plimsoll::advice
