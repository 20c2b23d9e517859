// What read_config makes of a config.json beyond the count: groups, heads, windows, dropouts, experts,
// images, and every way in which a config can be wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/model/architecture.h"
#include "tests/core/model_presets.h"

namespace plimsoll::model {
namespace {

json::Json parsed(const std::string& text) {
  json::Errors errors;
  auto tree = json::parse(text, errors);
  EXPECT_TRUE(tree.has_value()) << text;
  return tree ? *tree : json::Json();
}

Architecture read(const std::string& text) {
  json::Errors errors;
  auto network = read_config(parsed(text), "mine", "/model/config", errors);
  for (const json::Error& error : errors) ADD_FAILURE() << error.pointer << " " << error.message;
  return network ? *network : Architecture{};
}

json::Errors refusal(const std::string& text) {
  json::Errors errors;
  EXPECT_FALSE(read_config(parsed(text), "mine", "/model/config", errors).has_value()) << text;
  for (const json::Error& error : errors) EXPECT_EQ(error.code, "unreadable_config") << error.message;
  return errors;
}

const LayerGroup* group(const Architecture& network, const std::string& name) {
  for (const Stack& stack : network.stacks) {
    for (const LayerGroup& group : stack.groups) {
      if (group.name == name) return &group;
    }
  }
  ADD_FAILURE() << network.name << " has no " << name;
  static const LayerGroup none;
  return &none;
}

TEST(ModelReading, WindowsAndKeyValueHeadsOfMistralFollowItsConfig) {
  const LayerGroup& old = network("mistral-7b-v0.1").stacks[0].groups[0];
  EXPECT_EQ(old.window, 4096u);
  EXPECT_EQ(old.attention, AttentionKind::sliding);
  EXPECT_EQ(old.kv_heads, 8u);
  const LayerGroup& young = network("mistral-7b-v0.3").stacks[0].groups[0];
  EXPECT_EQ(young.window, 0u);
  EXPECT_EQ(young.attention, AttentionKind::full);
  EXPECT_EQ(network("mistral-7b-v0.3").checkpoint_dtype, "bfloat16");
}

// 128 experts stood in for what a config without the key meant: 125 GiB in silence.
TEST(ModelReading, AConfigOfExpertsThatDoesNotSayHowManyIsRefused) {
  const std::string sizes =
      R"("hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 4, "num_attention_heads": 32,)"
      R"("num_key_value_heads": 4, "vocab_size": 32000})";
  for (const char* type : {"qwen2_moe", "qwen3_moe", "mixtral", "olmoe", "gpt_oss", "deepseek_v3", "glm4_moe",
                           "granitemoe", "minimax_m2", "ernie4_5_moe", "phimoe", "jamba"}) {
    const json::Errors errors = refusal(std::string(R"({"model_type": ")") + type + R"(", )" + sizes);
    bool named = false;
    for (const json::Error& error : errors)
      named = named || error.pointer.find("experts") != std::string::npos;
    EXPECT_TRUE(named) << type;
  }
}

TEST(ModelReading, AlternatingLayersBecomeGroupsOfTheirKind) {
  EXPECT_EQ(group(network("gemma-2-9b"), "sliding-window layers")->layers, 21u);
  EXPECT_EQ(group(network("gemma-3-4b-pt"), "sliding-window layers")->layers, 29u);
  EXPECT_EQ(group(network("gemma-3-4b-pt"), "full-attention layers")->layers, 5u);
  EXPECT_EQ(group(network("gpt-oss-20b"), "sliding-window layers")->window, 128u);
  EXPECT_EQ(group(network("qwen3.5-27b"), "linear-attention layers")->layers, 48u);
  EXPECT_TRUE(group(network("qwen3.5-27b"), "full-attention layers")->attention_output_gate);
  EXPECT_EQ(group(network("llama-3.2-11b-vision-instruct"), "cross-attention layers")->layers, 8u);
  EXPECT_EQ(group(network("modernbert-base"), "global layers")->layers, 7u);
  EXPECT_EQ(group(network("modernbert-base"), "local layers")->layers, 14u);
}

TEST(ModelReading, LatentAttentionAndDenseFirstLayersOfDeepSeek) {
  const Architecture& v3 = network("deepseek-v3");
  EXPECT_EQ(group(v3, "dense layers")->layers, 3u);
  const LayerGroup& experts = *group(v3, "expert layers");
  EXPECT_EQ(experts.layers, 58u);
  EXPECT_EQ(experts.attention, AttentionKind::latent);
  EXPECT_EQ(experts.head_dim, 192u);
  EXPECT_EQ(experts.value_head_dim, 128u);
  EXPECT_EQ(experts.experts, 256u);
  EXPECT_EQ(experts.experts_per_token, 8u);
  EXPECT_EQ(experts.shared_intermediate, 2048u);
  ASSERT_NE(find(experts, Role::kv_b), nullptr);
  EXPECT_EQ(find(experts, Role::q), nullptr);
}

TEST(ModelReading, ModulesSayWhatPeftCanSee) {
  EXPECT_EQ(find(network("gpt2").stacks[0].groups[0], Role::qkv)->module, Module::conv1d);
  EXPECT_EQ(find(network("mixtral-8x7b-v0.1").stacks[0].groups[0], Role::gate)->module, Module::linear);
  const LayerGroup& oss = network("gpt-oss-20b").stacks[0].groups[0];
  EXPECT_EQ(find(oss, Role::gate_up)->module, Module::parameter);
  EXPECT_EQ(find(oss, Role::gate_up)->count, 32u);
  EXPECT_EQ(find(oss, Role::router)->module, Module::parameter);
}

TEST(ModelReading, DropoutsAreThoseOfTheConfigElseOfTheClass) {
  const Architecture silent =
      read(R"({"model_type":"gpt2","n_embd":64,"n_layer":2,"n_head":4,"vocab_size":100,"n_positions":32})");
  EXPECT_DOUBLE_EQ(silent.stacks[0].groups[0].attention_dropout, 0.1);
  EXPECT_DOUBLE_EQ(silent.stacks[0].groups[0].residual_dropout, 0.1);
  EXPECT_DOUBLE_EQ(silent.stacks[0].embedding_dropout, 0.1);
  EXPECT_DOUBLE_EQ(network("phi-2").stacks[0].groups[0].residual_dropout, 0.1);
  EXPECT_DOUBLE_EQ(network("seed-oss-36b-instruct").stacks[0].groups[0].residual_dropout, 0.1);
  EXPECT_DOUBLE_EQ(network("seed-oss-36b-instruct").stacks[0].groups[0].attention_dropout, 0.1);
  EXPECT_DOUBLE_EQ(network("llama-3.1-8b").stacks[0].groups[0].attention_dropout, 0);
}

TEST(ModelReading, LayersSideBySideAndPlainMlpsAreMarked) {
  EXPECT_TRUE(network("phi-2").stacks[0].groups[0].parallel);
  EXPECT_TRUE(network("falcon-7b").stacks[0].groups[0].parallel);
  EXPECT_FALSE(network("phi-2").stacks[0].groups[0].gated);
  EXPECT_TRUE(network("phi-4").stacks[0].groups[0].gated);
  EXPECT_EQ(network("opt-1.3b").stacks[0].groups[0].activation, Activation::relu);
  EXPECT_TRUE(network("gemma-2-2b").stacks[0].groups[0].norms[0].fp32_weight_product);
  EXPECT_FALSE(network("olmo-7b-hf").stacks[0].groups[0].norms[0].weight);
  EXPECT_DOUBLE_EQ(network("gemma-2-2b").logit_softcap, 30);
}

TEST(ModelReading, HeadsThatAreTheEmbeddingHaveNoLinear) {
  EXPECT_TRUE(network("qwen2.5-3b").tied_head);
  EXPECT_FALSE(network("qwen2.5-7b").tied_head);
  for (const PlacedLinear& at : linears(network("qwen2.5-3b"))) EXPECT_NE(at.linear->role, Role::head);
}

TEST(ModelReading, ImagesBecomeAsManyTokensAsThePublishedProcessorsMake) {
  EXPECT_EQ(network("llava-1.5-7b-hf").image.tokens, 576u);
  EXPECT_EQ(network("llava-1.5-7b-hf").image.tower_tokens, 577u);
  EXPECT_EQ(network("paligemma-3b-pt-448").image.tokens, 1024u);
  EXPECT_EQ(network("gemma-3-4b-pt").image.tokens, 256u);
  EXPECT_EQ(network("gemma-3-4b-pt").image.tower_tokens, 4096u);
  EXPECT_EQ(network("blip2-opt-2.7b").image.tokens, 32u);
  EXPECT_EQ(network("internvl3-8b").image.tokens, 256u);
  EXPECT_EQ(network("llama-4-scout-17b-16e-instruct").image.tokens, 144u);
  EXPECT_EQ(network("idefics3-8b-llama3").image.tokens, 169u);
  EXPECT_EQ(network("minicpm-v-2_6").image.tokens, 64u);
  EXPECT_EQ(network("llama-3.2-11b-vision-instruct").image.tokens, 1601u);
  EXPECT_EQ(network("llama-3.2-11b-vision-instruct").image.rule, ImageTokens::Rule::cross);
  EXPECT_EQ(network("qwen2-vl-7b-instruct").image.rule, ImageTokens::Rule::grid);
  EXPECT_EQ(network("qwen2-vl-7b-instruct").image.patch, 14u);
  EXPECT_EQ(network("qwen3-vl-8b-instruct").image.patch, 16u);
  EXPECT_EQ(network("qwen3-vl-8b-instruct").image.merge, 2u);
  EXPECT_EQ(network("llama-3.1-8b").image.rule, ImageTokens::Rule::none);
}

// As on the hub: llava-hf/llava-1.5-7b-hf leaves the sizes of its text model to LlamaConfig.
TEST(ModelReading, PartsOfAPublishedConfigLeanOnTheDefaultsOfTheirClass) {
  const Architecture llava =
      read(R"({"architectures": ["LlavaForConditionalGeneration"], "ignore_index": -100,
    "image_token_index": 32000, "model_type": "llava", "pad_token_id": 32001, "projector_hidden_act": "gelu",
    "text_config": {"_name_or_path": "lmsys/vicuna-7b-v1.5", "architectures": ["LlamaForCausalLM"],
      "max_position_embeddings": 4096, "model_type": "llama", "rms_norm_eps": 1e-05, "torch_dtype": "float16",
      "vocab_size": 32064},
    "tie_word_embeddings": false, "torch_dtype": "float16", "transformers_version": "4.36.0.dev0",
    "vision_config": {"hidden_size": 1024, "image_size": 336, "intermediate_size": 4096,
      "model_type": "clip_vision_model", "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14,
      "projection_dim": 768, "vocab_size": 32000},
    "vision_feature_layer": -2, "vision_feature_select_strategy": "default", "vocab_size": 32064})");
  EXPECT_EQ(parameter_count(llava), 7063427072u);
  EXPECT_EQ(llava.checkpoint_dtype, "float16");
}

TEST(ModelReading, ATextConfigAndTheFlatFormThatCameBeforeItAreTheSameModel) {
  const std::string sizes = R"("hidden_size":128,"intermediate_size":256,"num_hidden_layers":2,)"
                            R"("num_attention_heads":4,"num_key_value_heads":2,"vocab_size":500)";
  const std::string vision = R"("vision_config":{"depth":2,"embed_dim":64,"num_heads":4,"hidden_size":128})";
  const Architecture flat = read(R"({"model_type":"qwen2_vl",)" + sizes + "," + vision + "}");
  const Architecture nested =
      read(R"({"model_type":"qwen2_vl","text_config":{"model_type":"qwen2_vl_text",)" + sizes + "}," +
           vision + "}");
  EXPECT_EQ(parameter_count(flat), parameter_count(nested));
  EXPECT_EQ(linears(flat).size(), linears(nested).size());
}

// tiiuae/falcon-40b as first published.
TEST(ModelReading, OldFieldNamesOfFalconMeanTheNewOnes) {
  const Architecture old = read(R"({"model_type":"RefinedWeb","hidden_size":8192,"n_layer":60,"n_head":128,
    "n_head_kv":8,"parallel_attn":true,"bias":false,"alibi":false,"vocab_size":65024,"torch_dtype":"bfloat16"})");
  EXPECT_EQ(parameter_count(old), parameter_count(network("falcon-40b")));
}

