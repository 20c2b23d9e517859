// Scripts and notebooks in Python: Transformers' Trainer, TRL's trainers, Unsloth.
#include <algorithm>
#include <set>

#include "core/exchange/formats.h"
#include "core/exchange/formats/python_export.h"
#include "core/exchange/formats/python_loop.h"
#include "core/exchange/formats/python_whole.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"
#include "core/exchange/formats/trl_refusals.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// What PEFT's preparation and model.gradient_checkpointing_enable() do; transformers Trainer turns checkpointing on
// where it is told to, and never off.
void finish_prepared_checkpointing(Reading& reading) {
  constexpr const char* path = "prepare.use_gradient_checkpointing";
  const Leaf* leaf = reading.leaf(path);
  if (leaf == nullptr || !reading.is_on(path)) return;
  for (const char* said : {"training.gradient_checkpointing", "trainer.gradient_checkpointing"}) {
    if (reading.is_on(said)) return;
  }
  reading.set("/training/gradient_checkpointing", true, leaf);
  reading.finding(*leaf).message = "turned on by this call";
}

void read_task(Reading& reading, const Leaf& leaf) {
  if (leaf.node->raw == "sft") return reading.mark(leaf, Use::implied);
  reading.set("/task", leaf);
}

void read_adapter(Reading& reading, const Leaf& leaf) {
  reading.values["/peft"] = true;
  reading.finding(leaf).pointer = "/peft";
  reading.mark(leaf, Use::used);
}

bool is_used_at(Reading& reading, uint64_t place) {
  return std::any_of(reading.all.begin(), reading.all.end(), [&](const Leaf& leaf) {
    return leaf.path[0] != '$' && leaf.node->span.at == place && reading.finding(leaf).use == Use::used;
  });
}

// unsloth/models/rl.py: with it the trainer's vllm_enable_sleep_mode is on.
void read_standby(Reading& reading, const Leaf& leaf) {
  if (leaf.node->raw == "0") return reading.mark(leaf, Use::implied, "off");
  reading.set("/rl/vllm_enable_sleep_mode", true, &leaf);
}

// The script's own command line may say something else.
void note_flags(Reading& reading) {
  std::set<std::string> flags;
  for (const Leaf& leaf : reading.all) {
    if (leaf.path.rfind("$flags.", 0) == 0 && is_used_at(reading, leaf.node->span.at))
      flags.insert(leaf.node->raw);
  }
  if (flags.empty()) return;
  std::string names;
  for (const std::string& flag : flags) names += (names.empty() ? "" : ", ") + flag;
  reading.notes.push_back("Flags of the script's own command line are read as their defaults: " + names +
                          ".");
}

// "bf16-mixed" is autocast, "bf16-true" the type of the weights.
void read_lightning_precision(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  const bool bf16 = word.find("bf16") != std::string::npos,
             half = bf16 || word.find("16") != std::string::npos;
  if (!half) return reading.mark(leaf, Use::implied, "fp32");
  if (word.find("true") != std::string::npos)
    return reading.set("/model_args/dtype", bf16 ? "bfloat16" : "float16", &leaf);
  reading.set(bf16 ? "/training/bf16" : "/training/fp16", true, &leaf);
}

constexpr std::string_view lightning_strategies =
    "auto=none, ddp_find_unused_parameters_true=ddp, deepspeed=zero2, deepspeed_stage_1=zero1, "
    "deepspeed_stage_2=zero2, deepspeed_stage_2_offload=zero2, deepspeed_stage_3=zero3, "
    "deepspeed_stage_3_offload=zero3";

constexpr Row call_rows[] = {
    {"lightning.devices", "/parallel/num_gpus", "", nullptr, Write::no},
    {"lightning.strategy", "/parallel/strategy", lightning_strategies, nullptr, Write::no},
    {"lightning.precision", "/training/bf16", "", read_lightning_precision, Write::no},
    {"lightning.accumulate_grad_batches", "/training/gradient_accumulation_steps", "", nullptr, Write::no},
    {"lightning.max_epochs", "/data/epochs", "", nullptr, Write::no},
    {"lightning.max_steps", "/training/max_steps", "", nullptr, Write::no},
    {"prepare.use_gradient_checkpointing", "", "", read_implied},
    {"$task", "/task", "", read_task},
    {"$adapter", "/peft", "", read_adapter},
    {"$loop", "/stack", "", nullptr, Write::no},
    {"$PYTORCH_CUDA_ALLOC_CONF", "/hardware/PYTORCH_CUDA_ALLOC_CONF", ""},
    {"$CUDA_VISIBLE_DEVICES", "/parallel/num_gpus", "", read_visible_devices, Write::no},
    {"$launched", "/parallel/num_gpus", "", nullptr, Write::no},
    {"$launched_by", "/parallel/strategy", "", read_deepspeed_name, Write::no},
    {"$UNSLOTH_VLLM_STANDBY", "/rl/vllm_enable_sleep_mode", "", read_standby, Write::no},
};
constexpr Table call_table{call_rows, "$* lightning.*",
                           "$trl $unsloth $import $wrapped $plain_arguments $spread_arguments", ""};

