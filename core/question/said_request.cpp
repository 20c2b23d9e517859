#include "core/question/said_request.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/diagnosis/facts_said.h"
#include "core/diagnosis/sentence.h"
#include "core/exchange/versions.h"
#include "core/json/ascii.h"
#include "core/json/rounding.h"
#include "core/question/inference.h"
#include "core/question/said_asked.h"
#include "core/question/said_cards.h"
#include "core/question/said_config.h"
#include "core/question/said_languages.h"
#include "core/question/said_log.h"
#include "core/question/said_methods.h"
#include "core/question/said_numbers.h"
#include "core/question/said_stack.h"
#include "core/question/said_switches.h"
#include "core/question/said_targets.h"
#include "core/run/model_names.h"

namespace plimsoll::question {

namespace {

using diagnosis::says_any;

// "Images of 1024x768, 3 per sample."
void count_images(const SaidWords& words, SaidRequest& out) {
  constexpr double most = 64;
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    const bool counts = words[at].is_bare() && words[at].number >= 1 && words[at].number <= most;
    if (counts && phrase_at(words, at + 1, Means::each) > 0)
      out.values["/vision/images_per_sample"] = json::count_of(words[at].number);
  }
}

// "1280x720": a size of images, where images are spoken of.
void read_images(const SaidWords& words, SaidRequest& out) {
  const bool images = std::any_of(words.begin(), words.end(), [](const SaidWord& word) {
    return word.text.substr(0, 5) == "image" || word.text.substr(0, 5) == "photo" ||
           word.text == "resolution" || word.text.substr(0, 5) == "pixel";
  });
  if (images) count_images(words, out);
  for (const SaidWord& word : words) {
    if (!images || !word.is_number() || word.unit.size() < 3 || word.unit.front() != 'x') continue;
    const SaidWords behind = split(word.unit.substr(1));
    if (behind.size() != 1 || !behind.front().is_bare() || word.number < 28 || behind.front().number < 28)
      continue;
    out.values["/vision/image_size"] = json::count_of(word.number);
    out.values["/vision/image_height"] = json::count_of(behind.front().number);
    return;
  }
}

// "Effective batch 64, accumulation 16, 4 GPUs": a micro-batch of 1. Where no accumulation is said, it takes what
// the cards and the micro-batch leave over.
void share_out_the_batch(double effective, double said_cards, SaidRequest& out) {
  constexpr const char *micro = "/training/per_device_train_batch_size",
                       *steps = "/training/gradient_accumulation_steps";
  const auto number = [&](const char* pointer) {
    const auto found = out.values.find(pointer);
    return found == out.values.end() ? 0.0 : found->second.get<double>();
  };
  if (out.cards.size() > 1 || out.weighed.count(micro) != 0 || out.weighed.count(steps) != 0) return;
  const double cards = std::max({1.0, said_cards, number("/parallel/num_gpus")});
  const double batch = number(micro), accumulated = number(steps);
  const double rest = effective / cards / std::max(1.0, batch) / std::max(1.0, accumulated);
  if (batch > 0 && accumulated > 0) return;
  if (rest >= 1 && rest == std::floor(rest)) {
    out.values[accumulated > 0 ? micro : steps] = json::count_of(rest);
  } else {
    out.unread.push_back("an effective batch of " + std::to_string(json::count_of(effective)) +
                         ", which does not divide evenly");
  }
}

// "max_input_length 2048, max_output_length 512": a sample is both, one behind the other.
void join_parts(std::map<std::string, std::vector<json::Json>>& said) {
  double sum = 0;
  for (const std::string_view part : {input_length, output_length}) {
    const auto found = said.find(std::string(part));
    if (found == said.end()) continue;
    if (found->second.size() == 1) sum += found->second.front().get<double>();
    said.erase(found);
  }
  std::vector<json::Json>& lengths = said["/training/max_length"];
  if (sum > 0 && lengths.empty()) lengths.push_back(json::count_of(sum));
}

// A number that is said once is the run's; of several, "dies with batch 4, runs with batch 2", none is.
void read_numbers(const SaidWords& words, SaidRequest& out) {
  std::map<std::string, std::vector<json::Json>> said;
  std::vector<json::Json> named;
  for (const SaidNumber& found : numbers_in(words)) {
    std::vector<json::Json>& values = said[std::string(found.pointer)];
    const json::Json value = json::count_of(found.value);
    named.push_back(value);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  join_parts(said);
  for (std::string& text : out_of_reach(words)) out.unread.push_back(std::move(text));
  // "Works at 2048, dies at 4096": two round numbers of nothing else are lengths.
  std::vector<json::Json>& lengths = said["/training/max_length"];
  if (lengths.empty()) {
    for (const SaidWord& word : words) {
      const auto count = json::count_of(word.number);
      const bool round = word.is_bare() && count >= 512 && count <= (1U << 20U) && count % 512 == 0;
      const auto is_in = [count](const std::vector<json::Json>& values) {
        return std::find(values.begin(), values.end(), json::Json(count)) != values.end();
      };
      if (round && !is_in(lengths) && !is_in(named)) lengths.push_back(count);
    }
    if (lengths.size() != 2) said.erase("/training/max_length");
  }
  const auto one_of = [&](std::string_view pointer) {
    const auto found = said.find(std::string(pointer));
    return found == said.end() || found->second.size() != 1 ? 0.0 : found->second.front().get<double>();
  };
  const double effective = one_of(effective_batch), counted = one_of("/parallel/num_gpus");
  for (auto& [pointer, values] : said) {
    if (pointer == "/parallel/num_gpus" || pointer == effective_batch) continue;  // see read_cards
    if (pointer.substr(0, 5) == "/peft" && out.values.count("/peft") == 0) continue;
    if (pointer.substr(0, 5) == "/data" && values.size() != 1) continue;
    if (pointer.substr(0, 3) == "/rl" && out.values.count("/task") == 0) continue;
    if (values.size() == 1) {
      out.values[pointer] = values.front();
    } else {
      out.weighed[pointer] = std::move(values);
    }
  }
  if (effective > 0) share_out_the_batch(effective, counted, out);
}

// A model that sees is shown no images.
void read_text_only(const SaidWords& words, SaidRequest& out) {
  if (says(words, Means::text_only)) out.values["/vision/images_per_sample"] = uint64_t{0};
}

// "24GB but only 22 free": what other programs hold of the one card that is spoken of. Messages and logs have figures
// of their own for it.
void read_in_use(const SaidWords& words, SaidRequest& out) {
  constexpr double gibibyte = 1U << 30U;
  if (!is_brief(words) || out.cards.size() > 1) return;
  const double size =
      out.cards.empty() ? out.card_bytes / gibibyte : static_cast<double>(out.cards.front().gpu->tier_gib);
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    std::size_t next = at + 1;
    const double left = words[at].is_bare() ? words[at].number : 0;
    const double free = std::max(left, gibibytes_at(words, at, next));
    if (next >= words.size() || words[next - 1].stops() || phrase_at(words, next, Means::free) == 0) continue;
    // Half of a card is seldom taken by a desktop; "4 left" may be anything.
    if (free < size && free > size / 2) out.values["/hardware/in_use_gib"] = size - free;
  }
}

// "a 13B", where no model is named: its size in billions.
double parameters_in(const SaidWords& words) {
  for (const SaidWord& word : words) {
    if (word.is_number() && word.unit == "b" && word.number >= 0.1 && word.number <= 1000) return word.number;
  }
  return 0;
}

// Of the models that are called so large, the one whose shapes most others have.
const run::ModelEntry* usual_model(double billions, const run::Catalog& catalog) {
  const run::ModelEntry* found = nullptr;
  if (billions == 0) return found;
  for (const run::ModelEntry& entry : catalog.models) {
    const double size = static_cast<double>(entry.preset.parameters) / 1e9;
    const bool alike =
        entry.network.kind == model::NetworkKind::decoder && std::abs(size / billions - 1) < 0.09;
    if (alike && (found == nullptr || entry.preset.same_shapes.size() > found->preset.same_shapes.size()))
      found = &entry;
  }
  return found;
}

// "The biggest model that fits", "which models can I train".
bool asks_for_a_model(const SaidWords& words) {
  const bool most = says(words, "biggest") || says(words, "largest") || says(words, "max");
  if (most && (says(words, "model") || says(words, "llm"))) return true;
  return says(words, Means::which_model);
}

// "How many H100s", "wie viele Karten", "几张": and neither how many tokens nor samples.
bool asks_for_a_count(const SaidWords& words, const run::Catalog& catalog) {
  for (std::size_t at = 0; at < words.size() && is_brief(words); ++at) {
    if (phrase_at(words, at, Means::how_many_cards) > 0) return true;
    const std::size_t next = at + phrase_at(words, at, Means::how_many);
    if (next == at || next >= words.size()) continue;
    const std::string_view what = words[next].text;
    for (const SaidPhrase& card : phrases_of(Means::card)) {
      if (what.starts_with(card.phrase)) return true;
    }
    if (!cards_called(what, catalog).empty()) return true;
  }
  return false;
}

void name_the_unknown(const run::Catalog& catalog, SaidRequest& out) {
  const auto miss = [&](const char* pointer, const char* what) {
    if (out.values.count(pointer) == 0 && out.weighed.count(pointer) == 0)
      out.unknown.push_back({pointer, what});
  };
  if (out.model.empty()) out.unknown.push_back({"/model", "which model"});
  if (!out.method) out.unknown.push_back({"/peft", "whether adapters or all weights are trained"});
  if (out.cards.size() < 2) miss("/hardware/gpu", "the card (and of an A100 or V100 its size)");
  if (out.cards.size() < 2) miss("/parallel/num_gpus", "how many cards");
  miss("/training/max_length", "the length of a sample in tokens");
  miss("/training/per_device_train_batch_size", "the micro-batch");
  const run::ModelEntry* entry = out.model.empty() ? nullptr : catalog.find_model(out.model);
  if (entry == nullptr || entry->network.image.rule == model::ImageTokens::Rule::none) {
    out.values.erase("/vision/images_per_sample");  // of a text model they are its data's
    return;
  }
  miss("/vision/images_per_sample", "how many images a sample has");
  const auto images = out.values.find("/vision/images_per_sample");
  const bool none = images != out.values.end() && images->second == json::Json(0);
  if (entry->network.image.size_matters() && !none)
    miss("/vision/image_size", "the size of its images in pixels");
}

// BERT and its like are trained whole where nobody says otherwise.
bool is_encoder(const std::string& model, const run::Catalog& catalog) {
  const run::ModelEntry* entry = run::find_by_name(catalog, model).entry;
  return !model.empty() && entry != nullptr && entry->network.kind == model::NetworkKind::encoder;
}

bool guesses_words(const SaidWords& words) {
  return says(words, "mlm") || says(words, "mask*") || says(words, "fill mask") || says(words, "pretrain*");
}

// "r=256" and "packing=True" may stand in a line that says a run; "model = load(...)" and "model=load(...)" are code.
bool assigns(std::string_view text) {
  for (std::size_t at = text.find('='); at != std::string_view::npos; at = text.find('=', at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && ascii::is_word(text[end])) ++end;
    const bool calls = end < text.size() && (text[end] == '(' || text[end] == '[');
    if (at == 0 || !ascii::is_word(text[at - 1]) || end == at + 1 || calls) return true;
  }
  return false;
}

}  // namespace

