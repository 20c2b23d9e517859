#include "core/exchange/formats/torchtune_export.h"

#include "core/exchange/formats/torchtune_models.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

bool write_model_component(Writing& out, const std::string& pointer, const Json& value) {
  if (out.wrote("model._component_")) return value != Json(false);
  const bool adapter = out.find("/peft") != nullptr;
  const bool packed = out.is("/quantization/load_in_4bit", true);
  std::string component = builder_of_model(out.model, packed ? "qlora_" : adapter ? "lora_" : "");
  if (component.empty() || (packed && !adapter)) return false;
  // Of Qwen there is no builder of that name (torchtune/models/qwen*/_model_builders.py); its lora_ has the switch.
  if (const size_t at = component.find(".qlora_qwen"); at != std::string::npos) {
    component.erase(at + 1, 1);
    out.put("model.quantize_base", true, "/quantization/load_in_4bit");
  }
  out.put("model._component_", component, pointer);
  return true;
}

bool write_lora_targets(Writing& out, const std::string& pointer, const Json& asked) {
  const bool all = asked == "all-linear" || asked == Json::array({"all-linear"});
  const Json value =
      all ? Json({"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}) : asked;
  if (!value.is_array()) return false;
  Json attention = Json::array();
  size_t gated = 0;
  bool output = false;
  for (const Json& item : value) {
    const std::string name = item.get<std::string>();
    if (name == "gate_proj" || name == "up_proj" || name == "down_proj") {
      ++gated;
    } else if (name == "lm_head") {
      output = true;
    } else if (name == "o_proj") {
      attention.push_back("output_proj");
    } else if (name == "q_proj" || name == "k_proj" || name == "v_proj") {
      attention.push_back(name);
    } else {
      return false;
    }
  }
  if (gated != 0 && gated != 3) return false;
  out.put("model.lora_attn_modules", attention, pointer);
  out.put("model.apply_lora_to_mlp", gated == 3, pointer);
  // Builders whose head is the embedding do not know it, and the others leave it off.
  if (output) out.put("model.apply_lora_to_output", output, pointer);
  return true;
}

// A component of a file and the word of a request that stands for it.
struct Component {
  std::string_view pointer, word, key, name;
};
constexpr Component components[] = {
    {"/training/optim", "adamw_torch_fused", "optimizer._component_", "torch.optim.AdamW"},
    {"/training/optim", "adamw_torch", "optimizer._component_", "torch.optim.AdamW"},
    {"/training/optim", "paged_adamw_8bit", "optimizer._component_", "bitsandbytes.optim.PagedAdamW8bit"},
    {"/training/optim", "paged_adamw_32bit", "optimizer._component_", "bitsandbytes.optim.PagedAdamW"},
    {"/training/optim", "adamw_8bit", "optimizer._component_", "bitsandbytes.optim.AdamW8bit"},
    {"/training/optim", "lion_8bit", "optimizer._component_", "bitsandbytes.optim.Lion8bit"},
    {"/training/optim", "paged_lion_8bit", "optimizer._component_", "bitsandbytes.optim.PagedLion8bit"},
    {"/training/optim", "sgd", "optimizer._component_", "torch.optim.SGD"},
    {"/training/loss_kernel", "torchtune_linear", "loss._component_",
     "torchtune.modules.loss.LinearCrossEntropyLoss"},
    {"/training/loss_kernel", "torchtune_chunked", "loss._component_",
     "torchtune.modules.loss.CEWithChunkedOutputLoss"},
    {"/training/loss_kernel", "stock", "loss._component_", "torch.nn.CrossEntropyLoss"},
};

bool write_component(Writing& out, const std::string& pointer, const Json& value) {
  for (const Component& row : components) {
    if (pointer != row.pointer || value != row.word) continue;
    out.put(row.key, std::string(row.name), pointer);
    if (row.word == "adamw_torch_fused") out.put("optimizer.fused", true, pointer);
    return true;
  }
  return false;
}

}  // namespace

bool write_torchtune(Writing& out, const std::string& pointer, const Json& value) {
  if (pointer == "/model_args/dtype" && value == "auto") {
    out.left_out.push_back(pointer);
    return true;
  }
  if (pointer == "/model" || pointer == "/peft" || pointer == "/quantization/load_in_4bit")
    return write_model_component(out, pointer, value);
  // The launcher shards, not the file; and adapters are arguments of a builder, which not every model has.
  const bool unbuilt = pointer.rfind("/peft/", 0) == 0 && !out.wrote("model._component_");
  if (pointer.rfind("/parallel/", 0) == 0 || unbuilt) {
    out.left_out.push_back(pointer);
    return true;
  }
  if (pointer == "/peft/target_modules") return write_lora_targets(out, pointer, value);
  return write_component(out, pointer, value);
}

// The recipes read these without a default (recipes/lora_finetune_single_device.py _setup_model); where the
// request leaves one to the stack it is that of the published configurations.
void close_torchtune(Writing& out) {
  if (!out.wrote("model._component_")) return;
  if (!out.wrote("dtype")) out.put("dtype", "bf16");
  if (out.find("/peft") == nullptr) return;
  if (!out.wrote("model.lora_rank")) out.put("model.lora_rank", 8);
  if (!out.wrote("model.lora_alpha")) out.put("model.lora_alpha", 16);
  if (out.wrote("model.lora_attn_modules")) return;
  out.put("model.lora_attn_modules", Json::array({"q_proj", "v_proj", "output_proj"}));
  out.put("model.apply_lora_to_mlp", true);
}

}  // namespace plimsoll::exchange
