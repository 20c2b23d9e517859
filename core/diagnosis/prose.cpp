#include "core/diagnosis/prose.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/diagnosis/settings_lines.h"
#include "core/diagnosis/text.h"
#include "core/json/ascii.h"
#include "core/json/embedded_file.h"
#include "core/json/json.h"

namespace plimsoll {
std::span<const PresetFile> prose_files();  // written by the build
}  // namespace plimsoll

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;
using ascii::is_lower;

constexpr std::size_t things = static_cast<std::size_t>(Say::count);
constexpr std::string_view say_names[things] = {
    "lack",      "host",      "load",     "resume",    "save",      "eval",     "merge",       "generate",
    "inference", "optimizer", "later",    "growing",   "update",    "occupied", "alone",       "fewer",
    "logits",    "copies",    "one_card", "no_effect", "fragments", "estimate", "requirement", "full",
    "adapters",  "fp32",      "no_flash", "modules",   "scores",    "spills"};

struct Model {
  std::array<int, things> bias{};
  std::unordered_map<std::string, std::vector<std::pair<std::size_t, int>>> grams;
};

Model read_model() {
  Model out;
  json::Errors errors;  // none: the file is our own
  const auto tree = json::parse(prose_files().front().text, errors);
  for (std::size_t thing = 0; tree && thing < things; ++thing) {
    const auto found = tree->find(say_names[thing]);
    if (found == tree->end()) continue;
    json::Object label(*found, "", errors);
    out.bias[thing] = static_cast<int>(label.number("bias", {-1e6, 1e6}).value_or(0));
    for (const auto& [weight, grams] : found->items()) {
      if (weight == "bias") continue;
      const std::string all = json::read_text(grams, "", errors).value_or("");
      for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find('|', at), all.size());
        out.grams[all.substr(at, end - at)].emplace_back(thing, std::stoi(weight));
        at = end + 1;
      }
    }
  }
  return out;
}

// Bytes of the character at `at`.
std::size_t width(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t wide = lead < 0xC0U ? 1 : lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : 4;
  return std::min(wide, text.size() - at);
}

bool is_latin(std::string_view text, std::size_t at) { return is_lower(text[at]) || width(text, at) == 2; }

// A character of a script without blanks; punctuation of three bytes (U+2000 to U+303F, U+FF00 on) is none.
bool is_sign(std::string_view text, std::size_t at) {
  const std::string_view mark = text.substr(at, 2);
  return width(text, at) == 3 && mark.front() != '\xE2' && mark != "\xE3\x80" && mark != "\xEF\xBC" &&
         mark != "\xEF\xBD";
}

struct Token {
  std::string word;
  bool sign = false;
};

// Words of letters, single characters of scripts without blanks, numbers as "#"; one is told from many.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (is_latin(text, at)) {
      while (end < text.size() && is_latin(text, end)) end += width(text, end);
      out.push_back({std::string(text.substr(at, end - at))});
    } else if (is_digit(text[at])) {
      while (end < text.size() && is_digit(text[end])) ++end;
      out.push_back({text.substr(at, end - at) == "1" ? "1" : "#"});
    } else {
      end += width(text, at);
      if (is_sign(text, at)) out.push_back({std::string(text.substr(at, end - at)), true});
    }
    at = end;
  }
  return out;
}

std::string stem(const std::string& word) {
  std::size_t end = 0;
  for (int letters = 0; letters < 5 && end < word.size(); ++letters) end += width(word, end);
  return word.substr(0, end);
}

// Words, stems and what stands side by side; of scripts without blanks one, two and three characters.
std::vector<std::string> features_of(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& one = tokens[i];
    out.push_back(one.word);
    if (std::string begin = stem(one.word); !one.sign && begin.size() < one.word.size())
      out.push_back(std::move(begin) + "-");
    if (i + 1 == tokens.size()) break;
    const Token& next = tokens[i + 1];
    if (!one.sign || !next.sign) {
      out.push_back(stem(one.word) + " " + stem(next.word));
      continue;
    }
    out.push_back(one.word + next.word);
    if (i + 2 < tokens.size() && tokens[i + 2].sign) out.push_back(out.back() + tokens[i + 2].word);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// A call with what is given to it, or alone: "optimizer.step(closure=closure)".
bool is_code(std::string_view text) {
  bool call = false, word = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    call = call || (text[i] == '(' && i > 0 && ascii::is_word(text[i - 1]));
    word = word && text[i] != ' ' && (static_cast<unsigned char>(text[i]) & 0x80U) == 0;
  }
  // "footprint() is 14 GB, although I gave load_in_4bit=True to it" has many words, and assigns nothing.
  constexpr std::ptrdiff_t many = 8;
  const bool said =
      std::count(text.begin(), text.end(), ' ') >= many && text.find(" = ") == std::string_view::npos;
  const bool gives = text.find('=') != std::string_view::npos && !said;
  return call && (word || gives || text.find(".py") != std::string_view::npos);
}

// A command with its flags, a row of a table or of a trainer's banner, a place of a traceback.
bool is_printed(std::string_view text) {
  return text.starts_with("|") || std::count(text.begin(), text.end(), '|') > 1 ||
         text.find(" --") != std::string_view::npos || text.starts_with("file \"");
}

