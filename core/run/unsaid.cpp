#include "core/run/unsaid.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/json/rounding.h"
#include "core/memory/layers/images.h"
#include "core/run/components.h"
#include "core/run/phrases.h"

namespace plimsoll::run {

namespace {

using json::grouped;

// Qwen/Qwen2-VL-7B-Instruct preprocessor_config.json, max_pixels 12845056.
constexpr double largest_side = 3584;

std::string words_of(const recipe::Vision& vision) {
  const std::string side = grouped(static_cast<double>(vision.image_size));
  return (vision.images_per_sample == 1 ? "one" : grouped(static_cast<double>(vision.images_per_sample))) +
         " of " + side + " x " + side + " pixels";
}

// Of images whose size is open one is as large as its share of the sample allows; else there are as many of
// them as it holds.
recipe::Vision fullest(const Run& run, bool size_is_open) {
  const model::ImageTokens& image = run.network.image;
  recipe::Recipe changed = run.resolved.recipe;
  recipe::Vision& vision = changed.vision;
  const auto length = static_cast<double>(changed.training.max_length);
  const auto images = static_cast<double>(std::max<uint64_t>(1, vision.images_per_sample));
  vision.images_per_sample = static_cast<uint64_t>(images);
  if (size_is_open) {
    const double side = std::floor(std::sqrt(length / images));
    vision.image_size =
        static_cast<uint64_t>(std::min(largest_side, side * static_cast<double>(image.patch * image.merge)));
  } else {
    const double each = memory::image_load(run.network, changed).text_tokens / images;
    vision.images_per_sample = static_cast<uint64_t>(each > 0 ? std::max(images, length / each) : images);
  }
  return vision;
}

std::optional<Unsaid> unsaid_images(const Run& run) {
  using Rule = model::ImageTokens::Rule;
  const recipe::Recipe& recipe = run.resolved.recipe;
  const auto is_said = [&run](const char* pointer) { return run.given.values.count(pointer) != 0; };
  const bool grid = run.network.image.grows() && run.network.image.patch > 0;
  const bool size_is_open = grid && !is_said("/vision/image_size");
  const bool number_is_open = !is_said("/vision/images_per_sample");
  const bool none = recipe.vision.images_per_sample == 0 && !number_is_open;
  if (run.network.image.rule == Rule::none || none || (!size_is_open && !number_is_open)) return std::nullopt;
  Run there = run;
  recipe::Vision& vision = there.resolved.recipe.vision;
  vision = fullest(run, size_is_open);
  if (vision.images_per_sample == recipe.vision.images_per_sample &&
      vision.image_size <= recipe.vision.image_size)
    return std::nullopt;
  there.replay = memory::replay(there.network, there.resolved.recipe, there.machine);
  Unsaid open;
  open.sizes = memory::simulated_sizes(card_of(there),
                                       like(there, there.network, there.resolved.recipe, there.replay));
  open.words = "What images a sample has is not said, and " +
               (recipe.vision.images_per_sample == 0 ? "none" : words_of(recipe.vision)) +
               " is counted; with " + words_of(vision) + ", the most that " +
               grouped(static_cast<double>(recipe.training.max_length)) + " tokens hold, it needs " +
               gib(open.sizes.needed) + ".";
  return open;
}

// A release before which a library held far more.
struct Release {
  std::string_view stack, pointer, before, what;
};
constexpr Release releases[] = {
    // unslothai/unsloth 4474e4b unsloth/kernels/cross_entropy_loss.py
    {"unsloth", "/versions/unsloth", "2024.10",
     "Which release of Unsloth runs is not said; before November 2024 it made all logits, and"}};

std::optional<Unsaid> unsaid_release(const Run& run, const Catalog& catalog) {
  for (const Release& one : releases) {
    if (run.resolved.recipe.stack != one.stack) continue;
    recipe::Request given = run.given;
    if (!given.values.emplace(one.pointer, std::string(one.before)).second) continue;
    json::Errors ignored;
    const std::optional<Run> there = read_like(run, std::move(given), catalog, ignored);
    if (!there) continue;
    Unsaid older{sizes_at_peak(*there), ""};
    older.words = std::string(one.what) + " it needs " + gib(older.sizes.needed) + ".";
    return older;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Unsaid> unsaid(const Run& run, const Catalog& catalog) {
  std::vector<Unsaid> out;
  for (const std::optional<Unsaid>& one : {unsaid_images(run), unsaid_release(run, catalog)}) {
    if (one) out.push_back(*one);
  }
  return out;
}

memory::Verdict verdict_of(const memory::Sizes& sizes, const std::vector<Unsaid>& other, double usable) {
  const memory::Verdict verdict = memory::verdict(sizes, usable);
  const bool all = std::all_of(other.begin(), other.end(), [usable](const Unsaid& one) {
    return memory::verdict(one.sizes, usable) == memory::Verdict::fits;
  });
  return verdict == memory::Verdict::fits && !all ? memory::Verdict::tight : verdict;
}

}  // namespace plimsoll::run
