#include "core/diagnosis/size_products.h"

#include <algorithm>
#include <cmath>

#include "core/diagnosis/tensors.h"
#include "core/json/rounding.h"

namespace plimsoll::diagnosis {

namespace {

using json::grouped;

// The stack's own name of what makes a tensor smaller.
struct Knob {
  std::string_view stack, tensor, words;
};
constexpr Knob knobs[] = {
    {"hf", "logits", "use_liger_kernel=true in TrainingArguments"},
    {"trl", "logits", "use_liger_kernel=true, or loss_type=\"chunked_nll\", in SFTConfig"},
    {"axolotl", "logits", "cut_cross_entropy: true or liger_fused_linear_cross_entropy: true (plugins)"},
    {"llamafactory", "logits", "enable_liger_kernel: true"},
    {"unsloth", "logits", "leave UNSLOTH_RETURN_LOGITS unset: its fused loss makes none"},
    {"torchtune", "logits", "loss._component_: torchtune.modules.loss.LinearCrossEntropyLoss"},
    {"ms-swift", "logits", "--use_liger_kernel true"},
    {"", "logits", "a fused or chunked loss (use_liger_kernel=true with Transformers and TRL)"},
    {"axolotl", "scores", "flash_attention: true or sdp_attention: true"},
    {"llamafactory", "scores", "flash_attn: fa2 or sdpa"},
    {"ms-swift", "scores", "--attn_impl flash_attn"},
    {"", "scores", "attn_implementation=\"sdpa\" or \"flash_attention_2\""},
    {"", "weight", "dtype=\"bfloat16\": in fp32 the weights take twice as much"},
    {"axolotl", "", "gradient_checkpointing: true, then a smaller micro_batch_size or sequence_len"},
    {"llamafactory", "", "a smaller per_device_train_batch_size or cutoff_len"},
    {"torchtune", "", "enable_activation_checkpointing: True, then a smaller batch_size or max_seq_len"},
    {"", "", "gradient_checkpointing=true, then a smaller micro-batch or length"},
};

std::string knob_of(const Situation& situation, std::string_view tensor) {
  json::Errors ignored;
  const auto given = situation.values.find("/stack");
  const std::string stack =
      given == situation.values.end() ? "" : json::read_text(given->second, "", ignored).value_or("");
  const bool named = tensor == "logits" || tensor == "scores" || tensor == "weight";
  for (const Knob& knob : knobs) {
    if ((knob.stack.empty() || knob.stack == stack) && knob.tensor == (named ? tensor : ""))
      return std::string(knob.words);
  }
  return "";
}

// The numbers of units of `each` bytes that print as this size; none where the least is more than the most.
struct Reach {
  double least, most;
};
Reach reach_of(const Size& tried, double each) {
  const Window window = window_of(tried, MessageKind::allocator);
  return {std::ceil(window.low / each), std::floor(window.high / each)};
}

// The roundest of them; 0 where there is none.
double units_in(const Size& tried, double each, bool* exact) {
  const auto [least, most] = reach_of(tried, each);
  *exact = false;
  if (most < 1 || most < least) return 0;
  for (const double step : {1024.0, 512.0, 256.0}) {
    if (most - least >= step) continue;  // some multiple lies in any window as wide
    const double round = std::floor(most / step) * step;
    if (round < std::max(least, 1.0)) continue;
    *exact = true;
    return round;
  }
  return std::round((least + most) / 2);
}

// The only power of two, once or three times, among them; 0 where there are more or none.
double sole_in(const Size& tried, double each) {
  const auto [least, most] = reach_of(tried, each);
  double found = 0;
  for (const double first : {512.0, 768.0}) {
    for (double round = first; round <= most; round *= 2) {
      if (round < least) continue;
      if (found > 0) return 0;
      found = round;
    }
  }
  return found;
}

std::string element(int bytes) { return bytes == 4 ? ", fp32" : ", 16-bit"; }

// A handful is chance. Millions of tokens are no micro-batch: they are named as such, behind what may be.
constexpr double fewest_tokens = 64, most_tokens = 4194304;
// Of a model that does not say what it takes, and of several short samples.
constexpr double usual_most = 131072;

// The most tokens that a micro-batch can have: some more than are said, where both are; else as many samples as
// are said, of the model's context or of the length that is said.
double most_of_a_batch(const Situation& situation, const Facts& facts) {
  const double context =
      situation.network == nullptr ? 0 : static_cast<double>(situation.network->max_position_embeddings);
  const bool sees = facts.sees || facts.can_see;  // images are tokens as well
  if (facts.batch && facts.length && !sees) return 2 * *facts.batch * *facts.length;
  return std::max(usual_most, facts.batch.value_or(1) * std::max(context, facts.length.value_or(0)));
}

void add_logits(const Size& tried, double vocabulary, const std::string& model, bool only_exact,
                std::vector<Product>& out) {
  if (vocabulary < 1000) return;
  for (const int bytes : {4, 2}) {
    bool exact = false;
    double tokens = units_in(tried, bytes * vocabulary, &exact);
    if (tokens < fewest_tokens || tokens > most_tokens || (only_exact && !exact)) continue;
    const double sole = exact ? 0 : sole_in(tried, bytes * vocabulary);
    if (sole > 0) tokens = sole;
    out.push_back({"logits",
                   (exact ? "" : "about ") + grouped(tokens) + " tokens x " + grouped(vocabulary) +
                       " words of the vocabulary" + element(bytes),
                   model, tokens, exact});
    out.back().sole = sole > 0;
  }
}

void add_rows(const Size& tried, const char* tensor, double width, const char* what,
              std::vector<Product>& out) {
  bool exact = false;
  const double tokens = width > 0 ? units_in(tried, 2 * width, &exact) : 0;
  if (tokens < fewest_tokens || tokens > most_tokens) return;
  out.push_back(
      {tensor,
       (exact ? "" : "about ") + grouped(tokens) + " tokens x " + grouped(width) + " " + what + element(2),
       "", tokens, exact});
}

void add_scores(const Size& tried, double heads_each, const Facts& facts, std::vector<Product>& out) {
  if (heads_each < 1) return;
  const double batch = std::max(1.0, facts.batch.value_or(1)), heads = batch * heads_each;
  const std::string samples = batch > 1 ? grouped(batch) + " x " : "";
  for (const int bytes : {2, 4}) {
    const double length = std::sqrt(tried.bytes / (heads * bytes));
    const double round = std::round(length / 256) * 256;
    const double off = std::fabs(round * round * heads * bytes - tried.bytes);
    if (round < 512 || off > std::max(tried.half, 256.0) + 2 * mebibyte) continue;
    const double next = (round + 256) * (round + 256) * heads * bytes;
    if (next - tried.bytes <= tried.half) continue;        // some multiple lies in any window as wide
    if (facts.length && *facts.length != round) continue;  // scores of another length than the run's
    out.push_back({"scores",
                   samples + grouped(heads_each) + " heads x " + grouped(round) + " x " + grouped(round) +
                       " tokens" + element(bytes),
                   "", round, true});
  }
}

// Logits of the vocabularies that are known, where their tokens come out exact. Small requests are those of
// weights and layers first: some of eighty vocabularies has nearly any of their sizes by chance, the six that
// are trained most, with a power of two of tokens, one in seven.
void add_known_logits(const Size& tried, const Situation& situation, std::vector<Product>& out) {
  const bool small = tried.bytes < gibibyte / 2;
  constexpr std::size_t most_trained = 6;
  constexpr double fewest_of_small = 512;
  std::vector<double> seen;
  for (const KnownModel& known : situation.models) {
    const auto vocabulary = static_cast<double>(known.network->vocab_size);
    if (std::find(seen.begin(), seen.end(), vocabulary) != seen.end()) continue;
    if (small && seen.size() == most_trained) break;
    seen.push_back(vocabulary);
    add_logits(tried, vocabulary, known.id, true, out);
  }
  if (small)
    std::erase_if(
        out, [](const Product& one) { return one.tokens < fewest_of_small || odd_part(one.tokens) != 1; });
}

// Hidden width and MLP of models that are trained most (their config.json).
struct UsualShape {
  double hidden, mlp;
  std::string_view model;
};
constexpr UsualShape usual_shapes[] = {{4096, 14336, "Llama-3.1-8B"}, {3584, 18944, "Qwen2.5-7B"},
                                       {4096, 11008, "Llama-2-7B"},   {5120, 13824, "Llama-2-13B"},
                                       {5120, 27648, "Qwen2.5-32B"},  {8192, 28672, "Llama-3.1-70B"}};

bool is_round(double tokens) { return odd_part(tokens) == 1 || odd_part(tokens) == 3; }

// Where no model is known: a size is a weight of a usual shape, or the MLP's values of a round number of tokens.
void add_usual(Size tried, std::vector<Product>& out) {
  if (std::fmod(tried.bytes, 2 * mebibyte) == 0) tried.half = 0;  // what is asked of the driver is a multiple
  constexpr double fewest = 512, most = 65536;
  std::vector<Product> values;
  for (const UsualShape& shape : usual_shapes) {
    const std::string model(shape.model);
    const double weight = 4 * shape.hidden * shape.mlp;
    if (window_of(tried, MessageKind::allocator).holds(weight))
      out.push_back(
          {"weight",
           "a weight of the MLP, " + grouped(shape.hidden) + " x " + grouped(shape.mlp) + element(4), model,
           0, true});
    add_rows(tried, "mlp", shape.mlp, "columns of the MLP", values);
    if (values.empty()) continue;
    Product one = std::move(values.back());
    values.clear();
    one.model = model;
    if (one.exact && is_round(one.tokens) && one.tokens >= fewest && one.tokens <= most)
      out.push_back(std::move(one));
  }
}

// Of a run that writes its own samples the loss has logits of the completions alone.
double completion_of(const Situation& situation) {
  const auto found = situation.values.find("/rl/max_completion_length");
  json::Errors ignored;
  return found == situation.values.end() ? 0 : json::read_number(found->second, "", {}, ignored).value_or(0);
}

}  // namespace

std::vector<Product> products_of(const Size& tried, const Situation& situation, const Facts& facts) {
  constexpr std::size_t most = 4;
  std::vector<Product> out;
  if (tried.bytes <= 20 * mebibyte || tried.bytes > largest_tensor) return out;
  if (situation.network != nullptr) {
    const model::Architecture& network = *situation.network;
    const model::LayerGroup* layers = text_layers(network);
    add_logits(tried, static_cast<double>(network.vocab_size), "", false, out);
    if (layers != nullptr) {
      add_scores(tried, static_cast<double>(layers->heads), facts, out);
      add_rows(tried, "mlp", static_cast<double>(layers->intermediate), "columns of the MLP", out);
      add_rows(tried, "hidden", static_cast<double>(network.stacks.front().hidden), "hidden columns", out);
    }
  } else if (!facts.images_alone) {
    add_known_logits(tried, situation, out);
    add_usual(tried, out);
  }
  const double most_possible = most_of_a_batch(situation, facts);
  for (Product& one : out) {
    if (one.tokens <= most_possible) continue;
    one.beyond = true;
    one.exact = false;
    one.words += ": more than a micro-batch has (" + grouped(most_possible) + ")";
  }
  const auto chosen = [](const Product& one) { return one.exact && is_chosen(one.tokens); };
  // As many tokens as the person said come first, then numbers that somebody chooses.
  const double batch = facts.batch.value_or(0);
  const double said = batch * facts.length.value_or(0), completions = batch * completion_of(situation);
  const auto is_said = [said, completions](const Product& one) {
    return one.tokens == said || (one.tensor == "logits" && one.tokens == completions);
  };
  std::stable_sort(out.begin(), out.end(), [is_said, chosen](const Product& a, const Product& b) {
    if (a.beyond != b.beyond) return b.beyond;
    if (is_said(a) != is_said(b)) return is_said(a);
    if (chosen(a) != chosen(b)) return chosen(a);
    return a.exact && !b.exact;
  });
  if (out.size() > most) out.resize(most);
  for (Product& one : out) {
    one.knob = knob_of(situation, one.tensor);
    one.chosen = chosen(one);
  }
  return out;
}

}  // namespace plimsoll::diagnosis
