// A config.json that no preset holds: one of theirs with other sizes. What the sizes must agree on (heads and
// widths, lists with an entry a layer) is left as it is.
#include <algorithm>

#include "core/run/preset_files.h"
#include "tests/drawn/request.h"

namespace plimsoll::drawn {

namespace {

struct Published {
  std::string_view path;
  Json config;
};

const std::vector<Published>& published() {
  static const std::vector<Published> all = [] {
    std::vector<Published> found;
    for (const PresetFile& file : preset_files()) {
      if (file.path.substr(0, 7) != "models/") continue;
      json::Errors errors;
      const auto preset = json::parse(file.text, errors);
      if (preset && preset->contains("config")) found.push_back({file.path, preset->at("config")});
    }
    return found;
  }();
  return all;
}

bool has_list(const Json& config) {
  return std::any_of(config.begin(), config.end(), [](const Json& value) { return value.is_array(); });
}

void resize(Json& config, Dice& dice, bool few_layers) {
  const auto count = [&](const char* key) {
    return config.contains(key) && config.at(key).is_number_unsigned() ? config.at(key).get<uint64_t>() : 0;
  };
  if (count("vocab_size") > 0 && dice.one_in(2)) config["vocab_size"] = 500 + dice.draw(300000);
  if (count("max_position_embeddings") > 0 && dice.one_in(3))
    config["max_position_embeddings"] = uint64_t{512} << dice.draw(10);
  if (config.contains("tie_word_embeddings") && config.at("tie_word_embeddings").is_boolean() &&
      dice.one_in(3))
    config["tie_word_embeddings"] = dice.one_in(2);
  if (count("intermediate_size") > 0 && dice.one_in(2))
    config["intermediate_size"] = 128 * (1 + dice.draw(200));
  // Other layers than the first are of another kind in some families, so that few are left only where all are
  // alike.
  const uint64_t layers = count("num_hidden_layers");
  const bool alike = !has_list(config) && !config.contains("first_k_dense_replace") &&
                     !config.contains("hybrid_override_pattern") && count("num_experts") == 0;
  if (layers > 1 && alike && (few_layers || dice.one_in(2)))
    config["num_hidden_layers"] = 1 + dice.draw(few_layers ? 4 : layers + 8);
}

}  // namespace

Json drawn_config(Dice& dice, bool small) {
  Json config = dice.one_of(published()).config;
  resize(config, dice, small);
  for (const char* inner : {"text_config", "language_config"}) {
    if (config.contains(inner) && config.at(inner).is_object()) resize(config[inner], dice, small);
  }
  return config;
}

}  // namespace plimsoll::drawn
