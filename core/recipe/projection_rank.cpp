// Transformers hands optim_args on as written, names and values between commas, and takes a rank of 128 where
// none is given (huggingface/transformers src/transformers/trainer_optimizer.py, v4.40 trainer.py).
#include <cstdlib>

#include "core/recipe/optimizers.h"
#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

double Recipe::projection_rank() const {
  constexpr double usual = 128;
  const Optimizer* optimizer = find_optimizer(training.optim);
  if (optimizer == nullptr || optimizer->projection == Projection::none) return 0;
  const std::string& args = training.optim_args;
  const std::string_view name = "rank=";
  for (std::size_t at = args.find(name); at != std::string::npos; at = args.find(name, at + 1)) {
    if (at > 0 && args[at - 1] != ' ' && args[at - 1] != ',') continue;
    const double rank = std::strtod(args.c_str() + at + name.size(), nullptr);
    return rank >= 1 ? rank : usual;
  }
  return usual;
}

}  // namespace plimsoll::recipe
