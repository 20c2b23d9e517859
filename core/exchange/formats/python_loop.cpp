#include "core/exchange/formats/python_loop.h"

#include <algorithm>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

struct Optimizer {
  std::string_view name, ours;
};
// torch.optim, bitsandbytes.optim, transformers. Without fused=True, PyTorch takes its foreach kernels.
constexpr Optimizer optimizers[] = {
    {"AdamW", "adamw_torch"},
    {"Adam", "adamw_torch"},
    {"AdamW8bit", "adamw_8bit"},
    {"Adam8bit", "adamw_8bit"},
    {"AdamW32bit", "paged_adamw_32bit"},
    {"PagedAdamW", "paged_adamw_32bit"},
    {"PagedAdamW32bit", "paged_adamw_32bit"},
    {"PagedAdamW8bit", "paged_adamw_8bit"},
    {"PagedAdam8bit", "paged_adamw_8bit"},
    {"Lion", "lion_32bit"},
    {"Lion8bit", "lion_8bit"},
    {"PagedLion8bit", "paged_lion_8bit"},
    {"Adafactor", "adafactor"},
    {"SGD", "sgd"},
    {"RMSprop", "rmsprop"},
    {"Adagrad", "adagrad"},
};

bool is_true(const Node* node) { return node != nullptr && !node->opaque && node->value == json::Json(true); }

std::string_view optimizer_of(const Member& call) {
  if (call.key == "transformers.AdamW") return "adamw_hf";
  const std::string_view ours = optimizer_class(call.key);
  if (ours == "adamw_torch" && is_true(call.value.find("fused"))) return "adamw_torch_fused";
  const Node* momentum = call.value.find("momentum");
  return ours == "sgd" && momentum != nullptr && momentum->value != json::Json(0) ? "sgd_momentum" : ours;
}

Node word(std::string_view text, Span span) {
  return scalar_node(std::string(text), std::string(text), true, span);
}

// torch.autocast("cuda", dtype=torch.bfloat16); on CUDA its type is float16 unless one is given.
std::string_view autocast_of(const Member& call) {
  if (last_part(call.key) != "autocast") return "";
  const Node* dtype = call.value.find("dtype");
  if (dtype == nullptr) dtype = call.value.find("1");
  const Node* enabled = call.value.find("enabled");
  if (enabled != nullptr && enabled->value == json::Json(false)) return "";
  if (dtype == nullptr) return "fp16";
  return dtype->raw.find("bfloat16") != std::string::npos ? "bf16" : "fp16";
}

struct Named {
  const char* setting;
  std::string_view name;
};
// GRADIENT_ACCUMULATION_STEPS = 8, which the loop counts itself; a batch size that a function of another file
// is given.
constexpr Named names[] = {
    {"gradient_accumulation_steps", "gradient_accumulation_steps"},
    {"gradient_accumulation_steps", "grad_accumulation_steps"},
    {"gradient_accumulation_steps", "accumulation_steps"},
    {"gradient_accumulation_steps", "grad_accum_steps"},
    {"gradient_accumulation_steps", "accum_steps"},
    {"gradient_accumulation_steps", "grad_accum"},
    {"per_device_train_batch_size", "per_device_train_batch_size"},
    {"per_device_train_batch_size", "train_batch_size"},
    {"per_device_train_batch_size", "micro_batch_size"},
    {"per_device_train_batch_size", "batch_size"},
    {"num_train_epochs", "num_train_epochs"},
    {"num_train_epochs", "num_epochs"},
    {"num_train_epochs", "n_epochs"},
    {"num_train_epochs", "epochs"},
};

bool says(const Member& call, std::initializer_list<std::string_view> words) {
  for (const Member& given : call.value.members) {
    const std::string text = ascii::lower(given.value.raw);
    for (const std::string_view word : words) {
      if (text.find(word) != std::string::npos) return true;
    }
  }
  return false;
}

