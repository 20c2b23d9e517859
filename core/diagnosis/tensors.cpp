#include "core/diagnosis/tensors.h"

#include <algorithm>
#include <cmath>

#include "core/diagnosis/signs.h"
#include "core/diagnosis/size.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::size_t most_matches = 8;

std::string whole_text(double value) {
  return std::to_string(static_cast<uint64_t>(std::llround(std::max(0.0, value))));
}

std::string leaf_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// What a run is doing when such a tensor is made, and what that says about the run.
struct Meaning {
  std::string phase, implies;
};

Meaning meaning_of_weight(int element, const TextReading& r) {
  const Facts& f = r.facts;
  const bool full = f.method == Method::full;
  if (element == 4) {
    if (r.phase == FailurePhase::optimizer) {
      return {"optimizer", "An fp32 state, master copy or temporary of the optimizer."};
    }
    if (full && (r.phase == FailurePhase::backward || r.phase == FailurePhase::forward)) {
      return {"backward", "An fp32 gradient or gathered weight: parameters are held in fp32."};
    }
    return {"load",
            "The weights are held in fp32, four bytes a parameter: with dtype=\"bfloat16\" they take half. "
            "In full "
            "fine-tuning it may be an fp32 gradient or optimizer state."};
  }
  if (!f.quantization.empty()) {
    return {"forward",
            "The 16-bit copy that a quantised weight is expanded to for one product; it is not kept."};
  }
  if (r.phase == FailurePhase::optimizer)
    return {"optimizer", "A 16-bit state or temporary of the optimizer."};
  if (full && r.phase == FailurePhase::backward) return {"backward", "The gradient of that weight."};
  return {"load", "The weight in 16 bits as it is put on the card, or its gradient."};
}

Meaning meaning_of(TensorKind kind, int element, const TextReading& r) {
  switch (kind) {
    case TensorKind::weight:
      return meaning_of_weight(element, r);
    case TensorKind::embedding:
      if (element == 4 && !r.facts.quantization.empty()) {
        return {"load", "The preparation for k-bit training casts embedding and head to fp32."};
      }
      if (element == 4)
        return {"load", "Embedding or head in fp32: the model is held in fp32, or its gradient is."};
      return {"load", "Embedding or head in 16 bits."};
    case TensorKind::layer:
      return {"backward", "All parameters of one layer in one piece: a unit that FSDP or ZeRO gathers."};
    case TensorKind::model:
      return {"load",
              "All parameters in one piece: a flat buffer of DeepSpeed, or a second copy while loading."};
    case TensorKind::partition:
      return {"optimizer",
              "A card's share of all parameters in one flat piece: DeepSpeed's fp32 master copy, state or "
              "temporary."};
    case TensorKind::logits:
      return {"loss", "Logits are whole: a fused or chunked loss makes none of them."};
    case TensorKind::scores:
      return {"forward",
              "Attention scores are kept: eager attention; sdpa or flash attention make none of them."};
    case TensorKind::activation:
      return {"forward", "It grows with every token of the micro-batch."};
  }
  return {};
}

std::string dtype_text(int element) {
  if (element == 4) return "fp32";
  return "16-bit";
}

// How well a kind agrees with the phase, before any other knowledge.
double prior(TensorKind kind, const TextReading& r) {
  const bool loss = r.phase == FailurePhase::loss || r.frames.shows("logits");
  const bool loading = r.phase == FailurePhase::load || r.phase == FailurePhase::merge;
  switch (kind) {
    case TensorKind::weight:
      return loss ? 1.0 : 3.0;
    case TensorKind::embedding:
      return loss ? 1.5 : loading ? 2.7 : 1.8;
    case TensorKind::partition:
      return loss ? 1.0 : 3.4;
    case TensorKind::logits:
      return loss ? 5.0 : loading ? -2.0 : 2.8;
    case TensorKind::scores:
      return r.frames.shows("attention") ? 5.0 : loading ? -2.0 : 2.0;
    case TensorKind::layer:
      return r.facts.several() ? 2.6 : 1.0;
    case TensorKind::model:
      return loading ? 3.0 : 1.0;
    case TensorKind::activation:
      return loading ? -2.0 : 2.0;
  }
  return 0;
}

void join(std::string& list, const std::string& word, const char* between) {
  constexpr std::size_t longest = 160;
  if (word.empty() || list.size() + word.size() > longest || list.find(word) != std::string::npos) return;
  list += (list.empty() ? "" : between) + word;
}

class Search {
 public:
  Search(const Window& window, double tried, const TextReading& reading)
      : w_(window), tried_(tried), r_(reading) {}

  std::vector<Match> found;

  /// `elements` of any of the sizes in `sizes`.
  void try_tensor(TensorKind kind, double elements, const std::string& what, const std::string& model,
                  std::initializer_list<int> sizes = {2, 4}) {
    for (const int size : sizes) {
      const double bytes = elements * size;
      const bool close = w_.holds(bytes);
      if (!close && (bytes < w_.loose || bytes > w_.high)) continue;
      add(kind, size, bytes, what, model, close ? 0 : -1.5);
    }
  }

