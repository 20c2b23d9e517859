// A name that no list holds: which preset it means, and that the report says so.
#include "core/run/model_names.h"

#include <gtest/gtest.h>

#include <string>

#include "core/exchange/tree.h"
#include "core/report/exchange.h"
#include "core/run/run.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using json::Json;

std::string meant(const std::string& name) {
  const run::NamedModel found = run::find_by_name(presets(), name);
  return found.entry == nullptr ? "" : found.entry->preset.id;
}

TEST(ModelNames, AListedNameIsTakenAsItIsWithoutARemark) {
  for (const char* name : {"mistral-7b-v0.3", "unsloth/llama-3-8b-bnb-4bit", "NousResearch/Llama-2-7b-hf"}) {
    EXPECT_TRUE(run::find_by_name(presets(), name).how.empty()) << name;
  }
}

TEST(ModelNames, ALocalCopyIsTheModelItsFolderIsNamedAfter) {
  EXPECT_EQ(meant("/tmp/Meta-Llama-3.1-8B-Instruct/"), "llama-3.1-8b");
  EXPECT_EQ(meant("models/Qwen2.5-7B"), "qwen2.5-7b");
  EXPECT_EQ(meant("./TinyLlama_v1.1"), "tinyllama-1.1b-chat-v1.0");
}

TEST(ModelNames, ACopyInFewerBitsOrTunedKeepsItsShapes) {
  EXPECT_EQ(meant("TechxGenus/Meta-Llama-3-8B-Instruct-GPTQ"), "meta-llama-3-8b");
  EXPECT_EQ(meant("Qwen/Qwen2-VL-7B-Instruct-GPTQ-Int4"), "qwen2-vl-7b-instruct");
  EXPECT_EQ(meant("unsloth/gemma-3-27b-it-unsloth-bnb-4bit"), "gemma-3-27b-pt");
  EXPECT_EQ(meant("someone/Mistral-7B-v0.3-chat-AWQ"), "mistral-7b-v0.3");
}

TEST(ModelNames, HyphensAndUnderscoresMakeNoDifference) {
  EXPECT_EQ(meant("llama2-7B"), "llama-2-7b-hf");
  EXPECT_EQ(meant("Qwen-1.8B"), "qwen-1_8b");
  EXPECT_EQ(meant("Qwen 2.5 7B"), "qwen2.5-7b");
}

TEST(ModelNames, ASizeOrAVersionIsNeverDropped) {
  for (const char* name :
       {"Llama-2-7b-v3", "Mistral-7B-v0.9", "Qwen2.5-8B", "Llama-3", "7b", "-it", "", "/"}) {
    EXPECT_EQ(meant(name), "") << name;
  }
}

TEST(ModelNames, WhatAPersonAddsToTheNameOfABaseIsLeftOut) {
  EXPECT_EQ(meant("my-company/qwen2-7b-finetuned-v3"), meant("Qwen/Qwen2-7B"));
  EXPECT_EQ(meant("acme/Llama-3.1-8B-Instruct-customer-support-2024"), "llama-3.1-8b");
  EXPECT_EQ(meant("gpt2-finetuned-wikitext2"), "gpt2");
  EXPECT_EQ(meant("finetuned-Meta-Llama-3-8B"), "meta-llama-3-8b");
  EXPECT_NE(run::find_by_name(presets(), "acme/Qwen2.5-7B-support").how.find("made from Qwen/Qwen2.5-7B"),
            std::string::npos);
}

TEST(ModelNames, AFolderThatNamesNothingIsSteppedOver) {
  EXPECT_EQ(meant("/data/Qwen2.5-7B-sft/checkpoint-500"), "qwen2.5-7b");
  EXPECT_EQ(meant("/root/.cache/huggingface/hub/models--meta-llama--Llama-3.1-8B/snapshots/"
                  "d04e592bb4f6aa9cfee91e2e20afa771667e1d4b"),
            "llama-3.1-8b");
  EXPECT_EQ(meant("outputs/final"), "");
}

TEST(ModelNames, AWordThatChangesShapesIsNoPersonsOwn) {
  for (const char* name : {"gpt2-xlarge", "Qwen2.5-7B-VL", "Llama-3.1-8B-distilled", "Llama-3.1-8B-pruned-4b",
                           "Qwen2.5-7B-to-13b", "some-llama-3.1-8b"}) {
    EXPECT_EQ(meant(name), "") << name;
  }
}

TEST(ModelNames, TheReportSaysWhatWasGuessed) {
  const Json report = answer({{"model", "/data/Meta-Llama-3-8B-Instruct-GPTQ"}});
  bool guessed = false, packed = false;
  for (const Json& note : report.at("notes")) {
    guessed = guessed || note.at("code") == "model_by_name";
    packed = packed || note.at("code") == "packed_checkpoint";
  }
  EXPECT_TRUE(guessed);
  EXPECT_TRUE(packed);
}

TEST(ModelNames, APackedNameWithItsQuantizationStatedNeedsNoRemark) {
  const Json report = answer({{"model", "unsloth/llama-3-8b-bnb-4bit"},
                              {"quantization", {{"load_in_4bit", true}}},
                              {"peft", {{"r", 8}}}});
  for (const Json& note : report.at("notes")) EXPECT_NE(note.at("code"), "packed_checkpoint");
}

