// Requests drawn from all that the contract can say: every field and word of the field table, every preset,
// and configurations that no preset holds. What is drawn is valid by construction, the same on every
// platform.
//
//     for (uint64_t seed = 0; seed < 200; ++seed) check(answer(drawn_request(seed)));
//     drawn_request(17, {.small = true});            // a model of two layers, for what takes long
//
// Fields are drawn one by one from their rows (value.h). What hangs together (adapters and quantization, GPUs
// and their strategy, the lengths of a completion) is drawn first, in request.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/run/catalog.h"
#include "tests/drawn/dice.h"

namespace plimsoll::drawn {

using json::Json;

/// The presets of the tests, read once.
const run::Catalog& presets();

/// What a request is drawn for.
struct Wish {
  bool gpu = false;    ///< a card is chosen
  bool small = false;  ///< a model that is answered quickly, whatever is asked of it
  bool plain = false;  ///< no optional part of the report is wanted
};

Json drawn_request(uint64_t seed, const Wish& wish = {});

/// Words of the table that no valid request has: weights that no release of Transformers trains on.
bool never_valid(std::string_view pointer, std::string_view word);

/// A config.json that no preset holds: one of theirs with other sizes.
Json drawn_config(Dice& dice, bool small);

/// The pointers of all fields that a request states, "/peft/r" and not "/peft".
std::vector<std::string> stated_fields(const Json& request);

}  // namespace plimsoll::drawn