  /// A size that some number of `unit` elements explains, when that number is a round one: a batch times a
  /// length, both chosen by a person. 11 x 1024 is a coincidence of a 2 MiB step.
  void try_multiple(TensorKind kind, double unit, double multiple_of, const char* unit_name,
                    const std::string& what, const std::string& model) {
    for (const int size : {4, 2}) {
      const double most = std::floor(w_.high / (unit * size));
      const double round = std::floor(most / multiple_of) * multiple_of;
      if (round < multiple_of || round * unit * size < w_.low || !is_chosen(round / multiple_of)) continue;
      add(kind, size, round * unit * size, what + " of " + whole_text(round) + unit_name, model,
          std::fmod(round, 1024) == 0 ? -0.5 : -1.0);
      found.back().guessed = found.back().kind == kind;
    }
  }

  /// The same size of the same kind is one answer: several names of weights, several models.
  void add(TensorKind kind, int size, double bytes, const std::string& what, const std::string& model,
           double bonus) {
    for (Match& known : found) {
      if (known.kind != kind || known.element != size || known.bytes != bytes) continue;
      join(known.what, what, " or ");
      join(known.model, model, ", ");
      return;
    }
    const Meaning meaning = meaning_of(kind, size, r_);
    found.push_back({kind, model, what, dtype_text(size), meaning.phase, meaning.implies, size, bytes,
                     tried_ - bytes, prior(kind, r_) + bonus});
  }

 private:
  Window w_;
  double tried_;
  const TextReading& r_;
};

std::string shape(uint64_t rows, uint64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

void search_parameters(Search& search, const model::Architecture& network, const std::string& model) {
  for (const model::PlacedLinear& placed : model::linears(network)) {
    const model::Linear& linear = *placed.linear;
    const double elements = static_cast<double>(linear.in) * static_cast<double>(linear.out);
    const bool head = linear.role == model::Role::head;
    search.try_tensor(
        head ? TensorKind::embedding : TensorKind::weight, elements,
        (head ? "the head " : "the weight of ") + leaf_of(linear.path) + ", " + shape(linear.out, linear.in),
        model);
    if (linear.expert && linear.count > 1) {
      search.try_tensor(TensorKind::weight, elements * static_cast<double>(linear.count),
                        "all " + std::to_string(linear.count) + " experts' " + leaf_of(linear.path) + ", " +
                            shape(linear.out, linear.in) + " each",
                        model);
    }
  }
  for (const model::Stack& stack : network.stacks) {
    for (const model::Table& table : stack.tables) {
      search.try_tensor(
          TensorKind::embedding, static_cast<double>(table.rows) * static_cast<double>(table.width),
          "the embedding " + leaf_of(table.path) + ", " + shape(table.rows, table.width), model);
    }
    for (const model::LayerGroup& group : stack.groups) {
      search.try_tensor(TensorKind::layer, static_cast<double>(model::parameter_count(group)),
                        "all parameters of one of the " + group.name, model);
    }
  }
  search.try_tensor(TensorKind::model, static_cast<double>(model::parameter_count(network)),
                    "all parameters of the model", model);
}

// What DeepSpeed's ZeRO makes for each card: all parameters by the number of cards, flat
// (runtime/zero/stage_1_and_2.py: single_partition_of_fp32_groups and the step's temporaries).
void search_partitions(Search& search, const model::Architecture& network, const Facts& facts) {
  if (!facts.several() || facts.method != Method::full) return;
  const double cards = *facts.gpus;
  search.try_tensor(TensorKind::partition, static_cast<double>(model::parameter_count(network)) / cards,
                    "all parameters by " + whole_text(cards) + " cards", "", {4});
}

// What grows with the tokens of a micro-batch whose size is known.
void search_activations(Search& search, const model::Architecture& network, const Facts& facts) {
  const model::LayerGroup* layers = text_layers(network);
  if (layers == nullptr || !facts.batch || !facts.length) return;
  const double batch = *facts.batch * task_of(facts).rows, length = *facts.length;
  const double tokens = batch * length;
  const auto vocabulary = static_cast<double>(network.vocab_size);
  const std::string of = " of " + whole_text(tokens) + " tokens";
  search.try_tensor(TensorKind::logits, tokens * vocabulary, "the logits" + of, "");
  search.try_tensor(TensorKind::logits, (tokens - batch) * vocabulary,
                    "the shifted logits of " + whole_text(tokens - batch) + " tokens", "");
  search.try_tensor(TensorKind::scores, batch * static_cast<double>(layers->heads) * length * length,
                    "attention scores, " + whole_text(batch) + " x " + std::to_string(layers->heads) +
                        " heads x " + whole_text(length) + "^2",
                    "");
  search.try_tensor(TensorKind::activation, tokens * static_cast<double>(layers->intermediate),
                    "an activation of the MLP" + of, "");
  search.try_tensor(TensorKind::activation, tokens * static_cast<double>(network.stacks.front().hidden),
                    "hidden states" + of, "");
}

// What batch and length leave open: numbers of tokens that people choose. Of a length that is said only the
// batch is open.
void search_round_lengths(Search& search, const model::Architecture& network, const Facts& facts,
                          const std::string& model) {
  if (network.vocab_size > 1000) {
    search.try_multiple(TensorKind::logits, static_cast<double>(network.vocab_size), 256, " tokens", "logits",
                        model);
  }
  const model::LayerGroup* layers = text_layers(network);
  if (layers == nullptr || layers->heads == 0) return;
  const auto try_scores = [&](double batch, double length) {
    search.try_tensor(TensorKind::scores, batch * static_cast<double>(layers->heads) * length * length,
                      "attention scores, " + (batch > 1 ? whole_text(batch) + " x " : "") +
                          std::to_string(layers->heads) + " heads x " + whole_text(length) + "^2",
                      model);
  };
  if (facts.length) {
    for (double batch = 1; batch <= 64; batch *= 2) try_scores(batch, *facts.length);
  } else {
    for (double length = 1024; length <= 65536; length += 1024) try_scores(1, length);
  }
  for (Match& match : search.found) match.guessed = match.guessed || match.kind == TensorKind::scores;
}

}  // namespace

