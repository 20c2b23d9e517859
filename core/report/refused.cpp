#include "core/report/refused.h"

#include "core/advice/refused.h"

namespace plimsoll::report {

std::vector<model::Note> refused(const run::Run& run) {
  const recipe::Refusing around = advice::refusing(run.network, run.gpu);
  const recipe::Recipe& recipe = run.resolved.recipe;
  std::vector<model::Note> notes;
  for (const recipe::Refusal* row : recipe::refusals_of(recipe, around)) {
    const std::string library(row->library), instead(row->instead);
    notes.push_back({"refused",
                     library + " stops with \"" + error_of(*row, recipe, around) + "\" Instead: " + instead,
                     std::string(row->source)});
  }
  return notes;
}

}  // namespace plimsoll::report
