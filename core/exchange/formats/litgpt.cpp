// LitGPT's commands, "litgpt finetune_lora org/name --train.micro_batch_size 2", and the files of config_hub.
// Keys and defaults: Lightning-AI/litgpt 0.5.13 litgpt/finetune/lora.py setup, full.py setup, litgpt/args.py.
#include <algorithm>

#include "core/exchange/formats.h"
#include "core/exchange/formats/python_loop.h"
#include "core/exchange/formats/shared.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// "checkpoints/meta-llama/Llama-3.2-1B" is where litgpt download puts it.
std::string model_of_folder(const std::string& name) {
  const std::string folder = "checkpoints/";
  return name.rfind(folder, 0) == 0 ? name.substr(folder.size()) : name;
}

void read_checkpoint(Reading& reading, const Leaf& leaf) {
  reading.set("/model", model_of_folder(leaf.node->raw), &leaf);
}

bool is_word_of(const Reading& reading, std::string_view wanted) {
  const Leaf* words = reading.leaf("$words");
  return words != nullptr && std::any_of(words->node->items.begin(), words->node->items.end(),
                                         [&](const Node& word) { return word.raw == wanted; });
}

// The command, and the model behind it.
void read_words(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, Use::implied);
  for (const Node& word : leaf.node->items) {
    if (word.raw.find('/') == std::string::npos || reading.has("/model")) continue;
    reading.set("/model", model_of_folder(word.raw), &leaf);
  }
}

void read_precision(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  const bool half = word.rfind("16", 0) == 0;
  if (word.find("mixed") != std::string::npos) {
    reading.set(half ? "/training/fp16" : "/training/bf16", true, &leaf);
    reading.values["/model_args/dtype"] = "float32";
    return;
  }
  reading.set("/model_args/dtype", leaf, "bf16-true=bfloat16, 16-true=float16, 32-true=float32, 32=float32");
}

void read_quantize(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word == "bnb.int8-training") return reading.set("/quantization/load_in_8bit", true, &leaf);
  if (word.rfind("bnb.nf4", 0) != 0 && word.rfind("bnb.fp4", 0) != 0)
    return reading.mark(leaf, Use::unsupported,
                        "one of bnb.nf4, bnb.nf4-dq, bnb.fp4, bnb.fp4-dq, bnb.int8-training");
  reading.set("/quantization/load_in_4bit", true, &leaf);
  reading.values["/quantization/bnb_4bit_quant_type"] = word.substr(4, 3);
  reading.values["/quantization/bnb_4bit_use_double_quant"] = word.find("-dq") != std::string::npos;
}

void read_optimizer(Reading& reading, const Leaf& leaf) {
  const std::string_view optim = optimizer_class(leaf.node->raw);
  if (optim.empty()) return reading.mark(leaf, Use::unsupported, "this optimizer is not known");
  if (optim == "adamw_torch") return reading.mark(leaf, Use::implied, "the stack's own");
  reading.set("/training/optim", std::string(optim), &leaf);
  if (std::string note = stand_in_note(leaf.node->raw); !note.empty())
    reading.notes.push_back(std::move(note));
}

// With an interval of steps every finetune script validates; batches are those of training.
void read_interval(Reading& reading, const Leaf& leaf) {
  reading.set("/training/eval_strategy", "steps", &leaf);
}

constexpr Row rows[] = {
    {"checkpoint_dir", "/model", "", read_checkpoint},
    {"$words", "/model", "", read_words},
    {"precision", "/model_args/dtype", "", read_precision},
    {"quantize", "/quantization/load_in_4bit", "", read_quantize},
    {"devices", "/parallel/num_gpus", ""},
    {"lora_r", "/peft/r", ""},
    {"lora_alpha", "/peft/lora_alpha", ""},
    {"lora_dropout", "/peft/lora_dropout", ""},
    {"train.micro_batch_size", "/training/per_device_train_batch_size", ""},
    {"train.max_seq_length", "/training/max_length", ""},
    {"train.max_steps", "/training/max_steps", ""},
    {"train.epochs", "/data/epochs", ""},
    {"optimizer", "/training/optim", "", read_optimizer},
    {"optimizer.class_path", "/training/optim", "", read_optimizer},
    {"eval.interval", "/training/eval_strategy", "", read_interval},
};
constexpr std::string_view irrelevant =
    "out_dir data data.* log.* eval.* train.* logger_name seed access_token optimizer.init_args.* "
    "resume initial_checkpoint_dir tokenizer_dir";
