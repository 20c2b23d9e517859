#include "core/diagnosis/facts.h"

#include <algorithm>

#include "core/diagnosis/cards_said.h"
#include "core/diagnosis/facts_said.h"
#include "core/diagnosis/questions.h"
#include "core/diagnosis/sentence.h"
#include "core/diagnosis/signs.h"
#include "core/memory/sharding/sharding.h"
#include "core/recipe/strategies.h"

namespace plimsoll::diagnosis {

namespace {

// Values of a request, or nothing where it does not say.
std::string text_at(const recipe::Values& values, const char* pointer) {
  const auto found = values.find(pointer);
  json::Errors ignored;
  return found == values.end() ? std::string() : json::read_text(found->second, "", ignored).value_or("");
}
std::optional<double> number_at(const recipe::Values& values, const char* pointer) {
  const auto found = values.find(pointer);
  json::Errors ignored;
  if (found == values.end()) return std::nullopt;
  return json::read_number(found->second, "", {}, ignored);
}
std::optional<bool> flag_at(const recipe::Values& values, const char* pointer) {
  const auto found = values.find(pointer);
  json::Errors ignored;
  if (found == values.end()) return std::nullopt;
  return json::read_flag(found->second, "", ignored);
}
bool has_section(const recipe::Values& values, std::string_view section) {
  return std::any_of(values.begin(), values.end(),
                     [&](const auto& entry) { return entry.first.compare(0, section.size(), section) == 0; });
}

// Of the request, and where it is silent what the text says of the run. A base is quantised as one of them says, and
// not as both.
recipe::Values values_said(const Situation& s) {
  recipe::Values out = s.values;
  const bool quantized = has_section(s.values, "/quantization");
  for (const auto& [pointer, value] : s.said) {
    if (!quantized || !pointer.starts_with("/quantization")) out.emplace(pointer, value);
  }
  return out;
}

void read_method(const Situation& s, Facts& f) {
  if (has_section(s.values, "/peft")) {
    f.method = Method::adapters;
  } else if (s.recipe != nullptr) {
    f.method = Method::full;
    f.method_assumed = !has_section(s.values, "/training");
  }
  if (const auto adapters = flag_at(s.said, "/peft")) {
    if (*adapters || f.method != Method::adapters) f.method = *adapters ? Method::adapters : Method::full;
    f.method_assumed = false;
  }
}

void read_request(const Situation& s, Facts& f) {
  const recipe::Values v = values_said(s);
  f.model = s.model;
  f.task = text_at(v, "/task");
  f.strategy = text_at(v, "/parallel/strategy");
  f.attention = text_at(v, "/model_args/attn_implementation");
  f.gpus = number_at(v, "/parallel/num_gpus");
  f.gpus_in_words = f.gpus && s.values.count("/parallel/num_gpus") == 0;
  f.batch = number_at(v, "/training/per_device_train_batch_size");
  f.length = number_at(v, "/training/max_length");
  f.rank = number_at(v, "/peft/r");
  f.vllm_share = number_at(v, "/rl/vllm_gpu_memory_utilization");
  f.checkpointing = flag_at(v, "/training/gradient_checkpointing");
  f.packing = flag_at(v, "/training/packing");
  f.dora = flag_at(v, "/peft/use_dora").value_or(false);
  f.saves_modules = has_section(v, "/peft/modules_to_save");
  f.fp32 = text_at(v, "/model_args/dtype") == "float32";
  if (flag_at(v, "/quantization/load_in_8bit").value_or(false)) f.quantization = "8bit";
  // Four bits outweigh: bitsandbytes' settings of either are called llm_int8_...
  if (flag_at(v, "/quantization/load_in_4bit").value_or(false)) f.quantization = "4bit";
  if (!text_at(v, "/quantization/quant_method").empty()) f.quantization = "4bit";
  read_method(s, f);
}

void read_method_words(const Text& text, const Prose& prose, Facts& f) {
  // A request that says nothing of adapters is full fine-tuning by default alone.
  if (const Method said = method_said(text); f.method == Method::full && said != Method::unknown)
    f.method = said;
  if (prose.says(Say::full)) f.method_assumed = false;
  if (f.method == Method::unknown) {
    f.method = method_said(text);
    if (f.method == Method::unknown && prose.says(Say::inference)) f.method = Method::inference;
    if (prose.says(Say::full)) f.method = Method::full;
    if (f.method != Method::full && prose.says(Say::adapters)) f.method = Method::adapters;
  }
}

void read_split_words(const Text& text, const Situation& s, Facts& f) {
  // Some stage of ZeRO divides something; which one is not said.
  if (f.strategy.empty() && mentions(text, {"deepspeed"})) f.strategy = "deepspeed";
  // A process for each card, and nothing that divides: each has a copy.
  if (f.strategy.empty() &&
      mentions(text, {"torchrun", "torch.distributed.launch", "torch.distributed.run"}) &&
      !mentions(text, {"fsdp", "shard", "zero", "megatron", "parallel"}))
    f.strategy = "ddp";
  if (!f.gpus) {
    f.gpus = cards_in_words(text, s.gpus);
    f.gpus_in_words = f.gpus.has_value();
  }
}

void read_full_words(const Text& text, bool spoken, Facts& f) {
  // Whoever fine-tunes a model and names neither an adapter nor a quantised base trains it whole; preferences
  // and rollouts are mostly trained with adapters.
  const bool plain = f.task.empty() || !spoken;
  if (plain && f.method == Method::unknown && f.quantization.empty() && (!f.model.empty() || spoken) &&
      mentions(text, {"fine-tun", "finetun", "fine tun", "sft", "微调", "to pretrain", " pretrain ",
                      "pre-train "}) &&
      !mentions(text, {"adapter", "unsloth"})) {
    f.method = Method::full;
    f.method_assumed =
        !denies_adapters(text.folded_lines) && !mentions(text, {"to pretrain", " pretrain ", "pre-train "});
  }
  if (f.length && *f.length < 16) f.length.reset();
  f.layered = mentions(text, {"device_map"}) && mentions(text, {"auto", "balanced"}) &&
              !mentions(text, {"torchrun", " launch", "deepspeed"});
  f.model_parallel = divides_the_model(text);
}

void read_module_words(const Text& text, const Prose& prose, Facts& f) {
  f.pure_16bit = mentions(text, {"torchtune", "pure_bf16", "bf16-true", "full_bf16"});
  f.offload = mentions(text, {"offload"}) && !mentions(text, {"no offload", "without offload"});
  for (const Sentence& one : prose.sentences) {
    const std::string_view said = std::string_view(text.folded_lines).substr(one.at, one.size);
    f.whole_on_each =
        f.whole_on_each || (one.says(Say::no_effect) && says_any(said, {"fsdp", "zero", "deepspeed"}));
  }
  if (!f.saves_modules)
    f.saves_modules = names_modules(text.folded_lines) || mentions(text, {"additional_target"});
  // Adapters alone are some 0.1 to 5 % of a model; a share between that and all of it holds embeddings.
  const double percent = trained_percent(text.folded_lines);
  if (percent > 8 && percent < 70) f.saves_modules = true;
}

void read_image_words(const Text& text, Facts& f) {
  f.sees = mentions(
      text, {"qwen2-vl", "qwen2_vl",   "qwen2.5-vl",   "qwen2_5_vl", "qwen2_5vl", "qwen2vl",    "qwen3-vl",
             "qwen3_vl", "qwen-vl",    "qwen vl",      "internvl",   "llava",     "minicpm-v",  "glm-4v",
             "glm4v",    "max_pixels", "vision_tower", "b-vl",       "多模态",    "图像的token"});
  f.sees = f.sees || names_a_vl_model(text.folded_lines);
  // clip-vit-large-patch14-336 makes 576 tokens of any image; later ones cut it into tiles.
  f.fixed_images =
      mentions(text, {"llava-v1.5", "llava v1.5", "llava 1.5", "llava-1.5", "llava1.5", "minigpt",
                      "instructblip", "blip-2", "blip2", "clip-vit-large-patch14"}) &&
      !mentions(text, {"anyres", "onevision", "llava-next", "1.6", "video", "multiple image", "multi-image"});
}

void read_type_words(const Text& text, const Prose& prose, Facts& f) {
  f.untyped = loads_untyped(text.folded_lines);
  if (f.untyped && f.method == Method::unknown && mentions(text, {".eval()", ".generate(", ".chat("}) &&
      !mentions(text, {"trainer", ".backward("}))
    f.method = Method::inference;
  if (!f.fp32)
    f.fp32 = mentions(text, {"precision: fp32", "float32", "fp32 load", "torch_dtype: none"}) ||
             prose.says(Say::fp32) != nullptr;
  const bool eager = mentions(text, {"eager"}) && !mentions(text, {"enforce_eager", "enforce-eager"});
  if (f.attention.empty() && (eager || prose.says(Say::no_flash) != nullptr)) f.attention = "eager";
}

// What the person answered when asked what is trained.
void read_answered_method(std::string_view answers, Facts& f) {
  for (const Answer& answer : read_answers(answers)) {
    if (answer.question->id != "method") continue;
    f.method = answer.choice->id == "full" ? Method::full : Method::adapters;
    f.method_assumed = false;
  }
}

// What people write around an error when they have no configuration at hand.
void read_words(const Situation& s, const TextReading& r, bool spoken, Facts& f) {
  const Text& text = r.text;
  const Prose& prose = r.prose;
  read_method_words(text, prose, f);
  read_split_words(text, s, f);
  read_full_words(text, spoken, f);
  read_module_words(text, prose, f);
  read_image_words(text, f);
  read_type_words(text, prose, f);
}

// Into how many parts a strategy cuts what a card would hold alone (core/recipe/strategies.h).
struct Parts {
  double weights = 1, gradients = 1, states = 1;
};
Parts parts_of(const recipe::Recipe& recipe) {
  const recipe::Strategy strategy = recipe::strategy_of(recipe);
  const double cards = std::max<double>(1, static_cast<double>(recipe.parallel.num_gpus));
  return {recipe::shards_parameters(strategy) ? cards : 1, recipe::shards_gradients(strategy) ? cards : 1,
          recipe::shards_states(strategy) ? cards : 1};
}

// What one card of the replayed run holds when the pass is over. It is a part already where a strategy divides.
struct Held {
  double weights = 0, gradients = 0, states = 0;
  Parts parts;