// Of several loaders the one whose rows are called those of the training, else the first that are not called
// others.
const Member* training_loader(const Node& python) {
  const Member* best = nullptr;
  int highest = -1;
  for (const Member& call : python.members) {
    if (!is_call(call) || last_part(call.key) != "DataLoader") continue;
    const int score = says(call, {"train"}) ? 2 : says(call, {"val", "eval", "test", "dev"}) ? 0 : 1;
    if (score > highest) best = &call;
    highest = std::max(highest, score);
  }
  return best;
}

struct Training {
  Node& section;
  void add(const char* key, Span key_span, Node value) const {
    if (section.find(key) == nullptr) section.members.push_back({key, key_span, std::move(value)});
  }
};

void add_call(const Member& call, const Training& training) {
  const std::string_view name = last_part(call.key);
  if (name == "Accelerator") {
    if (const Node* steps = call.value.find("gradient_accumulation_steps"))
      training.add("gradient_accumulation_steps", call.key_span, *steps);
    const Node* precision = call.value.find("mixed_precision");
    if (precision != nullptr && (precision->raw == "bf16" || precision->raw == "fp16"))
      training.add(precision->raw.c_str(), call.key_span,
                   scalar_node(true, precision->raw, false, precision->span));
  }
  if (const std::string_view optim = optimizer_of(call); !optim.empty())
    training.add("optim", call.key_span, word(optim, call.value.span));
  if (const std::string_view type = autocast_of(call); !type.empty())
    training.add(type == "bf16" ? "bf16" : "fp16", call.key_span,
                 scalar_node(true, "True", false, call.value.span));
}

// A loop that steps and sets its gradients back, and speaks of no accumulation.
bool takes_each_step(const Node& python) {
  bool steps = false, clears = false;
  for (const Member& member : python.members) {
    if (ascii::lower(member.key).find("accum") != std::string::npos) return false;
    if (!is_call(member)) continue;
    steps = steps || ascii::lower(member.key).find("optimizer.step") != std::string::npos;
    clears = clears || last_part(member.key) == "zero_grad";
    for (const Member& given : member.value.members) {
      if (ascii::lower(given.value.raw).find("accum") != std::string::npos) return false;
    }
  }
  return steps && clears;
}

}  // namespace

std::string_view optimizer_class(std::string_view name) {
  for (const Optimizer& row : optimizers) {
    if (row.name == last_part(name)) return row.ours;
  }
  return "";
}

bool has_loop(const Node& python) {
  return std::any_of(python.members.begin(), python.members.end(), [](const Member& member) {
    return is_call(member) && last_part(member.key) == "backward";
  });
}

void add_loop(const Node& python, Node& sections) {
  if (sections.find("training") != nullptr || sections.find("trainer") != nullptr ||
      sections.find("sagemaker") != nullptr) {
    return;
  }
  // Lightning's Trainer runs the loop itself.
  const bool lightning = sections.find("lightning") != nullptr;
  const auto goes_back = [&](const Member& member) {
    return is_call(member) && last_part(member.key) == (lightning ? "Trainer" : "backward");
  };
  const auto found = std::find_if(python.members.begin(), python.members.end(), goes_back);
  if (found == python.members.end()) return;
  sections.members.push_back({"$loop", found->key_span, word("loop", found->key_span)});
  Node made;
  made.kind = Node::Kind::map;
  made.span = python.span;
  const Training training{made};
  const Member* loader = training_loader(python);
  const Node* batch = loader == nullptr ? nullptr : loader->value.find("batch_size");
  if (batch != nullptr) training.add("per_device_train_batch_size", loader->key_span, *batch);
  for (const Member& call : python.members) {
    if (is_call(call)) add_call(call, training);
  }
  for (const auto& [setting, name] : names) {
    for (const Member& member : python.members) {
      if (!is_call(member) && member.value.value.is_number_unsigned() && ascii::lower(member.key) == name)
        training.add(setting, member.key_span, member.value);
    }
  }
  if (!lightning && takes_each_step(python)) {
    const Node one = scalar_node(uint64_t{1}, "1", false, found->key_span);
    training.add("gradient_accumulation_steps", found->key_span, one);
  }
  if (!made.members.empty()) sections.members.push_back({"training", {}, std::move(made)});
}

}  // namespace plimsoll::exchange
