// Nested YAML of one's own: the arguments of Transformers, PEFT and TRL in sections that a person named.
#include "core/exchange/formats.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

constexpr Row short_rows[] = {
    {"epochs", "/data/epochs", ""},
    {"batch_size", "/training/per_device_train_batch_size", ""},
    {"train_batch_size", "/training/per_device_train_batch_size", ""},
    {"eval_batch_size", "/training/per_device_eval_batch_size", ""},
    {"gradient_accumulation", "/training/gradient_accumulation_steps", ""},
    {"sequence_length", "/training/max_length", ""},
    {"seq_length", "/training/max_length", ""},
    {"block_size", "/training/max_length", ""},
    {"optimizer", "/training/optim", ""},
    {"gpu", "/hardware/gpu", "", nullptr, Write::no},
};
constexpr Row named_rows[] = {
    {"name", "/model", ""},
    {"name_or_path", "/model", ""},
    {"id", "/model", ""},
    {"path", "/model", ""},
    {"num_labels", "/model_args/num_labels", ""},
};
constexpr Table named_table{named_rows, "tokenizer* output_dir hub_id", "", ""};
constexpr Row top_rows[] = {{"model", "/model", ""}};
constexpr Table top_table{top_rows, "project* experiment* run_name name version description notes", "", ""};
constexpr Row rank_rows[] = {{"rank", "/peft/r", ""}, {"enabled", "/peft", "", nullptr, Write::no}};
constexpr Table rank_table{rank_rows, "", "", ""};
constexpr Table data_table{{}, "*", "", ""};

// Below "data" and "dataset" a length is that of the samples, unless the training has one of its own.
void read_sample_length(Reading& reading, const Leaf& leaf) {
  if (reading.has("/training/max_length"))
    return reading.mark(leaf, Use::implied, "the training has a length of its own");
  reading.set("/training/max_length", leaf);
}
constexpr Row sample_rows[] = {
    {"max_length", "/training/max_length", "", read_sample_length, Write::no},
    {"max_seq_length", "/training/max_length", "", read_sample_length, Write::no},
    {"packing", "/training/packing", "", nullptr, Write::no},
};
constexpr Table sample_table{sample_rows, "*", "", ""};

// What TrainingArguments say of the evaluation; "batch_size" is here none of the training's.
constexpr Row evaluation_rows[] = {
    {"per_device_eval_batch_size", "/training/per_device_eval_batch_size", "", nullptr, Write::no},
    {"eval_batch_size", "/training/per_device_eval_batch_size", "", nullptr, Write::no},
    {"batch_size", "/training/per_device_eval_batch_size", "", nullptr, Write::no},
    {"eval_strategy", "/training/eval_strategy", "", read_evaluation, Write::no},
    {"evaluation_strategy", "/training/eval_strategy", "", read_evaluation, Write::no},
    {"strategy", "/training/eval_strategy", "", read_evaluation, Write::no},
    {"eval_accumulation_steps", "/training/eval_accumulation_steps", "", nullptr, Write::no},
    {"prediction_loss_only", "/training/prediction_loss_only", "", nullptr, Write::no},
    {"eval_packing", "/training/eval_packing", "", nullptr, Write::no},
    {"load_best_model_at_end", "/training/load_best_model_at_end", "", nullptr, Write::no},
};
constexpr Table evaluation_table{
    evaluation_rows,
    "eval_steps steps eval_delay eval_on_start do_eval metric_for_best_model "
    "greater_is_better include_for_metrics batch_eval_metrics eval_do_concat_batches "
    "bf16_full_eval fp16_full_eval early_stopping_patience",
    "", ""};