bool asks(std::string_view folded) {
  std::vector<std::string_view> marks = {"?", "？"};
  for (const SaidPhrase& one : phrases_of(Means::asks)) marks.push_back(one.phrase);
  for (const std::string_view mark : marks) {
    for (std::size_t at = folded.find(mark); at != std::string_view::npos;
         at = folded.find(mark, at + mark.size())) {
      const std::string_view said = diagnosis::sentence_around(folded, at, mark.size(), 160);
      const auto blanks = std::count(said.begin(), said.end(), ' ');
      const bool chinese = static_cast<unsigned char>(mark.front()) > 127;
      // "r=16" may stand in a question; a line of code is short.
      const bool code = says_any(said, {"://", "#", "{"}) || (says_any(said, {"="}) && blanks < 6);
      if (!code && (chinese || blanks >= 2)) return true;
    }
  }
  // A line and no more than that, whose mark was left out.
  constexpr std::size_t longest_line = 200;
  const std::string_view line = ascii::trim(folded);
  return line.size() <= longest_line && line.find_first_of("\n{=") == std::string_view::npos &&
         diagnosis::opens_a_question(line);
}

bool has_subject(const SaidRequest& said) {
  return !said.model.empty() || !said.like.empty() || (said.any_model && !said.cards.empty());
}

