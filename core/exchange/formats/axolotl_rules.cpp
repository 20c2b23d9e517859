#include "core/exchange/formats/axolotl_rules.h"

#include <algorithm>

#include "core/exchange/formats/shared.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::axolotl_rules {

namespace {

using json::Json;

constexpr const char* off = "off, as it is anyway";

bool is_given(const Reading& reading, const char* key) {
  const Leaf* leaf = reading.leaf(key);
  return leaf != nullptr && !leaf->node->value.is_null();
}

// A number, or what stands there when nothing is said.
double number_at(const Reading& reading, const char* key, double otherwise) {
  const Json value = reading.value(key);
  return value.is_number() ? value.get<double>() : otherwise;
}

bool has_plugin(const Reading& reading, std::string_view name) {
  return std::any_of(reading.all.begin(), reading.all.end(), [name](const Leaf& leaf) {
    if (leaf.path.rfind("plugins", 0) != 0) return false;
    const auto named = [name](const std::string& raw) { return raw.find(name) != std::string::npos; };
    return named(leaf.node->raw) || std::any_of(leaf.node->items.begin(), leaf.node->items.end(),
                                                [&named](const Node& item) { return named(item.raw); });
  });
}

// utils/schemas/enums.py LEGACY_ATTN_FLAG_TO_IMPL, in this order.
struct AttentionFlag {
  const char* key;
  const char* kernel;
};
constexpr AttentionFlag attention_flags[] = {
    {"xformers_attention", "xformers"},
    {"sage_attention", "flash_attention_2"},
    {"flex_attention", "flex_attention"},
    {"flash_attention", "flash_attention_2"},
    {"sdp_attention", "sdpa"},
    {"eager_attention", "eager"},
    {"gemma4_hybrid_attn_impl", "flash_attention_2"},
};

// deepspeed_configs/*.json of July 2026, which `axolotl fetch` brings.
struct DeepSpeedFile {
  std::string_view name;
  char stage;
  bool optimizer_on_cpu, parameters_on_cpu;
};
constexpr DeepSpeedFile deepspeed_files[] = {
    {"zero1.json", '1', false, false},
    {"zero1_torch_compile.json", '1', false, false},
    {"zero2.json", '2', true, false},
    {"zero2_torch_compile.json", '2', true, false},
    {"zero3.json", '3', false, false},
    {"zero3_bf16.json", '3', false, false},
    {"zero3_bf16_cpuoffload_all.json", '3', true, true},
    {"zero3_bf16_cpuoffload_params.json", '3', false, true},
};

// Evaluated is what val_set_size splits off or test_datasets names, and only with steps or a strategy;
// evals_per_epoch becomes a share of the run, which must be less than all of it.
std::string evaluation(const Reading& reading, const char*& key) {
  const bool data =
      number_at(reading, "val_set_size", 0) > 0 || reading.leaf("test_datasets[].path") != nullptr;
  if (!data) return "no";
  key = "evals_per_epoch";
  const double epochs = number_at(reading, "num_epochs", 1);
  if (number_at(reading, key, 0) * epochs > 1) return "steps";
  key = "eval_steps";
  if (number_at(reading, key, 0) > 0) return "steps";
  key = is_given(reading, "eval_strategy") ? "eval_strategy" : "evaluation_strategy";
  const std::string word = reading.word(key);
  return word == "steps" || word == "epoch" ? word : "no";
}

void finish_evaluation(Reading& reading) {
  if (reading.is_on("eval_sample_packing") && !reading.is_on("sample_packing"))
    reading.drop("/training/eval_packing", "nothing is packed without sample_packing");
  const char* key = "val_set_size";
  const std::string strategy = evaluation(reading, key);
  if (strategy == "no") {
    reading.drop("/training/eval_strategy", "with these settings Axolotl evaluates nothing");
    if (is_given(reading, "eval_strategy") || is_given(reading, "evaluation_strategy"))
      reading.values["/training/eval_strategy"] = "no";
    return;
  }
  reading.set("/training/eval_strategy", strategy, reading.leaf(key));
}

void finish_checkpointing(Reading& reading) {
  const char* reentrant = "/training/gradient_checkpointing_kwargs/use_reentrant";
  const Json offload = reading.value("activation_offloading");
  if (!reading.has(reentrant) && offload == Json("hidden_states")) reading.values[reentrant] = false;
  if (reading.is_on("fsdp_config.activation_checkpointing") ||
      reading.is_on("fsdp_config.fsdp_activation_checkpointing"))
    reading.values["/training/gradient_checkpointing"] = true;
}

// Four switches of one set of kernels; one that is written leaves the others off. Without any they are on
// unless something speaks against them (check_auto_enable_lora_kernels; the preset knows the rest).
void finish_kernels(Reading& reading) {
  bool given = false, used = false;
  for (const char* key : {"lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel", "lora_embedding_kernel"}) {
    given = given || is_given(reading, key);
    used = used || (reading.is_on(key) && std::string_view(key) != "lora_embedding_kernel");
    const Leaf* leaf = reading.leaf(key);
    if (leaf == nullptr) continue;
    if (leaf->node->value.is_null()) {
      reading.mark(*leaf, Use::implied, "left to the default");
      continue;
    }
    reading.finding(*leaf).pointer = "/training/fused_lora";
    reading.mark(*leaf, Use::used);
  }
  const bool barred = reading.is_on("trust_remote_code") || reading.is_on("nvfp4_merge_aware") ||
                      reading.is_on("use_ray");  // its driver knows no GPU
  if (given || (barred && reading.has("/peft"))) reading.values["/training/fused_lora"] = used;
}

// loaders/model.py _set_quantization_config: 4 bits with qlora, 8 bits with lora.
void finish_quantization(Reading& reading) {
  const std::string adapter = reading.word("adapter");
  if (adapter == "qlora" && !reading.has("/quantization/load_in_4bit") &&
      !reading.has("/quantization/quant_method")) {
    reading.values["/quantization/load_in_4bit"] = true;
    reading.notes.emplace_back("adapter: qlora without load_in_4bit: true; 4-bit weights are taken.");
  }
  if (adapter == "lora" && reading.is_on("load_in_4bit")) {
    reading.set("/quantization/load_in_4bit", false, reading.leaf("load_in_4bit"));
    reading.notes.emplace_back(
        "Axolotl quantises to 4 bits with adapter: qlora alone; here the base stays in 16 bits or more.");
  }
  if (reading.is_on("embeddings_skip_upcast") && reading.is_on("load_in_4bit"))
    reading.set("/quantization/upcast", "all", reading.leaf("embeddings_skip_upcast"));
}

// Their keys mean nothing without the plugin.
void finish_plugins(Reading& reading) {
  if (!has_plugin(reading, "liger"))
    reading.drop("/training/liger_kernel_config", "LigerPlugin is not among the plugins");
  const bool cut = has_plugin(reading, "CutCrossEntropy");
  const Leaf* flag = reading.leaf("cut_cross_entropy");
  if (!cut) return reading.drop("/training/loss_kernel", "CutCrossEntropyPlugin is not among the plugins");
  if (flag == nullptr || flag->node->value.is_null() || reading.is_on("cut_cross_entropy"))
    reading.set("/training/loss_kernel", "cut_cross_entropy", flag);
}

void finish_fsdp(Reading& reading) {
  bool fsdp = false;
  for (const Leaf& leaf : reading.all) {
    fsdp = fsdp || (leaf.path.rfind("fsdp_config.", 0) == 0 && !leaf.node->value.is_null());
  }
  if (fsdp && !reading.has("/parallel/strategy")) reading.values["/parallel/strategy"] = "fsdp";
  if (!reading.has("/parallel/strategy")) reading.drop("/parallel/fsdp_config", "there is no FSDP");
}

}  // namespace