TEST(ModelReading, AnUnknownModelWithTheFieldsOfLlamaIsReadAsLlamaWithANote) {
  const Architecture tomorrow = read(R"({"model_type":"tomorrow","hidden_size":4096,"intermediate_size":11008,
    "num_hidden_layers":32,"num_attention_heads":32,"vocab_size":32000,"anything_else":{"is":"ignored"}})");
  EXPECT_EQ(parameter_count(tomorrow), 6738415616u);
  ASSERT_EQ(tomorrow.notes.size(), 1u);
  EXPECT_EQ(tomorrow.notes[0].code, "unknown_model_type");
}

TEST(ModelReading, AnUnknownModelWithoutThemSaysWhichAreMissing) {
  const json::Errors errors = refusal(R"({"model_type":"tomorrow","hidden_size":768,"num_hidden_layers":24,)"
                                      R"("vocab_size":50280})");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].pointer, "/model/config/num_attention_heads");
  EXPECT_EQ(errors[1].pointer, "/model/config/intermediate_size");
}

TEST(ModelReading, AnUnknownModelWithExpertsIsNotTakenForADenseLlama) {
  const json::Errors errors =
      refusal(R"({"model_type":"tomorrow_moe","hidden_size":4096,"intermediate_size":11008,
    "num_hidden_layers":32,"num_attention_heads":32,"vocab_size":32000,"num_experts":64})");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].pointer, "/model/config/num_experts");
}

