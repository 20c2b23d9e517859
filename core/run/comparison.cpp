#include "core/run/comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/run/adds_up.h"
#include "core/run/machines.h"
#include "core/run/phrases.h"
#include "core/time/step.h"

namespace plimsoll::run {

namespace {

using json::Json;

constexpr std::size_t most_exact = 8;
constexpr std::size_t most_simulated = 5;  // 32 runs
constexpr int orders = 3000;  // every second one is the one before it backwards, which halves the scatter

struct Game {
  const Run& a;
  const Run& b;
  const Catalog& catalog;
  std::vector<Player> players;
  std::map<uint64_t, std::optional<Worth>> known;
  bool quick() const { return players.size() > most_simulated; }

  // A with the players of the set as in B.
  recipe::Request mixed(uint64_t set) const {
    recipe::Request given = a.given;
    for (std::size_t i = 0; i < players.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      if (players[i].model) {
        given.model_id = b.given.model_id;
        given.model_config = b.given.model_config;
        given.model_name = b.given.model_name;
      }
      for (const std::string& pointer : players[i].pointers) {
        const auto there = b.given.values.find(pointer);
        if (there == b.given.values.end()) {
          given.values.erase(pointer);
        } else {
          given.values[pointer] = there->second;
        }
      }
    }
    return given;
  }

  std::optional<Worth> worth(uint64_t set) {
    const auto found = known.find(set);
    if (found != known.end()) return found->second;
    json::Errors errors;
    const std::optional<Run> run =
        quick() ? read_quick_run(mixed(set), catalog, errors) : read_run(mixed(set), catalog, errors);
    std::optional<Worth> worth;
    if (run) worth = worth_of(*run);
    known[set] = worth;
    return worth;
  }

