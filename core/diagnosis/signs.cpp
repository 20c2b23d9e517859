#include "core/diagnosis/signs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/diagnosis/families.h"
#include "core/diagnosis/phrases.h"
#include "core/diagnosis/size.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;

using Signs = std::vector<Evidence>;

void add(Signs& out, bool holds, Sign sign, std::string words) {
  if (holds) out.push_back({sign, std::move(words)});
}

// "shape[16,12,512,512]": four dimensions, the last two alike.
bool is_square_of_heads(std::string_view quote) {
  std::vector<uint64_t> dimensions(1);
  const std::size_t first = quote.find("shape[") + 6;
  for (std::size_t i = first; i < quote.size() && i < first + 64 && quote[i] != ']'; ++i) {
    if (quote[i] == ',') dimensions.push_back(0);
    if (is_digit(quote[i]))
      dimensions.back() = dimensions.back() * 10 + static_cast<uint64_t>(quote[i] - '0');
  }
  return dimensions.size() == 4 && dimensions[2] == dimensions[3] && dimensions[3] >= 64;
}

void read_sender(const Message& message, Signs& out) {
  struct Sender {
    const Family* family;
    Sign sign;
  };
  static constexpr Sender senders[] = {
      {&allocator_family, Sign::says_allocator},
      {&host_family, Sign::says_host},
      {&driver_family, Sign::says_driver},
      {&handle_family, Sign::says_handle},
      {&nccl_family, Sign::says_nccl},
      {&bitsandbytes_family, Sign::says_paged},
      {&mps_family, Sign::says_metal},
      {&mlx_family, Sign::says_mlx},
      {&xla_family, Sign::says_xla},
      {&vllm_family, Sign::says_vllm},
      {&kernel_family, Sign::says_kernel},
  };
  // TensorFlow's sentence is XLA's too, and says nothing of JAX's share; but it says the shape.
  const std::string quote = fold(message.quote);
  if (message.family == &xla_family && quote.find("tensor with shape[") != std::string::npos) {
    add(out, is_square_of_heads(quote), Sign::is_scores,
        "The tensor that failed has the shape of attention scores: batch x heads x length x length.");
    return;
  }
  add(out, message.family->kind == Kind::spoken, Sign::says_in_words, std::string(message.family->what));
  for (const Sender& sender : senders) {
    add(out, message.family == sender.family, sender.sign, std::string(message.family->what));
  }
}

