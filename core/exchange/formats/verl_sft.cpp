// verl's SFT trainer: a loop of its own on FSDP, over fp32 weights under autocast. Keys and defaults:
// volcengine/verl v0.7.0 verl/trainer/config/sft_trainer.yaml; what is made of them:
// verl/trainer/fsdp_sft_trainer.py. Its other trainers are refused (refused.cpp).
#include "core/exchange/formats/verl_sft.h"

#include <algorithm>

#include "core/exchange/formats/overrides.h"
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

void read_rank(Reading& reading, const Leaf& leaf) {
  if (leaf.node->value == Json(0)) return reading.mark(leaf, Use::implied, "no adapters");
  reading.set("/peft/r", leaf);
}

void read_offloading(Reading& reading, const Leaf& leaf) {
  const bool on = reading.is_on(leaf.path) && reading.is_on("model.fsdp_config.cpu_offload");
  if (!on) return reading.mark(leaf, Use::implied, "off without cpu_offload");
  reading.set("/parallel/fsdp_config/offload_params", true, &leaf);
}

constexpr Row rows[] = {
    {"$words", "", "", read_implied},
    {"m", "", "", read_implied},
    {"model.partial_pretrain", "/model", ""},
    {"model.lora_rank", "/peft/r", "", read_rank},
    {"model.lora_alpha", "/peft/lora_alpha", ""},
    {"model.target_modules", "/peft/target_modules", "", read_targets},
    {"model.use_liger", "/training/use_liger_kernel", ""},
    {"model.enable_gradient_checkpointing", "/training/gradient_checkpointing", ""},
    {"model.strategy", "/parallel/strategy", ""},
    {"model.fsdp_config.model_dtype", "/model_args/dtype", ""},
    {"model.fsdp_config.offload_params", "/parallel/fsdp_config/offload_params", "", read_offloading},
    {"model.fsdp_config.cpu_offload", "", "", read_implied},
    {"data.micro_batch_size_per_gpu", "/training/per_device_train_batch_size", ""},
    {"data.micro_batch_size", "", "", read_implied},
    {"data.train_batch_size", "", "", read_implied},
    {"data.max_length", "/training/max_length", ""},
    {"trainer.total_epochs", "/data/epochs", ""},
    {"trainer.total_training_steps", "/training/max_steps", ""},
    {"trainer.max_ckpt_to_keep", "/training/save_total_limit", ""},
    {"ulysses_sequence_parallel_size", "/parallel/sequence_parallel_size", ""},
};
// model.torch_dtype and model.attn_implementation can be added with a plus; the trainer asks for neither.
constexpr std::string_view irrelevant = "data.* trainer.* optim.* model.*";
constexpr std::string_view implied = "use_remove_padding";
constexpr Table table{rows, irrelevant, implied, ""};
constexpr Section sections[] = {{"", &table}, {"", &launcher_table}};

// Until v0.1 micro_batch_size counted all GPUs, as train_batch_size does; since v0.2 there is one of each.
void finish_batch(Reading& reading) {
  const uint64_t gpus = reading.count("/parallel/num_gpus", 0);
  const uint64_t shared = reading.count("/parallel/sequence_parallel_size", 1);
  const uint64_t rows_at_once = std::max<uint64_t>(1, gpus / shared);
  const Leaf* old = reading.leaf("data.micro_batch_size");
  const bool per_gpu = reading.has("/training/per_device_train_batch_size");
  if (!per_gpu && old != nullptr && old->node->value.is_number_unsigned() && gpus != 0)
    reading.set("/training/per_device_train_batch_size",
                std::max<uint64_t>(1, old->node->value.get<uint64_t>() / rows_at_once), old);
  if (!reading.has("/training/per_device_train_batch_size"))
    reading.values["/training/per_device_train_batch_size"] = uint64_t{4};
  const Leaf* global = reading.leaf("data.train_batch_size");
  const bool number = global != nullptr && global->node->value.is_number_unsigned();
  if (gpus == 0) {
    if (number)
      reading.mark(*global, Use::unsupported,
                   "all GPUs together: with their number it says the gradient accumulation");
    return;
  }
  const uint64_t all = number ? global->node->value.get<uint64_t>() : 256;
  const uint64_t micro = reading.count("/training/per_device_train_batch_size", 4);
  reading.set("/training/gradient_accumulation_steps", std::max<uint64_t>(1, all / rows_at_once / micro),
              number ? global : nullptr);
}

void finish(Reading& reading) {
  const auto otherwise = [&reading](const char* pointer, Json value) {
    if (!reading.has(pointer)) reading.values[pointer] = std::move(value);
  };
  reading.values["/stack"] = "loop";
  reading.values["/task"] = "sft";
  finish_batch(reading);
  otherwise("/training/max_length", uint64_t{1024});
  otherwise("/parallel/strategy", "fsdp2");
  otherwise("/parallel/fsdp_config/reduce_dtype", "float32");
  otherwise("/model_args/dtype", "float32");
  otherwise("/model_args/attn_implementation", "flash_attention_2");
  otherwise("/model_args/use_cache", false);
  otherwise("/training/bf16", true);
  otherwise("/training/gradient_checkpointing", true);
  otherwise("/training/gradient_checkpointing_kwargs/use_reentrant", false);
  otherwise("/training/optim", "adamw_torch_fused");
  otherwise("/training/eval_strategy", "epoch");
  otherwise("/training/per_device_eval_batch_size", reading.values["/training/per_device_train_batch_size"]);
  if (reading.has("/peft/r")) {
    reading.values["/peft"] = true;
    otherwise("/peft/target_modules", "all-linear");
  } else {
    reading.drop("/peft", "lora_rank is 0, so this says nothing");
    reading.all_trained = true;
  }
  reading.notes.emplace_back(
      "verl's SFT trainer is a loop of its own on FSDP: fp32 weights under autocast. What the command leaves "
      "open is as in verl 0.4.1 to 0.7; before, checkpointing was off and FSDP1 was taken.");
}

}  // namespace

bool is_verl_sft(const Node& command) {
  const auto names = [](const Node& word) { return word.raw.find("fsdp_sft_trainer") != std::string::npos; };
  return std::any_of(command.members.begin(), command.members.end(), [&names](const Member& member) {
    if (member.key != "$words" && member.key != "m") return false;
    return names(member.value) || std::any_of(member.value.items.begin(), member.value.items.end(), names);
  });
}

Node verl_sft_command(const Node& command) {
  Node root;
  root.kind = Node::Kind::map;
  root.span = command.span;
  const auto read = [&root](const Node& word) {
    if (word.raw.find('=') != std::string::npos) add_override(root, word);
  };
  for (const Member& member : command.members) {
    root.members.push_back(member);
    if (member.key != "$words" && member.key != "m") continue;
    if (member.value.is_scalar()) read(member.value);
    for (const Node& word : member.value.items) read(word);
  }
  return root;
}

const Format verl_sft{
    .id = "verl-sft",
    .name = "verl's SFT trainer",
    .written = Language::none,
    .sections = sections,
    .marks = "",
    .finish = finish,
};

}  // namespace plimsoll::exchange
