#include "core/recipe/fields.h"

#include "core/recipe/defaults.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::recipe {

namespace {

using json::Json;
using json::Range;
using Setter = std::function<void(Recipe&, const Json&)>;
using Fallback = std::function<Default(const DefaultContext&)>;
using Words = std::vector<std::string_view>;

template <typename Section, typename Value>
Setter into(Section Recipe::*section, Value Section::*member) {
  return [section, member](Recipe& recipe, const Json& value) {
    if (!value.is_null()) recipe.*section.*member = value.get<Value>();
  };
}
template <typename Value>
Setter into(Value Recipe::*member) {
  return [member](Recipe& recipe, const Json& value) {
    if (!value.is_null()) recipe.*member = value.get<Value>();
  };
}

Fallback fixed(Json value, std::string why) {
  return [value = std::move(value), why = std::move(why)](const DefaultContext&) {
    return Default{value, why};
  };
}
// A default that is not worth a line among the assumptions: it changes nothing unless it is set.
Fallback off(Json value) { return fixed(std::move(value), ""); }

Field count(std::string_view pointer, Range range, Setter set, Fallback fallback, std::string_view what) {
  return {pointer, FieldType::count, range, {}, std::move(set), std::move(fallback), what};
}
Field number(std::string_view pointer, Range range, Setter set, Fallback fallback, std::string_view what) {
  return {pointer, FieldType::number, range, {}, std::move(set), std::move(fallback), what};
}
Field flag(std::string_view pointer, Setter set, Fallback fallback, std::string_view what) {
  return {pointer, FieldType::flag, {}, {}, std::move(set), std::move(fallback), what};
}
Field word(std::string_view pointer, Words words, Setter set, Fallback fallback, std::string_view what) {
  return {pointer, FieldType::word, {}, std::move(words), std::move(set), std::move(fallback), what};
}
Field text(std::string_view pointer, Setter set, Fallback fallback, std::string_view what) {
  return {pointer, FieldType::text, {}, {}, std::move(set), std::move(fallback), what};
}
Field texts(std::string_view pointer, Setter set, Fallback fallback, std::string_view what) {
  return {pointer, FieldType::texts, {}, {}, std::move(set), std::move(fallback), what};
}

Words optimizer_ids() {
  Words ids;
  for (const Optimizer& optimizer : optimizers()) ids.push_back(optimizer.id);
  return ids;
}

const char current[] = "the newest release this version of Plimsoll knows";

std::vector<Field> make_table() {
  using R = Recipe;
  const Words dtypes = {"float32", "bfloat16", "float16"};
  std::vector<Field> table;
  const auto add = [&table](Field field) { table.push_back(std::move(field)); };

  add(count("/schema", {1, 1}, into(&R::schema), off(1), "Version of this contract."));
  add(text("/stack", into(&R::stack), fixed("hf", "the plain Transformers Trainer"),
           "The library set that runs the training: its defaults fill what is left out."));
  add(word("/task", {"sft", "pretrain", "classification", "dpo", "orpo", "kto", "reward", "grpo", "ppo"},
           into(&R::task), off("sft"),
           "What is trained for; decides the loss and how many sequences a sample has."));

  add(text("/versions/transformers", into(&R::versions, &Versions::transformers), fixed("5.15", current),
           "Transformers version; dtype, cache, checkpointing and loss changed between versions."));
  add(text("/versions/trl", into(&R::versions, &Versions::trl), fixed("1.9", current),
           "TRL version; upcasts, adapter dtype and the loss changed between versions."));
  add(text("/versions/peft", into(&R::versions, &Versions::peft), fixed("0.20", current),
           "PEFT version; adapters are fp32 from 0.12 on."));
  add(text("/versions/torch", into(&R::versions, &Versions::torch), fixed("2.13", current),
           "PyTorch version."));
  add(text("/versions/bitsandbytes", into(&R::versions, &Versions::bitsandbytes), fixed("0.50", current),
           "bitsandbytes version."));

  add(flag("/training/bf16", into(&R::training, &Training::bf16), off(false),
           "Mixed precision: autocast to bfloat16."));
  add(flag("/training/fp16", into(&R::training, &Training::fp16), off(false),
           "Mixed precision: autocast to float16 with a loss scaler."));
  add(flag("/quantization/load_in_4bit", into(&R::quantization, &Quantization::load_in_4bit), off(false),
           "Base weights in 4 bits (bitsandbytes NF4 or FP4)."));
  add(flag("/quantization/load_in_8bit", into(&R::quantization, &Quantization::load_in_8bit), off(false),
           "Base weights in 8 bits (bitsandbytes LLM.int8)."));
  add(word("/model_args/dtype", dtypes, into(&R::model_args, &ModelArgs::dtype), default_dtype,
           "Type of the weights after from_pretrained."));
  add(word("/model_args/attn_implementation", {"sdpa", "eager", "flash_attention_2", "flash_attention_3"},
           into(&R::model_args, &ModelArgs::attn_implementation), default_attention, "Attention kernel."));
  add(count(
      "/model_args/num_labels", {0, 1e6}, into(&R::model_args, &ModelArgs::num_labels),
      [](const DefaultContext& c) -> Default {
        return c.values.at("/task") == "classification" ? Default{2, "two labels"} : Default{0, ""};
      },
      "Outputs of the classification head."));
  add(text("/model_args/device_map", into(&R::model_args, &ModelArgs::device_map), off(""),
           "Where accelerate places the weights."));
  add({"/model_args/max_memory",
       FieldType::text_map,
       {},
       {},
       into(&R::model_args, &ModelArgs::max_memory),
       off(nullptr),
       "Limits for placing weights; it limits nothing in training."});
  add(word("/quantization/bnb_4bit_quant_type", {"nf4", "fp4"},
           into(&R::quantization, &Quantization::bnb_4bit_quant_type), default_quant_type,
           "4-bit code; both take the same memory."));
  add(flag("/quantization/bnb_4bit_use_double_quant",
           into(&R::quantization, &Quantization::bnb_4bit_use_double_quant), off(false),
           "Quantise the scales too: 0.516 instead of 0.5625 bytes a weight."));
  add(word("/quantization/bnb_4bit_compute_dtype", dtypes,
           into(&R::quantization, &Quantization::bnb_4bit_compute_dtype), default_compute_dtype,
           "Type in which 4-bit layers multiply."));
  add(flag("/quantization/prepare_for_kbit_training",
           into(&R::quantization, &Quantization::prepare_for_kbit_training), default_prepare,
           "PEFT's prepare_model_for_kbit_training is called before the adapters are added."));
  add(word("/quantization/upcast", {"none", "norms", "all"}, into(&R::quantization, &Quantization::upcast),
           default_upcast, "Which 16-bit parameters that preparation leaves in fp32."));
  add(texts("/quantization/llm_int8_skip_modules",
            into(&R::quantization, &Quantization::llm_int8_skip_modules), off(Json::array()),
            "Modules that stay in 16 bits."));

  add(count("/peft/r", {1, 8192}, into(&R::peft, &Peft::r), fixed(8, "PEFT's LoraConfig default"),
            "Rank of the adapters."));
  add(number("/peft/lora_alpha", {0, 1e9}, into(&R::peft, &Peft::lora_alpha), default_lora_alpha,
             "Scale of the adapters; changes nothing in memory."));
  add({"/peft/target_modules",
       FieldType::texts_or_text,
       {},
       {},
       into(&R::peft, &Peft::target_modules),
       default_target_modules,
       "Linear layers that get an adapter: names, or \"all-linear\"."});
  add(texts("/peft/exclude_modules", into(&R::peft, &Peft::exclude_modules), off(Json::array()),
            "Names that get no adapter although target_modules matches them."));
  add(number("/peft/lora_dropout", {0, 1}, into(&R::peft, &Peft::lora_dropout), off(0.0),
             "Dropout before each adapter: a mask, and a copy of the input per target."));
  add(flag("/peft/use_dora", into(&R::peft, &Peft::use_dora), off(false),
           "Weight-decomposed adapters: one magnitude an output."));
  add(flag("/peft/use_rslora", into(&R::peft, &Peft::use_rslora), off(false),
           "Rank-stabilised scale; changes nothing in memory."));
  add(word("/peft/bias", {"none", "all", "lora_only"}, into(&R::peft, &Peft::bias), off("none"),
           "Which biases of the base are trained."));
  add(flag("/peft/lora_bias", into(&R::peft, &Peft::lora_bias), off(false),
           "A bias on each adapter's B matrix."));
  add(texts("/peft/modules_to_save", into(&R::peft, &Peft::modules_to_save), off(Json::array()),
            "Modules trained in full: a trainable copy beside the frozen original."));
  add(word("/peft/adapter_dtype", dtypes, into(&R::peft, &Peft::adapter_dtype), default_adapter_dtype,
           "Type of the adapter weights, and so of their gradients and states."));
  add(flag("/peft/finetune_vision_layers", into(&R::peft, &Peft::finetune_vision_layers), off(true),
           "Search the vision part for target modules too."));
  add(flag("/peft/finetune_language_layers", into(&R::peft, &Peft::finetune_language_layers), off(true),
           "Search the language part for target modules too."));

  add(count("/training/per_device_train_batch_size", {1, 65536},
            into(&R::training, &Training::per_device_train_batch_size), fixed(8, "TrainingArguments default"),
            "Sequences in one forward pass on one GPU."));
  add(count("/training/gradient_accumulation_steps", {1, 1048576},
            into(&R::training, &Training::gradient_accumulation_steps), fixed(1, "TrainingArguments default"),
            "Forward passes before one optimizer step."));
  add(count("/training/max_length", {1, 16777216}, into(&R::training, &Training::max_length),
            default_max_length, "Longest sequence in tokens; the peak is taken at this length."));
  add(flag("/training/packing", into(&R::training, &Training::packing), off(false),
           "Samples are joined until a sequence is full."));
  add(flag("/training/padded_batches", into(&R::training, &Training::padded_batches), default_padded_batches,
           "Batches hold padding, so an attention mask is built."));
  add(flag("/training/gradient_checkpointing", into(&R::training, &Training::gradient_checkpointing),
           fixed(false, "TrainingArguments default"),
           "Keep only each layer's input and compute the rest again in the backward pass."));
  add(flag("/training/gradient_checkpointing_kwargs/use_reentrant",
           into(&R::training, &Training::use_reentrant), default_use_reentrant,
           "Which of PyTorch's two checkpoint implementations."));
  add(flag("/model_args/use_cache", into(&R::model_args, &ModelArgs::use_cache), default_use_cache,
           "K and V of every layer are kept during the forward pass."));
  add(word("/training/optim", optimizer_ids(), into(&R::training, &Training::optim), default_optim,
           "Optimizer; decides the states and what the step itself needs."));
  add(flag("/training/use_liger_kernel", into(&R::training, &Training::use_liger_kernel), off(false),
           "Liger's fused kernels: loss, norms, rotary, gated MLP."));
  add(word(
      "/training/loss_kernel", {"stock", "liger", "chunked_nll", "cut_cross_entropy", "torchtune_chunked"},
      into(&R::training, &Training::loss_kernel), default_loss_kernel, "How logits and loss are computed."));
  add(flag("/training/keep_outputs", into(&R::training, &Training::keep_outputs),
           fixed(false, "the Trainer drops the model's outputs before the backward pass"),
           "A training loop of your own still holds the logits while backward runs."));
  add(flag(
      "/training/keep_gradients", into(&R::training, &Training::keep_gradients), off(false),
      "Gradients are cleared before the forward pass instead of after the step, so they live through it."));
  add(count("/training/per_device_eval_batch_size", {1, 65536},
            into(&R::training, &Training::per_device_eval_batch_size), off(8),
            "Sequences in one evaluation batch."));
  add(count("/training/eval_accumulation_steps", {0, 1048576},
            into(&R::training, &Training::eval_accumulation_steps), off(0),
            "Evaluation batches kept on the GPU before they move to host memory."));
  add(flag("/training/prediction_loss_only", into(&R::training, &Training::prediction_loss_only), off(false),
           "Evaluation keeps the loss alone, not the logits."));

  add(count("/vision/images_per_sample", {0, 4096}, into(&R::vision, &Vision::images_per_sample),
            default_images, "Images in one sample."));
  add(count("/vision/image_size", {0, 16384}, into(&R::vision, &Vision::image_size), default_image_size,
            "Side of an image in pixels."));
  add(flag("/vision/freeze_vision_tower", into(&R::vision, &Vision::freeze_vision_tower), off(true),
           "The vision tower is not trained."));

  add(count("/rl/num_generations", {1, 65536}, {}, off(nullptr), "Completions for one prompt (GRPO)."));
  add(count("/rl/max_completion_length", {1, 16777216}, {}, off(nullptr),
            "Longest completion in tokens (GRPO)."));
  add(flag("/rl/use_vllm", {}, off(nullptr), "Completions come from vLLM."));
  add(number("/rl/vllm_gpu_memory_utilization", {0, 1}, {}, off(nullptr),
             "Share of the GPU that vLLM takes."));

  add(count("/parallel/num_gpus", {1, 65536}, into(&R::parallel, &Parallel::num_gpus), off(1),
            "GPUs that train together."));
  add(word(
      "/parallel/strategy", {"none", "ddp", "fsdp", "zero1", "zero2", "zero3"},
      into(&R::parallel, &Parallel::strategy),
      [](const DefaultContext& c) -> Default {
        return c.values.at("/parallel/num_gpus") == 1
                   ? Default{"none", ""}
                   : Default{"ddp", "several GPUs without a strategy: each holds a whole copy"};
      },
      "How the GPUs share the work."));

  add(text("/hardware/gpu", into(&R::hardware, &Hardware::gpu), off(nullptr),
           "GPU id, as `plimsoll gpus` lists them."));
  add(number("/hardware/in_use_gib", {0, 4096}, into(&R::hardware, &Hardware::in_use_gib), off(0.0),
             "Memory that other programs already hold on that GPU, in GiB."));
  add(text("/hardware/PYTORCH_CUDA_ALLOC_CONF", into(&R::hardware, &Hardware::cuda_alloc_conf), off(""),
           "PyTorch's allocator settings."));

  add(count("/data/samples", {1, 1e12}, into(&R::data, &Data::samples), off(nullptr),
            "Samples in the training set."));
  add(number("/data/epochs", {0, 1e6}, into(&R::data, &Data::epochs), off(nullptr),
             "Passes over the training set."));
  add(number("/data/mean_length", {0, 1.6e7}, into(&R::data, &Data::mean_length), off(nullptr),
             "Mean sample length in tokens."));
  add(texts("/locks", into(&R::locks), off(Json::array()), "Fields that advice must not touch."));
  return table;
}

}  // namespace

const std::vector<Field>& field_table() {
  static const std::vector<Field> table = make_table();
  return table;
}

const Field* find_field(std::string_view pointer) {
  static const std::map<std::string_view, const Field*> index = [] {
    std::map<std::string_view, const Field*> made;
    for (const Field& field : field_table()) made.emplace(field.pointer, &field);
    return made;
  }();
  const auto found = index.find(pointer);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace plimsoll::recipe
