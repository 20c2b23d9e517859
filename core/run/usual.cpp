#include "core/run/usual.h"

#include <algorithm>

#include "core/json/ascii.h"
#include "core/recipe/tasks.h"
#include "core/run/model_names.h"

namespace plimsoll::run {

namespace {

using json::Json;

constexpr const char* batch_at = "/training/per_device_train_batch_size";

// A request, and what is found for it so far.
class Open {
 public:
  explicit Open(const Json& request) : request_(request) {}

  // Null where nothing is said.
  Json at(const char* pointer) const {
    const Json::json_pointer place(pointer);
    return request_.contains(place) ? request_.at(place) : Json();
  }
  // Json::value() throws inside, which ends a wasm module.
  std::string text(const char* pointer) const {
    const Json value = at(pointer);
    return value.is_string() ? value.get<std::string>() : "";
  }
  bool says(const char* pointer) const { return !at(pointer).is_null(); }
  bool is_on(const char* pointer) const { return at(pointer) == Json(true); }
  void take(const char* pointer, Json value, const char* why) {
    const bool taken = std::any_of(found.begin(), found.end(),
                                   [pointer](const Choice& one) { return one.pointer == pointer; });
    if (!says(pointer) && !taken) found.push_back({pointer, std::move(value), why});
  }

  std::vector<Choice> found;

 private:
  const Json& request_;
};

// Models of another family that were trained to give a text one vector, by how their authors call them.
bool is_embedding(const std::string& name) {
  constexpr std::string_view parts[] = {"embedding",  "-embed",    "reranker", "gte-qwen",
                                        "e5-mistral", "sfr-embed", "gritlm"};
  const std::string small = ascii::lower(name);
  return std::any_of(std::begin(parts), std::end(parts),
                     [&small](std::string_view part) { return small.find(part) != std::string::npos; });
}

void take_precision(Open& open, const hardware::Gpu* gpu, bool adapters) {
  if (open.says("/training/bf16") || open.says("/training/fp16")) return;
  if (gpu == nullptr || gpu->bf16) return open.take("/training/bf16", true, "what most runs use");
  open.take("/training/fp16", true, "this card has no bf16");
  open.take("/model_args/dtype", adapters ? "float16" : "float32",
            adapters ? "this card has no bf16"
                     : "the gradient scaler of fp16 training refuses trained weights in float16");
}

void take_batch(Open& open, const recipe::Task* task) {
  if (open.says(batch_at)) return;
  open.take(batch_at, 1, "the smallest; --batch says another");
  if (task == nullptr || task->num_generations <= 1) return;
  const Json group = open.at("/rl/num_generations");
  open.take("/training/gradient_accumulation_steps",
            group.is_number() ? group : Json(static_cast<uint64_t>(task->num_generations)),
            "TRL stops where the samples of a step hold no whole group of completions");
}

}  // namespace

std::vector<Choice> usual_choices(const Json& request, const Catalog& catalog) {
  Open open(request);
  if (open.says("/stack")) return {};
  const recipe::Task* task = recipe::find_task(open.text("/task"));
  if (task != nullptr && task->has_rl()) open.take("/stack", "trl", "this task is a trainer of TRL's");
  if (is_embedding(open.text("/model")))
    open.take("/task", "classification", "an embedding model is trained on its vectors, not on next words");
  const ModelEntry* model = find_by_name(catalog, open.text("/model")).entry;
  const bool encoder = model != nullptr && model->network.kind == model::NetworkKind::encoder;
  if (encoder)
    open.take("/task", "classification", "what encoders are trained for most; sft guesses masked words");
  const bool adapters = open.at("/peft").is_object();
  take_precision(open, catalog.find_gpu(open.text("/hardware/gpu")), adapters);
  take_batch(open, task);
  if (adapters && !open.says("/peft/peft_type"))
    open.take("/peft/target_modules", "all-linear", "what most runs use");
  // On by default: trl/trainer/sft_config.py, unsloth models/_utils.py, LLaMA-Factory hparams/model_args.py
  // (disable_gradient_checkpointing), ms-swift arguments; peft utils/other.py prepare_model_for_kbit_training.
  if (!encoder) open.take("/training/gradient_checkpointing", true, "on in most trainers and recipes");
  return std::move(open.found);
}

}  // namespace plimsoll::run
