#include "core/memory/layers/tuners.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::memory {

namespace {

using recipe::Peft;

// What is kept is read of the methods without steps of their own in tuner_steps.cpp; the others have zeros
// here.
constexpr Tuner table[] = {
    {.id = "LOHA", .input = 1, .weights = 1, .scratch = 3},
    {.id = "LOKR", .input = 1, .weights = 1, .scratch = 1},
    {.id = "HIRA", .input = 1, .weights = 1, .scratch = 2},
    {.id = "FOURIERFT", .input = 1, .weights = 1, .scratch = 4},
    {.id = "WAVEFT", .input = 1, .weights = 1, .scratch = 3},
    {.id = "FROD", .input = 1, .weights = 1, .scratch = 2},
    {.id = "PEANUT", .input = 1, .weights = 2, .scratch = 2},
    {.id = "RANDLORA", .input = 1, .weights = 2, .scratch = 1},
    {.id = "C3A", .in_place = true},
    {.id = "DELORA", .input = 1},
    {.id = "DEFT"},
    {.id = "GRALORA", .input = 1, .in_place = true},
    {.id = "VBLORA", .input = 1},
    {.id = "OFT"},
    {.id = "MISS"},
    {.id = "BONE"},
    {.id = "LORA_FA"},
    {.id = "BAT", .input = 1, .weights = 2, .scratch = 1},  // MiSS and Bone with init_weights "bat"
    {.id = "VERA", .output = 1},
    {.id = "PVERA", .output = 1},
    {.id = "ROAD", .output = 2},
    {.id = "PSOFT"},
    {.id = "BEFT"},
    {.id = "IA3"},
    {.id = "BOFT", .scratch = 1, .base_output = true, .replaces = true},
    {.id = "SHIRA", .scratch = 1, .replaces = true},
    {.id = "LN_TUNING", .place = TunerPlace::norms},
    {.id = "PROMPT_TUNING", .place = TunerPlace::prompt},
    {.id = "P_TUNING", .place = TunerPlace::prompt},
    {.id = "PREFIX_TUNING", .place = TunerPlace::prefix},
    {.id = "ADAPTION_PROMPT", .place = TunerPlace::attention},
};

// PEFT src/peft/tuners/lokr/layer.py factorization: the factor itself when it divides, else the divisor
// nearest to the square root.
std::pair<double, double> factors(double n, double factor) {
  if (factor > 0 && std::fmod(n, factor) == 0)
    return {std::min(factor, n / factor), std::max(factor, n / factor)};
  double m = 1;
  for (double d = 1; d * d <= n; ++d) {
    if (std::fmod(n, d) == 0 && (factor <= 0 || d <= factor)) m = d;
  }
  return {m, n / m};
}

double divided(double n, double by) { return by > 0 ? std::ceil(n / by) : n; }

// An orthogonal block of n x n is given by its upper triangle.
double triangle(double n) { return n * (n - 1) / 2; }

void lokr(double in, double out, const Peft& p, TunerShapes& s) {
  const auto [out_l, out_k] = factors(out, p.tuner.decompose_factor);
  const auto [in_m, in_n] = factors(in, p.tuner.decompose_factor);
  const auto r = static_cast<double>(p.r);
  s.trained.emplace_back(out_l, in_m);
  if (r < std::max(out_k, in_n) / 2) {
    s.trained.emplace_back(out_k, r);
    s.trained.emplace_back(r, in_n);
  } else {
    s.trained.emplace_back(out_k, in_n);
  }
}

void low_rank(double in, double out, double r, TunerShapes& s) {
  s.trained.emplace_back(r, in);
  s.trained.emplace_back(out, r);
}

void oft(double in, const Peft& p, TunerShapes& s) {
  const auto blocks = static_cast<double>(p.r);
  const double block = blocks > 0 && p.tuner.oft_block_size == 0
                           ? std::floor(in / blocks)
                           : static_cast<double>(p.tuner.oft_block_size);
  const double count = block > 0 ? std::floor(in / block) : 0;
  s.trained.emplace_back(count, triangle(block));
  s.frozen = 2 * triangle(block);  // two 64-bit index lists
}

}  // namespace

const Tuner* find_tuner(const recipe::Peft& peft) {
  if (!peft.on || peft.peft_type == "LORA") return nullptr;
  const bool bat = peft.tuner.init_weights == "bat" && (peft.peft_type == "MISS" || peft.peft_type == "BONE");
  return find_tuner(bat ? std::string_view("BAT") : std::string_view(peft.peft_type));
}

const Tuner* find_tuner(std::string_view peft_type) {
  for (const Tuner& tuner : table) {
    if (tuner.id == peft_type) return &tuner;
  }
  return nullptr;
}