// Of the card's figures alone: who holds the memory, and whether a block of that size could exist.
void read_figures(const Reading& r, const Situation& situation, Signs& out) {
  const Message* message = r.message();
  if (message == nullptr || message->family->kind != Kind::allocator) return;
  const Numbers& n = message->numbers;
  const Derived& d = r.derived;
  add(out, n.at_least, Sign::asks_nonsense, "More than an exbibyte was asked for, which no tensor has.");
  if (n.tried && n.capacity && n.tried->bytes > n.capacity->bytes) {
    add(out, true, Sign::asks_beyond_card,
        "One tensor of " + size_text(n.tried->bytes) + " is larger than the whole card (" +
            size_text(n.capacity->bytes) + ").");
  }
  // A cut-off line of a container may show one process that cannot be this one: most of the memory is
  // elsewhere.
  double foreign = d.other_is_a_bound ? 0 : d.other.value_or(0);
  if (!d.other && n.capacity && n.free && !n.processes.empty()) {
    const double used = n.capacity->bytes - n.free->bytes;
    for (const Process& process : n.processes) {
      if (process.size.bytes < used / 2) foreign += process.size.bytes;
    }
  }
  add(out, foreign > gibibyte / 2 && !d.sentinel, Sign::foreign_process,
      "Other processes hold " + size_text(foreign) + " of this card.");
  const bool windows_like =
      d.sentinel || (n.allocated && n.capacity && n.allocated->bytes > n.capacity->bytes);
  // Where the line says what this process holds in all, its own context and NCCL's buffers are inside that
  // figure.
  double residual = d.residual.value_or(0);
  if (n.this_process && n.this_process->bytes > 0 && !d.sentinel && n.capacity && n.free) {
    residual = n.capacity->bytes - n.free->bytes - n.this_process->bytes - foreign;
  }
  const double share = n.capacity ? residual / n.capacity->bytes : 0;
  // Under Windows PyTorch sees all that is on the board: the driver's part and the desktop's are in the rest.
  const double on_the_board = n.capacity ? n.capacity->bytes / gibibyte : 0.5;
  const bool whole_board = std::fabs(on_the_board - std::round(on_the_board)) < 0.011;
  const double usual = whole_board
                           ? std::max(1.2 * gibibyte, std::min(2.0 * gibibyte, 0.5 * n.capacity->bytes))
                           : 1.2 * gibibyte;
  // An eighth of the card is what libraries take on small ones; a run over many cards holds more of it
  // itself.
  const bool much_left = residual > 2.5 * gibibyte || (residual > usual && share > 0.17);
  add(out, !windows_like && foreign <= gibibyte / 2 && much_left,
      share > 0.125 ? Sign::large_residual : Sign::some_residual,
      size_text(residual) +
          " are neither PyTorch's nor free; a context and its libraries take about 0.85 GiB.");
  // Next to what others hold, what this run asks for is a trifle.
  const double others = std::max(foreign, residual);
  add(out, !windows_like && n.capacity && others > std::max(0.5 * n.capacity->bytes, 2.5 * gibibyte),
      Sign::mostly_foreign,
      size_text(others) + " of " + size_text(n.capacity ? n.capacity->bytes : 0) +
          " are held by something else than this run's tensors.");
  // A cache holds some hundredths of a full card in pieces, whatever fails; a tenth of it is more than that.
  const double slack = d.slack && n.capacity && n.tried && *d.slack >= n.tried->bytes ? *d.slack : 0;
  const bool covers = slack > 0 && slack >= 0.05 * n.capacity->bytes;
  const bool much = covers && slack >= 0.09 * n.capacity->bytes;
  add(out, covers, much ? Sign::slack_covers : Sign::some_slack,
      size_text(slack) + " are reserved but free, more than the " + size_text(n.tried ? n.tried->bytes : 0) +
          " asked for: no single block was large enough.");
  add(out, d.sentinel, Sign::sentinel,
      "The figure for this process is 2^64 bytes: the driver cannot tell (WSL).");
  add(out, windows_like && !d.sentinel, Sign::beyond_card,
      "More is allocated than the card has: the driver moved memory to the host first.");
  const bool nothing = n.allocated && n.allocated->bytes == 0;
  add(out, nothing, Sign::nothing_allocated, "Nothing was allocated yet: the very first tensor failed.");
  add(out, !nothing && n.free && n.tried && n.free->bytes > n.tried->bytes + 512 * mebibyte && !covers,
      Sign::free_covers,
      size_text(n.free ? n.free->bytes : 0) + " are free, and yet " +
          size_text(n.tried ? n.tried->bytes : 0) + " were refused: a limit, not the card.");
  add(out,
      n.capacity && r.facts.nominal > 0 && n.capacity->bytes < 0.6 * r.facts.nominal &&
          !is_a_known_capacity(situation, n.capacity->bytes),
      Sign::less_than_card,
      "The software sees " + size_text(n.capacity ? n.capacity->bytes : 0) + " of a card of " +
          size_text(r.facts.nominal) + ".");
  // Weights, gradients and states of even 200 million parameters take 3 GiB; what is called a language model
  // and has no name here begins at twice that.
  const bool unnamed = r.facts.parameters == 0 && r.facts.method != Method::unknown;
  add(out, n.capacity && n.capacity->bytes < (unnamed ? 6.2 : 3.2) * gibibyte, Sign::tiny_card,
      "The card has " + size_text(n.capacity ? n.capacity->bytes : 0) +
          ", which trains next to no transformer.");
  add(out, n.pools && n.pools->bytes > gibibyte, Sign::large_pools,
      size_text(n.pools ? n.pools->bytes : 0) + " lie in private pools (CUDA graphs, an inference engine).");
}

