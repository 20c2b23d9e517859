#include "core/recipe/sdpa_support.h"

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

namespace {

// Releases without it, `from` among them and `until` no more; empty: from the first, to the last.
struct Gap {
  std::string_view model_type;
  std::string_view from, until;
};

constexpr Gap gaps[] = {
    {"bert", "", "4.41"},       {"bloom", "", ""},         {"codegen", "", ""},
    {"deberta", "", ""},        {"deberta-v2", "", ""},    {"deepseek_v4", "", ""},
    {"distilbert", "", "4.46"}, {"electra", "", "5.0"},    {"gemma2", "4.45", "4.48"},
    {"gemma2", "5.21", ""},     {"gpt2", "", "4.42"},      {"gpt_neo", "", ""},
    {"gpt_neox", "", "4.42"},   {"gpt_oss", "", ""},       {"gptj", "", ""},
    {"m2m_100", "", "4.45"},    {"mbart", "", "4.45"},     {"mistral", "", "4.37"},
    {"mixtral", "", "4.37"},    {"mpt", "", ""},           {"mt5", "", "5.15"},
    {"opt", "", "4.46"},        {"persimmon", "", "4.53"}, {"phi", "", "4.39"},
    {"phi3", "", "4.45"},       {"roberta", "", "4.45"},   {"stablelm", "", "4.39"},
    {"t5", "", "5.15"},         {"xglm", "", ""},          {"xlm-roberta", "", "4.45"},
};

}  // namespace

bool supports_sdpa(std::string_view model_type, const std::string& transformers) {
  if (!version_at_least(transformers, "4.36")) return false;
  for (const Gap& gap : gaps) {
    if (gap.model_type != model_type) continue;
    const bool begun = gap.from.empty() || version_at_least(transformers, std::string(gap.from));
    const bool ended = !gap.until.empty() && version_at_least(transformers, std::string(gap.until));
    if (begun && !ended) return false;
  }
  return true;
}

}  // namespace plimsoll::recipe
