#include "core/question/said_methods.h"

#include <algorithm>
#include <span>

#include "core/diagnosis/facts_said.h"
#include "core/diagnosis/prose.h"
#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"
#include "core/json/rounding.h"
#include "core/question/said_languages.h"
#include "core/question/said_switches.h"
#include "core/recipe/fields.h"
#include "core/recipe/quantization_formats.h"
#include "core/recipe/tasks.h"

namespace plimsoll::question {

namespace {

// "full fine-tuning", "fully finetune", "full-parameter SFT", "FFT", and of other languages "全参数微调".
bool is_full(const SaidWords& words, std::size_t at) {
  const std::string_view word = words[at].text;
  for (const SaidPhrase& one : phrases_of(Means::full)) {
    const std::size_t count = phrase_at(words, at, one.phrase);
    if (count == 1 || (count > 1 && !words[at].stops())) return true;
  }
  if (word != "full" && word != "fully") return false;
  // "Qwen3-4B full on a 5090", "7B, full, FSDP": of the method, and no card that is full, no full context.
  const bool of_method =
      at > 0 && is_brief(words) && phrase_at(words, at - 1, Means::becomes) == 0 &&
      (words[at].stops() || at + 1 == words.size() || phrase_at(words, at + 1, Means::behind_method) > 0);
  if (word == "full" && of_method) return true;
  constexpr std::string_view stems[] = {"fine", "finetun", "ft", "param", "train", "tun", "sft", "weight"};
  for (std::size_t on = at + 1; on < words.size() && on <= at + 2; ++on) {
    for (const std::string_view stem : stems) {
      if (words[on].text.substr(0, stem.size()) == stem) return true;
    }
  }
  return false;
}

// The methods that are spoken of, the first one first. "Plain LoRA without QLoRA" speaks of one.
std::vector<Method> methods_in(const SaidWords& words) {
  std::vector<Method> found;
  const auto add = [&found](Method way) {
    if (std::find(found.begin(), found.end(), way) == found.end()) found.push_back(way);
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    const SaidWords here(words.begin() + static_cast<std::ptrdiff_t>(at > 1 ? at - 2 : 0),
                         words.begin() + static_cast<std::ptrdiff_t>(std::min(words.size(), at + 2)));
    const std::string_view word = words[at].text;
    if ((word == "qlora" || word == "qdora") && affirms(here, word)) add(Method::qlora);
    if ((word == "lora" || word == "loras") && affirms(here, word)) add(Method::lora);
    if (is_full(words, at)) add(Method::full);
  }
  return found;
}

bool is_among(const std::vector<Method>& ways, Method one) {
  return std::find(ways.begin(), ways.end(), one) != ways.end();
}

// The last key of a pointer: "use_dora".
std::string_view key_of(std::string_view pointer) { return pointer.substr(pointer.rfind('/') + 1); }

// "use_dora" and its like: a name of its own that turns a flag on.
bool read_variants(const SaidWords& words, SaidRequest& out) {
  bool found = false;
  for (const recipe::Field& field : recipe::field_table()) {
    const std::string_view key = key_of(field.pointer);
    if (!field.pointer.starts_with("/peft/use_")) continue;
    const std::string name(key.substr(4));
    for (const std::string& said : {name, "q" + name}) {
      if (!affirms(words, said)) continue;
      // "DoRA instead of LoRA" holds it against the run without it.
      if (weighs(words) && says(words, "lora") && is_brief(words)) {
        out.weighed[std::string(field.pointer)] = {true, false};
      } else {
        out.values[std::string(field.pointer)] = true;
      }
      found = true;
    }
  }
  return found;
}

// "LoHa", "IA3", "prompt tuning": the contract's words, with blanks for underscores. Those that are words of a
// language too ("miss", "bone") are meant where they are not written like one.
bool read_adapter_type(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out) {
  if (!is_brief(words)) return false;
  std::string_view all = recipe::find_field("/peft/peft_type")->words;
  while (!all.empty()) {
    const std::string_view type = all.substr(0, all.find(", "));
    all.remove_prefix(std::min(all.size(), type.size() + 2));
    std::string phrase = ascii::lower(type);
    std::replace(phrase.begin(), phrase.end(), '_', ' ');
    const bool own = phrase.find_first_of("0123456789 ") != std::string::npos ||
                     phrase.find("lora") != std::string::npos || phrase.size() > 6;
    for (std::size_t at = 0; at < words.size() && type != "LORA"; ++at) {
      if (phrase_at(words, at, phrase) == 0 || !affirms_at(words, at)) continue;
      const std::string_view name = as_written(text, words[at]);
      const auto capitals =
          std::count_if(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
      if (!own && capitals < 2) continue;
      out.values["/peft/peft_type"] = std::string(type);
      return true;
    }
  }
  return false;
}

// "A GPTQ base", "…-AWQ": the format's name in upper case; "" none that adapters can be trained on.
std::string read_packed_base(const SaidWords& words, SaidRequest& out) {
  for (const recipe::QuantizationFormat& format : recipe::quantization_formats()) {
    std::string phrase(format.id);
    for (char& c : phrase) c = c == '_' || c == '-' ? ' ' : c;
    if (phrase == "fp8" || !affirms(words, phrase)) continue;
    std::string shown = phrase;
    for (char& c : shown) c = ascii::is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    if (format.trainable_from == "0") {
      out.values["/quantization/quant_method"] = std::string(format.id);
      return shown;
    }
    out.unread.push_back("a base in " + shown);
  }
  return "";
}

// "Freezing all but the last 4 layers", "nur die letzten 4 Schichten", "只训练最后4层".
void read_frozen_layers(const SaidWords& words, SaidRequest& out) {
  constexpr double most = 200;
  bool frozen = false;
  for (std::size_t at = 0; at < words.size(); ++at) {
    frozen = frozen || phrase_at(words, at, Means::freezes) > 0;
    if (at == 0 || at + 1 >= words.size() || !words[at].is_bare() || words[at].number > most) continue;
    const bool last =
        phrase_at(words, at - 1, Means::last) > 0 && phrase_at(words, at + 1, Means::layers) > 0;
    if (last && words[at].number >= 1) {
      out.values["/training/freeze_trainable_layers"] = json::count_of(words[at].number);
      return;
    }
  }
  if (frozen) out.unread.emplace_back("which layers are frozen");
}

// "embed_tokens and lm_head in modules_to_save": names with an underscore in its sentence that no field has.
void read_saved_modules(const diagnosis::Text& text, SaidRequest& out) {
  const std::string_view folded = text.folded_lines;
  std::size_t at = folded.find("modules_to_save");
  if (at == std::string_view::npos) at = folded.find("modules to save");
  if (at == std::string_view::npos) return;
  constexpr std::size_t reach = 160, size = 15;
  const std::string_view said = diagnosis::sentence_around(folded, at, size, reach);
  json::Json names = json::Json::array();
  const auto is_part = [](char c) { return ascii::is_word(c); };
  for (std::size_t begin = 0; begin < said.size();) {
    if (!is_part(said[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < said.size() && is_part(said[end])) ++end;
    const std::string_view name = said.substr(begin, end - begin);
    begin = end;
    const bool field = std::any_of(recipe::field_table().begin(), recipe::field_table().end(),
                                   [&](const recipe::Field& one) { return key_of(one.pointer) == name; });
    if (!field && name.size() > 2 && name.find('_', 1) < name.size() - 1) names.push_back(std::string(name));
  }
  if (!names.empty()) out.values["/peft/modules_to_save"] = names;
}

// A traceback alone says the task in the frame of its trainer, and with it the library.
void read_trainer(const diagnosis::Text& text, SaidRequest& out) {
  if (out.values.count("/task") != 0 || out.weighed.count("/task") != 0) return;
  for (const recipe::Task& task : recipe::tasks()) {
    // A frame of SFTTrainer's says what is trained for where nothing is said.
    if (task.plain_text() || recipe::trained_by(task.trainer) != &task) continue;
    for (const char* folder : {"/", "\\"}) {
      const std::string file = ascii::lower(task.trainer) + "_trainer.py";
      const std::string frame = std::string("trl") + folder + "trainer" + folder + file;
      if (diagnosis::mentions(text, {frame})) out.values["/task"] = std::string(task.id);
    }
  }
}

// Tasks that are called otherwise than by their id. Online ones have a reward model beside them.
struct CalledTask {
  Means means;
  const char* task;
};
constexpr CalledTask called_tasks[] = {{Means::reward_model, "reward"},
                                       {Means::classification, "classification"}};

// "One GPU for vLLM, one for training", "vLLM on its own GPU": cards that its server has for itself; 0: none are said.
uint64_t cards_of_the_server(const SaidWords& words) {
  constexpr std::string_view kinds[] = {"gpu", "gpus", "card", "cards", "device", "devices"};
  constexpr std::string_view own[] = {"own", "separate", "dedicated", "another", "second", "other", "extra"};
  constexpr std::size_t beside = 4;
  const auto is_in = [](std::string_view word, std::span<const std::string_view> all) {
    return std::find(all.begin(), all.end(), word) != all.end();
  };
  const auto count_at = [&](std::size_t at) -> uint64_t {
    if (words[at].is_bare()) return json::count_of(words[at].number);
    return words[at].text == "one" || words[at].text == "a" || is_in(words[at].text, own) ? 1
           : words[at].text == "two"                                                      ? 2
                                                                                          : 0;
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at].text != "vllm") continue;
    if (at >= 2 && words[at - 1].text == "for") {
      const bool named = is_in(words[at - 2].text, kinds);
      if (const std::size_t number = named ? at - 3 : at - 2; at >= (named ? 3U : 2U)) {
        if (const uint64_t count = count_at(number); count > 0) return count;
      }
    }
    for (std::size_t i = at + 1; i + 1 < words.size() && i <= at + beside && !words[i - 1].stops(); ++i) {
      if (is_in(words[i].text, own) && is_in(words[i + 1].text, kinds)) return 1;
    }
  }
  return 0;
}

// A server takes its cards from those that are said: the others train.
void leave_cards_to_the_server(uint64_t taken, SaidRequest& out) {
  out.values["/rl/vllm_mode"] = "server";
  const auto left = [taken](double count) {
    return count > static_cast<double>(taken) ? count - static_cast<double>(taken) : 1;
  };
  if (out.cards.size() == 1) out.cards.front().count = left(out.cards.front().count);
  if (const auto count = out.values.find("/parallel/num_gpus"); count != out.values.end())
    count->second = json::count_of(left(count->second.get<double>()));
}

// The task, where the text is about one; two are weighed against each other.
void read_named_task(const SaidWords& words, SaidRequest& out) {
  // "Reward", "classification" and "pretraining" are words of a language (see called_tasks).
  const auto is_called = [](std::string_view word) {
    const recipe::Task* task = recipe::find_task(word);
    return task != nullptr && task->vocabulary && !task->trainer.empty();
  };
  std::vector<json::Json> tasks;
  for (const SaidWord& word : words) {
    const bool named = is_called(word.text);
    const json::Json task = std::string(word.text);
    if (named && std::find(tasks.begin(), tasks.end(), task) == tasks.end()) tasks.push_back(task);
  }
  // "SFT" alone is what fine-tuning is; beside another task it is the one that this is compared with.
  for (const json::Json& task : tasks) {
    if (task != json::Json("sft")) out.values.emplace("/task", task);
  }
  for (const CalledTask& one : called_tasks) {
    if (affirms(words, one.means)) out.values.emplace("/task", one.task);
  }
  if (tasks.size() > 1) out.weighed["/task"] = tasks;
  if (out.values.count("/task") == 0 || !affirms(words, "vllm")) return;
  out.values["/rl/use_vllm"] = true;
  if (const uint64_t taken = cards_of_the_server(words); taken > 0)
    return leave_cards_to_the_server(taken, out);
  const auto count = out.values.find("/parallel/num_gpus");
  const bool one = out.cards.size() < 2 && (count == out.values.end() || count->second == json::Json(1));
  const bool server = says(words, "server");
  // A server has cards of its own: who speaks of one card has none for it.
  if (server || one || says(words, "colocate") || says(words, "colocated"))
    out.values["/rl/vllm_mode"] = server ? "server" : "colocate";
}

bool denies_any(const SaidWords& words, std::span<const std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view phrase) { return denies(words, phrase); });
}

constexpr std::string_view adapter_words[] = {"lora", "loras", "peft", "adapter", "adapters"};

// "Without any PEFT and quantization": of the ways to train those that are left. Nothing where none is denied.
std::vector<Method> not_denied(const SaidWords& words) {
  std::vector<Method> left;
  const bool no_adapters = denies_any(words, adapter_words);
  if (!no_adapters && !denies(words, "qlora") && !denies(words, Means::quantized))
    left.push_back(Method::qlora);
  if (!no_adapters) left.push_back(Method::lora);
  if (!denies(words, Means::full_tuning)) left.push_back(Method::full);
  return left.size() == 3 || !is_brief(words) ? std::vector<Method>() : left;
}

// "LoRA instead of QLoRA" weighs the two, and rules nothing out.
void lock_denied(const SaidWords& words, SaidRequest& out) {
  if (!is_brief(words) || weighs(words)) return;
  const bool quantized = out.values.count("/quantization/load_in_4bit") != 0 ||
                         out.values.count("/quantization/load_in_8bit") != 0;
  if (!quantized && denies(words, Means::quantized)) lock("/quantization", out);
  const bool whole = out.methods.size() == 1 && out.values.count("/peft") == 0;
  if (whole && denies_any(words, adapter_words)) lock("/peft", out);
}

void set_first_method(const std::vector<Method>& ways, bool four, bool eight, SaidRequest& out) {
  const bool open = ways.empty(), full = !open && ways.front() == Method::full;
  const bool packs = open ? four : ways.front() == Method::qlora;
  if (packs) out.values["/quantization/load_in_4bit"] = true;
  if ((open || !packs) && !full && eight) out.values["/quantization/load_in_8bit"] = true;
  if (!open && !full) out.values["/peft"] = true;
}

}  // namespace

