#include "core/question/said_request.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/diagnosis/facts_said.h"
#include "core/diagnosis/prose.h"
#include "core/diagnosis/sentence.h"
#include "core/exchange/versions.h"
#include "core/json/rounding.h"
#include "core/question/said_cards.h"
#include "core/question/said_words.h"
#include "core/run/model_names.h"

namespace plimsoll::question {

namespace {

using diagnosis::says_any;

// "8-bit" belongs to what stands beside it: "AdamW 8bit" or "8-bit LoRA".
struct EightBits {
  bool optimizer = false, base = false;
};
EightBits eight_bits(const SaidWords& words) {
  constexpr std::string_view optimizers[] = {"adam", "adamw", "optim", "optimizer",
                                             "lion", "paged", "states"};
  EightBits found;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const bool tied = words[at].number == 8 && words[at].unit == "bit";
    const bool apart = words[at].is_bare() && words[at].number == 8 && phrase_at(words, at + 1, "bit") > 0;
    if (!tied && !apart && words[at].text != "int8") continue;
    bool optimizer = false;
    for (std::size_t near = at > 2 ? at - 2 : 0; near < std::min(words.size(), at + 4); ++near)
      optimizer = optimizer || std::find(std::begin(optimizers), std::end(optimizers), words[near].text) !=
                                   std::end(optimizers);
    (optimizer ? found.optimizer : found.base) = true;
  }
  return found;
}

struct Words {
  std::string_view phrase;
  std::string_view pointer;
  json::Json value;
};

// Settings that their own name says.
const std::vector<Words>& switches() {
  static const std::vector<Words> rows = {
      {"gradient checkpointing", "/training/gradient_checkpointing", true},
      {"activation checkpointing", "/training/gradient_checkpointing", true},
      {"packing", "/training/packing", true},
      {"unsloth", "/stack", "unsloth"},
      {"liger", "/training/use_liger_kernel", true},
      {"flash attention", "/model_args/attn_implementation", "flash_attention_2"},
      {"flash attn", "/model_args/attn_implementation", "flash_attention_2"},
      {"flash attention 2", "/model_args/attn_implementation", "flash_attention_2"},
  };
  return rows;
}

void read_switches(const SaidWords& words, SaidRequest& out) {
  for (const auto& [phrase, pointer, value] : switches()) {
    if (!says(words, phrase)) continue;
    if (affirms(words, phrase)) {
      out.values[std::string(pointer)] = value;
    } else if (value == json::Json(true)) {
      out.values[std::string(pointer)] = false;
    }
  }
}

// "bf16 on a T4". Of a log or a file these words are about anything.
void read_precision(const SaidWords& words, SaidRequest& out) {
  constexpr std::size_t most_words = 60;
  if (words.size() > most_words) return;
  const bool bf16 = affirms(words, "bf16") || affirms(words, "bfloat16");
  const bool fp16 = affirms(words, "fp16") || affirms(words, "float16");
  if (bf16 != fp16) out.values[bf16 ? "/training/bf16" : "/training/fp16"] = true;
}

// The optimizers of bitsandbytes by their bits and pages, and those with a name of their own.
void read_optimizer(const SaidWords& words, SaidRequest& out) {
  constexpr const char* optim = "/training/optim";
  for (const std::string_view name : {"adafactor", "sgd", "lomo", "adalomo"}) {
    if (affirms(words, name)) out.values[optim] = std::string(name);
  }
  const bool paged = says(words, "paged");
  const bool lion = says(words, "lion");
  const bool adam = says(words, "adamw") || says(words, "adam") || (paged && says(words, "optimizer"));
  if (!adam && !lion) return;
  const std::string name = lion ? "lion" : "adamw";
  if (eight_bits(words).optimizer) {
    out.values[optim] = (paged ? "paged_" : "") + name + "_8bit";
  } else if (paged) {
    out.values[optim] = "paged_" + name + "_32bit";
  }
}

enum class Method { none, lora, qlora, full };

// "full fine-tuning", "fully finetune", "full-parameter SFT", "FFT", "全参数微调".
bool is_full(const SaidWords& words, std::size_t at) {
  const std::string_view word = words[at].text;
  if (word == "fft" || phrase_at(words, at, "全量") > 0 || phrase_at(words, at, "全参") > 0) return true;
  if (word != "full" && word != "fully" && word != "volles" && word != "vollst\xC3\xA4ndig") return false;
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
    if (word == "qlora" && affirms(here, word)) add(Method::qlora);
    if ((word == "lora" || word == "loras") && affirms(here, word)) add(Method::lora);
    if (is_full(words, at)) add(Method::full);
  }
  return found;
}

