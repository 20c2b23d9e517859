// How many parameters a model's name speaks of: the figure in it, or, for the small networks that are named
// without one, what their authors published.
#include <algorithm>

#include "core/diagnosis/facts.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;
using ascii::is_lower;

struct Known {
  std::string_view name;
  double millions;
};
// Of the papers and model cards: BERT and its kin, GPT-2 (openai/gpt-2), T5, BART, Whisper, CLIP, and of
// the large ones that are mostly named without their size. The first
// that the name holds decides, so the longer stand before the shorter.
constexpr Known without_a_figure[] = {{"distilbert", 66},
                                      {"distilroberta", 82},
                                      {"albert-xxlarge", 223},
                                      {"albert-xlarge", 59},
                                      {"albert-large", 18},
                                      {"albert", 12},
                                      {"xlm-roberta-large", 560},
                                      {"xlm-roberta", 279},
                                      {"roberta-large", 355},
                                      {"roberta", 125},
                                      {"camembert", 111},
                                      {"deberta-v2-xxlarge", 1500},
                                      {"deberta-v3-large", 435},
                                      {"deberta-large", 400},
                                      {"deberta", 184},
                                      {"longformer-large", 435},
                                      {"longformer", 149},
                                      {"bigbird", 128},
                                      {"electra-large", 335},
                                      {"electra", 110},
                                      {"modernbert-large", 395},
                                      {"modernbert", 149},
                                      {"bert-large", 340},
                                      {"bert", 110},
                                      {"gpt2-xl", 1558},
                                      {"gpt2-large", 774},
                                      {"gpt2-medium", 355},
                                      {"gpt2", 124},
                                      {"t5-xxl", 11300},
                                      {"t5 xxl", 11300},
                                      {"t5-xl", 2850},
                                      {"t5 xl", 2850},
                                      {"t5-small", 60},
                                      {"t5-base", 220},
                                      {"t5-large", 770},
                                      {"bart-large", 406},
                                      {"bart-base", 139},
                                      {"pegasus-large", 568},
                                      {"whisper-large", 1550},
                                      {"whisper-medium", 769},
                                      {"whisper-small", 244},
                                      {"whisper-base", 74},
                                      {"whisper-tiny", 39},
                                      {"wav2vec2-large", 317},
                                      {"wav2vec2-base", 95},
                                      {"vit-large", 304},
                                      {"vit-base", 86},
                                      {"xlnet-large", 340},
                                      {"xlnet-base", 110},
                                      {"starcoder", 15517},
                                      {"gpt-neox", 20554},
                                      {"gpt-j", 6050},
                                      {"mixtral", 46703},
                                      {"phi-2", 2780},
                                      {"deepseek-v3", 671026},
                                      {"deepseek-r1", 671026}};

// "transformers/models/gpt2/modeling_gpt2.py" runs every model of its family, whatever its size.
bool is_in_a_file(std::string_view name, std::size_t at) {
  constexpr std::string_view ends = " \n\t\"'`(),:";
  const std::size_t end = std::min(name.find_first_of(ends, at), name.size());
  return name.substr(at, end - at).ends_with(".py");
}

double of_known(std::string_view name) {
  // "whisper large", "bert_large"
  std::string folded(name);
  for (char& c : folded) {
    if (c == ' ' || c == '_') c = '-';
  }
  const auto is_named_so = [&](const Known& one) {
    for (std::size_t at = folded.find(one.name); at != std::string::npos;
         at = folded.find(one.name, at + 1)) {
      // "robert" is nobody's BERT.
      const bool begins = at == 0 || !is_lower(folded[at - 1]);
      if (begins && !is_in_a_file(name, at)) return true;
    }
    return false;
  };
  const auto* found = std::find_if(std::begin(without_a_figure), std::end(without_a_figure), is_named_so);
  return found == std::end(without_a_figure) ? 0 : found->millions * 1e6;
}

}  // namespace

double parameters_in_name(std::string_view name) {
  const std::string folded = fold(name);
  double best = 0;
  for (std::size_t at = 0; at < folded.size(); ++at) {
    if (!is_digit(folded[at]) || (at > 0 && (is_digit(folded[at - 1]) || folded[at - 1] == '.'))) continue;
    std::size_t end = at;
    double value = 0, scale = 1;
    for (; end < folded.size() && is_digit(folded[end]); ++end) value = value * 10 + (folded[end] - '0');
    if (end + 1 < folded.size() && folded[end] == '.' && is_digit(folded[end + 1])) {
      for (++end; end < folded.size() && is_digit(folded[end]); ++end) {
        scale /= 10;
        value += scale * (folded[end] - '0');
      }
    }
    double experts = 1;
    if (end + 1 < folded.size() && folded[end] == 'x' && is_digit(folded[end + 1])) {
      experts =
          value;  // "8x7b": attention is shared, so eight experts of a 7B are 46.7e9, five sixths of 56e9
      value = 0;
      for (++end; end < folded.size() && is_digit(folded[end]); ++end)
        value = value * 10 + (folded[end] - '0');
      experts *= 0.834;
    }
    const bool alone = end < folded.size() && (end + 1 >= folded.size() || !is_lower(folded[end + 1]));
    const bool billions = alone && folded[end] == 'b';
    const bool millions = alone && folded[end] == 'm' && experts == 1 && value >= 10;  // "pythia-160m"
    if ((billions || millions) && value > 0 && value < 3000)
      best = std::max(best, experts * value * (billions ? 1e9 : 1e6));
  }
  return best > 0 ? best : of_known(folded);
}

}  // namespace plimsoll::diagnosis
