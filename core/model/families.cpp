#include "core/model/families.h"

#include <utility>

namespace plimsoll::model {

namespace {

struct Family {
  std::string_view model_type;
  Kind kind;
  FamilyReader read;
};

using namespace families;

constexpr Family table[] = {
    {"llama", Kind::decoder, read_llama},
    {"Yi", Kind::decoder, read_llama},
    {"mistral", Kind::decoder, read_mistral},
    {"ministral", Kind::decoder, read_mistral},
    {"ministral3", Kind::decoder, read_mistral},
    {"mixtral", Kind::decoder, read_mixtral},
    {"granite", Kind::decoder, read_granite},
    {"smollm3", Kind::decoder, read_smollm3},
    {"stablelm", Kind::decoder, read_stablelm},
    {"stablelm_epoch", Kind::decoder, read_stablelm},
    {"cohere", Kind::decoder, read_cohere},
    {"cohere2", Kind::decoder, read_cohere2},
    {"olmo", Kind::decoder, read_olmo},
    {"olmo2", Kind::decoder, read_olmo2},
    {"olmo3", Kind::decoder, read_olmo3},
    {"olmoe", Kind::decoder, read_olmoe},
    {"seed_oss", Kind::decoder, read_seed_oss},
    {"apertus", Kind::decoder, read_apertus},
    {"nemotron", Kind::decoder, read_nemotron},
    {"arcee", Kind::decoder, read_arcee},
    {"ernie4_5", Kind::decoder, read_ernie4_5},
    {"hunyuan_v1_dense", Kind::decoder, read_hunyuan_dense},
    {"exaone4", Kind::decoder, read_exaone4},
    {"lfm2", Kind::decoder, read_lfm2},
    {"lfm2_moe", Kind::decoder, read_lfm2_moe},
    {"starcoder2", Kind::decoder, read_starcoder2},
    {"gpt_bigcode", Kind::decoder, read_gpt_bigcode},
    {"granitemoehybrid", Kind::decoder, read_granite_hybrid},
    {"internlm", Kind::decoder, read_internlm},
    {"internlm2", Kind::decoder, read_internlm2},
    {"internlm3", Kind::decoder, read_llama},
    {"baichuan", Kind::decoder, read_baichuan},
    {"qwen", Kind::decoder, read_qwen},
    {"qwen2", Kind::decoder, read_qwen2},
    {"mimo", Kind::decoder, read_qwen2},
    {"qwen2_vl_text", Kind::decoder, read_qwen2_vl_text},
    {"qwen2_5_vl_text", Kind::decoder, read_qwen2_vl_text},
    {"qwen2_moe", Kind::decoder, read_qwen2_moe},
    {"qwen3", Kind::decoder, read_qwen3},
    {"qwen3_moe", Kind::decoder, read_qwen3_moe},
    {"qwen3_vl_text", Kind::decoder, read_qwen3},
    {"qwen3_vl_moe_text", Kind::decoder, read_qwen3_vl_moe_text},
    {"qwen3_next", Kind::decoder, read_qwen3_next},
    {"qwen3_5_text", Kind::decoder, read_qwen3_5_text},
    {"qwen3_5_moe_text", Kind::decoder, read_qwen3_5_moe_text},
    {"gemma", Kind::decoder, read_gemma},
    {"gemma2", Kind::decoder, read_gemma2},
    {"gemma3_text", Kind::decoder, read_gemma3_text},
    {"gemma4_text", Kind::decoder, read_gemma4_text},
    {"phi", Kind::decoder, read_phi},
    {"phi3", Kind::decoder, read_phi3},
    {"glm", Kind::decoder, read_glm},
    {"glm4", Kind::decoder, read_glm4},
    {"chatglm", Kind::decoder, read_chatglm},
    {"glm4_moe", Kind::decoder, read_glm4_moe},
    {"deepseek_v2", Kind::decoder, read_deepseek_v2},
    {"deepseek_v3", Kind::decoder, read_deepseek_v3},
    {"glm4_moe_lite", Kind::decoder, read_glm4_moe_lite},
    {"gpt_oss", Kind::decoder, read_gpt_oss},
    {"gpt2", Kind::decoder, read_gpt2},
    {"gptj", Kind::decoder, read_gptj},
    {"gpt_neox", Kind::decoder, read_gpt_neox},
    {"opt", Kind::decoder, read_opt},
    {"bloom", Kind::decoder, read_bloom},
    {"falcon", Kind::decoder, read_falcon},
    {"RefinedWeb", Kind::decoder, read_falcon},
    {"RefinedWebModel", Kind::decoder, read_falcon},
    {"mpt", Kind::decoder, read_mpt},
    {"mllama_text_model", Kind::decoder, read_mllama_text},
    {"llama4_text", Kind::decoder, read_llama4_text},
    {"bert", Kind::encoder, read_bert},
    {"roberta", Kind::encoder, read_roberta},
    {"xlm-roberta", Kind::encoder, read_roberta},
    {"camembert", Kind::encoder, read_roberta},
    {"modernbert", Kind::encoder, read_modernbert},
    {"t5", Kind::encoder_decoder, read_t5},
    {"mt5", Kind::encoder_decoder, read_mt5},
    {"whisper", Kind::encoder_decoder, read_whisper},
    {"m2m_100", Kind::encoder_decoder, read_m2m_100},
    {"llava", Kind::vlm, read_llava},
    {"llava_next", Kind::vlm, read_llava_next},
    {"mistral3", Kind::vlm, read_mistral3},
    {"paligemma", Kind::vlm, read_paligemma},
    {"gemma3", Kind::vlm, read_gemma3},
    {"gemma4", Kind::vlm, read_gemma4},
    {"lfm2_vl", Kind::vlm, read_lfm2_vl},
    {"lfm2-vl", Kind::vlm, read_lfm2_vl},
    {"internvl", Kind::vlm, read_internvl},
    {"qwen2_vl", Kind::vlm, read_qwen2_vl},
    {"qwen2_5_vl", Kind::vlm, read_qwen2_5_vl},
    {"qwen3_vl", Kind::vlm, read_qwen3_vl},
    {"qwen3_vl_moe", Kind::vlm, read_qwen3_vl_moe},
    {"qwen3_5", Kind::vlm, read_qwen3_5},
    {"qwen3_5_moe", Kind::vlm, read_qwen3_5_moe},
    {"mllama", Kind::vlm, read_mllama},
    {"llama4", Kind::vlm, read_llama4},
    {"idefics", Kind::vlm, read_idefics},
    {"idefics2", Kind::vlm, read_idefics2},
    {"idefics3", Kind::vlm, read_idefics3},
    {"smolvlm", Kind::vlm, read_idefics3},
    {"blip-2", Kind::vlm, read_blip2},
    {"instructblip", Kind::vlm, read_instructblip},
    {"internvl_chat", Kind::vlm, read_internvl_chat},
    {"minicpmv", Kind::vlm, read_minicpmv},
    {"phi3_v", Kind::vlm, read_phi3_v},
};

const Family* find_family(std::string_view model_type) {
  for (const Family& family : table) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

void note_unknown(const std::string& model_type, const std::string& pointer, Architecture& network) {
  const std::string name = model_type.empty() ? "The config has no model_type"
                                              : "The model_type \"" + model_type + "\" is not known here";
  network.notes.push_back(
      {"unknown_model_type", name + "; its fields are those of Llama, so it was read as a Llama.", pointer});
}

}  // namespace

void read_text_model(ConfigReader& config, std::string_view fallback_type, const Frame& frame,
                     Architecture& network) {
  const std::string model_type = config.text("model_type", fallback_type);
  read_checkpoint_dtype(config, network);
  const Family* family = find_family(model_type);
  if (family == nullptr) {
    note_unknown(model_type, config.pointer("model_type"), network);
    read_unknown(config, frame, network);
  } else {
    family->read(config, frame, network);
  }
}

std::optional<Architecture> read_config(const json::Json& value, const std::string& name,
                                        const std::string& pointer, json::Errors& errors) {
  json::Errors found;
  ConfigReader config(value, pointer, found);
  Architecture network;
  if (found.empty()) {
    network.name = name;
    network.model_type = config.text("model_type", "");
    read_checkpoint_dtype(config, network);
    if (const Family* family = find_family(network.model_type)) {
      network.kind = family->kind;
      family->read(config, {}, network);
    } else {
      note_unknown(network.model_type, config.pointer("model_type"), network);
      read_unknown(config, {}, network);
    }
  }
  if (found.empty()) return network;
  for (json::Error& error : found) errors.push_back(std::move(error));
  return std::nullopt;
}

}  // namespace plimsoll::model