constexpr std::string_view implied =
    "train.global_batch_size num_nodes lora_query lora_key lora_value lora_projection lora_mlp lora_head";
constexpr Table table{rows, irrelevant, implied, ""};
constexpr Section sections[] = {{"", &table}};

// litgpt/lora.py Config: query and value have adapters unless the switches say otherwise.
Json targets(const Reading& reading) {
  struct Switch {
    const char* key;
    bool usual;
    std::initializer_list<const char*> modules;
  };
  const Switch switches[] = {
      {"lora_query", true, {"q_proj"}},
      {"lora_key", false, {"k_proj"}},
      {"lora_value", true, {"v_proj"}},
      {"lora_projection", false, {"o_proj"}},
      {"lora_mlp", false, {"gate_proj", "up_proj", "down_proj"}},
      {"lora_head", false, {"lm_head"}},
  };
  Json names = Json::array();
  for (const Switch& each : switches) {
    if (reading.leaf(each.key) != nullptr ? !reading.is_on(each.key) : !each.usual) continue;
    for (const char* name : each.modules) names.push_back(name);
  }
  return names;
}

uint64_t whole(const Reading& reading, const char* path, uint64_t otherwise) {
  const Json value = reading.value(path);
  return value.is_number_unsigned() ? value.get<uint64_t>() : otherwise;
}

void finish(Reading& reading) {
  for (const char* other :
       {"finetune_adapter", "finetune_adapter_v2", "generate", "chat", "serve", "evaluate"}) {
    if (!is_word_of(reading, other)) continue;
    reading.errors.push_back({"unsupported", "", std::string("litgpt ") + other + " is not replayed.",
                              "litgpt finetune, finetune_lora, finetune_full, pretrain"});
    return;
  }
  const bool pretrains = is_word_of(reading, "pretrain");
  if (pretrains) reading.values["/task"] = "pretrain";
  const bool file = reading.leaf("$words") == nullptr;
  const bool adapters = file ? reading.has("/peft/r") : !pretrains && !is_word_of(reading, "finetune_full");
  if (adapters) {
    reading.values["/peft"] = true;
    reading.values["/peft/target_modules"] = targets(reading);
  } else {
    reading.drop("/peft", "the whole model is trained");
  }
  // get_default_supported_precision(training=True)
  if (reading.leaf("precision") == nullptr) {
    reading.values["/training/bf16"] = true;
    reading.values["/model_args/dtype"] = "float32";
  }
  const uint64_t micro = whole(reading, "train.micro_batch_size", pretrains ? 4 : 1);
  const uint64_t devices = whole(reading, "devices", 1), nodes = whole(reading, "num_nodes", 1);
  const uint64_t global = whole(reading, "train.global_batch_size", pretrains ? 512 : 16);
  reading.values["/training/per_device_train_batch_size"] = micro;
  const uint64_t together = std::max<uint64_t>(1, micro * devices * nodes);
  reading.values["/training/gradient_accumulation_steps"] = std::max<uint64_t>(1, global / together);
  reading.values["/parallel/num_gpus"] = std::max<uint64_t>(1, devices * nodes);
  if (devices * nodes > 1) reading.values["/parallel/strategy"] = "fsdp";
  if (reading.leaf("eval.interval") == nullptr) reading.values["/training/eval_strategy"] = "steps";
}

}  // namespace

const Format litgpt{
    .id = "litgpt",
    .name = "LitGPT",
    .stack = "litgpt",
    .written = Language::none,
    .sections = sections,
    .marks = "!lora_query checkpoint_dir train precision quantize",
    .finish = finish,
};

}  // namespace plimsoll::exchange