// unsloth/models/rl.py: a model with an engine sets use_vllm and vllm_mode='colocate' in the trainer's
// arguments.
void read_fast_inference(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off");
  reading.set("/rl/use_vllm", true, &leaf);
  reading.values["/rl/vllm_mode"] = "colocate";
}

constexpr Row unsloth_model_rows[] = {
    {"model_name", "/model", ""},
    {"max_seq_length", "/training/max_length", ""},
    {"load_in_4bit", "/quantization/load_in_4bit", ""},
    {"load_in_8bit", "/quantization/load_in_8bit", ""},
    {"dtype", "/model_args/dtype", ""},
    {"fast_inference", "/rl/use_vllm", "", read_fast_inference, Write::no},
    {"unsloth_vllm_standby", "/rl/vllm_enable_sleep_mode", "", nullptr, Write::no},
};
constexpr Table unsloth_model_table{
    unsloth_model_rows, "device_map_planner_kwargs* whisper_*",
    // Checkpointing is settled when the adapters are added; load_in_16bit is what is left without the others.
    "full_finetuning auto_model use_gradient_checkpointing load_in_16bit", ""};

// SFTTrainer("id", ...): TRL's trainers load a model that they are given by its name.
void read_trainer_model(Reading& reading, const Leaf& leaf) {
  if (!leaf.node->value.is_string() || reading.has("/model")) return reading.mark(leaf, Use::implied);
  reading.set("/model", leaf);
}

// compute_metrics=my_metrics: what the function computes is not known, but with one, logits are gathered.
void read_function(Reading& reading, const Leaf& leaf) {
  const bool none = !leaf.node->opaque && leaf.node->value.is_null();
  if (none) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  // transformers trainer_seq2seq.py prediction_step.
  if (reading.is_on("training.predict_with_generate"))
    return reading.mark(leaf, Use::implied, "generated tokens are gathered, not logits");
  reading.set(leaf.path == "trainer.compute_metrics" ? "/training/compute_metrics"
                                                     : "/training/preprocess_logits_for_metrics",
              true, &leaf);
}

// A model of its own as the reference, which adapters would make needless.
void read_reference(Reading& reading, const Leaf& leaf) {
  const bool none = !leaf.node->opaque && leaf.node->value.is_null();
  if (none) return reading.mark(leaf, Use::implied, "none is given");
  reading.set("/rl/reference_model", "copy", &leaf);
}

constexpr Row trainer_rows[] = {
    {"ref_model", "/rl/reference_model", "", read_reference, Write::no},
    {"reward_model", "", "", read_beside, Write::no},
    {"value_model", "", "", read_beside, Write::no},
    {"reward_funcs", "", "", read_beside, Write::no},
    {"teacher_model", "", "", read_beside, Write::no},
    {"model", "/model", "", read_trainer_model, Write::no},
    {"compute_metrics", "/training/compute_metrics", "", read_function, Write::no},
    {"preprocess_logits_for_metrics", "/training/preprocess_logits_for_metrics", "", read_function,
     Write::no},
};
constexpr std::string_view trainer_irrelevant =
    "tokenizer processing_class train_dataset eval_dataset data_collator callbacks args dataset_text_field "
    "formatting_func peft_config reward_funcs optimizers reward_funcs* callbacks* dataset_num_proc";
constexpr Table trainer_table{trainer_rows, trainer_irrelevant, "", ""};

