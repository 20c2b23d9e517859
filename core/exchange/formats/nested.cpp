// Nested YAML of one's own: the arguments of Transformers, PEFT and TRL in sections that a person named.
#include "core/exchange/formats.h"
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
    {"gpu", "/hardware/gpu", ""},
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
    {"data", &data_table},
    {"dataset", &data_table},
    {"datasets", &data_table},
    {"logging", &data_table},
    {"wandb", &data_table},
    {"output", &data_table},
    {"evaluation", &data_table},
    {"tokenizer", &data_table},
    {"generation", &data_table},
};

void finish_nested(Reading& reading) {
  finish_flat(reading);
  const Leaf* enabled = reading.leaf("lora.enabled");
  if (enabled != nullptr && !reading.is_on("lora.enabled")) reading.drop("/peft", "lora.enabled is off");
  reading.values.erase("/peft/enabled");
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
