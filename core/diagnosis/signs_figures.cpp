#include <algorithm>
#include <cmath>

#include "core/diagnosis/sign_parts.h"
#include "core/diagnosis/size_products.h"

namespace plimsoll::diagnosis {

namespace {

// "4.9 times"
std::string times_text(double ratio) {
  const auto tenths = std::llround(10 * ratio);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " times";
}

void read_request(const TextReading& r, Signs& out) {
  const Numbers& n = r.message()->numbers;
  add(out, n.at_least, Sign::asks_nonsense, "More than an exbibyte was asked for, which no tensor has.");
  add(out, !n.at_least && n.tried && n.tried->bytes > largest_tensor, Sign::asks_nonsense,
      "No tensor of a training run has " + size_text(n.tried ? n.tried->bytes : 0) + ".");
  if (n.tried && n.capacity && n.tried->bytes > n.capacity->bytes) {
    add(out, true, Sign::asks_beyond_card,
        "One tensor of " + size_text(n.tried->bytes) + " is larger than the whole card (" +
            size_text(n.capacity->bytes) + ").");
  }
}

// What other processes hold by the message itself.
double held_by_others(const Numbers& n, const Derived& d) {
  double foreign = d.other_is_a_bound ? 0 : d.other.value_or(0);
  // A cut-off line of a container may show one process that cannot be this one: most of the memory is
  // elsewhere.
  if (!d.other && n.capacity && n.free && !n.processes.empty()) {
    const double used = n.capacity->bytes - n.free->bytes;
    for (const Process& process : n.processes) {
      if (process.size.bytes < used / 2) foreign += process.size.bytes;
    }
  }
  return foreign;
}

// There PyTorch sees all that is on the board, and the driver moves memory to the host.
bool is_windows_like(const Numbers& n, const Derived& d) {
  return d.sentinel || (n.allocated && n.capacity && n.allocated->bytes > n.capacity->bytes);
}

void read_others(const TextReading& r, Signs& out) {
  const Numbers& n = r.message()->numbers;
  const Derived& d = r.derived;
  const double foreign = held_by_others(n, d);
  add(out, foreign > gibibyte / 2 && !d.sentinel, Sign::foreign_process,
      "Other processes hold " + size_text(foreign) + " of this card.");
  const bool windows_like = is_windows_like(n, d);
  // Where the line says what this process holds in all, its own context and NCCL's buffers are inside that
  // figure.
  double residual = d.residual.value_or(0);
  if (n.this_process && n.this_process->bytes > 0 && !d.sentinel && n.capacity && n.free) {
    residual = n.capacity->bytes - n.free->bytes - n.this_process->bytes - foreign;
  }
  const double share = n.capacity ? residual / n.capacity->bytes : 0;
  // Under Windows PyTorch sees all that is on the board: the driver's part and the desktop's are in the rest.
  const double on_the_board = n.capacity ? n.capacity->bytes / gibibyte : 0.5;
  const bool whole_board = std::fabs(on_the_board - std::round(on_the_board)) < 0.011;
  const double usual = whole_board
                           ? std::max(1.2 * gibibyte, std::min(2.0 * gibibyte, 0.5 * n.capacity->bytes))
                           : 1.2 * gibibyte;
  // An eighth of the card is what libraries take on small ones; a run over many cards holds more of it
  // itself.
  const bool much_left = residual > 2.5 * gibibyte || (residual > usual && share > 0.17);
  add(out, !windows_like && foreign <= gibibyte / 2 && much_left,
      share > 0.125 ? Sign::large_residual : Sign::some_residual,
      size_text(residual) +
          " are neither PyTorch's nor free; a context and its libraries take about 0.85 GiB.");
  // Next to what others hold, what this run asks for is a trifle.
  const double others = std::max(foreign, residual);
  add(out, !windows_like && n.capacity && others > std::max(0.5 * n.capacity->bytes, 2.5 * gibibyte),
      Sign::mostly_foreign,
      size_text(others) + " of " + size_text(n.capacity ? n.capacity->bytes : 0) +
          " are held by something else than this run's tensors.");
}

// What lies reserved and unused, where it is more than was asked for.
double covering_slack(const Numbers& n, const Derived& d) {
  return d.slack && n.capacity && n.tried && *d.slack >= n.tried->bytes ? *d.slack : 0;
}
// A cache holds some hundredths of a full card in pieces, whatever fails; a tenth of it is more than that.
bool covers(const Numbers& n, double slack) { return slack > 0 && slack >= 0.05 * n.capacity->bytes; }

void read_slack(const TextReading& r, Signs& out) {
  const Numbers& n = r.message()->numbers;
  const Derived& d = r.derived;
  const double slack = covering_slack(n, d);
  const bool covered = covers(n, slack);
  const bool much = covered && slack >= 0.09 * n.capacity->bytes;
  add(out, covered, much ? Sign::slack_covers : Sign::some_slack,
      size_text(slack) + " are reserved but free, more than the " + size_text(n.tried ? n.tried->bytes : 0) +
          " asked for: no single block was large enough.");
  add(out, !is_windows_like(n, d) && lies_in_pieces(r), Sign::slack_and_free_cover,
      size_text(d.slack.value_or(0)) + " are reserved but unused and " +
          size_text(n.free ? n.free->bytes : 0) + " are free, together more than the " +
          size_text(n.tried ? n.tried->bytes : 0) + " asked for: they lie in pieces.");
  // No tensor of a run is too large for a hole of several times its size, whatever it is.
  const bool plenty =
      much && n.tried->bytes > 0 && slack >= 3 * n.tried->bytes && slack >= 0.25 * n.capacity->bytes;
  add(out, plenty, Sign::slack_is_plenty,
      size_text(slack) + " lie reserved and unused, " + times_text(plenty ? slack / n.tried->bytes : 0) +
          " what was asked for.");
}

void read_limits(const TextReading& r, const Situation& situation, Signs& out) {
  const Numbers& n = r.message()->numbers;
  const Derived& d = r.derived;
  add(out, d.sentinel, Sign::sentinel,
      "The figure for this process is 2^64 bytes: the driver cannot tell (WSL).");
  add(out, is_windows_like(n, d) && !d.sentinel, Sign::beyond_card,
      "More is allocated than the card has: the driver moved memory to the host first.");
  const bool nothing = n.allocated && n.allocated->bytes == 0;
  add(out, nothing, Sign::nothing_allocated, "Nothing was allocated yet: the very first tensor failed.");
  add(out,
      !nothing && n.free && n.tried && n.free->bytes > n.tried->bytes + 512 * mebibyte &&
          !covers(n, covering_slack(n, d)),
      Sign::free_covers,
      size_text(n.free ? n.free->bytes : 0) + " are free, and yet " +
          size_text(n.tried ? n.tried->bytes : 0) + " were refused: a limit, not the card.");
  add(out,
      n.capacity && r.facts.nominal > 0 && n.capacity->bytes < 0.6 * r.facts.nominal &&
          !is_a_known_capacity(situation, n.capacity->bytes),
      Sign::less_than_card,
      "The software sees " + size_text(n.capacity ? n.capacity->bytes : 0) + " of a card of " +
          size_text(r.facts.nominal) + ".");
  // Weights, gradients and states of even 200 million parameters take 3 GiB; what is called a language model
  // and has no name here begins at twice that.
  const bool unnamed = r.facts.parameters == 0 && r.facts.method != Method::unknown;
  add(out, n.capacity && n.capacity->bytes < (unnamed ? 6.2 : 3.2) * gibibyte, Sign::tiny_card,
      "The card has " + size_text(n.capacity ? n.capacity->bytes : 0) +
          ", which trains next to no transformer.");
  add(out, n.pools && n.pools->bytes > gibibyte, Sign::large_pools,
      size_text(n.pools ? n.pools->bytes : 0) + " lie in private pools (CUDA graphs, an inference engine).");
}

}  // namespace

bool lies_in_pieces(const TextReading& r) {
  const Message* message = r.message();
  if (message == nullptr || !r.derived.slack) return false;
  const Numbers& n = message->numbers;
  if (!n.tried || !n.free || !n.capacity || n.limit) return false;
  const double slack = *r.derived.slack, asked = n.tried->bytes, free = n.free->bytes;
  // A full card holds some hundredths in pieces, whatever fails.
  return slack < asked && free < asked && slack + free >= asked && slack >= 0.05 * n.capacity->bytes;
}

void read_figures(const TextReading& r, const Situation& situation, Signs& out) {
  if (r.message() == nullptr || r.message()->family->kind != MessageKind::allocator) return;
  read_request(r, out);
  read_others(r, out);
  read_slack(r, out);
  read_limits(r, situation, out);
}

void read_table(const TextReading& r, Signs& out) {
  const auto& cards = r.table.cards;
  if (cards.empty()) return;
  const auto full =
      std::count_if(cards.begin(), cards.end(), [](const Card& c) { return c.used > 0.9 * c.total; });
  const auto idle =
      std::count_if(cards.begin(), cards.end(), [](const Card& c) { return c.used < 0.1 * c.total; });
  const bool rest_idle = cards.size() > 1 && full == 1 && full + idle == static_cast<long>(cards.size());
  const bool lone = cards.size() == 1 && full == 1 && r.facts.several();
  add(out, rest_idle || lone, Sign::one_card_only, "One card is full and the others are idle.");
  add(out, r.messages.empty() && !rest_idle && !lone && full > 0, Sign::in_use_at_start,
      "nvidia-smi shows " + size_text(cards.front().used) + " of " + size_text(cards.front().total) +
          " in use.");
}
}  // namespace plimsoll::diagnosis
