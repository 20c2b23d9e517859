// In which types a text says that weights and products are: fp32, bf16, mixed precision.
#include <algorithm>

#include "core/question/said_methods.h"

namespace plimsoll::question {

namespace {

bool weighs_types(const SaidWords& words, std::size_t at) {
  constexpr std::size_t longest = 2;  // "instead of"
  for (std::size_t count = 1; count <= longest && count <= at; ++count) {
    if (rather_at(words, at - count) == count) return true;
  }
  return rather_at(words, at + 1) > 0 || (at + 1 < words.size() && words[at + 1].text == "还是");
}

// `narrow`: 16 bits are named as well. "fp32", "32-bit", "full precision": of the weights, where no optimizer, gradient or loss stands behind it.
std::size_t wide_weights(const SaidWords& words, bool narrow) {
  constexpr std::string_view others[] = {"optim", "state", "adam", "lion",   "grad", "logit", "accum",
                                         "loss",  "norm",  "redu", "moment", "head", "adapt", "comput"};
  const auto is_other = [&](std::size_t i) {
    return i < words.size() && std::any_of(std::begin(others), std::end(others), [&](std::string_view stem) {
             return words[i].text.starts_with(stem);
           });
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::size_t count = is_of_bits(words, at, 32) ? words[at].is_bare() ? 2 : 1 : 0;
    count = std::max(count, phrase_at(words, at, Means::fp32));
    // "bf16 instead of fp32" names both.
    const bool other = at > 1 && phrase_at(words, at - 2, "instead of") > 0;
    if (count == 0 || !(affirms_at(words, at) || (other && narrow))) continue;
    const bool before = at > 0 && is_other(at - 1) && !words[at - 1].stops();
    const bool behind = is_other(at + count) && !words[at + count - 1].stops();
    if (!before && !behind) return at;
  }
  return words.size();
}

// "bf16 mixed precision", "AMP": autocast over weights in fp32.
bool mixes_types(const SaidWords& words) { return affirms(words, Means::mixed_precision); }

}  // namespace

void read_precision(const SaidWords& words, SaidRequest& out) {
  if (!is_brief(words)) return;
  const bool bf16 = affirms(words, "bf16") || affirms(words, "bfloat16");
  const bool fp16 = affirms(words, "fp16") || affirms(words, "float16");
  const std::size_t wide = wide_weights(words, bf16 || fp16);
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
  const bool all = out.methods == std::vector<Method>{Method::full};
  if (mixes_types(words) && all && !casts && out.weighed.count("/model_args/dtype") == 0)
    out.values["/model_args/dtype"] = "float32";
  if (bf16 != fp16) out.values[bf16 ? "/training/bf16" : "/training/fp16"] = true;
  // Only optimizers have a type of 8 bits in floating point; what else is named so is not replayed.
  if (affirms(words, "fp8")) out.unread.emplace_back("FP8");
}

}  // namespace plimsoll::question