void read_adapter(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word.empty()) return reading.mark(leaf, Use::implied, "no adapter: full fine-tuning");
  reading.values["/peft"] = true;
  if (word == "llama-adapter") return reading.set("/peft/peft_type", "ADAPTION_PROMPT", &leaf);
  if (word != "lora" && word != "qlora")
    return reading.mark(leaf, Use::unsupported, "this kind of adapter cannot be said yet; LoRA is taken");
  reading.finding(leaf).pointer = "/peft";
  reading.mark(leaf, Use::used);
}

void read_target_linear(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, off);
  reading.set("/peft/target_modules", "all-linear", &leaf);
}

void read_target_modules(Reading& reading, const Leaf& leaf) {
  if (reading.is_on("lora_target_linear"))
    return reading.mark(leaf, Use::implied, "added to all linears, which lora_target_linear says");
  read_targets(reading, leaf);
  // The word itself reaches PEFT; lora_target_linear is a list of names.
  if (reading.word(leaf.path) == "all-linear") reading.values["/peft/all_linear"] = "peft";
}

// axolotl loaders/adapter.py load_lora: without names the list of modules is empty, not PEFT's own.
void read_target_parameters(Reading& reading, const Leaf& leaf) {
  reading.set("/peft/target_parameters", leaf);
  if (!reading.is_on("lora_target_linear") && reading.leaf("lora_target_modules") == nullptr)
    reading.values["/peft/target_modules"] = Json::array();
}

void read_rl(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word != "ebft") {
    reading.set("/task", leaf, "ipo=dpo, gdpo=grpo");
    if (word == "ipo") reading.values["/rl/loss_type"] = "ipo";
    return;
  }
  if (reading.word("ebft.mode") == "strided") {
    reading.errors.push_back({"unsupported", "/rl", "EBFT in strided mode is not replayed.",
                              "dpo, ipo, kto, orpo, simpo, grpo, gdpo"});
    return;
  }
  // core/trainers/ebft/trainer.py: features come from the network itself, its adapters off, or from a copy of
  // it.
  reading.set("/task", "grpo", &leaf);
  const bool full = !is_given(reading, "adapter");
  if (full) reading.values["/rl/reference_model"] = "copy";
  reading.finding(leaf).message = full ? "GRPO with a frozen copy, for features"
                                       : "GRPO, whose features come from the network without its adapters";
}