// DeBERTa's scores of positions, Phi-4-multimodal's towers, a state space: no Llama holds them.
TEST(ModelReading, AnUnknownModelWithLayersOfItsOwnIsNotTakenForALlama) {
  for (const char* own : {R"("pos_att_type":["p2c","c2p"])", R"("vision_lora":{"r":256})",
                          R"("mamba_d_state":128)", R"("kv_lora_rank":512)"}) {
    const json::Errors errors =
        refusal(std::string(R"({"model_type":"tomorrow","hidden_size":4096,"intermediate_size":11008,
      "num_hidden_layers":32,"num_attention_heads":32,"vocab_size":32000,)") +
                own + "}");
    ASSERT_EQ(errors.size(), 1u) << own;
    EXPECT_NE(errors[0].message.find("not known"), std::string::npos) << own;
  }
}

// Transformers' own classes count up to fourteen times fewer parameters than a Llama of these fields.
TEST(ModelReading, ATypeThatIsNotReplayedIsRefusedByName) {
  for (const char* type : {"albert", "vit", "wav2vec2", "bitnet", "nanochat", "phi4_multimodal"}) {
    const json::Errors errors = refusal(std::string(R"({"model_type":")") + type +
                                        R"(","hidden_size":768,"intermediate_size":3072,
      "num_hidden_layers":12,"num_attention_heads":12,"vocab_size":30000})");
    ASSERT_EQ(errors.size(), 1u) << type;
    EXPECT_EQ(errors[0].pointer, "/model/config/model_type") << type;
    EXPECT_NE(errors[0].message.find(type), std::string::npos) << type;
  }
}

