// The defaults of each training stack: they are readable, reachable, and say what the stack's source says.
#include "core/recipe/stacks.h"

#include <set>

#include "core/recipe/fields.h"
#include "core/recipe/recipe.h"
#include "tests/core/report_answers.h"

namespace plimsoll::recipe {
namespace {

using json::Json;
using report::answer;
using report::presets;

Json with(Json request, const std::string& pointer, const Json& value) {
  request[Json::json_pointer(pointer)] = value;
  return request;
}

// What the report assumed for a field that the request leaves out; null when it told nothing.
Json assumed(const Json& request, const std::string& pointer) {
  const Json report = answer(request);
  EXPECT_EQ(report.at("ok"), true) << report;
  for (const Json& assumption : report::at(report, "/assumptions")) {
    if (assumption.at("pointer") == pointer) return assumption.at("value");
  }
  return nullptr;
}

std::set<std::string> field_pointers() {
  std::set<std::string> pointers = {"/peft", "/quantization", "/model"};
  for (const FieldInfo& field : fields()) pointers.insert(field.pointer);
  return pointers;
}

TEST(RecipeStacks, EveryDefaultIsAValueThatARequestMayHave) {
  size_t rows = 0;
  for (const StackPreset& stack : presets().stacks) {
    EXPECT_FALSE(stack.summary.empty()) << stack.id;
    for (const StackDefault& row : stack.defaults) {
      ++rows;
      json::Errors errors;
      // A value may be that of another field.
      const Field* same = row.value.is_string() ? find_field(row.value.get<std::string>()) : nullptr;
      if (same != nullptr) {
        EXPECT_EQ(same->type, find_field(row.pointer)->type) << stack.id << " " << row.pointer;
        continue;
      }
      const Request given = read_request(with({{"model", "gpt2"}}, row.pointer, row.value), errors);
      for (const json::Error& error : errors)
        ADD_FAILURE() << stack.id << " " << error.pointer << error.message;
      EXPECT_EQ(given.values.at(row.pointer), row.value) << stack.id;
      // Where it is known from: a repository, and a path in it.
      EXPECT_NE(row.source.find_first_of("/:"), std::string::npos) << stack.id << row.source;
    }
  }
  EXPECT_GT(rows, 60u);
}

// v0.9.3 model/patcher.py patch_config, extras/misc.py infer_optim_dtype; v0.9.5 model/loader.py load_model.
TEST(RecipeStacks, LlamaFactoryLoadsFreezeTuningInTheTypeOfTheReleaseItIs) {
  const Json request = {{"model", "llama-2-7b"},
                        {"stack", "llamafactory"},
                        {"training", {{"bf16", true}, {"freeze_trainable_layers", 2}}}};
  const auto type = [](const Json& run, const char* release) {
    return assumed(with(run, "/versions/llamafactory", release), "/model_args/dtype");
  };
  EXPECT_EQ(type(request, "0.9.3"), Json("bfloat16"));
  EXPECT_EQ(type(request, "0.9.5"), Json("float16"));
  EXPECT_EQ(type(with(request, "/training/bf16", false), "0.9.3"), Json("float16"));
}

// unsloth/models/rl.py and llama.py: on a T4 both the loader and the trainer take float16 by themselves.
TEST(RecipeStacks, UnslothTakesThe16BitTypeThatTheGpuHas) {
  const Json peft = {{"r", 16}, {"target_modules", "all-linear"}};
  for (const char* gpu : {"t4", "l4"}) {
    const Json request = {{"model", "meta-llama/Llama-3.1-8B"},
                          {"stack", "unsloth"},
                          {"peft", peft},
                          {"hardware", {{"gpu", gpu}}}};
    const bool old = std::string(gpu) == "t4";
    EXPECT_EQ(assumed(request, old ? "/training/fp16" : "/training/bf16"), true) << gpu;
    EXPECT_EQ(assumed(request, "/model_args/dtype"), old ? "float16" : "bfloat16") << gpu;
    const Json report = answer(request);
    for (const Json& note : report.at("notes")) EXPECT_NE(note.at("code"), "no_bf16") << gpu;
  }
}

TEST(RecipeStacks, EveryConditionNamesAFieldAndCanHold) {
  const std::set<std::string> known = field_pointers();
  for (const StackPreset& stack : presets().stacks) {
    for (const StackDefault& row : stack.defaults) {
      for (const auto& [field, condition] : row.when) {
        if (field == "/model_type" || field == "/gpu_bf16") continue;  // of what is around the recipe
        EXPECT_EQ(known.count(field), 1u) << stack.id << " " << field;
        json::Errors errors;
        const bool version = field.rfind("/versions/", 0) == 0;
        const auto value = version ? std::optional<Json>("1.0") : json::parse(condition, errors);
        ASSERT_TRUE(value) << stack.id << " " << field << " " << condition;
        if (version) {
          EXPECT_NE(condition.find_first_of("0123456789"), std::string::npos) << condition;
          continue;
        }
        for (const Json& one : value->is_array() ? *value : Json::array({*value})) {
          if (one.is_null() || field == "/peft") continue;
          read_request(with({{"model", "gpt2"}}, field, one), errors);
          EXPECT_TRUE(errors.empty()) << stack.id << " " << field << " can never be " << one;
        }
      }
    }
  }
}

// A row after one for the same field whose conditions all hold as well is never reached.
TEST(RecipeStacks, NoDefaultIsHiddenByAnEarlierOne) {
  for (const StackPreset& stack : presets().stacks) {
    for (size_t i = 0; i < stack.defaults.size(); ++i) {
      const std::set<std::pair<std::string, std::string>> wanted(stack.defaults[i].when.begin(),
                                                                 stack.defaults[i].when.end());
      for (size_t j = 0; j < i; ++j) {
        if (stack.defaults[j].pointer != stack.defaults[i].pointer) continue;
        size_t shared = 0;
        for (const auto& condition : stack.defaults[j].when) shared += wanted.count(condition);
        EXPECT_LT(shared, stack.defaults[j].when.size())
            << stack.id << " " << stack.defaults[i].pointer << " row " << i << " hides behind row " << j;
      }
    }
  }
}

TEST(RecipeStacks, EveryStackAnswersForLoraForFourBitsAndForAllParameters) {
  const Json targets = {"q_proj", "v_proj"};
  for (const StackPreset& stack : presets().stacks) {
    Json request = {{"model", "llama-3.1-8b"}, {"stack", stack.id}};
    EXPECT_EQ(answer(request).at("ok"), true) << stack.id;
    request["peft"] = {{"target_modules", targets}};
    EXPECT_EQ(answer(request).at("ok"), true) << stack.id;
    request["quantization"] = {{"load_in_4bit", true}};
    EXPECT_EQ(answer(request).at("ok"), true) << stack.id;
    request["training"] = {{"fp16", true}};
    EXPECT_EQ(answer(request).at("ok"), true) << stack.id;
  }
}

TEST(RecipeStacks, WhatTheRequestSaysWinsOverTheStack) {
  const Json request = {
      {"model", "llama-3.1-8b"}, {"stack", "axolotl"}, {"training", {{"max_length", 4096}, {"bf16", false}}}};
  EXPECT_EQ(assumed(request, "/training/max_length"), nullptr);
  EXPECT_EQ(assumed(request, "/model_args/dtype"), "float32");
  EXPECT_EQ(assumed({{"model", "llama-3.1-8b"}, {"stack", "axolotl"}}, "/training/max_length"), 512);
}

struct TrlRow {
  const char* trl;
  bool prepared;
  const char* upcast;
  const char* adapter;
};

// SFTTrainer on a 4-bit base with bf16, by tag of huggingface/trl: v0.8.6 and v0.9.3 trainer/utils.py
// peft_module_casting_to_bf16; v0.25.0 models/utils.py prepare_peft_model; v0.26.0 trainer/sft_trainer.py.
TEST(RecipeStacks, TrlPreparesAFourBitBaseByItsVersion) {
  for (const TrlRow& row :
       {TrlRow{"0.8.6", true, "norms", "bfloat16"}, TrlRow{"0.9.3", true, "norms", "float32"},
        TrlRow{"0.25.1", true, "norms", "float32"}, TrlRow{"0.26.0", false, "none", "bfloat16"},
        TrlRow{"1.9", false, "none", "bfloat16"}}) {
    const Json request = {{"model", "llama-3.1-8b"},
                          {"stack", "trl"},
                          {"versions", {{"trl", row.trl}, {"transformers", "4.57"}, {"peft", "0.15"}}},
                          {"quantization", {{"load_in_4bit", true}}},
                          {"peft", {{"r", 8}}},
                          {"training", {{"bf16", true}}}};
    EXPECT_EQ(assumed(request, "/quantization/prepare_for_kbit_training"), row.prepared) << row.trl;
    EXPECT_EQ(assumed(request, "/quantization/upcast"), row.upcast) << row.trl;
    EXPECT_EQ(assumed(request, "/peft/adapter_dtype"), row.adapter) << row.trl;
  }
}

TEST(RecipeStacks, TrlChangedItsDefaultsByVersion) {
  const auto value = [](const char* trl, const char* pointer) {
    const Json request = {{"model", "llama-3.1-8b"},
                          {"stack", "trl"},
                          {"versions", {{"trl", trl}, {"transformers", "4.57"}}},
                          {"peft", {{"r", 8}}}};
    return assumed(request, pointer);
  };
  EXPECT_EQ(value("0.18", "/training/bf16"), nullptr);
  EXPECT_EQ(value("0.19", "/training/bf16"), true);
  EXPECT_EQ(value("0.21", "/training/gradient_checkpointing"), false);
  EXPECT_EQ(value("0.22", "/training/gradient_checkpointing"), true);
  EXPECT_EQ(value("0.26", "/training/gradient_checkpointing_kwargs/use_reentrant"), true);
  EXPECT_EQ(value("0.27", "/training/gradient_checkpointing_kwargs/use_reentrant"), false);
  EXPECT_EQ(value("0.27", "/model_args/dtype"), "float32");
  EXPECT_EQ(value("1.6", "/training/loss_kernel"), "stock");
  EXPECT_EQ(value("1.7", "/training/loss_kernel"), "chunked_nll");
  EXPECT_EQ(value("1.14", "/training/loss_kernel"), "chunked_nll");
  EXPECT_EQ(value("1.15", "/training/loss_kernel"), "fused_lm_head");
}

// "hf" runs supervised training in the plain Trainer, so that no release of TRL is worth telling.
TEST(RecipeStacks, TheReleaseOfTrlIsToldWhereItsSFTTrainerRuns) {
  EXPECT_FALSE(assumed({{"model", "gpt2"}, {"stack", "trl"}}, "/versions/trl").is_null());
  for (const char* stack : {"hf", "axolotl", "torchtune"})
    EXPECT_TRUE(assumed({{"model", "gpt2"}, {"stack", stack}}, "/versions/trl").is_null()) << stack;
  EXPECT_TRUE(stack_traits("trl").trl_sft);
  EXPECT_FALSE(stack_traits("no such stack").plain_trainer);
}

TEST(RecipeStacks, TrlWithFp16IsNotTurnedToBf16) {
  const Json request = {
      {"model", "llama-3.1-8b"}, {"stack", "trl"}, {"peft", {{"r", 8}}}, {"training", {{"fp16", true}}}};
  EXPECT_EQ(assumed(request, "/training/bf16"), nullptr);
}

// Axolotl prepares a quantised base and then casts norms, embeddings and head back to the type of the run.
TEST(RecipeStacks, AxolotlLeavesNothingInFp32) {
  const Json request = {{"model", "llama-3.1-8b"},
                        {"stack", "axolotl"},
                        {"quantization", {{"load_in_4bit", true}}},
                        {"peft", {{"r", 8}}}};
  EXPECT_EQ(assumed(request, "/quantization/prepare_for_kbit_training"), true);
  EXPECT_EQ(assumed(request, "/quantization/upcast"), "none");
  EXPECT_EQ(assumed(request, "/quantization/bnb_4bit_use_double_quant"), true);
  EXPECT_FALSE(report::has_note(answer(request), "kbit_preparation_upcasts"));
}

// loaders/model.py _configure_embedding_dtypes, as Axolotl 0.19 itself leaves such a model (tests/stacks).
TEST(RecipeStacks, AxolotlKeepsPartsOfAFullFineTuningInFp32WithoutFlashAttention) {
  const auto kept = [](Json more) {
    Json request = {
        {"model", "llama-3.2-1b"}, {"stack", "axolotl"}, {"model_args", {{"attn_implementation", "sdpa"}}}};
    request.merge_patch(more);
    return assumed(request, "/model_args/keep_in_fp32");
  };
  EXPECT_EQ(kept(Json::object()), "all");
  EXPECT_EQ(kept({{"model_args", {{"attn_implementation", "flash_attention_2"}}}}), nullptr);
  EXPECT_EQ(kept({{"peft", {{"r", 8}}}}), nullptr);
  EXPECT_EQ(kept({{"parallel", {{"num_gpus", 2}, {"strategy", "fsdp2"}}}}), nullptr);
  EXPECT_EQ(kept({{"training", {{"loss_kernel", "cut_cross_entropy"}}}}), "none");
}

// 128,256 embeddings of 2,048, which are the head too, and 33 norms: two bytes more each.
TEST(RecipeStacks, WhatIsKeptInFp32TakesFourBytes) {
  const auto weights = [](const char* word) {
    const Json request = {{"model", "llama-3.2-1b"},
                          {"stack", "axolotl"},
                          {"model_args", {{"attn_implementation", "sdpa"}, {"keep_in_fp32", word}}}};
    const Json text = answer(request);
    uint64_t bytes = 0;
    for (const Json& part : text["memory"]["instants"].back()["components"])
      if (part["id"] == "weights") bytes = part["bytes"].get<uint64_t>();
    return bytes;
  };
  EXPECT_NEAR(static_cast<double>(weights("norms") - weights("none")), 33.0 * 2048 * 2, 1e5);
  EXPECT_NEAR(static_cast<double>(weights("all") - weights("none")), (33.0 + 128256) * 2048 * 2, 1e6);
}

// Axolotl 0.19 trains 27,262,976 parameters of Mixtral with lora_target_linear at rank 32 (tests/stacks).
TEST(RecipeStacks, AxolotlNamesTheLinearsSoStackedExpertsGetNoAdapters) {
  const Json request = {{"model", "mixtral-8x7b-v0.1"},
                        {"stack", "axolotl"},
                        {"peft", {{"r", 32}, {"target_modules", "all-linear"}}}};
  EXPECT_EQ(report::bytes(answer(request), "/model/trainable"), 27262976u);
}

TEST(RecipeStacks, LlamaFactoryTrainsAllLinearLayersOfTheLanguagePart) {
  const Json text = answer({{"model", "mistral-7b-v0.1"}, {"stack", "llamafactory"}, {"peft", {{"r", 16}}}});
  EXPECT_EQ(report::bytes(text, "/model/trainable"), 41943040u);
  const Json sees = {{"model", "qwen2.5-vl-7b-instruct"}, {"stack", "llamafactory"}, {"peft", {{"r", 16}}}};
  EXPECT_EQ(report::bytes(answer(sees), "/model/trainable"), 40370176u);
  EXPECT_EQ(assumed({{"model", "mistral-7b-v0.1"}, {"stack", "llamafactory"}}, "/model_args/dtype"),
            "float32");
}

TEST(RecipeStacks, UnslothTrainsItsSevenProjectionsAtRankSixteen) {
  const Json request = {{"model", "mistral-7b-v0.1"}, {"stack", "unsloth"}, {"peft", Json::object()}};
  EXPECT_EQ(report::bytes(answer(request), "/model/trainable"), 41943040u);
  EXPECT_EQ(assumed(request, "/training/optim"), "adamw_8bit");
  // A request without quantization has a base in 16 bits, whatever load_in_4bit is by default.
  EXPECT_GT(report::bytes(answer(request), "/memory/instants/0/allocated"), 14000000000u);
}

// unsloth/models/llama.py patch_peft_model: "if lora_dropout == 0 and bias == "none"".
TEST(RecipeStacks, UnslothFusesAdaptersThatHaveNeitherDropoutNorBias) {
  const auto fused = [](const Json& peft) {
    return assumed({{"model", "mistral-7b-v0.1"}, {"stack", "unsloth"}, {"peft", peft}},
                   "/training/fused_lora");
  };
  EXPECT_EQ(fused(Json::object()), true);
  EXPECT_EQ(fused({{"lora_dropout", 0}}), true);
  EXPECT_EQ(fused({{"lora_dropout", 0.05}}), nullptr);
  EXPECT_EQ(fused({{"bias", "all"}}), nullptr);
}

TEST(RecipeStacks, TorchtuneKeepsEverythingInBf16) {
  const Json request = {{"model", "llama-3.1-8b"}, {"stack", "torchtune"}, {"peft", Json::object()}};
  EXPECT_EQ(assumed(request, "/peft/adapter_dtype"), "bfloat16");
  EXPECT_EQ(assumed(request, "/training/loss_kernel"), "torchtune_chunked");
  const Json report = answer(request);
  EXPECT_EQ(report::bytes(report, "/model/adapter_file_bytes"),
            2 * report::bytes(report, "/model/trainable"));
}

// modelscope/ms-swift v4.5.2: swift/arguments, swift/trainers/arguments.py; prepare_model_for_kbit_training
// occurs in none of its tags.
TEST(RecipeStacks, SwiftPreparesNothingAndMakesSixteenSamplesAStep) {
  const Json request = {{"model", "llama-3.1-8b"},
                        {"stack", "ms-swift"},
                        {"quantization", {{"load_in_4bit", true}}},
                        {"peft", {{"r", 8}}}};
  EXPECT_EQ(assumed(request, "/quantization/prepare_for_kbit_training"), false);
  EXPECT_EQ(assumed(request, "/quantization/bnb_4bit_use_double_quant"), true);
  EXPECT_EQ(assumed(request, "/training/gradient_accumulation_steps"), 16);
  EXPECT_EQ(assumed(request, "/training/truncation_strategy"), "drop");
  EXPECT_EQ(assumed(request, "/peft/lora_dropout"), 0.05);
  EXPECT_EQ(assumed(request, "/training/bf16"), true);
}

// ms-swift 3.10 swift/llm/template/base.py: max_length becomes max_model_len, beyond which samples are cut.
TEST(RecipeStacks, WhatTheModelCanReadIsNoLengthOfSwiftsSamples) {
  Json request = {{"model", "llama-3.1-8b"}, {"stack", "ms-swift"}, {"peft", {{"r", 8}}}};
  EXPECT_EQ(assumed(request, "/training/max_length"), 1024);
  request["training"] = {{"packing", true}};
  EXPECT_EQ(assumed(request, "/training/max_length"), 131072);
}

TEST(RecipeStacks, PaddingThatIsSaidTurnsTheStacksPackingOff) {
  Json request = {{"model", "llama-3.1-8b"}, {"stack", "llamafactory"}, {"task", "pretrain"}};
  EXPECT_EQ(assumed(request, "/training/packing"), true);
  request["training"] = {{"padded_batches", true}};
  EXPECT_EQ(assumed(request, "/training/packing"), false);
}

TEST(RecipeStacks, AStacksCompletionLengthLeavesRoomForAPrompt) {
  Json request = {{"model", "llama-3.1-8b"}, {"stack", "llamafactory"}, {"task", "ppo"}};
  EXPECT_EQ(assumed(request, "/rl/max_completion_length"), 1024);
  request["training"] = {{"max_length", 798}};
  EXPECT_EQ(assumed(request, "/rl/max_completion_length"), 399);
}

TEST(RecipeStacks, AFileThatIsNoStackSaysWhatIsWrong) {
  json::Errors errors;
  EXPECT_FALSE(read_stack({{"id", "x"}}, errors));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].pointer, "/defaults");
  errors.clear();
  const Json row = {{"pointer", "/training/optimiser"}, {"value", 1}, {"why", "w"}, {"source", "s"}};
  EXPECT_FALSE(read_stack({{"id", "x"}, {"defaults", {row}}}, errors));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].pointer, "/defaults/0/pointer");
  errors.clear();
  const Json silent = {{"pointer", "/training/optim"}, {"value", "sgd"}};
  EXPECT_FALSE(read_stack({{"id", "x"}, {"defaults", {silent}}}, errors));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].code, "missing");
}

}  // namespace
}  // namespace plimsoll::recipe