  Worth worth_of(const Run& run) const {
    const memory::Sizes sizes = sizes_at_peak(run);
    const recipe::Recipe& r = run.resolved.recipe;
    return {sizes.device, sizes.allocated,
            time::step_time(time::work_of(run.network, r), r, timed_on(run, catalog)).seconds};
  }
};

bool same_model(const Run& a, const Run& b) {
  return a.entry == b.entry && a.given.model_config == b.given.model_config;
}

// Fields whose value differs, given by at least one side: a difference of defaults belongs to what caused it.
std::vector<Player> differing(const Run& a, const Run& b) {
  std::vector<Player> players;
  if (!same_model(a, b)) players.push_back({{}, "model", true});
  std::vector<std::string> pointers;
  for (const Run* side : {&a, &b}) {
    for (const auto& [pointer, value] : side->given.values) {
      if (std::find(pointers.begin(), pointers.end(), pointer) == pointers.end()) pointers.push_back(pointer);
    }
  }
  std::sort(pointers.begin(), pointers.end());
  for (const std::string& pointer : pointers) {
    // How much data there is changes the length of a run, not a step of it.
    const bool amount = pointer == "/data" || pointer == "/data/samples" || pointer == "/data/epochs";
    if (pointer == "/locks" || pointer == "/want" || amount) continue;
    const auto left = a.resolved.values.find(pointer);
    const auto right = b.resolved.values.find(pointer);
    const Json at_a = left == a.resolved.values.end() ? Json() : left->second;
    const Json at_b = right == b.resolved.values.end() ? Json() : right->second;
    if (at_a != at_b) players.push_back({{pointer}, dotted(pointer), false});
  }
  return players;
}

// Adapters and quantisation hang together: a 4-bit base without adapters cannot be trained.
void join_adapters(std::vector<Player>& players) {
  Player joined{{}, "peft and quantization", false};
  std::vector<Player> rest;
  for (Player& player : players) {
    const bool member = !player.model && (player.pointers[0].rfind("/peft", 0) == 0 ||
                                          player.pointers[0].rfind("/quantization", 0) == 0);
    if (member) {
      joined.pointers.insert(joined.pointers.end(), player.pointers.begin(), player.pointers.end());
    } else {
      rest.push_back(std::move(player));
    }
  }
  if (!joined.pointers.empty()) rest.push_back(std::move(joined));
  players = std::move(rest);
}
void join_all(std::vector<Player>& players) {
  Player joined{{}, "everything", false};
  for (const Player& player : players) {
    joined.model = joined.model || player.model;
    joined.pointers.insert(joined.pointers.end(), player.pointers.begin(), player.pointers.end());
  }
  players = {joined};
}

void add(Worth& to, const Worth& after, const Worth& before, double weight) {
  to.device += weight * (after.device - before.device);
  to.allocated += weight * (after.allocated - before.allocated);
  to.seconds += weight * (after.seconds - before.seconds);
}

// Nothing when some mixture is no valid request.
std::optional<std::vector<Worth>> shares(Game& game) {
  const std::size_t n = game.players.size();
  std::vector<Worth> share(n);
  if (n <= most_exact) {
    std::vector<double> factorial(n + 1, 1);
    for (std::size_t i = 1; i <= n; ++i) factorial[i] = factorial[i - 1] * static_cast<double>(i);
    for (uint64_t set = 0; set < (uint64_t{1} << n); ++set) {
      const std::optional<Worth> before = game.worth(set);
      if (!before) return std::nullopt;
      std::size_t size = 0;
      for (std::size_t i = 0; i < n; ++i) size += set >> i & 1;
      for (std::size_t i = 0; i < n; ++i) {
        if ((set >> i & 1) != 0) continue;
        const std::optional<Worth> after = game.worth(set | uint64_t{1} << i);
        if (!after) return std::nullopt;
        add(share[i], *after, *before, factorial[size] * factorial[n - size - 1] / factorial[n]);
      }
    }
    return share;
  }
  uint64_t state = 1;
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  for (int round = 0; round < orders; ++round) {
    if (round % 2 == 1) std::reverse(order.begin(), order.end());
    for (std::size_t i = n - 1; i > 0 && round % 2 == 0; --i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::swap(order[i], order[(state >> 33) % (i + 1)]);
    }
    uint64_t set = 0;
    for (std::size_t i : order) {
      const std::optional<Worth> before = game.worth(set);
      set |= uint64_t{1} << i;
      const std::optional<Worth> after = game.worth(set);
      if (!before || !after) return std::nullopt;
      add(share[i], *after, *before, 1.0 / orders);
    }
  }
  return share;
}

// Fields that change neither memory nor time, from either end: they take part in no mixture.
std::vector<Player> without_effect(Game& game) {
  std::vector<Player> silent, loud;
  const uint64_t all = (uint64_t{1} << game.players.size()) - 1;
  const std::optional<Worth> start = game.worth(0), end = game.worth(all);
  const auto same = [](const std::optional<Worth>& x, const std::optional<Worth>& y) {
    return x && y && x->device == y->device && x->allocated == y->allocated && x->seconds == y->seconds;
  };
  for (std::size_t i = 0; i < game.players.size(); ++i) {
    const uint64_t one = uint64_t{1} << i;
    const bool nothing = same(game.worth(one), start) && same(game.worth(all & ~one), end);
    (nothing ? silent : loud).push_back(game.players[i]);
  }
  game.players = std::move(loud);
  game.known.clear();
  return silent;
}

}  // namespace

Comparison compare(const Run& a, const Run& b, const Catalog& catalog) {
  Game game{a, b, catalog, differing(a, b), {}};
  if (game.players.size() > 60) join_adapters(game.players);
  Comparison found;
  if (game.players.size() <= 60) found.silent = without_effect(game);
  std::optional<std::vector<Worth>> share = shares(game);
  if (!share) {
    join_adapters(game.players);
    game.known.clear();
    share = shares(game);
  }
  if (!share) {
    join_all(game.players);
    game.known.clear();
    share = shares(game);
  }
  found.a = game.worth_of(a);
  found.b = game.worth_of(b);
  // Of many differences they are by the usual reserve, which is also deaf to some.
  std::vector<double*> devices;
  if (share)
    std::transform(share->begin(), share->end(), std::back_inserter(devices),
                   [](Worth& w) { return &w.device; });
  add_up_to(found.b.device - found.a.device, devices);
  for (std::size_t i = 0; share && i < game.players.size(); ++i)
    found.differences.push_back({std::move(game.players[i]), (*share)[i]});
  std::stable_sort(found.differences.begin(), found.differences.end(),
                   [](const Difference& x, const Difference& y) {
                     return std::fabs(x.worth.device) > std::fabs(y.worth.device);
                   });
  return found;
}

}  // namespace plimsoll::run