TEST(ModelReading, AnUnknownModelWithLayerNormsIsNoLlama) {
  for (const char* own :
       {R"("layer_norm_eps":1e-12)", R"("layer_norm_epsilon":1e-5)", R"("type_vocab_size":2)"}) {
    const json::Errors errors = refusal(std::string(R"({"model_type":"tomorrow","hidden_size":768,
      "intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,"vocab_size":30000,)") +
                                        own + "}");
    ASSERT_EQ(errors.size(), 1u) << own;
  }
}

TEST(ModelReading, DistilBertIsReadByItsOwnFields) {
  const Architecture small =
      read(R"({"model_type":"distilbert","dim":768,"hidden_dim":3072,"n_layers":6,"n_heads":12,
    "vocab_size":30522,"max_position_embeddings":512})");
  EXPECT_EQ(parameter_count(small), 66362880u);
  EXPECT_TRUE(small.notes.empty());
}

TEST(ModelReading, TheConvolutionOfTheLargerDebertasIsRefused) {
  const json::Errors errors =
      refusal(R"({"model_type":"deberta-v2","hidden_size":1536,"intermediate_size":6144,
    "num_hidden_layers":24,"num_attention_heads":24,"vocab_size":128100,"conv_kernel_size":3,
    "relative_attention":true,"share_att_key":true,"type_vocab_size":0})");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].pointer, "/model/config/conv_kernel_size");
}

