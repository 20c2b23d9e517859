// Flat arguments of Transformers and TRL: a YAML or JSON file for HfArgumentParser or `trl sft --config`, and
// a command line.
#include "core/exchange/formats/flat.h"

#include "core/exchange/formats.h"
#include "core/exchange/formats/script_defaults.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"
#include "core/exchange/formats/trl_refusals.h"
#include "core/exchange/formats/trl_tasks.h"
#include "core/exchange/python/tokens.h"
#include "core/json/ascii.h"
#include "core/recipe/tasks.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// TRL's processors and Qwen-VL's finetuning scripts, and what is set before a command.
constexpr Row image_rows[] = {{"max_pixels", "/vision/image_size", "", read_max_pixels, Write::no},
                              {"$MAX_PIXELS", "/vision/image_size", "", read_max_pixels, Write::no}};
constexpr Table image_table{image_rows, "min_pixels", "", ""};
constexpr Section flat_sections[] = {{"", &image_table},
                                     {"", &trl_model_table},
                                     {"", &training_table},
                                     {"", &model_table},
                                     {"", &quantization_table}};
// GPUs and environment alone, as of any program.
bool says_nothing(const Reading& reading) {
  for (const auto& [pointer, value] : reading.values) {
    if (pointer != "/stack" && pointer != "/parallel/num_gpus" && pointer.rfind("/hardware/", 0) != 0 &&
        pointer.rfind("/model_args/", 0) != 0 && pointer != "/rl/temperature")
      return false;
  }
  return true;
}

// "GRPO" as a word of its own: what a launcher echoes of the script that it starts.
bool says_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || !ascii::is_word(text[at - 1]);
    if (begins && (end == text.size() || !ascii::is_word(text[end]))) return true;
  }
  return false;
}

// Of a script whose flags say nothing of its task, the words around the command may: one of these alone.
void read_words_around(Reading& reading) {
  if (reading.document.language != Language::shell) return;
  const recipe::Task* said = nullptr;
  for (const recipe::Task& task : recipe::tasks()) {
    // A reward model is a part of other tasks, and a word.
    if (!task.vocabulary || recipe::trained_by(task.trainer) != &task ||
        !says_word(reading.text, task.trainer))
      continue;
    if (said != nullptr) return;
    said = &task;
  }
  if (said == nullptr || said->plain_text()) return;
  const std::string name(said->id);
  reading.values["/task"] = name;
  reading.notes.push_back("The task, " + name + ", is taken from the words around the command.");
}

// python train_sft.py, python -m src.train: a training, whatever its file says.
bool starts_training(const Reading& reading) {
  for (const char* key : {"$words", "m", "module"}) {
    const Leaf* leaf = reading.leaf(key);
    if (leaf == nullptr) continue;
    std::vector<const Node*> words = {leaf->node};
    for (const Node& item : leaf->node->items) words.push_back(&item);
    for (const Node* word : words) {
      const std::string name = ascii::lower(word->raw.substr(word->raw.rfind('/') + 1));
      const bool runs = name_ends_with(name, ".py") || std::string_view(key) != "$words";
      for (const char* part : {"train", "finetune", "fine_tune", "sft", "dpo", "grpo"})
        if (runs && name.find(part) != std::string::npos) return true;
    }
  }
  return false;
}

// trl/trainer/model_config.py ModelConfig, whose adapters are not PEFT's own.
struct ModelConfigDefault {
  const char *pointer, *key;
  double of_trl, of_peft;
};
constexpr ModelConfigDefault model_config_defaults[] = {
    {"/peft/r", "lora_r", 16, 8},
    {"/peft/lora_alpha", "lora_alpha", 32, 8},
    {"/peft/lora_dropout", "lora_dropout", 0.05, 0},
};

Json plain_number(double value) {
  return value == static_cast<double>(static_cast<uint64_t>(value)) ? Json(static_cast<uint64_t>(value))
                                                                    : Json(value);
}

void take_model_config(Reading& reading) {
  if (!reading.is_on("use_peft") || !reading.has("/stack") || reading.values["/stack"] != Json("trl")) return;
  for (const ModelConfigDefault& row : model_config_defaults)
    reading.values.emplace(row.pointer, plain_number(row.of_trl));
}