void read_method(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out) {
  std::vector<Method> ways = methods_in(words);
  if (ways.empty() && diagnosis::read_prose(text.folded_lines).says(diagnosis::Say::full) != nullptr)
    ways.push_back(Method::full);
  // Whoever pastes a traceback alone has said it in its frames.
  if (ways.empty() && diagnosis::mentions(text, {"peft/peft_model.py", "peft/tuners/"}))
    ways.push_back(Method::lora);
  const bool four = affirms(words, "4bit") || affirms(words, "4 bit") || affirms(words, "nf4") ||
                    diagnosis::mentions(text, {"matmul_4bit", "linear4bit"});
  const bool eight = eight_bits(words).base;
  if (!ways.empty() && ways.front() == Method::lora && four) ways.front() = Method::qlora;
  out.method = !ways.empty();
  const Method first = ways.empty() ? Method::none : ways.front();
  if (first == Method::qlora || (first == Method::none && four))
    out.values["/quantization/load_in_4bit"] = true;
  if (first != Method::qlora && first != Method::full && eight)
    out.values["/quantization/load_in_8bit"] = true;
  if (first == Method::qlora || first == Method::lora) out.values["/peft"] = true;
  for (const Method way : ways)
    out.methods.push_back(way == Method::qlora ? "QLoRA" : way == Method::lora ? "LoRA" : "Full fine-tuning");
}

// A traceback alone says the task in the frame of its trainer, and with it the library.
void read_trainer(const diagnosis::Text& text, SaidRequest& out) {
  constexpr std::pair<std::string_view, const char*> trainers[] = {
      {"dpo_trainer.py", "dpo"},   {"grpo_trainer.py", "grpo"},     {"orpo_trainer.py", "orpo"},
      {"kto_trainer.py", "kto"},   {"cpo_trainer.py", "cpo"},       {"ppo_trainer.py", "ppo"},
      {"rloo_trainer.py", "rloo"}, {"reward_trainer.py", "reward"},
  };
  if (out.values.count("/task") != 0 || out.weighed.count("/task") != 0) return;
  for (const auto& [file, task] : trainers) {
    for (const char* folder : {"/", "\\"}) {
      const std::string frame = std::string("trl") + folder + "trainer" + folder + std::string(file);
      if (diagnosis::mentions(text, {frame})) out.values["/task"] = task;
    }
  }
}

// The task, where the text is about one; two are weighed against each other.
void read_task(const SaidWords& words, SaidRequest& out) {
  constexpr std::string_view known[] = {"grpo", "dpo", "orpo", "kto", "ppo", "sft"};
  std::vector<json::Json> tasks;
  for (const SaidWord& word : words) {
    const bool named = std::find(std::begin(known), std::end(known), word.text) != std::end(known);
    const json::Json task = std::string(word.text);
    if (named && std::find(tasks.begin(), tasks.end(), task) == tasks.end()) tasks.push_back(task);
  }
  // "SFT" alone is what fine-tuning is; beside another task it is the one that this is compared with.
  for (const json::Json& task : tasks) {
    if (task != json::Json("sft")) out.values.emplace("/task", task);
  }
  if (tasks.size() > 1) out.weighed["/task"] = tasks;
  if (out.values.count("/task") != 0 && says(words, "vllm")) out.values["/rl/use_vllm"] = true;
}

// One way of sharing, in words or in the frames of a traceback; where two are weighed, none is said.
void read_strategy(const SaidWords& words, SaidRequest& out) {
  std::vector<std::string> found;
  const auto say = [&](std::string_view phrase, const std::string& strategy) {
    if (affirms(words, phrase) && std::find(found.begin(), found.end(), strategy) == found.end())
      found.push_back(strategy);
  };
  for (const std::string stage : {"1", "2", "3"}) {
    for (const std::string& name : {"zero" + stage, "zero " + stage, "stage" + stage, "stage " + stage})
      say(name, "zero" + stage);
  }
  say("fsdp", "fsdp");
  say("fsdp2", "fsdp");
  say("ddp", "ddp");
  if (found.size() == 1) out.values["/parallel/strategy"] = found.front();
}

