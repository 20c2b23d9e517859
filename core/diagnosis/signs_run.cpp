
#include "core/diagnosis/prose_signs.h"
#include "core/diagnosis/sentence.h"
#include "core/diagnosis/sign_parts.h"

namespace plimsoll::diagnosis {

namespace {

void read_task(const recipe::Task& task, Signs& out) {
  add(out, task.preference && task.vocabulary, Sign::pairs,
      task.unpaired    ? "The task runs answers, those of its KL term besides, and a reference."
      : task.reference ? "The task runs chosen and rejected answers, and a reference."
                       : "The task runs chosen and rejected answers.");
  add(out, task.value_model, Sign::four_models,
      "PPO holds a policy, a reference, a reward model and a critic.");
  add(out, task.rows > 1 && !task.vocabulary, Sign::two_sequences, "The task runs two sequences an example.");
  add(out, task.online, Sign::generates_rollouts, "The run generates its own samples.");
}

}  // namespace

void read_run(const TextReading& r, Signs& out) {
  const Facts& f = r.facts;
  add(out, f.method == Method::full, Sign::full_tuning, "All parameters are trained.");
  add(out, f.parameters > 0 && f.parameters < 0.8e9 && f.capacity == 0, Sign::small_network,
      "The model is small: weights, gradients and states of all of it take a few GiB.");
  add(out, f.method == Method::adapters, Sign::adapters, "Adapters are trained.");
  add(out, f.method == Method::inference, Sign::inference,
      "Nothing is trained: the model alone does not fit.");
  const bool quantized = !f.quantization.empty();
  add(out, quantized, Sign::quantized, "The base is quantised.");
  const Sentence* copies = r.prose.says(Say::copies);
  const bool each = copies != nullptr;
  const bool divided_somehow = f.strategy == "deepspeed" && !quantized && !f.whole_on_each && !each;
  const bool whole_each = (f.several() || ((each || f.strategy == "ddp") && !f.gpus)) &&
                          (!f.sharded() || quantized || f.whole_on_each) && !divided_somehow && !f.layered &&
                          !f.model_parallel;
  // Words alone say that there are several cards, not that the model was too large for one of them.
  const bool told = each || f.whole_on_each || !f.gpus_in_words || r.phase == FailurePhase::load ||
                    f.strategy == "ddp" || (f.whole > most_at_rest * f.capacity && f.capacity > 0);
  add(out, whole_each && told, Sign::replicates,
      "Each card holds all the weights: " + std::string(quantized ? "a quantised base is not divided."
                                                        : f.strategy.empty()
                                                            ? "data parallelism does not divide them."
                                                            : f.strategy + " does not divide them."));
  // What shards has several cards, also where nobody counts them.
  add(out, (f.several() || !f.gpus) && f.sharded() && !whole_each && !quantized, Sign::shards,
      "The weights are sharded over the cards.");
  add(out, f.dora, Sign::uses_dora, "DoRA makes matrices as large as the weights.");
  read_task(task_of(f), out);
  add(out, f.packing.value_or(false), Sign::packs, "Samples are packed.");
  add(out, f.checkpointing.has_value() && !*f.checkpointing, Sign::not_checkpointed,
      "Gradient checkpointing is off.");
  const std::string folded = fold(f.model);
  const bool named_so = folded.find("vl") != std::string::npos || folded.find("llava") != std::string::npos ||
                        folded.find("vision") != std::string::npos ||
                        folded.find("internv") != std::string::npos;
  // Who names a model for its eyes trains on images; that a network has some says nothing of what it was
  // given.
  const bool images = f.sees || named_so || r.frames.shows("vision") ||
                      (f.can_see && says_any(r.text.folded_lines, {"image", "pixel", "video", "图", "bild"}));
  add(out, images && f.fixed_images, Sign::sees_fixed_images,
      "The model reads images, each of a fixed number of tokens.");
  add(out, images && !f.fixed_images, Sign::sees_images,
      "The model reads images, whose tokens the text length does not bound.");
  add(out, f.attention == "eager", Sign::eager, "Attention scores are kept (eager attention).");
  add(out, f.saves_modules, Sign::saves_modules,
      "Embedding or head are trained in full beside the adapters.");
  add(out, f.fp32, Sign::in_fp32, "The weights are held in fp32.");
  add(out, f.rank.value_or(0) >= 128, Sign::high_rank, "The rank is high.");
  add(out, f.batch.value_or(1) >= 4, Sign::large_batch, "Several samples are in a micro-batch.");
  add(out, f.length.value_or(0) >= 8192, Sign::long_context, "The sequences are long.");
  add(out, f.batch.value_or(0) == 1 && f.length && *f.length <= 1024, Sign::short_and_single,
      "The micro-batch is one short sequence, so activations are small.");
}
}  // namespace plimsoll::diagnosis
