// Files and commands of LLaMA-Factory, and the requests they mean.
#include "tests/core/exchange/any_text.h"

namespace plimsoll::exchange {
namespace {

using json::Json;

#ifndef __EMSCRIPTEN__

TEST(ExchangeLlamaFactory, AQloraConfigurationGivesItsRequest) {
  expect_request(R"(### model
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
quantization_bit: 4  # choices: [8 (bnb/hqq/eetq), 4 (bnb/hqq)]
quantization_method: bnb
trust_remote_code: true
### method
stage: sft
do_train: true
finetuning_type: lora
lora_rank: 8
lora_target: all
### dataset
dataset: identity,alpaca_en_demo
template: llama3
cutoff_len: 2048
### train
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
learning_rate: 1.0e-4
num_train_epochs: 3.0
bf16: true
flash_attn: fa2
deepspeed: examples/deepspeed/ds_z2_config.json
)",
                 "llamafactory", R"({"model": "meta-llama/Meta-Llama-3-8B-Instruct", "stack": "llamafactory",
      "quantization": {"load_in_4bit": true}, "model_args": {"attn_implementation": "flash_attention_2"},
      "peft": {"r": 8, "target_modules": "all-linear"}, "parallel": {"strategy": "zero2"}, "data": {"epochs": 3.0},
      "training": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 8, "max_length": 2048,
                   "bf16": true}})");
}

// By the parsers of the releases: LLaMA-Factory's extras/constants.py and model/model_utils/quantization.py.
TEST(ExchangeLlamaFactory, AWordThatTheReleaseDoesNotKnowQuantisesNothing) {
  const auto read = [](const std::string& method, const std::string& below = "") {
    return import_any(
        "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\nfinetuning_type: lora\ndataset: d\n"
        "quantization_bit: 4\nquantization_method: " +
        method + "\n" + below);
  };
  const Json nf4 = {{"load_in_4bit", true}};
  EXPECT_EQ(read("bnb").request.value("quantization", Json()), nf4);
  EXPECT_TRUE(read("bnb").notes.empty());
  for (const char* word : {"bitsandbytes", "BNB", "null", "~"}) {
    const Import import = read(word);
    EXPECT_FALSE(import.request.contains("quantization")) << word;
    ASSERT_EQ(import.notes.size(), 1U) << word;
    EXPECT_THAT(import.notes[0], testing::HasSubstr("not quantised")) << word;
  }
  for (const char* release : {"0.9.1", "0.9.2"}) {
    const std::string installed = std::string("# llamafactory==") + release + "\n";
    EXPECT_EQ(read("bitsandbytes", installed).request.value("quantization", Json()), nf4) << release;
    EXPECT_FALSE(read("bnb", installed).request.contains("quantization")) << release;
  }
  EXPECT_FALSE(read("bitsandbytes", "# llamafactory==0.9.3\n").request.contains("quantization"));
}

// argparse refuses what it does not know, so that a command that runs is quantised.
TEST(ExchangeLlamaFactory, ACommandThatRunsHasAWordThatItsReleaseKnows) {
  const Import import = import_any(
      "llamafactory-cli train --model_name_or_path Qwen/Qwen3-4B --stage sft --finetuning_type lora "
      "--quantization_bit 4 --quantization_method bitsandbytes --dataset d");
  EXPECT_EQ(import.request.value("quantization", Json()), Json({{"load_in_4bit", true}}));
}

TEST(ExchangeLlamaFactory, NewTokensTrainEmbeddingsAndHeadUnderEachOfTheirNames) {
  for (const char* line : {"resize_vocab: true", "add_tokens: \"<a>,<b>\"", "add_special_tokens: \"<a>\"",
                           "new_special_tokens: \"<a>,<b>\""}) {
    const std::string text =
        std::string("model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nstage: sft\n") +
        "finetuning_type: lora\nlora_target: all\ncutoff_len: 2048\n" + line + "\n";
    expect_request(text, "llamafactory",
                   R"({"model": "meta-llama/Meta-Llama-3-8B-Instruct", "stack": "llamafactory",
        "peft": {"target_modules": "all-linear", "modules_to_save": ["embed_tokens", "lm_head"]},
        "training": {"max_length": 2048}})");
  }
}

