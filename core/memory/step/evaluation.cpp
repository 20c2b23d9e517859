#include "core/memory/step/evaluation.h"

#include <algorithm>
#include <cmath>

#include "core/memory/step/task_parts.h"
#include "core/model/model_types.h"

namespace plimsoll::memory {

namespace {

// Elements of encoder_last_hidden_state, which an encoder-decoder gives beside its logits (transformers
// modeling_outputs.py Seq2SeqLMOutput): the Trainer collects all that it gives.
double encoder_states(const model::Architecture& network, double rows, double length) {
  double elements = 0;
  bool decodes = false;
  for (const model::Stack& stack : network.stacks) {
    decodes = decodes || stack.part == model::Part::decoder;
    const double read = stack.frames > 0 ? static_cast<double>(stack.frames) : length;
    if (stack.part == model::Part::encoder) elements += rows * read * static_cast<double>(stack.hidden);
  }
  return decodes ? elements : 0;
}

// Logits of one batch as the Trainer collects them: fp32 once accelerate has converted the outputs, or the
// class that argmax gives.
double collected_bytes(const Plan& plan) {
  const recipe::Recipe r = evaluation_recipe(plan.recipe);
  const double rows = recipe::rows_of_batch(r);
  const auto words = static_cast<double>(plan.network.vocab_size);
  const double length = r.row_length() + prompt_tokens(r);
  const double positions = plan.task->vocabulary ? rows * length : rows;
  if (r.training.preprocess_logits_for_metrics) return positions * 8;
  const double states = encoder_states(plan.network, rows, r.row_length());
  return (positions * words + states) * (r.autocast() ? 4 : parameter_size(r));
}

// The Trainer switches the cache off in the outer configuration alone (transformers trainer.py Trainer.__init__
// `self.model.config.use_cache`); T5's decoder (models/t5/modeling_t5.py T5Model.__init__) and the text model
// beside a tower read their own.
bool has_own_text_config(const model::Architecture& network) {
  return model::model_type(network.model_type).own_decoder_cache ||
         std::any_of(network.stacks.begin(), network.stacks.end(),
                     [](const model::Stack& stack) { return stack.part == model::Part::vision; });
}

}  // namespace

// One sample needs no padding, more do. torchtune and LitGPT pad without a mask.
recipe::Recipe evaluation_recipe(const recipe::Recipe& recipe) {
  recipe::Recipe changed = recipe;
  recipe::Training& t = changed.training;
  const bool several = t.per_device_eval_batch_size > 1;
  t.loss_kernel = t.eval_loss_kernel;
  t.packing = t.eval_packing;
  const std::string& code = recipe.model_args.implementation;
  const bool masks = t.padded_batches || (code != "torchtune" && code != "litgpt");
  t.padded_batches = several && masks && !t.packing;
  t.per_device_train_batch_size = t.per_device_eval_batch_size;
  t.gradient_accumulation_steps = 1;
  return changed;
}

Snapshot evaluation_pass(const Plan& plan) {
  const recipe::Recipe changed = evaluation_recipe(plan.recipe);
  const double rows = recipe::rows_of_batch(changed);
  Plan evaluated = with_recipe(plan, changed);
  evaluated.rows = rows;
  const bool keys = changed.model_args.use_cache || has_own_text_config(plan.network);
  Snapshot pass = replay_without_grad(evaluated, rows, changed.row_length(), {.keys = keys});
  pass[Component::inputs] += input_bytes(evaluated);
  return pass;
}

bool unsloth_chunks_by_size(const recipe::Recipe& recipe) {
  const recipe::Training& t = recipe.training;
  return t.loss_kernel == "unsloth_fused" || (recipe.evaluates() && t.eval_loss_kernel == "unsloth_fused");
}

Evaluation collect_evaluation(const Plan& plan, const Snapshot& pass) {
  const recipe::Training& t = plan.recipe.training;
  Evaluation result;
  result.highest = pass;
  if (t.prediction_loss_only || !t.compute_metrics) return result;
  const double one = collected_bytes(plan);
  const double all = std::max(1.0, std::ceil(static_cast<double>(plan.recipe.data.eval_samples) /
                                             static_cast<double>(t.per_device_eval_batch_size)));
  const double limit = t.eval_accumulation_steps == 0 ? all : static_cast<double>(t.eval_accumulation_steps);
  result.batches = std::min(all, limit);
  if (t.eval_accumulation_steps > 0) result.host_bytes = all * one;
  // The last batch runs beside the ones before it, and from the third on beside the name of the one before, which is
  // no longer the same tensor (transformers trainer.py evaluation_loop `logits`, trainer_pt_utils.py
  // EvalLoopContainer.add); then old, new and their concatenation are there together.
  Snapshot last = pass;
  last[Component::logits] += (result.batches - (result.batches < 3 ? 1 : 0)) * one;
  Snapshot joined;
  joined[Component::logits] = (result.batches > 1 ? 2 : 1) * result.batches * one;
  result.highest = higher(last, joined);
  return result;
}

Evaluation replay_evaluation(const Plan& plan) { return collect_evaluation(plan, evaluation_pass(plan)); }

}  // namespace plimsoll::memory
