// Trainable counts that real runs printed, from nothing but names: PEFT's suffix rule over our module paths.
// golden/lora_counts.txt: preset, adapter, rank, target_modules, parts, fully trained extra, printed
// trainable.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/model/architecture.h"
#include "tests/core/golden.h"
#include "tests/core/model_presets.h"

namespace plimsoll::model {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
  return items;
}

bool is_in(Part part, const std::vector<std::string>& names) {
  static constexpr struct {
    Part part;
    const char* name;
  } known[] = {{Part::text, "text"},
               {Part::vision, "vision"},
               {Part::projector, "projector"},
               {Part::encoder, "encoder"},
               {Part::decoder, "decoder"}};
  return std::any_of(std::begin(known), std::end(known), [&](const auto& row) {
    return row.part == part && std::find(names.begin(), names.end(), row.name) != names.end();
  });
}

TEST(LoraNames, EveryPrintedTrainableCountFollowsFromTheTargetNames) {
  std::istringstream lines{std::string(golden_file("lora_counts.txt"))};
  size_t checked = 0;
  std::string id, adapter, targets, parts;
  for (uint64_t rank = 0, extra = 0, printed = 0;
       lines >> id >> adapter >> rank >> targets >> parts >> extra >> printed; ++checked) {
    uint64_t trainable = extra;
    for (const PlacedLinear& at : linears(network(id))) {
      const Linear& linear = *at.linear;
      const std::vector<std::string> names = split(targets);
      const bool targeted = linear.module != Module::parameter && is_in(at.stack->part, split(parts)) &&
                            std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                              return ends_in_name(linear.path, name);
                            });
      if (!targeted) continue;
      trainable += at.total * (rank * (linear.in + linear.out) + (adapter == "dora" ? linear.out : 0));
    }
    EXPECT_EQ(trainable, printed) << id << " r=" << rank << " " << targets;
  }
  EXPECT_EQ(checked, 66u);
}

TEST(LoraNames, PathsAreTheWholeModuleNamesOfTransformers) {
  const auto has = [](const std::string& id, const std::string& path) {
    const auto all = linears(network(id));
    return std::any_of(all.begin(), all.end(),
                       [&](const PlacedLinear& at) { return at.linear->path == path; });
  };
  const std::vector<std::pair<std::string, std::string>> known = {
      {"mistral-7b-v0.3", "model.layers.#.self_attn.q_proj"},
      {"mistral-7b-v0.3", "lm_head"},
      {"gpt2", "transformer.h.#.attn.c_attn"},
      {"pythia-410m", "gpt_neox.layers.#.attention.query_key_value"},
      {"pythia-410m", "embed_out"},
      {"opt-350m", "model.decoder.layers.#.self_attn.out_proj"},
      {"falcon-7b", "transformer.h.#.self_attention.query_key_value"},
      {"mpt-7b", "transformer.blocks.#.attn.Wqkv"},
      {"mixtral-8x7b-v0.1", "model.layers.#.block_sparse_moe.experts.*.w2"},
      {"qwen3-30b-a3b", "model.layers.#.mlp.experts.*.gate_proj"},
      {"deepseek-v3", "model.layers.#.self_attn.kv_a_proj_with_mqa"},
      {"deepseek-v3", "model.layers.#.mlp.shared_experts.up_proj"},
      {"gpt-oss-20b", "model.layers.#.mlp.experts.gate_up_proj"},
      {"chatglm3-6b", "transformer.encoder.layers.#.self_attention.query_key_value"},
      {"internlm2-7b", "model.layers.#.attention.wqkv"},
      {"baichuan2-7b-base", "model.layers.#.self_attn.W_pack"},
      {"flan-t5-large", "decoder.block.#.layer.1.EncDecAttention.v"},
      {"whisper-tiny", "model.decoder.layers.#.encoder_attn.q_proj"},
      {"bert-base-uncased", "bert.encoder.layer.#.attention.self.query"},
      {"llava-1.5-7b-hf", "model.language_model.layers.#.self_attn.q_proj"},
      {"llava-1.5-7b-hf", "model.vision_tower.vision_model.encoder.layers.#.self_attn.q_proj"},
      {"llava-1.5-7b-hf", "model.multi_modal_projector.linear_1"},
      {"gemma-3-4b-pt", "model.vision_tower.vision_model.encoder.layers.#.mlp.fc1"},
      {"qwen2.5-vl-7b-instruct", "model.visual.blocks.#.attn.qkv"},
      {"qwen2.5-vl-7b-instruct", "model.visual.merger.mlp.0"},
      {"qwen3.5-27b", "model.language_model.layers.#.linear_attn.in_proj_qkv"},
      {"llama-3.2-11b-vision-instruct", "model.language_model.layers.#.cross_attn.k_proj"},
      {"llama-4-scout-17b-16e-instruct", "language_model.model.layers.#.feed_forward.router"},
      {"pixtral-12b", "model.vision_tower.transformer.layers.#.attention.o_proj"},
      {"idefics2-8b", "model.connector.perceiver_resampler.layers.#.self_attn.q_proj"},
      {"blip2-opt-2.7b", "language_model.model.decoder.layers.#.fc1"},
      {"internvl3-8b", "language_model.model.layers.#.self_attn.q_proj"},
      {"internvl2_5-8b", "language_model.model.layers.#.attention.wqkv"},
      {"minicpm-v-2_6", "llm.model.layers.#.self_attn.q_proj"},
      {"qwen-vl-chat", "transformer.visual.transformer.resblocks.#.attn.in_proj"},
      {"phi-3.5-vision-instruct", "model.vision_embed_tokens.img_projection.0"}};
  for (const auto& [id, path] : known) EXPECT_TRUE(has(id, path)) << id << " " << path;
}

}  // namespace
}  // namespace plimsoll::model