void read_table(const Reading& r, Signs& out) {
  const auto& cards = r.table.cards;
  if (cards.empty()) return;
  const auto full =
      std::count_if(cards.begin(), cards.end(), [](const Card& c) { return c.used > 0.9 * c.total; });
  const auto idle =
      std::count_if(cards.begin(), cards.end(), [](const Card& c) { return c.used < 0.1 * c.total; });
  const bool rest_idle = cards.size() > 1 && full == 1 && full + idle == static_cast<long>(cards.size());
  const bool lone = cards.size() == 1 && full == 1 && r.facts.several();
  add(out, rest_idle || lone, Sign::one_card_only, "One card is full and the others are idle.");
  add(out, r.messages.empty() && !rest_idle && !lone && full > 0, Sign::in_use_at_start,
      "nvidia-smi shows " + size_text(cards.front().used) + " of " + size_text(cards.front().total) +
          " in use.");
}

void read_phase(const Reading& r, Signs& out) {
  struct InPhase {
    Phase phase;
    Sign sign;
    const char* words;
  };
  static constexpr InPhase phases[] = {
      {Phase::load, Sign::loading, "It died while the model was loaded."},
      {Phase::forward, Sign::forward, "It died in the forward pass of a layer."},
      {Phase::loss, Sign::loss, "It died in the loss, where logits of all tokens over the vocabulary exist."},
      {Phase::backward, Sign::backward, "It died in the backward pass."},
      {Phase::optimizer, Sign::optimizer, "It died in the optimizer's step."},
      {Phase::eval, Sign::evaluating, "It died while evaluating."},
      {Phase::save, Sign::saving, "It died while saving."},
      {Phase::generate, Sign::generating, "It died while generating."},
      {Phase::merge, Sign::merging, "It died while adapters were merged."},
  };
  for (const InPhase& one : phases) {
    std::string words = one.words;
    if (!r.frames.words.empty() && r.frames.phase == one.phase) words += " Frame: " + r.frames.words;
    add(out, r.phase == one.phase, one.sign, std::move(words));
  }
  struct Shown {
    std::string_view frame;
    Sign sign;
    const char* words;
  };
  static constexpr Shown shown[] = {
      {"states", Sign::makes_states,
       "The frame makes exp_avg or exp_avg_sq, which do not exist before the first step."},
      {"foreach", Sign::foreach,
       "The frame is the multi-tensor path, which holds one more list of all parameters."},
      {"prepare", Sign::prepares,
       "The frame prepares model and optimizer, which may create all states at once."},
      {"dequantize", Sign::dequantizes, "The frame expands a quantised weight to 16 bits."},
      {"attention", Sign::attention, "The frame is in attention."},
      {"scores", Sign::explicit_scores,
       "The frame makes the scores of all positions, one by one: eager attention."},
      {"varlen", Sign::varlen, "The frame is attention over packed sequences."},
      {"dora", Sign::dora_frame, "The frame is DoRA's norm or factor, as large as the weight."},
      {"vision", Sign::vision_frame, "The frame is in the vision tower."},
      {"kbit", Sign::kbit_frame,
       "The frame prepares a quantised model, which casts embeddings and norms to fp32."},
      {"resume", Sign::resumes, "The frame loads a checkpoint."},
      {"logits", Sign::logits_frame, "The frame works on the logits."},
      {"dequantize_base", Sign::dequantizes_base, "The frame expands the whole quantised checkpoint."},
      {"vllm", Sign::vllm_frame, "The frame starts vLLM."},
      {"merge", Sign::merging, "The frame merges adapters into the weights."},
  };
  for (const Shown& one : shown) add(out, r.frames.shows(one.frame), one.sign, one.words);
}

// "Two cards of 12 GB, 24 GB in all": memory summed over cards.
bool sums_the_cards(std::string_view folded) {
  for (const std::string_view words :
       {"一共", "总共有", "加起来", "总显存", "总体显存", "in total i have", "gb in total", "combined vram",
        "total vram", "total gpu memory", "gb total"}) {
    if (folded.find(words) != std::string_view::npos) return true;
  }
  return false;
}