constexpr Section sections[] = {
    {"", &call_table},           {"quantization", &quantization_table},
    {"peft", &peft_table},       {"training", &training_table},
    {"trainer", &trainer_table}, {"trainer", &training_table},
    {"model", &model_table},     {"training", &trl_model_table},
    {"training", &model_table},  {"length", &training_table},
};
constexpr Section unsloth_sections[] = {
    {"", &call_table},           {"model", &unsloth_model_table},
    {"peft", &peft_table},       {"training", &training_table},
    {"trainer", &trainer_table}, {"trainer", &training_table},
    {"model", &model_table},     {"quantization", &quantization_table},
};

// A model that the script loaded itself is of the type that Transformers gave it.
void finish_loading(Reading& reading) {
  const bool own = std::any_of(reading.all.begin(), reading.all.end(),
                               [](const Leaf& leaf) { return leaf.path.rfind("model.", 0) == 0; });
  if (own) reading.values["/model_args/loaded_by_trainer"] = false;
  // trl/trainer/utils.py create_model_from_path sets dtype to float32 unless it is given by that name.
  const Leaf* old = reading.leaf("training.model_init_kwargs.torch_dtype");
  if (own || old == nullptr || reading.leaf("training.model_init_kwargs.dtype") != nullptr) return;
  const auto version = reading.values.find("/versions/trl");
  const bool before = version != reading.values.end() && version->second.is_string() &&
                      !recipe::version_at_least(version->second.get<std::string>(), "0.27");
  if (before) return;
  reading.values.erase("/model_args/dtype");
  reading.finding(*old).pointer.clear();
  reading.mark(*old, Use::implied, "TRL from 0.27 on reads dtype here, not torch_dtype, and loads float32");
}

// The model's max_seq_length is what its engine can hold; a row of GRPO is a prompt and a completion.
void finish_online_length(Reading& reading) {
  const uint64_t prompt = reading.count("/rl/max_prompt_length", 0),
                 completion = reading.count("/rl/max_completion_length", 0);
  const bool of_model = reading.leaf("model.max_seq_length") != nullptr;
  if (!of_model || prompt == 0 || completion == 0 ||
      prompt + completion == reading.count("/training/max_length", 0))
    return;
  reading.drop("/training/max_length", "prompt and completion say how long a row is");
}

// fp16 = not is_bfloat16_supported(), bf16 = is_bfloat16_supported(): the card says it, as Unsloth does itself.
void forget_asked_card(Reading& reading) {
  for (const char* type : {"fp16", "bf16"}) {
    for (const char* section : {"training.", "trainer."}) {
      const Leaf* leaf = reading.leaf(std::string(section) + type);
      if (leaf == nullptr || leaf->node->raw.find("supported(") == std::string::npos) continue;
      reading.values.erase(std::string("/training/") + type);
      reading.mark(*leaf, Use::implied, "as the card has it, which is what Unsloth takes");
    }
  }
}

// unsloth/models/loader.py FastLanguageModel.from_pretrained: load_in_4bit is on unless something else is
// said, and full_finetuning switches both quantisations off.
void finish_unsloth(Reading& reading) {
  finish_online_length(reading);
  if (reading.is_on("model.full_finetuning")) {
    reading.all_trained = true;
    reading.drop("/peft", "full_finetuning trains the model itself");
    reading.values.erase("/quantization/load_in_4bit");
    reading.values.erase("/quantization/load_in_8bit");
    return;
  }
  if (reading.has("/peft")) forget_asked_card(reading);
  const bool loads = std::any_of(reading.all.begin(), reading.all.end(),
                                 [](const Leaf& leaf) { return leaf.path.rfind("model.", 0) == 0; });
  const bool otherwise = reading.is_on("model.load_in_8bit") || reading.is_on("model.load_in_16bit") ||
                         reading.is_on("model.load_in_fp8") || reading.has("/quantization/quant_method");
  if (!loads || otherwise || reading.leaf("model.load_in_4bit") != nullptr) return;
  reading.values["/quantization/load_in_4bit"] = true;
  reading.notes.emplace_back("Unsloth loads in 4 bits unless load_in_4bit is switched off.");
}