// freeze_llm beside adapters says that the weights under them stay, as they do anyway.
void freeze_nothing_under_adapters(Reading& reading) {
  const auto first = reading.values.lower_bound("/peft");
  if (first == reading.values.end() || first->first.rfind("/peft", 0) != 0) return;
  for (const char* part : {"/vision/freeze_language_model", "/vision/freeze_multi_modal_projector"})
    if (reading.has(part)) reading.drop(part, "adapters leave it frozen");
}

// A comment before the keys, what one trainer alone has before what several have.
void find_task(Reading& reading) {
  const bool shell = reading.document.language == Language::shell;
  if (shell && reading.has("/stack")) return;  // its command says it
  constexpr void (*ways[])(Reading&) = {read_commented_task, read_task_of_own_keys, read_words_around,
                                        read_task_of_shared_keys};
  for (const auto way : ways) {
    if (!reading.has("/task")) way(reading);
  }
  if (reading.has("/task") && reading.values["/task"] == Json("sft")) reading.values.erase("/task");
}

void finish_arguments(Reading& reading) {
  take_script_defaults(reading);
  finish_flat(reading);
  share_whole_batch(reading);
  if (reading.document.language == Language::shell && says_nothing(reading) && !starts_training(reading)) {
    reading.errors.push_back({"not_training", "",
                              "No command in this text carries settings of a training run.",
                              "a command such as accelerate launch train.py --model_name_or_path ..."});
    return;
  }
  find_task(reading);
  // A flat file that names its model is what `trl sft --config` takes; without a model it is
  // TrainingArguments.
  const bool file = reading.document.language != Language::shell;
  for (const char* key : {"lora_enable", "use_lora"}) {
    if (reading.leaf(key) == nullptr) continue;
    if (reading.is_on(key)) {
      reading.values["/peft"] = true;
      // haotian-liu/LLaVA llava/train/train.py: target_modules=find_all_linear_names(model).
      if (std::string_view(key) == "lora_enable" && !reading.has("/peft/target_modules"))
        reading.values["/peft/target_modules"] = "all-linear";
    } else {
      reading.drop("/peft", "the adapters are switched off");
    }
  }
  freeze_nothing_under_adapters(reading);
  if (!reading.has("/stack")) reading.values["/stack"] = file && reading.has("/model") ? "trl" : "hf";
  take_model_config(reading);
}

// train_dpo.py, dpo_multi.py, trainer.dpo: of a script of somebody's own its name says what it does.
const recipe::Task* task_in_name(std::string_view name) {
  const std::string lower = ascii::lower(name);
  name = lower;
  for (const recipe::Task& task : recipe::tasks()) {
    if (task.plain_text() || !task.vocabulary) continue;
    const size_t at = name.find(task.id);
    if (at == std::string_view::npos) continue;
    const size_t end = at + task.id.size();
    const bool begins = at == 0 || !(ascii::is_letter(name[at - 1]) || ascii::is_digit(name[at - 1]));
    const bool ends = end == name.size() || !(ascii::is_letter(name[end]) || ascii::is_digit(name[end]));
    const bool runs = name_ends_with(name, ".py") || name.find('.') < at;
    if (begins && ends && runs) return &task;
  }
  return nullptr;
}

void read_words(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, Use::implied);
  std::vector<std::string> words;
  for (const Node& item : leaf.node->items) words.push_back(item.raw);
  if (words.empty()) words.push_back(leaf.node->raw);
  for (const std::string& word : words) {
    // examples/scripts/sft.py and its neighbours are TRL's: sft_vlm.py, grpo_vlm.py.
    const bool of_trl =
        word.find("examples/scripts/") != std::string::npos || word.find("trl/scripts/") != std::string::npos;
    const std::string script = word.substr(word.rfind('/') == std::string::npos ? 0 : word.rfind('/') + 1);
    if (word.find("swift/cli/") != std::string::npos) continue;
    const size_t end = std::min(script.find_first_of("._"), script.size());
    const recipe::Task* trained = recipe::trained_by(script.substr(0, end));
    if (trained != nullptr && (script.substr(end) == ".py" || (of_trl && script[end] == '_'))) {
      reading.values["/stack"] = "trl";
      if (!trained->plain_text()) reading.values["/task"] = std::string(trained->id);
    }
    if (const recipe::Task* task = task_in_name(script); task != nullptr && !reading.has("/task"))
      reading.values["/task"] = std::string(task->id);
  }
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "colossalai" && words[i + 1] == "run") reading.values["/stack"] = "colossalai";
    // trl/cli/main.py: `trl vllm-serve` and its neighbours train nothing.
    if (words[i] != "trl" || in_list(words[i + 1], "vllm-serve chat env skills")) continue;
    reading.values["/stack"] = "trl";
    if (words[i + 1] != "sft") reading.values["/task"] = words[i + 1];
    reading.finding(leaf).pointer = "/stack";
    reading.mark(leaf, Use::used);
  }
}
constexpr Row words_rows[] = {{"$words", "", "", read_words}};
constexpr Table words_table{words_rows, "", "", ""};
constexpr Section shell_sections[] = {{"", &words_table},    {"", &image_table},       {"", &script_table},
                                      {"", &launcher_table}, {"", &trl_model_table},   {"", &training_table},
                                      {"", &model_table},    {"", &quantization_table}};