// "Images of 1024x768, 3 per sample."
void count_images(const SaidWords& words, SaidRequest& out) {
  constexpr double most = 64;
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    const bool counts = words[at].is_bare() && words[at].number >= 1 && words[at].number <= most;
    const bool each = phrase_at(words, at + 1, "per sample") > 0 ||
                      phrase_at(words, at + 1, "per example") > 0 || phrase_at(words, at + 1, "each") > 0 ||
                      phrase_at(words, at + 1, "pro beispiel") > 0;
    if (counts && each) out.values["/vision/images_per_sample"] = json::count_of(words[at].number);
  }
}

// "1280x720": a size of images, where images are spoken of.
void read_images(const SaidWords& words, SaidRequest& out) {
  const bool images = std::any_of(words.begin(), words.end(), [](const SaidWord& word) {
    return word.text.substr(0, 5) == "image" || word.text.substr(0, 5) == "photo" ||
           word.text == "resolution" || word.text.substr(0, 5) == "pixel";
  });
  if (images) count_images(words, out);
  for (const SaidWord& word : words) {
    if (!images || !word.is_number() || word.unit.size() < 3 || word.unit.front() != 'x') continue;
    const SaidWords behind = split(word.unit.substr(1));
    if (behind.size() != 1 || !behind.front().is_bare() || word.number < 28 || behind.front().number < 28)
      continue;
    out.values["/vision/image_size"] = json::count_of(word.number);
    out.values["/vision/image_height"] = json::count_of(behind.front().number);
    return;
  }
}

// A number that is said once is the run's; of several, "dies with batch 4, runs with batch 2", none is.
void read_numbers(const SaidWords& words, SaidRequest& out) {
  std::map<std::string, std::vector<json::Json>> said;
  std::vector<json::Json> named;
  for (const SaidNumber& found : numbers_in(words)) {
    std::vector<json::Json>& values = said[std::string(found.pointer)];
    const json::Json value = json::count_of(found.value);
    named.push_back(value);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  // "Works at 2048, dies at 4096": two round numbers of nothing else are lengths.
  std::vector<json::Json>& lengths = said["/training/max_length"];
  if (lengths.empty()) {
    for (const SaidWord& word : words) {
      const auto count = json::count_of(word.number);
      const bool round = word.is_bare() && count >= 512 && count <= (1U << 20U) && count % 512 == 0;
      const auto is_in = [count](const std::vector<json::Json>& values) {
        return std::find(values.begin(), values.end(), json::Json(count)) != values.end();
      };
      if (round && !is_in(lengths) && !is_in(named)) lengths.push_back(count);
    }
    if (lengths.size() != 2) said.erase("/training/max_length");
  }
  for (auto& [pointer, values] : said) {
    if (pointer == "/parallel/num_gpus") continue;  // see read_cards
    if (pointer.substr(0, 5) == "/peft" && out.values.count("/peft") == 0) continue;
    if (pointer.substr(0, 3) == "/rl" && out.values.count("/task") == 0) continue;
    if (values.size() == 1) {
      out.values[pointer] = values.front();
    } else {
      out.weighed[pointer] = std::move(values);
    }
  }
}

// "a 13B", where no model is named: its size in billions.
double parameters_in(const SaidWords& words) {
  for (const SaidWord& word : words) {
    if (word.is_number() && word.unit == "b" && word.number >= 0.1 && word.number <= 1000) return word.number;
  }
  return 0;
}

// Of the models that are called so large, the one whose shapes most others have.
const run::ModelEntry* usual_model(double billions, const run::Catalog& catalog) {
  const run::ModelEntry* found = nullptr;
  if (billions == 0) return found;
  for (const run::ModelEntry& entry : catalog.models) {
    const double size = static_cast<double>(entry.preset.parameters) / 1e9;
    const bool alike =
        entry.network.kind == model::NetworkKind::decoder && std::abs(size / billions - 1) < 0.09;
    if (alike && (found == nullptr || entry.preset.same_shapes.size() > found->preset.same_shapes.size()))
      found = &entry;
  }
  return found;
}

// "The biggest model that fits", "which models can I train".
bool asks_for_a_model(const SaidWords& words) {
  const bool most = says(words, "biggest") || says(words, "largest") || says(words, "max");
  if (most && (says(words, "model") || says(words, "llm"))) return true;
  constexpr std::string_view asked[] = {"which", "what", "welche", "welches", "welchem"};
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    const std::string_view what = words[at + 1].text;
    const bool model = what.substr(0, 5) == "model" || what.substr(0, 3) == "llm";
    if (model && std::find(std::begin(asked), std::end(asked), words[at].text) != std::end(asked))
      return true;
  }
  return false;
}

