// What a text says of a run, as a request: model, method, cards and how many, batch, length, task. What it
// does not say is not in it, and is named.
//
//     SaidRequest said = said_request(clean("QLoRA of Llama-3.1-8B on one RTX 4090. Will it fit?"), catalog);
//     said.request();    // {"model": "Llama-3.1-8B", "quantization": {"load_in_4bit": true}, "peft": {}, ...}
//     said.unknown;      // {"/training/max_length", "the length of a sample in tokens"}, ...
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/text.h"
#include "core/exchange/import.h"
#include "core/recipe/methods.h"
#include "core/run/catalog.h"

namespace plimsoll::question {

/// Who asks is brief, and what stands in a log is no question.
constexpr std::size_t longest_said = 32U << 10U;

/// Cards that a text speaks of: "4x RTX 4090 or one A100 80GB" are two of these.
struct SaidCards {
  const hardware::Gpu* gpu = nullptr;
  double count = 0;  ///< 0: not said
};

/// How weights are trained: adapters on a base in 16 bits or in four, or all of them.
enum class Method { lora, qlora, full };
const recipe::Method& fields_of(Method method);  ///< its row: "QLoRA" and what it loads

/// What is not to be offered: "no LoRA", "not using DeepSpeed".
struct Denied {
  bool deepspeed = false, fsdp = false, offload = false;
};

struct SaidRequest {
  std::string model;            ///< as the text names it; "" none that is known
  json::Json config;            ///< that is pasted beside the sentence, and is the model then; or null
  recipe::Values values;        ///< by pointer; "/peft": true alone is an empty section
  bool method = false;          ///< it says whether adapters or all weights are trained
  std::vector<Method> methods;  ///< all that it speaks of, or leaves open; `values` have the first
  std::string packed_base;      ///< "GPTQ": the format of a base that was quantised before; "" none
  Denied denied;
  std::vector<SaidCards> cards;
  double card_bytes = 0;       ///< "a 24GB card", where none has a name
  double billions = 0;         ///< "a 13B", where no model is named
  std::string like;            ///< a model that is called so large: taken for an answer, never for evidence
  std::string unknown_model;   ///< "Nemotron Nano 9B": a name that no model has
  std::string unknown_card;    ///< "RTX A2000": a name that no card has
  bool unnamed_mac = false;    ///< "MacBook Pro 64 GB": Apple's, and not which chip
  bool any_model = false;      ///< "the biggest model that fits" is asked for
  bool asks_how_many = false;  ///< of a card that it names are needed
  bool asks_price = false, asks_time = false;  ///< what it costs, how long it takes
  double hours = 0;                            ///< for which a price is asked; 0: not said
  double measured_bytes = 0;    ///< what somebody saw, and asks whether it is right; 0: nothing
  bool inference = false;       ///< it asks about a model that is served, and of no training run
  bool model_parallel = false;  ///< tensor or pipeline parallelism, which no replay knows
  /// What it says several values of: "dies with batch 4, runs with batch 2". None of them is in `values`.
  std::map<std::string, std::vector<json::Json>> weighed;
  std::vector<run::Missing> unknown;
  std::vector<std::string> unread;  ///< what it names and no field holds: "FP8", "which layers are frozen"

  json::Json request() const;
  /// Whether nobody said it, nor weighs two values of it.
  bool leaves_open(std::string_view pointer) const;
  /// vLLM takes a share of the card, and is nothing without one.
  bool shares_the_card() const;
};
SaidRequest said_request(const diagnosis::Text& text, const run::Catalog& catalog);
/// Of a text as it was pasted, with a config.json in it or without.
SaidRequest said_in(std::string_view text, const run::Catalog& catalog);

/// Whether there is something to price: a model, one of that size, or the largest that fits.
bool has_subject(const SaidRequest& said);

/// A model that a text names, as it names it: "meta-llama/Meta-Llama-3-8B", "Llama 3.1 8B"; "" none.
std::string model_in(std::string_view text, const run::Catalog& catalog);

/// A name with a size that is no model's: "Nemotron Nano 9B"; "" none.
std::string unknown_model_in(std::string_view text, const run::Catalog& catalog);

/// "Will it fit?", "单卡能微调吗": a sentence that asks, in words and not in a configuration.
bool asks(std::string_view folded);

/// A known model, how it is trained and the card: enough to hold against what failed.
bool states_a_run(const SaidRequest& said);

/// Whether a word of a text says that anything failed: "OOM", "killed", "不够", "plante".
bool tells_of_a_failure(std::string_view folded);

/// "QLoRA of Llama 3.1 8B on a 4090 at 4k": a line that says a run and nothing else asks whether it fits.
bool tells(const SaidRequest& said, std::string_view text);

}  // namespace plimsoll::question
