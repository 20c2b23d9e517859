#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "core/diagnosis/sentence.h"
#include "core/diagnosis/sign_parts.h"

namespace plimsoll::diagnosis {

namespace {

// "Two cards of 12 GB, 24 GB in all": memory summed over cards.
bool sums_the_cards(std::string_view folded) {
  for (const std::string_view words :
       {"一共", "总共有", "加起来", "总显存", "总体显存", "in total i have", "gb in total", "combined vram",
        "not add up", "n't add up", "memory of both", "combine the memory", "pool the memory", "as one big",
        "total gpu memory", "gb total"}) {
    if (folded.find(words) != std::string_view::npos) return true;
  }
  return false;
}

// "单卡可以成功预训练", "works on a single GPU": success, said of one card; the failure is then of several.
bool one_card_works(std::string_view folded) {
  constexpr std::string_view one[] = {"单卡",       "单张卡",      "单gpu",      "一张卡",      "single gpu",
                                      "single-gpu", "one gpu",     "1 gpu",      "single card", "one card",
                                      "1 card",     "single a100", "single h100"};
  constexpr std::string_view works[] = {"可以",           "成功",   "没问题",      "没有问题",
                                        "正常",           "能跑",   "能够",        "works",
                                        "work fine",      "worked", "fine",        "succe",
                                        "no problem",     "no oom", "without oom", "does not happen",
                                        "doesn't happen", "runs",   "it fits",     " fits"};
  constexpr std::string_view fails[] = {"不可以",   "不能",  "无法", "not work",
                                        "n't work", "fails", "oom",  "out of mem"};
  constexpr std::size_t behind = 60, before = 40;
  for (const std::string_view card : one) {
    for (std::size_t at = folded.find(card); at != std::string_view::npos; at = folded.find(card, at + 3)) {
      const std::string_view window = folded.substr(at > before ? at - before : 0, std::min(at, before));
      const std::string_view ahead = window.substr(window.rfind('\n') + 1);
      const std::string_view rest = folded.substr(at + card.size(), behind);
      const std::string_view after = rest.substr(0, rest.find('\n'));
      const auto says = [](std::string_view text, const auto& words) {
        std::size_t first = std::string_view::npos;
        for (const std::string_view word : words) first = std::min(first, text.find(word));
        return first;
      };
      const std::size_t good = says(after, works), bad = says(after, fails);
      if (good != std::string_view::npos && good <= bad) return true;
      // "it works on a single GPU"
      if (says(ahead, std::initializer_list<std::string_view>{"works on a", "works on one", "works with a",
                                                              "works with one", "fine on a", "fine on one",
                                                              "fine with a", "fine with one", "runs on a",
                                                              "train on a"}) != std::string_view::npos &&
          says(ahead, std::initializer_list<std::string_view>{"not ", "n't "}) == std::string_view::npos)
        return true;
    }
  }
  return !said_together(
              folded,
              {"single gpu", "single-gpu", "one gpu", "1 gpu", "single card", "one card", "单卡", "单张卡"},
              {"works", "work well", "work fine", "succe", "no problem", "without oom", "runs fine",
               "runs well"},
              32, {"not work", "n't work", "fails", "not even", "if it works"})
              .empty();
}

// "The cards together have enough": the question that copies on each card answer.
bool asks_of_each_card(std::string_view folded) {
  for (const std::string_view words : {"总显存",
                                       "总体显存",
                                       "单张卡的显存",
                                       "单卡显存",
                                       "每张卡",
                                       "每个gpu",
                                       "每块卡",
                                       "每张显卡",
                                       "单卡训练没问题",
                                       "单卡没问题",
                                       "each gpu loads",
                                       "every gpu loads",
                                       "each gpu load",
                                       "on each gpu",
                                       "on every gpu",
                                       "on each of them",
                                       "on each card",
                                       "on every card",
                                       "total vram",
                                       "combined vram",
                                       "total gpu memory",
                                       "single gpu works",
                                       "works on a single gpu",
                                       "works on one gpu",
                                       "fine on one gpu",
                                       "fine on a single gpu"}) {
    if (folded.find(words) != std::string_view::npos) return true;
  }
  // "把一个模型平均分到多张卡", "how can I split the model across GPUs": who asks for it has it not.
  return !said_together(folded, {"model", "weights", "模型", "权重"},
                        {"split across",
                         "distribute across",
                         "distributed across",
                         "spread across",
                         "shard across",
                         "get distributed",
                         "be distributed",
                         "n't distribut",
                         "not distribut",
                         "n't split",
                         "not split",
                         "get split",
                         "spread over",
                         "split over",
                         "split between",
                         "across the gpus",
                         "across gpus",
                         "across multiple",
                         "across all",
                         "across several",
                         "平均分",
                         "分到多",
                         "分布到",
                         "切分到",
                         "拆分到",
                         "分配到",
                         "拆到多"},
                        60, {"is split", "is spread", "are spread", "is sharded", "was split"})
              .empty() ||
         !said_together(
              folded,
              {"more gpus", "additional gpu", "number of gpus", "adding gpus", "more cards", "another gpu",
               "second gpu", "every gpu", "each gpu", "every card", "each card", "every one of them",
               "every process", "each process", "each of my", "each of the", "each one", "all gpus",
               "all cards"},
              {"n't lower",   "not lower",     "n't reduce",     "not reduce",    "n't help",
               "not help",    "no difference", "same memory",    "not change",    "n't change",
               "same amount", "still oom",     "fills up",       "is full",       "full model",
               "whole model", "entire model",  "complete model", "for the model", "of the model",
               "has all of",  "holds all",     "own copy",       "full copy",     "all the weights"},
              64)
              .empty() ||
         !said_together(folded, {"每个卡", "每卡", "每个显卡", "不同的显卡", "不同的卡", "各个卡"},
                        {"加载", "完整", "一份", "重复"}, 60)
              .empty();
}

// What torchrun copies onto each card, device_map spreads over them.
bool spread_works(std::string_view folded) {
  return !said_together(folded,
                        {"device_map", "python3 command", "plain python", "single process", "naive pipeline"},
                        {"fine", "works", "succe", "no problem", "runs", "正常", "可以", "没问题"}, 80,
                        {"not work", "n't work"})
              .empty();
}

}  // namespace

void read_run(const Reading& r, Signs& out) {
  const Facts& f = r.facts;
  add(out, f.method == Method::full, Sign::full_tuning, "All parameters are trained.");
  add(out, f.parameters > 0 && f.parameters < 0.8e9 && f.capacity == 0, Sign::small_network,
      "The model is small: weights, gradients and states of all of it take a few GiB.");
  add(out, f.method == Method::adapters, Sign::adapters, "Adapters are trained.");
  add(out, f.method == Method::inference, Sign::inference,
      "Nothing is trained: the model alone does not fit.");
  const bool quantized = !f.quantization.empty();
  add(out, quantized, Sign::quantized, "The base is quantised.");
  add(out, f.several(), Sign::several_cards, "Several cards are used.");
  const bool spread = spread_works(r.text.folded_lines);
  const bool each = spread || asks_of_each_card(r.text.folded_lines);
  const bool divided_somehow = f.strategy == "deepspeed" && !quantized && !f.whole_on_each && !each;
  const bool whole_each = (f.several() || (each && !f.gpus)) &&
                          (!f.sharded() || quantized || f.whole_on_each) && !divided_somehow;
  // Words alone say that there are several cards, not that the model was too large for one of them.
  const bool sums = sums_the_cards(r.text.folded_lines);
  add(out, whole_each && spread, Sign::spread_works,
      "Spread over the cards it runs; started once for each card, it does not.");
  const bool told = sums || each || f.whole_on_each || one_card_works(r.text.folded_lines) ||
                    !f.gpus_in_words || r.phase == Phase::load || f.strategy == "ddp" ||
                    (f.whole > 0.93 * f.capacity && f.capacity > 0);
  add(out, whole_each && told, Sign::replicates,
      "Each card holds all the weights: " +
          std::string(quantized            ? "a quantised base is not sharded"
                      : f.strategy.empty() ? "data parallelism"
                                           : f.strategy) +
          " does not divide them.");
  add(out, whole_each && (f.sharded() || f.whole_on_each), Sign::quantized_and_sharded,
      "Sharding is configured but does not reach the weights.");
  add(out, whole_each && sums, Sign::sums_cards,
      "The memory of the cards is summed, although each holds a copy.");
  // What shards has several cards, also where nobody counts them.
  add(out, (f.several() || !f.gpus) && f.sharded() && !whole_each && !quantized, Sign::shards,
      "The weights are sharded over the cards.");
  add(out, f.dora, Sign::uses_dora, "DoRA makes matrices as large as the weights.");
  add(out, f.task == "dpo" || f.task == "orpo" || f.task == "kto", Sign::pairs,
      "The task runs chosen and rejected answers, and a reference.");
  add(out, f.task == "ppo", Sign::four_models,
      "PPO holds a policy, a reference, a reward model and a critic.");
  add(out, f.task == "reward", Sign::two_sequences, "The task runs two sequences an example.");
  add(out, f.task == "grpo" || f.task == "ppo", Sign::generates_rollouts,
      "The run generates its own samples.");
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
