#include "core/memory/parameters/rotary_tables.h"

#include "core/memory/parameters/parameters.h"
#include "core/model/model_types.h"

namespace plimsoll::memory {

namespace {

// Until 4.30 the tables were left in the type of the angles.
constexpr const char* cast_since = "4.31";

}  // namespace

double rotary_table_bytes(const model::Architecture& network, const recipe::Recipe& recipe) {
  const std::string& code = recipe.model_args.implementation;
  if (code == "unsloth" || code == "litgpt" || code == "torchtune") return 0;
  const std::string& version = recipe.versions.transformers;
  const model::ModelType& type = model::model_type(network.model_type);
  if (type.rotary_tables_until == nullptr || recipe::version_at_least(version, type.rotary_tables_until))
    return 0;
  const bool wide = type.rotary_tables_in_fp32 || !recipe::version_at_least(version, cast_since);
  const double size = wide ? 4 : dtype_size(recipe.model_args.dtype);
  double rows = 0;  // of both tables, in all layers
  for (const model::LayerGroup& group : network.stacks.front().groups)
    rows += static_cast<double>(group.layers * group.head_dim) * group.rotary_share;
  return 2 * rows * static_cast<double>(network.max_position_embeddings) * size;
}

}  // namespace plimsoll::memory
