#include "core/recipe/defaults.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/model/model_types.h"
#include "core/recipe/implementations.h"
#include "core/recipe/optimizers.h"
#include "core/recipe/quantization_formats.h"
#include "core/recipe/sdpa_support.h"
#include "core/recipe/stacks.h"
#include "core/recipe/strategies.h"
#include "core/recipe/tasks.h"
#include "core/recipe/values.h"

namespace plimsoll::recipe {

namespace {

using json::Json;

bool at_least(const DefaultContext& c, const char* library, const char* version) {
  return version_at_least(text(c.values, std::string("/versions/") + library), version);
}
Strategy strategy(const DefaultContext& c) { return strategy_of(text(c.values, "/parallel/strategy")); }
bool quantized(const DefaultContext& c) {
  return flag(c.values, "/quantization/load_in_4bit") || flag(c.values, "/quantization/load_in_8bit") ||
         !text(c.values, "/quantization/quant_method").empty();
}

// TRL 0.26 asks for dtype="auto" (trl/trainer/utils.py create_model_from_path), which its ORPO and CPO
// trainers still do (trl/experimental/orpo/orpo_trainer.py).
bool loads_published(const DefaultContext& c) {
  if (at_least(c, "transformers", "5")) return true;
  if (!stack_traits(c.stack).trl_checkpoint_dtype || !at_least(c, "trl", "0.26")) return false;
  const auto by_trainer = c.values.find("/model_args/loaded_by_trainer");
  return by_trainer != c.values.end() && by_trainer->second == Json(true) &&
         (task_of(c.values).experimental || !at_least(c, "trl", "0.27"));
}

}  // namespace

Default published_dtype(const DefaultContext& c) {
  const std::string& stored = c.traits.checkpoint_dtype;
  if (stored == "float32" || stored == "bfloat16" || stored == "float16")
    return {stored, "the checkpoint is loaded in the type it was published in"};
  return {"bfloat16",
          "the checkpoint is loaded in its published type; it is not known here, bfloat16 is the usual one"};
}

Default default_dtype(const DefaultContext& c) {
  const std::string& stored = c.traits.checkpoint_dtype;
  const bool known = stored == "float32" || stored == "bfloat16" || stored == "float16";
  if (quantized(c)) {
    if (flag(c.values, "/training/bf16"))
      return {"bfloat16", "the 16-bit type of the run; unquantised parts are loaded in it"};
    if (flag(c.values, "/training/fp16"))
      return {"float16", "the 16-bit type of the run; unquantised parts are loaded in it"};
    if (known && stored != "float32")
      return {stored, "Transformers loads unquantised parts in the type of the published checkpoint"};
    return {"float16", "bitsandbytes loads unquantised parts in float16 when nothing else is said"};
  }
  // Such a run has been seen under an older Transformers, which loads float32.
  if (flag(c.values, "/training/fp16") && c.values.count("/peft") == 0 && stored == "float16" &&
      !is_zero(strategy(c)))
    return {"float32", "fp16 training stops at weights in float16, as the gradient scaler refuses them"};
  if (loads_published(c)) return published_dtype(c);
  return {"float32", "from_pretrained loads float32 before Transformers 5 unless a dtype is given"};
}

Default default_attention(const DefaultContext& c) {
  const Default sdpa = {"sdpa",
                        "Transformers uses PyTorch's scaled_dot_product_attention unless told otherwise"};
  if (!find_implementation(text(c.values, "/model_args/implementation")).transformers) return sdpa;
  if (!at_least(c, "transformers", "4.36"))
    return {"eager", "Transformers before 4.36 has only eager attention"};
  if (!at_least(c, "torch", "2.1.1"))
    return {"eager", "Transformers asks for PyTorch 2.1.1 to call scaled_dot_product_attention"};
  if (!supports_sdpa(c.traits.model_type, text(c.values, "/versions/transformers"))) {
    return {"eager",
            "this model class cannot call scaled_dot_product_attention in this release of Transformers"};
  }
  return sdpa;
}

Default default_use_cache(const DefaultContext& c) {
  if (flag(c.values, "/training/gradient_checkpointing"))
    return {false, "the Trainer switches the cache off under checkpointing"};
  if (at_least(c, "transformers", "5"))
    return {false, "the Trainer of Transformers 5 trains without a cache"};
  return {true, "before Transformers 5 the config's use_cache=true stays on when checkpointing is off"};
}

Default default_linearized_experts(const DefaultContext& c) {
  if (c.traits.linearized_experts) return {true, "the checkpoint's name says that its experts are linears"};
  return {false, "experts are what Transformers' model class makes of them"};
}

Default default_skip_modules(const DefaultContext& c) {
  const std::vector<std::string>& dynamic = c.traits.dynamic_modules;
  // Checkpoints of its own came in 2025 (unslothai/unsloth unsloth/models/mapper.py).
  if (dynamic.empty() || !flag(c.values, "/quantization/load_in_4bit") || !at_least(c, "unsloth", "2025.1"))
    return {json::Json::array(), ""};
  return {
      dynamic,
      "the dynamic 4-bit checkpoint of this model leaves some linears in 16 bits: as many as the size of its "
      "file says, and of the first layers, as its config.json is not at hand"};
}

Default default_quant_type(const DefaultContext&) {
  return {"fp4", "the default of BitsAndBytesConfig (nf4 must be asked for; both take the same memory)"};
}

Default default_compute_dtype(const DefaultContext& c) {
  if (flag(c.values, "/training/bf16"))
    return {"bfloat16", "bitsandbytes: under autocast 4-bit layers compute in the 16-bit type"};
  if (flag(c.values, "/training/fp16"))
    return {"float16", "bitsandbytes: under autocast 4-bit layers compute in the 16-bit type"};
  return {"float32", "the default of BitsAndBytesConfig: every 4-bit layer computes in fp32"};
}

Default default_prepare(const DefaultContext& c) {
  if (!quantized(c)) return {false, "the base is not quantised"};
  if (!text(c.values, "/quantization/quant_method").empty()) {
    return {false, "prepare_model_for_kbit_training casts nothing in a model that another library packed"};
  }
  return {true, "PEFT's guide calls prepare_model_for_kbit_training on a quantised base"};
}

Default default_upcast(const DefaultContext& c) {
  if (!flag(c.values, "/quantization/prepare_for_kbit_training")) return {"none", "nothing is cast to fp32"};
  return {"all", "PEFT's prepare_model_for_kbit_training casts every 16-bit parameter that is left to fp32"};
}

Default default_bits(const DefaultContext& c) {
  const QuantizationFormat* packing = find_quantization_format(text(c.values, "/quantization/quant_method"));
  if (packing == nullptr) return {4, ""};
  if (packing->table_bytes > 0)
    return {packing->bits, "the usual AQLM checkpoint: 2 bits, one codebook of 16 bits"};
  return {packing->bits, packing->bits == 4 ? "" : "the method's own"};
}

Default default_group_size(const DefaultContext& c) {
  const QuantizationFormat* packing = find_quantization_format(text(c.values, "/quantization/quant_method"));
  if (packing == nullptr || packing->group == 128 || packing->group == 0)
    return {128, "the usual group of GPTQ and AWQ checkpoints"};
  return {packing->group, packing->id == "hqq" ? "HQQ's default" : "the method's own"};
}

Default default_liger(const DefaultContext& c) { return {flag(c.values, "/training/use_liger_kernel"), ""}; }

Default default_lora_alpha(const DefaultContext& c) {
  if (stack_traits(c.stack).alpha_by_rank)
    return {2 * number(c.values, "/peft/r"),
            "twice the rank, as LLaMA-Factory takes it; changes nothing in memory"};
  return {8, "PEFT's LoraConfig default; changes nothing in memory"};
}

namespace {

template <std::size_t most>
Json modules_of(const std::array<const char*, most>& names) {
  Json modules = Json::array();
  for (const char* module : names) {
    if (module != nullptr) modules.push_back(module);
  }
  return modules;
}

}  // namespace

Default default_feedforward_modules(const DefaultContext& c) {
  const Json scaled = modules_of(model::model_type(c.traits.model_type).ia3_targets);
  if (!scaled.empty()) return {Json::array({scaled.back()}), ""};
  return {Json::array({"down_proj", "fc2", "w2", "wo", "dense_4h_to_h", "mlp.c_proj"}), ""};
}

Default default_target_modules(const DefaultContext& c) {
  const model::ModelType& type = model::model_type(c.traits.model_type);
  if (const Json scaled = modules_of(type.ia3_targets);
      !scaled.empty() && text(c.values, "/peft/peft_type") == "IA3")
    return {scaled, "PEFT's default for IA3"};
  if (const Json targets = modules_of(type.lora_targets); !targets.empty())
    return {targets, "PEFT's default for model type " + c.traits.model_type};
  return {nullptr, ""};
}

Default default_adapter_dtype(const DefaultContext& c) {
  const std::string dtype = text(c.values, "/model_args/dtype");
  if (at_least(c, "peft", "0.12"))
    return {"float32", "PEFT 0.12 and later keeps adapters in fp32 (autocast_adapter_dtype)"};
  if (quantized(c)) return {"float32", "PEFT before 0.12 keeps adapters of a quantised base in fp32"};
  return {dtype.empty() ? Json("float32") : Json(dtype),
          "PEFT before 0.12 gives adapters the type of the base weight"};
}

Default default_state_dict_type(const DefaultContext& c) {
  const bool second = strategy(c) == Strategy::fsdp2;
  return {second ? "SHARDED_STATE_DICT" : "FULL_STATE_DICT",
          "accelerate utils/dataclasses.py FullyShardedDataParallelPlugin"};
}

Default default_max_length(const DefaultContext& c) {
  if (task_of(c.values).online) {
    return {static_cast<uint64_t>(number(c.values, "/rl/max_prompt_length") +
                                  number(c.values, "/rl/max_completion_length")),
            "the longest prompt and the longest completion"};
  }
  // Stacks that cut samples at a length of their own have a row in their file; TRL's lies here, as it is no
  // longer than the model.
  constexpr uint64_t usual = 1024;
  const uint64_t longest = c.traits.max_position_embeddings;
  // What the model can read caps samples and is no length of theirs; packed rows are filled up to it.
  const bool packed = flag(c.values, "/training/packing");
  if (stack_traits(c.stack).model_length && longest != 0 && packed)
    return {longest, "assumed: rows are packed up to what the model can read; say max_length", true};
  if (c.traits.hears && longest != 0)
    return {longest, "no transcript is longer than the decoder reads; sound is always read whole"};
  const uint64_t length = longest != 0 && longest < usual ? longest : usual;
  if (text(c.values, "/training/truncation_strategy") == "none")
    return {length, "assumed: max_length=None cuts nothing; say the longest of your samples", true};
  const std::string shorter = length < usual ? ", and no more than the model reads" : "";
  if (stack_traits(c.stack).own_length)
    return {length, c.stack_name + "'s max_length is 1024 where none is given" + shorter};
  return {length, "assumed" + shorter + ": " + c.stack_name + " sets no length; say the one you train at",
          true};
}

Default default_optimizer_in_backward(const DefaultContext& c) {
  const Optimizer* optimizer = find_optimizer(text(c.values, "/training/optim"));
  if (optimizer != nullptr && optimizer->in_backward)
    return {true, "this optimizer steps through hooks, one parameter after another"};
  return {false, ""};
}

Default default_padded_batches(const DefaultContext& c) {
  if (flag(c.values, "/training/packing")) return {false, "packed batches hold no padding"};
  if (number(c.values, "/training/per_device_train_batch_size") <= 1)
    return {false, "one sample a batch needs no padding"};
  return {true, "samples of different length are padded to the longest, so an attention mask is built"};
}

Default default_use_reentrant(const DefaultContext& c) {
  if (at_least(c, "transformers", "5")) return {false, "Transformers 5 checkpoints without reentrance"};
  return {true, "torch.utils.checkpoint is reentrant by default before Transformers 5"};
}

Default default_optim(const DefaultContext& c) {
  if (at_least(c, "transformers", "4.56") && at_least(c, "torch", "2.8")) {
    return {"adamw_torch_fused", "the Trainer's default from Transformers 4.56 with PyTorch 2.8"};
  }
  return {"adamw_torch", "the Trainer's default before Transformers 4.56 or PyTorch 2.8 (foreach AdamW)"};
}

Default default_loss_kernel(const DefaultContext& c) {
  if (flag(c.values, "/training/liger_kernel_config/cross_entropy"))
    return {"fused_ce", "Liger's cross-entropy"};
  if (flag(c.values, "/training/liger_kernel_config/fused_linear_cross_entropy")) {
    return {"liger", "use_liger_kernel fuses the head with the loss"};
  }
  return {"stock", "Transformers' cross-entropy of the model class, over all logits"};
}

// Stacks that do otherwise say so in presets/stacks. Liger's own forward skips the logits in training alone;
// Transformers 5.15 tells it to skip them in evaluation too, unless they are wanted (trainer.py
// prediction_step). prediction_loss_only beside compute_metrics, which is then never called, is left out.
// Liger's losses of preferences run in both (trl dpo_trainer.py, kto_trainer.py prediction_step). Unsloth
// returns logits where metrics need them (trainer.py, UNSLOTH_RETURN_LOGITS).
Default default_eval_loss_kernel(const DefaultContext& c) {
  const std::string kernel = text(c.values, "/training/loss_kernel");
  const Task& task = task_of(c.values);
  const bool log_probs = task.has_rl() && task.vocabulary;
  const bool wanted = flag(c.values, "/training/compute_metrics") ||
                      flag(c.values, "/training/preprocess_logits_for_metrics");
  if (kernel == "liger" && !log_probs) {
    if (!at_least(c, "transformers", "5.15"))
      return {"stock", "before Transformers 5.15 Liger skips the logits in training alone"};
    if (wanted) return {"stock", "metrics need the logits"};
    return {kernel, "Transformers tells Liger to skip the logits in evaluation too"};
  }
  if (kernel == "unsloth_fused" && wanted)
    return {"fused_ce", "Unsloth returns the logits that metrics need"};
  return {kernel, "evaluation computes its loss as training does"};
}

Default default_eval_packing(const DefaultContext& c) {
  return {flag(c.values, "/training/packing"), "evaluation is packed as training is"};
}

// Lengths of texts are near to log-normal: the mean lies above the median by half the variance of their logarithms, and
// never beyond what nine in ten do not exceed, as it would where these differ a thousandfold.
Default default_mean_length(const DefaultContext& c) {
  struct Percentile {
    const char* pointer;
    double deviations;  // of a normal distribution
  };
  const double median = number(c.values, "/data/p50_length");
  for (const Percentile& p : {Percentile{"/data/p95_length", 1.645}, Percentile{"/data/p90_length", 1.282},
                              Percentile{"/data/p99_length", 2.326}}) {
    const double length = number(c.values, p.pointer);
    if (median <= 0 || length <= median) continue;
    const double spread = std::log(length / median) / p.deviations;
    return {std::min(length, std::round(median * std::exp(spread * spread / 2))),
            "what the median and the other percentile make, lengths being near to log-normal"};
  }
  return {};
}

Default default_num_labels(const DefaultContext& c) {
  return text(c.values, "/task") == "classification"
             ? Default{2, "num_labels of a configuration in Transformers"}
             : Default{0, ""};
}

Default default_strategy(const DefaultContext& c) {
  if (number(c.values, "/parallel/num_gpus") <= 1) return {"none", ""};
  if (!text(c.values, "/model_args/device_map").empty())
    return {"none", "device_map spreads the layers over the GPUs: one process, one after another"};
  const std::string usual(stack_traits(c.stack).several_gpus);
  if (usual == "ddp") return {usual, "several GPUs without a strategy: each holds a whole copy"};
  return {usual, c.stack_name + " shards the model over several GPUs"};
}

Default default_fsdp_checkpointing(const DefaultContext& c) {
  if (stack_traits(c.stack).accelerate)
    return {false, "the Trainer's gradient_checkpointing wraps each unit as a whole"};
  return {true, "training loops of their own put the checkpoint wrapper inside the FSDP unit"};
}

Default default_upcast_trainable(const DefaultContext& c) {
  if (!flag(c.values, "/training/bf16") && !flag(c.values, "/training/fp16"))
    return {false, "without mixed precision FSDP shards parameters in the type they were loaded in"};
  if (!stack_traits(c.stack).accelerate)
    return {false, "a training loop of its own shards parameters in the type they were loaded in"};
  return {true, "accelerate casts trained parameters to fp32 when mixed precision is on"};
}

Default default_sync_each_batch(const DefaultContext& c) {
  if (stack_traits(c.stack).reduces_each_batch)
    return {true, "its loop runs no micro-batch's backward under no_sync()"};
  return {false, "accelerate's GradientAccumulationPlugin"};
}

Default default_reduce_dtype(const DefaultContext& c) {
  const bool accelerate = stack_traits(c.stack).accelerate;
  if (flag(c.values, "/training/bf16"))
    return accelerate ? Default{"bfloat16", "accelerate's mixed precision for FSDP reduces in bfloat16"}
                      : Default{"float32", "the usual MixedPrecisionPolicy of a loop of one's own"};
  if (flag(c.values, "/training/fp16"))
    return accelerate ? Default{"float16", "accelerate's mixed precision for FSDP reduces in float16"}
                      : Default{"float32", "the usual MixedPrecisionPolicy of a loop of one's own"};
  return {nullptr, ""};
}

Default default_reduce_bucket(const DefaultContext& c) {
  if (strategy(c) == Strategy::zero3 && stack_traits(c.stack).accelerate)
    return {
        uint64_t{0},
        "\"auto\", as published DeepSpeed files for stage 3 say: Transformers fills in hidden size squared"};
  return {uint64_t{500000000}, "DeepSpeed's default"};
}

Default default_overlap_comm(const DefaultContext& c) {
  if (strategy(c) == Strategy::zero3) return {true, "DeepSpeed's default for stage 3"};
  return {false, "DeepSpeed's default for stages 1 and 2"};
}

Default default_images(const DefaultContext& c) {
  if (!c.traits.sees_images) return {0, "the model sees no images"};
  const bool sized = c.traits.default_image_size > 0 || number(c.values, "/vision/image_size") > 0;
  if (!sized) return {0, "assumed: none; say how many and how large", true};
  return {1, "assumed: one image a sample, say how many", true};
}

Default default_image_size(const DefaultContext& c) {
  // hiyouga/LLaMA-Factory hparams/model_args.py image_max_pixels
  if (c.traits.default_image_size == 0 && number(c.values, "/vision/images_per_sample") > 0)
    return {768, "assumed: the limit of LLaMA-Factory; say how large", true};
  return {c.traits.default_image_size, "the size that the model's configuration gives its vision tower"};
}

}  // namespace plimsoll::recipe