void read_attention(Reading& reading, const Leaf& leaf) {
  if (reading.word(leaf.path).find('/') != std::string::npos) return read_attention_name(reading, leaf);
  reading.set("/model_args/attn_implementation", leaf,
              "flash_attention_4=flash_attention_3, flash_attention_torch=flash_attention_2, "
              "sage=flash_attention_2, fp8=sdpa");
}

void read_varlen(Reading& reading, const Leaf& leaf) {
  if (reading.is_on(leaf.path))
    return reading.mark(leaf, Use::implied, "on, as it is anyway where it can run");
  reading.mark(leaf, Use::unsupported, "that packed rows get a mask for it cannot be said yet");
}

void read_attention_flag(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, off);
  if (is_given(reading, "attn_implementation"))
    return reading.mark(leaf, Use::implied, "attn_implementation says it");
  for (const AttentionFlag& flag : attention_flags) {
    if (!reading.is_on(flag.key)) continue;
    if (leaf.path != flag.key)
      return reading.mark(leaf, Use::implied, std::string(flag.key) + " goes before");
    return reading.set("/model_args/attn_implementation", flag.kernel, &leaf);
  }
}

void read_deepspeed(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  const std::string name = word.substr(word.rfind('/') + 1);
  const auto* file = std::find_if(std::begin(deepspeed_files), std::end(deepspeed_files),
                                  [&name](const DeepSpeedFile& f) { return f.name == name; });
  if (file == std::end(deepspeed_files)) return read_deepspeed_name(reading, leaf);
  const std::string zero = "/parallel/zero_optimization/";
  reading.set("/parallel/strategy", std::string("zero") + file->stage, &leaf);
  reading.finding(leaf).message = "Axolotl's own file of this name; import yours if it says something else";
  reading.values[zero + "overlap_comm"] = true;
  if (file->optimizer_on_cpu) reading.values[zero + "offload_optimizer/device"] = "cpu";
  if (file->parameters_on_cpu) reading.values[zero + "offload_param/device"] = "cpu";
  if (file->stage != '3') return;
  for (const char* key : {"stage3_max_live_parameters", "stage3_max_reuse_distance", "sub_group_size"})
    reading.values[zero + key] = 0;
}

// The rows of one step; gradient_accumulation_steps is 1 unless it is emptied (normalize_config).
void read_batch_size(Reading& reading, const Leaf& leaf) {
  const Leaf* steps = reading.leaf("gradient_accumulation_steps");
  if (steps == nullptr || !steps->node->value.is_null())
    return reading.mark(leaf, Use::implied, "gradient_accumulation_steps, or its default of 1, says it");
  const Json rows = leaf.node->value;
  const auto share = static_cast<int64_t>(number_at(reading, "micro_batch_size", 1));
  if (!rows.is_number_integer() || share <= 0 || rows < share)
    return reading.mark(leaf, Use::implied, "less than one micro_batch_size");
  reading.set("/training/gradient_accumulation_steps", rows.get<int64_t>() / share, &leaf);
}

void read_save_steps(Reading& reading, const Leaf& leaf) {
  if (number_at(reading, "save_steps", 1) < 1) return reading.mark(leaf, Use::implied, "a share of the run");
  reading.set("/training/save_steps", leaf);
}

void read_gc_steps(Reading& reading, const Leaf& leaf) {
  if (is_given(reading, "torch_empty_cache_steps") || is_given(reading, "gc_collect_steps"))
    return reading.mark(leaf, Use::implied, "torch_empty_cache_steps and gc_collect_steps say it");
  if (number_at(reading, "gc_steps", 0) <= 0) return reading.mark(leaf, Use::implied, off);
  reading.set("/training/torch_empty_cache_steps", leaf);
}

void read_bf16(Reading& reading, const Leaf& leaf) {
  if (reading.word(leaf.path) == "full") {
    reading.set("/model_args/dtype", "bfloat16", &leaf);
    reading.set("/training/bf16", false);
    return;
  }
  reading.set("/training/bf16", leaf);
}

void read_dtype_flag(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, off);
  reading.set("/model_args/dtype", leaf.path, &leaf);
}

// core/builders/rl.py: each goes to the trainer of one task alone.
void read_preference_liger(Reading& reading, const Leaf& leaf) {
  const std::string task = reading.word("rl");
  const bool grpo = leaf.path == "trl.use_liger_loss";
  const bool read = grpo ? task == "grpo" || task == "gdpo" : task == "dpo" || task == "ipo";
  if (!read) return reading.mark(leaf, Use::implied, grpo ? "of GRPO alone" : "of DPO alone");
  reading.set("/training/use_liger_kernel", leaf);
}

void finish(Reading& reading) {
  finish_evaluation(reading);
  finish_kernels(reading);
  finish_quantization(reading);
  finish_checkpointing(reading);
  finish_plugins(reading);
  finish_fsdp(reading);
  if (!reading.has("/peft")) {
    for (const char* pointer : {"/peft", "/training/fused_lora"})
      reading.drop(pointer, "there is no adapter, so this says nothing");
  } else {
    reading.drop("/training/unfrozen_parameters", "with adapters, these alone are trained");
  }
}

}  // namespace plimsoll::exchange::axolotl_rules