const recipe::Method& fields_of(Method method) {
  return *recipe::find_method(method == Method::full ? "full" : method == Method::lora ? "lora" : "qlora");
}

void read_method(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out) {
  std::vector<Method> ways = methods_in(words);
  if (ways.empty() && diagnosis::read_prose(text.folded_lines).says(diagnosis::Say::full) != nullptr)
    ways.push_back(Method::full);
  // Whoever pastes a traceback alone has said it in its frames.
  if (ways.empty() && diagnosis::mentions(text, {"peft/peft_model.py", "peft/tuners/"}))
    ways.push_back(Method::lora);
  const std::string packed = read_packed_base(words, out);
  const bool four = affirms(words, "4bit") || affirms(words, "4 bit") || affirms(words, "nf4") ||
                    diagnosis::mentions(text, {"matmul_4bit", "linear4bit"});
  const bool variant = read_variants(words, out);
  const bool adapters = read_adapter_type(text, words, out) || variant;
  const bool full = is_among(ways, Method::full);
  const Method of_adapters = is_among(ways, Method::qlora) && packed.empty() ? Method::qlora : Method::lora;
  if (!full && (adapters || !packed.empty())) ways = {of_adapters};
  // "DoRA or full fine-tuning"
  if (full && adapters && ways.size() == 1) ways.insert(ways.begin(), of_adapters);
  const std::vector<Method> left = ways.empty() && !four ? not_denied(words) : std::vector<Method>();
  if (left.size() == 1) ways = left;
  if (!ways.empty() && ways.front() == Method::lora && four && packed.empty()) ways.front() = Method::qlora;
  out.method = !ways.empty();
  set_first_method(ways, four && packed.empty(), eight_bits(words).base && packed.empty(), out);
  out.methods = ways.empty() ? left : ways;
  if (!full) out.packed_base = packed;
  lock_denied(words, out);
  if (full && ways.size() == 1) read_frozen_layers(words, out);
  if (out.values.count("/peft") != 0) read_saved_modules(text, out);
}

void read_task(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out) {
  read_named_task(words, out);
  read_trainer(text, out);
}

// One way of sharing, in words or in the frames of a traceback; where two are weighed, none is said.
void read_strategy(const SaidWords& words, SaidRequest& out) {
  std::vector<std::string> found;
  const auto say = [&](std::string_view phrase, const std::string& strategy) {
    if (affirms(words, phrase) && std::find(found.begin(), found.end(), strategy) == found.end())
      found.push_back(strategy);
  };
  for (const std::string stage : {"1", "2", "3"}) {
    for (const std::string& name :
         {"zero" + stage, "zero " + stage, "stage" + stage, "stage " + stage, "z" + stage})
      say(name, "zero" + stage);
  }
  say("fsdp", "fsdp");
  say("fsdp2", "fsdp");
  say("ddp", "ddp");
  if (found.size() == 1) out.values["/parallel/strategy"] = found.front();
  constexpr std::string_view deepspeed[] = {"deepspeed", "deep speed", "zero", "zero3", "zero 3"};
  constexpr std::string_view fsdp[] = {"fsdp", "fsdp2"};
  out.denied = {denies_any(words, deepspeed), denies_any(words, fsdp), denies(words, Means::offload)};
}

}  // namespace plimsoll::question