  bool divided() const { return parts.states > 1; }
  double share() const { return weights + gradients + states; }
  double grown() const { return gradients * parts.gradients + states * parts.states; }
};
Held held_by_replay(const Situation& s) {
  using memory::Component;
  const memory::Snapshot& step = s.replay->instants.back().live;
  Held held{step[Component::weights], step[Component::gradients] + step[Component::adapters],
            step[Component::optimizer], parts_of(*s.recipe)};
  return held;
}

// Each card's part of what one would hold.
double share_of(const Facts& f, double weights, double grown) {
  const double n = f.gpus.value_or(1);
  double share = f.whole;
  if (n <= 1 || f.whole_on_each) return share;
  if (f.sharded() && f.quantization.empty()) share = (f.offload ? weights : f.whole) / n;
  if (f.strategy == "deepspeed" || f.sharing_unsaid || f.layered || f.model_parallel)
    share = f.whole / n;  // the least it can be
  if (f.strategy == "zero2") share = weights + (f.offload ? 0 : grown) / n;
  if (f.strategy == "zero1") share = weights + grown / n;
  return share;
}

// Rules of thumb, in bytes a parameter: 16-bit weights and gradients, fp32 master copy and two states.
void weigh(const Situation& s, Facts& f) {
  f.parameters = s.network != nullptr ? static_cast<double>(model::parameter_count(*s.network))
                                      : std::max(f.parameters, parameters_in_name(f.model));
  if (s.network != nullptr) {
    f.can_see = s.network->kind == model::NetworkKind::vlm;
    for (const model::Stack& stack : s.network->stacks) {
      for (const model::LayerGroup& group : stack.groups) f.mixture = f.mixture || group.experts > 0;
    }
  }
  if (f.parameters == 0) return;
  f.weights16 = 2 * f.parameters;
  double weights = (f.fp32 ? 4 : 2) * f.parameters;
  if (f.quantization == "8bit") weights = 1.08 * f.parameters;
  if (f.quantization == "4bit") weights = 0.58 * f.parameters;
  double grown = f.method == Method::full ? 14 * f.parameters : 0;  // gradients and states
  // The request's method is another one than the text shows: its replay is of another run.
  const bool same =
      (f.method == Method::adapters) == has_section(s.values, "/peft") && f.method != Method::inference;
  const bool replayed = s.replay != nullptr && s.recipe != nullptr && same;
  const Held card = replayed ? held_by_replay(s) : Held();
  if (replayed) {
    weights = card.weights * card.parts.weights;
    grown = card.grown();
  }
  f.whole = weights + grown;
  // fp32 weights, gradients and states: what Trainer holds where no dtype is passed (TrainingArguments.bf16
  // alone leaves them so).
  const bool typed = f.pure_16bit || s.values.count("/model_args/dtype") != 0;
  if (f.method != Method::unknown)
    f.at_most = f.method == Method::full && !typed ? std::max(f.whole, 16 * f.parameters) : f.whole;
  f.fits_in_16bit = (f.method == Method::inference || (f.fp32 && f.method != Method::full)) &&
                    f.quantization.empty() && f.weights16 < 0.65 * f.capacity &&
                    2 * f.weights16 > most_at_rest * f.capacity;
  f.share = card.divided() && !f.whole_on_each ? card.share() : share_of(f, weights, grown);
}

}  // namespace

const recipe::Task& task_of(const Facts& facts) {
  const recipe::Task* task = recipe::find_task(facts.task);
  return task != nullptr ? *task : recipe::tasks().front();
}

void hold_in_fp32(Facts& f) {
  f.fp32 = true;
  if (f.parameters == 0 || f.whole == 0) return;
  const double part = f.share / f.whole;
  f.whole = f.at_most = 16 * f.parameters;
  f.share = part * f.whole;
}

Facts read_facts(const Situation& situation, const TextReading& reading, const Numbers& numbers) {
  const Text& text = reading.text;
  Facts facts;
  read_request(situation, facts);
  const std::size_t opening = 600;  // what a report is about stands at its beginning
  const std::string_view head = std::string_view(text.folded_lines).substr(0, opening);
  const bool no_figures = !numbers.tried && !numbers.capacity;
  const bool unnamed = situation.model.empty();
  const bool spoken = no_figures && unnamed;
  read_words(situation, reading, unnamed && parameters_in_name(head) > 0, facts);
  facts.images_alone = reading.frames.shows("pictures") && !facts.sees;
  read_answered_method(situation.answers, facts);
  find_card(situation, numbers, reading.table, facts);
  double largest = 0;
  if (no_figures && facts.capacity == 0) largest = find_spoken_card(situation, head, facts);
  if (spoken && facts.capacity == 0 && largest == 0) facts.capacity = 0.985 * spoken_size(head);
  if (unnamed && situation.network == nullptr) facts.parameters = parameters_in_name(head);
  // Who trains all of a model and says nothing of sharding has 16 bytes a parameter on each card.
  facts.sharing_unsaid = facts.gpus_in_words && facts.several() && facts.strategy.empty() &&
                         (facts.method != Method::full || facts.method_assumed);
  weigh(situation, facts);
  const double least = facts.sharing_unsaid ? facts.whole : facts.share;
  if (facts.capacity == 0 && least > most_at_rest * largest) facts.capacity = largest;
  return facts;
}

}  // namespace plimsoll::diagnosis