TunerShapes shapes_of(const Tuner& tuner, double in, double out, const Peft& p) {
  TunerShapes s;
  const auto r = static_cast<double>(p.r);
  const std::string_view id = tuner.id;
  if (id == "LOHA") {
    low_rank(in, out, r, s);
    low_rank(in, out, r, s);
  } else if (id == "LOKR") {
    lokr(in, out, p, s);
  } else if (id == "HIRA") {
    low_rank(in, out, r, s);
  } else if (id == "GRALORA") {
    low_rank(in, out, r, s);
    s.rank = 2 * r;
  } else if (id == "DELORA") {
    low_rank(in, out, r, s);
    s.trained.emplace_back(1, 0);
    s.frozen = in;
    s.rank = 2 * r;
  } else if (id == "DEFT") {
    if (!p.tuner.para) s.trained.emplace_back(r, in);
    s.trained.emplace_back(out, r);
    s.rank = p.tuner.para ? r : 2 * r;
  } else if (id == "FOURIERFT" || id == "WAVEFT") {
    s.trained.emplace_back(static_cast<double>(p.tuner.n_frequency), 0);
  } else if (id == "FROD") {
    const double side = std::max(in, out);
    s.trained.emplace_back(std::floor(p.tuner.sparse_rate * side * side) + side, 0);
  } else if (id == "PEANUT") {
    s.trained.emplace_back(r, out);
    s.trained.emplace_back(out, r);
  } else if (id == "RANDLORA") {
    const double narrow = std::min(in, out), bases = divided(narrow, r);
    s.trained.emplace_back(r, bases);
    s.trained.emplace_back(bases, narrow);
  } else if (id == "C3A") {
    const auto block = static_cast<double>(p.tuner.block_size);
    s.trained.emplace_back(out, divided(in, block));
  } else if (id == "VBLORA") {
    const auto vector = static_cast<double>(p.tuner.vector_length),
               bank = static_cast<double>(p.tuner.num_vectors);
    s.trained.emplace_back(r * divided(in, vector), bank);
    s.trained.emplace_back(r * divided(out, vector), bank);
    s.rank = r;
  } else if (id == "OFT") {
    oft(in, p, s);
  } else if (id == "BOFT") {
    s.trained.emplace_back(in * static_cast<double>(p.tuner.boft_n_butterfly_factor),
                           static_cast<double>(p.tuner.boft_block_size));
    s.trained.emplace_back(out, 0);
    s.frozen = in * in * static_cast<double>(p.tuner.boft_n_butterfly_factor);  // permutations
  } else if (id == "MISS") {
    const bool mini = p.tuner.init_weights == "mini";
    s.trained.emplace_back(r, mini ? static_cast<double>(p.tuner.mini_r) : out);
    s.rank = r;
  } else if (id == "BONE" || id == "BAT") {
    s.trained.emplace_back(r, out);
    s.rank = id == "BONE" ? r : 0;
  } else if (id == "LORA_FA") {  // A stays as it was drawn
    s.trained.emplace_back(out, r);
    s.frozen = r * in;
    s.rank = r;
  } else if (id == "VERA") {
    s.trained.emplace_back(r, 0);
    s.trained.emplace_back(out, 0);
    s.rank = r;
  } else if (id == "PVERA") {
    s.trained.emplace_back(2 * r, 0);
    s.trained.emplace_back(out, 0);
    s.rank = 4 * r;
  } else if (id == "ROAD") {
    const double angles = p.tuner.variant == "road_1" ? out / 2 : p.tuner.variant == "road_2" ? out : 2 * out;
    s.trained.emplace_back(angles, 0);
    s.trained.emplace_back(angles, 0);
  } else if (id == "PSOFT") {
    s.trained.emplace_back(triangle(r), 0);
    s.trained.emplace_back(2 * r, 0);
    s.frozen = r * (in + out) + 2 * triangle(r);
    s.rank = r;
  } else if (id == "BEFT" || id == "IA3") {
    s.trained.emplace_back(out, 0);
  } else if (id == "SHIRA") {
    s.trained.emplace_back(r * (in + out), 0);
    s.frozen = 2 * r * (in + out);  // two 32-bit indices an entry
  }
  return s;
}

SharedShapes shared_of(const Tuner& tuner, double widest_in, double widest_out, const Peft& p) {
  SharedShapes s;
  const auto r = static_cast<double>(p.r);
  if (tuner.id == "VERA") s.frozen = r * (widest_in + widest_out);
  if (tuner.id == "PVERA") s.frozen = r * (2 * widest_in + widest_out);
  if (tuner.id == "FROD") {  // one basis for each kind of target, whatever the number of layers
    const double side = std::max(widest_in, widest_out);
    s.frozen = static_cast<double>(p.target_modules.size()) * side * side;
  }
  if (tuner.id == "VBLORA") s.trained = static_cast<double>(p.tuner.num_vectors * p.tuner.vector_length);
  if (tuner.id == "RANDLORA") {
    const double narrow = std::min(widest_in, widest_out);
    s.frozen = r * narrow + divided(narrow, r) * r * std::max(widest_in, widest_out);
  }
  return s;
}

}  // namespace plimsoll::memory
