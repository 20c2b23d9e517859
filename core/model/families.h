// Which reader understands which model_type.
//
//     Architecture network;
//     ConfigReader text = config.part("text_config");
//     read_text_model(text, "llama", {"model.language_model.", true, "lm_head"}, network);
//
// Adding a family: one reader in families/, one line here, one line in the table of family_table.cpp.
#pragma once

#include <string_view>

#include "core/model/architecture.h"
#include "core/model/builders.h"
#include "core/model/config_reader.h"
#include "core/model/decoder.h"

namespace plimsoll::model {

using FamilyReader = void (*)(ConfigReader& config, const Frame& frame, Architecture& network);

/// Reads the text model of a larger one. `fallback_type` is the class that stands in when the part names
/// none.
void read_text_model(ConfigReader& config, std::string_view fallback_type, const Frame& frame,
                     Architecture& network);

namespace families {

// families/llama.cpp
void read_llama(ConfigReader&, const Frame&, Architecture&);
void read_mistral(ConfigReader&, const Frame&, Architecture&);
void read_mixtral(ConfigReader&, const Frame&, Architecture&);
void read_granite(ConfigReader&, const Frame&, Architecture&);
void read_smollm3(ConfigReader&, const Frame&, Architecture&);
void read_stablelm(ConfigReader&, const Frame&, Architecture&);
void read_cohere(ConfigReader&, const Frame&, Architecture&);
void read_cohere2(ConfigReader&, const Frame&, Architecture&);
void read_seed_oss(ConfigReader&, const Frame&, Architecture&);
void read_apertus(ConfigReader&, const Frame&, Architecture&);
void read_nemotron(ConfigReader&, const Frame&, Architecture&);
void read_arcee(ConfigReader&, const Frame&, Architecture&);
void read_ernie4_5(ConfigReader&, const Frame&, Architecture&);
void read_hunyuan_dense(ConfigReader&, const Frame&, Architecture&);
void read_exaone4(ConfigReader&, const Frame&, Architecture&);
void read_unknown(ConfigReader&, const Frame&, Architecture&);
// families/olmo.cpp
void read_olmo(ConfigReader&, const Frame&, Architecture&);
void read_olmo2(ConfigReader&, const Frame&, Architecture&);
void read_olmo3(ConfigReader&, const Frame&, Architecture&);
void read_olmoe(ConfigReader&, const Frame&, Architecture&);
// families/internlm.cpp
void read_internlm(ConfigReader&, const Frame&, Architecture&);
void read_internlm2(ConfigReader&, const Frame&, Architecture&);
void read_baichuan(ConfigReader&, const Frame&, Architecture&);
// families/qwen.cpp
void read_qwen2(ConfigReader&, const Frame&, Architecture&);
void read_qwen2_vl_text(ConfigReader&, const Frame&, Architecture&);
void read_qwen2_moe(ConfigReader&, const Frame&, Architecture&);
void read_qwen3(ConfigReader&, const Frame&, Architecture&);
void read_qwen3_moe(ConfigReader&, const Frame&, Architecture&);
void read_qwen3_vl_moe_text(ConfigReader&, const Frame&, Architecture&);
void read_qwen3_next(ConfigReader&, const Frame&, Architecture&);
void read_qwen3_5_text(ConfigReader&, const Frame&, Architecture&);
void read_qwen3_5_moe_text(ConfigReader&, const Frame&, Architecture&);
// families/gemma.cpp
void read_gemma(ConfigReader&, const Frame&, Architecture&);
void read_gemma2(ConfigReader&, const Frame&, Architecture&);
void read_gemma3_text(ConfigReader&, const Frame&, Architecture&);
// families/gemma4.cpp
void read_gemma4_text(ConfigReader&, const Frame&, Architecture&);
void read_gemma4(ConfigReader&, const Frame&, Architecture&);
void read_gemma4_unified(ConfigReader&, const Frame&, Architecture&);
// families/lfm.cpp
void read_lfm2(ConfigReader&, const Frame&, Architecture&);
void read_lfm2_moe(ConfigReader&, const Frame&, Architecture&);
void read_lfm2_vl(ConfigReader&, const Frame&, Architecture&);
// families/starcoder.cpp
void read_starcoder2(ConfigReader&, const Frame&, Architecture&);
void read_gpt_bigcode(ConfigReader&, const Frame&, Architecture&);
// families/granite_hybrid.cpp
void read_granite_hybrid(ConfigReader&, const Frame&, Architecture&);
// families/mamba.cpp, hybrids.cpp
void read_mamba(ConfigReader&, const Frame&, Architecture&);
void read_mamba2(ConfigReader&, const Frame&, Architecture&);
void read_jamba(ConfigReader&, const Frame&, Architecture&);
void read_falcon_h1(ConfigReader&, const Frame&, Architecture&);
void read_nemotron_h(ConfigReader&, const Frame&, Architecture&);
// families/dbrx.cpp, btlm.cpp, gemma3n.cpp, audio_text.cpp, paddleocr_vl.cpp
void read_dbrx(ConfigReader&, const Frame&, Architecture&);
void read_btlm(ConfigReader&, const Frame&, Architecture&);
void read_gemma3n_text(ConfigReader&, const Frame&, Architecture&);
void read_gemma3n(ConfigReader&, const Frame&, Architecture&);
void read_voxtral(ConfigReader&, const Frame&, Architecture&);
void read_qwen2_audio(ConfigReader&, const Frame&, Architecture&);
void read_paddleocr_vl(ConfigReader&, const Frame&, Architecture&);
// families/moe_relatives.cpp
void read_minimax_m2(ConfigReader&, const Frame&, Architecture&);
void read_ernie4_5_moe(ConfigReader&, const Frame&, Architecture&);
void read_granite_moe(ConfigReader&, const Frame&, Architecture&);
void read_phimoe(ConfigReader&, const Frame&, Architecture&);
void read_hunyuan_moe(ConfigReader&, const Frame&, Architecture&);
void read_afmoe(ConfigReader&, const Frame&, Architecture&);
// families/phi.cpp
void read_phi(ConfigReader&, const Frame&, Architecture&);
void read_phi3(ConfigReader&, const Frame&, Architecture&);
// families/glm.cpp
void read_glm(ConfigReader&, const Frame&, Architecture&);
void read_glm4(ConfigReader&, const Frame&, Architecture&);
void read_glm4v_text(ConfigReader&, const Frame&, Architecture&);
void read_chatglm(ConfigReader&, const Frame&, Architecture&);
void read_glm4_moe(ConfigReader&, const Frame&, Architecture&);
// families/glm_vision.cpp, kimi_linear.cpp, deepseek_v4.cpp
void read_glm4v(ConfigReader&, const Frame&, Architecture&);
void read_kimi_linear(ConfigReader&, const Frame&, Architecture&);
void read_deepseek_v4(ConfigReader&, const Frame&, Architecture&);
// families/deepseek.cpp
void read_deepseek_v32(ConfigReader&, const Frame&, Architecture&);
void read_glm_moe_dsa(ConfigReader&, const Frame&, Architecture&);
void read_mistral4(ConfigReader&, const Frame&, Architecture&);
void read_deepseek_v2(ConfigReader&, const Frame&, Architecture&);
void read_deepseek_v3(ConfigReader&, const Frame&, Architecture&);
void read_glm4_moe_lite(ConfigReader&, const Frame&, Architecture&);
// families/gpt_oss.cpp
void read_gpt_oss(ConfigReader&, const Frame&, Architecture&);
// families/gpt.cpp
void read_gpt2(ConfigReader&, const Frame&, Architecture&);
void read_gpt_neo(ConfigReader&, const Frame&, Architecture&);
void read_gptj(ConfigReader&, const Frame&, Architecture&);
void read_gpt_neox(ConfigReader&, const Frame&, Architecture&);
// families/opt.cpp, bloom.cpp, falcon.cpp, mpt.cpp
void read_opt(ConfigReader&, const Frame&, Architecture&);
void read_bloom(ConfigReader&, const Frame&, Architecture&);
void read_falcon(ConfigReader&, const Frame&, Architecture&);
void read_mpt(ConfigReader&, const Frame&, Architecture&);
void read_replit(ConfigReader&, const Frame&, Architecture&);
// families/bert.cpp
void read_bert(ConfigReader&, const Frame&, Architecture&);
void read_roberta(ConfigReader&, const Frame&, Architecture&);
void read_modernbert(ConfigReader&, const Frame&, Architecture&);
// families/bert_relatives.cpp
void read_distilbert(ConfigReader&, const Frame&, Architecture&);
void read_electra(ConfigReader&, const Frame&, Architecture&);
void read_mpnet(ConfigReader&, const Frame&, Architecture&);
void read_deberta_v2(ConfigReader&, const Frame&, Architecture&);
void read_nomic_bert(ConfigReader&, const Frame&, Architecture&);
// families/t5.cpp
void read_t5(ConfigReader&, const Frame&, Architecture&);
void read_mt5(ConfigReader&, const Frame&, Architecture&);
// families/whisper.cpp
void read_bart(ConfigReader&, const Frame&, Architecture&);
void read_mbart(ConfigReader&, const Frame&, Architecture&);
void read_whisper(ConfigReader&, const Frame&, Architecture&);
void read_m2m_100(ConfigReader&, const Frame&, Architecture&);
void read_pegasus(ConfigReader&, const Frame&, Architecture&);
void read_marian(ConfigReader&, const Frame&, Architecture&);
// families/llava.cpp
void read_llava(ConfigReader&, const Frame&, Architecture&);
void read_llava_next(ConfigReader&, const Frame&, Architecture&);
void read_mistral3(ConfigReader&, const Frame&, Architecture&);
void read_paligemma(ConfigReader&, const Frame&, Architecture&);
void read_gemma3(ConfigReader&, const Frame&, Architecture&);
void read_internvl(ConfigReader&, const Frame&, Architecture&);
// families/qwen_vl.cpp
void read_qwen2_vl(ConfigReader&, const Frame&, Architecture&);
void read_qwen2_5_vl(ConfigReader&, const Frame&, Architecture&);
void read_qwen3_vl(ConfigReader&, const Frame&, Architecture&);
void read_qwen3_vl_moe(ConfigReader&, const Frame&, Architecture&);
void read_moss_vl(ConfigReader&, const Frame&, Architecture&);
void read_qwen3_5(ConfigReader&, const Frame&, Architecture&);
void read_qwen3_5_moe(ConfigReader&, const Frame&, Architecture&);
// families/llama_vision.cpp
void read_mllama_text(ConfigReader&, const Frame&, Architecture&);
void read_mllama(ConfigReader&, const Frame&, Architecture&);
void read_llama4_text(ConfigReader&, const Frame&, Architecture&);
void read_llama4(ConfigReader&, const Frame&, Architecture&);
// families/idefics.cpp
void read_idefics(ConfigReader&, const Frame&, Architecture&);
void read_idefics2(ConfigReader&, const Frame&, Architecture&);
void read_idefics3(ConfigReader&, const Frame&, Architecture&);
// families/blip.cpp
void read_blip2(ConfigReader&, const Frame&, Architecture&);
void read_instructblip(ConfigReader&, const Frame&, Architecture&);
// families/own_code_vision.cpp
void read_internvl_chat(ConfigReader&, const Frame&, Architecture&);
void read_minicpmv(ConfigReader&, const Frame&, Architecture&);
void read_phi3_v(ConfigReader&, const Frame&, Architecture&);
void read_qwen(ConfigReader&, const Frame&, Architecture&);

}  // namespace families
}  // namespace plimsoll::model