TEST(ExchangeLlamaFactory, InferenceIsNotTraining) {
  const Import import =
      import_any("model_name_or_path: Qwen/Qwen3-4B\ntemplate: qwen3\ninfer_backend: huggingface\n");
  ASSERT_EQ(import.errors.size(), 1U);
  EXPECT_EQ(import.errors[0].code, "not_training");
}

// hparams/finetuning_args.py: freeze_trainable_layers is 2 where it is not given.
TEST(ExchangeLlamaFactory, FreezeTuningTrainsTheLastLayers) {
  const std::string model = "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\ndo_train: true\ndataset: a\n";
  const auto layers = [&](const std::string& rest) {
    return import_any(model + rest).request["training"].value("freeze_trainable_layers", Json());
  };
  EXPECT_EQ(layers("cutoff_len: 512\nfinetuning_type: freeze\n"), Json(2));
  EXPECT_EQ(layers("cutoff_len: 512\nfinetuning_type: freeze\nfreeze_trainable_layers: 8\n"), Json(8));
  EXPECT_EQ(layers("cutoff_len: 512\nfinetuning_type: lora\nfreeze_trainable_layers: 8\n"), Json());
}

TEST(ExchangeLlamaFactory, MuonIsAnOptimizer) {
  const Import import = import_any(
      "model_name_or_path: Qwen/Qwen2-1.5B\nstage: sft\ndo_train: true\nfinetuning_type: full\n"
      "use_muon: true\ncutoff_len: 512\ndataset: a\n");
  EXPECT_EQ(import.request["training"].value("optim", Json()), Json("muon"));
}

// hparams/finetuning_args.py: galore_rank is 16 and galore_target all where they are not given; the base is
// `optim`.
TEST(ExchangeLlamaFactory, GaloreIsAnOptimizerWithItsRankAndTargets) {
  const std::string model =
      "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\ndo_train: true\nfinetuning_type: full\ndataset: a\n";
  const auto training = [&](const std::string& rest) { return import_any(model + rest).request["training"]; };
  Json read = training("use_galore: true\ngalore_layerwise: true\ngalore_rank: 128\n");
  EXPECT_EQ(read.value("optim", Json()), Json("galore_adamw_layerwise"));
  EXPECT_EQ(read.value("optim_args", Json()), Json("rank=128"));
  EXPECT_EQ(read.value("optim_target_modules", Json()), Json("all-linear"));
  read = training("use_galore: true\noptim: adamw_8bit\ngalore_target: mlp,self_attn\n");
  EXPECT_EQ(read.value("optim", Json()), Json("galore_adamw_8bit"));
  EXPECT_EQ(read.value("optim_args", Json()), Json("rank=16"));
  EXPECT_EQ(read.value("optim_target_modules", Json()), Json::array({"mlp", "self_attn"}));
  read = training("use_apollo: true\n");
  EXPECT_EQ(read.value("optim", Json()), Json("apollo_adamw"));
  EXPECT_TRUE(training("galore_rank: 128\n").is_null());
}

// examples/extras/llama_pro: the checkpoint that is trained has been expanded already.
TEST(ExchangeLlamaFactory, LlamaProTrainsTheBlocksThatWereAdded) {
  const std::string rest =
      "stage: sft\ndo_train: true\nfinetuning_type: freeze\nfreeze_trainable_layers: 8\nuse_llama_pro: true\n"
      "dataset: a\n";
  const Json pro = import_any("model_name_or_path: models/llama3-8b-pro\n" + rest).request["training"];
  EXPECT_EQ(pro.value("llamapro_num_new_blocks", Json()), Json(8));
  EXPECT_EQ(pro.value("freeze_trainable_layers", Json()), Json());
  const Json other = import_any("model_name_or_path: Qwen/Qwen3-4B\n" + rest).request["training"];
  EXPECT_EQ(other.value("freeze_trainable_layers", Json()), Json());
  EXPECT_EQ(other.value("unfrozen_parameters", Json()), Json::array({"[a-z_.]+.(0|1|2|3|4|5|6|7)."}));
}

