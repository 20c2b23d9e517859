#include "tests/drawn/request.h"

#include <algorithm>

#include "core/exchange/import.h"
#include "core/recipe/quantization_formats.h"
#include "core/recipe/refusals.h"
#include "core/recipe/tasks.h"
#include "core/report/report.h"
#include "tests/drawn/value.h"

namespace plimsoll::drawn {

namespace {

using recipe::Values;

bool starts(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

// Models that a person with one card trains, answered in a moment.
constexpr const char* small_models[] = {"gpt2",
                                        "llama-3.2-1b",
                                        "smollm2-360m",
                                        "qwen2.5-0.5b",
                                        "gemma-2-2b",
                                        "phi-2",
                                        "pythia-1.4b",
                                        "opt-1.3b",
                                        "bloom-1b1",
                                        "olmo-1b-hf",
                                        "qwen3-0.6b",
                                        "qwen2.5-vl-3b-instruct",
                                        "llava-1.5-7b-hf",
                                        "lfm2-1.2b",
                                        "t5-base",
                                        "whisper-small",
                                        "bert-base-uncased",
                                        "gpt-oss-20b",
                                        "qwen3-30b-a3b",
                                        "mamba-130m-hf",
                                        "mistral-7b-v0.3",
                                        "qwen2.5-7b",
                                        "gemma-3-4b-pt",
                                        "deepseek-v2-lite"};

// One request being drawn. Each function settles what hangs together; `set` is for what it settles, and
// leaves alone what was settled before.
class Drawing {
 public:
  Drawing(uint64_t seed, const Wish& wish) : dice_(seed), wish_(wish) {}

  Json request() {
    draw_model();
    if (dice_.one_in(2)) values_["/stack"] = one_of_catalog(presets().stacks);
    if (!dice_.one_in(3)) set_drawn("/task");
    draw_versions();
    draw_precision();
    draw_adapters();
    draw_parallel();
    draw_hardware();
    draw_lengths();
    draw_training();
    draw_rest();
    say_no();
    draw_locks();
    Json nested = exchange::nest(values_);
    Json whole = {{"model", model_}};
    whole.update(nested);
    return whole;
  }

 private:
  template <typename List>
  std::string one_of_catalog(const List& list) {
    return list[dice_.draw(list.size())].id;
  }
  bool has(const char* pointer) const { return values_.count(pointer) != 0; }
  bool is(const char* pointer, const Json& value) const {
    const auto found = values_.find(pointer);
    return found != values_.end() && found->second == value;
  }
  std::string word(const char* pointer) const {
    const auto found = values_.find(pointer);
    return found == values_.end() || !found->second.is_string() ? "" : found->second.get<std::string>();
  }
  uint64_t count(const char* pointer, uint64_t otherwise) const {
    const auto found = values_.find(pointer);
    return found == values_.end() ? otherwise : found->second.get<uint64_t>();
  }
  void set(const char* pointer, Json value) { values_[pointer] = std::move(value); }
  void set_drawn(const char* pointer) {
    if (Json value = drawn_value(*recipe::find_field(pointer), dice_); !value.is_null()) set(pointer, value);
  }

  void draw_model() {
    const run::Catalog& catalog = presets();
    if (dice_.one_in(10)) {
      const Json config = drawn_config(dice_, wish_.small);
      json::Errors errors;
      own_network_ = model::read_config(config, "drawn", "/model/config", errors);
      model_ = {{"config", config}, {"name", "drawn"}};
      // One that is refused shows as a request that is.
      network_ = own_network_ ? &*own_network_ : &catalog.models.front().network;
      return;
    }
    const run::ModelEntry* entry = nullptr;
    if (wish_.small) entry = catalog.find_model(small_models[dice_.draw(std::size(small_models))]);
    if (entry == nullptr) entry = &catalog.models[dice_.draw(catalog.models.size())];
    model_ = dice_.one_in(2) ? entry->preset.id : entry->preset.hf_id;
    network_ = &entry->network;
  }

  void draw_versions() {
    for (const char* library : {"transformers", "trl", "peft", "torch", "bitsandbytes", "litgpt", "unsloth",
                                "axolotl", "llamafactory"}) {
      if (dice_.one_in(4)) set_drawn((std::string("/versions/") + library).c_str());
    }
    if (dice_.one_in(6)) set_drawn("/model_args/implementation");
    if (lacks_code()) set("/model_args/implementation", "transformers");
  }

  // LitGPT and torchtune have code for some networks: of another nobody can say what they would make of it.
  bool lacks_code() const {
    recipe::Recipe recipe;
    recipe.model_args.implementation = implementation();
    const auto rows = recipe::refusals_of(recipe, {.model_type = network_->model_type});
    return std::any_of(rows.begin(), rows.end(),
                       [](const recipe::Refusal* row) { return row->id.ends_with("_without_model"); });
  }

  void draw_precision() {
    const uint64_t kind = dice_.draw(4);
    if (kind == 1) set("/training/bf16", true);
    if (kind == 2) set("/training/fp16", true);
    if (kind == 3 && dice_.one_in(4)) set("/training/bf16", false);
    if (!dice_.one_in(2)) set_drawn("/model_args/dtype");
  }

  // Whose model code runs, by the request or by the stack's default.
  std::string implementation() const {
    if (has("/model_args/implementation")) return word("/model_args/implementation");
    const recipe::StackPreset* stack = presets().find_stack(word("/stack"));
    for (std::size_t i = 0; stack != nullptr && i < stack->defaults.size(); ++i) {
      if (stack->defaults[i].pointer == "/model_args/implementation")
        return stack->defaults[i].value.get<std::string>();
    }
    return "transformers";
  }

  // LitGPT and torchtune have one set of names for all networks.
  Json drawn_own_names() {
    const auto has_role = [&](model::Role role) {
      return std::any_of(
          network_->stacks.front().groups.begin(), network_->stacks.front().groups.end(),
          [role](const model::LayerGroup& group) { return model::find(group, role) != nullptr; });
    };
    if (dice_.one_in(3) || (!has_role(model::Role::q) && !has_role(model::Role::qkv))) return "all-linear";
    const std::vector<Json> lists = {Json::array({"q_proj", "v_proj"}), Json::array({"q_proj"}),
                                     Json::array({"q_proj", "k_proj", "v_proj", "o_proj"})};
    return dice_.one_of(lists);
  }

  // PEFT's names of the network's linears, a pattern over them, or its own word for all.
  Json drawn_targets() {
    if (implementation() == "litgpt" || implementation() == "torchtune") return drawn_own_names();
    const std::vector<std::string> names = drawn_linears(*network_, 1 + dice_.draw(4), dice_);
    if (names.empty() || dice_.one_in(3)) return "all-linear";
    if (!dice_.one_in(6)) return names;
    std::string pattern = ".*\\.(";
    for (const std::string& name : names) pattern += (pattern.back() == '(' ? "" : "|") + name;
    return pattern + ")$";
  }

  void draw_adapters() {
    if (dice_.one_in(3)) {
      // A scaler refuses gradients in float16, whether the type is said or taken from the checkpoint.
      if (is("/training/fp16", true)) set("/model_args/dtype", dice_.one_in(2) ? "float32" : "bfloat16");
      return;
    }
    set("/peft", true);
    if (dice_.one_in(4)) set_drawn("/peft/peft_type");
    const std::string& type = network_->model_type;
    if (is("/peft/peft_type", "ADAPTION_PROMPT") && type != "llama" && type != "mistral" && type != "gpt2")
      values_.erase("/peft/peft_type");  // PEFT knows the attention of these alone
    set("/peft/target_modules", drawn_targets());
    const bool experts =
        std::any_of(network_->stacks.front().groups.begin(), network_->stacks.front().groups.end(),
                    [](const model::LayerGroup& group) { return group.experts > 0; });
    if (experts && dice_.one_in(3)) {
      const std::vector<Json> parameters = {
          Json::array({"mlp.experts.gate_up_proj"}), Json::array({"mlp.experts.down_proj"}),
          Json::array({"mlp.experts.gate_up_proj", "mlp.experts.down_proj"})};
      set("/peft/target_parameters", dice_.one_of(parameters));
      if (!has("/peft/peft_type") && dice_.one_in(3)) set("/peft/target_modules", Json::array());
    }
    if (is("/peft/target_modules", "all-linear") && dice_.one_in(6)) {
      const std::vector<std::string> left_out = drawn_linears(*network_, 1, dice_);
      if (drawn_linears(*network_, 2, dice_).size() == 2) set("/peft/exclude_modules", left_out);
    }
    for (const recipe::Field& field : recipe::field_table()) {
      const std::string pointer(field.pointer);
      if (!starts(pointer, "/peft/") || has(pointer.c_str()) || !dice_.one_in(5)) continue;
      if (pointer == "/peft/exclude_modules" || pointer == "/peft/peft_type") continue;
      if (pointer == "/peft/finetune_language_layers" || pointer == "/peft/finetune_vision_layers") continue;
      set_drawn(pointer.c_str());
    }
    // One part of the network is always searched.
    if (dice_.one_in(8)) set("/peft/finetune_vision_layers", dice_.one_in(2));
    const bool sees = network_->image.rule != model::ImageTokens::Rule::none;
    if (dice_.one_in(sees ? 3 : 12))
      set("/peft/finetune_language_layers", !sees || !is("/peft/target_modules", "all-linear"));
    if (is("/peft/finetune_language_layers", false)) set("/peft/finetune_vision_layers", true);
    draw_quantization();
  }

  void draw_quantization() {
    switch (dice_.draw(5)) {
      case 0:
      case 1:
        return;
      case 2:
        set("/quantization/load_in_8bit", true);
        break;
      case 3:
        set("/quantization/load_in_4bit", true);
        break;
      default:
        set_drawn("/quantization/quant_method");
        const recipe::QuantizationFormat* packing =
            recipe::find_quantization_format(word("/quantization/quant_method"));
        if (packing->trainable_from != "0")
          set("/versions/transformers", std::string(packing->trainable_from));
    }
    set("/quantization", true);
    for (const recipe::Field& field : recipe::field_table()) {
      const std::string pointer(field.pointer);
      if (!starts(pointer, "/quantization/") || has(pointer.c_str()) || !dice_.one_in(4)) continue;
      if (starts(pointer, "/quantization/load_in_") || pointer == "/quantization/quant_method") continue;
      set_drawn(pointer.c_str());
    }
  }

  void draw_parallel() {
    const recipe::Task* task = recipe::find_task(word("/task"));
    if ((task != nullptr && task->value_model) || dice_.one_in(2)) return;
    if (dice_.one_in(5)) {
      set("/model_args/device_map", "auto");
      if (dice_.one_in(2)) set("/parallel/num_gpus", 1 + dice_.draw(8));
      if (dice_.one_in(3)) set_drawn("/model_args/max_memory");
      return;
    }
    uint64_t gpus = uint64_t{2} << dice_.draw(3);
    if (dice_.one_in(4)) gpus = 2 + dice_.draw(63);
    if (dice_.one_in(40)) gpus = 65536;
    set("/parallel/num_gpus", gpus);
    set_drawn("/parallel/strategy");
    if (is("/parallel/strategy", "none")) set("/parallel/num_gpus", 1);
    if (!is("/parallel/strategy", "none") && dice_.one_in(6)) {
      set("/parallel/sequence_parallel_size", dice_.one_in(2) || gpus % 2 != 0 ? gpus : 2);
    }
    for (const recipe::Field& field : recipe::field_table()) {
      const std::string pointer(field.pointer);
      const bool fsdp = starts(pointer, "/parallel/fsdp_config/"),
                 zero = starts(pointer, "/parallel/zero_optim");
      const bool any =
          pointer == "/parallel/gradient_as_bucket_view" || pointer == "/parallel/sync_each_batch";
      const std::string strategy = word("/parallel/strategy");
      const bool used = (fsdp && starts(strategy, "fsdp")) || (zero && starts(strategy, "zero")) || any;
      if (used && dice_.one_in(4)) set_drawn(pointer.c_str());
    }
  }

  void draw_hardware() {
    if (wish_.gpu || dice_.one_in(2)) set("/hardware/gpu", one_of_catalog(presets().gpus));
    if (dice_.one_in(8)) set("/hardware/in_use_gib", static_cast<double>(dice_.draw(32)) / 4);
    if (dice_.one_in(40)) set_drawn("/hardware/in_use_gib");
    if (dice_.one_in(16)) set("/hardware/context_gib", static_cast<double>(dice_.draw(16)) / 4);
    if (dice_.one_in(6)) set_drawn("/hardware/PYTORCH_CUDA_ALLOC_CONF");
  }

  // A sequence that the policy writes is a prompt and a completion: two of the three lengths, or all of them
  // in agreement.
  void draw_lengths() {
    const recipe::Task* task = recipe::find_task(word("/task"));
    if (task == nullptr || !task->online) {
      if (!dice_.one_in(4)) set_drawn("/training/max_length");
      if (dice_.one_in(20)) set_drawn("/rl/max_completion_length");
      return;
    }
    const uint64_t prompt = 1 + dice_.draw(2048), completion = 1 + dice_.draw(2048);
    const uint64_t stated = dice_.draw(7);
    if (stated == 1 || stated == 4 || stated == 6) set("/rl/max_prompt_length", prompt);
    if (stated == 2 || stated == 4 || stated == 5 || stated == 6)
      set("/rl/max_completion_length", completion);
    if (stated == 3 || stated == 5 || stated == 6) set("/training/max_length", prompt + completion);
  }

  void draw_training() {
    if (!dice_.one_in(4)) set_drawn("/training/per_device_train_batch_size");
    if (!dice_.one_in(3)) set_drawn("/training/gradient_accumulation_steps");
    if (!dice_.one_in(3)) set_drawn("/training/optim");
    const std::string optim = word("/training/optim");
    const bool by_hooks = optim == "lomo" || optim == "adalomo" ||
                          (optim.size() > 10 && optim.substr(optim.size() - 10) == "_layerwise");
    if (dice_.one_in(12)) set("/training/optimizer_in_backward", true);
    if (dice_.one_in(12)) set_drawn("/training/optimizer_offload");
    // Gradients that leave at once cannot be accumulated.
    if (by_hooks || is("/training/optimizer_in_backward", true) ||
        is("/training/optimizer_offload", "states_and_gradients"))
      set("/training/gradient_accumulation_steps", 1);
    if (dice_.one_in(2)) set("/training/gradient_checkpointing", dice_.one_in(2));
    if (dice_.one_in(12)) {
      set("/training/activation_offloading", true);
      set("/training/gradient_checkpointing", true);
    }
    if (dice_.one_in(5)) set("/training/packing", dice_.one_in(2));
    if (!is("/training/packing", true) && dice_.one_in(4)) set_drawn("/training/padded_batches");
    if (!has("/peft")) {
      const uint64_t part = dice_.draw(12);
      if (part == 0) set_drawn("/training/freeze_trainable_layers");
      if (part == 1) set_drawn("/training/lisa_activated_layers");
      if (part == 2) set_drawn("/training/llamapro_num_new_blocks");
      if (part == 3) set("/training/unfrozen_parameters", Json::array({".+[02468].+"}));
    }
    if (dice_.one_in(6)) {
      for (const char* pointer :
           {"/training/save_strategy", "/training/save_only_model", "/training/load_best_model_at_end"}) {
        if (dice_.one_in(2)) set_drawn(pointer);
      }
    }
    if (dice_.one_in(3)) {
      const std::vector<std::string> when = {"steps", "epoch"};
      set("/training/eval_strategy", dice_.one_of(when));
      for (const char* pointer :
           {"/training/per_device_eval_batch_size", "/training/compute_metrics", "/data/eval_samples",
            "/training/eval_accumulation_steps", "/training/prediction_loss_only", "/training/eval_packing",
            "/training/eval_loss_kernel"}) {
        if (dice_.one_in(2)) set_drawn(pointer);
      }
    }
    if (network_->image.rule != model::ImageTokens::Rule::none && dice_.one_in(2)) {
      set_drawn("/vision/images_per_sample");
      if (dice_.one_in(2)) set_drawn("/vision/image_size");
      const bool oblong = network_->image.size_matters() && dice_.one_in(2);
      if (has("/vision/image_size") && oblong) {
        set_drawn("/vision/image_height");
      } else if (has("/vision/image_size") && dice_.one_in(4)) {
        set("/vision/image_height", values_["/vision/image_size"]);
      }
      if (dice_.one_in(4)) set_drawn("/vision/max_tiles");
      if (dice_.one_in(3)) set_drawn("/vision/freeze_vision_tower");
      if (dice_.one_in(6)) set_drawn("/vision/freeze_multi_modal_projector");
      if (dice_.one_in(12)) set_drawn("/vision/freeze_language_model");
      if (is("/vision/freeze_language_model", true)) set("/vision/freeze_vision_tower", false);
    }
  }

  // All other fields, each now and then.
  void draw_rest() {
    constexpr const char* settled[] = {"/stack",
                                       "/task",
                                       "/peft/",
                                       "/quantization/",
                                       "/parallel/",
                                       "/versions/",
                                       "/hardware/",
                                       "/vision/",
                                       "/locks",
                                       "/training/bf16",
                                       "/training/fp16",
                                       "/training/optimizer_in_backward",
                                       "/training/optimizer_offload",
                                       "/training/gradient_accumulation_steps",
                                       "/training/optim",
                                       "/training/activation_offloading",
                                       "/training/gradient_checkpointing",
                                       "/training/packing",
                                       "/training/padded_batches",
                                       "/training/freeze_trainable_layers",
                                       "/training/lisa_activated_layers",
                                       "/training/llamapro_num_new_blocks",
                                       "/training/unfrozen_parameters",
                                       "/training/max_length",
                                       "/rl/max_prompt_length",
                                       "/rl/max_completion_length",
                                       "/model_args/implementation",
                                       "/model_args/device_map",
                                       "/model_args/max_memory"};
    for (const recipe::Field& field : recipe::field_table()) {
      const std::string pointer(field.pointer);
      const bool known = std::any_of(std::begin(settled), std::end(settled), [&](std::string_view row) {
        return row.back() == '/' ? starts(pointer, row) : pointer == row;
      });
      if (known || has(pointer.c_str())) continue;
      if (pointer == "/want" && wish_.plain) continue;
      if (dice_.one_in(starts(pointer, "/want") ? 3 : 8)) set_drawn(pointer.c_str());
    }
    if (dice_.one_in(30)) set_drawn("/training/optim_args");
    if (dice_.one_in(30)) set_drawn("/training/optim_target_modules");
  }

  // What is off unless it is said otherwise, said to be off.
  void say_no() {
    for (const char* pointer :
         {"/training/fp16", "/training/bf16", "/training/activation_offloading", "/training/packing"}) {
      if (!has(pointer) && dice_.one_in(20)) set(pointer, false);
    }
    const std::string optim = word("/training/optim");
    if (!optim.empty() && !has("/training/optimizer_in_backward") && dice_.one_in(20))
      set("/training/optimizer_in_backward", false);
    for (const char* pointer : {"/quantization/load_in_4bit", "/quantization/load_in_8bit"}) {
      if (!has(pointer) && dice_.one_in(20)) set(pointer, false);
    }
  }

  void draw_locks() {
    if (!dice_.one_in(4)) return;
    Json locks = Json::array();
    for (uint64_t i = 1 + dice_.draw(3); i > 0; --i) {
      const auto table = recipe::field_table();
      std::string name(table[dice_.draw(table.size())].pointer.substr(1));
      if (dice_.one_in(4)) name = name.substr(0, name.find('/'));
      if (dice_.one_in(20)) name = "model";
      std::replace(name.begin(), name.end(), '/', '.');
      if (std::find(locks.begin(), locks.end(), name) == locks.end()) locks.push_back(name);
    }
    set("/locks", locks);
  }

  Dice dice_;
  Wish wish_;
  Json model_;
  std::optional<model::Architecture> own_network_;
  const model::Architecture* network_ = nullptr;
  Values values_;
};

void add_fields(const Json& value, const std::string& pointer, std::vector<std::string>& found) {
  for (const auto& [key, member] : value.items()) {
    const std::string here = pointer + "/" + json::escape(key);
    if (recipe::find_field(here) != nullptr) {
      found.push_back(here);
    } else if (member.is_object() && here != "/model") {
      add_fields(member, here, found);
    }
  }
}

}  // namespace

const run::Catalog& presets() {
  static const run::Catalog catalog = run::read_catalog(preset_files());
  return catalog;
}

bool never_valid(std::string_view pointer, std::string_view word) {
  if (pointer != "/quantization/quant_method") return false;
  const recipe::QuantizationFormat* packing = recipe::find_quantization_format(word);
  return packing == nullptr || packing->trainable_from.empty();
}

Json drawn_request(uint64_t seed, const Wish& wish) {
  Json request = Drawing(seed, wish).request();
  // Whether experts are one parameter depends on releases and code; where they are not, nothing is adapted.
  const auto targets = "/peft/target_modules"_json_pointer;
  if (!request.contains(targets) || request.at(targets) != Json::array()) return request;
  if (!report::report_answer(request.dump(), presets()).ok) request[targets] = "all-linear";
  return request;
}

std::vector<std::string> stated_fields(const Json& request) {
  std::vector<std::string> found;
  add_fields(request, "", found);
  return found;
}

}  // namespace plimsoll::drawn
