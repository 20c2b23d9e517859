#include "core/question/open_ways.h"

#include <algorithm>

#include "core/diagnosis/signs.h"
#include "core/json/ascii.h"
#include "core/json/rounding.h"
#include "core/recipe/methods.h"
#include "core/recipe/stacks.h"
#include "core/recipe/values.h"

namespace plimsoll::question {

using diagnosis::size_text;
using recipe::Values;

namespace {

bool is_set(const Values& values, const char* pointer) {
  const auto found = values.find(pointer);
  return found != values.end() && found->second == json::Json(true);
}

// How a value is called beside its run: "DPO", "a micro-batch of 4", "without packing".
std::string called(std::string_view pointer, const json::Json& value) {
  constexpr std::pair<const char*, const char*> names[] = {
      {"/task", ""},
      {"/training/per_device_train_batch_size", "a micro-batch of "},
      {"/training/max_length", "a length of "},
      {"/peft/r", "rank "},
      {"/model_args/attn_implementation", "with "},
      {"/model_args/dtype", "weights in "}};
  std::string written = value.is_string() ? value.get<std::string>() : json::write(value);
  if (value.is_boolean()) {
    std::string key(pointer.substr(pointer.rfind('/') + 1));
    if (key.starts_with("use_")) key.erase(0, 4);
    if (key == "dora") key = "DoRA";
    if (key == "rslora") key = "rsLoRA";
    std::replace(key.begin(), key.end(), '_', ' ');
    return (value.get<bool>() ? "with " : "without ") + key;
  }
  for (char& c : written) {
    if (pointer == "/task" && ascii::is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  for (const auto& [known, name] : names) {
    if (known == pointer) return name + written;
  }
  return written;
}

std::string counted(double count, const hardware::Gpu& gpu) {
  const std::string name = gpu.name.substr(0, gpu.name.find(','));
  return count > 1 ? std::to_string(json::count_of(count)) + " x " + name : "one " + name;
}

}  // namespace

void set_method(Values& values, Method method, const run::Catalog& catalog) {
  for (const char* pointer : {"/quantization/load_in_4bit", "/quantization/load_in_8bit"})
    values.erase(pointer);
  const recipe::Method& fields = fields_of(method);
  if (!fields.adapters) {
    values.erase("/quantization/quant_method");
    std::erase_if(values, [](const auto& value) { return value.first.rfind("/peft", 0) == 0; });
    return;
  }
  values["/peft"] = true;
  const std::string stack = recipe::text(values, "/stack");
  values.merge(recipe::quantization_of(fields, stack.empty() ? nullptr : catalog.find_stack(stack)));
}

std::vector<Open> methods(const SaidRequest& said) {
  if (is_set(said.values, "/quantization/load_in_8bit"))
    return {{.name = said.method ? "LoRA on an 8-bit base" : "Adapters on an 8-bit base",
             .values = {{"/peft", true}, {"/quantization/load_in_8bit", true}},
             .method = Method::lora}};
  std::vector<Method> open = said.methods;
  if (!said.method && is_set(said.values, "/quantization/load_in_4bit")) open = {Method::qlora};
  if (open.empty()) open = {Method::qlora, Method::lora, Method::full};
  std::vector<Open> out;
  for (const Method method : open) {
    Open one{.name = std::string(fields_of(method).name), .values = {}, .method = method};
    for (const char* variant : {"/peft/use_dora", "/peft/use_rslora"}) {
      if (method != Method::full && is_set(said.values, variant)) one.name += " " + called(variant, true);
    }
    if (!said.packed_base.empty()) one.name += " on a base in " + said.packed_base;
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<Open> weighed(const SaidRequest& said, Method method) {
  constexpr std::size_t most = 4;
  constexpr std::string_view attention = "/model_args/attn_implementation";
  for (const char* pointer :
       {"/task", "/training/per_device_train_batch_size", "/training/max_length", "/peft/r", "/peft/use_dora",
        "/peft/use_rslora", "/model_args/dtype", "/training/optim", "/model_args/attn_implementation",
        "/training/gradient_checkpointing", "/training/packing", "/training/use_liger_kernel"}) {
    const auto found = said.weighed.find(pointer);
    if (found == said.weighed.end() || found->second.size() > most) continue;
    if (method == Method::full && std::string_view(pointer).starts_with("/peft/")) continue;
    std::vector<Open> out;
    // Of a switch that is asked about, the run as it was said goes first and needs no word.
    const bool is_switch = found->second.front().is_boolean() || pointer == attention;
    for (const json::Json& value : found->second) {
      const bool first = is_switch && out.empty();
      out.push_back({first ? "" : ", " + called(pointer, value), {{pointer, value}}});
    }
    return out;
  }
  return {{}};
}

bool in_one_process(const SaidRequest& said) {
  const auto stack = said.values.find("/stack");
  return stack != said.values.end() && said.values.count("/parallel/strategy") == 0 &&
         recipe::stack_traits(stack->second.get<std::string>()).one_process;
}

namespace {

// The ways in which several cards may share a run, of those that nobody ruled out.
void share(const Open& one, const Denied& denied, std::vector<Open>& out) {
  Open whole = one, divided = one, in_memory = one;
  whole.name += ", a whole copy on each card";
  whole.values["/parallel/strategy"] = "ddp";
  out.push_back(std::move(whole));
  if (denied.deepspeed && denied.fsdp) return;
  divided.name += std::string(", the weights divided over them (") + (denied.deepspeed ? "FSDP)" : "ZeRO-3)");
  divided.values["/parallel/strategy"] = denied.deepspeed ? "fsdp" : "zero3";
  out.push_back(std::move(divided));
  if (denied.fsdp || denied.offload) return;
  in_memory.name += ", divided and kept in host memory (FSDP with CPU offload)";
  in_memory.values["/parallel/strategy"] = "fsdp";
  in_memory.values["/parallel/fsdp_config/offload_params"] = true;
  in_memory.slow = true;
  out.push_back(std::move(in_memory));
}

}  // namespace

std::vector<Open> machines(const SaidRequest& said) {
  std::vector<Open> out;
  for (const SaidCards& cards : said.cards) {
    Open one{" on " + counted(cards.count, *cards.gpu), {{"/hardware/gpu", cards.gpu->id}}};
    const auto count = json::count_of(std::max(1.0, cards.count));
    one.values["/parallel/num_gpus"] = count;
    if (count > 1 && in_one_process(said)) {
      one.name += ", a whole copy on each card";
      one.values["/parallel/strategy"] = "ddp";
    }
    const bool open = said.values.count("/parallel/strategy") == 0 && !in_one_process(said);
    if (count > 1 && open) {
      share(one, said.denied, out);
    } else {
      out.push_back(std::move(one));
    }
  }
  if (out.empty() && said.unnamed_mac) out.push_back({" on a Mac", {}});
  if (out.empty() && said.card_bytes > 0) out.push_back({" on a card of " + size_text(said.card_bytes), {}});
  if (out.empty()) out.push_back({});
  return out;
}

}  // namespace plimsoll::question
