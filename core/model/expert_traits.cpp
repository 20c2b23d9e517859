#include "core/model/expert_traits.h"

#include <algorithm>
#include <iterator>

namespace plimsoll::model {

namespace {

struct Row {
  std::string_view model_type;
  ExpertNames names;
  bool router_in_fp32;
  RoutedType routed;
  bool shared_first = false;   // the always-on expert before the routed ones
  bool linear_router = false;  // nn.Linear in Transformers 5 too
  bool at_once = true;         // by one grouped product
};

constexpr Row table[] = {
    {"afmoe", ExpertNames::qwen2_moe, false, RoutedType::fp32, false, true},
    {"cohere2_moe", ExpertNames::qwen2_moe, false, RoutedType::own},
    {"dbrx", ExpertNames::own, false, RoutedType::own, false, false, false},
    {"deepseek_v2", ExpertNames::qwen2_moe, true, RoutedType::fp32},
    {"deepseek_v3", ExpertNames::qwen2_moe, true, RoutedType::of_logits},
    {"deepseek_v32", ExpertNames::qwen2_moe, true, RoutedType::of_logits},
    {"dots1", ExpertNames::qwen2_moe, true, RoutedType::of_logits},
    {"ernie4_5_moe", ExpertNames::qwen2_moe, true, RoutedType::own, true},
    {"exaone_moe", ExpertNames::qwen2_moe, true, RoutedType::of_logits},
    {"flex_olmo", ExpertNames::qwen2_moe, false, RoutedType::own},
    {"glm4_moe", ExpertNames::qwen2_moe, true, RoutedType::of_logits},
    {"glm4_moe_lite", ExpertNames::qwen2_moe, true, RoutedType::of_logits},
    {"glm4v_moe", ExpertNames::qwen2_moe, true, RoutedType::of_logits},
    {"glm_moe_dsa", ExpertNames::qwen2_moe, true, RoutedType::of_logits},
    {"hunyuan_v1_moe", ExpertNames::qwen2_moe, false, RoutedType::own, true, true},
    {"llama4", ExpertNames::own, false, RoutedType::own, false, false, false},
    {"llama4_text", ExpertNames::own, false, RoutedType::own, false, false, false},
    {"longcat_flash", ExpertNames::qwen2_moe, true, RoutedType::fp32},
    {"minimax", ExpertNames::mixtral, false, RoutedType::fp32},
    {"minimax_m2", ExpertNames::mixtral, false, RoutedType::fp32},
    {"mixtral", ExpertNames::mixtral, false, RoutedType::fp32},
    {"olmoe", ExpertNames::qwen2_moe, false, RoutedType::own},
    {"phimoe", ExpertNames::own, false, RoutedType::own, false, true},
    {"qwen2_moe", ExpertNames::own, false, RoutedType::own, true},
    {"qwen3_5_moe", ExpertNames::own, false, RoutedType::own, true},
    {"qwen3_5_moe_text", ExpertNames::own, false, RoutedType::own, true},
    {"qwen3_moe", ExpertNames::qwen2_moe, false, RoutedType::own},
    {"qwen3_next", ExpertNames::qwen2_moe, false, RoutedType::own, true},
    {"solar_open", ExpertNames::qwen2_moe, true, RoutedType::of_logits},
};

}  // namespace

void mark_experts(std::string_view model_type, Architecture& network) {
  const auto* row = std::find_if(std::begin(table), std::end(table),
                                 [model_type](const Row& r) { return r.model_type == model_type; });
  if (row == std::end(table)) return;
  for (Stack& stack : network.stacks) {
    stack.expert_names = row->names;
    for (LayerGroup& group : stack.groups) {
      if (group.experts == 0) continue;
      group.router_in_fp32 = row->router_in_fp32;
      group.routed_type = row->routed;
      group.experts_at_once = row->at_once;
      group.shared_first = row->shared_first;
      for (Linear& linear : group.linears) {
        if (linear.role == Role::router && row->linear_router) linear.module = Module::linear;
      }
    }
  }
}

}  // namespace plimsoll::model
