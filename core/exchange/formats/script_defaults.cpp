#include "core/exchange/formats/script_defaults.h"

#include <string>
#include <string_view>
#include <vector>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

struct Script {
  std::string_view program;       ///< how the started file or module ends
  std::string_view flag = {};     ///< one that has to be there
  std::string_view without = {};  ///< one that must not be there, or be off
  std::string_view model = {};    ///< part of the model's name, in lower case
  std::string_view model_without = {};
  std::string_view values;  ///< pointers and values, as JSON
};

constexpr Script scripts[] = {
    // artidoro/qlora qlora.py ModelArguments, TrainingArguments, get_accelerate_model
    {.program = "qlora.py",
     .values = R"({"/training/optim": "paged_adamw_32bit", "/training/gradient_checkpointing": true,
                   "/training/per_device_train_batch_size": 1, "/training/gradient_accumulation_steps": 16,
                   "/training/max_steps": 10000, "/training/max_length": 1280,
                   "/training/save_total_limit": 40})"},
    {.program = "qlora.py",
     .without = "full_finetune",
     .values = R"({"/peft": true, "/peft/r": 64, "/peft/lora_alpha": 16, "/peft/lora_dropout": 0.0,
                   "/peft/target_modules": "all-linear", "/quantization/bnb_4bit_quant_type": "nf4",
                   "/quantization/bnb_4bit_use_double_quant": true,
                   "/quantization/prepare_for_kbit_training": true})"},
    // Adapters, embeddings and head are cast to bf16 after prepare_model_for_kbit_training; norms stay fp32.
    {.program = "qlora.py",
     .flag = "bf16",
     .without = "full_finetune",
     .values = R"({"/peft/adapter_dtype": "bfloat16", "/quantization/upcast": "norms"})"},
    {.program = "qlora.py", .without = "bits", .values = R"({"/quantization/load_in_4bit": true})"},
    // meta-llama/llama-cookbook configs/training.py, configs/peft.py, configs/fsdp.py
    {.program = "finetuning.py",
     .flag = "enable_fsdp",
     .values = R"({"/parallel/strategy": "fsdp", "/training/gradient_checkpointing": true})"},
    {.program = "finetuning.py",
     .flag = "use_peft",
     .values = R"({"/peft/r": 8, "/peft/lora_alpha": 32, "/peft/lora_dropout": 0.05,
                   "/peft/target_modules": ["q_proj", "v_proj"]})"},
    {.program = "finetuning.py",
     .flag = "model_name",
     .values = R"({"/training/per_device_train_batch_size": 4, "/training/packing": true,
                   "/training/max_length": 4096, "/training/gradient_accumulation_steps": 1,
                   "/data/epochs": 3, "/training/eval_strategy": "epoch",
                   "/training/per_device_eval_batch_size": 1, "/model_args/dtype": "bfloat16",
                   "/training/optim": "adamw_torch"})"},
    // tloen/alpaca-lora finetune.py train
    {.program = "finetune.py",
     .flag = "base_model",
     .values = R"({"/quantization/load_in_8bit": true, "/quantization/prepare_for_kbit_training": true,
                   "/training/gradient_checkpointing": true,
                   "/model_args/dtype": "float16", "/training/fp16": true, "/training/optim": "adamw_torch",
                   "/training/per_device_train_batch_size": 4, "/training/max_length": 256, "/data/epochs": 3,
                   "/peft/r": 8, "/peft/lora_alpha": 16, "/peft/lora_dropout": 0.05,
                   "/peft/target_modules": ["q_proj", "v_proj"]})"},
    // haotian-liu/LLaVA llava/train/train.py TrainingArguments; find_all_linear_names leaves the tower out
    {.program = "train_mem.py",
     .flag = "lora_enable",
     .values = R"({"/peft/r": 64, "/peft/lora_alpha": 16, "/peft/lora_dropout": 0.05,
                   "/peft/finetune_vision_layers": false})"},
    // huggingface/transformers examples/pytorch: DataTrainingArguments. A head over tokens or spans is as small as one
    // over whole texts; run_qa.py pads all rows. One length stands for source and target, the longer one.
    {.program = "run_qa.py",
     .values = R"({"/task": "classification", "/model_args/num_labels": 2, "/training/max_length": 384})"},
    {.program = "run_ner.py", .values = R"({"/task": "classification"})"},
    {.program = "run_glue.py", .values = R"({"/task": "classification", "/training/max_length": 128})"},
    {.program = "run_xnli.py", .values = R"({"/task": "classification", "/training/max_length": 128})"},
    {.program = "run_classification.py",
     .values = R"({"/task": "classification", "/training/max_length": 128})"},
    {.program = "run_summarization.py", .values = R"({"/training/max_length": 1024})"},
    {.program = "run_translation.py", .values = R"({"/training/max_length": 1024})"},
    {.program = "run_seq2seq_qa.py", .values = R"({"/training/max_length": 384})"},
    {.program = "run_clm.py",
     .values = R"({"/task": "pretrain", "/training/max_length": 1024, "/training/padded_batches": false})"},
    {.program = "run_mlm.py", .values = R"({"/task": "pretrain"})"},
    // deepspeedai/DeepSpeedExamples applications/DeepSpeed-Chat training/*/main.py parse_args
    {.program = "main.py", .flag = "data_split", .without = "dtype", .values = R"({"/training/fp16": true})"},
    // QwenLM/Qwen, QwenLM/Qwen-VL finetune.py LoraArguments and train; Qwen1.5 and 2 examples/sft/finetune.py
    {.program = "finetune.py",
     .flag = "use_lora",
     .model = "qwen",
     .values = R"({"/peft/r": 64, "/peft/lora_alpha": 16, "/peft/lora_dropout": 0.05})"},
    {.program = "finetune.py",
     .flag = "use_lora",
     .without = "q_lora",
     .model = "qwen/qwen-",
     .model_without = "chat",
     .values = R"({"/peft/modules_to_save": ["wte", "lm_head"]})"},
    {.program = "finetune.py",
     .flag = "use_lora",
     .model = "qwen/qwen-",
     .values = R"({"/peft/target_modules": ["c_attn", "c_proj", "w1", "w2"]})"},
    {.program = "finetune.py",
     .flag = "use_lora",
     .model = "qwen",
     .values = R"({"/peft/target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "gate_proj",
                                            "down_proj"]})"},
};

