#include "core/question/card_counts.h"

#include "core/diagnosis/signs.h"
#include "core/run/unsaid.h"

namespace plimsoll::question {

namespace {

constexpr uint64_t most_cards_asked = 512, in_a_machine = 8;

// What each of `count` cards needs, where it fits; 0: it does not.
double needed_on(const SaidRequest& said, const Way& way, uint64_t count, const run::Catalog& catalog) {
  json::Json request = way.request;
  json::Json& parallel = request["parallel"];
  if (!parallel.is_object()) parallel = json::Json::object();
  parallel["num_gpus"] = count;
  if (count > 1 && said.values.count("/parallel/strategy") == 0) parallel["strategy"] = "zero3";
  if (count == 1) parallel = json::Json{{"num_gpus", 1}};
  json::Errors ignored;
  const std::optional<run::Run> run = run::read_run(json::write(request), catalog, ignored);
  if (!run || run->gpu == nullptr) return 0;
  const memory::Sizes sizes = sizes_of(run->replay.instants[run->replay.peak], *run);
  const double usable = usable_for(*run, run->gpu->usable_bytes);
  const bool fits = run::verdict_of(sizes, run::unsaid(*run, catalog), usable) == memory::Verdict::fits;
  return fits ? sizes.needed : 0;
}

}  // namespace

std::string fewest_cards(const SaidRequest& said, const Way& way, const run::Catalog& catalog) {
  if (said.cards.size() != 1 || !said.cards.front().gpu->replayed()) return "";
  const std::string card = said.cards.front().gpu->name;
  uint64_t high = 1;
  while (high <= most_cards_asked && needed_on(said, way, high, catalog) == 0) high *= 2;
  if (high == 1) return " One " + card + " is enough.";
  const auto strategy = said.values.find("/parallel/strategy");
  const std::string shared =
      strategy == said.values.end() ? "ZeRO-3, which divides all of it" : strategy->second.get<std::string>();
  if (high > most_cards_asked)
    return " Even " + std::to_string(most_cards_asked) + " x " + card + " are not enough with " + shared +
           ".";
  uint64_t low = high / 2;  // does not fit
  while (high > low + 1) {
    const uint64_t middle = low + (high - low) / 2;
    (needed_on(said, way, middle, catalog) > 0 ? high : low) = middle;
  }
  const uint64_t machines = (high + in_a_machine - 1) / in_a_machine;
  return " The fewest that it fits on is " + std::to_string(high) + " x " + card + ", with " + shared + ": " +
         diagnosis::size_text(needed_on(said, way, high, catalog)) + " on each." +
         (machines > 1 ? " In machines of 8 cards these are " + std::to_string(machines) + " machines." : "");
}

}  // namespace plimsoll::question
