#include "core/diagnosis/troubles.h"

#include <algorithm>
#include <cstdint>

#include "core/diagnosis/occasion.h"
#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;

// Lengths of a bracket: "16, 20000, 20000".
std::vector<uint64_t> lengths_in(std::string_view text) {
  constexpr std::size_t most = 8;
  std::vector<uint64_t> out;
  bool open = false;
  for (const char c : text) {
    if (is_digit(c)) {
      if (!open) out.push_back(0);
      out.back() = std::min<uint64_t>(out.back() * 10 + static_cast<uint64_t>(c - '0'), 1U << 30U);
    } else if (c != ',' && c != ' ' && c != 'x' && c != '*') {
      return {};
    }
    open = is_digit(c);
    if (out.size() > most) return {};
  }
  return out;
}

constexpr uint64_t least_length = 1024;

}  // namespace

std::string square_shape(std::string_view folded) {
  constexpr std::size_t longest = 48;
  for (std::size_t at = folded.find_first_of("[("); at != std::string_view::npos;
       at = folded.find_first_of("[(", at + 1)) {
    const std::string_view rest = folded.substr(at + 1, longest);
    const std::size_t end = rest.find_first_of("])");
    if (end == std::string_view::npos || end == 0 || !is_digit(rest.front())) continue;
    const std::vector<uint64_t> lengths = lengths_in(rest.substr(0, end));
    const std::size_t n = lengths.size();
    // A picture is as high as wide and has its few channels; a weight has two lengths.
    if (n < 3 || n > 4 || lengths[n - 1] != lengths[n - 2] || lengths[n - 1] < least_length) continue;
    if (says_any(sentence_around(folded, at, end + 2, 60), {"alloc", "tensor", "shape", "oom", "out of mem"}))
      return std::string(folded.substr(at, end + 2));
  }
  for (std::size_t at = folded.find("^2"); at != std::string_view::npos; at = folded.find("^2", at + 2)) {
    std::size_t begin = at;
    while (begin > 0 && is_digit(folded[begin - 1]) && at - begin < 8) --begin;
    if (at - begin >= 4 && says_any(sentence_around(folded, at, 2, 60), {"alloc", "matrix", "tensor", "oom"}))
      return std::string(folded.substr(begin, at + 2 - begin));
  }
  return "";
}

bool runs_in_one_process(std::string_view folded) {
  return says_any(folded, {"member: 1/1", "starting with 1 processes", "only seems to use one",
                           "seems to only use one of", "world size: 1\n", "data parallel gpus = 1\n"});
}

Phase phase_of_a_trouble(std::string_view folded) {
  struct Of {
    Sign sign;
    Phase phase;
  };
  static constexpr Of phases[] = {{Sign::at_save, Phase::save},
                                  {Sign::at_resume, Phase::load},
                                  {Sign::at_evaluation, Phase::eval},
                                  {Sign::generates_rollouts, Phase::generate},
                                  {Sign::says_optimizer, Phase::optimizer}};
  const bool measures = measures_a_finished_model(folded);
  for (const Of& of : phases) {
    if (measures && of.sign == Sign::at_evaluation) continue;
    for (const Trouble& one : moment_lists()) {
      if (one.sign == of.sign && !said_together(folded, one.things, one.verbs, one.reach, one.unless).empty())
        return of.phase;
    }
  }
  return Phase::unknown;
}

void read_troubles(std::string_view folded, std::vector<Evidence>& out) {
  // What a person says stands before a log or behind it, not in its midst.
  constexpr std::size_t most = 64U << 10U;
  if (folded.size() > 2 * most) {
    read_troubles(folded.substr(0, most), out);
    read_troubles(folded.substr(folded.size() - most), out);
    return;
  }
  const bool measures = measures_a_finished_model(folded);
  for (const std::span<const Trouble> list : {trouble_lists(), moment_lists()}) {
    for (const Trouble& one : list) {
      if (measures && one.sign == Sign::at_evaluation) continue;
      if (const std::string said = said_together(folded, one.things, one.verbs, one.reach, one.unless);
          !said.empty())
        out.push_back({one.sign, std::string(one.words) + " (\"" + said + "\")."});
    }
  }
  if (const std::string shape = square_shape(folded); !shape.empty())
    out.push_back({Sign::is_scores, "A tensor of " + shape +
                                        " has the shape of attention scores: it grows with the square of the "
                                        "length."});
}

}  // namespace plimsoll::diagnosis
