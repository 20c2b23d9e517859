#include "core/diagnosis/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/diagnosis/cards_said.h"
#include "core/diagnosis/host.h"
#include "core/diagnosis/printed.h"
#include "core/diagnosis/prose_signs.h"
#include "core/diagnosis/settings_lines.h"
#include "core/diagnosis/size.h"
#include "core/diagnosis/taken.h"

namespace plimsoll::diagnosis {

namespace {

// How far the printed memory lies from what a card reports, in bytes; nothing when it is another card.
// Drivers differ by some tens of MiB, and under Windows PyTorch sees the whole of nvidia-smi's total.
std::optional<double> distance(const hardware::Gpu& gpu, double total, bool smi, bool named) {
  const double shown = static_cast<double>(gpu.nvidia_smi_total_bytes);
  const double off_smi = std::fabs(shown - total);
  if (smi) return shown > 0 && off_smi <= 0.002 * total ? std::optional(off_smi) : std::nullopt;
  // A card that the text names may lose some more to ECC or to a virtual machine.
  const double window = named ? 0.015 * total : 0.06 * gibibyte;
  const double off = std::max({static_cast<double>(gpu.usable_bytes) - total,
                               total - static_cast<double>(gpu.usable_high_bytes), 0.0});
  if (gpu.usable_bytes > 0 && off <= window) return off;
  const bool windows = shown > 0 && off_smi <= 0.01 * gibibyte && gpu.vendor == "NVIDIA";
  return windows ? std::optional(0.5 * window + off_smi) : std::nullopt;
}

// Cards whose reported memory is the printed one: by nvidia-smi's total, or by PyTorch's capacity; those that
// the text names first, then the nearest.
std::vector<std::string> cards_of(const Situation& situation, const TextReading& reading) {
  constexpr std::size_t most = 8;
  double total = 0;
  bool smi = false;
  if (const Message* message = reading.message(); message != nullptr && message->numbers.capacity) {
    if (message->family->kind == MessageKind::allocator) total = message->numbers.capacity->bytes;
  } else if (!reading.table.cards.empty()) {
    total = reading.table.cards.front().total;
    smi = true;
  }
  if (total == 0) return {};
  struct Candidate {
    const hardware::Gpu* gpu;
    bool named;
    double off;
  };
  std::vector<Candidate> found;
  // On ROCm the same message begins with HIP.
  const bool cuda = reading.text.folded_lines.find("cuda out of memory") != std::string::npos;
  for (const hardware::Gpu* gpu : situation.gpus) {
    const bool named = is_named(*gpu, reading.text.folded_lines);
    if (gpu->segment == "slice" && !named) continue;  // it is as large as some whole card
    const auto off = distance(*gpu, total, smi, named);
    if (off && !(cuda && gpu->vendor == "AMD")) found.push_back({gpu, named, *off});
  }
  std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    if (a.named != b.named) return a.named;
    return a.off != b.off ? a.off < b.off : a.gpu->id < b.gpu->id;
  });
  std::vector<std::string> out;
  for (const Candidate& one : found) {
    if (out.size() < most) out.push_back(one.gpu->id);
  }
  return out;
}

// A line of Python, or of a log that quotes one.
bool is_traceback(std::string_view words) {
  for (const std::string_view sign : {".py", "(", "=", "::", "in forward"}) {
    if (words.find(sign) != std::string_view::npos) return true;
  }
  return false;
}

// The first reading of a size is that of the first cause, where that one is of a tensor; a frame of a layer's
// forward makes values and no weight.
void agree(const std::vector<Named>& causes, FailurePhase frame, std::vector<Product>& products) {
  if (causes.empty()) return;
  const std::string_view cause = causes.front().cause->id;
  const std::string_view tensor = cause == "logits_peak"                 ? "logits"
                                  : cause == "eager_attention_quadratic" ? "scores"
                                  : frame == FailurePhase::forward       ? "mlp"
                                  : frame == FailurePhase::load          ? "weight"
                                                                         : "";
  std::stable_partition(products.begin(), products.end(),
                        [tensor](const Product& one) { return !one.beyond && one.tensor == tensor; });
}