// "单卡可以成功预训练", "works on a single GPU": success, said of one card; the failure is then of several.
bool one_card_works(std::string_view folded) {
  constexpr std::string_view one[] = {"单卡",        "单张卡",     "单gpu",       "一张卡",
                                      "single gpu",  "single-gpu", "one gpu",     "1 gpu",
                                      "single card", "one card",   "single a100", "single h100"};
  constexpr std::string_view works[] = {
      "可以",       "成功",   "没问题",      "没有问题",        "正常",           "能跑",
      "能够",       "works",  "work fine",   "worked",          "fine",           "succe",
      "no problem", "no oom", "without oom", "does not happen", "doesn't happen", "runs"};
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
  return false;
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
  return false;
}

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
  const bool each = asks_of_each_card(r.text.folded_lines);
  const bool divided_somehow = f.strategy == "deepspeed" && !quantized && !f.whole_on_each && !each;
  const bool whole_each = (f.several() || (each && !f.gpus)) &&
                          (!f.sharded() || quantized || f.whole_on_each) && !divided_somehow;
  // Words alone say that there are several cards, not that the model was too large for one of them.
  const bool sums = sums_the_cards(r.text.folded_lines);
  const bool told = sums || each || one_card_works(r.text.folded_lines) || !f.gpus_in_words ||
                    r.phase == Phase::load || (f.whole > 0.93 * f.capacity && f.capacity > 0);
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
  add(out, f.sees || named_so, Sign::sees_images,
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

void read_arithmetic(const Reading& r, Signs& out) {
  const Facts& f = r.facts;
  const Message* message = r.message();
  if (f.whole > 0 && f.capacity > 0) {
    add(out, f.whole > 0.93 * f.capacity, Sign::whole_beyond,
        "Weights, gradients and states take " + size_text(f.whole) + " before any activation; the card has " +
            size_text(f.capacity) + ".");
    // A pass over the layers that began with less allocated shows that the weights are smaller than thought.
    const bool in_a_pass = r.phase == Phase::forward || r.phase == Phase::loss || r.phase == Phase::backward;
    const bool contradicted = in_a_pass && message != nullptr && message->numbers.allocated &&
                              message->numbers.allocated->bytes < 0.85 * std::min(f.share, f.weights16);
    add(out, f.share > 0.93 * f.capacity && !contradicted && !f.shared_by_unknown(), Sign::share_beyond,
        "Each card's part of weights, gradients and states is " + size_text(f.share) + " of " +
            size_text(f.capacity) + ".");
    // Of an unknown method only the weights are known, and full fine-tuning without its types may take twice.
    const double most = f.at_most;
    const double most_share = f.whole > 0 ? most * f.share / f.whole : 0;
    add(out, most > 0 && most < 0.6 * f.capacity && !f.sharded(), Sign::whole_well_within,
        "Even undivided, weights, gradients and states take " + size_text(f.whole) + " of " +
            size_text(f.capacity) + ".");
    add(out, most > 0 && most_share < 0.7 * f.capacity && f.strategy != "deepspeed", Sign::share_well_within,
        "Weights, gradients and states take " + size_text(f.share) +
            ", which fits; activations take the rest.");
  }
  add(out, f.untyped, Sign::untyped,
      "The script loads the model without a type: fp32 before Transformers 5.");
  add(out, f.fits_in_16bit, Sign::fits_in_16bit,
      "The weights take " + size_text(f.weights16) + " in 16 bits, which fits; in fp32 they take " +
          size_text(2 * f.weights16) + ", and nothing is trained.");
  if (message == nullptr || !message->numbers.allocated || f.weights16 == 0) return;
  const double allocated = message->numbers.allocated->bytes;
  const bool loading = r.phase == Phase::load || r.phase == Phase::merge;
  const bool sized = f.method != Method::full && f.quantization.empty() && !f.several();
  add(out, sized && loading && allocated > 1.3 * f.weights16, Sign::near_fp32,
      size_text(allocated) + " are allocated; the weights in 16 bits would be " + size_text(f.weights16) +
          ".");
  add(out, !f.quantization.empty() && loading && allocated > 0.8 * f.weights16,
      Sign::near_16bit_though_quantized,
      size_text(allocated) +
          " are allocated, as much as the weights in 16 bits, although they should be quantised.");
}

// The largest tensor that grows with the text of a micro-batch, in bytes; 0 where that is not known.
double largest_of_text(const Facts& f, const Situation& situation) {
  const model::Architecture* network = situation.network;
  if (network == nullptr || !f.batch || !f.length || f.method != Method::adapters) return 0;
  const bool twice = f.task == "dpo" || f.task == "orpo" || f.task == "kto";
  const double tokens = *f.batch * *f.length * (twice ? 2 : 1);
  double heads = 0;
  for (const model::Stack& stack : network->stacks) {
    for (const model::LayerGroup& group : stack.groups)
      heads = std::max(heads, static_cast<double>(group.heads));
  }
  return 4 * std::max(tokens * static_cast<double>(network->vocab_size), tokens * *f.length * heads);
}

void read_tensor(const Reading& r, const Situation& situation, Signs& out) {
  // Under adapters nothing makes an fp32 copy of a frozen 16-bit weight: the weight itself is held so.
  if (!r.matches.empty() && r.matches.front().model.empty()) {
    const Match& best = r.matches.front();
    add(out,
        best.kind == TensorKind::weight && best.element == 4 && r.facts.method == Method::adapters &&
            r.facts.quantization.empty(),
        Sign::fp32_of_a_frozen_base,
        "The base is frozen, and yet the size that failed is one of its weights in fp32.");
  }
  // A request of many GiB that is to the digit all parameters of a published model is no coincidence.
  if (!r.matches.empty() && !r.matches.front().model.empty() && r.matches.front().bytes >= 4 * gibibyte &&
      r.matches.front().kind == TensorKind::model) {
    const Match& best = r.matches.front();
    add(out, true, Sign::is_whole_model,
        "The size that failed is that of all parameters of " + best.model + " in " + best.dtype + ".");
  }
  const Message* message = r.message();
  const bool in_a_pass = r.phase == Phase::unknown || r.phase == Phase::forward ||
                         r.phase == Phase::backward || r.phase == Phase::loss;
  const bool large = message != nullptr && message->family->kind == Kind::allocator &&
                     message->numbers.tried && message->numbers.tried->bytes >= gibibyte;
  const bool named = !r.matches.empty() && r.matches.front().model.empty();
  // Where no model is named, the task or the method says that it is a language model.
  const bool language =
      r.facts.parameters > 0 || (large && message->numbers.tried->bytes >= 4 * gibibyte &&
                                 (!r.facts.task.empty() || r.facts.method == Method::adapters));
  add(out, large && in_a_pass && !named && language && r.facts.method != Method::inference,
      Sign::large_request,
      "One tensor of " + size_text(large ? message->numbers.tried->bytes : 0) +
          " is no weight of this model: in a step only logits, attention scores or a long batch are so "
          "large.");
  // What one tensor of the text alone can take: logits in fp32, or the scores of all heads. Flat buffers of
  // all parameters belong to full fine-tuning.
  const double text = largest_of_text(r.facts, situation);
  add(out, large && in_a_pass && text > 0 && message->numbers.tried->bytes > 1.1 * text,
      Sign::beyond_the_text,
      "One tensor of " + size_text(large ? message->numbers.tried->bytes : 0) +
          " is more than logits or scores of the text take (" + size_text(text) +
          "): other tokens than those of the text's length were there.");
  // Vocabularies and MLPs are no powers of two; heads and lengths are, and so is their square.
  const double gibibytes = large ? message->numbers.tried->bytes / gibibyte : 0;
  const bool power =
      gibibytes >= 2 && std::fabs(std::log2(gibibytes) - std::round(std::log2(gibibytes))) < 1e-9;
  add(out,
      power && in_a_pass && !named && r.phase != Phase::loss && message->numbers.allocated &&
          message->numbers.allocated->bytes > 0,
      Sign::is_power_of_two,
      "Exactly " + size_text(gibibytes * gibibyte) +
          " is what batch x heads x length x length comes to, not logits or an MLP.");
  for (std::size_t i = 0; i < r.matches.size() && i < 3; ++i) {
    const Match& match = r.matches[i];
    // A model that is only proposed proves nothing, nor does a tensor when another one is likelier.
    if (!match.model.empty() || match.rank < r.matches.front().rank - 0.6) break;
    // A small request only says that the card is full: some number of tokens explains any size.
    const double told = message->numbers.tried ? message->numbers.tried->bytes : 0;
    const bool in_its_place = r.phase == Phase::loss || r.frames.shows("attention");
    if (match.guessed && !in_its_place && told < 0.015 * r.facts.capacity) continue;
    Sign sign = Sign::count;
    switch (match.kind) {
      case TensorKind::logits:
        sign = Sign::is_logits;
        break;
      case TensorKind::scores:
        sign = Sign::is_scores;
        break;
      case TensorKind::weight:
        sign = match.element == 4 ? Sign::is_weight32 : Sign::is_weight16;
        break;
      case TensorKind::embedding:
        sign = match.element == 4 ? Sign::is_embedding32 : Sign::is_embedding16;
        break;
      case TensorKind::layer:
        sign = Sign::is_layer32;
        break;
      case TensorKind::model:
        sign = Sign::is_whole_model;
        break;
      case TensorKind::partition:
        sign = Sign::is_partition;
        break;
      case TensorKind::activation:
        break;
    }
    const bool known = std::any_of(out.begin(), out.end(), [&](const Evidence& e) { return e.sign == sign; });
    if (sign == Sign::count || known) continue;
    add(out, true, sign, "The size that failed is that of " + match.what + " in " + match.dtype + ".");
  }
}

}  // namespace