bool states_a_run(const SaidRequest& said) {
  return !said.model.empty() && said.method && (!said.cards.empty() || said.card_bytes > 0);
}

bool tells_of_a_failure(std::string_view folded) {
  const std::vector<SaidPhrase>& parts = phrases_of(Means::fails);
  return std::any_of(parts.begin(), parts.end(), [folded](const SaidPhrase& part) {
    return folded.find(part.phrase) != std::string_view::npos;
  });
}

bool tells(const SaidRequest& said, std::string_view text) {
  constexpr std::size_t longest_line = 300;
  const bool line = text.size() <= longest_line &&
                    text.find_first_of("\n{") >= text.find_last_not_of(" \n\r") && !assigns(text);
  const bool how = said.method || said.values.count("/task") != 0;
  return line && has_subject(said) && (how || !said.cards.empty() || said.card_bytes > 0);
}

json::Json SaidRequest::request() const {
  json::Json out = exchange::nest(values);
  if (!model.empty()) out["model"] = model;
  if (config.is_object()) out["model"] = {{"config", config}, {"name", model}};
  // All weights: left out, nobody has said it.
  if (method && !out.contains("peft")) out["peft"] = nullptr;
  return out;
}

bool SaidRequest::leaves_open(std::string_view pointer) const {
  return std::any_of(unknown.begin(), unknown.end(),
                     [&](const run::Missing& one) { return one.pointer == pointer; });
}

