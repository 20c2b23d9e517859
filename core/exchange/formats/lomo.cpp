// The YAML file of LOMO's own repository (lomo/src/arguments.py, train_lomo.py, config/args_lomo.yaml): a
// Seq2SeqTrainingArguments whose optimizer no key names.
#include "core/exchange/formats.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

// config/ds_config.json and ds_config_lora.json, which the repository brings along, are ZeRO stage 3 in fp16.
void read_zero(Reading& reading, const Leaf& leaf) {
  const std::string name = reading.word(leaf.path);
  if (name.find("ds_config.json") == std::string::npos &&
      name.find("ds_config_lora.json") == std::string::npos)
    return read_deepspeed_name(reading, leaf);
  reading.set("/parallel/strategy", "zero3", &leaf);
  reading.finding(leaf).message = "LOMO's own file: stage 3, in fp16";
  if (!reading.has("/training/bf16")) reading.values["/training/fp16"] = true;
}

constexpr Row rows[] = {
    {"data_max_length", "/training/max_length", ""},
    {"max_length", "", "",
     [](Reading& r, const Leaf& l) { r.mark(l, Use::irrelevant, "of what is generated"); }},
    {"deepspeed", "/parallel/strategy", "", read_zero},
    {"optim", "/training/optim", "", read_implied},
    {"peft_type", "/peft", "", read_implied},
};
constexpr std::string_view irrelevant =
    "refresh data_tag data_dir prompt_type train_on_inputs few_shot_size in_context_learning dataset_name "
    "tag warmup clip_grad_norm clip_grad_value clip_loss_value hf_* predict_with_generate max_new_tokens "
    "do_sample temperature top_k top_p typical_p repetition_penalty length_normalization "
    "unconditional_normalization cache_dir";
constexpr Table table{rows, irrelevant, "lora_only", ""};
constexpr Section sections[] = {{"", &table}, {"", &trl_model_table}, {"", &training_table}};

void finish(Reading& reading) {
  const bool adapters = !reading.word("peft_type").empty();
  if (adapters && !reading.is_on("lora_only")) {
    reading.errors.push_back(
        {"unsupported", "",
         "This trains the base by LOMO and adapters by AdamW at once, which is not replayed.",
         "LOMO without peft_type, or peft_type lora with lora_only: true"});
    return;
  }
  reading.values["/stack"] = "loop";
  reading.values["/training/optim"] = adapters ? "adamw_torch" : "lomo";
  if (!adapters) reading.drop("/peft", "there is no peft_type, so this says nothing");
  if (!reading.has("/training/max_length")) reading.values["/training/max_length"] = uint64_t{1024};
  if (!adapters)
    reading.values["/training/gradient_accumulation_steps"] = uint64_t{1};  // gradients are used up
  // torch.set_default_dtype(torch.float16) before the model is made.
  if (!reading.has("/model_args/dtype")) reading.values["/model_args/dtype"] = "float16";
  if (adapters) reading.values["/peft"] = true;
}

}  // namespace

const Format lomo{
    .id = "lomo",
    .name = "LOMO",
    .written = Language::none,
    .sections = sections,
    .marks = "!data_max_length !clip_loss_value model_name_or_path data_tag refresh",
    .finish = finish,
};

}  // namespace plimsoll::exchange
