#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> adafactor_levels(const FixContext& s) {
  if (s.recipe.training.optim == "adafactor" || s.recipe.training.optim.rfind("sgd", 0) == 0) return {};
  return {{{{"/training/optim", "adafactor"}}, quality::small}};
}

constexpr Setting adafactor_settings[] = {
    {"hf trl unsloth", "TrainingArguments(optim=\"adafactor\")"},
    {"axolotl", "optimizer: adafactor"},
    {"llamafactory", "optim: adafactor"},
    {"ms-swift", "--optim adafactor"},
    {"torchtune", "optimizer: {_component_: torch.optim.Adafactor}"},
    {"litgpt", "--optimizer torch.optim.Adafactor"},
    {"loop", "optimizer = torch.optim.Adafactor(model.parameters(), lr=lr)"},
};

}  // namespace

const Fix adafactor = {
    .id = "adafactor",
    .title = "Adafactor",
    .slot = "optimizer",
    .effort = "one setting",
    .why = "Row and column sums stand in for the second state, and there is no first.",
    .evidence =
        "No momentum and another step size: it needs its own learning rate and is less stable on small "
        "batches.",
    .source = "Shazeer and Stern 2018, arXiv:1804.04235; huggingface/transformers optimization.py Adafactor",
    .levels = adafactor_levels,
    .settings = adafactor_settings,
};

}  // namespace plimsoll::advice
