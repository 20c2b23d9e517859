#include "core/exchange/formats/python_whole.h"

#include <algorithm>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

using json::Json;

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
  const bool whole = reading.leaf("$loop") != nullptr ||
                     (reading.leaf("$wrapped") != nullptr && reading.leaf("$plain_arguments") != nullptr);
  if (quantised && whole && !reading.has("/quantization/prepare_for_kbit_training"))
    reading.values["/quantization/prepare_for_kbit_training"] = false;
}

// target_modules=find_all_linear_names(model): what qlora.py's function gives is all linear layers. Of another
// function they are the most that it may give, until a person says it.
void finish_computed_targets(Reading& reading) {
  const Leaf* leaf = reading.leaf("peft.target_modules");
  if (leaf == nullptr || !leaf->node->opaque || reading.has("/peft/target_modules")) return;
  const std::string text = std::string(reading.text);
  const bool linear = ascii::lower(leaf->node->raw).find("linear") != std::string::npos ||
                      text.find("nn.Linear") != std::string::npos ||
                      text.find("Linear4bit") != std::string::npos;
  reading.set("/peft/target_modules", "all-linear", linear ? leaf : nullptr);
  if (!linear)
    reading.unsaid.push_back({"/peft/target_modules", "A function of the script computes them; say them."});
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

// trl/trainer/sft_trainer.py: _prepare_dataset is what cuts rows, and it may be skipped.
void finish_unprepared(Reading& reading) {
  const bool skipped = reading.is_on("training.dataset_kwargs.skip_prepare_dataset") ||
                       reading.is_on("trainer.dataset_kwargs.skip_prepare_dataset");
  if (!skipped || reading.has("/training/max_length")) return;
  reading.values["/training/truncation_strategy"] = "none";
  reading.notes.emplace_back(
      "skip_prepare_dataset: TRL does not cut these rows, and no call of a tokenizer here says where they "
      "end.");
}

// unsloth/models/rl.py check_num_generations: where prompts and completions do not divide, the batch becomes
// the number of generations.
void finish_generations(Reading& reading) {
  const auto task = reading.values.find("/task");
  if (task == reading.values.end() || task->second != Json("grpo") ||
      reading.leaf("training.steps_per_generation") != nullptr ||
      reading.leaf("training.generation_batch_size") != nullptr)
    return;
  const Leaf* leaf = reading.leaf("training.per_device_train_batch_size");
  const uint64_t batch = reading.count("/training/per_device_train_batch_size", 0),
                 steps = reading.count("/training/gradient_accumulation_steps", 0),
                 gpus = reading.count("/parallel/num_gpus", 1),
                 generations = reading.count("/rl/num_generations", 0);
  if (leaf == nullptr || batch == 0 || generations == 0 || (batch * steps * gpus) % generations == 0) return;
  reading.set("/training/per_device_train_batch_size", generations, leaf);
  reading.finding(*leaf).message = "Unsloth raises it to num_generations, which it does not divide into";
}

void note_unset_arguments(Reading& reading) {
  if (const Leaf* spread = reading.leaf("$spread_arguments"); spread != nullptr) {
    for (const char* size :
         {"/training/per_device_train_batch_size", "/training/gradient_accumulation_steps"}) {
      if (!reading.has(size))
        reading.unsaid.push_back(
            {size, "It may stand in " + spread->node->raw + ", which is not here; say its value."});
    }
  }
  const Leaf* name = reading.leaf("$unset_arguments");
  if (name == nullptr) return;
  const size_t first = reading.text.find(name->node->raw);
  if (first == std::string_view::npos ||
      reading.text.find(name->node->raw, first + 1) != std::string_view::npos)
    return;  // it is set in a way that is not followed: its defaults hold
  for (const char* size :
       {"/training/per_device_train_batch_size", "/training/gradient_accumulation_steps"}) {
    if (!reading.has(size))
      reading.unsaid.push_back(
          {size, "It stands in " + name->node->raw + ", which is not here; say its value."});
  }
}

void leave_out_raised_batch(Writing& out) {
  const auto number = [&out](const char* pointer, uint64_t otherwise) {
    const Json* value = out.find(pointer);
    return value != nullptr && value->is_number_unsigned() ? value->get<uint64_t>() : otherwise;
  };
  constexpr const char* batch = "/training/per_device_train_batch_size";
  const uint64_t generations = number("/rl/num_generations", 0);
  const uint64_t rows =
      number(batch, 0) * number("/training/gradient_accumulation_steps", 0) * number("/parallel/num_gpus", 1);
  if (!out.is("/task", "grpo") || generations == 0 || rows % generations == 0) return;
  if (std::erase_if(out.entries, [](const Entry& entry) { return entry.pointer == batch; }) != 0)
    out.left_out.emplace_back(batch);
}

void read_beside(Reading& reading, const Leaf& leaf) {
  const bool model = leaf.node->quoted && !leaf.node->opaque;
  reading.mark(leaf, model ? Use::unsupported : Use::irrelevant);
}

// PPO's value and reward are counted as copies of the policy, and so is any reference.
void note_beside(Reading& reading) {
  const auto task = reading.values.find("/task"), model = reading.values.find("/model");
  const bool ppo = task != reading.values.end() && task->second == Json("ppo");
  for (const std::string key :
       {"ref_model", "value_model", "reward_model", "reward_funcs", "teacher_model"}) {
    const Leaf* leaf = reading.leaf("trainer." + key);
    if (leaf == nullptr || !leaf->node->quoted || leaf->node->opaque) continue;
    const std::string name = leaf->node->raw.empty() ? "a model of its own" : leaf->node->raw;
    const bool copied = key == "ref_model" || (ppo && (key == "value_model" || key == "reward_model"));
    const bool same = model != reading.values.end() && model->second == Json(leaf->node->raw);
    const std::string how =
        copied ? "it is counted as large as the model that is trained" : "its memory is not counted";
    if (key != "ref_model") reading.mark(*leaf, copied ? Use::implied : Use::unsupported, how);
    if (!copied || !same)
      reading.notes.push_back("Beside the model stands " + name + " (" + key + "): " + how + ".");
  }
}

// PeftModel.from_pretrained(base, "out/sft", is_trainable=True) names a folder that is not here.
void note_continued(Reading& reading) {
  if (reading.leaf("$continued") == nullptr || reading.has("/peft/r")) return;
  reading.notes.emplace_back(
      "An adapter is trained on: its rank and its modules stand in its adapter_config.json, paste that too.");
  reading.unsaid.push_back({"/peft/r", "The adapter that is trained on says it; say its rank."});
  if (reading.has("/peft/target_modules")) return;
  reading.unsaid.push_back(
      {"/peft/target_modules", "The adapter that is trained on says it; say its modules."});
  reading.values["/peft/target_modules"] = "all-linear";  // the most that it may hold, until that is said
}

}  // namespace plimsoll::exchange
