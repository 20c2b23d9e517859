#include "core/memory/layers/tuners.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::memory {

namespace {

using recipe::Peft;

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

constexpr Tuner beside_linears(std::string_view id) { return {.id = id, .place = recipe::tuner_place(id)}; }

// What is kept is read of the methods without steps of their own in tuner_steps.cpp; the others have zeros
// here.
constexpr Tuner table[] = {
    {.id = "LOHA",
     .input = 1,
     .weights = 1,
     .scratch = 3,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           low_rank(a.in, a.out, a.r, s);
           low_rank(a.in, a.out, a.r, s);
         }},
    {.id = "LOKR",
     .input = 1,
     .weights = 1,
     .scratch = 1,
     .shapes = [](const AdaptedLinear& a, TunerShapes& s) { lokr(a.in, a.out, a.peft, s); }},
    {.id = "HIRA",
     .input = 1,
     .weights = 1,
     .scratch = 2,
     .shapes = [](const AdaptedLinear& a, TunerShapes& s) { low_rank(a.in, a.out, a.r, s); }},
    {.id = "FOURIERFT",
     .input = 1,
     .weights = 1,
     .scratch = 4,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           s.trained.emplace_back(static_cast<double>(a.peft.tuner.n_frequency), 0);
         }},
    {.id = "WAVEFT",
     .input = 1,
     .weights = 1,
     .scratch = 3,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           s.trained.emplace_back(static_cast<double>(a.peft.tuner.n_frequency), 0);
         }},
    {.id = "FROD",
     .input = 1,
     .weights = 1,
     .scratch = 2,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           const double side = std::max(a.in, a.out);
           s.trained.emplace_back(std::floor(a.peft.tuner.sparse_rate * side * side) + side, 0);
         }},
    {.id = "PEANUT",
     .input = 1,
     .weights = 2,
     .scratch = 2,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           s.trained.emplace_back(a.r, a.out);
           s.trained.emplace_back(a.out, a.r);
         }},
    {.id = "RANDLORA",
     .input = 1,
     .weights = 2,
     .scratch = 1,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           const double narrow = std::min(a.in, a.out), bases = divided(narrow, a.r);
           s.trained.emplace_back(a.r, bases);
           s.trained.emplace_back(bases, narrow);
         }},
    {.id = "C3A",
     .in_place = true,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           const auto block = static_cast<double>(a.peft.tuner.block_size);
           s.trained.emplace_back(a.out, divided(a.in, block));
         }},
    {.id = "DELORA",
     .input = 1,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           low_rank(a.in, a.out, a.r, s);
           s.trained.emplace_back(1, 0);
           s.frozen = a.in;
           s.rank = 2 * a.r;
         }},
    {.id = "DEFT",
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           if (!a.peft.tuner.para) s.trained.emplace_back(a.r, a.in);
           s.trained.emplace_back(a.out, a.r);
           s.rank = a.peft.tuner.para ? a.r : 2 * a.r;
         }},
    {.id = "GRALORA",
     .input = 1,
     .in_place = true,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           low_rank(a.in, a.out, a.r, s);
           s.rank = 2 * a.r;
         }},
    {.id = "VBLORA",
     .input = 1,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           const auto vector = static_cast<double>(a.peft.tuner.vector_length),
                      bank = static_cast<double>(a.peft.tuner.num_vectors);
           s.trained.emplace_back(a.r * divided(a.in, vector), bank);
           s.trained.emplace_back(a.r * divided(a.out, vector), bank);
           s.rank = a.r;
         }},
    {.id = "OFT", .shapes = [](const AdaptedLinear& a, TunerShapes& s) { oft(a.in, a.peft, s); }},
    {.id = "MISS",
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           const bool mini = a.peft.tuner.init_weights == "mini";
           s.trained.emplace_back(a.r, mini ? static_cast<double>(a.peft.tuner.mini_r) : a.out);
           s.rank = a.r;
         }},
    {.id = "BONE",
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           s.trained.emplace_back(a.r, a.out);
           s.rank = a.r;
         }},
    {.id = "LORA_FA",
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {  // A stays as it was drawn
           s.trained.emplace_back(a.out, a.r);
           s.frozen = a.r * a.in;
           s.rank = a.r;
         }},
    // MiSS and Bone with init_weights "bat".
    {.id = "BAT",
     .input = 1,
     .weights = 2,
     .scratch = 1,
     .shapes = [](const AdaptedLinear& a, TunerShapes& s) { s.trained.emplace_back(a.r, a.out); }},
    {.id = "VERA",
     .output = 1,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           s.trained.emplace_back(a.r, 0);
           s.trained.emplace_back(a.out, 0);
           s.rank = a.r;
         }},
    {.id = "PVERA",
     .output = 1,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           s.trained.emplace_back(2 * a.r, 0);
           s.trained.emplace_back(a.out, 0);
           s.rank = 4 * a.r;
         }},
    {.id = "ROAD",
     .output = 2,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           const double angles = a.peft.tuner.variant == "road_1"   ? a.out / 2
                                 : a.peft.tuner.variant == "road_2" ? a.out
                                                                    : 2 * a.out;
           s.trained.emplace_back(angles, 0);
           s.trained.emplace_back(angles, 0);
         }},
    {.id = "PSOFT",
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           s.trained.emplace_back(triangle(a.r), 0);
           s.trained.emplace_back(2 * a.r, 0);
           s.frozen = a.r * (a.in + a.out) + 2 * triangle(a.r);
           s.rank = a.r;
         }},
    {.id = "BEFT",
     .shapes = [](const AdaptedLinear& a, TunerShapes& s) { s.trained.emplace_back(a.out, 0); }},
    {.id = "IA3", .shapes = [](const AdaptedLinear& a, TunerShapes& s) { s.trained.emplace_back(a.out, 0); }},
    {.id = "BOFT",
     .scratch = 1,
     .base_output = true,
     .replaces = true,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           s.trained.emplace_back(a.in * static_cast<double>(a.peft.tuner.boft_n_butterfly_factor),
                                  static_cast<double>(a.peft.tuner.boft_block_size));
           s.trained.emplace_back(a.out, 0);
           s.frozen =
               a.in * a.in * static_cast<double>(a.peft.tuner.boft_n_butterfly_factor);  // permutations
         }},
    {.id = "SHIRA",
     .scratch = 1,
     .replaces = true,
     .shapes =
         [](const AdaptedLinear& a, TunerShapes& s) {
           s.trained.emplace_back(a.r * (a.in + a.out), 0);
           s.frozen = 2 * a.r * (a.in + a.out);  // two 32-bit indices an entry
         }},
    beside_linears("LN_TUNING"),
    beside_linears("PROMPT_TUNING"),
    beside_linears("P_TUNING"),
    beside_linears("PREFIX_TUNING"),
    beside_linears("ADAPTION_PROMPT"),
};

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

TunerShapes shapes_of(const Tuner& tuner, double in, double out, const Peft& peft) {
  TunerShapes shapes;
  if (tuner.shapes != nullptr) tuner.shapes({in, out, static_cast<double>(peft.r), peft}, shapes);
  return shapes;
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