// LLaMA-Factory's examples of quantised bases say it by the name alone.
TEST(ModelNames, AQuantisedCheckpointIsLoadedAsItIsStored) {
  const auto quantization = [](const std::string& name, const std::string& more = "") {
    const std::string command =
        "llamafactory-cli train --model_name_or_path " + name +
        " --stage sft --do_train --finetuning_type lora --dataset a --cutoff_len 512 " + more;
    return import_known(exchange::read_text(command), command, presets())
        .request.value("quantization", Json());
  };
  EXPECT_EQ(quantization("TechxGenus/Meta-Llama-3-8B-Instruct-AWQ"), Json({{"quant_method", "awq"}}));
  EXPECT_EQ(quantization("TechxGenus/Meta-Llama-3-8B-Instruct-GPTQ"), Json({{"quant_method", "gptq"}}));
  EXPECT_EQ(quantization("ISTA-DASLab/Meta-Llama-3-8B-Instruct-AQLM-2Bit-1x16"),
            Json({{"quant_method", "aqlm"}, {"bits", 2}}));
  EXPECT_EQ(
      quantization("unsloth/llama-3-8b-bnb-4bit"),
      Json({{"load_in_4bit", true}, {"bnb_4bit_quant_type", "nf4"}, {"bnb_4bit_use_double_quant", true}}));
  EXPECT_EQ(quantization("meta-llama/Meta-Llama-3-8B-Instruct"), Json());
  EXPECT_EQ(quantization("meta-llama/Meta-Llama-3-8B-Instruct", "--quantization_bit 8"),
            Json({{"load_in_8bit", true}}));
}

// Checkpoints of one shape that read less far, by every way to their name.
TEST(ModelNames, ACheckpointReadsAsFarAsItsOwnConfigSays) {
  const auto longest = [](const std::string& name) {
    json::Errors errors;
    const auto run =
        run::read_quick_run(json::write(Json{{"schema", 1}, {"model", name}}), presets(), errors);
    return run ? run->network.max_position_embeddings : 0;
  };
  EXPECT_EQ(longest("Qwen/Qwen2.5-7B"), 131072u);
  EXPECT_EQ(longest("Qwen/Qwen2.5-7B-Instruct"), 32768u);
  EXPECT_EQ(longest("Qwen/Qwen2.5-Math-7B"), 4096u);
  EXPECT_EQ(longest("someone/Qwen2.5-Math-7B-Instruct-bnb-4bit"), 4096u);
  EXPECT_EQ(longest("/data/Qwen2.5-Coder-7B/"), 32768u);
  EXPECT_EQ(longest("Qwen/Qwen3-4B-Instruct-2507"), 262144u);
  EXPECT_EQ(longest("microsoft/Phi-3-mini-128k-instruct"), 131072u);
}

TEST(ModelNames, WhatIsNotReplayedIsRefusedByItsName) {
  for (const char* name :
       {"google/vit-base-patch16-224", "openai/clip-vit-large-patch14", "albert/albert-base-v2",
        "facebook/wav2vec2-base", "microsoft/Phi-4-multimodal-instruct", "microsoft/deberta-base",
        "microsoft/deberta-v2-xlarge"}) {
    EXPECT_EQ(meant(name), "") << name;
    const Json report = answer({{"model", name}});
    ASSERT_EQ(report.at("ok"), false) << name;
    EXPECT_NE(report.at("errors")[0].at("message").get<std::string>().find("is not replayed here"),
              std::string::npos)
        << name;
  }
}

TEST(ModelNames, EncodersAreKnownByTheNamesThatPeopleTrain) {
  EXPECT_EQ(meant("distilbert-base-uncased"), "distilbert-base-uncased");
  EXPECT_EQ(meant("distilbert-base-uncased-finetuned-emotion"), "distilbert-base-uncased");
  EXPECT_EQ(meant("cross-encoder/ms-marco-MiniLM-L-6-v2"), "all-minilm-l6-v2");
  EXPECT_EQ(meant("BAAI/bge-reranker-v2-m3"), "bge-m3");
  EXPECT_EQ(meant("intfloat/e5-large-v2"), "bert-large-uncased");
  EXPECT_EQ(meant("OpenAssistant/reward-model-deberta-v3-large-v2"), "deberta-v3-large");
  EXPECT_EQ(meant("Qwen/Qwen3-Reranker-0.6B"), "qwen3-embedding-0.6b");
  // A vocabulary of another language has another size.
  EXPECT_EQ(meant("dbmdz/bert-base-german-cased"), "");
  for (const char* name :
       {"cl-tohoku/bert-base-japanese-v3", "uer/gpt2-chinese-cluecorpussmall",
        "nlp-waseda/roberta-base-japanese", "fnlp/bart-base-chinese", "ku-nlp/deberta-v3-base-japanese"}) {
    EXPECT_EQ(meant(name), "") << name;
  }
  EXPECT_EQ(meant("someone/whisper-small-german"), "whisper-small");
  EXPECT_EQ(meant("someone/Qwen2.5-7B-german"), "qwen2.5-7b");
}

// unsloth/mistral-7b is a copy; who says "mistral 7b" means its makers' checkpoint.
TEST(ModelNames, ACopyStandsForNobodyElse) {
  EXPECT_EQ(run::hub_id(presets(), "mistral-7b"), "mistralai/Mistral-7B-v0.1");
  EXPECT_EQ(run::hub_id(presets(), "vicuna-13b-v1.3"), "lmsys/vicuna-13b-v1.3");
}

}  // namespace
}  // namespace plimsoll::report
