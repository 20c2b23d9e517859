// One setting of a request changed, and what the two reports must have to do with each other.
#include <cmath>

#include "core/report/report.h"
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {

namespace {

constexpr double beyond_telling = 9007199254740992.0;  // 2^53: a report says no more

double number(const Draw& draw, const std::string& pointer) {
  return draw.report.at(Json::json_pointer(pointer)).get<double>();
}

// With every default in writing: some follow the field that is changed.
// What is kept for the backward when the loss is known.
double kept(const Draw& draw) {
  double bytes = 0;
  for (const Json& row : draw.report.at(Json::json_pointer("/memory/instants"))) {
    if (row.at("id") != "loss") continue;
    for (const Json& line : row.at("components")) {
      if (line.at("id") == "activations" || line.at("id") == "boundaries")
        bytes += line.at("bytes").get<double>();
    }
  }
  return bytes;
}

}  // namespace

void the_same_is_answered_twice(const Draw& draw) {
  EXPECT_EQ(draw.answer, report::report_text(draw.text, presets())) << said(draw);
}

// per_unit is the difference between two reports.
void one_more_costs_what_is_said(const Draw& draw) {
  const Json request = written_out(draw);
  const double before = number(draw, "/memory/peak/allocated");
  if (before >= beyond_telling) return;
  const auto costs = [&](const char* unit, const char* pointer) {
    const Json::json_pointer where(pointer);
    if (!request.contains(where)) return;
    Json more = request;
    more[where] = more.at(where).get<uint64_t>() + 1;
    const Draw other = answered(draw.seed, more);
    if (!is_answered(other)) return;  // beyond its range, or at odds with other lengths
    const double after = number(other, "/memory/peak/allocated");
    if (after >= beyond_telling) return;
    EXPECT_NEAR(after - before, number(draw, std::string("/memory/per_unit/") + unit), 2 + 1e-15 * after)
        << unit << said(draw);
  };
  costs("sample", "/training/per_device_train_batch_size");
  costs("token", "/training/max_length");
  if (draw.request.contains("peft")) costs("rank", "/peft/r");
}

void checkpointing_keeps_less_until_the_loss(const Draw& draw) {
  // Transformers 5 makes the input of every embedding require a gradient under checkpointing, so that a
  // frozen vision tower, which keeps nothing otherwise, takes part in autograd.
  Json request = written_out(draw);
  if (request.contains("vision")) return;
  // Without a weight that is trained (OLMo's norms have none) a backward begins at checkpointing's hook
  // alone.
  if (number(draw, "/model/trainable") == 0) return;
  // Selective checkpointing saves what attention and matrix products give, wanted or not: a frozen product's
  // backward asks for nothing, and layers of which no module has an adapter keep little without it.
  const auto selective = "/training/selective_checkpointing"_json_pointer;
  const bool selects = request.contains(selective) && request.at(selective) == true;
  if (selects && request.contains("peft")) return;
  // Of a network that is spread, another GPU may be the fullest.
  if (draw.request.contains("/model_args/device_map"_json_pointer)) return;
  // Frozen layers below the first trained one keep nothing for a backward that never reaches them; under
  // checkpointing a hook takes it down to the embedding, and each of them keeps its input.
  for (const char* field : {"freeze_trainable_layers", "lisa_activated_layers", "llamapro_num_new_blocks",
                            "unfrozen_parameters"}) {
    if (draw.request.contains("training") && draw.request["training"].contains(field)) return;
  }
  // So does a network of one layer whose adapters come late in it.
  const auto layers = "/model/config/num_hidden_layers"_json_pointer;
  const bool one_layer = draw.request.contains(layers) && draw.request.at(layers) == 1;
  if (one_layer && draw.request.contains("peft")) return;
  // So do those below the prompts of LLaMA-Adapter, and all where a prefix meets no attention.
  const std::string tuner = stated(draw, "/peft/peft_type");
  if (tuner == "ADAPTION_PROMPT" || tuner == "PREFIX_TUNING") return;
  // And all where a classifier's new head alone is trained: LN tuning finds nothing in OLMo.
  if (tuner == "LN_TUNING") return;
  // A block of T5 is handed the position bias that all of them share: a checkpoint holds its arguments, and
  // adapters in the queries alone keep no scores that would need it.
  const bool is_t5 = request.at("model").dump().find("t5") != std::string::npos;
  if (request.contains("peft") && is_t5) return;
  // So do the text layers where only a vision tower has adapters, and there are no images.
  const auto searched = "/peft/finetune_language_layers"_json_pointer;
  if (draw.request.contains(searched) && draw.request.at(searched) == false) return;
  Json& training = request["training"];
  training["gradient_checkpointing"] = true;
  const Draw with = answered(draw.seed, request);
  training["gradient_checkpointing"] = false;
  const Draw without = answered(draw.seed, request);
  if (!is_answered(with) || !is_answered(without)) return;  // what asks for checkpointing
  if (kept(with) >= beyond_telling || kept(without) >= beyond_telling) return;
  EXPECT_LE(kept(with), kept(without)) << said(draw);
}

}  // namespace plimsoll::drawn
