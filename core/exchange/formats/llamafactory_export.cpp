// A request as LLaMA-Factory's arguments: its parser stops at a key that none of its classes has.
#include "core/exchange/formats/llamafactory.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// What TRL's classes and from_pretrained alone know.
constexpr std::string_view foreign =
    "/training/eval_packing /training/padded_batches /training/disable_dropout /model_args/device_map";
// The launcher's: FORCE_TORCHRUN and torchrun take all GPUs that there are.
constexpr std::string_view launched = "/parallel/num_gpus";

// enable_liger_kernel takes all of Liger's kernels (model/model_utils/liger_kernel.py); some of them are said with
// Transformers' own switch.
bool names_kernels(const Writing& out) {
  const std::string below = "/training/liger_kernel_config/";
  if (out.is(below + "cross_entropy", true)) return true;
  for (const char* kernel : {"rms_norm", "swiglu", "rope", "fused_linear_cross_entropy"})
    if (out.is(below + kernel, false)) return true;
  return false;
}

bool write_liger_switch(Writing& out, const std::string& pointer, const Json& value) {
  if (value != Json(true) || !names_kernels(out)) return false;
  out.put("use_liger_kernel", true, pointer);
  return true;
}

bool has_no_key(const Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/training/activation_offloading")
    return value != Json(true) || out.is("/training/gradient_checkpointing", false);
  if (pointer == "/training/max_length") return out.is("/task", "ppo");
  if (pointer.rfind("/training/liger_kernel_config/", 0) == 0)
    return !out.is("/training/use_liger_kernel", true) || !names_kernels(out);
  return (pointer.rfind("/rl/", 0) == 0 && pointer != "/rl/beta") || pointer == launched ||
         in_list(pointer, foreign);
}

// Under ZeRO-3 its parser stops at pure_bf16 (hparams/parser.py get_train_args).
bool write_loaded_dtype(Writing& out, const std::string& pointer, const Json& value) {
  const bool parts = out.find("/training/freeze_trainable_layers") != nullptr && out.find("/peft") == nullptr;
  const bool sayable = value == "bfloat16" && !out.is("/parallel/strategy", "zero3") &&
                       (!parts || out.is("/training/upcast_trainable", false));
  if (sayable) out.put("pure_bf16", true, pointer);
  if (!sayable) out.left_out.push_back(pointer);
  return true;
}

}  // namespace

bool write_llamafactory(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/peft") {
    out.put("finetuning_type", "lora", pointer);
    return true;
  }
  if (pointer == "/task") {
    if (value == "classification" || value == "grpo" || value == "rloo" || value == "cpo") return false;
    const bool preference = value == "orpo" || value == "simpo";
    out.put("stage",
            value == "pretrain" ? Json("pt")
            : value == "reward" ? Json("rm")
            : preference        ? Json("dpo")
                                : value,
            pointer);
    if (preference) out.put("pref_loss", value, pointer);
    return true;
  }
  if (pointer == "/quantization/load_in_4bit" || pointer == "/quantization/load_in_8bit") {
    if (value != Json(true)) return false;
    out.put("quantization_bit", pointer == "/quantization/load_in_4bit" ? 4 : 8, pointer);
    // In place of a word that the file may hold; an older release is no part of a file, and has its default.
    if (bitsandbytes_word(out.word("/versions/llamafactory")) == "bnb")
      out.put("quantization_method", "bnb", pointer);
    return true;
  }
  if (pointer == "/training/optim" && value == "muon") {
    out.put("use_muon", true, pointer);
    return true;
  }
  const bool hqq = out.is("/quantization/quant_method", "hqq") && out.find("/quantization/bits") != nullptr;
  if (hqq && (pointer == "/quantization/quant_method" || pointer == "/quantization/bits")) {
    out.put(pointer == "/quantization/bits" ? "quantization_bit" : "quantization_method", value, pointer);
    return true;
  }
  // Of PPO cutoff_len is the prompt's.
  const bool ppo = out.is("/task", "ppo");
  if (ppo && pointer == "/rl/max_prompt_length") {
    out.put("cutoff_len", value, pointer);
    return true;
  }
  if (has_no_key(out, pointer, value)) {
    out.left_out.push_back(pointer);
    return true;
  }
  // model/adapter.py _setup_lora_tuning finds all linears for this word alone.
  if (pointer == "/peft/target_modules" && value == "all-linear") {
    out.put("lora_target", "all", pointer);
    return true;
  }
  if (pointer == "/model_args/dtype") return write_loaded_dtype(out, pointer, value);
  if (pointer == "/vision/image_size" && value.is_number_unsigned()) {
    const auto side = value.get<uint64_t>();
    if (side == 0 || side > 65535) return false;
    out.put("image_max_pixels", side * side, pointer);
    return true;
  }
  if (pointer == "/training/loss_kernel") return false;
  if (pointer == "/training/use_liger_kernel") return write_liger_switch(out, pointer, value);
  return write_training(out, "", pointer, value);
}

void close_llamafactory(Writing& out) {
  if (!out.wrote("stage")) out.put("stage", "sft");
  out.put("do_train", true);
  if (!out.wrote("finetuning_type")) out.put("finetuning_type", "full");
}

}  // namespace plimsoll::exchange
