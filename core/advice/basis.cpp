#include "core/advice/basis.h"

namespace plimsoll::advice {

namespace {

const hardware::Gpu& timed_on(const run::Run& run, const run::Catalog& catalog) {
  static const hardware::Gpu none{};
  const bool known = run.gpu != nullptr && run.gpu->tensor_flops > 0;
  if (known) return *run.gpu;
  const hardware::Gpu* usual = catalog.find_gpu("a100-sxm-80");
  return usual == nullptr ? none : *usual;
}

}  // namespace

Basis basis_of(const run::Run& run, const recipe::ModelTraits& traits, const run::Catalog& catalog) {
  return {run.network,
          run.given,
          *run.stack,
          traits,
          run.resolved,
          run.gpu,
          timed_on(run, catalog),
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
