// The root causes of out-of-memory failures: one row each (causes/), with what speaks for it.
//
//     causes().front().title;   // what a person reads first
//
// The order of ruling out is in the base figures and weights (logarithms of odds): what the words alone
// decide, then other programs, the host and known bugs, then fragmentation, then the tensor, then the
// estimate.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/cases.h"
#include "core/diagnosis/signs.h"

namespace plimsoll::diagnosis {

enum class Found {
  figures,   ///< the message's own figures or words show it
  frame,     ///< a traceback or the words around the error show it
  request,   ///< takes the configuration of the run
  not_shown  ///< no text of an error can show it: said as a possibility only
};

struct Weight {
  Sign sign;
  float weight;
};

struct Cause {
  std::string_view id, title;
  Found found;
  float base;
  std::initializer_list<Weight> weights;
  std::string_view why;       ///< what happens
  std::string_view remedy;    ///< what gets past it
  std::string_view ask = {};  ///< what would settle it, when it is not settled
};
/// By what they are about, a file each in causes/; `causes()` are all of them, in this order.
extern const std::span<const Cause> causes_of_machine, causes_of_weights, causes_of_tokens, causes_of_choices;
std::span<const Cause> causes();

struct Named {
  const Cause* cause = nullptr;
  double score = 0;
  double confidence = 0;  ///< 0..1, never more than its evidence allows; of all causes together at most 1
  std::vector<std::string> shown;
  std::vector<Sign> signs;         ///< that speak for it
  bool answered = false;           ///< an answer of the person speaks for it
  bool replayed = false;           ///< a replay shows it
  const Case* narrower = nullptr;  ///< the case of it that is shown, or null
};

}  // namespace plimsoll::diagnosis