bool is_row(std::string_view key) {
  for (const Section& section : shell_sections) {
    for (const Row& row : section.table->rows) {
      if (row.key == key) return true;
    }
  }
  return false;
}

bool write(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/peft") {
    out.put("use_peft", true, pointer);
    return true;
  }
  return write_training(out, "", pointer, value);
}

bool write_file(Writing& out, const std::string& pointer, const Json& value) {
  if (write_simpo(out, "", pointer)) return true;
  if (pointer != "/task") return write(out, pointer, value);
  return in_list(value.get<std::string>(), trl_tasks);  // its comment says it
}

// trl v1.16 trl/scripts/*.py.
constexpr std::string_view trl_commands = "sft dpo kto grpo rloo reward";

// A request means PEFT's defaults where it says nothing.
void close_arguments(Writing& out) {
  if (!out.wrote("use_peft")) return;
  for (const ModelConfigDefault& row : model_config_defaults)
    if (!out.wrote(row.key)) out.put(row.key, plain_number(row.of_peft));
}

void close_file(Writing& out) {
  close_arguments(out);
  put_task_key(out);
}

void close_command(Writing& out) {
  if (out.word("/stack") == "trl") close_arguments(out);
}

// On a command line the launcher carries the GPUs.
bool write_command(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/stack" && (value == "trl" || value == "hf")) {
    out.put("$stack", value, pointer);
    return true;
  }
  if (pointer == "/task") {
    // Only TRL's own command names it.
    if (out.word("/stack") != "trl" || !in_list(value.get<std::string>(), trl_commands)) return false;
    out.put("$task", value, pointer);
    return true;
  }
  if (pointer == "/parallel/num_gpus" && out.is("/parallel/strategy", "none")) {
    out.left_out.push_back(pointer);  // one process drives them
    return true;
  }
  if (pointer == "/parallel/strategy") {
    const std::string word = value.get<std::string>();
    if (word == "none") return false;
    if (word == "ddp") out.put("multi_gpu", true, pointer);
    if (word == "fsdp" || word == "fsdp2") {
      out.put("use_fsdp", true, pointer);
      out.put("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");  // without it the whole model is one unit
    }
    if (word == "fsdp2") out.put("fsdp_version", 2, pointer);
    if (word.rfind("zero", 0) == 0) {
      out.put("use_deepspeed", true);
      out.put("zero_stage", static_cast<uint64_t>(word[4] - '0'), pointer);
    }
    return true;
  }
  return write(out, pointer, value);
}

}  // namespace

Node command_of_own_sections(const Node& root) {
  Node made = root;
  for (Member& member : made.members) {
    const size_t dot = member.key.rfind('.');
    if (dot == std::string::npos || member.key[0] == '$' || is_row(member.key)) continue;
    std::string last = member.key.substr(dot + 1);
    if (is_row(last) && made.find(last) == nullptr) member.key = std::move(last);
  }
  return made;
}

const Format trl_flat{
    .id = "trl",
    .name = "TRL and Transformers arguments",
    .stack = "trl",
    .written = Language::yaml,
    .sections = flat_sections,
    .marks =
        "model_name_or_path per_device_train_batch_size learning_rate num_train_epochs output_dir "
        "gradient_accumulation_steps max_length max_seq_length lora_r bf16 optim dataset_name",
    .finish = finish_arguments,
    .write = write_file,
    .close = close_file,
    .refused = trl_refused,
    .head = task_comment,
};
const Format command_line{
    .id = "cli",
    .name = "Command line",
    .written = Language::shell,
    .sections = shell_sections,
    .marks = "$words model_name_or_path per_device_train_batch_size output_dir num_processes",
    .finish = finish_arguments,
    .write = write_command,
    .close = close_command,
    .refused = trl_refused,
};
}  // namespace plimsoll::exchange
