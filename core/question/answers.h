// A question without an error: "will it fit", "why A and not B", "do two cards add up". The request that the
// text says is priced in every way that it leaves open.
//
//     Answers answers = answer(said, catalog);
//     answers.words;             // "QLoRA of Llama-3.1-8B on one RTX 4090 needs 9.8 of 23.5 GiB: it fits."
//     answers.ways[0].verdict;   // "fits"
#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/memory/step/replay.h"
#include "core/question/said_request.h"
#include "core/run/catalog.h"
#include "core/run/usual.h"

namespace plimsoll::question {

struct Way {
  std::string name;  ///< "LoRA on 2 x RTX 3090, a whole copy on each card"
  json::Json request;
  std::vector<run::Choice> taken;  ///< of it, what nobody said
  double needed = 0;               ///< bytes on the fullest card, as a report of it says
  double host = 0;                 ///< bytes of the machine's RAM, at least
  double device = 0;               ///< what nvidia-smi shows, with what PyTorch caches
  double hours = 0;                ///< of the whole run, where time or price is asked; 0: not known
  double usd_per_hour = 0;         ///< the lowest that is known, where a price is asked; 0: none
  double usable = 0;               ///< 0: no card is known
  std::string_view verdict;        ///< fits, tight, no; "" where no card is known
  bool if_so = false;              ///< it fits, and not where what nobody said is otherwise
  bool wide = false;               ///< its weights lie in fp32, and nobody said so
  bool narrow = false;   ///< all of them are trained in 16 bits without a copy in fp32, and nobody said so
  std::string smallest;  ///< where no card is known, what it would need: "48GB (A40, L40S)"
  uint64_t length = 0, batch = 0;
  std::string note;       ///< why it needs as much as nobody expects: experts that stay unquantised
  std::string unsaid;     ///< what it needs where what nobody said is otherwise; "" nothing
  memory::Snapshot live;  ///< at its peak
  std::string parts;      ///< "optimizer 11.97 GiB, weights 5.98 GiB": what most of it is, at the peak
};

struct Answers {
  std::vector<Way> ways;
  json::Errors errors;  ///< why what the text says is no run
  std::string words;
};
Answers answer(const SaidRequest& said, const run::Catalog& catalog);

}  // namespace plimsoll::question
