#include "core/diagnosis/signs.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/diagnosis/families.h"
#include "core/diagnosis/prose_signs.h"
#include "core/diagnosis/sign_parts.h"
#include "core/diagnosis/text.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;

// "shape[16,12,512,512]": four dimensions, the last two alike.
bool is_square_of_heads(std::string_view quote) {
  std::vector<uint64_t> dimensions(1);
  const std::size_t first = quote.find("shape[") + 6;
  for (std::size_t i = first; i < quote.size() && i < first + 64 && quote[i] != ']'; ++i) {
    if (quote[i] == ',') dimensions.push_back(0);
    if (is_digit(quote[i]))
      dimensions.back() = dimensions.back() * 10 + static_cast<uint64_t>(quote[i] - '0');
  }
  return dimensions.size() == 4 && dimensions[2] == dimensions[3] && dimensions[3] >= 64;
}

// The share against the weights, which is all that a start of vLLM hangs on before the keys and values.
std::string with_share(std::string_view what, const Facts& f) {
  std::string said(what);
  if (!f.vllm_share || f.capacity == 0 || f.weights16 == 0) return said;
  const double share = *f.vllm_share * f.capacity;
  return said + " Here the share is " + size_text(share) + " and the weights take " + size_text(f.weights16) +
         " in 16 bits" + (share < f.weights16 ? ", which is more." : ".");
}

void read_sender(const Message& message, const Facts& facts, Signs& out) {
  struct Sender {
    const Family* family;
    Sign sign;
  };
  static constexpr Sender senders[] = {
      {&allocator_family, Sign::says_allocator},
      {&async_pool_family, Sign::says_allocator},
      {&host_family, Sign::says_host},
      {&driver_family, Sign::says_driver},
      {&handle_family, Sign::says_handle},
      {&nccl_family, Sign::says_nccl},
      {&bitsandbytes_family, Sign::says_paged},
      {&mps_family, Sign::says_metal},
      {&mlx_family, Sign::says_mlx},
      {&xla_family, Sign::says_xla},
      {&vllm_family, Sign::says_vllm},
      {&vllm_share_family, Sign::says_vllm_share},
      {&dispatch_family, Sign::says_dispatched},
      {&kernel_family, Sign::says_kernel},
  };
  // TensorFlow's sentence is XLA's too, and says nothing of JAX's share; but it says the shape.
  const std::string quote = fold(message.quote);
  if (message.family == &xla_family && quote.find("tensor with shape[") != std::string::npos) {
    add(out, is_square_of_heads(quote), Sign::is_scores,
        "The tensor that failed has the shape of attention scores: batch x heads x length x length.");
    return;
  }
  add(out, message.family->kind == MessageKind::spoken, Sign::says_in_words,
      std::string(message.family->what));
  for (const Sender& sender : senders) {
    const std::string_view what = message.family->what;
    add(out, message.family == sender.family, sender.sign,
        sender.sign == Sign::says_vllm ? with_share(what, facts) : std::string(what));
  }
}

