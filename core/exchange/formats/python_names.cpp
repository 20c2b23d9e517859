#include "core/exchange/formats/python_names.h"

#include <algorithm>
#include <span>

#include "core/exchange/formats/python_loop.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/python/tokens.h"
#include "core/recipe/tasks.h"

namespace plimsoll::exchange {

namespace {

bool is_adapter_config(std::string_view name) {
  constexpr std::string_view tail = "Config";
  return name_ends_with(name, tail) && !adapter_type(name.substr(0, name.size() - tail.size())).empty();
}

}  // namespace

std::string_view task_of(std::string_view name) {
  if (name == "GMPOTrainer") return "grpo";  // another loss of the same step
  for (const std::string_view tail : {"v2Trainer", "v2Config", "Trainer", "Config"}) {
    if (!name_ends_with(name, tail)) continue;
    const std::string_view stem = name.substr(0, name.size() - tail.size());
    const recipe::Task* task = recipe::trained_by(stem);
    if (task != nullptr && stem == task->trainer) return task->id;
  }
  return "";
}

std::string_view place_of(std::string_view call) {
  const std::string_view name = last_part(call);
  const std::string_view owner =
      call.size() > name.size() ? last_part(call.substr(0, call.size() - name.size() - 1)) : "";
  if (name_ends_with(name, "TrainingArguments")) return "training";
  if (!task_of(name).empty()) return name_ends_with(name, "Config") ? "training" : "trainer";
  if (name == "Trainer" && (owner == "L" || owner == "pl" || owner == "lightning")) return "lightning";
  if (is_adapter_config(name) || name == "get_peft_model") return "peft";
  if (name == "BitsAndBytesConfig" || name == "GPTQConfig" || name == "AwqConfig" || name == "HqqConfig")
    return "quantization";
  if (name == "prepare_model_for_kbit_training" || name == "prepare_model_for_int8_training")
    return "prepare";
  if (name == "gradient_checkpointing_enable") return "checkpointing";
  // class OwnTrainer of another file; the tokenizers library trains its own.
  if (name_ends_with(name, "Trainer") && name != "ModelTrainer") {
    for (const std::string_view other : {"Bpe", "WordPiece", "WordLevel", "Unigram"}) {
      if (name.substr(0, other.size()) == other) return "";
    }
    return "trainer";
  }
  if (name == "HuggingFace" || name == "PyTorch" || name == "ModelTrainer") return "sagemaker";
  if (name == "get_model_tokenizer" || name == "get_model_processor") return "model";  // ms-swift
  if (name == "from_pretrained" || name == "from_config") {
    for (std::string_view other : {"Tokenizer", "Processor", "Config", "FeatureExtractor", "Peft"}) {
      if (owner.find(other) != std::string_view::npos) return "";
    }
    return "model";
  }
  return "";
}

int claim_of(const Member& call) {
  if (!call.value.is_map() || call.value.call.empty() || place_of(call.key) != "model") return 0;
  if (call.key.find("Fast") != std::string::npos) return 3;
  return call.key.find("Auto") != std::string::npos || call.key.find("For") != std::string::npos ? 2 : 1;
}

bool is_lightning(const Node& call) {
  return call.find("accumulate_grad_batches") != nullptr || call.find("accelerator") != nullptr ||
         call.find("max_epochs") != nullptr;
}

}  // namespace plimsoll::exchange
