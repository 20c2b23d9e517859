#include "core/diagnosis/questions.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/diagnosis/progress.h"

namespace plimsoll::diagnosis {

namespace {

// A person sees when it fails, not why: a use that seems to creep up may be longer samples, and what fails
// "later" may have crept up. A cause's shares over the choices are what reports say, in round figures.
constexpr Share at_load[] = {
    {"does_not_fit_at_all", 0.4}, {"sharding_load_peak"}, {"load_peak"},
    {"fp32_by_mistake", 0.5},     {"bnb_not_applied"},    {"kbit_upcast"},
    {"dequantised_base"},         {"vllm_kv_cache"},      {"replicated_not_sharded", 0.5},
    {"embedding_tensor"},         {"other_process", 0.5}, {"optimizer_states_first_step", 0.3}};
constexpr Share at_once[] = {{"does_not_fit_at_all", 0.6},
                             {"replicated_not_sharded", 0.5},
                             {"optimizer_states_first_step", 0.7},
                             {"optimizer_foreach_temporary"},
                             {"modules_to_save"},
                             {"adapters_large_or_fp32"},
                             {"dora_overhead"},
                             {"dequantisation_temporary"},
                             {"other_process", 0.5},
                             {"fp32_by_mistake", 0.5}};
constexpr Share of_tokens[] = {{"batch_or_sequence_too_large"}, {"logits_peak"},
                               {"checkpointing_not_active"},    {"eager_attention_quadratic", 0.98},
                               {"vision_tokens", 0.8},          {"dpo_reference_model"},
                               {"single_giant_tensor"},         {"pairwise_doubles_batch"},
                               {"packing_interaction"}};
constexpr Share updated[] = {{"regression_in_library"}};
constexpr Share at_later[] = {{"long_outlier_sequences", 0.8},
                              {"fragmentation", 0.9},
                              {"growth_over_steps", 0.15},
                              {"vision_tokens", 0.1}};
constexpr Share growing[] = {{"growth_over_steps", 0.85},
                             {"long_outlier_sequences", 0.2},
                             {"fragmentation", 0.1},
                             {"vision_tokens", 0.1}};
constexpr Share at_eval[] = {{"eval_accumulates_logits"}, {"eager_attention_quadratic", 0.02}};
constexpr Share at_save[] = {{"resume_or_save_peak"}};
constexpr Share at_merge[] = {{"merge_peak"}};
constexpr Share at_rollout[] = {{"vllm_colocate"}};
constexpr Share of_machine[] = {{"host_ram"}};
constexpr Choice when[] = {
    {"load", "While the model was loaded or prepared",
     "No sample was there yet: weights, or a second copy of them.", at_load},
    {"once", "In the first step, even with a micro-batch of 1 and 512 tokens",
     "What fails does not depend on the tokens: weights, gradients, states, or who else holds the card.",
     at_once},
    {"first", "In the first step, but fewer or shorter samples run",
     "What fails grows with the tokens of a micro-batch.", of_tokens},
    {"later", "After steps that ran",
     "Something was larger than before: a longer sample, or pieces of the cache.", at_later},
    {"growing", "The use crept up until it failed", "Something is kept from step to step.", growing},
    {"eval", "In evaluation", "Training fits; evaluation keeps logits, or takes a larger batch.", at_eval},
    {"save", "While saving or resuming", "What was spread is gathered, or lies there twice.", at_save},
    {"merge", "While merging or exporting adapters", "A second copy of the weights is made.", at_merge},
    {"rollout", "While generating samples (GRPO, PPO)", "The engine and the training share the card.",
     at_rollout},
    {"ram", "The machine's RAM filled up, or the process was killed",
     "The GPU's memory did not run out: nothing on it helps.", of_machine},
    {"update", "Since an update of the libraries; it ran before", "A default changed: compare the versions.",
     updated},
    {"other", "Something else, or I do not know", "", {}, false, true},
};

constexpr Share foreign[] = {{"other_process"}};
constexpr Choice others[] = {
    {"yes", "Yes, something else was using it", "Not all of the card was free for this run.", foreign},
    {"no", "No, it was empty", "All of the card was this run's.", {}, true},
};

constexpr Share copied[] = {{"replicated_not_sharded"}};
constexpr Share sharded[] = {{"sharding_load_peak"}, {"resume_or_save_peak"}};
constexpr Choice cards[] = {
    {"copies", "Each holds the whole model (DDP, ZeRO-1 or -2, torchrun without FSDP)",
     "More cards do not make room for the weights.", copied},
    {"sharded", "The weights are divided (FSDP, ZeRO-3)",
     "Only what is gathered or not yet divided can be too much.", sharded},
    {"one", "Only one card is used", "Everything must fit on it.", {}, true},
};

constexpr Share of_all_weights[] = {{"does_not_fit_at_all"},
                                    {"optimizer_states_first_step"},
                                    {"optimizer_foreach_temporary"},
                                    {"replicated_not_sharded", 0.5}};
constexpr Choice method[] = {
    {"full", "All parameters (full fine-tuning)",
     "Gradients and optimizer states of all weights are held beside them.", of_all_weights},
    {"adapters",
     "Adapters alone (LoRA, QLoRA)",
     "Beside the weights only little is held for training.",
     {},
     true},
};

double part_of(const Choice& choice, std::string_view cause) {
  const auto found = std::find_if(choice.causes.begin(), choice.causes.end(),
                                  [&](const Share& one) { return one.cause == cause; });
  return found == choice.causes.end() ? 0 : found->of;
}

// People err, and causes mix: an answer against a cause leaves it a chance.
constexpr double believed = 0.985;

// Of those who take no open choice.
double share(const Question& question, const Choice& choice, std::string_view cause) {
  double count = 0, all = 0, naming = 0;
  bool rest = false;
  for (const Choice& one : question.choices) {
    if (one.open) continue;
    count += 1;
    all += part_of(one, cause);
    naming += part_of(one, cause) > 0 ? 1 : 0;
    rest = rest || one.rest;
  }
  const bool by_rest = all == 0 && rest;
  if (!by_rest && (naming == 0 || naming == count)) return 1 / count;
  const double part = by_rest ? (choice.rest ? 1 : 0) : part_of(choice, cause) / all;
  return part > 0 ? believed * part : (1 - believed) / (count - (by_rest ? 1 : naming));
}

// How much more often the first cause is expected to be right once this was answered.
double gain(const Question& question, const std::vector<Named>& named, const std::vector<double>& shares) {
  double right = 0;
  for (const Choice& choice : question.choices) {
    double most = 0;
    for (std::size_t i = 0; i < named.size() && !choice.open; ++i)
      most = std::max(most, shares[i] * share(question, choice, named[i].cause->id));
    right += most;
  }
  return right - *std::max_element(shares.begin(), shares.end());
}

bool made_steps(const TextReading& r) { return !progress_in_words(r.text.folded_lines).empty(); }

// What the text, the traceback or the request answers already is not asked.
bool is_known(const Question& question, const TextReading& r) {
  const Facts& f = r.facts;
  // A frame of a pass says where in a step, and not whether the tokens of this one were more than before. The
  // optimizer's own step holds no tokens: its frame says when.
  if (question.id == "when")
    return (r.frames.phase != FailurePhase::unknown && !in_a_pass(r.frames.phase)) || r.rerun.exact;
  if (question.id == "cards") return !f.several() || !f.strategy.empty();
  if (question.id == "method") return true;  // asked where it decides
  if (question.id == "others") return r.derived.residual.has_value() || r.derived.other.has_value();
  return false;
}

// Of the run's own model only tokens make a tensor of that size.
bool is_of_tokens(const TextReading& r) {
  const Message* message = r.message();
  const bool large =
      message != nullptr && message->numbers.tried && message->numbers.tried->bytes >= gibibyte;
  const bool product = !r.products.empty() && r.products.front().model.empty() && !r.products.front().beyond;
  return large && product && r.matches.empty();
}

// What cannot be an answer: moments that the run was past, whose frames are others or that have no tensor of
// that size, and RAM where a program says that the GPU's memory ran out.
bool is_against(const Choice& choice, const TextReading& r) {
  const auto is_any = [&](std::initializer_list<std::string_view> ids) {
    return std::find(ids.begin(), ids.end(), choice.id) != ids.end();
  };
  const FailurePhase phase = r.frames.phase;
  if ((made_steps(r) || is_of_tokens(r)) && is_any({"load", "once"})) return true;
  if (made_steps(r) && choice.id == "first") return true;
  if (in_a_pass(phase) && is_any({"load", "save", "merge"})) return true;
  if (phase == FailurePhase::backward && is_any({"eval", "rollout"})) return true;
  const bool of_gpu = r.message() != nullptr && r.message()->family->kind == MessageKind::allocator;
  return of_gpu && choice.id == "ram";
}

Question possible(const Question& question, const TextReading& r) {
  Question out{question.id, question.words, {}};
  for (const Choice& one : question.choices) {
    if (!is_against(one, r)) out.choices.push_back(one);
  }
  return out;
}

// The choices that are expected most often, and the open ones.
Question shortened(const Question& question, const std::vector<Named>& named,
                   const std::vector<double>& shares) {
  constexpr std::size_t most = 7;
  constexpr double least = 0.005;
  std::vector<std::pair<double, const Choice*>> expected;
  for (const Choice& choice : question.choices) {
    double sum = 0;
    for (std::size_t i = 0; i < named.size() && !choice.open; ++i)
      sum += shares[i] * share(question, choice, named[i].cause->id);
    if (!choice.open) expected.emplace_back(sum, &choice);
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const auto is_kept = [&](const Choice& choice) {
    for (std::size_t i = 0; i < expected.size() && i < most; ++i) {
      if (expected[i].second == &choice) return i < 2 || expected[i].first >= least;
    }
    return choice.open;
  };
  Question out{question.id, question.words, {}};
  std::copy_if(question.choices.begin(), question.choices.end(), std::back_inserter(out.choices), is_kept);
  return out;
}

// Of whom none of the first choices was right.
Question others_than(const Question& question, const Question& first) {
  Question out{question.id, question.words, {}};
  for (const Choice& choice : question.choices) {
    if (choice.open || find_choice(first, choice.id) == nullptr) out.choices.push_back(choice);
  }
  return out;
}

// Where only full fine-tuning is too much for the card and nobody said what is trained, that is the question. Who
// writes in words alone is asked when it failed: figures are what the method is held against.
bool method_decides(const TextReading& r) {
  const Facts& f = r.facts;
  const double full = f.sharing_unsaid ? f.whole : f.share;
  const bool told = r.message() != nullptr && r.message()->family->kind == MessageKind::spoken;
  return !told && f.method_assumed && f.capacity > 0 && full > most_at_rest * f.capacity &&
         f.weights16 < 0.85 * f.capacity;
}

}  // namespace

std::span<const Question> questions() {
  static const std::vector<Question> all = {
      {"when", "When did it fail?", {std::begin(when), std::end(when)}},
      {"others",
       "Did another program hold memory of the card before it started?",
       {std::begin(others), std::end(others)}},
      {"cards", "How do the cards share the model?", {std::begin(cards), std::end(cards)}},
      {"method", "What is trained?", {std::begin(method), std::end(method)}},
  };
  return all;
}

const Question* find_question(std::string_view id) {
  const auto all = questions();
  const auto found = std::find_if(all.begin(), all.end(), [id](const Question& one) { return one.id == id; });
  return found == all.end() ? nullptr : &*found;
}

const Choice* find_choice(const Question& question, std::string_view id) {
  const auto found = std::find_if(question.choices.begin(), question.choices.end(),
                                  [id](const Choice& one) { return one.id == id; });
  return found == question.choices.end() ? nullptr : &*found;
}

std::vector<Answer> read_answers(std::string_view text) {
  constexpr std::size_t most = 8;
  std::vector<Answer> out;
  while (!text.empty() && out.size() < most) {
    const std::size_t end = std::min(text.find_first_of(" ,\n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) continue;
    const Question* question = find_question(word.substr(0, sign));
    const Choice* choice = question == nullptr ? nullptr : find_choice(*question, word.substr(sign + 1));
    if (choice != nullptr) out.push_back({question, choice});
  }
  return out;
}

double log_share(const Question& question, const Choice& choice, std::string_view cause) {
  const auto open = static_cast<double>(std::count_if(question.choices.begin(), question.choices.end(),
                                                      [](const Choice& one) { return one.open; }));
  const double unsaid = open / static_cast<double>(question.choices.size());
  return std::log(choice.open ? unsaid / open : (1 - unsaid) * share(question, choice, cause));
}

std::shared_ptr<const Question> question_for(const std::vector<Named>& named,
                                             const std::vector<Answer>& answered,
                                             const TextReading& reading) {
  constexpr std::size_t most_questions = 2;
  constexpr double sure = 0.85, least_gain = 0.005;
  if (answered.size() >= most_questions || named.empty()) return nullptr;
  std::vector<double> shares;
  double sum = 0;
  for (const Named& one : named) sum += std::exp(one.score);
  for (const Named& one : named) shares.push_back(std::exp(one.score) / sum);
  const bool decided = *std::max_element(shares.begin(), shares.end()) > sure;
  if (decided &&
      std::any_of(named.begin(), named.end(), [](const Named& one) { return one.confidence > 0.7; }))
    return nullptr;
  if (method_decides(reading)) return std::make_shared<const Question>(*find_question("method"));
  std::shared_ptr<const Question> best;
  double most = least_gain;
  const auto is_answered = [&](const Question& question, bool open) {
    return std::any_of(answered.begin(), answered.end(), [&](const Answer& one) {
      return one.question->id == question.id && one.choice->open == open;
    });
  };
  for (const Question& question : questions()) {
    if (is_answered(question, false) || is_known(question, reading)) continue;
    const Question open = possible(question, reading);
    if (is_answered(question, true)) {
      Question rest = others_than(open, shortened(open, named, shares));
      if (rest.choices.size() > 2) return std::make_shared<const Question>(shortened(rest, named, shares));
      continue;
    }
    if (const double gained = gain(open, named, shares); gained > most) {
      most = gained;
      best = std::make_shared<const Question>(shortened(open, named, shares));
    }
  }
  return best;
}

}  // namespace plimsoll::diagnosis
