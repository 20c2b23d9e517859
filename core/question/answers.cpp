#include "core/question/answers.h"

#include <algorithm>

#include "core/diagnosis/signs.h"
#include "core/json/ascii.h"
#include "core/json/rounding.h"
#include "core/memory/layers/images.h"
#include "core/memory/parameters/parameters.h"
#include "core/memory/sharding/sharding.h"
#include "core/question/card_counts.h"
#include "core/question/least.h"
#include "core/question/open_ways.h"
#include "core/question/peak_parts.h"
#include "core/question/said_asked.h"
#include "core/run/card_sizes.h"
#include "core/run/last_that.h"
#include "core/run/limits.h"
#include "core/run/machines.h"
#include "core/run/notes.h"
#include "core/run/run.h"
#include "core/run/unsaid.h"
#include "core/run/usual.h"
#include "core/time/cost.h"

namespace plimsoll::question {

namespace {

using diagnosis::size_text;

// "a 24GB card": what the smallest card of that size leaves; of a size that no card has, the least share that
// one leaves. What a Mac has is no card's.
double usable_of(const run::Run& run, const SaidRequest& said, const run::Catalog& catalog) {
  const double card_bytes = said.card_bytes;
  if (card_bytes <= 0 || said.unnamed_mac) return 0;
  double least = 1;
  for (const hardware::Tier& tier : catalog.tiers) {
    const double size = static_cast<double>(tier.gib) * 1024 * 1024 * 1024;
    if (size == card_bytes) return usable_for(run, tier.usable_bytes);
    least = std::min(least, static_cast<double>(tier.usable_bytes) / size);
  }
  return usable_for(run, static_cast<uint64_t>(least * card_bytes));
}

const hardware::Gpu* card_of_size(double card_bytes, const run::Catalog& catalog) {
  for (const hardware::Tier& tier : catalog.tiers) {
    if (static_cast<double>(tier.gib) * 1024 * 1024 * 1024 != card_bytes) continue;
    for (const std::string& id : tier.gpus) {
      const hardware::Gpu* gpu = catalog.find_gpu(id);
      if (gpu != nullptr && gpu->usable_bytes == tier.usable_bytes) return gpu;
    }
  }
  return nullptr;
}

// The smallest size of card that it fits, and cards of that size; "" none that is known.
std::string smallest_card(const run::Run& run, const memory::Sizes& sizes,
                          const std::vector<run::Unsaid>& other, const run::Catalog& catalog) {
  constexpr std::size_t most = 4;
  for (const hardware::Tier& tier : catalog.tiers) {
    const run::CardsOfSize there = cards_of(run, tier, catalog);
    if (!there.suited) continue;
    if (run::verdict_of(sizes, other, there.room) != memory::Verdict::fits) continue;
    std::string names;
    std::size_t count = 0;
    for (const std::string& id : there.gpus) {
      const hardware::Gpu* gpu = catalog.find_gpu(id);
      if (gpu == nullptr || gpu->segment == "laptop" || ++count > most) continue;
      // "A16 (4 GPUs on one board, 16GB each)", and "GB200" is a name.
      const std::string name = gpu->name.substr(0, gpu->name.find(" ("));
      const std::size_t unit = name.find("GB", 3);
      names += (names.empty() ? "" : ", ") +
               (unit == std::string::npos ? name : name.substr(0, name.rfind(' ', unit)));
    }
    return std::to_string(tier.gib) + "GB (" + names + (count > most ? " and others)" : ")");
  }
  return "";
}

// Of the whole run; 0 where nobody said how many samples there are, or how fast the card is.
double hours_of(const run::Run& run) {
  const double steps = time::length_of(run.resolved.recipe).steps;
  if (run.gpu == nullptr || run.given.values.count("/data/samples") == 0 || steps == 0) return 0;
  const time::StepTime step = step_of(run, *run.gpu);
  return step.known ? steps * step.seconds / 3600 : 0;
}

// A sample of an open length is at least as long as its images and a few words. The length that it takes, where that
// is more than the usual one; 0 otherwise.
uint64_t length_of_images(const run::Run& run) {
  constexpr uint64_t words = 256;
  const recipe::Recipe& r = run.resolved.recipe;
  const double images = memory::image_load(run.network, r).text_tokens;
  if (images + words <= static_cast<double>(r.training.max_length)) return 0;
  return (static_cast<uint64_t>(images) / words + 2) * words;
}

// `choices`: the method first.
std::optional<Way> price(const SaidRequest& said, const std::vector<Open>& choices,
                         const run::Catalog& catalog, json::Errors& errors) {
  SaidRequest whole = said;
  if (whole.model.empty()) whole.model = said.like;
  set_method(whole.values, *choices.front().method, catalog);
  Way way;
  for (const Open& choice : choices) {
    for (const auto& [pointer, value] : choice.values) whole.values[pointer] = value;
    way.name += choice.name;
  }
  way.request = whole.request();
  take_the_least(way, catalog);
  // Two tasks are compared as one library runs them, which loads both in one type.
  if (said.weighed.count("/task") != 0 && !way.request.contains("stack")) way.request["stack"] = "trl";
  json::Json priced = way.request;
  if (const hardware::Gpu* stand_in =
          said.shares_the_card() ? card_of_size(said.card_bytes, catalog) : nullptr)
    priced["hardware"]["gpu"] = stand_in->id;
  std::optional<run::Run> run = run::read_run(json::write(priced), catalog, errors);
  if (!run) return std::nullopt;
  if (const uint64_t length = said.leaves_open("/training/max_length") ? length_of_images(*run) : 0;
      length > 0) {
    way.taken.push_back({"/training/max_length", length, "not said; its images take so many"});
    way.request["training"]["max_length"] = priced["training"]["max_length"] = length;
    run = run::read_run(json::write(priced), catalog, errors);
    if (!run) return std::nullopt;
  }
  const memory::Sizes sizes = sizes_at_peak(*run);
  way.device = sizes.device;
  way.host = run->replay.host_bytes;
  if (said.asks_price && run->gpu != nullptr) way.usd_per_hour = price_of_chosen(*run, catalog);
  if (said.asks_time || said.asks_price) way.hours = hours_of(*run);
  way.live = run->replay.at_peak().live;
  way.parts = parts_of(way.live);
  way.length = run->resolved.recipe.training.max_length;
  way.batch = run->resolved.recipe.training.per_device_train_batch_size;
  const recipe::Recipe& r = run->resolved.recipe;
  const bool type_open =
      said.values.count("/model_args/dtype") + said.weighed.count("/model_args/dtype") == 0;
  way.wide = !r.quantized() && memory::parameter_size(r) == 4 && type_open;
  // FSDP and ZeRO hold what they train in fp32.
  const bool whole_copy = is_plain(strategy_of(r));
  way.narrow = !r.quantized() && memory::parameter_size(r) == 2 && type_open && whole_copy &&
               choices.front().method == Method::full;
  way.usable = run->gpu == nullptr     ? usable_of(*run, said, catalog)
               : !run->gpu->replayed() ? 0
                                       : usable_for(*run, run->gpu->usable_bytes);
  way.needed = way.usable > 0 ? way.usable - memory::headroom(sizes, way.usable) : sizes.needed;
  for (const model::Note& note : run::notes_of({run->network, r, run->replay}, run->gpu)) {
    if (note.code == "experts_not_quantised" || note.code == "nvme_as_host_memory")
      way.note = " " + note.message;
  }
  const std::vector<run::Unsaid> other = run::unsaid(*run, catalog);
  for (const run::Unsaid& one : other) way.unsaid += " " + one.words;
  if (run->gpu == nullptr && said.card_bytes == 0 && !said.unnamed_mac)
    way.smallest = smallest_card(*run, sizes, other, catalog);
  if (way.usable > 0) way.verdict = memory::word(run::verdict_of(sizes, other, way.usable));
  way.if_so = way.verdict == "tight" && memory::verdict(sizes, way.usable) == memory::Verdict::fits;
  return way;
}

// Of all that are known, the largest model that the same recipe trains on that card.
std::optional<Way> largest_model(const SaidRequest& said, const std::vector<Open>& choices,
                                 const run::Catalog& catalog, json::Errors& errors) {
  SaidRequest one = said;
  one.model = "Qwen/Qwen2.5-0.5B";
  const std::optional<Way> small = price(one, choices, catalog, errors);
  if (!small) return std::nullopt;
  json::Errors ignored;
  const std::optional<run::Run> run = run::read_run(json::write(small->request), catalog, ignored);
  const std::optional<run::Limits> limits = run ? limits_of(*run, catalog) : std::nullopt;
  if (!limits || !limits->model) return std::nullopt;
  one.model = limits->model->entry->preset.hf_id;
  std::optional<Way> way = price(one, choices, catalog, errors);
  if (way) way->name = one.model + ", " + way->name;
  return way;
}

// The largest micro-batch that fits, by doubling; 0: not even that of `way`.
uint64_t largest_batch(const Way& way, const run::Catalog& catalog) {
  constexpr uint64_t most = 256;
  uint64_t fits = 0;
  for (uint64_t batch = way.batch; batch <= most; batch *= 2) {
    json::Json request = way.request;
    request["training"]["per_device_train_batch_size"] = batch;
    json::Errors ignored;
    const std::optional<run::Run> run = run::read_run(json::write(request), catalog, ignored);
    if (!run) break;
    const memory::Sizes sizes = sizes_at_peak(*run);
    if (run::verdict_of(sizes, run::unsaid(*run, catalog), way.usable) != memory::Verdict::fits) break;
    fits = batch;
  }
  return fits;
}

// The longest samples that fit, at most what the model reads; "" where not even those of `way` do. Which
// release runs is told of beside it, so that the one that is taken has its limit named.
std::string longest(const Way& way, const run::Catalog& catalog) {
  constexpr uint64_t step = 256;
  json::Errors ignored;
  const auto run_of = [&](uint64_t length) {
    json::Json request = way.request;
    request["training"]["max_length"] = length;
    return run::read_run(json::write(request), catalog, ignored);
  };
  const auto fits = [&](uint64_t length, bool otherwise) {
    const std::optional<run::Run> run = run_of(length);
    if (!run) return false;
    const memory::Sizes sizes = sizes_at_peak(*run);
    const std::vector<run::Unsaid> other =
        otherwise ? run::unsaid(*run, catalog) : std::vector<run::Unsaid>();
    return run::verdict_of(sizes, other, way.usable) == memory::Verdict::fits;
  };
  const std::optional<run::Run> run = run_of(way.length);
  const uint64_t most = run ? std::max(run->network.max_position_embeddings, step) : 0;
  uint64_t low = way.length / step, high = low + 1;
  while (high * step <= most && fits(high * step, false)) {
    low = high;
    high *= 2;
  }
  low = run::last_that(low, std::max(low + 1, std::min(high, most / step + 1)),
                       [&](uint64_t steps) { return fits(steps * step, false); });
  if (low * step <= way.length) return "";
  return " Samples of up to " + std::to_string(low * step) + " tokens fit" +
         (fits(low * step, true) ? "." : ", unless what is not said is otherwise.");
}

std::string words_of(const Way& way) {
  std::string out = way.name + " needs " + size_text(way.needed);
  if (way.verdict.empty() && way.smallest.empty()) return out + ".";
  if (way.verdict.empty()) return out + ": the smallest card that it fits has " + way.smallest + ".";
  out += " of " + size_text(way.usable) + " on each card: it ";
  if (way.if_so) return out + "fits, unless what is not said is otherwise.";
  return out + (way.verdict == "fits" ? "fits." : way.verdict == "tight" ? "fits barely." : "does not fit.");
}

// Every run has some; of one that moves something there it is more than on a card.
std::string on_host(const Way& way) {
  return way.host <= way.device ? ""
                                : " That takes " + size_text(way.host) + " of the machine's RAM at least.";
}

// What is read of an Apple machine, and why no verdict names it.
std::string on_apple(const SaidRequest& said) {
  std::string name = said.unnamed_mac ? "A Mac" : "";
  for (const SaidCards& one : said.cards) {
    if (!one.gpu->replayed()) name = one.gpu->name;
  }
  if (!name.empty()) {
    const double share = hardware::metal_share(said.card_bytes / (1U << 30U));
    return " " + name + " is read, but not covered: CUDA's kernels are counted, and Metal has others." +
           (said.card_bytes > 0 ? " Of " + size_text(said.card_bytes) + " macOS leaves the GPU about " +
                                      size_text(share * said.card_bytes) + "."
                                : "");
  }
  return "";
}

// What is named and was not weighed: cards and settings that no field or preset holds.
std::string unread(const SaidRequest& said) {
  std::string out;
  if (!said.unknown_card.empty())
    out += " " + said.unknown_card + " is no card that is known by name" +
           (said.card_bytes > 0 ? "; " + size_text(said.card_bytes) + " are taken for its memory."
                                : ": say how much memory it has, as \"on a 24GB card\".");
  std::string named;
  for (const std::string& one : said.unread) named += (named.empty() ? "" : ", ") + one;
  return named.empty() ? out : out + " Named, but not read and not counted: " + named + ".";
}

// "How many A100s": of an A100 with 40 GB others than of one with 80.
std::string fewest_of_each(const SaidRequest& said, const Answers& answers, const run::Catalog& catalog) {
  const json::Json::json_pointer gpu_at("/hardware/gpu");
  std::string out;
  for (const SaidCards& card : said.cards) {
    const auto on_it = std::find_if(answers.ways.begin(), answers.ways.end(), [&](const Way& way) {
      return way.request.contains(gpu_at) && way.request.at(gpu_at) == json::Json(card.gpu->id);
    });
    if (on_it != answers.ways.end()) out += fewest_cards(said, *card.gpu, *on_it, catalog);
  }
  return out;
}

// What a setting that is weighed costs, or one method over the other: "What do we save with QLoRA over LoRA?"
std::string grown(const SaidRequest& said, const Answers& answers) {
  const std::size_t values = weighed(said, *methods(said).front().method).size();
  const std::vector<Way>& ways = answers.ways;
  std::string out;
  const bool all = answers.errors.empty() && ways.size() >= values;
  if (values > 1 && all) out += growth(ways.front().live, ways[values - 1].live);
  if (ways.size() == 2 && said.methods.size() == 2) out += growth(ways.front().live, ways.back().live);
  return out;
}

}  // namespace

Answers answer(const SaidRequest& said, const run::Catalog& catalog) {
  Answers out;
  for (const Open& machine : machines(said)) {
    const bool enough =
        std::any_of(out.ways.begin(), out.ways.end(), [](const Way& way) { return way.verdict == "fits"; });
    if (machine.slow && enough) continue;
    for (const Open& method : methods(said)) {
      for (const Open& other : weighed(said, *method.method)) {
        const std::vector<Open> choices = {method, machine, other};
        json::Errors errors;
        auto way = said.any_model ? largest_model(said, choices, catalog, errors)
                                  : price(said, choices, catalog, errors);
        if (way) out.ways.push_back(std::move(*way));
        if (out.errors.empty()) out.errors = std::move(errors);  // the other ways have the same
      }
    }
  }
  if (out.ways.empty()) return out;
  out.words = said.model + ":";
  if (said.any_model) {
    out.words = "The largest models that are known and fit:";
  } else if (said.model.empty()) {
    out.words = (said.unknown_model.empty() ? "No model is named"
                                            : said.unknown_model + " is no model that is known by name") +
                "; " + said.like + " is taken for one of that size:";
  }
  for (const Way& way : out.ways) out.words += " " + words_of(way) + on_host(way);
  const bool shared =
      std::any_of(said.cards.begin(), said.cards.end(), [](const SaidCards& one) { return one.count > 1; });
  if (shared && in_one_process(said)) {
    out.words += " A second card works on other samples, and nothing fits for it that does not fit on one.";
  } else if (shared) {
    out.words += " The memory of several cards adds up only for what is divided over them (FSDP, ZeRO-3).";
  }
  if (said.model_parallel)
    out.words +=
        " Tensor and pipeline parallelism (Megatron) are not replayed: a run that divides the model so needs other "
        "figures than these.";
  if (out.ways.size() == 1) out.words += " At its peak: " + out.ways.front().parts + ".";
  out.words += grown(said, out);
  const auto noted =
      std::find_if(out.ways.begin(), out.ways.end(), [](const Way& one) { return !one.note.empty(); });
  if (noted != out.ways.end()) out.words += noted->note;
  if (said.asks_how_many) out.words += fewest_of_each(said, out, catalog);
  out.words +=
      told_beside(said, out.ways.front()) + taken_words(said, out.ways) + unread(said) + on_apple(said);
  out.words += out.ways.front().unsaid;
  const Way& first = out.ways.front();
  if (first.verdict == "fits" && said.leaves_open("/training/per_device_train_batch_size")) {
    if (const uint64_t batch = largest_batch(first, catalog); batch > first.batch)
      out.words += " A micro-batch of " + std::to_string(batch) + " fits as well" +
                   (out.ways.size() > 1 ? " (" + first.name + ")." : ".");
  }
  if (first.verdict == "fits" && out.ways.size() == 1 && said.leaves_open("/training/max_length"))
    out.words += longest(first, catalog);
  return out;
}

}  // namespace plimsoll::question
