// One change that a person could make to a run: what it sets, what it costs, and why it helps.
//
// A fix is a file in core/advice/fixes/, which says what it is by name, and a line in fixes.cpp:
//
//     for (const Fix* fix : fixes()) {
//       for (const Level& level : levels_of(*fix, situation)) ...    // empty: it does not apply here
//     }
//
// What a fix saves and how it changes the time of a step is never written down: both are differences between
// two replays and two step times. Fixes of one slot exclude each other (one optimizer, one micro-batch).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/hardware/gpu.h"
#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::advice {

/// What a fix may look at: the run as it is.
struct FixContext {
  const model::Architecture& network;
  const recipe::Recipe& recipe;
  const recipe::Values& values;  ///< every field, given or defaulted
  const hardware::Gpu* gpu = nullptr;
};

/// What it costs in what is learned. Costs of several changes add up.
namespace quality {
constexpr int none = 0;     ///< the same numbers up to rounding
constexpr int parity = 1;   ///< published comparisons find no difference
constexpr int small = 2;    ///< published comparisons find a small one
constexpr int visible = 4;  ///< less is learned, or other data is seen
}  // namespace quality

/// One way to apply a fix; a fix has several where there is a how much, the mildest first.
struct Level {
  recipe::Values changes;  ///< fields to set
  int quality = 0;
  bool may_rise = false;  ///< of a scale: its levels may need more memory than leaving everything as it is
  bool apart = false;     ///< of the last level of a scale: it may need more than the levels before it
  bool uneven = false;    ///< of all levels of a scale: any of them may need least
  std::string said = {};  ///< what it costs with this run's data, in place of the fix's evidence
};

/// choice: levels need not be ordered. scale: every further level needs less memory or the same, whatever
/// else is set but activation offloading, which leaves small tensors where they are, and so does the first one
/// against none unless it `may_rise`; its last level may stand `apart`, and any level of
/// an `uneven` one may need least. The planner relies on it and a test checks it.
enum class FixKind { choice, scale };
/// What must hold for the fix to do anything.
enum class Needs { nothing, adapters, quantised, full };

/// How a fix is written for some stacks. Where none of its settings names a stack, that stack has no way to
/// say it, and the fix is not offered there.
struct Setting {
  std::string_view stacks;  ///< their ids with spaces between them; "*": all
  std::string_view text;    ///< {name} stands for the new value of the field whose last part is that name
};

struct Fix {
  std::string_view id, title;
  std::string_view slot;
  FixKind kind = FixKind::choice;
  Needs needs = Needs::nothing;
  bool to_host = false;       ///< moves to the processor's RAM, which is no way out where the GPU shares it
  std::string_view effort;    ///< one setting | a package | a line of code | a new run
  std::string_view why;       ///< why it saves memory
  std::string_view evidence;  ///< what is known about its effect on what is learned
  std::string_view source;
  std::vector<Level> (*levels)(const FixContext&);  ///< whatever the stack; see levels_of
  std::span<const Setting> settings;
};

/// Every fix, in the order in which equal plans prefer them.
std::span<const Fix* const> fixes();

/// The ways to apply a fix to this run; none where its stack cannot say it.
std::vector<Level> levels_of(const Fix& fix, const FixContext& situation);

/// What is known about a level's effect on what is learned.
std::string evidence_for(const Fix& fix, const Level& level);

/// The exact setting for a stack, with the new values filled in; empty where the stack cannot say it.
std::string setting_for(const Fix& fix, const Level& level, const std::string& stack);

}  // namespace plimsoll::advice
