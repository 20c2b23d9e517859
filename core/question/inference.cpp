#include "core/question/inference.h"

#include <algorithm>

#include "core/diagnosis/signs.h"
#include "core/memory/step/step.h"
#include "core/question/said_languages.h"
#include "core/run/run.h"

namespace plimsoll::question {

namespace {

using diagnosis::size_text;

// Adapters whose own weights are nothing beside the base: what is quantised without any is no run.
const json::Json smallest_adapters = {{"r", 1}, {"target_modules", "all-linear"}};

struct Held {
  const char* called;
  json::Json quantization;
};
const Held held_in[] = {
    {"in bfloat16", nullptr},
    {"in 8 bits", {{"load_in_8bit", true}}},
    {"in 4 bits",
     {{"load_in_4bit", true}, {"bnb_4bit_quant_type", "nf4"}, {"prepare_for_kbit_training", false}}}};

constexpr uint64_t usual_length = 4096;

std::optional<run::Run> loaded(const SaidRequest& said, const Held& held, const run::Catalog& catalog) {
  SaidRequest named;
  named.model = said.model.empty() ? said.like : said.model;
  named.config = said.config;
  json::Json request = named.request();
  request["model_args"] = {{"dtype", "bfloat16"}};
  request["training"] = {{"per_device_train_batch_size", 1}, {"bf16", true}, {"max_length", usual_length}};
  if (const auto length = said.values.find("/training/max_length"); length != said.values.end())
    request["training"]["max_length"] = length->second;
  if (!held.quantization.is_null()) {
    request["quantization"] = held.quantization;
    request["peft"] = smallest_adapters;
  }
  json::Errors ignored;
  return run::read_quick_run(json::write(request), catalog, ignored);
}

memory::Parameters parameters_of(const run::Run& run) {
  return memory::parameters_of(run.network, run.resolved.recipe, run.machine);
}

std::string cache_words(const run::Run& run) {
  const memory::Parameters parameters = parameters_of(run);
  const recipe::Recipe& r = run.resolved.recipe;
  const double bytes = memory::cache_bytes(memory::make_plan(run.network, r, run.machine, parameters), 1);
  if (bytes <= 0) return "";
  return " Keys and values of one sequence of " + std::to_string(r.training.max_length) +
         " tokens take another " + size_text(bytes) + ".";
}

// "vLLM needs 70 GB" says no size that a card has.
bool is_a_cards(double bytes, const run::Catalog& catalog) {
  return std::any_of(catalog.tiers.begin(), catalog.tiers.end(), [bytes](const hardware::Tier& tier) {
    return static_cast<double>(tier.gib) * 1024 * 1024 * 1024 == bytes;
  });
}

double bytes_of_the_cards(const SaidRequest& said, const run::Catalog& catalog) {
  if (said.cards.size() > 1) return 0;
  const auto count = said.values.find("/parallel/num_gpus");
  const double cards = count == said.values.end() ? 1 : count->second.get<double>();
  const bool named = said.cards.size() == 1;
  if (!named && !is_a_cards(said.card_bytes, catalog)) return 0;
  return cards * (named ? static_cast<double>(said.cards.front().gpu->usable_bytes) : said.card_bytes);
}

bool sets_a_step(const SaidRequest& said) {
  return std::any_of(said.values.begin(), said.values.end(), [](const auto& value) {
    const std::string& pointer = value.first;
    const bool of_any =
        pointer == "/training/max_length" || pointer == "/training/bf16" || pointer == "/training/fp16";
    return pointer.starts_with("/peft") || pointer == "/parallel/strategy" ||
           (pointer.starts_with("/training/") && !of_any);
  });
}

}  // namespace

bool asks_of_inference(const SaidWords& words, const SaidRequest& said) {
  const bool trains = said.method || said.values.count("/task") + said.weighed.count("/task") != 0 ||
                      said.values.count("/stack") != 0 || affirms(words, Means::trains);
  if (!is_brief(words) || trains) return false;
  // Who asks whether a model can be run, and sets nothing of a step, wants no training.
  return affirms(words, Means::inference) || (affirms(words, Means::runs) && !sets_a_step(said));
}

std::string inference_words(const SaidRequest& said, const run::Catalog& catalog) {
  std::string out =
      "This is about inference: Plimsoll knows what training takes, and gives no verdict on it.";
  const double cards = bytes_of_the_cards(said, catalog);
  std::string weights, fits;
  std::optional<run::Run> plain;
  for (const Held& held : held_in) {
    std::optional<run::Run> run = loaded(said, held, catalog);
    if (!run) continue;
    const double bytes = parameters_of(*run).loaded_bytes;
    weights += (weights.empty() ? "" : ", ") + size_text(bytes) + " " + held.called;
    if (cards > 0)
      fits += (fits.empty() ? " " : ", ") + std::string(held.called) + (bytes < cards ? " yes" : " no");
    if (!plain) plain = std::move(run);
  }
  if (plain) {
    const std::string model =
        said.model.empty() ? said.like + ", which is taken for one of that size," : said.model;
    out += " The weights of " + model + " alone take " + weights + "." + cache_words(*plain);
    if (cards > 0) out += " Whether the weights alone go into " + size_text(cards) + ":" + fits + ".";
  }
  return out +
         " A server as vLLM reserves a share of the card at its start, nine tenths unless gpu_memory_utilization says "
         "otherwise: what it holds is no measure of what the model needs. For a training run say how it is trained: QLoRA, "
         "LoRA or full fine-tuning.";
}

}  // namespace plimsoll::question
