#include <algorithm>

#include "core/json/ascii.h"
#include "core/question/said_methods.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::question {

namespace {

constexpr std::size_t longest_asked = 60;

using Parts = std::vector<std::string_view>;

Parts id_parts(std::string_view id) {
  Parts parts;
  while (!id.empty()) {
    const std::size_t end = std::min(id.find('_'), id.size());
    parts.push_back(id.substr(0, end));
    id.remove_prefix(std::min(end + 1, id.size()));
  }
  return parts;
}

// What says how an optimizer is built, and not which one it is.
bool is_common(std::string_view part) {
  constexpr std::string_view common[] = {"paged", "torch", "bnb",  "hf",        "apex", "fused",
                                         "for",   "loop",  "8bit", "4bit",      "fp8",  "32bit",
                                         "none",  "free",  "step", "layerwise", "adam", "momentum"};
  return std::find(std::begin(common), std::end(common), part) != std::end(common);
}

std::string_view optimizer_part(std::string_view word) { return word == "adam" ? "adamw" : word; }

bool names_an_optimizer(std::string_view word) {
  const std::string_view part = optimizer_part(word);
  if (is_common(part)) return false;
  return std::any_of(recipe::optimizers().begin(), recipe::optimizers().end(), [&](const auto& row) {
    const Parts parts = id_parts(row.id);
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  });
}

bool is_of_bits(const SaidWords& words, std::size_t at, double bits) {
  if (words[at].number != bits) return false;
  return words[at].unit == "bit" || (words[at].is_bare() && phrase_at(words, at + 1, "bit") > 0);
}

// How well an optimizer's name is said around the word at `at`: its parts, less those that are not there.
int likeness_of(std::string_view id, const SaidWords& words, std::size_t at, bool eight) {
  const std::size_t first = at > 3 ? at - 3 : 0, end = std::min(words.size(), at + 4);
  int like = 0;
  const Parts parts = id_parts(id);
  if (std::find(parts.begin(), parts.end(), optimizer_part(words[at].text)) == parts.end()) return 0;
  for (const std::string_view part : parts) {
    // "QLoRA in 4 bits with AdamW" has them of its base.
    bool said = part == "8bit" && eight;
    for (std::size_t i = first; i < end && part != "4bit" && part != "fp8"; ++i)
      said = said || optimizer_part(words[i].text) == part || (part == "32bit" && is_of_bits(words, i, 32)) ||
             (part == "torch" && words[i].text == "torchao");
    if (part == "paged") said = says(words, part);
    like += said ? 2 : part == "32bit" ? 0 : -1;
  }
  return like;
}

std::string_view optimizer_at(const SaidWords& words, std::size_t at, bool eight) {
  std::string_view found;
  int best = 0;
  for (const recipe::Optimizer& row : recipe::optimizers()) {
    const int like = likeness_of(row.id, words, at, eight);
    if (like > best) {
      found = row.id;
      best = like;
    }
  }
  return found;
}

// "The Sophia optimizer": a name that no row has.
void read_unknown_optimizer(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out) {
  for (std::size_t at = 1; at < words.size() && words.size() <= longest_asked; ++at) {
    if (!words[at].text.starts_with("optimi") || words[at - 1].stops()) continue;
    const std::string_view name = as_written(text, words[at - 1]);
    const bool proper = name.size() > 2 && name.front() >= 'A' && name.front() <= 'Z';
    const bool mine = names_an_optimizer(words[at - 1].text) || is_common(words[at - 1].text) ||
                      words[at - 1].text == "deepspeed" || words[at - 1].text == "cpu";
    if (proper && !mine && affirms_at(words, at - 1))
      out.unread.push_back("the optimizer " + std::string(name));
  }
}

// GaLore and APOLLO project the gradients of the layers that they are told of.
void set_optimizer(const std::string& id, SaidRequest& out) {
  out.values["/training/optim"] = id;
  const recipe::Optimizer* known = recipe::find_optimizer(id);
  if (known == nullptr || known->projection == recipe::Projection::none) return;
  out.values.emplace("/training/optim_target_modules", "all-linear");
  if (out.method) return;
  out.method = true;
  out.methods.emplace_back("Full fine-tuning");
}

bool weighs_types(const SaidWords& words, std::size_t at) {
  constexpr std::string_view between[] = {"or", "vs", "versus", "oder", "还是"};
  const auto is_between = [&](std::size_t i) {
    return i < words.size() &&
           std::find(std::begin(between), std::end(between), words[i].text) != std::end(between);
  };
  return is_between(at + 1) || (at > 0 && is_between(at - 1));
}

// "fp32", "32-bit", "full precision": of the weights, where no optimizer, gradient or loss stands behind it.
std::size_t wide_weights(const SaidWords& words) {
  constexpr std::string_view others[] = {"optim", "state", "adam", "lion",   "grad", "logit", "accum",
                                         "loss",  "norm",  "redu", "moment", "head", "adapt", "comput"};
  const auto is_other = [&](std::size_t i) {
    return i < words.size() && std::any_of(std::begin(others), std::end(others), [&](std::string_view stem) {
             return words[i].text.starts_with(stem);
           });
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::size_t count = is_of_bits(words, at, 32) ? words[at].is_bare() ? 2 : 1 : 0;
    for (const std::string_view name : {"fp32", "float32", "full precision", "single precision",
                                        "volle genauigkeit", "einfache genauigkeit", "全精度", "单精度"})
      count = std::max(count, phrase_at(words, at, name));
    if (count == 0 || !affirms_at(words, at)) continue;
    const bool before = at > 0 && is_other(at - 1) && !words[at - 1].stops();
    const bool behind = is_other(at + count) && !words[at + count - 1].stops();
    if (!before && !behind) return at;
  }
  return words.size();
}

// "bf16 mixed precision", "AMP": autocast over weights in fp32.
bool mixes_types(const SaidWords& words) {
  constexpr std::string_view names[] = {"mixed precision", "amp",
                                        "autocast",        "混合精度",
                                        "混合 精度",       "混合精密度",
                                        "혼합 정밀도",     "precisión mixta",
                                        "précision mixte", "precisione mista",
                                        "precisão mista",  "gemischte* genauigkeit"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](std::string_view name) { return affirms(words, name); });
}

}  // namespace

