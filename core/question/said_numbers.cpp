#include "core/question/said_numbers.h"

#include <algorithm>

#include "core/json/rounding.h"
#include "core/question/said_languages.h"
#include "core/question/said_words.h"

namespace plimsoll::question {

namespace {

// Which words around a number say what it is. The longest phrase counts.
struct Named {
  std::string_view pointer;
  std::string_view phrase;
  bool before = true;  ///< stands before the number; else behind it
  std::string_view language = {};
};
constexpr std::string_view length = "/training/max_length", batch = "/training/per_device_train_batch_size",
                           eval_batch = "/training/per_device_eval_batch_size", rank = "/peft/r",
                           accumulation = "/training/gradient_accumulation_steps",
                           completion = "/rl/max_completion_length", prompt = "/rl/max_prompt_length",
                           generations = "/rl/num_generations", cards = "/parallel/num_gpus",
                           images_field = "/vision/images_per_sample",
                           sequence_parallel = "/parallel/sequence_parallel_size", samples = "/data/samples",
                           epochs = "/data/epochs";
// DeepSpeed's own names; of other programs the second is a micro-batch.
constexpr std::string_view deepspeed_micro = "train micro batch size per gpu",
                           deepspeed_step = "train batch size";
constexpr Named english[] = {
    {length, "max length"},
    {length, "max seq length"},
    {length, "max seq len"},
    {length, "sequence length"},
    {length, "sequence lengths"},
    {length, "sequence len"},
    {length, "seq length"},
    {length, "seq len"},
    {length, "seqlen"},
    {length, "seq"},
    {length, "len"},
    {length, "sequences up to"},
    {length, "max sequence length"},
    {length, "cutoff len"},
    {length, "cutoff length"},
    {length, "context length"},
    {length, "context size"},
    {length, "context window"},
    {length, "context"},
    {length, "ctx"},
    {length, "model max length"},
    {length, "length"},
    {length, "tokens", false},
    {length, "token", false},
    {length, "ctx", false},
    {length, "context", false},
    {length, "seq", false},
    {length, "sequence", false},
    {length, "sequences", false},
    {batch, "per device train batch size"},
    {batch, "micro batch size"},
    {batch, "batch size per device"},  // Trainer's banner, "instantaneous" before it, and Unsloth's
    {batch, deepspeed_micro},
    {batch, deepspeed_step},
    {effective_batch, "total train batch size w parallel distributed accumulation"},
    {batch, "micro batch"},
    {batch, "batch size"},
    {batch, "batchsize"},
    {batch, "batch"},
    {batch, "bs"},
    {batch, "mbs"},
    {eval_batch, "per device eval batch size"},
    {eval_batch, "eval batch size"},
    {accumulation, "gradient accumulation steps"},
    {accumulation, "gradient accumulation"},
    {accumulation, "grad accumulation"},
    {accumulation, "grad accum"},
    {accumulation, "accumulation steps"},
    {accumulation, "accumulation"},
    {accumulation, "accum"},
    {rank, "lora rank"},
    {rank, "lora r"},
    {rank, "rank"},
    {rank, "r"},
    {completion, "max completion length"},
    {completion, "completion length"},
    {completion, "completions of"},
    {completion, "response length"},
    {completion, "max new tokens"},
    {completion, "completion tokens", false},
    {completion, "completion", false},
    {completion, "response"},
    {input_length, "max input length"},
    {input_length, "input length"},
    {input_length, "max source length"},
    {input_length, "source length"},
    {output_length, "max output length"},
    {output_length, "output length"},
    {output_length, "max target length"},
    {output_length, "target length"},
    {prompt, "max prompt length"},
    {prompt, "prompt length"},
    {prompt, "prompt tokens", false},
    {prompt, "prompt", false},
    {generations, "num generations"},
    {generations, "group size"},
    {generations, "generations", false},
    {generations, "completions per prompt", false},
    {generations, "rollouts per prompt", false},
    {generations, "rollouts", false},
    {images_field, "images", false},
    {images_field, "image", false},
    {samples, "samples", false},
    {samples, "training samples", false},
    {samples, "examples", false},
    {samples, "training examples", false},
    {samples, "rows", false},
    {samples, "conversations", false},
    {epochs, "epochs", false},
    {epochs, "epoch", false},
    {epochs, "epochs"},
    {epochs, "num train epochs"},
    {epochs, "num epochs"},
    {sequence_parallel, "sequence parallel"},
    {sequence_parallel, "sequence parallel size"},
    {sequence_parallel, "sequence parallel degree"},
    {sequence_parallel, "sequence parallelism"},
    {sequence_parallel, "context parallel"},
    {sequence_parallel, "context parallel size"},
    {sequence_parallel, "context parallel degree"},
    {sequence_parallel, "context parallelism"},
    {sequence_parallel, "ulysses"},
    {sequence_parallel, "ulysses size"},
    {sequence_parallel, "ulysses sequence parallel size"},
    {sequence_parallel, "ulysses sequence parallel"},
    {sequence_parallel, "way sequence parallel", false},
    {sequence_parallel, "way sequence parallelism", false},
    {sequence_parallel, "way context parallel", false},
    {sequence_parallel, "way context parallelism", false},
    {sequence_parallel, "way ulysses", false},
    {cards, "num gpus"},
    {cards, "world size"},
    {cards, "gpus", false},
    {cards, "gpu", false},
    {cards, "cards", false},
    {cards, "card", false},
    {cards, "devices", false},
};

struct Meaning {
  Means means;
  std::string_view pointer;
  bool before = true;
};
constexpr Meaning meanings_of_numbers[] = {{Means::length, length}, {Means::tokens, length, false},
                                           {Means::batch, batch},   {Means::accumulation, accumulation},
                                           {Means::rank, rank},     {Means::cards, cards, false}};

const std::vector<Named>& names() {
  static const std::vector<Named> all = [] {
    std::vector<Named> out(std::begin(english), std::end(english));
    for (const Meaning& one : meanings_of_numbers) {
      for (const SaidPhrase& said : phrases_of(one.means))
        out.push_back({one.pointer, said.phrase, one.before, said.language});
    }
    return out;
  }();
  return all;
}

// "on a 3090 seq 2048": what GeForce cards are called is no length.
bool is_card(double value) {
  const int number = static_cast<int>(value);
  return number == value && number >= 1050 && number <= 5090 && number % 10 == 0 && number / 100 % 10 == 0 &&
         number % 100 >= 50;
}

bool is_of_tokens(std::string_view pointer) {
  return pointer == length || pointer == completion || pointer == prompt || pointer == input_length ||
         pointer == output_length;
}

// The largest number that is read as such a setting.
double most_of(std::string_view pointer) {
  if (is_of_tokens(pointer)) return 1e7;
  if (pointer == images_field) return 64;
  if (pointer == samples) return 1e9;
  if (pointer == epochs) return 1000;
  return pointer == cards ? 1024 : 65536;
}

// Data are counted in thousands, lengths in powers of two.
bool is_thousands(std::string_view unit) { return unit.empty() || unit == "k" || unit == "m"; }
double count_of_data(const SaidWord& word) {
  return word.number * (word.unit == "k" ? 1e3 : word.unit == "m" ? 1e6 : 1);
}

// A number that can be what its words say; of tokens "ZeRO-3, sequence length" the 3 cannot.
bool can_be(std::string_view pointer, const SaidWord& word) {
  const double value = word.number;
  if (is_of_tokens(pointer))
    return (word.unit.empty() || word.unit == "k" || word.unit == "ks") &&
           value * (word.unit.empty() ? 1 : 1024) >= 16 && value < most_of(pointer) &&
           !(word.is_bare() && is_card(value));
  // Fewer than that are those of a step: "64 samples at once".
  if (pointer == samples)
    return is_thousands(word.unit) && count_of_data(word) >= 200 && count_of_data(word) <= most_of(pointer);
  if (pointer == images_field) return word.unit.empty() && value >= 1 && value <= most_of(pointer);
  if (pointer == cards)
    return (word.unit.empty() || word.unit == "x") && value >= 1 && value <= most_of(pointer);
  return word.unit.empty() && value >= 1 && value <= most_of(pointer);
}

// What may stand between a name and its number: "a batch size of 8", "length is about 1024". Names that all
// languages use have the fillers of all; "lot de 8" is French, and "a lot of 8" is not.
bool is_filler(const SaidWords& words, std::size_t at, std::string_view language) {
  const std::vector<SaidPhrase>& fillers = phrases_of(Means::filler);
  return std::any_of(fillers.begin(), fillers.end(), [&](const SaidPhrase& one) {
    return (language.empty() || language == one.language) && phrase_at(words, at, one.phrase) > 0;
  });
}

// Of the longest phrase at `at`, how many words it takes.
const Named* longest_at(const SaidWords& words, std::size_t at, bool before, std::size_t& taken) {
  const Named* found = nullptr;
  taken = 0;
  for (const Named& one : names()) {
    if (one.before != before) continue;
    const std::size_t count = phrase_at(words, at, one.phrase);
    if (count > taken || (count > 0 && count == taken && one.phrase.size() > found->phrase.size())) {
      found = &one;
      taken = count;
    }
  }
  return found;
}

// The place of the number behind a name that ends before `at`; words.size(): none.
std::size_t number_behind(const SaidWords& words, std::size_t at, std::string_view language) {
  constexpr std::size_t most_fillers = 3;
  for (std::size_t i = at; i < words.size() && i <= at + most_fillers; ++i) {
    if (i > 0 && words[i - 1].ends) break;
    if (words[i].is_number()) return i;
    if (!is_filler(words, i, language)) break;
  }
  return words.size();
}

// "on a 4090 8k", "Llama 3.1 8B 8192": a power of two of tokens that nothing else claims.
bool is_length_alone(const SaidWords& words, std::size_t at) {
  constexpr std::string_view others[] = {"reso",  "sample", "row",   "example", "step", "image",
                                         "photo", "pixel",  "pair",  "prompt",  "line", "doc",
                                         "data",  "conv",   "epoch", "px",      "mb",   "mib",
                                         "dim",   "hidden", "vocab", "gpu",     "hour", "tok"};
  const auto tokens = json::count_of(words[at].number * (words[at].unit == "k" ? 1024 : 1));
  const bool power = (tokens & (tokens - 1)) == 0 && tokens <= 128 * 1024;
  if (!power || !(words[at].unit == "k" ? tokens >= 1024 : words[at].is_bare() && tokens >= 512))
    return false;
  const auto is_other = [&](std::string_view word) {
    return std::any_of(std::begin(others), std::end(others),
                       [&](std::string_view other) { return word.substr(0, other.size()) == other; });
  };
  // "lenght 4096" is of a name that nobody knows.
  const auto leaves_alone = [](const SaidWord& before) {
    return before.is_number() || before.stops() || before.text == "with" || before.text == "and" ||
           before.text.find_first_of("0123456789") != std::string_view::npos;
  };
  if (words[at].unit != "k" && at > 0 && !leaves_alone(words[at - 1])) return false;
  return at + 1 == words.size() || words[at].ends || !is_other(words[at + 1].text);
}

// "QLoRA of an 8B on a 4090 at 4k", "at 2048"; but no "photos at 4k resolution", no "at 512 steps".
bool is_length_behind_at(const SaidWords& words, std::size_t at) {
  const auto value = json::count_of(words[at].number);
  const bool round = words[at].is_bare() && value >= 256 && value % 256 == 0;
  if (words[at].unit != "k" && !round) return false;
  if (at == 0 || (words[at - 1].text != "at" && words[at - 1].text != "bei")) return false;
  if (at + 1 == words.size() || words[at].ends) return true;
  constexpr std::string_view others[] = {"reso",  "step", "pixel", "px", "x",
                                         "image", "mib",  "gib",   "mb", "gb"};
  return std::none_of(std::begin(others), std::end(others), [&](std::string_view other) {
    return words[at + 1].text.substr(0, other.size()) == other;
  });
}

// "effective batch size", "globale Batchgröße", "总批次大小": the batch of a whole step, and no micro-batch.
bool is_of_a_whole_step(const SaidWords& words, std::size_t at, std::size_t count) {
  for (std::size_t i = at > 2 ? at - 2 : 0; i < at + count; ++i) {
    const bool cut = std::any_of(words.begin() + static_cast<std::ptrdiff_t>(i),
                                 words.begin() + static_cast<std::ptrdiff_t>(at + count - 1),
                                 [](const SaidWord& one) { return one.stops() || one.is_number(); });
    if (cut) continue;
    for (const SaidPhrase& one : phrases_of(Means::whole_step)) {
      if (phrase_at(words, i, one.phrase) > 0) return true;
    }
  }
  return false;
}

// Words at `at` between the two numbers of "rank 64 instead of 16", "from 2k to 8k context", "batch 1 or 4"; 0: none.
std::size_t between_numbers(const SaidWords& words, std::size_t at) {
  if (at < words.size() && words[at].text == "to") return 1;
  return rather_at(words, at);
}

// Whether the number at `at` has a name of its own, or belongs to a card.
bool is_of_another(const SaidWords& words, std::size_t at, std::string_view pointer) {
  if (at + 1 >= words.size() || words[at].stops()) return false;
  std::size_t count = 0;
  const Named* behind = longest_at(words, at + 1, false, count);
  return words[at + 1].is_number() || (behind != nullptr && behind->pointer != pointer);
}

double size_of(std::string_view pointer, const SaidWord& word) {
  if (pointer == samples) return count_of_data(word);
  return word.unit.substr(0, 1) == "k" ? word.number * 1024 : word.number;
}

}  // namespace

std::vector<SaidNumber> numbers_in(const SaidWords& words) {
  std::vector<SaidNumber> found;
  std::vector<std::string_view> taken(words.size());
  const auto take = [&](std::size_t at, std::string_view pointer) {
    if (!taken[at].empty() || !can_be(pointer, words[at])) return false;
    taken[at] = pointer;
    found.push_back({pointer, size_of(pointer, words[at])});
    return true;
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::size_t count = 0;
    if (words[at].is_number()) {
      if (is_length_behind_at(words, at)) take(at, length);
      const Named* behind = words[at].stops() ? nullptr : longest_at(words, at + 1, false, count);
      if (behind != nullptr) take(at, behind->pointer);
      continue;
    }
    const Named* before = longest_at(words, at, true, count);
    if (before == nullptr) continue;
    const std::size_t number = number_behind(words, at + count, before->language);
    const bool of_a_step = before->phrase == deepspeed_step && says(words, deepspeed_micro);
    const bool whole = before->pointer == batch && (of_a_step || is_of_a_whole_step(words, at, count));
    // "sequence length 4096 tokens" is the same number twice; "context 2048 gpus" is none.
    if (number < words.size() && take(number, whole ? effective_batch : before->pointer))
      at = number;
    else
      at += count - 1;
  }
  constexpr std::size_t longest_between = 2;
  const auto take_other = [&](std::size_t at, std::size_t other) {
    const std::string_view pointer = taken[at];
    if (pointer == samples || pointer == epochs) return;
    if (other < words.size() && words[other].is_number() && !is_of_another(words, other, pointer))
      take(other, pointer);
  };
  for (std::size_t at = 0; is_brief(words) && at < words.size(); ++at) {
    if (taken[at].empty() || taken[at] == cards || taken[at] == effective_batch) continue;
    if (const std::size_t count = between_numbers(words, at + 1); count > 0) take_other(at, at + 1 + count);
    for (std::size_t count = 1; count <= longest_between && count < at; ++count) {
      if (between_numbers(words, at - count) == count) take_other(at, at - count - 1);
    }
  }
  const bool open = std::none_of(found.begin(), found.end(),
                                 [](const SaidNumber& one) { return is_of_tokens(one.pointer); });
  for (std::size_t at = 0; open && is_brief(words) && at < words.size(); ++at) {
    if (is_length_alone(words, at)) take(at, length);
  }
  return found;
}

std::vector<std::string> out_of_reach(const SaidWords& words) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::size_t count = 0;
    const Named* named = words[at].is_number() ? nullptr : longest_at(words, at, true, count);
    if (named == nullptr) continue;
    const std::size_t number = number_behind(words, at + count, named->language);
    // "gpu 4090", "images 1024 pixels wide": there a number is a name or of something else.
    const bool counts = named->pointer != cards && named->pointer != images_field;
    if (counts && number < words.size() && words[number].is_bare() &&
        words[number].number > most_of(named->pointer)) {
      std::string text(words[at].text);
      for (std::size_t i = at + 1; i <= number; ++i) text += " " + std::string(words[i].text);
      found.push_back(std::move(text));
    }
    at += count - 1;
  }
  return found;
}

}  // namespace plimsoll::question