TEST(ModelReading, EachBrokenFieldIsNamedByItsPointer) {
  const auto llama = [](const std::string& field, const std::string& value) {
    json::Json config = parsed(R"({"model_type":"llama","hidden_size":64,"intermediate_size":128,)"
                               R"("num_hidden_layers":2,"num_attention_heads":4,"vocab_size":100})");
    config[field] = parsed(value);
    return config.dump();
  };
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"hidden_size", "\"64\""},
      {"hidden_size", "-64"},
      {"hidden_size", "64.5"},
      {"hidden_size", "0"},
      {"hidden_size", "4e18"},
      {"hidden_size", "900719925474099"},
      {"intermediate_size", "true"},
      {"num_hidden_layers", "[2]"},
      {"num_hidden_layers", "1025"},
      {"num_attention_heads", "7"},
      {"num_key_value_heads", "3"},
      {"num_key_value_heads", "8"},
      {"head_dim", "0"},
      {"vocab_size", "18446744073709551615"},
      {"attention_bias", "1"},
      {"attention_bias", "\"q,k,v only\""},
      {"tie_word_embeddings", "{}"},
      {"attention_dropout", "1.5"},
      {"hidden_act", "7"},
      {"torch_dtype", "16"},
      {"model_type", "3"},
      {"layer_types", "[\"full_attention\"]"},
      {"layer_types", "[\"full_attention\", \"holographic\"]"}};
  for (const auto& [field, value] : broken) {
    const json::Errors errors = refusal(llama(field, value));
    ASSERT_FALSE(errors.empty()) << field << " " << value;
    EXPECT_EQ(errors[0].pointer, "/model/config/" + field) << value << ": " << errors[0].message;
    EXPECT_FALSE(errors[0].message.empty());
    EXPECT_FALSE(errors[0].allowed.empty()) << field << " " << value;
  }
}

TEST(ModelReading, SeveralBrokenFieldsAreAllReportedAtOnce) {
  const json::Errors errors =
      refusal(R"({"model_type":"llama","hidden_size":-1,"intermediate_size":1.5,)"
              R"("num_hidden_layers":"two","num_attention_heads":1,"vocab_size":100})");
  EXPECT_EQ(errors.size(), 3u);
}

TEST(ModelReading, BrokenPartsAreNamedByTheirWholePointer) {
  EXPECT_EQ(refusal(R"({"model_type":"llava","text_config":7})")[0].pointer, "/model/config/text_config");
  EXPECT_EQ(refusal(R"({"model_type":"llava"})")[0].pointer, "/model/config/text_config");
  EXPECT_EQ(
      refusal(R"({"model_type":"internvl_chat","llm_config":{"model_type":"qwen2","hidden_size":[]}})")[0]
          .pointer,
      "/model/config/llm_config/hidden_size");
  EXPECT_EQ(refusal(R"({"model_type":"llava","text_config":{},"vision_config":{"model_type":"retina"}})")[0]
                .pointer,
            "/model/config/vision_config/model_type");
  EXPECT_EQ(refusal(R"({"model_type":"llava","text_config":{},"vision_config":{"patch_size":0}})")[0].pointer,
            "/model/config/vision_config/patch_size");
  EXPECT_EQ(
      refusal(R"({"model_type":"llava","text_config":{},"vision_config":{"patch_size":999}})")[0].pointer,
      "/model/config/vision_config/patch_size");
  EXPECT_EQ(refusal(R"({"model_type":"gemma3","text_config":{"num_attention_heads":0}})")[0].pointer,
            "/model/config/text_config/num_attention_heads");
  EXPECT_EQ(
      refusal(
          R"({"model_type":"internvl_chat","llm_config":{"model_type":"qwen2"},"max_dynamic_patch":257})")[0]
          .pointer,
      "/model/config/max_dynamic_patch");
  EXPECT_EQ(refusal("[]")[0].pointer, "/model/config");
  EXPECT_EQ(refusal("null")[0].pointer, "/model/config");
}

TEST(ModelReading, SizesAtTheLimitSaturateInsteadOfWrapping) {
  const Architecture huge =
      read(R"({"model_type":"llama","hidden_size":134217728,"intermediate_size":134217728,)"
           R"("num_hidden_layers":1024,"num_attention_heads":1,"vocab_size":134217728})");
  EXPECT_EQ(parameter_count(huge), 18446744073709551615u);
}

}  // namespace
}  // namespace plimsoll::model
