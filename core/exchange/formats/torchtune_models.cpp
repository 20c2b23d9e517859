// The model builders of torchtune and the checkpoints they were made for.
// meta-pytorch/torchtune torchtune/models/*/_model_builders.py.
#include "core/exchange/formats/torchtune_models.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

struct Builder {
  std::string_view name, model;
};
constexpr Builder builders[] = {
    {"llama2_7b", "meta-llama/Llama-2-7b-hf"},
    {"llama2_13b", "meta-llama/Llama-2-13b-hf"},
    {"llama2_70b", "meta-llama/Llama-2-70b-hf"},
    {"llama2_reward_7b", "meta-llama/Llama-2-7b-hf"},
    {"code_llama2_7b", "codellama/CodeLlama-7b-hf"},
    {"code_llama2_13b", "codellama/CodeLlama-13b-hf"},
    {"code_llama2_70b", "codellama/CodeLlama-70b-hf"},
    {"llama3_8b", "meta-llama/Meta-Llama-3-8B"},
    {"llama3_70b", "meta-llama/Meta-Llama-3-70B"},
    {"llama3_1_8b", "meta-llama/Llama-3.1-8B"},
    {"llama3_1_70b", "meta-llama/Llama-3.1-70B"},
    {"llama3_1_405b", "meta-llama/Llama-3.1-405B"},
    {"llama3_2_1b", "meta-llama/Llama-3.2-1B"},
    {"llama3_2_3b", "meta-llama/Llama-3.2-3B"},
    {"llama3_3_70b", "meta-llama/Llama-3.3-70B-Instruct"},
    {"llama3_2_vision_11b", "meta-llama/Llama-3.2-11B-Vision-Instruct"},
    {"llama3_2_vision_90b", "meta-llama/Llama-3.2-90B-Vision-Instruct"},
    {"llama4_scout_17b_16e", "meta-llama/Llama-4-Scout-17B-16E-Instruct"},
    {"llama4_maverick_17b_128e", "meta-llama/Llama-4-Maverick-17B-128E-Instruct"},
    {"gemma_2b", "google/gemma-2b"},
    {"gemma_7b", "google/gemma-7b"},
    {"gemma2_2b", "google/gemma-2-2b"},
    {"gemma2_9b", "google/gemma-2-9b"},
    {"gemma2_27b", "google/gemma-2-27b"},
    {"mistral_7b", "mistralai/Mistral-7B-v0.1"},
    {"mistral_reward_7b", "mistralai/Mistral-7B-v0.1"},
    {"phi3_mini", "microsoft/Phi-3-mini-4k-instruct"},
    {"phi4_14b", "microsoft/phi-4"},
    {"qwen2_0_5b", "Qwen/Qwen2-0.5B"},
    {"qwen2_1_5b", "Qwen/Qwen2-1.5B"},
    {"qwen2_7b", "Qwen/Qwen2-7B"},
    {"qwen2_5_0_5b", "Qwen/Qwen2.5-0.5B"},
    {"qwen2_5_1_5b_base", "Qwen/Qwen2.5-1.5B"},
    {"qwen2_5_1_5b_instruct", "Qwen/Qwen2.5-1.5B-Instruct"},
    {"qwen2_5_3b", "Qwen/Qwen2.5-3B"},
    {"qwen2_5_7b_base", "Qwen/Qwen2.5-7B"},
    {"qwen2_5_7b_instruct", "Qwen/Qwen2.5-7B-Instruct"},
    {"qwen2_5_14b_base", "Qwen/Qwen2.5-14B"},
    {"qwen2_5_14b_instruct", "Qwen/Qwen2.5-14B-Instruct"},
    {"qwen2_5_32b_base", "Qwen/Qwen2.5-32B"},
    {"qwen2_5_32b_instruct", "Qwen/Qwen2.5-32B-Instruct"},
    {"qwen2_5_72b_base", "Qwen/Qwen2.5-72B"},
    {"qwen2_5_72b_instruct", "Qwen/Qwen2.5-72B-Instruct"},
    {"qwen3_0_6b_base", "Qwen/Qwen3-0.6B-Base"},
    {"qwen3_0_6b_instruct", "Qwen/Qwen3-0.6B"},
    {"qwen3_1_7b_base", "Qwen/Qwen3-1.7B-Base"},
    {"qwen3_1_7b_instruct", "Qwen/Qwen3-1.7B"},
    {"qwen3_4b_base", "Qwen/Qwen3-4B-Base"},
    {"qwen3_4b_instruct", "Qwen/Qwen3-4B"},
    {"qwen3_8b_base", "Qwen/Qwen3-8B-Base"},
    {"qwen3_8b_instruct", "Qwen/Qwen3-8B"},
    {"qwen3_14b_base", "Qwen/Qwen3-14B-Base"},
    {"qwen3_14b_instruct", "Qwen/Qwen3-14B"},
    {"qwen3_32b", "Qwen/Qwen3-32B"},
};

}  // namespace

