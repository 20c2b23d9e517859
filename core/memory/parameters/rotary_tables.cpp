#include "core/memory/parameters/rotary_tables.h"

#include <string_view>

#include "core/memory/parameters/parameters.h"

namespace plimsoll::memory {

namespace {

struct Family {
  std::string_view model_type;
  const char* gone;  ///< the first release without tables
  bool fp32;         ///< never cast to the type of the model
};
constexpr Family families[] = {
    {"llama", "4.41", false},      {"olmo", "4.41", false},      {"mistral", "4.42", false},
    {"mixtral", "4.48", false},    {"qwen2", "4.45", false},     {"qwen2_moe", "4.45", false},
    {"phi", "4.45", false},        {"persimmon", "4.45", false}, {"stablelm", "4.45", false},
    {"starcoder2", "4.45", false}, {"falcon", "4.45", false},    {"gpt_neox", "4.45", true},
};

// Until 4.30 the tables were left in the type of the angles.
constexpr const char* cast_since = "4.31";

}  // namespace

double rotary_table_bytes(const model::Architecture& network, const recipe::Recipe& recipe) {
  const std::string& code = recipe.model_args.implementation;
  if (code == "unsloth" || code == "litgpt" || code == "torchtune") return 0;
  const std::string& version = recipe.versions.transformers;
  for (const Family& family : families) {
    if (network.model_type != family.model_type) continue;
    if (recipe::version_at_least(version, family.gone)) return 0;
    const bool wide = family.fp32 || !recipe::version_at_least(version, cast_since);
    const double size = wide ? 4 : dtype_size(recipe.model_args.dtype);
    double rows = 0;  // of both tables, in all layers
    for (const model::LayerGroup& group : network.stacks.front().groups)
      rows += static_cast<double>(group.layers * group.head_dim) * group.rotary_share;
    return 2 * rows * static_cast<double>(network.max_position_embeddings) * size;
  }
  return 0;
}

}  // namespace plimsoll::memory
