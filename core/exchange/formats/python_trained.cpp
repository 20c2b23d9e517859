#include "core/exchange/formats/python_trained.h"

#include <algorithm>

#include "core/exchange/formats/python_loop.h"
#include "core/exchange/formats/python_names.h"
#include "core/exchange/python/tokens.h"

namespace plimsoll::exchange {

namespace {

using Calls = std::set<const Member*>;

// What a trainer takes without a name, in its order; the last row is that of all others. huggingface/trl v1.16
// trl/trainer/*_trainer.py, trl/experimental/ppo; before v0.12 PPOTrainer took its model second.
struct Order {
  std::string_view trainer, arguments;
};
constexpr std::string_view early_ppo = "args model ref_model processing_class train_dataset";
constexpr Order orders[] = {
    {"PPOTrainer", "args processing_class model ref_model reward_model train_dataset value_model"},
    {"PPOv2Trainer", "args processing_class model ref_model reward_model train_dataset value_model"},
    {"GRPOTrainer", "model reward_funcs args train_dataset"},
    {"RLOOTrainer", "model reward_funcs args train_dataset"},
    {"DPOTrainer", "model ref_model"},
    {"KTOTrainer", "model ref_model args train_dataset"},
    {"CPOTrainer", "model args"},
    {"ORPOTrainer", "model args"},
    {"", "model args"},
};
// PPOv2's names, and those of TRL's early trainers.
constexpr std::pair<std::string_view, std::string_view> old_names[] = {
    {"policy", "model"}, {"ref_policy", "ref_model"}, {"config", "args"}, {"teacher", "teacher_model"}};

constexpr std::string_view beside_keys[] = {"ref_model", "reward_model", "value_model", "reward_funcs",
                                            "teacher_model"};

std::string word_at(std::string_view words, size_t place) {
  for (; place > 0 && !words.empty(); --place)
    words.remove_prefix(std::min(std::min(words.find(' '), words.size()) + 1, words.size()));
  return std::string(words.substr(0, words.find(' ')));
}

void add_makers(const Node& node, std::vector<size_t>& makers) {
  makers.insert(makers.end(), node.made_by.begin(), node.made_by.end());
  for (const Node& item : node.items) add_makers(item, makers);
  for (const Member& member : node.members) add_makers(member.value, makers);
}

const Member* call_at(const Node& python, size_t place) {
  if (place == 0 || place > python.members.size() || !is_call(python.members[place - 1])) return nullptr;
  return &python.members[place - 1];
}

// What a call is a method of.
Node owner_of(const Member& call) {
  Node owner;
  owner.made_by = call.value.made_by;
  return owner;
}

// Adds the calls that made a value, and those that made what they were given.
void reach(const Node& python, const Node& value, Calls& reached) {
  std::vector<size_t> open;
  add_makers(value, open);
  while (!open.empty()) {
    const Member* call = call_at(python, open.back());
    open.pop_back();
    if (call != nullptr && reached.insert(call).second) add_makers(call->value, open);
  }
}

struct LoadSearch {
  const Node& python;
  Calls seen = {};
  int depth = 0;
};
constexpr int deepest_search = 50;
constexpr size_t widest_search = 500;

const Member* load_behind(const Member& call, LoadSearch& search);

// The call behind a value that loads a model, through whatever wraps it.
const Member* load_among(const Node* value, LoadSearch& search) {
  if (value == nullptr || search.depth >= deepest_search) return nullptr;
  ++search.depth;
  std::vector<size_t> makers;
  add_makers(*value, makers);
  const Member* best = nullptr;
  for (const size_t maker : makers) {
    const Member* call = call_at(search.python, maker);
    const Member* found = call == nullptr ? nullptr : load_behind(*call, search);
    if (found != nullptr && (best == nullptr || claim_of(*found) > claim_of(*best))) best = found;
  }
  --search.depth;
  return best;
}

const Member* load_behind(const Member& call, LoadSearch& search) {
  if (search.seen.size() > widest_search || !search.seen.insert(&call).second) return nullptr;
  if (claim_of(call) > 0) {  // AutoModelForCausalLMWithValueHead.from_pretrained(model)
    const Member* inner = load_among(call.value.find("0"), search);
    return inner != nullptr ? inner : &call;
  }
  const bool adapter = call.key.find("Peft") != std::string::npos;
  if (last_part(call.key) == "from_pretrained" && !adapter) return nullptr;  // a tokenizer
  const Node owner = owner_of(call);
  if (const Member* found = load_among(&owner, search)) return found;
  if (const Member* found = load_among(call.value.find("model"), search)) return found;
  for (const Member& given : call.value.members) {
    if (const Member* found = load_among(&given.value, search)) return found;
  }
  return nullptr;
}

const Member* load_of(const Node& python, const Node* value) {
  LoadSearch search{python};
  return load_among(value, search);
}

// The model that a call works on: model.half(), prepare_model_for_kbit_training(model).
const Member* subject_of(const Node& python, const Member& call) {
  const Node owner = owner_of(call);
  if (const Member* found = load_of(python, &owner)) return found;
  const Node* given = call.value.find("model");
  return load_of(python, given != nullptr ? given : call.value.find("0"));
}

bool works_on_a_model(const Member& call) {
  const std::string_view name = last_part(call.key), place = place_of(call.key);
  return name == "get_peft_model" || place == "prepare" || place == "checkpointing" || name == "half" ||
         name == "bfloat16" || name == "to" || name == "add_adapter";
}

std::string name_of(const Member& load) {
  for (const char* key : {"0", "pretrained_model_name_or_path", "model_name"}) {
    const Node* name = load.value.find(key);
    if (name != nullptr && !name->opaque && name->value.is_string()) return name->raw;
  }
  return "";
}

// SFT and then GRPO in one script: the last is what the script is for, and the first its warm-up.
std::string_view task_read(const Node& python) {
  std::string_view last;
  for (const Member& call : python.members) {
    const std::string_view task = is_call(call) ? task_of(last_part(call.key)) : "";
    if (!task.empty() && !call.value.unnamed) last = task;
  }
  return last;
}

bool is_trainer(const Member& call) {
  return is_call(call) && place_of(call.key) == "trainer" && !is_lightning(call.value) && !call.value.unnamed;
}

const Member* trainer_of(const Node& python, std::string_view task) {
  const Member* first = nullptr;
  for (const Member& call : python.members) {
    if (!is_trainer(call)) continue;
    if (task_of(last_part(call.key)) == task) return &call;
    if (first == nullptr) first = &call;
  }
  return first;
}

std::string_view order_of(const Node& python, const Member& trainer) {
  const std::string_view name = last_part(trainer.key);
  const auto row = std::find_if(std::begin(orders), std::end(orders), [name](const Order& one) {
    return one.trainer.empty() || one.trainer == name;
  });
  const bool early = name == "PPOTrainer" && load_of(python, trainer.value.find("1")) != nullptr;
  return early ? early_ppo : row->arguments;
}

bool is_text(const Node& node) { return !node.opaque && node.value.is_string(); }

// The value of an argument of the trainer, by any of its names.
const Node* given_as(const Trained& trained, std::string_view name) {
  for (const Member& given : trained.trainer->value.members) {
    if (trained.argument(given.key) == name) return &given.value;
  }
  return nullptr;
}

void find_settings(Trained& trained) {
  const Node* given = given_as(trained, "args");
  if (given != nullptr && given->made_by.size() == 1)
    trained.settings = call_at(trained.python, given->made_by.front());
}

void find_model(Trained& trained) {
  const Node* model = given_as(trained, "model");
  if (model == nullptr || (!model->opaque && model->value.is_null() && model->is_scalar()))
    model = given_as(trained, "model_init");
  if (model == nullptr) return;
  trained.model = load_of(trained.python, model);
  trained.told = trained.model != nullptr || is_text(*model);
  reach(trained.python, *model, trained.own);
  for (const char* settings : {"args", "peft_config", "quantization_config"}) {
    if (const Node* given = given_as(trained, settings)) reach(trained.python, *given, trained.own);
  }
}

void find_beside(Trained& trained) {
  for (const Member& given : trained.trainer->value.members) {
    const std::string key = trained.argument(given.key);
    if (std::find(std::begin(beside_keys), std::end(beside_keys), key) == std::end(beside_keys)) continue;
    const auto& items = given.value.items;  // reward_funcs=["Qwen/Reward", is_short]
    const auto item = std::find_if(items.begin(), items.end(), is_text);
    if (is_text(given.value) || item != items.end()) {
      trained.beside.push_back({key, items.empty() ? given.value.raw : item->raw});
    } else if (const Member* load = load_of(trained.python, &given.value)) {
      trained.beside.push_back({key, name_of(*load)});
    }
  }
}

// A loop of its own trains what its optimizer is given.
void find_model_of_loop(Trained& trained) {
  if (!has_loop(trained.python)) return;
  for (const Member& call : trained.python.members) {
    if (!is_call(call) || optimizer_class(call.key).empty() || call.value.unnamed) continue;
    const Node* given = call.value.find("params");
    trained.model = load_of(trained.python, given != nullptr ? given : call.value.find("0"));
    trained.told = trained.model != nullptr;
    if (trained.told) return reach(trained.python, call.value, trained.own);
  }
}

void find_others(Trained& trained) {
  for (const Member& call : trained.python.members) {
    if (!is_call(call) || trained.own.count(&call) != 0 || &call == trained.trainer) continue;
    const bool loads = claim_of(call) > 0, trains = is_trainer(call);
    const Member* subject = works_on_a_model(call) ? subject_of(trained.python, call) : nullptr;
    if (!loads && !trains && (subject == nullptr || subject == trained.model)) continue;
    if (!trains) trained.others.insert(&call);
    reach(trained.python, call.value, trained.others);
  }
}

// The first of the strongest: a later one loads what has been trained, or a second model. What a function that
// nothing calls loads comes after all that runs, and what is known to stand beside the model is none.
const Member* likely_model(const Trained& trained) {
  Calls beside;
  if (trained.trainer != nullptr) {
    for (const Member& given : trained.trainer->value.members) {
      const std::string key = trained.argument(given.key);
      const bool other = key != "ref_model" && trained.find_beside(key) != nullptr;
      if (other) reach(trained.python, given.value, beside);
    }
  }
  const Member* best = nullptr;
  int highest = 0;
  for (const Member& call : trained.python.members) {
    if (beside.count(&call) != 0) continue;
    const int claim = claim_of(call);
    const int strength = claim > 0 && !call.value.unnamed ? claim + 3 : claim;
    if (strength > highest) best = &call;
    highest = std::max(highest, strength);
  }
  return best;
}

}  // namespace

std::string Trained::argument(const std::string& key) const {
  if (key.empty()) return "";  // Trainer(**{"": model})
  if (key.find_first_not_of("0123456789") == std::string::npos)
    return key.size() > 2 ? "" : word_at(order, std::stoul(key));
  for (const auto& [old, name] : old_names) {
    if (key == old) return std::string(name);
  }
  return key;
}

const Trained::Beside* Trained::find_beside(std::string_view key) const {
  for (const Beside& one : beside) {
    if (one.key == key) return &one;
  }
  return nullptr;
}

bool Trained::is_anothers(const Member& call) const {
  if (!told || &call == trainer || own.count(&call) != 0) return false;
  if (others.count(&call) != 0) return true;
  const std::string_view place = place_of(call.key);
  if (place != "quantization" && place != "peft") return false;
  return std::any_of(own.begin(), own.end(), [&](const Member* one) {
    return last_part(one->key) == last_part(call.key) && place_of(one->key) == place;
  });
}

Trained trained_in(const Node& python) {
  Trained trained{.python = python};
  trained.task = task_read(python);
  trained.trainer = trainer_of(python, trained.task);
  if (trained.trainer != nullptr) {
    trained.order = order_of(python, *trained.trainer);
    find_settings(trained);
    find_model(trained);
    find_beside(trained);
  } else {
    find_model_of_loop(trained);
  }
  if (trained.told) find_others(trained);
  if (!trained.told) trained.model = likely_model(trained);
  return trained;
}

}  // namespace plimsoll::exchange
