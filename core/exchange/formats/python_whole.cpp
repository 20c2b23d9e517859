#include "core/exchange/formats/python_whole.h"

#include <algorithm>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

// trl/trainer/sft_trainer.py: SFTConfig(**args.to_dict()), so that what TrainingArguments leave off stays off.
void finish_plain_arguments(Reading& reading) {
  if (reading.leaf("$plain_arguments") == nullptr) return;
  for (const char* flag : {"/training/gradient_checkpointing", "/training/bf16"}) {
    if (!reading.has(flag)) reading.values[flag] = false;
  }
}

// A quantised base is loaded and its adapters are added, and between them nothing prepares it: Transformers'
// Trainer does not either.
void finish_preparation(Reading& reading) {
  const bool quantised = reading.is_on("quantization.load_in_4bit") ||
                         reading.is_on("quantization.load_in_8bit") || reading.is_on("model.load_in_4bit") ||
                         reading.is_on("model.load_in_8bit");
  const bool whole = reading.leaf("$wrapped") != nullptr && reading.leaf("$plain_arguments") != nullptr;
  if (quantised && whole && !reading.has("/quantization/prepare_for_kbit_training"))
    reading.values["/quantization/prepare_for_kbit_training"] = false;
}

// A model is loaded and trained, and no word of adapters stands anywhere: all of it is trained.
void finish_full(Reading& reading) {
  const bool loads = std::any_of(reading.all.begin(), reading.all.end(),
                                 [](const Leaf& leaf) { return leaf.path.rfind("model.", 0) == 0; });
  if (reading.leaf("$trainer") == nullptr || !loads) return;
  const std::string text = ascii::lower(reading.text);
  const auto says = [&text](const char* word) { return text.find(word) != std::string::npos; };
  reading.all_trained = reading.all_trained || (!says("peft") && !says("lora") && !says("adapter"));
}

// PeftModel.from_pretrained(base, "out/sft", is_trainable=True) names a folder that is not here.
void note_continued(Reading& reading) {
  if (reading.leaf("$continued") == nullptr || reading.has("/peft/r")) return;
  reading.notes.emplace_back(
      "An adapter is trained on: its rank and its modules stand in its adapter_config.json, paste that too.");
}

}  // namespace plimsoll::exchange
