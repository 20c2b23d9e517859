// Versions in what people paste around a run, in the forms that programs and people write them; the texts
// are our own.
#include "core/exchange/versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/at.h"
#include "core/report/exchange.h"
#include "tests/core/report_answers.h"

namespace plimsoll::exchange {
namespace {

using json::at;
using json::Json;
using report::presets;
using testing::HasSubstr;

// "transformers 4.51.3, trl 0.15.1", in the order of the pointers.
std::string versions_said(std::string_view text) {
  std::string out;
  for (const auto& [pointer, version] : versions_in(text))
    out += (out.empty() ? "" : ", ") + pointer.substr(10) + " " + version.get<std::string>();
  return out;
}

Json import_answer(const std::string& text, const std::string& around = "") {
  json::Errors errors;
  return json::parse(report::import_text(text, "", presets(), around), errors).value_or(Json());
}

TEST(Versions, OfPipsListsAndPins) {
  EXPECT_EQ(versions_said("transformers==4.51.3\npeft==0.15.2\ndatasets==3.5.0\n"),
            "peft 0.15.2, transformers 4.51.3");
  EXPECT_EQ(versions_said("Package        Version\n-------------- ------------\ntorch          2.6.0+cu124\n"
                          "torchvision    0.21.0\ntransformers   4.50.0\n"),
            "torch 2.6.0, transformers 4.50.0");
  EXPECT_EQ(
      versions_said("!pip install -qU \"transformers[torch]==4.46.1\" trl==0.12.0 'bitsandbytes==0.44.1'"),
      "bitsandbytes 0.44.1, transformers 4.46.1, trl 0.12.0");
  EXPECT_EQ(versions_said("Name: trl\nVersion: 0.17.0\n"), "trl 0.17.0");
  EXPECT_EQ(versions_said("[[package]]\nname = \"peft\"\nversion = \"0.14.0\"\n"), "peft 0.14.0");
}

TEST(Versions, OfCondasListsAndFiles) {
  EXPECT_EQ(
      versions_said("pytorch                   2.3.1           py3.11_cuda12.1_cudnn8.9.2_0    pytorch\n"
                    "pytorch-cuda              12.1            ha16c6d3_5                      pytorch\n"
                    "peft                      0.11.1          pypi_0                          pypi\n"),
      "peft 0.11.1, torch 2.3.1");
  EXPECT_EQ(versions_said("dependencies:\n  - pytorch=2.2.0=py3.10_cuda11.8_0\n  - pip:\n    - trl==0.8.1\n"),
            "torch 2.2.0, trl 0.8.1");
}

TEST(Versions, OfTheListsThatLibrariesPrintOfThemselves) {
  // transformers env, accelerate env
  EXPECT_EQ(
      versions_said(
          "- `transformers` version: 4.49.0\n- Python version: 3.11.4\n- `Accelerate` version: 1.4.0\n"
          "- PyTorch version (GPU?): 2.6.0+cu124 (True)\n- Tensorflow version (GPU?): not installed (NA)\n"),
      "torch 2.6.0, transformers 4.49.0");
  // trl env, llamafactory-cli env
  EXPECT_EQ(
      versions_said(
          "- Transformers version: 4.48.0.dev0\n- TRL version: 0.14.0.dev0+5fd52ad\n- PEFT version: 0.14.0\n"
          "- PyTorch version: 2.5.1 (GPU)\n- bitsandbytes version: not installed\n"),
      "peft 0.14.0, torch 2.5.1, transformers 4.48.0.dev0, trl 0.14.0.dev0");
  // Axolotl, at the start of a run
  EXPECT_EQ(
      versions_said(
          "**** Axolotl Dependency Versions *****\n  accelerate: 1.2.1\n        peft: 0.14.0\n"
          "transformers: 4.47.1\n         trl: 0.13.0\n       torch: 2.5.1+cu124\nbitsandbytes: 0.45.0\n"),
      "bitsandbytes 0.45.0, peft 0.14.0, torch 2.5.1, transformers 4.47.1, trl 0.13.0");
}

TEST(Versions, OfUnslothsBanner) {
  EXPECT_EQ(versions_said(
                "==((====))==  Unsloth 2025.8.2: Fast Llama patching. Transformers: 4.55.0. vLLM: 0.10.0.\n"
                "   \\\\   /|    Tesla T4. Num GPUs = 1. Max memory: 14.741 GB. Platform: Linux.\n"
                "O^O/ \\_/ \\    Torch: 2.7.1+cu126. CUDA: 7.5. CUDA Toolkit: 12.6. Triton: 3.3.1\n"),
            "torch 2.7.1, transformers 4.55.0, unsloth 2025.8.2");
  EXPECT_EQ(
      versions_said("==((====))==  Unsloth: Fast Mistral patching release 2024.4\nO^O/ \\_/ \\  Pytorch: "
                    "2.2.1+cu121. CUDA = 8.0."),
      "torch 2.2.1, unsloth 2024.4");
  // What the run printed counts more than what somebody says of another one.
  EXPECT_EQ(versions_said(
                "It worked with unsloth 2025.6.1.\nUnsloth 2025.8.9 patched 28 layers with 28 QKV layers.\n"),
            "unsloth 2025.8.9");
}

TEST(Versions, OfSentencesWhereTheyMeanWhatIsInstalled) {
  EXPECT_EQ(versions_said("I am on transformers 4.44.2 with peft v0.12.0, torch version 2.4.0."),
            "peft 0.12.0, torch 2.4.0, transformers 4.44.2");
  for (const char* text :
       {"Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception.",
        "`tokenizer` is deprecated and will be removed in version 0.16.0 of TRL", "needs transformers>=4.40",
        "upgrade to transformers 4.50", "works from peft 0.14 on", "PyTorch 2.1 or newer",
        "23.51 GiB is allocated by PyTorch, and 5.51 GiB is reserved by PyTorch but unallocated",
        "site-packages/transformers/trainer.py\", line 2241, in train", "sentence-transformers==2.7.0",
        "\"transformers_version\": \"4.38.1\"", "pytorch-lightning==2.1.0", "torch: 21.5 GiB", ""}) {
    EXPECT_EQ(versions_said(text), "") << text;
  }
}

TEST(Versions, TheFirstOfEqualFormsCounts) {
  EXPECT_EQ(versions_said("- Transformers version: 4.47.0\nWith transformers==4.46.3 it ran.\n"),
            "transformers 4.47.0");
  EXPECT_EQ(versions_said("transformers==4.47.0 fails, transformers==4.46.3 does not"),
            "transformers 4.47.0");
}

TEST(Versions, StandInTheRequestOfACommandAndItsPaste) {
  const std::string command =
      "# transformers==4.51.3, trl==0.17.0\ntrl sft --model_name_or_path Qwen/Qwen3-4B "
      "--dataset_name trl-lib/Capybara --max_length 2048";
  const Json alone = import_answer(command);
  EXPECT_EQ(at(at(alone, "request"), "versions"), (Json{{"transformers", "4.51.3"}, {"trl", "0.17.0"}}));
  EXPECT_THAT(json::write(at(alone, "notes")), HasSubstr("transformers 4.51.3, trl 0.17.0"));
  const Json part = import_answer("trl sft --model_name_or_path Qwen/Qwen3-4B --max_length 2048",
                                  "System info: TRL version: 0.19.1\n\ntrl sft ...");
  EXPECT_EQ(at(at(at(part, "request"), "versions"), "trl"), Json("0.19.1"));
}

TEST(Versions, DoNotReplaceWhatARequestSays) {
  const Json answer = import_answer(
      R"({"model": "gpt2", "stack": "trl", "versions": {"trl": "0.11"}, "training": {"max_length": 512}})",
      "TRL version: 0.19.1");
  EXPECT_EQ(at(at(at(answer, "request"), "versions"), "trl"), Json("0.11"));
}

TEST(Versions, AloneAreAPartOfARequest) {
  const Json answer = import_answer("transformers==4.51.3\ntrl==0.17.0\nnumpy==1.26.4\n");
  EXPECT_EQ(at(answer, "ok"), Json(true));
  EXPECT_EQ(at(answer, "partial"), Json(true));
  EXPECT_EQ(at(at(answer, "format"), "id"), Json("versions"));
  EXPECT_EQ(at(answer, "request"), (Json{{"versions", {{"transformers", "4.51.3"}, {"trl", "0.17.0"}}}}));
}

// Unsloth's Qwen2.5 GRPO notebook of September 2025 still carries the banner of February.
TEST(Versions, OutputsThatDenyWhatANotebookInstallsAreOfAnOlderRun) {
  const auto notebook = [](const std::string& pin) {
    const Json made = {
        {"nbformat", 4},
        {"cells",
         {{{"cell_type", "code"},
           {"source", "!pip install " + pin},
           {"outputs",
            Json::array({{{"text", "Unsloth 2025.2.4: Fast Qwen2 patching. Transformers: 4.48.2."}}})}},
          {{"cell_type", "code"},
           {"source",
            "from unsloth import FastLanguageModel\nmodel, tokenizer = FastLanguageModel.from_pretrained("
            "model_name = \"unsloth/Qwen2.5-7B\", max_seq_length = 2048)"}}}}};
    return made.dump();
  };
  const auto versions = [](const std::string& text) {
    return at(at(import_answer(text), "request"), "versions");
  };
  EXPECT_EQ(versions(notebook("transformers==4.55.4")), Json({{"transformers", "4.55.4"}}));
  EXPECT_NE(json::write(at(import_answer(notebook("transformers==4.55.4")), "notes"))
                .find("an older run, with transformers 4.48.2, unsloth 2025.2.4"),
            std::string::npos);
  EXPECT_EQ(versions(notebook("transformers==4.48.2")),
            Json({{"transformers", "4.48.2"}, {"unsloth", "2025.2.4"}}));
}

}  // namespace
}  // namespace plimsoll::exchange
