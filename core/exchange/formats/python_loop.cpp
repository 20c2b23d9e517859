#include "core/exchange/formats/python_loop.h"

#include <algorithm>
#include <span>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

struct Optimizer {
  std::string_view name, ours;
  bool stands_in = false;  // another optimizer of the same bytes: ours has none of this name
};
// torch.optim, transformers. Without fused=True, PyTorch takes its foreach kernels.
constexpr Optimizer optimizers[] = {
    {"AdamW", "adamw_torch"}, {"Adam", "adamw_torch"}, {"Adafactor", "adafactor"},
    {"SGD", "sgd"},           {"RMSprop", "rmsprop"},  {"Adagrad", "adagrad"},
};
// bitsandbytes 0.50 optim/: only the classes called Paged page their states; states are fp32 or one byte whatever the
// parameter's type (optimizer.py Optimizer1State, Optimizer2State init_state), one parameter after another.
constexpr Optimizer bitsandbytes_optimizers[] = {
    {"Adam", "adamw_apex_fused", true},
    {"Adam32bit", "adamw_apex_fused", true},
    {"Adam8bit", "adamw_8bit"},
    {"AdamW", "adamw_apex_fused", true},
    {"AdamW32bit", "adamw_apex_fused", true},
    {"AdamW8bit", "adamw_8bit"},
    {"PagedAdam", "paged_adamw_32bit"},
    {"PagedAdam32bit", "paged_adamw_32bit"},
    {"PagedAdam8bit", "paged_adamw_8bit"},
    {"PagedAdamW", "paged_adamw_32bit"},
    {"PagedAdamW32bit", "paged_adamw_32bit"},
    {"PagedAdamW8bit", "paged_adamw_8bit"},
    {"LAMB", "adamw_apex_fused", true},
    {"LAMB32bit", "adamw_apex_fused", true},
    {"LAMB8bit", "adamw_8bit", true},
    {"AdEMAMix", "ademamix"},
    {"AdEMAMix32bit", "ademamix"},
    {"AdEMAMix8bit", "ademamix_8bit"},
    {"PagedAdEMAMix", "paged_ademamix_32bit"},
    {"PagedAdEMAMix32bit", "paged_ademamix_32bit"},
    {"PagedAdEMAMix8bit", "paged_ademamix_8bit"},
    {"Lion", "lion_32bit"},
    {"Lion32bit", "lion_32bit"},
    {"Lion8bit", "lion_8bit"},
    {"PagedLion", "paged_lion_32bit"},
    {"PagedLion32bit", "paged_lion_32bit"},
    {"PagedLion8bit", "paged_lion_8bit"},
    {"RMSprop", "rmsprop_bnb"},
    {"RMSprop32bit", "rmsprop_bnb_32bit"},
    {"RMSprop8bit", "rmsprop_bnb_8bit"},
    {"Adagrad", "rmsprop_bnb", true},
    {"Adagrad32bit", "rmsprop_bnb_32bit", true},
    {"Adagrad8bit", "rmsprop_bnb_8bit", true},
    {"SGD", "rmsprop_bnb", true},
    {"SGD32bit", "rmsprop_bnb_32bit", true},
    {"SGD8bit", "rmsprop_bnb_8bit", true},
};

bool is_true(const Node* node) { return node != nullptr && !node->opaque && node->value == json::Json(true); }

bool of_bitsandbytes(std::string_view name) {
  return name.starts_with("bnb.") || name.find("bitsandbytes") != std::string_view::npos;
}

const Optimizer* find_in(std::span<const Optimizer> rows, std::string_view name) {
  for (const Optimizer& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// A name alone is torch's where torch has it: "AdamW", but not "PagedAdamW8bit".
const Optimizer* find_class(std::string_view name) {
  const Optimizer* torch = of_bitsandbytes(name) ? nullptr : find_in(optimizers, last_part(name));
  return torch != nullptr ? torch : find_in(bitsandbytes_optimizers, last_part(name));
}

// Of bitsandbytes AdamW(optim_bits=8, is_paged=True) is what PagedAdamW8bit is.
const Optimizer* optimizer_in(const Member& call) {
  if (!of_bitsandbytes(call.key)) return find_class(call.key);
  std::string name(last_part(call.key));
  const Node* bits = call.value.find("optim_bits");
  if (bits != nullptr && bits->value == json::Json(8) && !name.ends_with("bit")) name += "8bit";
  if (is_true(call.value.find("is_paged")) && !name.starts_with("Paged")) name.insert(0, "Paged");
  return find_in(bitsandbytes_optimizers, name);
}

std::string_view optimizer_of(const Member& call) {
  if (call.key == "transformers.AdamW") return "adamw_hf";
  const Optimizer* row = optimizer_in(call);
  const std::string_view ours = row == nullptr ? "" : row->ours;
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
  const Optimizer* row = find_class(name);
  return row == nullptr ? "" : row->ours;
}

std::string stand_in_note(std::string_view name) {
  const Optimizer* row = find_class(name);
  if (row == nullptr || !row->stands_in) return "";
  return "bitsandbytes' " + std::string(last_part(name)) + " is counted as " + std::string(row->ours) +
         ", which keeps states of the same bytes.";
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
    if (!is_call(call)) continue;
    add_call(call, training);
    const Optimizer* optimizer = optimizer_in(call);
    if (optimizer != nullptr && optimizer->stands_in)
      sections.members.push_back(
          {"$stand_in", call.key_span, word("bitsandbytes." + std::string(optimizer->name), call.key_span)});
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