std::vector<std::string> programs_of(const Reading& reading) {
  std::vector<std::string> names;
  for (const char* key : {"$words", "m", "module"}) {
    const Leaf* leaf = reading.leaf(key);
    if (leaf == nullptr) continue;
    names.push_back(leaf->node->raw);
    for (const Node& item : leaf->node->items) names.push_back(item.raw);
  }
  return names;
}

// finetuning.py, recipes/finetuning.py, -m llama_recipes.finetuning
bool is_program(std::string_view started, std::string_view program) {
  const std::string_view module = program.substr(0, program.rfind('.'));
  for (const std::string_view name : {program, module}) {
    if (started.size() < name.size() || started.substr(started.size() - name.size()) != name) continue;
    const std::size_t before = started.size() - name.size();
    if (before == 0 ? name == program : started[before - 1] == '/' || started[before - 1] == '.') return true;
  }
  return false;
}

bool there(const Reading& reading, std::string_view flag) {
  return reading.leaf(flag) != nullptr && reading.word(flag) != "false";
}

bool holds(const Script& row, const Reading& reading, const std::vector<std::string>& started) {
  bool runs = false;
  for (const std::string& name : started) runs = runs || is_program(name, row.program);
  if (!runs || (!row.flag.empty() && !there(reading, row.flag))) return false;
  if (!row.without.empty() && there(reading, row.without)) return false;
  const auto model = reading.values.find("/model");
  const std::string name = model != reading.values.end() && model->second.is_string()
                               ? ascii::lower(model->second.get<std::string>())
                               : "";
  if (!row.model_without.empty() && name.find(row.model_without) != std::string::npos) return false;
  return name.find(row.model) != std::string::npos;
}

}  // namespace

void take_script_defaults(Reading& reading) {
  const std::vector<std::string> started = programs_of(reading);
  if (started.empty()) return;
  for (const Script& row : scripts) {
    if (!holds(row, reading, started)) continue;
    json::Errors errors;
    const Json values = json::parse(row.values, errors).value_or(Json::object());
    for (const auto& [pointer, value] : values.items())
      if (!reading.has(pointer)) reading.values[pointer] = value;
  }
}

}  // namespace plimsoll::exchange
