// A request as a script of Transformers, TRL or Unsloth.
#include "core/exchange/formats/python_export.h"

#include <algorithm>

#include "core/exchange/formats/python_whole.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// Tasks whose configuration TRL 1.16 has, some of them in trl.experimental.
constexpr std::string_view trained_tasks = "sft dpo kto grpo rloo reward orpo cpo";

}  // namespace

bool write_script(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/model" || pointer == "/training/max_length") {
    out.put(pointer == "/model" ? "model.model_name_or_path" : "training.max_length", value, pointer);
    return true;
  }
  // Not to call the preparation says nothing: PEFT's guide calls it, and so does the default.
  if (pointer == "/quantization/prepare_for_kbit_training" && value == Json(false)) {
    out.left_out.push_back(pointer);
    return true;
  }
  // To load it says it.
  if (pointer == "/model_args/loaded_by_trainer" && value == Json(false) && out.is("/stack", "trl"))
    return true;
  if (pointer == "/peft") {
    out.put("$adapter", "peft", pointer);
    return true;
  }
  if (pointer == "/task") {
    if (!in_list(value.get<std::string>(), trained_tasks)) return false;
    out.put("$task", value, pointer);
    return true;
  }
  return write_training(out, "training", pointer, value);
}

// The Trainer has no other tasks, and no length: that is the tokenizer's.
bool write_hf_script(Writing& out, const std::string& pointer, const Json& value) {
  if (in_list(pointer,
              "/training/packing /training/padded_batches /training/loss_kernel /rl/* "
              "/training/activation_offloading") ||
      (pointer == "/task" && value != "sft")) {
    out.left_out.push_back(pointer);
    return true;
  }
  if (pointer == "/task") return true;
  if (pointer == "/training/max_length") {
    out.put("length.max_length", value, pointer);
    return true;
  }
  return write_script(out, pointer, value);
}

// What PEFT's guide calls, and the report counts where nobody says otherwise; left out it would be another run.
void close_hf_script(Writing& out) {
  const bool bits = out.is("/quantization/load_in_4bit", true) || out.is("/quantization/load_in_8bit", true);
  if (bits && out.wrote("$adapter") && out.wrote("model.model_name_or_path") &&
      out.find("/quantization/prepare_for_kbit_training") == nullptr)
    out.put("quantization.prepare_for_kbit_training", true);
}

// Unsloth's loader takes two switches for the base; the rest it decides itself.
bool write_unsloth_script(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/model" || pointer == "/training/max_length") return false;
  if (pointer.rfind("/quantization/", 0) == 0 && pointer != "/quantization/load_in_4bit" &&
      pointer != "/quantization/load_in_8bit") {
    out.left_out.push_back(pointer);
    return true;
  }
  return write_script(out, pointer, value);
}

// Left out, load_in_4bit is on.
void close_unsloth_script(Writing& out) {
  if (!out.wrote("model.load_in_4bit") && !out.is("/quantization/load_in_8bit", true))
    out.put("model.load_in_4bit", false);
  leave_out_raised_batch(out);
}

// The script loads the model itself, in the type that it was published in; where the request leaves that to
// TRL's trainer of today, an unquantised one is loaded in fp32 (presets/stacks/trl.json).
void close_trl_script(Writing& out) {
  const bool otherwise = std::any_of(out.values.begin(), out.values.end(), [](const auto& one) {
    return one.first.rfind("/quantization", 0) == 0 || one.first.rfind("/versions/", 0) == 0;
  });
  const bool published = out.is("/task", "orpo") || out.is("/task", "cpo") || out.is("/task", "simpo");
  if (!otherwise && !published && !out.is("/model_args/loaded_by_trainer", false) &&
      out.wrote("model.model_name_or_path") && !out.wrote("model.dtype"))
    out.put("model.dtype", "float32");
}

}  // namespace plimsoll::exchange
