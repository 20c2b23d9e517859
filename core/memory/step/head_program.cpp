#include "core/memory/step/head_program.h"

#include <algorithm>
#include <string_view>

#include "core/memory/head/log_probs.h"
#include "core/memory/head/unsloth_loss.h"
#include "core/model/model_types.h"
#include "core/recipe/implementations.h"
#include "core/recipe/loss_kernels.h"
#include "core/recipe/stacks.h"

namespace plimsoll::memory {

namespace {

const model::Linear* head_of(const model::Architecture& network, const model::Stack** owner) {
  for (const model::Stack& stack : network.stacks) {
    for (const model::Linear& linear : stack.linears) {
      if (linear.role == model::Role::head) {
        *owner = &stack;
        return &linear;
      }
    }
  }
  return nullptr;
}

// TRL's fused head scores the positions whose next token carries a label: of preferences and completions not the
// prompt, and never what nothing stands before. Virtual tokens carry none, but stand before the first one that does.
double labelled_tokens(const recipe::Recipe& r, const recipe::Task& task, double length) {
  if (task.online) return static_cast<double>(r.rl.max_completion_length);
  const double prompt = task.preference ? static_cast<double>(r.rl.max_prompt_length) : 0;
  return std::max(1.0, length - std::max(1.0, prompt + prompt_tokens(r)));
}

// What the trainers do with the logits before the log-probabilities: huggingface/trl trainer/grpo_trainer.py
// by tag.
void score_tokens(const Plan& plan, HeadProgram& h) {
  const recipe::Recipe& r = plan.recipe;
  const recipe::Task& task = *plan.task;
  const auto trl = [&r](const char* version) { return recipe::version_at_least(r.versions.trl, version); };
  h.kernel = log_prob_kernel(r);
  h.scoring.chosen_nll = task.chosen_nll || r.rl.cpo_alpha > 0;
  h.scoring.paired = task.rows > 1;
  h.scoring.reference = r.rl.reference_model != "none";
  if (!task.online || h.kernel == "chunked_log_probs") return;  // AgileRL scores prompts too
  h.scoring.tokens = static_cast<double>(r.rl.max_completion_length) + 1;
  h.scoring.division = trl("1") ? Division::in_place : trl("0.16") ? Division::copy : Division::none;
  h.scoring.entropy = trl("0.20") && task.entropy;
}

// The first forward finds what the weights leave; how much it keeps by then is little beside that, since checkpoints
// lie in host memory. A GPU that nobody chose has room.
double chunks_of(const Plan& plan, const HeadProgram& h) {
  constexpr double plenty = 1e15;
  const Parameters& held = plan.parameters;
  const double total = plan.machine.total_bytes > 0 ? plan.machine.total_bytes : plenty;
  ChunkedLogits logits = {.tokens = h.layer.batch * h.layer.length, .vocabulary = h.head.out};
  logits.free = total - held.weight_bytes - held.adapter_bytes;
  logits.fixed = logits.tokens * h.head.in * h.input_size;
  if (h.head.trainable) logits.fixed += 2 * h.head.in * h.head.out * h.head.size;
  return unsloth_chunks(logits, plan.recipe.versions.unsloth);
}

bool has_decoder(const model::Architecture& network) {
  return std::any_of(network.stacks.begin(), network.stacks.end(),
                     [](const model::Stack& stack) { return stack.part == model::Part::decoder; });
}

// encoder_last_hidden_state: LayerNorm leaves it in fp32 under autocast, T5's norm in the type of its weights
// (models/t5/modeling_t5.py T5LayerNorm).
void add_encoder_states(const Plan& plan, HeadProgram& h) {
  for (const model::Stack& stack : plan.network.stacks) {
    if (stack.part != model::Part::encoder || stack.norms.empty() || !has_decoder(plan.network)) continue;
    const double length = stack.frames > 0 ? static_cast<double>(stack.frames) : plan.recipe.row_length();
    h.encoder_states = plan.rows * length * static_cast<double>(stack.hidden);
    h.wide_states = stack.norms.back().kind != model::NormKind::rms_of_input || h.layer.norm_size == 4;
  }
}

}  // namespace

HeadProgram make_head(const Plan& plan, const PassSettings& last, const Stage& stage) {
  const recipe::Recipe& r = plan.recipe;
  HeadProgram h;
  static const model::LayerGroup nothing;
  h.layer = make_outline(last, last.stack->groups.empty() ? nothing : last.stack->groups.back());
  if (last.stack->norms.size() > (last.stack->embedding_norm ? 1 : 0)) {
    h.final_norm = &last.stack->norms.back();
    h.layer.train_norms = (last.trained && !h.final_norm->frozen) || trains_norms(r);
    if (h.final_norm->frozen) h.layer.norm_size = norm_size(r);
  }
  h.output_dropout = last.stack->output_dropout;
  add_encoder_states(plan, h);
  const model::Stack* owner = last.stack;
  if (const model::Linear* head = head_of(plan.network, &owner)) {
    h.head = specify(*head, *owner, r);
    h.head.trainable = h.head.trainable || is_saved_in_full(head->path, r);
  } else if (plan.network.tied_head) {
    h.head = specify(tied_head(plan.network), *last.stack, r);
    if (shares_head(plan.network, r)) {
      const model::Linear tied = tied_head(plan.network);
      const bool saved =
          is_saved_in_full(tied.path, r) || (r.peft.ensure_weight_tying && saves_embedding(*last.stack, r));
      h.copied = copies_head(plan.network, r);
      h.head.trainable = (r.full() && !tied.frozen && !is_frozen(*last.stack, r)) || saved || h.copied;
    }
  }
  if (plan.network.unread_head.out > 0) h.unread_head = specify(plan.network.unread_head, *last.stack, r);
  h.stock = stock_loss(r.stack, r.versions.transformers, plan.network.model_type);
  h.kernel = unsloth_loss(r, h.layer.batch * h.layer.length);
  h.returns_logits = recipe::stack_traits(r.stack).returns_logits && !recipe::implementation_of(r).own_loop;
  h.outputs_to_fp32 = r.autocast() && h.returns_logits;
  h.keep_outputs = r.training.keep_outputs;
  h.finds_last_logits = keeps_last_graph(r);
  h.gathered = plan.sharding != nullptr && is_fsdp(plan.sharding->strategy);
  h.softcap = plan.network.logit_softcap;
  h.wide_bias = model::model_type(plan.network.model_type).final_logits_bias && h.layer.norm_size == 4;
  h.input_size = stage.output_size;
  h.input_needs_grad = stage.output_needs_grad;
  h.accumulating = r.gradients_add_up() || head_gradients_pass(plan);
  h.compiled = r.training.torch_compile;
  h.kv_bytes = stage.kv_bytes;
  if (h.kernel == "unsloth_fused") h.chunks = chunks_of(plan, h);
  if (plan.task->has_rl() && plan.task->vocabulary) score_tokens(plan, h);
  if (recipe::loss_kernel(h.kernel).labels_alone)
    h.scoring.tokens = labelled_tokens(r, *plan.task, h.layer.length);
  return h;
}

}  // namespace plimsoll::memory
