// A script of Transformers, TRL or Unsloth, as far as its trainer; the data is the reader's to name.
#include <algorithm>

#include "core/exchange/export.h"
#include "core/exchange/render.h"
#include "core/json/ascii.h"
#include "core/recipe/tasks.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

bool is_torch_word(std::string_view key, const Json& value) {
  const std::string_view last = key.substr(key.rfind('.') == std::string_view::npos ? 0 : key.rfind('.') + 1);
  return (last == "dtype" || last == "torch_dtype" || last == "bnb_4bit_compute_dtype") && value.is_string();
}

}  // namespace

std::string python_literal(std::string_view key, const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (is_torch_word(key, value)) return "torch." + value.get<std::string>();
  if (value.is_array()) {
    std::string text = "[";
    for (const Json& item : value) text += (text.size() > 1 ? ", " : "") + python_literal("", item);
    return text + "]";
  }
  if (value.is_object()) {
    std::string text = "{";
    for (const auto& [name, item] : value.items())
      text += (text.size() > 1 ? ", " : "") + json::write(Json(name)) + ": " + python_literal("", item);
    return text + "}";
  }
  return json::write(value);
}

namespace {

// "training.optim" to {"training": {...}} with everything below kept as one map.
Json section(const Json& tree, const char* name) {
  const auto found = tree.find(name);
  return found == tree.end() ? Json::object() : *found;
}

std::string call(const std::string& head, const Json& arguments, const std::vector<std::string>& first = {}) {
  std::string text = head + "(\n";
  for (const std::string& line : first) text += "    " + line + ",\n";
  for (const auto& [key, value] : arguments.items())
    text += "    " + key + "=" + python_literal(key, value) + ",\n";
  return text + ")\n";
}

std::string taken(Json& map, const char* key) {
  const auto found = map.find(key);
  if (found == map.end()) return "";
  const std::string text = python_literal(key, *found);
  map.erase(key);
  return text;
}

std::string class_of(std::string_view name) {
  const recipe::Task* task = recipe::find_task(name);
  return std::string(task == nullptr || task->trainer.empty() ? "SFT" : task->trainer);
}

std::string environment_lines(const Json& tree) {
  std::string out;
  for (const auto& [key, value] : tree.items()) {
    if (key[0] != '$' || key == "$task" || key == "$adapter") continue;
    out += (out.empty() ? "import os\n\n" : "") + std::string("os.environ[") +
           json::write(Json(key.substr(1))) + "] = " + json::write(value) + "\n";
  }
  return out;
}

// A request's sections, and what follows from them for every line.
struct Script {
  Json tree, training, model, peft, quantization;
  bool unsloth = false, trl = false, adapter = false, bits = false, prepared = false, loads = false;
  std::string task, name;  ///< of the model, as a literal; "" it is in `model`
};

Script script_of(const Format& format, const std::vector<Entry>& entries) {
  Script made;
  made.tree = tree_of(entries);
  made.training = section(made.tree, "training");
  made.model = section(made.tree, "model");
  made.peft = section(made.tree, "peft");
  made.quantization = section(made.tree, "quantization");
  made.unsloth = format.stack == "unsloth";
  made.trl = format.stack == "trl" || made.unsloth;
  made.adapter = made.tree.contains("$adapter");
  made.prepared = taken(made.quantization, "prepare_for_kbit_training") == "True";
  made.bits = !made.quantization.empty() && !made.unsloth;
  made.task = made.tree.contains("$task") ? made.tree["$task"].get<std::string>() : "sft";
  made.loads = made.model.contains("model_name_or_path") || made.model.contains("model_name");
  if (!made.unsloth) made.name = taken(made.model, "model_name_or_path");
  return made;
}

// TRL's trainers put the adapters on, and prepare a quantised base for them; Transformers' takes what it is given.
bool wraps(const Script& script) { return script.adapter && !script.trl; }

std::string import_lines(const Script& script) {
  std::string out = "import torch\n";
  if (script.unsloth) out += "from unsloth import FastLanguageModel\n";
  if (script.trl && script.loads) out += "from datasets import load_dataset\n";
  std::string peft;
  if (script.adapter && !script.unsloth) peft = wraps(script) ? "LoraConfig, get_peft_model" : "LoraConfig";
  if (script.prepared && !script.unsloth)
    peft += (peft.empty() ? "" : ", ") + std::string("prepare_model_for_kbit_training");
  if (!script.unsloth)
    out += std::string("from transformers import AutoModelForCausalLM") +
           (script.bits ? ", BitsAndBytesConfig" : "") + (script.trl ? "" : ", TrainingArguments") + "\n";
  if (!peft.empty()) out += "from peft import " + peft + "\n";
  if (!script.trl) return out;
  const std::string name = class_of(script.task);
  const recipe::Task* task = recipe::find_task(script.task);
  const bool experimental = task != nullptr && task->experimental;
  return out + "from trl" + (experimental ? ".experimental." + ascii::lower(name) : "") + " import " + name +
         "Config" + (script.loads ? ", " + name + "Trainer" : "") + "\n";
}

std::string unsloth_lines(const Script& script) {
  std::string out;
  if (!script.model.empty() || script.tree.contains("model"))
    out += call("model, tokenizer = FastLanguageModel.from_pretrained", script.model) + "\n";
  if (script.adapter) out += call("model = FastLanguageModel.get_peft_model", script.peft, {"model"}) + "\n";
  return out;
}

std::string model_lines(const Script& script) {
  if (script.unsloth) return unsloth_lines(script);
  std::string out;
  std::vector<std::string> first;
  if (!script.name.empty()) first.push_back(script.name);
  if (script.bits) first.emplace_back("quantization_config=quantization_config");
  if (!first.empty() || !script.model.empty())
    out += call("model = AutoModelForCausalLM.from_pretrained", script.model, first) + "\n";
  if (script.prepared)
    out += "model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)\n\n";
  if (script.adapter) out += call("peft_config = LoraConfig", script.peft) + (wraps(script) ? "" : "\n");
  if (wraps(script)) out += "model = get_peft_model(model, peft_config)\n\n";
  return out;
}

// The trainer of a task, with places for what only the reader has.
std::string trainer_lines(const Script& script) {
  const bool online = script.task == "grpo" || script.task == "rloo";
  std::string out =
      "\ndataset = load_dataset(\"your/dataset\", split=\"train\")  # put your own data here\n\n";
  if (online)
    out +=
        "def reward(completions, **kwargs):  # put your own reward here\n    return [0.0] * len(completions)\n\n";
  std::vector<std::string> first = {"model=model"};
  if (online) first.emplace_back("reward_funcs=reward");
  first.insert(first.end(), {"args=args", "train_dataset=dataset"});
  if (script.unsloth) first.emplace_back("processing_class=tokenizer");
  if (script.adapter && !script.unsloth) first.emplace_back("peft_config=peft_config");
  return out + call("trainer = " + class_of(script.task) + "Trainer", Json::object(), first) +
         "trainer.train()\n";
}

}  // namespace

std::string render_python(const Format& format, const std::vector<Entry>& entries) {
  const Script script = script_of(format, entries);
  std::string out = environment_lines(script.tree) + import_lines(script) + "\n";
  if (script.tree.contains("length"))
    out += "max_length = " + script.tree["length"]["max_length"].dump() +
           "  # tokenizer(text, truncation=True, max_length=max_length)\n\n";
  if (script.bits) out += call("quantization_config = BitsAndBytesConfig", script.quantization) + "\n";
  out += model_lines(script);
  Json named = Json::object();
  named["output_dir"] = "output";
  for (const auto& [key, value] : script.training.items()) named[key] = value;
  out += call("args = " + (script.trl ? class_of(script.task) + "Config" : "TrainingArguments"), named);
  return script.trl && script.loads ? out + trainer_lines(script) : out;
}

}  // namespace plimsoll::exchange
