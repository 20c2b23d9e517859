// A request as arguments of `swift sft` and `swift rlhf`.
#include "core/exchange/formats/ms_swift.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// What a word of swift's says besides is said only where the request says it too.
bool says_more(const Writing& out, const std::string& pointer, const Json& value) {
  const auto task = out.word("/task");
  const bool online = task == "grpo" || task == "ppo";
  if (pointer == "/training/max_length") return online;  // of the prompt
  if (pointer != "/model_args/dtype") return false;
  return value == "auto" || !out.is(value == "bfloat16" ? "/training/bf16" : "/training/fp16", true);
}

// swift/arguments/rlhf_args.py RLHFArguments, in the words of a request.
constexpr std::string_view rlhf_types = "dpo orpo simpo kto cpo reward ppo grpo";

// load_in_4bit or load_in_8bit.
bool write_bits(Writing& out, const std::string& pointer, const Json& value) {
  if (value != Json(true)) return false;
  out.put("quant_method", "bnb");
  out.put("quant_bits", pointer == "/quantization/load_in_4bit" ? 4 : 8, pointer);
  return true;
}

// One word names the settings that swift brings along; their details are not said with it.
bool write_sharing(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/parallel/strategy") {
    const std::string word = value.get<std::string>();
    if (word.rfind("zero", 0) != 0) return false;
    out.put("deepspeed", word, pointer);
    return true;
  }
  if (pointer == "/parallel/num_gpus") {
    out.put("$NPROC_PER_NODE", value, pointer);
    return true;
  }
  out.left_out.push_back(pointer);
  return true;
}

}  // namespace

bool write_ms_swift(Writing& out, const std::string& pointer, const Json& value) {
  if (says_more(out, pointer, value)) {
    out.left_out.push_back(pointer);
    return true;
  }
  if (pointer == "/rl/max_prompt_length") {
    if (!out.is("/task", "grpo") && !out.is("/task", "ppo")) return false;
    out.put("max_length", value, pointer);
    return true;
  }
  if (pointer == "/peft") {
    out.put("tuner_type", "lora", pointer);
    return true;
  }
  if (pointer == "/training/llamapro_num_new_blocks") {
    if (value == Json(0) || out.find("/peft") != nullptr) return false;
    out.put("tuner_type", "llamapro", pointer);
    out.put("llamapro_num_new_blocks", value, pointer);
    return true;
  }
  if (pointer == "/training/truncation_strategy") {
    if (value == "none") return false;
    out.put("truncation_strategy", value == "drop" ? "delete" : "left", pointer);
    return true;
  }
  if (pointer == "/task") {
    if (value == "sft") return true;  // swift sft
    if (!in_list(value.get<std::string>(), rlhf_types)) {
      out.left_out.push_back(pointer);
      return true;
    }
    out.put("rlhf_type", value == "reward" ? Json("rm") : value, pointer);
    return true;
  }
  if (pointer == "/rl/temperature" && !in_list(out.word("/task"), rlhf_types)) {
    out.left_out.push_back(pointer);  // swift sft reads it as another one's
    return true;
  }
  if (pointer == "/rl/vllm_enable_sleep_mode") {
    out.put("sleep_level", value == Json(true) ? 1 : 0, pointer);
    return true;
  }
  if (pointer.rfind("/quantization/load_in_", 0) == 0) return write_bits(out, pointer, value);
  const bool hqq = out.is("/quantization/quant_method", "hqq") && out.find("/quantization/bits") != nullptr;
  if (pointer == "/quantization/bits" && hqq) {
    out.put("quant_bits", value, pointer);
    return true;
  }
  if (pointer.rfind("/parallel/", 0) == 0) return write_sharing(out, pointer, value);
  return write_training(out, "", pointer, value);
}

void close_ms_swift(Writing& out) {
  if (!out.wrote("tuner_type")) out.put("tuner_type", "full");
}

}  // namespace plimsoll::exchange
