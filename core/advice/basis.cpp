#include "core/advice/basis.h"

#include "core/run/machines.h"

namespace plimsoll::advice {

Basis basis_of(const run::Run& run, const recipe::ModelTraits& traits, const run::Catalog& catalog) {
  return {run.network,
          run.given,
          *run.stack,
          traits,
          run.resolved,
          run.gpu,
          run::timed_on(run, catalog),
          card_of(run),
          run.resolved.recipe.locks,
          run.widening,
          &catalog.evidence,
          run.adapted_network ? &*run.adapted_network : nullptr};
}

FixContext situation_of(const run::Run& run) {
  return {run.network, run.resolved.recipe, run.resolved.values, run.gpu};
}

}  // namespace plimsoll::advice
