#include "core/model/expert_traits.h"

#include <algorithm>
#include <iterator>

namespace plimsoll::model {

namespace {

struct Row {
  std::string_view model_type;
  ExpertNames names;
  bool router_in_fp32 = false;
  RoutedType routed = RoutedType::own;
  bool shared_first = false;   // the always-on expert before the routed ones
  bool linear_router = false;  // nn.Linear in Transformers 5 too
  bool at_once = true;         // by one grouped product
  bool read_all = false;       // every expert runs on every row
};

constexpr Row table[] = {
    {.model_type = "afmoe",
     .names = ExpertNames::qwen2_moe,
     .routed = RoutedType::fp32,
     .linear_router = true},
    {.model_type = "cohere2_moe", .names = ExpertNames::qwen2_moe},
    {.model_type = "dbrx", .names = ExpertNames::own, .at_once = false},
    {.model_type = "deepseek_v2",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::fp32},
    {.model_type = "deepseek_v3",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::of_logits},
    {.model_type = "deepseek_v32",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::of_logits},
    {.model_type = "dots1",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::of_logits},
    {.model_type = "ernie4_5_moe",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .shared_first = true},
    {.model_type = "exaone_moe",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::of_logits},
    {.model_type = "flex_olmo", .names = ExpertNames::qwen2_moe},
    {.model_type = "glm4_moe",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::of_logits},
    {.model_type = "glm4_moe_lite",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::of_logits},
    {.model_type = "glm4v_moe",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::of_logits},
    {.model_type = "glm_moe_dsa",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::of_logits},
    {.model_type = "hunyuan_v1_moe",
     .names = ExpertNames::qwen2_moe,
     .shared_first = true,
     .linear_router = true},
    {.model_type = "llama4", .names = ExpertNames::own, .at_once = false, .read_all = true},
    {.model_type = "llama4_text", .names = ExpertNames::own, .at_once = false, .read_all = true},
    {.model_type = "longcat_flash",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::fp32},
    {.model_type = "minimax", .names = ExpertNames::mixtral, .routed = RoutedType::fp32},
    {.model_type = "minimax_m2", .names = ExpertNames::mixtral, .routed = RoutedType::fp32},
    {.model_type = "mixtral", .names = ExpertNames::mixtral, .routed = RoutedType::fp32},
    {.model_type = "olmoe", .names = ExpertNames::qwen2_moe},
    {.model_type = "phimoe", .names = ExpertNames::own, .linear_router = true},
    {.model_type = "qwen2_moe", .names = ExpertNames::own, .shared_first = true},
    {.model_type = "qwen3_5_moe", .names = ExpertNames::own, .shared_first = true},
    {.model_type = "qwen3_5_moe_text", .names = ExpertNames::own, .shared_first = true},
    {.model_type = "qwen3_moe", .names = ExpertNames::qwen2_moe},
    {.model_type = "qwen3_next", .names = ExpertNames::qwen2_moe, .shared_first = true},
    {.model_type = "solar_open",
     .names = ExpertNames::qwen2_moe,
     .router_in_fp32 = true,
     .routed = RoutedType::of_logits},
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
      group.experts_read_all = row->read_all;
      group.shared_first = row->shared_first;
      for (Linear& linear : group.linears) {
        if (linear.role == Role::router && row->linear_router) linear.module = Module::linear;
      }
    }
  }
}

}  // namespace plimsoll::model