void read_phase(const TextReading& r, Signs& out) {
  struct InPhase {
    FailurePhase phase;
    Sign sign;
    const char* words;
  };
  static constexpr InPhase phases[] = {
      {FailurePhase::load, Sign::loading, "It died while the model was loaded."},
      {FailurePhase::forward, Sign::forward, "It died in the forward pass of a layer."},
      {FailurePhase::loss, Sign::loss,
       "It died in the loss, where logits of all tokens over the vocabulary exist."},
      {FailurePhase::backward, Sign::backward, "It died in the backward pass."},
      {FailurePhase::optimizer, Sign::optimizer, "It died in the optimizer's step."},
      {FailurePhase::eval, Sign::evaluating, "It died while evaluating."},
      {FailurePhase::save, Sign::saving, "It died while saving."},
      {FailurePhase::generate, Sign::generating, "It died while generating."},
      {FailurePhase::merge, Sign::merging, "It died while adapters were merged."},
  };
  for (const InPhase& one : phases) {
    std::string words = one.words;
    if (!r.frames.words.empty() && r.frames.phase == one.phase) words += " Frame: " + r.frames.words;
    add(out, r.phase == one.phase, one.sign, std::move(words));
  }
  struct Shown {
    std::string_view frame;
    Sign sign;
    const char* words;
  };
  static constexpr Shown shown[] = {
      {"states", Sign::makes_states,
       "The frame makes exp_avg or exp_avg_sq, which do not exist before the first step."},
      {"foreach", Sign::foreach,
       "The frame is the multi-tensor path, which holds one more list of all parameters."},
      {"prepare", Sign::prepares,
       "The frame prepares model and optimizer, which may create all states at once."},
      {"dequantize", Sign::dequantizes, "The frame expands a quantised weight to 16 bits."},
      {"attention", Sign::attention, "The frame is in attention."},
      {"scores", Sign::explicit_scores,
       "The frame makes the scores of all positions, one by one: eager attention."},
      {"varlen", Sign::varlen, "The frame is attention over packed sequences."},
      {"dora", Sign::dora_frame, "The frame is DoRA's norm or factor, as large as the weight."},
      {"vision", Sign::vision_frame, "The frame is in the vision tower."},
      {"kbit", Sign::kbit_frame,
       "The frame prepares a quantised model, which casts embeddings and norms to fp32."},
      {"resume", Sign::resumes, "The frame loads a checkpoint."},
      {"logits", Sign::logits_frame, "The frame works on the logits."},
      {"dequantize_base", Sign::dequantizes_base, "The frame expands the whole quantised checkpoint."},
      {"moves", Sign::moves_model,
       "The frame moves the whole model to the card, before any optimizer exists."},
      {"vllm", Sign::vllm_frame, "The frame starts vLLM."},
      {"merge", Sign::merging, "The frame merges adapters into the weights."},
  };
  for (const Shown& one : shown) add(out, r.frames.shows(one.frame), one.sign, one.words);
}

}  // namespace

bool is_a_known_capacity(const Situation& situation, double capacity) {
  return std::any_of(situation.gpus.begin(), situation.gpus.end(), [&](const hardware::Gpu* gpu) {
    const double off = std::max(static_cast<double>(gpu->usable_bytes) - capacity,
                                capacity - static_cast<double>(gpu->usable_high_bytes));
    return gpu->usable_bytes > 0 && gpu->segment != "slice" && off <= 0.015 * capacity;
  });
}

// What holds of full fine-tuning alone.
bool needs_full(Sign sign) {
  return sign == Sign::full_tuning || sign == Sign::driver_full_of_run || sign == Sign::whole_beyond ||
         sign == Sign::share_beyond || sign == Sign::share_is_most;
}

// Where nobody said what is trained, the weights alone are there whatever it is.
bool holds_of_weights(Evidence& e, const Facts& f) {
  const bool beyond = e.sign == Sign::whole_beyond || e.sign == Sign::share_beyond;
  if (!beyond || f.several() || !f.quantization.empty() || f.capacity == 0 ||
      f.weights16 < most_at_rest * f.capacity)
    return false;
  e.words = "The weights alone take " + size_text(f.weights16) + " in 16 bits; the card has " +
            size_text(f.capacity) + ".";
  return true;
}

std::vector<Evidence> collect(const TextReading& reading, const Situation& situation) {
  Signs out;
  if (reading.message() != nullptr) read_sender(*reading.message(), reading.facts, out);
  read_figures(reading, situation, out);
  read_table(reading, out);
  read_phase(reading, out);
  read_words(reading, out);
  read_run(reading, out);
  read_arithmetic(reading, out);
  read_tensor(reading, situation, out);
  // One sign once; the first to be seen explains it.
  std::vector<bool> seen(static_cast<std::size_t>(Sign::count));
  Signs unique;
  for (Evidence& e : out) {
    if (seen[static_cast<std::size_t>(e.sign)]) continue;
    if (reading.facts.method_assumed && needs_full(e.sign) && !holds_of_weights(e, reading.facts)) continue;
    seen[static_cast<std::size_t>(e.sign)] = true;
    e.words = whole_characters(e.words);  // a sentence may be quoted to the middle of a character
    unique.push_back(std::move(e));
  }
  return unique;
}

std::string size_text(double bytes) {
  struct Unit {
    double bytes;
    const char* name;
  };
  static constexpr Unit units[] = {
      {1099511627776.0, "TiB"}, {gibibyte, "GiB"}, {mebibyte, "MiB"}, {1024, "KiB"}};
  std::array<char, 48> out{};
  for (const Unit& unit : units) {
    if (bytes < unit.bytes) continue;
    std::snprintf(out.data(), out.size(), "%.2f %s", bytes / unit.bytes, unit.name);
    return out.data();
  }
  std::snprintf(out.data(), out.size(), "%.0f bytes", bytes);
  return out.data();
}

}  // namespace plimsoll::diagnosis