double odd_part(double count) {
  while (count >= 2 && std::fmod(count, 2) == 0) count /= 2;
  return count;
}

bool is_chosen(double count) {
  const double odd = odd_part(count);
  return odd == 1 || odd == 3 || odd == 5;
}

const model::LayerGroup* text_layers(const model::Architecture& network) {
  const model::Stack* text = network.stacks.empty() ? nullptr : &network.stacks.front();
  return text == nullptr || text->groups.empty() ? nullptr : &text->groups.front();
}

Window window_of(const Size& tried, MessageKind kind) {
  Window w;
  if (kind != MessageKind::allocator) {
    w.low = w.loose = tried.bytes - std::max(tried.half, 256.0);
    w.high = tried.bytes + tried.half;
    return w;
  }
  if (tried.bytes <= 20 * mebibyte) return w;
  w.high = tried.bytes + tried.half;
  w.low = tried.bytes - tried.half - 2 * mebibyte + 512;
  w.loose = w.low - 2 * mebibyte;
  return w;
}

std::vector<Match> tensors_of_size(const Size& tried, const Situation& situation,
                                   const TextReading& reading) {
  const Message* message = reading.message();
  if (message == nullptr || message->numbers.at_least) return {};
  const MessageKind kind = message->family->kind;
  if (kind == MessageKind::host || kind == MessageKind::library) return {};
  const Window window = window_of(tried, kind);
  if (window.empty()) return {};
  Search search(window, tried.bytes, reading);
  if (situation.network != nullptr) {
    search_parameters(search, *situation.network, "");
    search_partitions(search, *situation.network, reading.facts);
    search_activations(search, *situation.network, reading.facts);
    if (!reading.facts.batch || !reading.facts.length)
      search_round_lengths(search, *situation.network, reading.facts, "");
  } else if (!reading.facts.images_alone) {
    for (const KnownModel& known : situation.models) {
      search_parameters(search, *known.network, known.id);
      if (reading.phase == FailurePhase::loss || reading.frames.shows("logits")) {
        search_round_lengths(search, *known.network, reading.facts, known.id);
      }
    }
  }
  // A table of the vocabulary is there whatever the length; that just as many tokens were in a batch as the
  // model is wide would be chance. In fp32 a frozen table is not: only trained ones are held or summed so.
  const bool frozen = reading.facts.method == Method::adapters;
  const auto is_table = [&](const Match& one) {
    return std::any_of(search.found.begin(), search.found.end(), [&](const Match& other) {
      return other.kind == TensorKind::embedding && other.model == one.model && other.bytes == one.bytes;
    });
  };
  const bool loss = reading.phase == FailurePhase::loss || reading.frames.shows("logits");
  for (Match& match : search.found) {
    const bool held = match.element == 2 || !frozen;
    if (!loss && held && match.guessed && match.kind == TensorKind::logits && is_table(match))
      match.rank -= 1.5;
  }
  // Of tensors of the run's own model the nearer one; of proposed models the one more often trained, as it
  // was found.
  std::stable_sort(search.found.begin(), search.found.end(), [](const Match& a, const Match& b) {
    if (a.rank != b.rank) return a.rank > b.rank;
    return a.model.empty() && b.model.empty() && std::fabs(a.off) < std::fabs(b.off);
  });
  if (search.found.size() > most_matches) search.found.resize(most_matches);
  return std::move(search.found);
}

}  // namespace plimsoll::diagnosis
