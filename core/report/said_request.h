// What a text says of a run, as a request: model, method, cards and how many, batch, length, task. What it
// does not say is not in it, and is named.
//
//     SaidRequest said = said_request("QLoRA of Llama-3.1-8B on one RTX 4090, 2048 tokens. Will it fit?",
//     catalog); said.request();      // {"model": "Llama-3.1-8B", "quantization": {"load_in_4bit": true},
//     "peft": {}, ...} said.unknown;        // {"/training/per_device_train_batch_size", "the micro-batch"}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/text.h"
#include "core/exchange/import.h"
#include "core/run/catalog.h"

namespace plimsoll::report {

/// Cards that a text speaks of: "4x RTX 4090 or one A100 80GB" are two of these.
struct SaidCards {
  const hardware::Gpu* gpu = nullptr;
  double count = 0;  ///< 0: not said
};

struct SaidRequest {
  std::string model;      ///< as the text names it; "" none that is known
  recipe::Values values;  ///< by pointer; "/peft": true alone is an empty section
  bool method = false;    ///< it says whether adapters or all weights are trained
  std::vector<SaidCards> cards;
  std::vector<run::Missing> unknown;

  json::Json request() const;
};
SaidRequest said_request(const diagnosis::Text& text, const run::Catalog& catalog);

/// A model that a text names, as it names it: "meta-llama/Meta-Llama-3-8B", "Llama 3.1 8B"; "" none.
std::string model_in(std::string_view text, const run::Catalog& catalog);

/// "Will it fit?", "单卡能微调吗": a sentence that asks, in words and not in a configuration.
bool asks(std::string_view folded);

}  // namespace plimsoll::report
