#include <algorithm>
#include <cmath>

#include "core/diagnosis/facts_said.h"
#include "core/diagnosis/sentence.h"
#include "core/diagnosis/sign_parts.h"
#include "core/diagnosis/taken.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

// A context, one short sample and its logits take no less beside the weights.
constexpr double least_rest = 2 * gibibyte;
// What each of several cards holds whole may still fit when it is divided.
Sign beyond_one_card(const Facts& f) {
  return f.several() && !f.sharded() ? Sign::whole_beyond : Sign::share_beyond;
}

// Of a run that is said in words the likeliest reading: full fine-tuning without a word on its types holds
// fp32, and a card without a name is no larger than the largest common ones. What fits with fewer tokens has
// room for its weights.
void read_likely_share(const TextReading& r, Signs& out) {
  constexpr double largest_common = 80 * gibibyte, likely = 0.6;
  const Facts& f = r.facts;
  if (f.whole == 0 || f.method == Method::unknown || f.shared_by_unknown() ||
      r.prose.says(Say::fewer) != nullptr)
    return;
  const double card = most_at_rest * (f.capacity > 0 ? f.capacity : largest_common);
  const double share = std::max(f.share, f.at_most * f.share / f.whole);
  if (share <= card || (f.capacity > 0 && f.share > card)) return;
  out.push_back(
      {beyond_one_card(f),
       "Unless weights and states are held in 16 bits, each card's part of them is " + size_text(share) +
           (f.capacity > 0 ? " of " + size_text(f.capacity) : " and more than common cards have") + ".",
       likely});
}

}  // namespace

namespace {

// A library that asks the driver and finds nothing left says who was late, not who took the memory.
void read_full_driver(const TextReading& r, Signs& out) {
  constexpr double far = 1.2;
  const Facts& f = r.facts;
  const bool library = r.message() != nullptr && r.message()->family->kind == MessageKind::library;
  if (!library || f.whole == 0 || f.capacity == 0 || f.shared_by_unknown()) return;
  const double share = std::max(f.share, f.at_most * f.share / f.whole);
  const bool typed = f.share > far * f.capacity;
  add(out, share > far * f.capacity, Sign::driver_full_of_run,
      "Whoever asks last finds nothing: " + std::string(typed ? "" : "unless they are held in 16 bits, ") +
          "each card's part of weights, gradients and states alone is " + size_text(share) + " of " +
          size_text(f.capacity) + ".");
}

}  // namespace

void read_arithmetic(const TextReading& r, Signs& out) {
  const Facts& f = r.facts;
  const Message* message = r.message();
  if (f.capacity == 0) read_likely_share(r, out);
  if (f.whole > 0 && f.capacity > 0) {
    add(out, f.whole > most_at_rest * f.capacity, Sign::whole_beyond,
        "Weights, gradients and states take " + size_text(f.whole) + " before any activation; the card has " +
            size_text(f.capacity) + ".");
    // A pass over the layers that began with less allocated shows that the weights are smaller than thought.
    const bool contradicted = in_a_pass(r.phase) && message != nullptr && message->numbers.allocated &&
                              message->numbers.allocated->bytes < 0.85 * std::min(f.share, f.weights16);
    if (!contradicted) read_likely_share(r, out);
    add(out, f.share > most_at_rest * f.capacity && !contradicted && !f.shared_by_unknown(),
        Sign::share_beyond,
        "Each card's part of weights, gradients and states is " + size_text(f.share) + " of " +
            size_text(f.capacity) + ".");
    add(out,
        f.share > 0.7 * f.capacity && f.share <= most_at_rest * f.capacity &&
            (f.method == Method::full ? f.sharded() : f.share + least_rest > f.capacity),
        Sign::share_is_most,
        "Each card's part of weights, gradients and states is " + size_text(f.share) + " of " +
            size_text(f.capacity) + ", beside gathered layers and activations.");
    // Of an unknown method only the weights are known, and full fine-tuning without its types may take twice.
    const double most = f.at_most;
    const double most_share = f.whole > 0 ? most * f.share / f.whole : 0;
    add(out, most > 0 && most < 0.6 * f.capacity && !f.sharded(), Sign::whole_well_within,
        "Even undivided, weights, gradients and states take " + size_text(f.whole) + " of " +
            size_text(f.capacity) + ".");
    add(out, most > 0 && most_share < 0.7 * f.capacity && f.strategy != "deepspeed", Sign::share_well_within,
        "Weights, gradients and states take " + size_text(f.share) +
            ", which fits; activations take the rest.");
    add(out, most > 0 && most_share < 0.5 * f.capacity && (f.strategy == "zero1" || f.strategy == "zero2"),
        Sign::share_is_small,
        "The weights of each card and its part of the rest take " + size_text(f.share) + " of " +
            size_text(f.capacity) + ": the copies alone are not too much.");
  }
  read_full_driver(r, out);
  const std::string in_fp32 =
      f.weights16 > 0 && f.capacity > 0
          ? ", which takes " + size_text(2 * f.weights16) + " of " + size_text(f.capacity)
          : "";
  add(out, f.untyped, Sign::untyped,
      "The script loads the model without a type: fp32 before Transformers 5" + in_fp32 + ".");
  add(out, f.fits_in_16bit, Sign::fits_in_16bit,
      "The weights take " + size_text(f.weights16) + " in 16 bits, which fits; in fp32 they take " +
          size_text(2 * f.weights16) + ", and nothing is trained.");
  if (message == nullptr || !message->numbers.allocated || f.weights16 == 0) return;
  const double allocated = message->numbers.allocated->bytes;
  const bool loading = r.phase == FailurePhase::load || r.phase == FailurePhase::merge;
  const bool sized = f.method != Method::full && f.quantization.empty() && !f.several();
  add(out, sized && loading && allocated > 1.3 * f.weights16, Sign::near_fp32,
      size_text(allocated) + " are allocated; the weights in 16 bits would be " + size_text(f.weights16) +
          ".");
  add(out, !f.quantization.empty() && loading && allocated > 0.8 * f.weights16,
      Sign::near_16bit_though_quantized,
      size_text(allocated) +
          " are allocated, as much as the weights in 16 bits, although they should be quantised.");
}

