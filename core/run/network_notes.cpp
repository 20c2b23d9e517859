#include <algorithm>
#include <array>

#include "core/json/rounding.h"
#include "core/memory/parameters/stacked_adapters.h"
#include "core/model/model_types.h"
#include "core/run/components.h"
#include "core/run/evidence.h"
#include "core/run/note_rows.h"
#include "core/run/phrases.h"

namespace plimsoll::run {

namespace {

using json::grouped;

using R = const Replayed&;
using G = const hardware::Gpu*;
using model::NetworkKind;

bool has_experts(const model::Architecture& network) {
  for (const model::LayerGroup& group : network.stacks.front().groups) {
    if (group.experts > 0) return true;
  }
  return false;
}

// What a layer's experts weigh that PEFT adapts as one parameter; 0: none. The widest layer's.
double adapted_expert_bytes(const Replayed& f, double& experts) {
  double widest = 0;
  for (const model::Stack& stack : f.network.stacks) {
    for (const model::LayerGroup& group : stack.groups) {
      double bytes = 0;
      for (const model::Linear& linear : group.linears) {
        const memory::LinearSpec spec = memory::specify(linear, stack, f.recipe);
        const bool part = linear.role == model::Role::up && linear.expert;  // of what gate's adapter reaches
        if (spec.stacked || (part && bytes > 0))
          bytes += spec.in * spec.out * static_cast<double>(linear.count) * spec.size;
      }
      if (bytes <= widest) continue;
      widest = bytes;
      experts = static_cast<double>(group.experts);
    }
  }
  return widest;
}

double adapted_expert_bytes(const Replayed& f) {
  double experts = 0;
  return f.recipe.peft.on ? adapted_expert_bytes(f, experts) : 0;
}

// What experts weigh that stay as they are loaded in a base of 4 or 8 bits: they are one parameter, and no module that
// bitsandbytes could replace.
double unquantised_expert_bytes(const Replayed& f) {
  double bytes = 0;
  for (const model::Stack& stack : f.network.stacks) {
    for (const model::LayerGroup& group : stack.groups) {
      for (const model::Linear& linear : group.linears) {
        const memory::LinearSpec spec = memory::specify(linear, stack, f.recipe);
        if (linear.expert && spec.storage == memory::Storage::plain)
          bytes += spec.in * spec.out * static_cast<double>(linear.count * group.layers) * spec.size;
      }
    }
  }
  return f.recipe.quantized() && f.recipe.quantization.quant_method.empty() ? bytes : 0;
}

// One of gate and up without the other, where PEFT knows them as one.
bool names_half(const Replayed& f) {
  const model::Stack& text = f.network.stacks.front();
  const bool mixtral = text.expert_names == model::ExpertNames::mixtral;
  int halves = 0;
  for (const char* name : mixtral ? std::array{"w1", "w3"} : std::array{"gate_proj", "up_proj"}) {
    const auto& targets = f.recipe.peft.target_modules;
    const bool named = std::find(targets.begin(), targets.end(), name) != targets.end();
    halves += named && memory::is_parameter_name(name, text, f.recipe) ? 1 : 0;
  }
  return halves == 1;
}

constexpr NoteRow network_rows[] = {
    {.code = "experts_are_approximate",
     .applies = [](R f, G) { return has_experts(f.network); },
     .message = [](R, G) -> std::string {
       return "Routed experts are replayed as if tokens spread evenly; no measured run confirms this yet.";
     },
     .source = "huggingface/transformers models/mixtral/modeling_mixtral.py"},
    {.code = "experts_not_quantised",
     .applies = [](R f, G) { return unquantised_expert_bytes(f) > 0; },
     .message = [](R f, G) -> std::string {
       const bool cast = f.recipe.quantization.upcast == "all";
       recipe::Recipe older = f.recipe;
       older.versions.transformers = "4.57.6";
       const bool once_linears = unquantised_expert_bytes({f.network, older, f.replay}) == 0;
       return "The experts stay unquantised: " + gib(unquantised_expert_bytes(f)) + " of weights" +
              (cast ? ", which prepare_model_for_kbit_training casts to fp32" : "") +
              ". Those of a layer are one parameter, which bitsandbytes does not see; " +
              (once_linears ? "before Transformers 5 they are linears."
                            : "Unsloth puts linears in their place.");
     },
     .source = "huggingface/transformers integrations/bitsandbytes.py, bitsandbytes issue 1849"},
    {.code = "experts_get_adapters",
     .applies = [](R f, G) { return adapted_expert_bytes(f) > 0; },
     .message = [](R f, G) -> std::string {
       double experts = 0;
       const double bytes = adapted_expert_bytes(f, experts);
       std::string words =
           "PEFT adapts the experts of a layer as one parameter and builds the adapted weights anew in each "
           "forward: " +
           gib(bytes) + " a layer";
       const bool loop = !memory::has_stacked_experts(f.recipe);
       if (loop && !recipe::version_at_least(f.recipe.versions.peft, "0.19")) {
         return words + ", and before PEFT 0.19 once for each of " + grouped(experts) + " experts: up to " +
                gib(bytes * experts) + ". A newer PEFT needs one.";
       }
       return words + (f.recipe.training.gradient_checkpointing ? "." : ", kept until the backward.") +
              " target_modules that name attention alone leave the experts as they are.";
     },
     .source = "huggingface/peft tuners/lora/layer.py ParamWrapper, pull request 2912"},
    {.code = "stacked_adapters_refused",
     .applies =
         [](R f, G) {
           const recipe::Peft& peft = f.recipe.peft;
           const bool refused = peft.lora_dropout > 0 || peft.use_dora || peft.lora_bias;
           return (refused && adapted_expert_bytes(f) > 0) || (peft.on && names_half(f));
         },
     .message = [](R f, G) -> std::string {
       if (names_half(f))
         return "PEFT stops at once: gate and up of the experts are one parameter here, and only one of them "
                "is among target_modules.";
       return "PEFT stops at once: adapters on stacked experts take neither lora_dropout nor DoRA nor "
              "lora_bias. The figures are those without.";
     },
     .source = "huggingface/peft tuners/lora/layer.py ParamWrapper, utils/transformers_weight_conversion.py"},
    {.code = "state_space_kernels",
     .applies =
         [](R f, G) {
           return model::has_state_space(f.network) && f.recipe.model_args.kernels == "installed";
         },
     .message = [](R, G) -> std::string {
       return "The state-space layers are replayed as the kernels of mamba_ssm and causal_conv1d run them, which no "
              "measured run confirms yet. Without these packages Transformers keeps many times as much of each such "
              "layer: set model_args.kernels to \"torch\" to see it.";
     },
     .source = "state-spaces/mamba mamba_ssm/ops/triton/ssd_combined.py, "
               "mamba_ssm/ops/selective_scan_interface.py"},
    {.code = "delta_net_kernels",
     .applies =
         [](R f, G) { return model::has_delta_net(f.network) && f.recipe.model_args.kernels == "installed"; },
     .message = [](R, G) -> std::string {
       return "The linear attention is replayed as the kernels of flash-linear-attention and causal-conv1d run "
              "it. Without these packages Transformers warns that it falls back to PyTorch, which keeps two "
              "to five times as much of each such layer: set model_args.kernels to \"torch\" to see it.";
     },
     .source = "huggingface/transformers models/qwen3_5/modeling_qwen3_5.py; fla-org "
               "flash-linear-attention fla/ops/gated_delta_rule/chunk.py"},
    {.code = "unsloth_in_fp32",
     .applies = [](R f, G) { return runs_in_fp32_in_unsloth(f.recipe, f.network); },
     .message = [](R, G) -> std::string {
       return "Where the card has no bfloat16, Unsloth runs norms, MLP and attention of this model in fp32, which "
              "is not replayed: activations are up to twice what is shown, and the band is wider. A notebook of "
              "Gemma 3 4B in 4 bits reserved 13.6 GiB of a T4.";
     },
     .source = "unslothai/unsloth-zoo unsloth_zoo/model_lists.py FORCE_FLOAT32, "
               "temporary_patches/gemma.py; unslothai/notebooks nb/Gemma3_(4B).ipynb"},
    {.code = "streams_are_approximate",
     .applies = [](R f, G) { return model::model_type(f.network.model_type).parallel_streams; },
     .message = [](R, G) -> std::string {
       return "Gemma 3n carries four streams through every layer; one is replayed, so activations are more "
              "than shown and the band is wider. Its towers are counted, not run.";
     },
     .source = "huggingface/transformers models/gemma3n/modeling_gemma3n.py Gemma3nTextAltUp"},
    {.code = "encoder_decoder_is_approximate",
     .applies = [](R f, G) { return f.network.kind == NetworkKind::encoder_decoder; },
     .message = [](R, G) -> std::string {
       return "Encoder and decoder are both replayed at max_length; no measured run confirms this yet.";
     },
     .source = "huggingface/transformers models/t5, models/whisper, models/m2m_100"},
    {.code = "vision_is_approximate",
     .applies = [](R f, G) { return f.network.kind == NetworkKind::vlm; },
     .message = [](R, G) -> std::string {
       return "The vision tower is replayed from its published shapes; no exactly specified measured run "
              "confirms this yet. Image tokens are part of max_length.";
     },
     .source = "huggingface/transformers processors and vision towers"},
};

}  // namespace

std::span<const NoteRow> network_notes() { return network_rows; }

}  // namespace plimsoll::run
