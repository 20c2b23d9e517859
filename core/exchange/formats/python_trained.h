// Which of the models that a script loads is the one that it trains: what its trainer is given, followed back
// through what made it. What only other models are given says nothing of it.
//
//     Trained trained = trained_in(read_python(source).root);
//     trained.model;     // the call of from_pretrained, null where the trainer loads it by its name
//     if (trained.is_anothers(call)) continue;
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

struct Trained {
  const Node& python;
  const Member* trainer = nullptr;      ///< the one that is read
  const Member* model = nullptr;        ///< the call that loads what it trains
  const Member* settings = nullptr;     ///< the call that makes the trainer's arguments
  bool told = false;                    ///< the trainer says which model it is, or names it
  std::string_view order = {};          ///< the trainer's arguments without a name
  std::string_view task = {};           ///< of the trainer that is read
  std::set<const Member*> own = {};     ///< calls that made the model and the trainer's settings
  std::set<const Member*> others = {};  ///< calls that made other models and trainers
  struct Beside {
    std::string key;   ///< the trainer's argument: "reward_model"
    std::string name;  ///< of the model; "" where that is not known
  };
  std::vector<Beside> beside = {};  ///< models that the trainer is given besides

  /// Whether a call is one of another model's, or another one of its kind is this run's.
  bool is_anothers(const Member& call) const;
  /// The name of an argument of the trainer that is read: "model" of "0", or of "policy".
  std::string argument(const std::string& key) const;
  const Beside* find_beside(std::string_view key) const;
};

Trained trained_in(const Node& python);

}  // namespace plimsoll::exchange