namespace {

// Lengths of a bracket: "16, 20000, 20000".
std::vector<uint64_t> lengths_in(std::string_view text) {
  constexpr std::size_t most = 8;
  std::vector<uint64_t> out;
  bool open = false;
  for (const char c : text) {
    if (ascii::is_digit(c)) {
      if (!open) out.push_back(0);
      out.back() = std::min<uint64_t>(out.back() * 10 + static_cast<uint64_t>(c - '0'), 1U << 30U);
    } else if (c != ',' && c != ' ' && c != 'x' && c != '*') {
      return {};
    }
    open = ascii::is_digit(c);
    if (out.size() > most) return {};
  }
  return out;
}

constexpr uint64_t least_length = 1024;

// A tensor of a text's own brackets whose last two lengths are the same: "[16, 20000, 20000]", "40320^2"; ""
// none. Only attention has such.
std::string square_shape(std::string_view folded) {
  constexpr std::size_t longest = 48;
  for (std::size_t at = folded.find_first_of("[("); at != std::string_view::npos;
       at = folded.find_first_of("[(", at + 1)) {
    const std::string_view rest = folded.substr(at + 1, longest);
    const std::size_t end = rest.find_first_of("])");
    if (end == std::string_view::npos || end == 0 || !ascii::is_digit(rest.front())) continue;
    const std::vector<uint64_t> lengths = lengths_in(rest.substr(0, end));
    const std::size_t n = lengths.size();
    // A picture is as high as wide and has its few channels; a weight has two lengths.
    if (n < 3 || n > 4 || lengths[n - 1] != lengths[n - 2] || lengths[n - 1] < least_length) continue;
    if (says_any(sentence_around(folded, at, end + 2, 60), {"alloc", "tensor", "shape", "oom", "out of mem"}))
      return std::string(folded.substr(at, end + 2));
  }
  for (std::size_t at = folded.find("^2"); at != std::string_view::npos; at = folded.find("^2", at + 2)) {
    std::size_t begin = at;
    while (begin > 0 && ascii::is_digit(folded[begin - 1]) && at - begin < 8) --begin;
    if (at - begin >= 4 && says_any(sentence_around(folded, at, 2, 60), {"alloc", "matrix", "tensor", "oom"}))
      return std::string(folded.substr(begin, at + 2 - begin));
  }
  return "";
}

// The largest tensor that grows with the text of a micro-batch, in bytes; 0 where that is not known.
double largest_of_text(const Facts& f, const Situation& situation) {
  const model::Architecture* network = situation.network;
  if (network == nullptr || !f.batch || !f.length || f.method != Method::adapters) return 0;
  const double tokens = *f.batch * *f.length * task_of(f).rows;
  double heads = 0;
  for (const model::Stack& stack : network->stacks) {
    for (const model::LayerGroup& group : stack.groups)
      heads = std::max(heads, static_cast<double>(group.heads));
  }
  return 4 * std::max(tokens * static_cast<double>(network->vocab_size), tokens * *f.length * heads);
}

// Whether some whole number of samples has scores of that many bytes, where length and heads are known; else
// it may.
bool may_be_scores(double bytes, const Facts& f, const Situation& situation) {
  if (situation.network == nullptr || !f.length) return true;
  const model::LayerGroup* layers = text_layers(*situation.network);
  if (layers == nullptr) return true;
  const auto heads = static_cast<double>(layers->heads);
  const double samples = bytes / (2 * heads * *f.length * *f.length);
  return heads == 0 || (samples >= 1 && samples == std::floor(samples));
}

// Sign::count: what it is says nothing.
Sign sign_of(const Match& match) {
  switch (match.kind) {
    case TensorKind::logits:
      return Sign::is_logits;
    case TensorKind::scores:
      return Sign::is_scores;
    case TensorKind::weight:
      return match.element == 4 ? Sign::is_weight32 : Sign::is_weight16;
    case TensorKind::embedding:
      return match.element == 4 ? Sign::is_embedding32 : Sign::is_embedding16;
    case TensorKind::layer:
      return Sign::is_layer32;
    case TensorKind::model:
      return Sign::is_whole_model;
    case TensorKind::partition:
      return Sign::is_partition;
    case TensorKind::activation:
      break;
  }
  return Sign::count;
}

void read_matches(const TextReading& r, Signs& out) {
  for (std::size_t i = 0; i < r.matches.size() && i < 3; ++i) {
    const Match& match = r.matches[i];
    // A model that is only proposed proves nothing, nor does a tensor when another one is likelier.
    if (!match.model.empty() || match.rank < r.matches.front().rank - 0.6) break;
    // A small request only says that the card is full: some number of tokens explains any size.
    const double told = r.asked ? r.asked->bytes : 0;
    const bool in_its_place = r.phase == FailurePhase::loss || r.frames.shows("attention");
    if (match.guessed && !in_its_place && told < 0.015 * r.facts.capacity) continue;
    const Sign sign = sign_of(match);
    // A forward pass makes activations; a weight of that size was there before.
    if (sign == Sign::is_weight32 && r.frames.phase == FailurePhase::forward) continue;
    const bool known = std::any_of(out.begin(), out.end(), [&](const Evidence& e) { return e.sign == sign; });
    if (sign == Sign::count || known) continue;
    add(out, true, sign, "The size that failed is that of " + match.what + " in " + match.dtype + ".");
    add(out, sign == Sign::is_logits && !match.guessed, Sign::is_logits_as_said,
        "The batch and the length that are stated give just these tokens.");
  }
}

// A product that comes out to a number that people choose names the tensor, and so does the only one whose
// tokens a micro-batch can have.
void read_logits_product(const TextReading& r, double tried, Signs& out) {
  constexpr double fewest = 2048;
  // Scores of heads and lengths come to whole powers of two GiB, and so do the few vocabularies that are one.
  const double doublings = std::log2(tried / gibibyte);
  const bool like_scores = doublings >= 1 && std::fabs(doublings - std::round(doublings)) < 1e-9;
  const bool within = r.facts.capacity == 0 || tried < r.facts.capacity;
  if (like_scores || !within || r.products.empty()) return;
  const Product& first = r.products.front();
  const bool alone = first.model.empty() && !first.beyond &&
                     std::all_of(r.products.begin(), r.products.end(),
                                 [](const Product& one) { return one.beyond || one.tensor == "logits"; });
  if (first.tensor != "logits" || first.tokens < fewest || !(first.chosen || alone)) return;
  out.push_back({Sign::product_of_logits,
                 "The size that failed is " + first.words +
                     (first.chosen ? "."
                                   : "; anything else of this model would take more tokens than a "
                                     "micro-batch has.")});
}

// What a person says was asked for is as good as the allocator's line, but for its rounding.
bool tells_a_size(MessageKind kind) { return kind == MessageKind::allocator || kind == MessageKind::spoken; }

// One tensor of a GiB or more.
void read_large_request(const TextReading& r, const Situation& situation, Signs& out) {
  const Message* message = r.message();
  const bool passing = r.phase == FailurePhase::unknown || in_a_pass(r.phase);
  const bool large =
      message != nullptr && tells_a_size(message->family->kind) && r.asked && r.asked->bytes >= gibibyte;
  const bool named = !r.matches.empty() && r.matches.front().model.empty();
  // Where no model is named, the task or the method says that it is a language model.
  const bool language =
      r.facts.parameters > 0 || (large && r.asked->bytes >= 4 * gibibyte &&
                                 (!r.facts.task.empty() || r.facts.method == Method::adapters));
  add(out, large && passing && !named && language && r.facts.method != Method::inference, Sign::large_request,
      "One tensor of " + size_text(large ? r.asked->bytes : 0) +
          " is no weight of this model: in a step only logits, attention scores or a long batch are so "
          "large.");
  if (large && passing && !named) read_logits_product(r, r.asked->bytes, out);
  // What one tensor of the text alone can take: logits in fp32, or the scores of all heads. Flat buffers of
  // all parameters belong to full fine-tuning.
  const double text = largest_of_text(r.facts, situation);
  add(out, large && passing && text > 0 && r.asked->bytes > 1.1 * text, Sign::beyond_the_text,
      "One tensor of " + size_text(large ? r.asked->bytes : 0) +
          " is more than logits or scores of the text take (" + size_text(text) +
          "): other tokens than those of the text's length were there.");
  // Vocabularies and MLPs are no powers of two; heads and lengths are, and so is their square.
  const double gibibytes = large ? r.asked->bytes / gibibyte : 0;
  const bool power =
      gibibytes >= 2 && std::fabs(std::log2(gibibytes) - std::round(std::log2(gibibytes))) < 1e-9;
  add(out,
      power && passing && !named && may_be_scores(gibibytes * gibibyte, r.facts, situation) &&
          r.phase != FailurePhase::loss && message->numbers.allocated &&
          message->numbers.allocated->bytes > 0,
      Sign::is_power_of_two,
      "Exactly " + size_text(gibibytes * gibibyte) +
          " is what batch x heads x length x length comes to, not logits or an MLP.");
}

// Where no figure says what failed, what the stated tokens make of the vocabulary still does: an unfused loss
// holds some three times one copy in fp32.
void read_stated_logits(const TextReading& r, const Situation& situation, Signs& out) {
  constexpr double large_part = 0.15;
  constexpr double large_card = 80e9;  // where no card is named
  const Facts& f = r.facts;
  const Message* message = r.message();
  const bool measured = message != nullptr && message->numbers.tried;
  if (situation.network == nullptr || measured || !f.length || f.method == Method::inference ||
      mentions(r.text, {"liger", "cut_cross", "unsloth", "chunked_nll"}))
    return;
  const double logits =
      4 * f.batch.value_or(1) * *f.length * static_cast<double>(situation.network->vocab_size);
  const double card = f.capacity > 0 ? f.capacity : large_card;
  add(out, logits > large_part * card, Sign::stated_logits,
      "One copy of the logits in fp32 takes " + size_text(logits) + " of " +
          (f.capacity > 0 ? size_text(card) : "whatever card it is") +
          ", and a loss that is not fused holds about three.");
}

}  // namespace

