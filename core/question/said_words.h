// The words and numbers of a few sentences, and what stands beside what.
//
//     const SaidWords words = split("LoRA without packing");
//     says(words, "packing");      // true
//     affirms(words, "packing");   // false
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/question/said_languages.h"

namespace plimsoll::question {

/// Words that a person asks in: what is longer is a log or a file, where the same words are about anything.
constexpr std::size_t most_asking_words = 60;
template <class Words>
bool is_brief(const Words& words) {
  return words.size() <= most_asking_words;
}

struct SaidWord {
  std::string_view text;       ///< folded; of a number what is written: "8k", "24gb"
  double number = -1;          ///< -1: it is none
  std::string_view unit = {};  ///< what is tied to the number: "k", "b", "gb", "x720"
  bool ends = false;           ///< a sentence ends behind it
  bool pauses = false;         ///< a comma or colon stands behind it

  bool stops() const { return ends || pauses; }
  bool is_number() const { return number >= 0; }
  bool is_bare() const { return is_number() && unit.empty(); }
};
using SaidWords = std::vector<SaidWord>;

/// Of text in lower case. Hyphens, underscores, slashes and signs divide words; "8,192" and "1.5b" are one.
SaidWords split(std::string_view folded);

/// How many of the words from `at` on the phrase takes ("batch size" 2); 0: it does not stand there. Of words
/// that know no blanks it may be a part; of one that ends in "*" the stem is compared.
std::size_t phrase_at(const SaidWords& words, std::size_t at, std::string_view phrase);
bool says(const SaidWords& words, std::string_view phrase);
/// Of the longest phrase that means so; and whether any stands there.
std::size_t phrase_at(const SaidWords& words, std::size_t at, Means means);
bool says(const SaidWords& words, Means means);
/// The same, and nobody says "no", "ohne", "没有" or "off" beside it, in a language that said_languages.cpp knows.
bool affirms(const SaidWords& words, std::string_view phrase);
bool affirms(const SaidWords& words, Means means);
/// It stands there, and somebody says so beside it, or that it cannot be had.
bool denies(const SaidWords& words, std::string_view phrase);
bool denies(const SaidWords& words, Means means);
/// "I can't use Liger", "flash attention is not installed": it is off, and nobody can switch it on.
bool rules_out(const SaidWords& words, std::string_view phrase, bool is_package);

/// Gibibytes of the number at `at`, "31 GB", "22.3gb", "1x48g", "16 gib"; 0: it is no size. `behind`: the word that
/// follows it.
double gibibytes_at(const SaidWords& words, std::size_t at, std::size_t& behind);
bool is_gibibytes(std::string_view unit);

/// How many words at `at` stand between two of which one is taken: "instead of" 2; 0: none.
std::size_t rather_at(const SaidWords& words, std::size_t at);
/// "A or B", "A instead of B", "switching from A to B": two are held against each other.
bool weighs(const SaidWords& words);

/// Position for position, blanks in place of addresses and of the places of a person's own files: "stable" in
/// pytorch.org/docs/stable is no optimizer, and "/home/me/qlora/train.py" no method.
std::string without_addresses(std::string_view folded);

}  // namespace plimsoll::question