std::string_view model_of_builder(std::string_view name) {
  for (const Builder& row : builders) {
    if (row.name == name) return row.model;
  }
  return "";
}

std::string builder_of_model(std::string_view model, std::string_view method) {
  for (const Builder& row : builders) {
    if (model != row.model) continue;
    std::string family(row.name.substr(0, row.name.rfind('_')));
    // The module is the name without its size: llama3_1_8b lies in llama3_1, qwen2_0_5b in qwen2.
    for (std::string_view module :
         {"llama3_2_vision", "code_llama2", "llama2", "llama3_1", "llama3_2", "llama3_3", "llama3", "llama4",
          "gemma2", "gemma", "mistral", "phi3", "phi4", "qwen2_5", "qwen2", "qwen3"}) {
      if (row.name.substr(0, module.size()) != module) continue;
      family = module;
      break;
    }
    std::string component = "torchtune.models." + family + ".";
    component += method;
    component += row.name;
    return component;
  }
  return "";
}

// torchtune.models.llama2.llama2 with its numbers: the shapes of a LLaMA checkpoint.
void read_builder_shapes(Reading& reading) {
  const std::string section =
      reading.leaf("policy_model._component_") != nullptr ? "policy_model." : "model.";
  const std::string builder = reading.word(section + "_component_");
  const bool llama =
      builder == "torchtune.models.llama2.llama2" || builder == "torchtune.models.llama3.llama3";
  if (reading.has("/model") || !llama) return;
  const std::pair<const char*, const char*> names[] = {{"vocab_size", "vocab_size"},
                                                       {"num_layers", "num_hidden_layers"},
                                                       {"num_heads", "num_attention_heads"},
                                                       {"num_kv_heads", "num_key_value_heads"},
                                                       {"embed_dim", "hidden_size"},
                                                       {"max_seq_len", "max_position_embeddings"},
                                                       {"intermediate_dim", "intermediate_size"}};
  Json config = {{"model_type", "llama"}, {"architectures", Json::array({"LlamaForCausalLM"})}};
  for (const auto& [theirs, ours] : names) {
    Json value = reading.value(section + theirs);
    // torchtune/modules/common_utils scale_hidden_dim_for_mlp: two thirds of four times, in steps of 256.
    if (value.is_null() && std::string_view(theirs) == "intermediate_dim" && config.contains("hidden_size"))
      value = (config["hidden_size"].get<uint64_t>() * 8 / 3 + 255) / 256 * 256;
    if (!value.is_number_unsigned()) return;
    config[ours] = value;
  }
  config["tie_word_embeddings"] = false;
  reading.values["/model"] = Json{{"config", config}, {"name", "model of this configuration"}};
  reading.mark(*reading.leaf(section + "_component_"), Use::used);
}

}  // namespace plimsoll::exchange
