#include "core/recipe/conflicts.h"

#include <algorithm>

#include "core/json/ascii.h"
#include "core/json/words.h"
#include "core/model/model_types.h"
#include "core/recipe/quantization_formats.h"
#include "core/recipe/strategies.h"
#include "core/recipe/tasks.h"
#include "core/recipe/tuner_places.h"

namespace plimsoll::recipe {

namespace {

using json::Errors;

// huggingface/transformers src/transformers/modeling_utils.py from_pretrained: a way to spread the layers, or what
// torch.device() takes. Unsloth has a way of its own.
bool is_placement(std::string_view word) {
  return word.empty() || word.substr(0, 4) == "cuda" ||
         json::is_listed(word, "auto balanced balanced_low_0 sequential unsloth cpu mps xpu npu hpu");
}

// pytorch c10/cuda/CUDAAllocatorConfig.cpp parseArgs: name:value, joined by commas.
bool are_options(std::string_view conf) {
  std::size_t name = 0;
  while (name < conf.size() && ascii::is_word(conf[name])) ++name;
  return conf.empty() || (name > 0 && name < conf.size() && conf[name] == ':');
}

struct Conflict {
  const char* pointer;
  bool (*clashes)(const Recipe&);
  const char* message;
  std::string (*others)() = nullptr;  ///< of a table, behind `allowed`
  const char* allowed;
  const char* code = "conflict";
};
constexpr Conflict conflicts[] = {
    {.pointer = "/training/fp16",
     .clashes = [](const Recipe& r) { return r.training.bf16 && r.training.fp16; },
     .message = "bf16 and fp16 cannot both be on.",
     .allowed = "one of training.bf16 and training.fp16"},
    {.pointer = "/quantization/load_in_8bit",
     .clashes = [](const Recipe& r) { return r.quantization.load_in_4bit && r.quantization.load_in_8bit; },
     .message = "A base is loaded in 4 bits or in 8 bits, not both.",
     .allowed = "one of load_in_4bit and load_in_8bit"},
    {.pointer = "/quantization/quant_method",
     .clashes =
         [](const Recipe& r) {
           return !r.quantization.quant_method.empty() &&
                  (r.quantization.load_in_4bit || r.quantization.load_in_8bit);
         },
     .message = "A base is quantised by one library, not by two.",
     .allowed = "one of quant_method, load_in_4bit and load_in_8bit"},
    {.pointer = "/quantization/quant_method",
     .clashes = [](const Recipe& r) { return !can_be_trained_on(r); },
     .message = "This version of Transformers cannot train on weights in this form, not even with adapters: "
                "they are dequantised first.",
     .others = trainable_formats,
     .allowed = "no quantization, with model_args.dtype bfloat16; or "},
    {.pointer = "/quantization",
     .clashes = [](const Recipe& r) { return r.quantized() && !r.peft.on; },
     .message = "Weights in 4 or 8 bits cannot be trained directly; they need adapters on top.",
     .allowed = "a \"peft\" object, or no quantization"},
    {.pointer = "/training/fp16",
     // DeepSpeed scales by itself, and trains fp32 copies of what it has in float16.
     .clashes =
         [](const Recipe& r) {
           return r.training.fp16 && !r.peft.on && r.model_args.dtype == "float16" &&
                  !is_zero(strategy_of(r));
         },
     .message = "The gradient scaler of fp16 training refuses weights that are themselves float16.",
     .allowed = "model_args.dtype float32 or bfloat16, training.bf16, or adapters"},
    {.pointer = "/parallel/strategy",
     .clashes =
         [](const Recipe& r) {
           return r.parallel.num_gpus > 1 && strategy_of(r) == Strategy::none &&
                  r.model_args.device_map.empty();
         },
     .message = "Several GPUs share the work by a strategy, or hold a part of the layers each "
                "(model_args.device_map).",
     .others = [] { return shared_strategies(", "); },
     .allowed = "model_args.device_map \"auto\", or "},
    {.pointer = "/model_args/device_map",
     .clashes =
         [](const Recipe& r) {
           return r.model_args.device_map == "auto" && r.parallel.num_gpus > 1 &&
                  strategy_of(r) != Strategy::none;
         },
     .message =
         "accelerate refuses to train a model in several processes that device_map has spread over the GPUs.",
     .allowed = "one of model_args.device_map and parallel.strategy"},
    {.pointer = "/model_args/device_map",
     .clashes = [](const Recipe& r) { return !is_placement(r.model_args.device_map); },
     .message = "No way to place layers, and no device.",
     .allowed = "auto, balanced, balanced_low_0, sequential, cuda:0, cpu",
     .code = "unknown_value"},
    {.pointer = "/hardware/PYTORCH_CUDA_ALLOC_CONF",
     .clashes = [](const Recipe& r) { return !are_options(r.hardware.cuda_alloc_conf); },
     .message = "PyTorch reads options as name:value, joined by commas.",
     .allowed = "expandable_segments:True, max_split_size_mb:128",
     .code = "unknown_value"},
    {.pointer = "/rl/max_completion_length",
     .clashes =
         [](const Recipe& r) {
           return task_of(r).online && r.rl.max_completion_length >= r.training.max_length;
         },
     .message = "A sequence is a prompt and a completion: the completion leaves no room for the prompt.",
     .allowed = "less than training.max_length"},
    {.pointer = "/training/activation_offloading",
     .clashes =
         [](const Recipe& r) {
           return r.training.activation_offloading && !r.training.gradient_checkpointing;
         },
     .message = "Offloading of saved tensors is replayed together with gradient checkpointing alone.",
     .allowed = "training.gradient_checkpointing true"},
    {.pointer = "/training/optimizer_in_backward",
     .clashes =
         [](const Recipe& r) {
           const Training& t = r.training;
           const bool at_once = t.optimizer_in_backward || t.optimizer_offload == "states_and_gradients";
           return at_once && t.gradient_accumulation_steps > 1;
         },
     .message = "Gradients that are used up or sent away as they appear cannot be accumulated.",
     .allowed = "training.gradient_accumulation_steps 1"},
    {.pointer = "/training/llamapro_num_new_blocks",
     .clashes =
         [](const Recipe& r) {
           const Training& t = r.training;
           return t.llamapro_num_new_blocks > 0 &&
                  (r.peft.on || t.freeze_trainable_layers + t.lisa_activated_layers > 0);
         },
     .message = "LLaMA-Pro trains its new layers and nothing else.",
     .allowed = "one of llamapro_num_new_blocks, freeze_trainable_layers, lisa_activated_layers and peft"},
    {.pointer = "/parallel/sequence_parallel_size",
     .clashes =
         [](const Recipe& r) {
           const uint64_t size = r.parallel.sequence_parallel_size;
           return size > 1 && (strategy_of(r) == Strategy::none || r.parallel.num_gpus % size != 0);
         },
     .message = "The GPUs are shared out in groups that work on one sequence together.",
     .others = [] { return shared_strategies(" or "); },
     .allowed = "a divisor of parallel.num_gpus, with "},
    {.pointer = "/training/packing",
     .clashes = [](const Recipe& r) { return r.training.packing && r.training.padded_batches; },
     .message = "A packed batch holds no padding.",
     .allowed = "one of packing and padded_batches"},
    {.pointer = "/vision/freeze_language_model",
     .clashes =
         [](const Recipe& r) {
           const Vision& v = r.vision;
           return r.full() && v.freeze_language_model && v.freeze_vision_tower &&
                  v.freeze_multi_modal_projector;
         },
     .message = "Nothing of the model is left to train.",
     .allowed = "one of freeze_language_model, freeze_vision_tower and freeze_multi_modal_projector false"},
    {.pointer = "/parallel/num_gpus",
     .clashes = [](const Recipe& r) { return task_of(r).value_model && r.parallel.num_gpus > 1; },
     .message = "Training of a value network beside the policy is not replayed on several GPUs yet.",
     .allowed = "1",
     .code = "unsupported"},
};

// Of a sequence that the policy wrote itself, all three lengths may be written; they must agree then.
void check_lengths(const Request& given, const Recipe& r, Errors& errors) {
  if (!task_of(r).online) return;
  for (const char* pointer : {"/training/max_length", "/rl/max_prompt_length", "/rl/max_completion_length"}) {
    if (given.values.count(pointer) == 0) return;
  }
  if (r.rl.max_prompt_length + r.rl.max_completion_length == r.training.max_length) return;
  errors.push_back({"conflict", "/training/max_length",
                    "A sequence is a prompt and a completion, and their lengths do not add up to this one.",
                    "leave it out, or max_prompt_length + max_completion_length"});
}

// Prompts and norms are trained without naming a linear.
bool needs_targets(const Peft& peft) { return peft.on && tuner_place(peft.peft_type) == TunerPlace::linear; }

// huggingface/peft src/peft/tuners/lora/model.py _prepare_adapter_config: parameters alone are enough.
bool lacks_targets(const Peft& peft) {
  const bool parameters = peft.peft_type == "LORA" && !peft.target_parameters.empty();
  return needs_targets(peft) && peft.target_modules.empty() && !parameters;
}

}  // namespace

void check_conflicts(const Request& given, const Recipe& recipe, const ModelTraits& traits, Errors& errors) {
  if (lacks_targets(recipe.peft)) {
    const bool emptied = given.values.count("/peft/target_modules") != 0;
    errors.push_back(
        {"missing", "/peft/target_modules",
         emptied ? "An adapter needs at least one target module."
                 : "PEFT has no default target modules for model type \"" + traits.model_type + "\".",
         "a list of module names, a regular expression, or \"all-linear\""});
  }
  if (recipe.peft.on && recipe.peft.peft_type == "ADAPTION_PROMPT" &&
      !model::model_type(traits.model_type).adaption_prompt) {
    errors.push_back({"unsupported", "/peft/peft_type",
                      "PEFT has no adaption prompt for model type \"" + traits.model_type + "\".",
                      model::types_with_adaption_prompt() + "; or another method"});
  }
  check_lengths(given, recipe, errors);
  for (const Conflict& conflict : conflicts) {
    if (conflict.clashes(recipe)) {
      const std::string others = conflict.others == nullptr ? "" : conflict.others();
      errors.push_back({conflict.code, conflict.pointer, conflict.message, conflict.allowed + others});
    }
  }
}

bool contradicts_itself(const Recipe& recipe) {
  return lacks_targets(recipe.peft) ||
         std::any_of(std::begin(conflicts), std::end(conflicts),
                     [&](const Conflict& conflict) { return conflict.clashes(recipe); });
}

}  // namespace plimsoll::recipe