void read_tensor(const TextReading& r, const Situation& situation, Signs& out) {
  read_stated_logits(r, situation, out);
  if (const std::string shape = square_shape(r.text.folded_lines); !shape.empty())
    out.push_back({Sign::is_scores, "A tensor of " + shape +
                                        " has the shape of attention scores: it grows with the square of the "
                                        "length."});
  // Under adapters nothing makes an fp32 copy of a frozen 16-bit weight: the weight itself is held so.
  if (!r.matches.empty() && r.matches.front().model.empty()) {
    const Match& best = r.matches.front();
    add(out,
        best.kind == TensorKind::weight && best.element == 4 && r.facts.method == Method::adapters &&
            r.facts.quantization.empty(),
        Sign::fp32_of_a_frozen_base,
        "The base is frozen, and yet the size that failed is one of its weights in fp32.");
  }
  // A request of many GiB that is to the digit all parameters of a published model is no coincidence.
  if (!r.matches.empty() && !r.matches.front().model.empty() && r.matches.front().bytes >= 4 * gibibyte &&
      r.matches.front().kind == TensorKind::model) {
    const Match& best = r.matches.front();
    add(out, true, Sign::is_whole_model,
        "The size that failed is that of all parameters of " + best.model + " in " + best.dtype + ".");
  }
  const bool states = states_are_fp32(r);
  add(out, states && r.facts.whole > 0, Sign::states_in_fp32,
      "The state that failed is as large as " + (states ? r.matches.front().what : "") +
          " in fp32, and takes its weight's type: weights, gradients and both states in fp32 are 16 bytes a "
          "parameter, " +
          size_text(r.facts.whole) + " in all.");
  read_large_request(r, situation, out);
  read_matches(r, out);
}
}  // namespace plimsoll::diagnosis