void name_the_unknown(const run::Catalog& catalog, SaidRequest& out) {
  const auto miss = [&](const char* pointer, const char* what) {
    if (out.values.count(pointer) == 0) out.unknown.push_back({pointer, what});
  };
  if (out.model.empty()) out.unknown.push_back({"/model", "which model"});
  if (!out.method) out.unknown.push_back({"/peft", "whether adapters or all weights are trained"});
  if (out.cards.size() < 2) miss("/hardware/gpu", "the card (and of an A100 or V100 its size)");
  if (out.cards.size() < 2) miss("/parallel/num_gpus", "how many cards");
  miss("/training/max_length", "the length of a sample in tokens");
  miss("/training/per_device_train_batch_size", "the micro-batch");
  const run::ModelEntry* entry = out.model.empty() ? nullptr : catalog.find_model(out.model);
  if (entry == nullptr || entry->network.image.rule == model::ImageTokens::Rule::none) {
    out.values.erase("/vision/images_per_sample");  // of a text model they are its data's
    return;
  }
  miss("/vision/images_per_sample", "how many images a sample has");
  if (entry->network.image.size_matters()) miss("/vision/image_size", "the size of its images in pixels");
}

}  // namespace

bool asks(std::string_view folded) {
  for (const std::string_view mark : {"?", "？", "吗", "how much", "will it fit", "is it possible"}) {
    for (std::size_t at = folded.find(mark); at != std::string_view::npos;
         at = folded.find(mark, at + mark.size())) {
      const std::string_view said = diagnosis::sentence_around(folded, at, mark.size(), 160);
      const auto blanks = std::count(said.begin(), said.end(), ' ');
      const bool chinese = static_cast<unsigned char>(mark.front()) > 127;
      // "r=16" may stand in a question; a line of code is short.
      const bool code = says_any(said, {"://", "#", "{"}) || (says_any(said, {"="}) && blanks < 6);
      if (!code && (chinese || blanks >= 2)) return true;
    }
  }
  return false;
}

bool has_subject(const SaidRequest& said) {
  return !said.model.empty() || !said.like.empty() || (said.any_model && !said.cards.empty());
}

bool states_a_run(const SaidRequest& said) {
  return !said.model.empty() && said.method && (!said.cards.empty() || said.card_bytes > 0);
}

bool tells(const SaidRequest& said, std::string_view text) {
  constexpr std::size_t longest_line = 300;
  const bool line =
      text.size() <= longest_line && text.find_first_of("\n{=") >= text.find_last_not_of(" \n\r");
  const bool how = said.method || said.values.count("/task") != 0;
  return line && has_subject(said) && (how || !said.cards.empty() || said.card_bytes > 0);
}

json::Json SaidRequest::request() const {
  json::Json out = exchange::nest(values);
  if (!model.empty()) out["model"] = model;
  // All weights: left out, nobody has said it.
  if (method && !out.contains("peft")) out["peft"] = nullptr;
  return out;
}

SaidRequest said_request(const diagnosis::Text& text, const run::Catalog& catalog) {
  SaidRequest out;
  const SaidWords words = split(std::string_view(text.folded_lines).substr(0, longest_said));
  out.model = model_in(text.lines, catalog);
  if (out.model.empty()) {
    out.billions = parameters_in(words);
    if (const run::ModelEntry* like = usual_model(out.billions, catalog)) out.like = like->preset.hf_id;
    out.any_model = out.like.empty() && asks_for_a_model(words);
  }
  read_cards(text, catalog, out);
  read_method(text, words, out);
  read_task(words, out);
  read_trainer(text, out);
  read_strategy(words, out);
  read_switches(words, out);
  out.model_parallel = diagnosis::divides_the_model(text);
  if (out.values.count("/stack") != 0) {
    if (std::string release = exchange::unsloth_release(text.lines); !release.empty())
      out.values["/versions/unsloth"] = std::move(release);
  }
  read_precision(words, out);
  read_optimizer(words, out);
  read_images(words, out);
  read_numbers(words, out);
  name_the_unknown(catalog, out);
  return out;
}

}  // namespace plimsoll::question