// Of a trainer that writes completions temperature counts (finish_nested); no max_length here is that of samples.
void read_sampling(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, Use::irrelevant, "of what is written after the training");
}
// What GRPOConfig says of completions.
constexpr Row generation_rows[] = {
    {"num_generations", "/rl/num_generations", "", nullptr, Write::no},
    {"max_completion_length", "/rl/max_completion_length", "", nullptr, Write::no},
    {"max_prompt_length", "/rl/max_prompt_length", "", nullptr, Write::no},
    {"steps_per_generation", "/rl/steps_per_generation", "", nullptr, Write::no},
    {"use_vllm", "/rl/use_vllm", "", nullptr, Write::no},
    {"vllm_mode", "/rl/vllm_mode", "", nullptr, Write::no},
    {"vllm_gpu_memory_utilization", "/rl/vllm_gpu_memory_utilization", "", nullptr, Write::no},
    {"vllm_enable_sleep_mode", "/rl/vllm_enable_sleep_mode", "", nullptr, Write::no},
    {"vllm_tensor_parallel_size", "/rl/vllm_tensor_parallel_size", "", nullptr, Write::no},
    {"temperature", "/rl/temperature", "", read_sampling, Write::no},
    {"max_length", "", "", read_sampling, Write::no},
};
constexpr Table generation_table{generation_rows,
                                 "max_new_tokens min_new_tokens top_p top_k min_p do_sample "
                                 "num_beams num_return_sequences repetition_penalty no_repeat_ngram_size "
                                 "length_penalty early_stopping eos_token_id pad_token_id generation_kwargs* "
                                 "cache_implementation stop* prompts*",
                                 "", ""};
constexpr Row enabled_rows[] = {{"bits", "/quantization/bits", ""}};
constexpr Table enabled_table{enabled_rows, "", "enabled", ""};
constexpr Section nested_sections[] = {
    {"model", &named_table},
    {"model", &model_table},
    {"model", &quantization_table},
    {"model", &training_table},
    {"quantization", &quantization_table},
    {"quantization_config", &quantization_table},
    {"bnb", &quantization_table},
    {"bnb_config", &quantization_table},
    {"bitsandbytes", &quantization_table},
    {"model.quantization", &quantization_table},
    {"quantization", &enabled_table},
    {"lora", &peft_table},
    {"lora", &rank_table},
    {"lora", &trl_model_table},
    {"peft", &peft_table},
    {"peft", &rank_table},
    {"lora_config", &peft_table},
    {"peft_config", &peft_table},
    {"adapter", &peft_table},
    {"qlora", &peft_table},
    {"training", &training_table},
    {"training", &short_table},
    {"training", &trl_model_table},
    {"train", &training_table},
    {"train", &short_table},
    {"trainer", &training_table},
    {"training_args", &training_table},
    {"training_arguments", &training_table},
    {"sft", &training_table},
    {"args", &training_table},
    {"hyperparameters", &training_table},
    {"hardware", &short_table},
    {"", &top_table},
    {"", &trl_model_table},
    {"", &training_table},
    {"", &model_table},
    {"", &quantization_table},
    {"", &short_table},
    {"data", &sample_table},
    {"dataset", &sample_table},
    {"datasets", &data_table},
    {"logging", &data_table},
    {"wandb", &data_table},
    {"output", &data_table},
    {"evaluation", &evaluation_table},
    {"eval", &evaluation_table},
    {"tokenizer", &data_table},
    {"generation", &generation_table},
};

void finish_nested(Reading& reading) {
  finish_flat(reading);
  const Leaf* enabled = reading.leaf("lora.enabled");
  if (enabled != nullptr && !reading.is_on("lora.enabled")) reading.drop("/peft", "lora.enabled is off");
  reading.values.erase("/peft/enabled");
  const Leaf* temperature = reading.leaf("generation.temperature");
  if (temperature != nullptr && reading.has("/rl/num_generations"))
    reading.set("/rl/temperature", *temperature);
}

bool write_nested(Writing& out, const std::string& pointer, const Json& value) {
  return write_training(out, "training", pointer, value);
}

}  // namespace

const Table short_table{short_rows, "lr name seed", "", ""};
const Format nested{
    .id = "nested",
    .name = "Nested YAML",
    .stack = "hf",
    .written = Language::yaml,
    .sections = nested_sections,
    .marks =
        "model lora peft training quantization bnb train training_args max_length "
        "per_device_train_batch_size use_gradient_checkpointing",
    .finish = finish_nested,
    .write = write_nested,
};

}  // namespace plimsoll::exchange