// badam 1.4 block_optim.py: one layer has an fp32 copy and states, whatever the fine-tuning is called.
TEST(ExchangeLlamaFactory, BadamTrainsOneLayerAtATime) {
  const auto training = [](const std::string& rest) {
    return import_any("model_name_or_path: Qwen/Qwen3-4B\nstage: sft\ndataset: a\nuse_badam: true\n" + rest)
        .request["training"];
  };
  for (const char* type : {"full", "freeze"}) {
    const Json read = training(std::string("finetuning_type: ") + type + "\n");
    EXPECT_EQ(read.value("unfrozen_parameters", Json()), Json::array({"[a-z_.]+.(0)."})) << type;
    EXPECT_EQ(read.value("upcast_trainable", Json()), Json(true)) << type;
  }
  EXPECT_FALSE(training("finetuning_type: full\nbadam_mode: ratio\n").contains("unfrozen_parameters"));
}

// model/adapter.py _setup_freeze_tuning: a module's name anywhere in that of a parameter.
TEST(ExchangeLlamaFactory, FreezeTuningTrainsModulesBesideItsLayers) {
  const auto training = [](const std::string& rest) {
    return import_any("model_name_or_path: Qwen/Qwen3-4B\nstage: sft\ndataset: a\nfinetuning_type: freeze\n" +
                      rest)
        .request["training"];
  };
  const Json extra = training("freeze_trainable_layers: 6\nfreeze_extra_modules: embed_tokens, norm\n");
  EXPECT_EQ(extra.value("freeze_trainable_layers", Json()), Json(6));
  EXPECT_EQ(extra.value("unfrozen_parameters", Json()), Json::array({"(.+)?embed_tokens", "(.+)?norm"}));
  const Json projector = training("freeze_multi_modal_projector: false\n");
  EXPECT_EQ(projector.value("unfrozen_parameters", Json()),
            Json::array({"(.+)?multi_modal_projector", "(.+)?visual.merger"}));
  const Json first = training("freeze_trainable_layers: -2\n");
  EXPECT_EQ(first.value("freeze_trainable_layers", Json()), Json());
  EXPECT_EQ(first.value("unfrozen_parameters", Json()), Json::array({"[a-z_.]+.(0|1)."}));
}

// v0.9.1 hparams/finetuning_args.py: the name that release had for it.
TEST(ExchangeLlamaFactory, TheProjectorAloneIsTrainedUnderItsOldName) {
  const Json vision = import_any(
                          "model_name_or_path: llava-hf/llava-1.5-7b-hf\nstage: sft\nfinetuning_type: full\n"
                          "dataset: d\ntrain_mm_proj_only: true\nimage_resolution: 262144\n")
                          .request["vision"];
  EXPECT_EQ(vision.value("freeze_language_model", Json()), Json(true));
  EXPECT_EQ(vision.value("freeze_vision_tower", Json()), Json(true));
  EXPECT_EQ(vision.value("freeze_multi_modal_projector", Json()), Json(false));
  EXPECT_EQ(vision.value("image_size", Json()), Json(512));
}

// data/loader.py _get_dataset_processor; hparams/parser.py refuses neat_packing.
TEST(ExchangeLlamaFactory, OnlySftAndPretrainingPack) {
  const auto packing = [](const std::string& rest) {
    const Import import =
        import_any("model_name_or_path: gpt2\nfinetuning_type: lora\ntemplate: default\n" + rest);
    return import.request.value(Json::json_pointer("/training/packing"), Json());
  };
  EXPECT_EQ(packing("stage: sft\npacking: true\n"), Json(true));
  EXPECT_EQ(packing("stage: dpo\npacking: true\n"), Json());
  EXPECT_EQ(packing("stage: dpo\nneat_packing: true\n"), Json(true));  // which is refused
}

#endif

}  // namespace
}  // namespace plimsoll::exchange
