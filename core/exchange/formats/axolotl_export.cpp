// A request as Axolotl's YAML.
#include "core/exchange/formats/axolotl_export.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

constexpr const char* cut_plugin = "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin";

// PEFT matches a text against the whole name of a module. A vision tower's projections have the same last
// names.
std::string language_pattern(const Json& names) {
  std::string pattern = ".*language_model.*\\.(";
  for (const Json& name : names) pattern += (&name == &names.front() ? "" : "|") + name.get<std::string>();
  return pattern + ")";
}

// Without "rl" Axolotl fine-tunes on text, which its schema has no word for; false: the row writes the word.
bool write_task(Writing& out, const Json& value) {
  if (value == "reward") {
    out.put("reward_model", true, "/task");
    return true;
  }
  for (const char* known : {"dpo", "kto", "orpo", "simpo", "grpo"}) {
    if (value == known) return false;
  }
  if (value != "sft") out.left_out.push_back("/task");
  return true;
}

void write_adapter_targets(Writing& out, const std::string& pointer, const Json& value) {
  const bool all = value == "all-linear" || value == Json::array({"all-linear"});
  if (!all && value.is_array() && !value.empty() && out.is("/peft/finetune_vision_layers", false)) {
    out.put("lora_target_modules", language_pattern(value), pointer);
  } else if (all && !out.is("/peft/all_linear", "peft")) {
    out.put("lora_target_linear", true, pointer);
  } else {
    out.put("lora_target_modules", value, pointer);
  }
}

bool write_adapter(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/peft") {
    out.put("adapter", out.is("/quantization/load_in_4bit", true) ? "qlora" : "lora", pointer);
    return true;
  }
  if (pointer == "/peft/target_modules") {
    write_adapter_targets(out, pointer, value);
    return true;
  }
  // Said by the pattern over the names.
  if (pointer != "/peft/finetune_vision_layers" || value != Json(false)) return false;
  const Json* targets = out.find("/peft/target_modules");
  return targets != nullptr && targets->is_array();
}

struct LigerKey {
  const char *pointer, *key;
};
constexpr LigerKey liger_keys[] = {
    {"/training/liger_kernel_config/rms_norm", "liger_rms_norm"},
    {"/training/liger_kernel_config/swiglu", "liger_glu_activation"},
    {"/training/liger_kernel_config/rope", "liger_rope"},
    {"/training/liger_kernel_config/fused_linear_cross_entropy", "liger_fused_linear_cross_entropy"},
};

// The switch of TRL's own trainers has a key for two of them (core/trainers/dpo, core/trainers/grpo
// set_training_args_kwargs). What trains on text gets Liger by a plugin, whose kernels have a key each; what a
// request says of one of them stays.
bool write_liger(Writing& out, const std::string& pointer, const Json& value) {
  const std::string task = out.word("/task");
  if (task == "dpo" || task == "grpo") {
    out.put(task == "dpo" ? "dpo_use_liger_kernel" : "trl.use_liger_loss", value, pointer);
    return true;
  }
  if (task == "kto" || task == "orpo" || task == "simpo") return false;
  if (value != Json(true)) return true;
  for (const LigerKey& row : liger_keys) {
    const bool fused = std::string_view(row.key) == "liger_fused_linear_cross_entropy";
    if (out.find(row.pointer) != nullptr) continue;
    if (fused && out.is("/training/liger_kernel_config/cross_entropy", true)) continue;
    out.put(row.key, true, pointer);
  }
  return true;
}

// loaders/adapter.py load_lora hands both to LoraConfig as they are, and without them they are None.
void close_adapter(Writing& out) {
  if (!out.wrote("adapter") || out.is("/peft/peft_type", "ADAPTION_PROMPT")) return;
  if (!out.wrote("lora_r")) out.put("lora_r", 8);
  if (!out.wrote("lora_alpha")) out.put("lora_alpha", 8);
}

}  // namespace

bool write_axolotl(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer.rfind("/peft", 0) == 0) return write_adapter(out, pointer, value);
  if (pointer == "/task") return write_task(out, value);
  if (pointer == "/training/truncation_strategy") {
    if (value == Json("none")) return false;
    out.put("excess_length_strategy", value, pointer);
    return true;
  }
  if (pointer == "/training/eval_packing") {
    if (value == Json(true) && !out.is("/training/packing", true)) return false;
    out.put("eval_sample_packing", value, pointer);
    return true;
  }
  if (pointer == "/parallel/fsdp_config/activation_checkpointing") {
    if (value == Json(true) && !out.is("/training/gradient_checkpointing", true)) return false;
    out.put("fsdp_config.activation_checkpointing", value, pointer);
    return true;
  }
  // bfloat16: true would turn autocast on as well (core/builders/base.py _configure_precision_settings).
  if (pointer == "/training/bf16" && value == Json(false) && out.is("/model_args/dtype", "bfloat16")) {
    out.put("bf16", "full", pointer);
    return true;
  }
  if (pointer == "/model_args/dtype" && value == "bfloat16" && out.is("/training/bf16", false)) return true;
  if (pointer == "/model_args/dtype") {
    if (value == "auto") return false;  // Axolotl loads in the type of the run or in one that is named
    out.put(value.get<std::string>(), true, pointer);
    return true;
  }
  if (pointer == "/training/fused_lora") {
    if (out.find("/peft") == nullptr) return false;  // the kernels are the adapters'
    for (const char* key : {"lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel"})
      out.put(key, value, pointer);
    return true;
  }
  if (pointer == "/training/use_liger_kernel") return write_liger(out, pointer, value);
  // Axolotl takes 0 for nothing said, and then keeps four.
  if (pointer == "/training/save_total_limit" && value == Json(0)) {
    out.left_out.push_back(pointer);
    return true;
  }
  if (pointer == "/training/loss_kernel" && value == "cut_cross_entropy") {
    out.put("plugins", Json::array({cut_plugin}));
    out.put("cut_cross_entropy", true, pointer);
    return true;
  }
  if (pointer == "/parallel/strategy") {
    const std::string word = value.get<std::string>();
    if (word == "fsdp2") out.put("fsdp_version", 2, pointer);
    if (word == "fsdp" || word == "fsdp2") {
      out.put("fsdp_config.auto_wrap_policy", "TRANSFORMER_BASED_WRAP", pointer);
    } else if (word.rfind("zero", 0) == 0) {
      out.put("deepspeed", "ds_config_" + word + ".json", pointer);
    } else {
      return false;
    }
    return true;
  }
  return false;
}

void close_axolotl(Writing& out) {
  close_adapter(out);
  if (out.wrote("eval_strategy") && !out.is("/training/eval_strategy", "no")) out.put("val_set_size", 0.05);
  bool liger = false;
  for (const char* key : {"liger_fused_linear_cross_entropy", "liger_cross_entropy", "liger_rms_norm",
                          "liger_glu_activation", "liger_rope"})
    liger = liger || out.wrote(key);
  if (!liger) return;
  Json plugins = Json::array();
  if (out.wrote("plugins")) plugins.push_back(cut_plugin);
  plugins.push_back("axolotl.integrations.liger.LigerPlugin");
  out.put("plugins", plugins);
}

}  // namespace plimsoll::exchange
