// What people write who have no error line at hand: "OOM when I resume", "爆显存". Read only where no
// program's own words are found.
#include <algorithm>
#include <iterator>

#include "core/diagnosis/cases.h"
#include "core/diagnosis/families.h"
#include "core/diagnosis/prose.h"
#include "core/diagnosis/sentence.h"
#include "core/diagnosis/settings_lines.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

constexpr Family spoken_family = {
    .id = "spoken",
    .kind = MessageKind::spoken,
    .what = "The report says in words that memory ran out; no line of an error is shown."};

// PyTorch's name of Apple's backend, as a word of its own.
bool speaks_of_metal(std::string_view folded) {
  for (std::size_t at = folded.find("mps"); at != std::string_view::npos; at = folded.find("mps", at + 3)) {
    const auto is_part = [](char c) { return ascii::is_word(c) || c == '/'; };
    if ((at == 0 || !is_part(folded[at - 1])) && (at + 3 >= folded.size() || !is_part(folded[at + 3])))
      return true;
  }
  return false;
}

// A heading speaks; a remark in a configuration ("# lower it when OOM") does not.
bool is_remark(std::string_view text, std::size_t at) {
  std::size_t line = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  line = line == std::string_view::npos ? 0 : line + 1;
  const std::string_view before = text.substr(line, at + 1 - line);
  const std::size_t hash = before.find('#');
  if (hash == std::string_view::npos) return false;
  const bool first = text.find_first_not_of(" \t\n") == line + hash;
  const bool heading = before.substr(hash, 2) == "##";
  const bool numbered =
      ascii::is_digit(text.substr(line + hash + 1, 1).empty() ? ' ' : text[line + hash + 1]);
  return !first && !heading && !numbered;
}

// The failure's own names, also in a line of code: "OOM at logits.float()".
std::size_t named_lack(std::string_view folded) {
  for (const std::string_view name : {"out of memory", "memory error", "oom", "显存不", "爆显存", "显存满",
                                      "speicher voll", "speicherüberlauf"}) {
    for (std::size_t at = folded.find(name); at != std::string_view::npos; at = folded.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const bool before = at > 0 && ascii::is_word(name.front()) && ascii::is_word(folded[at - 1]);
      const bool behind = end < folded.size() && ascii::is_word(folded[end]) && folded[end] != 's' &&
                          folded.substr(end, 2) != "ed";
      const bool ascii_name = ascii::is_lower(name.front());
      if (!(ascii_name && (before || behind)) && !in_setting(folded, at) && !is_remark(folded, at)) return at;
    }
  }
  return std::string_view::npos;
}

// "Will it fit?" asks of a run to come. "Why does it fill the card?" tells of one.
bool asks_of_a_run(std::string_view folded, const Sentence& sentence) {
  constexpr std::string_view wide = "？";  // where a sentence is cut
  const bool cut = folded.substr(sentence.at + sentence.size).starts_with(wide);
  const std::string_view said = folded.substr(sentence.at, sentence.size + (cut ? wide.size() : 0));
  const bool marked = said.ends_with('?') || said.ends_with("？");
  // Who says no more than a question often leaves its mark out.
  const bool alone = ascii::trim(folded).size() == said.size();
  if (!marked && !alone) return false;
  const bool asked = opens_a_question(said) || (marked && said.starts_with("if "));
  return asked && named_lack(said) == std::string_view::npos;
}

// "OOM" alone says of no memory which; a sentence on the machine's says more.
bool names_the_card(std::string_view folded, const Sentence& sentence) {
  const std::string_view said = folded.substr(sentence.at, sentence.size);
  return says_any(said, {"gpu", "cuda", "vram", "card", "显存", "显卡", "karte"});
}

int score_of(const Sentence* sentence, Say what) { return sentence == nullptr ? 0 : sentence->of(what); }

bool tells_of_an_end(std::string_view folded) {
  return says_any(folded,
                  {"died", "dies", "crash", "fail", "abgest", "bricht", "brach", "stürzt", "崩", "报错"});
}

}  // namespace

std::optional<Size> size_in_words(std::string_view folded) {
  constexpr std::size_t near = 28;  // "asking for about "
  for (Size& size : sizes_in(folded)) {
    const bool memory = size.unit.size() >= 2 && size.unit != "bytes" && size.bytes >= mebibyte;
    const std::string_view before =
        folded.substr(size.begin - std::min(size.begin, near), std::min(size.begin, near));
    const std::size_t stop = before.find_last_of(".\n;");
    if (memory && says_any(stop == std::string_view::npos ? before : before.substr(stop),
                           {"ask", "to alloc", "allocating", "request", "forder", "分配", "请求"}))
      return std::move(size);
  }
  return std::nullopt;
}

std::vector<Message> spoken_messages(const Text& text, const Prose& prose,
                                     const std::vector<CaseShown>& cases) {
  const std::string_view folded = text.folded_lines;
  const Sentence* lack = prose.says(Say::lack);
  if (lack != nullptr && asks_of_a_run(folded, *lack)) lack = nullptr;
  constexpr int unsure = 1;  // half a logarithm of odds that anything failed
  if (score_of(lack, Say::lack) <= unsure && named_lack(folded) == std::string_view::npos) lack = nullptr;
  const Sentence* host = prose.says(Say::host);
  const bool machine = score_of(host, Say::host) > unsure &&
                       (host == lack || score_of(host, Say::host) >= score_of(lack, Say::lack) ||
                        !names_the_card(folded, *lack));
  const Sentence* said = machine ? host : lack;
  // What any occasion of a failure is said of is a failure.
  for (const Say what : {Say::growing, Say::occupied, Say::one_card, Say::update}) {
    if (said == nullptr) said = prose.says(what);
  }
  Message message;
  message.family = machine ? &host_family : speaks_of_metal(folded) ? &mps_family : &spoken_family;
  message.at = said == nullptr || is_remark(folded, said->at) ? named_lack(folded) : said->at;
  for (const CaseShown& one : cases) {
    const bool of_host = one.what->cause == "host_ram";
    if (!speaks_of_memory(one, folded) || is_remark(folded, one.at) ||
        (message.at != std::string_view::npos && !of_host))
      continue;
    message.family = of_host ? &host_family : &spoken_family;
    message.at = std::min(message.at, one.at);
  }
  if (const auto asked = size_in_words(folded);
      message.at == std::string_view::npos && asked && tells_of_an_end(folded))
    message.at = asked->begin;
  if (message.at == std::string_view::npos) return {};
  constexpr std::size_t longest = 400;
  const std::size_t stop = std::min(folded.find('\n', message.at), folded.size());
  message.quote = first_bytes(std::string_view(text.lines).substr(message.at, stop - message.at), longest);
  return {std::move(message)};
}

}  // namespace plimsoll::diagnosis
