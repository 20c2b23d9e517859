#include "core/question/card_counts.h"

#include "core/diagnosis/signs.h"
#include "core/run/last_that.h"
#include "core/run/unsaid.h"

namespace plimsoll::question {

namespace {

constexpr uint64_t most_cards_asked = 512, in_a_machine = 8;

struct Shared {
  double needed = 0;  // of each card; 0: the request is none
  memory::Verdict verdict = memory::Verdict::no;
};

Shared shared_by(const SaidRequest& said, const Way& way, uint64_t count, const run::Catalog& catalog) {
  json::Json request = way.request;
  json::Json& parallel = request["parallel"];
  if (!parallel.is_object()) parallel = json::Json::object();
  parallel["num_gpus"] = count;
  if (said.values.count("/parallel/strategy") == 0) {
    if (count == 1) parallel = json::Json{{"num_gpus", 1}};
    if (count > 1) parallel["strategy"] = said.denied.deepspeed ? "fsdp" : "zero3";
  }
  json::Errors ignored;
  const std::optional<run::Run> run = run::read_run(json::write(request), catalog, ignored);
  if (!run || run->gpu == nullptr) return {};
  const memory::Sizes sizes = sizes_at_peak(*run);
  const double usable = usable_for(*run, run->gpu->usable_bytes);
  return {usable - memory::headroom(sizes, usable),
          run::verdict_of(sizes, run::unsaid(*run, catalog), usable)};
}

}  // namespace

std::string fewest_cards(const SaidRequest& said, const hardware::Gpu& gpu, const Way& way,
                         const run::Catalog& catalog) {
  if (!gpu.replayed()) return "";
  const std::string& card = gpu.name;
  const auto reaches = [&](uint64_t count, memory::Verdict most) {
    return shared_by(said, way, count, catalog).verdict <= most;
  };
  uint64_t high = 1;
  while (high <= most_cards_asked && !reaches(high, memory::Verdict::fits)) high *= 2;
  if (high == 1) return " One " + card + " is enough.";
  const auto strategy = said.values.find("/parallel/strategy");
  const std::string shared =
      strategy == said.values.end()
          ? std::string(said.denied.deepspeed ? "FSDP" : "ZeRO-3") + ", which divides all of it"
          : strategy->second.get<std::string>();
  if (high > most_cards_asked)
    return " Even " + std::to_string(most_cards_asked) + " x " + card + " are not enough with " + shared +
           ".";
  // The fewest of which it is true, where it is of `most`.
  const auto fewest = [&](uint64_t most, memory::Verdict verdict) {
    return run::last_that(0, most, [&](uint64_t count) { return !reaches(count, verdict); }) + 1;
  };
  high = fewest(high, memory::Verdict::fits);
  const uint64_t barely = fewest(high, memory::Verdict::tight);
  const uint64_t machines = (high + in_a_machine - 1) / in_a_machine;
  return " The fewest that it fits on is " + std::to_string(high) + " x " + card + ", with " + shared + ": " +
         diagnosis::size_text(shared_by(said, way, high, catalog).needed) + " on each." +
         (barely < high ? " On " + std::to_string(barely) + " it fits barely." : "") +
         (machines > 1 ? " In machines of 8 cards these are " + std::to_string(machines) + " machines." : "");
}

}  // namespace plimsoll::question
