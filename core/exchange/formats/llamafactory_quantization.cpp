// What LLaMA-Factory quantises while it loads: hiyouga/LLaMA-Factory src/llamafactory/model/model_utils/
// quantization.py configure_quantization, whose words are in extras/constants.py.
#include "core/exchange/formats/llamafactory.h"
#include "core/exchange/versions.h"
#include "core/recipe/version.h"

namespace plimsoll::exchange {

namespace {

constexpr const char* method_key = "quantization_method";

// The words of a file are compared with no list (Transformers' HfArgumentParser.parse_dict), and one that the
// release does not know quantises nothing; those of a command line are (argparse), and it stops.
bool is_unknown_method(const Reading& reading) {
  const Leaf* method = reading.leaf(method_key);
  if (method == nullptr || reading.document.language == Language::shell) return false;
  const json::Json& word = method->node->value;
  const recipe::Values versions = versions_in(reading.text);
  const auto release = versions.find("/versions/llamafactory");
  const std::string_view bnb =
      bitsandbytes_word(release == versions.end() ? "" : release->second.get_ref<const std::string&>());
  return word != bnb && word != "hqq" && word != "eetq";
}

}  // namespace

std::string_view bitsandbytes_word(std::string_view release) {
  const bool newest = release.empty() || recipe::means_the_newest(release);
  return !newest && !recipe::version_at_least(release, "0.9.3") ? "bitsandbytes" : "bnb";
}

void read_quantization_bit(Reading& reading, const Leaf& leaf) {
  if (leaf.node->value.is_null()) return reading.mark(leaf, Use::implied, "not quantised");
  const std::string prefix =
      leaf.path.substr(0, leaf.path.rfind('.') == std::string::npos ? 0 : leaf.path.rfind('.') + 1);
  const std::string method = reading.word(prefix.empty() ? method_key : prefix + "name");
  if (prefix.empty() && is_unknown_method(reading))
    return reading.mark(leaf, Use::implied, "not quantised, see quantization_method");
  if (method == "hqq") {
    reading.values["/quantization/quant_method"] = "hqq";
    reading.set("/quantization/bits", leaf);
  } else if (leaf.node->raw == "4") {
    reading.set("/quantization/load_in_4bit", true, &leaf);
  } else if (leaf.node->raw == "8" && method != "eetq") {
    reading.set("/quantization/load_in_8bit", true, &leaf);
  } else {
    reading.mark(leaf, Use::unsupported, "this quantisation cannot be said yet");
  }
}

void read_quantization_method(Reading& reading, const Leaf& leaf) {
  if (reading.word(leaf.path) == "eetq")
    return reading.mark(leaf, Use::unsupported, "EETQ cannot be said yet");
  if (!is_unknown_method(reading))
    return reading.mark(leaf, Use::implied, "read together with quantization_bit");
  reading.mark(leaf, Use::implied, "not a word of this release, which then quantises nothing");
  if (reading.value("quantization_bit").is_null()) return;
  reading.notes.push_back("This run is not quantised: LLaMA-Factory does not know quantization_method \"" +
                          leaf.node->raw +
                          "\", loads the model whole and does not say so. Releases from 0.9.3 on (taken "
                          "where the text names none) call it bnb, those before bitsandbytes.");
}

}  // namespace plimsoll::exchange