EightBits eight_bits(const SaidWords& words) {
  EightBits found;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (!is_of_bits(words, at, 8) && words[at].text != "int8") continue;
    bool optimizer = false;
    for (std::size_t near = at > 2 ? at - 2 : 0; near < std::min(words.size(), at + 4); ++near) {
      const std::string_view word = words[near].text;
      optimizer = optimizer || names_an_optimizer(word) || word.starts_with("optim") || word == "paged" ||
                  word == "states";
    }
    (optimizer ? found.optimizer : found.base) = true;
  }
  return found;
}

bool affirms_at(const SaidWords& words, std::size_t at) {
  const SaidWords here(words.begin() + static_cast<std::ptrdiff_t>(at > 1 ? at - 2 : 0),
                       words.begin() + static_cast<std::ptrdiff_t>(std::min(words.size(), at + 3)));
  return affirms(here, words[at].text);
}

std::string_view as_written(const diagnosis::Text& text, const SaidWord& word) {
  const auto at = static_cast<std::size_t>(word.text.data() - text.folded_lines.data());
  return std::string_view(text.lines).substr(at, word.text.size());
}

void read_precision(const SaidWords& words, SaidRequest& out) {
  if (words.size() > longest_asked) return;
  const bool bf16 = affirms(words, "bf16") || affirms(words, "bfloat16");
  const bool fp16 = affirms(words, "fp16") || affirms(words, "float16");
  const std::size_t wide = wide_weights(words);
  const bool packed = out.values.count("/quantization/load_in_4bit") != 0;
  if (wide < words.size() && (bf16 || fp16) && weighs_types(words, wide)) {
    out.weighed["/model_args/dtype"] = {"float32", bf16 ? "bfloat16" : "float16"};
  } else if (wide < words.size() && !packed) {
    const bool mixed = mixes_types(words) || says(words, "mixed") || says(words, "master");
    out.values["/model_args/dtype"] = "float32";
    if (!mixed && !bf16 && !fp16) out.values["/training/bf16"] = false;
  }
  // Mixed precision of PyTorch and of the Trainer keeps the weights in fp32; DeepSpeed casts them, and keeps a copy.
  const auto strategy = out.values.find("/parallel/strategy");
  const bool casts = strategy != out.values.end() && strategy->second.get<std::string>().starts_with("zero");
  const bool all = out.methods.size() == 1 && out.methods.front() == "Full fine-tuning";
  if (mixes_types(words) && all && !casts && out.weighed.count("/model_args/dtype") == 0)
    out.values["/model_args/dtype"] = "float32";
  if (bf16 != fp16) out.values[bf16 ? "/training/bf16" : "/training/fp16"] = true;
  // Only optimizers have a type of 8 bits in floating point; what else is named so is not replayed.
  if (affirms(words, "fp8")) out.unread.emplace_back("FP8");
}