// unsloth-zoo peft_utils.py get_peft_regex: where FastModel and FastVisionModel put adapters unless they are
// given a list. A name is that of a module, so the projector's "mlp.0" is none.
void finish_unsloth_targets(Reading& reading) {
  const auto given = reading.values.find("/peft/target_modules");
  const bool all = given != reading.values.end() && given->second == Json("all-linear");
  if (reading.leaf("$fast_model") == nullptr || !reading.has("/peft") ||
      (given != reading.values.end() && !all))
    return;
  const auto is_on = [&](const char* flag) {
    const std::string path = std::string("peft.") + flag;
    return all || reading.leaf(path) == nullptr || reading.is_on(path);
  };
  const auto joined = [](bool first, const char* one, bool second, const char* other) {
    return std::string(first ? one : "") + (first && second ? "|" : "") + (second ? other : "");
  };
  const bool language = is_on("finetune_language_layers");
  const std::string parts =
      joined(is_on("finetune_vision_layers"), "vision|image|visual|patch", language, "language|text");
  const std::string modules = joined(is_on("finetune_attention_modules"), "self_attn|attention|attn",
                                     is_on("finetune_mlp_modules"), "mlp|feed_forward|ffn|dense");
  if (parts.empty() || modules.empty()) return;  // Unsloth refuses both
  const std::string name = "[A-Za-z_][A-Za-z0-9_]*";
  std::string pattern = ".*?(?:" + parts + ").*?(?:" + modules + ").*?" + name;
  if (language)
    pattern = "(?:" + pattern + ")|(?:.*model\\.layers\\.[0-9]+\\.(?:" + modules + ")\\." + name + ")";
  reading.values["/peft/target_modules"] = pattern;
  reading.notes.emplace_back("Unsloth makes the expression in target_modules from its finetune_* switches.");
}

// Of a trainer that has no task of its own the model's class says it; Unsloth takes the class as auto_model.
void finish_classifier(Reading& reading) {
  const Leaf* given = reading.leaf("model.auto_model");
  const bool unsloth =
      given != nullptr && given->node->raw.find("ForSequenceClassification") != std::string::npos;
  if (!reading.has("/task") && (unsloth || reading.leaf("$classifier") != nullptr))
    reading.values["/task"] = "classification";
}

using Step = void (*)(Reading&);

// `own`: what holds of one library's scripts.
void finish(Reading& reading, std::span<const Step> own) {
  finish_flat(reading);
  finish_prepared_checkpointing(reading);
  finish_computed_targets(reading);
  finish_classifier(reading);
  note_beside(reading);
  for (const Step step : own) step(reading);
  note_continued(reading);
  note_unset_arguments(reading);
  note_flags(reading);
  if (const Leaf* optimizer = reading.leaf("$stand_in"); optimizer != nullptr)
    reading.notes.push_back(stand_in_note(optimizer->node->raw));
  if (const Leaf* other = reading.leaf("$other_task"); other != nullptr)
    reading.notes.push_back("More than one trainer stands here: the last is read, not that of \"" +
                            other->node->raw + "\".");
  if (!reading.has("/model") && reading.values.empty() && reading.leaf("$trainer") == nullptr) {
    reading.errors.push_back(
        {"not_training", "", "No call in this source carries training settings.",
         "TrainingArguments(...), LoraConfig(...), from_pretrained(...) and their like"});
  }
}

void finish_hf(Reading& reading) {
  constexpr Step own[] = {finish_preparation, finish_full};
  finish(reading, own);
}

void finish_trl(Reading& reading) {
  constexpr Step own[] = {finish_loading, finish_plain_arguments, finish_unprepared, finish_full};
  finish(reading, own);
}

void finish_unsloth_script(Reading& reading) {
  constexpr Step own[] = {finish_unsloth, finish_unsloth_targets, finish_generations};
  finish(reading, own);
}

}  // namespace

const Format hf_python{
    .id = "hf",
    .name = "Transformers, Python",
    .stack = "hf",
    .written = Language::python,
    .sections = sections,
    .marks = "training peft quantization model !$loop",
    .finish = finish_hf,
    .write = write_hf_script,
    .close = close_hf_script,
    .refused = hf_script_refusals,
};
const Format trl_python{
    .id = "trl-python",
    .name = "TRL, Python",
    .stack = "trl",
    .written = Language::python,
    .sections = sections,
    .marks = "!$trl training peft quantization model",
    .finish = finish_trl,
    .write = write_script,
    .close = close_trl_script,
    .refused = trl_script_refusals,
};
const Format unsloth{
    .id = "unsloth",
    .name = "Unsloth, Python",
    .stack = "unsloth",
    .written = Language::python,
    .sections = unsloth_sections,
    .marks = "!$unsloth !$import training peft model quantization",
    .finish = finish_unsloth_script,
    .write = write_unsloth_script,
    .close = close_unsloth_script,
    .refused = trl_script_refusals,
};

}  // namespace plimsoll::exchange