// Whoever tells two releases apart says it, if in words that nothing else reads. Where neither needs more than the
// other and the figures show what fills the card, the update only says since when.
void add_upgrade(const Situation& situation, const Rerun& rerun, std::vector<Evidence>& evidence) {
  constexpr double only_since_when = 0.1;
  const bool told = std::any_of(evidence.begin(), evidence.end(),
                                [](const Evidence& e) { return e.sign == Sign::after_update; });
  if (!situation.upgrade.empty() && !told)
    evidence.push_back({Sign::after_update, "Two releases of a library are told apart.", 0.5});
  if (situation.upgrade_case != "release_same" || rerun.cause.empty()) return;
  for (Evidence& e : evidence)
    if (e.sign == Sign::after_update) e.strength *= only_since_when;
}

}  // namespace

Diagnosis diagnose(const Situation& situation) {
  Diagnosis d;
  TextReading& r = d.reading;
  r.text = clean(situation.text);
  r.messages = read_messages(r.text);
  r.table = read_gpu_table(r.text);
  // A table of a card that is not full explains nothing; what a person says beside it may.
  const bool full = std::any_of(r.table.cards.begin(), r.table.cards.end(),
                                [](const Card& card) { return card.used > 0.9 * card.total; });
  Text words = r.text;
  words.folded_lines = without_settings(words.folded_lines);
  r.frames = read_frames(words);
  r.text.folded_lines = own_words(r.text.folded_lines);
  r.prose = read_prose(without_log_lines(own_words(words.folded_lines)));
  r.cases = cases_in(r.text, r.prose);
  // "I set packing=True but it takes as much as before" is a run that was seen.
  const bool planned = situation.is_plan && r.prose.says(Say::no_effect) == nullptr;
  const bool spoken = r.messages.empty() && !full && !situation.is_source && !planned;
  if (spoken) r.messages = spoken_messages(r.text, r.prose, r.cases);
  if (!situation.upgrade.empty())
    r.cases.insert(r.cases.begin(), {find_case(situation.upgrade_case), situation.upgrade, 0, false, true});
  r.first = primary(r.messages);
  Numbers numbers;
  if (const Message* message = r.message()) numbers = message->numbers;
  r.derived = derive(numbers);
  r.phase = r.frames.phase;
  // A word that names a function is no frame: only a traceback's own syntax says where it was.
  if (!is_traceback(r.frames.words)) r.frames.phase = FailurePhase::unknown;
  if (r.phase == FailurePhase::unknown) r.phase = situation.phase;
  if (r.phase == FailurePhase::unknown) r.phase = phase_in_words(r.text.folded_lines, r.prose);
  r.facts = read_facts(situation, r, numbers);
  read_host(r);
  r.asked = numbers.tried ? numbers.tried : size_in_words(r.text.folded_lines);
  // What is rounded to a digit or two is the size of any tensor.
  const bool measured = r.asked && (numbers.tried || (spoken && r.asked->half <= 0.02 * r.asked->bytes));
  if (measured) r.matches = tensors_of_size(*r.asked, situation, r);
  if (states_are_fp32(r)) hold_in_fp32(r.facts);
  if (r.asked) r.products = products_of(*r.asked, situation, r.facts);
  d.cards = cards_of(situation, r);
  if (r.messages.empty() && r.table.cards.empty()) return d;
  r.rerun = play_again(situation, r);
  d.evidence = collect(r, situation);
  add_upgrade(situation, r.rerun, d.evidence);
  for (Evidence& e : d.evidence) {
    // That the machine ran out is read from prose as well.
    if (spoken && e.sign == Sign::says_host) e.strength = most_strength;
  }
  Ranking by;
  by.reading = &r;
  by.answers = read_answers(situation.answers);
  by.in_words = spoken;
  by.framed = r.frames.phase != FailurePhase::unknown;
  Ranked ranked = rank(d.evidence, by);
  d.causes = std::move(ranked.causes);
  d.vetoed = std::move(ranked.vetoed);
  d.question = std::move(ranked.question);
  agree(d.causes, r.frames.phase, r.products);
  return d;
}

}  // namespace plimsoll::diagnosis
