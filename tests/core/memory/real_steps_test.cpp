// Real steps of Transformers, beside the replay. tests/core/golden/real_steps.json is what
// tests/measured/real_step.py saw when it ran the model classes themselves, without weights: six layers of
// each family, full fine-tuning in bfloat16 and LoRA on all linears, with and without checkpointing; of some
// also under autocast, full fine-tuning then with fp32 weights (without Phi, whose power a CPU's autocast
// leaves in 16 bits). real_vision_steps.json: models that see;
// real_tuner_steps.json: PEFT's methods besides plain LoRA; real_encoder_steps.json: encoders and
// encoder-decoders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/core/golden.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

// Two matrix-product workspaces, which a CPU does not have.
constexpr double workspaces = 2 * 8519680.0;

Json request_of(const Json& seen) {
  Json request = {
      {"hardware", {{"gpu", "a100-sxm-80"}}},
      {"model", {{"config", seen["config"]}}},
      {"model_args", {{"attn_implementation", seen["attention"]}, {"dtype", seen["dtype"]}}},
      {"stack", "hf"},
      {"training",
       {{"bf16", seen["autocast"]},
        {"eval_strategy", "no"},
        {"gradient_accumulation_steps", 1},
        {"gradient_checkpointing", seen["checkpointing"]},
        {"loss_kernel", "stock"},
        {"max_length", seen["length"]},
        {"optim", "adamw_torch"},
        {"packing", false},
        {"padded_batches", false},
        {"per_device_train_batch_size", seen["batch"]}}},
      {"versions", {{"peft", "0.21.2"}, {"torch", "2.10.0"}, {"transformers", "5.23.0"}}},
  };
  if (seen["checkpointing"].get<bool>()) {
    request["training"]["gradient_checkpointing_kwargs"] = {{"use_reentrant", false}};
  }
  if (seen["lora"].get<int>() > 0) {
    request["peft"] = {{"lora_dropout", 0.0},
                       {"r", seen["lora"]},
                       {"target_modules", seen.value("target_modules", Json("all-linear"))}};
    if (seen.contains("target_parameters")) request["peft"]["target_parameters"] = seen["target_parameters"];
  }
  if (seen.contains("peft")) {
    request["peft"] = seen["peft"];
    if (!request["peft"].contains("lora_dropout") && !request["peft"].contains("peft_type")) {
      request["peft"]["lora_dropout"] = 0.0;
    }
    // No field: of these nothing depends on it.
    for (const char* field : {"target_r", "total_step", "gralora_k"}) request["peft"].erase(field);
  }
  if (seen.value("model_class", "") == "AutoModelForSequenceClassification") {
    request["task"] = "classification";
    request["model_args"]["num_labels"] = 2;
  }
  if (seen.contains("image_size")) {
    request["vision"] = {{"freeze_vision_tower", false},
                         {"image_size", seen["image_size"]},
                         {"images_per_sample", 1},
                         {"max_tiles", 1}};  // what the oracle hands over is one tile
  }
  return request;
}

// What a step adds to weights and adapters: the highest of forward, loss and backward.
double added(const Json& report) {
  double highest = 0, rest = 0;
  for (const Json& instant : report["memory"]["instants"]) {
    const std::string id = instant["id"].get<std::string>();
    if (id == "load" || id == "prepare") {
      rest = 0;
      for (const Json& part : instant["components"]) {
        const std::string component = part["id"].get<std::string>();
        if (component == "weights" || component == "adapters") rest += part["bytes"].get<double>();
      }
    } else if (id == "forward" || id == "loss" || id == "backward") {
      highest = std::max(highest, instant["allocated"].get<double>());
    }
  }
  return highest - workspaces - rest;
}

// By size, of all steps in a file. The farthest may be `farthest` away.
std::vector<double> errors_of(std::string_view name, double farthest) {
  json::Errors errors_of_file;
  const Json file = json::parse(golden_file(name), errors_of_file).value_or(Json::object());
  std::vector<double> errors;
  for (const Json& seen : file["cases"]) {
    const double real =
        std::max(seen["forward"].get<double>(), seen["backward"].get<double>()) - seen["start"].get<double>();
    const Json report = answer(request_of(seen));
    EXPECT_EQ(bytes(report, "/model/trainable"), seen["trainable"].get<uint64_t>()) << seen["name"];
    const double error = added(report) / real - 1;
    errors.push_back(std::abs(error));
    EXPECT_LT(std::abs(error), farthest) << seen["name"] << " " << error;
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

// The farthest is Apertus, of whose activation autocast keeps more. Full fine-tuning of most families under autocast was
// 0.8 to 1.8 % too high while the fp32 gradients of its weights met their casts.
TEST(RealSteps, OfEveryFamilyAllocateWhatTheReplaySays) {
  const std::vector<double> errors = errors_of("real_steps.json", 0.048);
  ASSERT_GE(errors.size(), 145U);
  EXPECT_LT(errors[errors.size() / 2], 0.0003);
}

// PEFT's methods on six layers of Llama, without prefix tuning: its keys ask for a mask, which that program's
// stand-in for SDPA does not know (trainer_steps.json has it). The farthest: DoRA under autocast, FourierFT,
// LoHa and RandLoRA, all too high.
TEST(RealSteps, WithEveryAdapterMethodAllocateWhatTheReplaySays) {
  const std::vector<double> errors = errors_of("real_tuner_steps.json", 0.08);
  ASSERT_GE(errors.size(), 74U);
  EXPECT_LT(errors[errors.size() / 2], 0.001);
}

// BERT, RoBERTa and ModernBERT with a classifier: 2 % at most. T5 with its own loss is up to 8.5 % low.
TEST(RealSteps, OfEncodersAllocateWhatTheReplaySays) {
  const std::vector<double> errors = errors_of("real_encoder_steps.json", 0.09);
  ASSERT_GE(errors.size(), 25U);
  EXPECT_LT(errors[errors.size() / 2], 0.01);
}

// Towers of four layers, wider than their language model, and one large image a row. What lies between tower
// and language model (a merger, a projector, Qwen3-VL's three and its fp32 position embeddings) is not
// replayed, and is large beside so few layers.
TEST(RealSteps, OfModelsThatSeeAllocateWhatTheReplaySays) {
  const std::vector<double> errors = errors_of("real_vision_steps.json", 0.22);
  ASSERT_GE(errors.size(), 21U);
  EXPECT_LT(errors[errors.size() / 2], 0.04);
}

}  // namespace
}  // namespace plimsoll::report
