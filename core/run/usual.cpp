#include "core/run/usual.h"

#include <algorithm>

#include "core/json/ascii.h"
#include "core/recipe/tasks.h"
#include "core/run/model_names.h"

namespace plimsoll::run {

namespace {

constexpr std::string_view embedding_names[] = {"embedding",  "-embed",    "reranker", "gte-qwen",
                                                "e5-mistral", "sfr-embed", "gritlm"};

// Json::value() throws inside, which ends a wasm module.
std::string text_at(const json::Json& request, const char* pointer) {
  const json::Json::json_pointer at(pointer);
  return request.contains(at) && request.at(at).is_string() ? request.at(at).get<std::string>() : "";
}

// Models of another family that were trained to give a text one vector, by how their authors call them.
bool is_embedding(const std::string& name) {
  const std::string small = ascii::lower(name);
  return std::any_of(std::begin(embedding_names), std::end(embedding_names),
                     [&small](std::string_view part) { return small.find(part) != std::string::npos; });
}

}  // namespace

std::vector<Choice> usual_choices(const json::Json& request, const Catalog& catalog) {
  std::vector<Choice> found;
  const hardware::Gpu* gpu = catalog.find_gpu(text_at(request, "/hardware/gpu"));
  const auto is_open = [&request](const char* pointer) {
    const json::Json::json_pointer at(pointer);
    return !request.contains(at) || request.at(at).is_null();
  };
  if (!is_open("/stack")) return found;
  const recipe::Task* known = recipe::find_task(text_at(request, "/task"));
  if (known != nullptr && known->has_rl())
    found.push_back({"/stack", "trl", "this task is a trainer of TRL's"});
  const ModelEntry* model = find_by_name(catalog, text_at(request, "/model")).entry;
  if (is_open("/task") && is_embedding(text_at(request, "/model")))
    found.push_back(
        {"/task", "classification", "an embedding model is trained on its vectors, not on next words"});
  else if (is_open("/task") && model != nullptr && model->network.kind == model::NetworkKind::encoder)
    found.push_back(
        {"/task", "classification", "what encoders are trained for most; sft guesses masked words"});
  const bool has = gpu == nullptr || gpu->bf16;
  const bool adapters = request.contains("peft") && request.at("peft").is_object();
  if (is_open("/training/bf16") && is_open("/training/fp16") && (has || adapters)) {
    found.push_back({has ? "/training/bf16" : "/training/fp16", true,
                     has ? "what most runs use" : "this card has no bf16"});
  }
  if (is_open("/training/per_device_train_batch_size"))
    found.push_back({"/training/per_device_train_batch_size", 1, "the smallest; --batch says another"});
  if (adapters && is_open("/peft/peft_type") && is_open("/peft/target_modules"))
    found.push_back({"/peft/target_modules", "all-linear", "what most runs use"});
  // huggingface/peft src/peft/utils/other.py prepare_model_for_kbit_training,
  // use_gradient_checkpointing=True.
  const auto loads = [&](const char* pointer) {
    const json::Json::json_pointer at(pointer);
    return request.contains(at) && request.at(at) == json::Json(true);
  };
  const bool quantised = loads("/quantization/load_in_4bit") || loads("/quantization/load_in_8bit");
  if (adapters && quantised && is_open("/training/gradient_checkpointing"))
    found.push_back(
        {"/training/gradient_checkpointing", true, "prepare_model_for_kbit_training turns it on"});
  return found;
}

}  // namespace plimsoll::run
