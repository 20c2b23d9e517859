// Calls in Python to sections: "training", "model", "quantization", "peft", "trainer", "sagemaker". Whoever
// calls a name the same way means the same, whatever module it came from.
#include "core/exchange/formats/python_calls.h"

#include <algorithm>
#include <set>

#include "core/exchange/formats/python_lengths.h"
#include "core/exchange/formats/python_loop.h"
#include "core/exchange/formats/python_names.h"
#include "core/exchange/formats/python_trained.h"
#include "core/exchange/formats/refused.h"
#include "core/exchange/python/tokens.h"

namespace plimsoll::exchange {

namespace {

Member* section_of(Node& root, std::string_view name) {
  for (Member& member : root.members) {
    if (member.key == name) return &member;
  }
  root.members.push_back({std::string(name), {}, Node()});
  root.members.back().value.kind = Node::Kind::map;
  return &root.members.back();
}

// The first to say it is right.
void say(Node& root, std::string_view key, std::string_view word) {
  if (root.find(key) != nullptr) return;
  root.members.push_back({std::string(key), {}, scalar_node(std::string(word), std::string(word), true, {})});
}

void put(Node& root, std::string_view section, Member member) {
  section_of(root, section)->value.members.push_back(std::move(member));
}

Member word_member(const char* key, std::string_view word) {
  return {key, {}, scalar_node(std::string(word), std::string(word), true, {})};
}

// What the name of a call says: the task, the library, the method.
void add_name(Node& root, const Member& call, std::string_view place) {
  const std::string_view name = last_part(call.key);
  if (!task_of(name).empty()) {
    say(root, "$trl", "trl");
    say(root, "$task", task_of(name));
  }
  if (call.key.find("Fast") != std::string::npos && name == "from_pretrained")
    say(root, "$unsloth", "unsloth");
  if (place == "trainer" && task_of(name).empty() && name.find("Reward") != std::string::npos)
    say(root, "$task", "reward");  // another file's RewardModelTrainer
  if (place == "model" && call.key.find("ForSequenceClassification") != std::string::npos)
    say(root, "$classifier", "classification");
  if (place == "quantization" && name != "BitsAndBytesConfig") {
    const char* method = name == "GPTQConfig" ? "gptq" : name == "AwqConfig" ? "awq" : "hqq";
    put(root, place, word_member("quant_method", method));
  }
  if (place == "peft" && name != "LoraConfig" && name != "get_peft_model")
    put(root, place, word_member("peft_type", name.substr(0, name.find("Config"))));
  if (place == "peft") say(root, "$adapter", "peft");
  const bool any_model = call.key.find("FastModel.") != std::string::npos ||
                         call.key.find("FastVisionModel.") != std::string::npos;
  if (any_model && name == "get_peft_model") say(root, "$fast_model", "get_peft_model");
}

// Calls that are a setting in themselves, whatever they are given. False: this is none.
bool add_preparation(Node& root, const Member& call, std::string_view place) {
  if (place != "prepare" && place != "checkpointing") return false;
  const Node on = scalar_node(true, "True", false, {});
  const Node* flag = place == "prepare" ? call.value.find("use_gradient_checkpointing") : nullptr;
  if (place == "prepare") put(root, "quantization", {"prepare_for_kbit_training", call.key_span, on});
  put(root, "prepare",
      {"use_gradient_checkpointing", flag == nullptr ? call.key_span : Span{}, flag == nullptr ? on : *flag});
  return true;
}

// model.half(), from_pretrained(...).bfloat16(), model.to(torch.bfloat16): the type that the weights get.
std::string_view cast_of(const Member& call) {
  const std::string_view key = call.key, name = last_part(key);
  const std::string_view owner =
      key.size() > name.size() ? last_part(key.substr(0, key.size() - name.size() - 1)) : "";
  if (!owner.empty() && owner != "model" && owner != "base_model") return "";
  if (name == "half") return "float16";
  if (name == "bfloat16") return "bfloat16";
  const Node* type = call.value.find("dtype");
  if (type == nullptr) type = call.value.find("0");
  if (name != "to" || type == nullptr) return "";
  for (const std::string_view known : {"bfloat16", "float16", "float32"}) {
    if (type->raw == "torch." + std::string(known)) return known;
  }
  return "";
}

void add_cast(Node& root, const Member& call, std::string_view type) {
  auto& given = section_of(root, "model")->value.members;
  std::erase_if(given, [](const Member& one) { return one.key == "torch_dtype" || one.key == "dtype"; });
  given.push_back(
      {"torch_dtype", call.key_span, scalar_node(std::string(type), std::string(type), true, {})});
}

// PeftModel.from_pretrained(base, "out/sft", is_trainable=True): an adapter is trained on.
bool continues_adapter(const Member& call) {
  const Node* trainable = call.value.find("is_trainable");
  return last_part(call.key) == "from_pretrained" && call.key.find("Peft") != std::string::npos &&
         trainable != nullptr && trainable->value == json::Json(true);
}

// What stands beside the model is a setting by its name: reward_model=rm of a model that the script loads.
bool add_beside(Node& section, const Member& given, const std::string& key, const Trained& trained) {
  const Trained::Beside* beside = trained.find_beside(key);
  if (beside == nullptr || section.find(key) != nullptr) return false;
  Node name = scalar_node(beside->name, beside->name, true, given.value.span);
  section.members.push_back({key, given.key_span, std::move(name)});
  return true;
}

void add_arguments(Node& root, const Member& call, std::string_view place, const Trained& trained) {
  Node& section = section_of(root, place)->value;
  if (section.span.length == 0) section.span = call.value.span;
  for (const Member& argument : call.value.members) {
    if (argument.key == "**") {  // TrainingArguments(**config["train"]) of a file that is not here
      if (place == "training") say(root, "$spread_arguments", argument.value.raw);
      continue;
    }
    // quantization_config={"load_in_4bit": True}
    if (argument.key == "quantization_config" && argument.value.is_map() && argument.value.call.empty()) {
      for (const Member& one : argument.value.members) put(root, "quantization", one);
      continue;
    }
    const std::string name = &call == trained.trainer ? trained.argument(argument.key) : argument.key;
    if (&call == trained.trainer && add_beside(section, argument, name, trained)) continue;
    // An argument that is a call has a section of its own; the model and the data are not settings.
    const bool inner = is_call(argument);
    // A function has no value, but that there is one is a setting.
    const bool function =
        name == "compute_metrics" || name == "ref_model" || name == "preprocess_logits_for_metrics";
    if (inner && !function && (place == "trainer" || !place_of(argument.value.call).empty())) continue;
    const bool position = name.find_first_not_of("0123456789") == std::string::npos;
    if (position && !(place == "model" && name == "0")) continue;
    // DPOTrainer(max_length=cfg.length): a size that is not known is not left out.
    const bool size = name == "max_length" || name == "max_seq_length" || name == "max_prompt_length" ||
                      name == "max_completion_length";
    if (argument.value.opaque && !function && !size &&
        (place == "trainer" || name == "quantization_config" || name == "config")) {
      continue;
    }
    const std::string key = position ? "model_name_or_path" : name;
    if (section.find(key) != nullptr) continue;
    section.members.push_back({key, argument.key_span, argument.value});
    if (inner) {
      Node expression = scalar_node(nullptr, argument.value.call + "(...)", false, argument.value.span);
      expression.opaque = true;
      section.members.back().value = std::move(expression);
    }
  }
}

// Of a script that goes as far as a trainer, what it does not call means something too.
void add_whole(const Node& python, Node& root) {
  const auto calls = [&python](auto is_it) {
    return std::any_of(python.members.begin(), python.members.end(),
                       [&](const Member& member) { return is_call(member) && is_it(last_part(member.key)); });
  };
  if (!calls([](std::string_view name) { return place_of(name) == "trainer"; })) return;
  say(root, "$trainer", "trainer");
  // SFTTrainer(model=model, args=training_arguments) of a name that nothing sets.
  const bool set = calls([](std::string_view name) { return place_of(name) == "training"; });
  const Node* trainer = root.find("trainer");
  for (const Member& member : python.members) {
    if (set || trainer == nullptr || !is_call(member) || place_of(last_part(member.key)) != "trainer")
      continue;
    const Node* given = member.value.find("args");
    if (given != nullptr && given->opaque) say(root, "$unset_arguments", given->raw);
  }
  if (calls([](std::string_view name) { return name == "get_peft_model"; })) say(root, "$wrapped", "peft");
  if (calls([](std::string_view name) { return name_ends_with(name, "TrainingArguments"); }))
    say(root, "$plain_arguments", "transformers");
}

// TrlParser((ScriptArguments, GRPOConfig, ModelConfig)): the command line that is not here says the rest.
bool add_parsed(Node& root, const Member& call) {
  const std::string_view name = last_part(call.key);
  const Node* types = call.value.find("0");
  if ((name != "TrlParser" && name != "HfArgumentParser") || types == nullptr) return false;
  for (const Node& type : types->items) {
    if (task_of(type.raw).empty()) continue;
    say(root, "$trl", "trl");
    say(root, "$task", task_of(type.raw));
    return true;
  }
  return false;
}

// SentenceTransformerTrainer(...), CrossEncoderTrainingArguments(...), model.fit(train_objectives=...). A model of
// theirs alone may rank the answers of another run.
bool trains_sentences(const Member& call) {
  const std::string_view name = last_part(call.key);
  for (const std::string_view kind : {"SentenceTransformerTrain", "CrossEncoderTrain", "SparseEncoderTrain"})
    if (name.substr(0, kind.size()) == kind) return true;
  return name == "fit" && call.value.find("train_objectives") != nullptr;
}

// OnlineDPOConfig(...), which the trainer is given as its arguments, is read as they are.
std::string_view place_in(const Member& call, const Trained& trained) {
  if (!is_call(call)) return "";
  const std::string_view place = place_of(call.key);
  if (place == "trainer" && is_lightning(call.value)) return "lightning";
  const std::string_view name = last_part(call.key);
  const bool settings = name_ends_with(name, "Config") || name_ends_with(name, "Arguments");
  return place.empty() && settings && &call == trained.settings ? "training" : place;
}

// Whether any call says something of the run.
bool add_calls(const Trained& trained, Node& root) {
  bool any = false;
  std::set<std::string> told;
  for (const Member& call : trained.python.members) {
    if (!is_call(call)) continue;
    const std::string_view place = place_in(call, trained);
    const bool named = !call.value.unnamed, anothers = trained.is_anothers(call);
    if (trains_sentences(call)) say(root, "$sentence_transformers", last_part(call.key));
    if (continues_adapter(call) && !anothers) {
      say(root, "$adapter", "peft");
      say(root, "$continued", "peft");
    }
    any = add_parsed(root, call) || any;
    const std::string_view cast = any && named && !anothers ? cast_of(call) : "";
    if (!cast.empty()) add_cast(root, call, cast);
    if (place.empty() || (place == "model" && &call != trained.model)) continue;
    if (place != "model" && !named) continue;
    any = true;
    const std::string_view task = task_of(last_part(call.key));
    if (!task.empty() && task != trained.task) {
      say(root, "$other_task", task);
      continue;
    }
    if (anothers) continue;
    if (place == "trainer" && trained.trainer != nullptr && &call != trained.trainer) continue;
    // A second LoraConfig is another run's, or takes the place of the first as a whole.
    if (!told.insert(std::string(place) + "." + std::string(last_part(call.key))).second) continue;
    add_name(root, call, place);
    if (!add_preparation(root, call, place)) add_arguments(root, call, place, trained);
  }
  return any;
}

// The last trainer is what the script is for; TrlParser may be told its configuration alone.
const Format* refused_trainer(const Node& python) {
  const Format* last = nullptr;
  for (const Member& call : python.members) {
    if (!is_call(call) || call.value.unnamed) continue;
    const Format* refused = refused_class(last_part(call.key));
    if (refused != nullptr || place_of(call.key) == "trainer") last = refused;
  }
  return last;
}

// A configuration of XTuner's sets its variables by these names, and builds nothing itself.
bool is_of_xtuner(const Node& python) {
  const auto sets = [&python](std::string_view name) {
    return std::any_of(python.members.begin(), python.members.end(), [name](const Member& member) {
      return member.key == name || (member.key[0] == '$' && member.key.substr(1) == name);
    });
  };
  return sets("accumulative_counts") && (sets("train_cfg") || sets("optim_wrapper"));
}

// What is assigned. Where nothing is called: "per_device_train_batch_size = 4," and its like, or a dict of
// hyperparameters.
void add_assigned(const Node& python, bool called, Node& root) {
  for (const Member& member : python.members) {
    if (is_call(member)) continue;
    if (member.key == "$own") {  // class RewardTrainer(Trainer)
      const std::string& name = member.value.raw;
      const std::string_view task = name.find("Reward") != std::string::npos ? "reward" : task_of(name);
      if (!task.empty()) say(root, "$task", task);
    } else if (member.key[0] == '$') {
      if (root.find(member.key) == nullptr) root.members.push_back(member);
      if (member.key == "$import") say(root, "$unsloth", "unsloth");
    } else if (name_ends_with(member.key, "config.use_cache")) {
      put(root, "model", {"use_cache", member.key_span, member.value});
    } else if (!called) {
      Node& flat = section_of(root, "training")->value;
      if (member.value.is_map()) {
        for (const Member& inner : member.value.members) flat.members.push_back(inner);
      } else {
        flat.members.push_back(member);
      }
    }
  }
}

}  // namespace

const Node* axolotl_call(const Node& python) {
  for (const Member& member : python.members) {
    if (last_part(member.value.call) == "DictDefault" && member.value.find("base_model") != nullptr)
      return &member.value;
  }
  return nullptr;
}

Node python_sections(const Node& python) {
  Node root;
  root.kind = Node::Kind::map;
  root.span = python.span;
  const Trained trained = trained_in(python);
  if (const Format* refused = refused_trainer(python); refused != nullptr) {
    say(root, refused->marks.substr(1), refused->id);
    return root;
  }
  if (is_of_xtuner(python)) {
    say(root, "$xtuner", "xtuner");
    return root;
  }
  const bool called = add_calls(trained, root) || has_loop(python);
  add_assigned(python, called, root);
  add_loop(python, root);
  if (called) add_length(python, root);
  if (called) add_whole(python, root);
  root.members.erase(std::remove_if(root.members.begin(), root.members.end(),
                                    [](const Member& member) {
                                      return member.value.is_map() && member.value.members.empty();
                                    }),
                     root.members.end());
  return root;
}

}  // namespace plimsoll::exchange