bool SaidRequest::shares_the_card() const {
  const auto mode = values.find("/rl/vllm_mode");
  return mode != values.end() && mode->second == json::Json("colocate");
}

SaidRequest said_in(std::string_view text, const run::Catalog& catalog) {
  std::optional<SaidConfig> pasted = config_in(text);
  if (!pasted) return said_request(diagnosis::clean(text), catalog);
  SaidRequest out = said_request(diagnosis::clean(pasted->rest), catalog);
  out.model = std::move(pasted->name);
  out.config = std::move(pasted->config);
  out.any_model = false;
  std::erase_if(out.unknown, [](const run::Missing& one) { return one.pointer == "/model"; });
  return out;
}

SaidRequest said_request(const diagnosis::Text& text, const run::Catalog& catalog) {
  SaidRequest out;
  const SaidWords words = split(std::string_view(text.folded_lines).substr(0, longest_said));
  out.model = model_in(text.lines, catalog);
  if (out.model.empty()) {
    out.unknown_model = unknown_model_in(text.lines, catalog);
    out.billions = parameters_in(words);
    if (const run::ModelEntry* like = usual_model(out.billions, catalog)) out.like = like->preset.hf_id;
    out.any_model = out.like.empty() && asks_for_a_model(words);
  }
  read_cards(text, catalog, out);
  out.asks_how_many = !out.cards.empty() && asks_for_a_count(words, catalog);
  diagnosis::Text own = text;
  own.folded_lines = without_addresses(text.folded_lines);
  const SaidWords own_words = split(std::string_view(own.folded_lines).substr(0, longest_said));
  read_method(own, own_words, out);
  if (out.methods.empty() && is_encoder(out.model, catalog)) out.methods = {Method::full};
  read_targets(own.folded_lines, own_words, catalog, out);
  read_task(text, words, out);
  // What encoders are not trained for unless somebody says so (core/run/usual.h).
  if (out.values.count("/task") == 0 && is_encoder(out.model, catalog) && guesses_words(words))
    out.values["/task"] = "sft";
  read_strategy(words, out);
  read_offload(words, out);
  read_switches(words, out);
  read_stack(text.folded_lines, words, out);
  out.model_parallel = diagnosis::divides_the_model(text);
  if (out.values.count("/stack") != 0) {
    if (std::string release = exchange::unsloth_release(text.lines); !release.empty())
      out.values["/versions/unsloth"] = std::move(release);
  }
  read_precision(own_words, out);
  read_optimizer(own, own_words, out);
  read_images(words, out);
  read_text_only(words, out);
  read_numbers(words, out);
  read_in_use(words, out);
  read_settings(std::string_view(text.lines).substr(0, longest_said), out);
  read_asked(words, out);
  out.inference = asks_of_inference(words, out);
  read_log(words, catalog, out);
  name_the_unknown(catalog, out);
  return out;
}

}  // namespace plimsoll::question