void read_optimizer(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out) {
  const bool eight = eight_bits(words).optimizer;
  std::vector<json::Json> found;
  bool named = false;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (!names_an_optimizer(words[at].text) || !affirms_at(words, at)) continue;
    named = true;
    const std::string id(optimizer_at(words, at, eight));
    const bool known = std::find(found.begin(), found.end(), json::Json(id)) != found.end();
    if (!id.empty() && !known) found.emplace_back(id);
  }
  const bool weighed = says(words, "or") || says(words, "vs") || says(words, "versus") || says(words, "oder");
  if (found.size() == 2 && weighed && words.size() <= longest_asked) {
    out.weighed["/training/optim"] = found;
    return;
  }
  // Plain AdamW is what is taken where nothing is said, and what stands beside Muon is for what Muon leaves out.
  const auto other = std::find_if(found.begin(), found.end(), [](const json::Json& id) {
    return !recipe::plain_adamw(id.get<std::string>());
  });
  if (other != found.end()) set_optimizer(other->get<std::string>(), out);
  const bool optimizer = says(words, "optimizer") || says(words, "optimiser");
  if (!named && optimizer && says(words, "paged"))
    out.values["/training/optim"] = eight ? "paged_adamw_8bit" : "paged_adamw_32bit";
  if (!named) read_unknown_optimizer(text, words, out);
}

void read_offload(const SaidWords& words, SaidRequest& out) {
  if (words.size() > longest_asked) return;
  const auto at = std::find_if(words.begin(), words.end(), [](const SaidWord& word) {
    return word.text.starts_with("offload") || word.text.starts_with("ausgelagert") ||
           word.text.find("卸载") != std::string_view::npos;
  });
  if (at == words.end() || !affirms_at(words, static_cast<std::size_t>(at - words.begin()))) return;
  const auto near = [&](std::string_view stem) {
    const auto first = words.begin() + std::max<std::ptrdiff_t>(0, at - words.begin() - 3);
    const auto last =
        words.begin() + std::min<std::ptrdiff_t>(words.end() - words.begin(), at - words.begin() + 4);
    return std::any_of(first, last, [&](const SaidWord& word) { return word.text.starts_with(stem); });
  };
  const auto found = out.values.find("/parallel/strategy");
  const std::string strategy = found == out.values.end() ? "" : found->second.get<std::string>();
  const bool optimizer = near("optim") || near("优化器");
  if (near("activation")) {
    out.values["/training/activation_offloading"] = true;
  } else if (strategy.starts_with("zero")) {
    out.values["/parallel/zero_optimization/offload_optimizer/device"] = "cpu";
    if (strategy == "zero3" && !optimizer)
      out.values["/parallel/zero_optimization/offload_param/device"] = "cpu";
  } else if (strategy == "fsdp") {
    out.values["/parallel/fsdp_config/offload_params"] = true;
  } else if (optimizer) {
    out.values["/training/optimizer_offload"] = "states";
  } else {
    out.unread.emplace_back("what is offloaded to the host (with ZeRO, FSDP or of the optimizer)");
  }
}

}  // namespace plimsoll::question