bool is_a_known_capacity(const Situation& situation, double capacity) {
  return std::any_of(situation.gpus.begin(), situation.gpus.end(), [&](const hardware::Gpu* gpu) {
    const double off = std::max(static_cast<double>(gpu->usable_bytes) - capacity,
                                capacity - static_cast<double>(gpu->usable_high_bytes));
    return gpu->usable_bytes > 0 && gpu->segment != "slice" && off <= 0.015 * capacity;
  });
}

std::vector<Evidence> collect(const Reading& reading, const Situation& situation) {
  Signs out;
  if (reading.message() != nullptr) read_sender(*reading.message(), out);
  read_figures(reading, situation, out);
  read_table(reading, out);
  read_phase(reading, out);
  read_words(reading, out);
  read_run(reading, out);
  read_arithmetic(reading, out);
  read_tensor(reading, situation, out);
  // One sign once; the first to be seen explains it.
  std::vector<bool> seen(static_cast<std::size_t>(Sign::count));
  Signs unique;
  for (Evidence& e : out) {
    if (seen[static_cast<std::size_t>(e.sign)]) continue;
    seen[static_cast<std::size_t>(e.sign)] = true;
    unique.push_back(std::move(e));
  }
  return unique;
}

std::string size_text(double bytes) {
  struct Unit {
    double bytes;
    const char* name;
  };
  static constexpr Unit units[] = {
      {1099511627776.0, "TiB"}, {gibibyte, "GiB"}, {mebibyte, "MiB"}, {1024, "KiB"}};
  std::array<char, 48> out{};
  for (const Unit& unit : units) {
    if (bytes < unit.bytes) continue;
    std::snprintf(out.data(), out.size(), "%.2f %s", bytes / unit.bytes, unit.name);
    return out.data();
  }
  std::snprintf(out.data(), out.size(), "%.0f bytes", bytes);
  return out.data();
}

}  // namespace plimsoll::diagnosis
