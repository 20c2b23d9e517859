// The task table: what is trained for, and what that means for the shape of a step.
//
//     const recipe::Task& task = recipe::task_of(recipe);   // "dpo"
//     task.rows;         // 2: a chosen and a rejected sequence go through the network for every sample
//     task.reference;    // true: a frozen policy scores the same sequences
//
// Sources: huggingface/trl trainer/*_trainer.py and experimental/*/*_trainer.py, by the tags named in each
// row.
#pragma once

#include <span>
#include <string_view>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

struct Task {
  std::string_view id;
  std::string_view trainer = {};  ///< TRL's class, without "Trainer"; empty: TRL has none
  bool experimental = false;      ///< in trl.experimental since 0.29
  double rows = 1;                ///< sequences of the forward with a graph, for one sample of the batch
  bool preference = false;        ///< learns from log-probabilities of given sequences
  bool online = false;            ///< generates its own completions
  bool vocabulary = true;         ///< false: a head with one score takes the place of the language-model head
  bool reference = false;         ///< a frozen policy scores the same sequences, unless beta is 0
  bool unpaired = false;          ///< KTO: sequences for the KL term run besides, without a graph
  bool chosen_nll = false;        ///< the chosen half is also trained as plain text, whatever cpo_alpha is
  bool entropy = false;           ///< its trainer logs the entropy of the policy, from TRL 0.20 on
  bool value_model = false;       ///< a second network is trained beside the policy
  bool reward_model = false;      ///< a frozen network scores the completions
  double beta = 0;                ///< the trainer's default
  double cpo_alpha = 0;           ///< the trainer's default; 0: it has no such setting
  double num_generations = 1;     ///< the trainer's default
  double completion_length = 0;   ///< the trainer's default
  double temperature = 1;         ///< the trainer's default
  std::string_view what, source;

  /// True when fields under "rl" have a meaning.
  bool has_rl() const { return preference || online; }
  /// The next token of given text is all that is learned.
  bool plain_text() const { return vocabulary && !has_rl(); }
};

std::span<const Task> tasks();
/// Null when there is no such task.
const Task* find_task(std::string_view id);
/// The task of TRL's DPOTrainer or of `trl dpo`: "DPO", "dpo"; null when TRL has no such trainer.
const Task* trained_by(std::string_view trainer);
/// That of a recipe, or of fields by pointer; plain training where there is none.
const Task& task_of(const Recipe& recipe);
const Task& task_of(const Values& values);

/// Whether a sample of a batch is a prompt, all of whose completions are written, scored and trained on at once:
/// GRPO in TRL 0.14 (huggingface/trl v0.14.0 trl/trainer/grpo_trainer.py compute_loss).
bool samples_are_prompts(const Recipe& recipe);
/// Sequences of the forward with a graph, for one sample of a batch.
double rows_of_sample(const Recipe& recipe);
/// The same of per_device_train_batch_size of them.
double rows_of_batch(const Recipe& recipe);
/// Samples of the batches of an epoch, for one of the data: a prompt is answered several times, and each answer is read
/// `num_iterations` times (huggingface/trl trainer/utils.py RepeatSampler).
double samples_of_row(const Recipe& recipe);
/// Sequences that one GPU writes at a time.
double rows_generated(const Recipe& recipe);
/// Bytes that a colocated vLLM loads on each GPU of a model of so many parameters: in 16 bits each, of a base in few bits
/// 4 at least (huggingface/trl trl/generation/vllm_generation.py: its quantization is that of the base).
double vllm_weights(const Recipe& recipe, double parameters);
/// Whether the policy's own log-probabilities are read before the step: where a batch is used more than once, or what
/// vLLM sampled is corrected for.
bool reads_old_log_probs(const Recipe& recipe);
/// Whether the reference scores the samples once, before the training begins.
bool scores_before_training(const Recipe& recipe);

}  // namespace plimsoll::recipe