// "valueerror: tokenizer class llamatokenizer does not exist": what a program says.
bool is_exception(std::string_view text) {
  const std::size_t end = text.find(':');
  return end != std::string_view::npos && end >= 5 && text.substr(end - 5, 5) == "error" &&
         std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), ascii::is_word);
}

// "torch version: 2.8.0", "cuda版本：12.4": what is installed, and not that another release fitted.
bool is_version(std::string_view text) {
  for (const std::string_view word : {"version", "版本"}) {
    std::size_t end = text.find(word);
    if (end == std::string_view::npos) continue;
    end += word.size();
    const std::string_view rest = ascii::trim(text.substr(end));
    if (rest.starts_with(":") || rest.starts_with("：")) return true;
  }
  return false;
}

// Words and blanks, mostly: no setting, no path, no row of a table, no line of code, no exception, no version.
bool is_prose(std::string_view text) {
  std::size_t said = 0, other = 0;
  for (const char c : text) {
    const bool letter = is_lower(c) || c == ' ' || (static_cast<unsigned char>(c) & 0x80U) != 0;
    said += letter ? 1 : 0;
    other += letter || is_digit(c) ? 0 : 1;
  }
  return text.size() >= 3 && said >= 4 * other && !is_code(text) && !is_setting(text) && !is_printed(text) &&
         !is_exception(text) && !is_version(text);
}

// "Sequence length 2048 tokens, batch 1" is a setting: who says that it fits with fewer compares, or says what
// works.
bool compares(std::string_view text) {
  constexpr std::string_view stems[] = {
      "work",  "fit",   "fine", "fix",  "solv", "help", "success", "small",   "short", "reduc", "lower",
      "less",  "fewer", "half", "than", "abov", "beyo", "long",    "increas", "great", "larg",  "max",
      "up to", "until", "geht", "gehe", "pass", "läuf", "lauf",    "kürze",   "klein", "halb",  "läng",
      "bis ",  "可",    "能",   "超",   "就",   "减",   "小",      "增",      "加",    "短",    "最"};
  return std::any_of(std::begin(stems), std::end(stems),
                     [text](std::string_view stem) { return text.find(stem) != std::string_view::npos; });
}

// How many bytes at `at` end a sentence; 0: none.
std::size_t stop_at(std::string_view text, std::size_t at) {
  if (text[at] == '\n') return 1;
  const bool blank = text[at] == ' ' || text[at] == '\t' || text[at] == '\r';
  if (blank && at > 0 && std::string_view(".;?!").find(text[at - 1]) != std::string_view::npos) return 1;
  for (const std::string_view stop : {"。", "；", "？", "！"}) {
    if (text.substr(at, stop.size()) == stop) return stop.size();
  }
  return 0;
}

void read_part(std::string_view folded, std::size_t from, std::size_t to, Prose& out) {
  static const Model model = read_model();
  constexpr std::size_t longest = 400;
  for (std::size_t begin = from, at = from; at <= to; ++at) {
    const std::size_t stop = at == to ? 1 : stop_at(folded, at);
    if (stop == 0) continue;
    std::size_t first = begin, last = at;
    const auto is_blank = [&](std::size_t i) {
      return folded[i] == ' ' || folded[i] == '\t' || folded[i] == '\r';
    };
    while (first < last && is_blank(first)) ++first;
    while (last > first && is_blank(last - 1)) --last;
    const std::string said = first_bytes(folded.substr(first, last - first), longest);
    begin = at + stop;
    if (!is_prose(said)) continue;
    Sentence sentence{first, said.size(), model.bias};
    for (const std::string& feature : features_of(said)) {
      const auto found = model.grams.find(feature);
      if (found == model.grams.end()) continue;
      for (const auto& [thing, weight] : found->second) sentence.score[thing] += weight;
    }
    int& fewer = sentence.score[static_cast<std::size_t>(Say::fewer)];
    if (!compares(said)) fewer = std::min(fewer, 0);
    out.sentences.push_back(sentence);
  }
}

}  // namespace

double Sentence::strength(Say what) const {
  // A score is a logarithm of odds in halves; where it is 0, nothing tells yes from no.
  constexpr int sure = 4;
  return std::min((sure + std::clamp(of(what), 0, sure)) / (2.0 * sure), most_strength);
}

const Sentence* Prose::says(Say what) const {
  const auto i = static_cast<std::size_t>(what);
  const auto best =
      std::max_element(sentences.begin(), sentences.end(),
                       [i](const Sentence& a, const Sentence& b) { return a.score[i] < b.score[i]; });
  return best != sentences.end() && best->says(what) ? &*best : nullptr;
}

Prose read_prose(std::string_view folded) {
  // What a person says stands before a log or behind it, not in its midst.
  constexpr std::size_t most = 64U << 10U;
  Prose out;
  read_part(folded, 0, std::min(folded.size(), most), out);
  if (folded.size() > most) read_part(folded, std::max(most, folded.size() - most), folded.size(), out);
  return out;
}

}  // namespace plimsoll::diagnosis
