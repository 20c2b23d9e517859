// What people write who have no error line at hand: "OOM when I resume", "爆显存". Read only where no
// program's own words are found. Phrases from public issue threads.
#include <algorithm>

#include "core/diagnosis/families.h"
#include "core/diagnosis/sentence.h"
#include "core/diagnosis/words.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view lacking[] = {"out of mem",
                                        "out-of-memory",
                                        "outofmemory",
                                        "out of gpu memory",
                                        "out of vram",
                                        "out of cuda",
                                        "out of gpu",
                                        "out of device mem",
                                        "memory is exceeded",
                                        "memory exceeded",
                                        "exceeds the memory",
                                        "exceed the memory",
                                        "too little memory",
                                        "too little vram",
                                        "run out of",
                                        "ran out of",
                                        "not enough memory",
                                        "not enough gpu",
                                        "not enough vram",
                                        "failed to clone() tensor",  // FSDP, while a state dict is made
                                        "no more memory",
                                        "insufficient memory",
                                        "insufficient gpu",
                                        "insufficient vram",
                                        "memory error",
                                        "memory issue",
                                        "memory problem",
                                        "memory leak",
                                        "memory increas",
                                        "memory keeps",
                                        "memory rises",
                                        "memory usage keeps",
                                        "memory not enough",
                                        "memory is not enough",
                                        "lack of gpu memory",
                                        "lack of memory",
                                        "memory usage increas",
                                        "memory will keep",
                                        "increasing gpu memory",
                                        "memory explo",
                                        "vram explo",
                                        "exceeds gpu memory",
                                        "exceeds the gpu memory",
                                        "exceeds vram",
                                        "exceed gpu memory",
                                        "exceed the gpu memory",
                                        "gpu memory overflow",
                                        "memory overflow",
                                        "vram overflow",
                                        "memory exhaust",
                                        "vram exhaust",
                                        "memory is full",
                                        "vram is full",
                                        "memory is exhausted",
                                        "blows the memory",
                                        "no memory left",
                                        "no room left",
                                        "no room on",
                                        "blows up the memory",
                                        "blows up memory",
                                        "blow up the memory",
                                        "gb are not enough",
                                        "gb is not enough",
                                        "gb not enough",
                                        "gb isn't enough",
                                        "爆掉",
                                        "memory gets exhausted",
                                        "not fit",
                                        "n't fit",
                                        "cannot fit",
                                        "doesn't fit in",
                                        "does not fit in",
                                        "doesn't fit on",
                                        "does not fit on",
                                        "don't fit in",
                                        "cannot fit in",
                                        "can't fit in",
                                        "can't fit on",
                                        "显存不足",
                                        "显存不够",
                                        "显存还不够",
                                        "显存还是不够",
                                        "显存也不够",
                                        "爆显存",
                                        "爆了显存",
                                        "显存溢出",
                                        "显存爆",
                                        "显存都要爆",
                                        "显存要爆",
                                        "显存就爆",
                                        "显存会爆",
                                        "显存直接爆",
                                        "显存泄漏",
                                        "显存一直",
                                        "显存持续",
                                        "显存不断",
                                        "显存逐渐",
                                        "超显存",
                                        "超出显存",
                                        "显存超",
                                        "显存满",
                                        "显存已满",
                                        "显存占满",
                                        "显存被占满",
                                        "显存炸",
                                        "炸显存",
                                        "显存崩",
                                        "内存满",
                                        "内存已满",
                                        "内存已经满",
                                        "内存不足",
                                        "内存溢出",
                                        "内存爆",
                                        "内存不够",
                                        "メモリ不足",
                                        "メモリが足り",
                                        "메모리 부족",
                                        "메모리가 부족",
                                        "нехват",
                                        "не хватает памяти",
                                        "memoria insuficiente"};
constexpr std::string_view ended[] = {"prints killed",
                                      "kills the job",
                                      "kills the process",
                                      "kills my",
                                      "kernel kills",
                                      "linux kills",
                                      "被系统干掉",
                                      "被干掉",
                                      "被系统kill",
                                      "says killed",
                                      "shows killed",
                                      "process killed",
                                      "killed when",
                                      "killed while",
                                      "killed during",
                                      "killed after",
                                      "killed by the",
                                      "a \"killed\"",
                                      "进程杀",
                                      "进程被杀",
                                      "被杀掉",
                                      "被系统杀",
                                      "被kill",
                                      "被 kill",
                                      "is killed",
                                      "was killed",
                                      "gets killed",
                                      "got killed",
                                      "get killed",
                                      "being killed",
                                      "were killed",
                                      "were directly killed",
                                      "host memory"};
// Of the machine's memory, whatever else is said.
constexpr std::string_view of_host[] = {"cpu oom",
                                        "out of ram",
                                        "out of cpu m",
                                        "cpu内存不",
                                        "cpu内存爆",
                                        "cpu内存超",
                                        "cpu内容超",
                                        "cpu内存溢出",
                                        "cpu内存占满",
                                        "cpu内存满",
                                        "oom on ram",
                                        "oom on cpu",
                                        "cpu memory oom",
                                        "cpu ram oom",
                                        "cpu-ram oom",
                                        "cpu 内存不",
                                        "system memory running out",
                                        "cpu ram usage",
                                        "cpu memory is not",
                                        "machine is out of memory",
                                        "out of host memory",
                                        "not enough cpu memory",
                                        "not enough ram",
                                        "system ram is full"};
constexpr std::string_view short_form = "oom";

constexpr Family spoken_family = {
    "spoken", Kind::spoken, "The report says in words that memory ran out; no line of an error is shown.",
    lacking,  {},           {}};

// "insufficient CPU memory", "the system RAM is full": the machine's memory and a lack of it in one sentence.
std::size_t lack_of_host_memory(std::string_view folded) {
  constexpr std::string_view memories[] = {"cpu memory",  "cpu ram",        "host memory",
                                           "host ram",    "system memory",  "system ram",
                                           "main memory", "machine memory", "memory of the machine",
                                           "cpu内存",     "cpu 内存",       "机器内存",
                                           "主机内存",    "系统内存",       "物理内存"};
  constexpr std::string_view lacks[] = {
      "insufficient", "not enough",   "out of",  "runs out", "ran out",   "run out",   "exceed",    "oom",
      "exhaust",      "explod",       "is full", "fills",    "filled up", "lack of",   "used up",   "100%",
      "server down",  "machine down", "freezes", "eaten up", "maxed",     "maxes out", "runs full", "不足",
      "不够",         "溢出",         "爆",      "占满",     "满了",      "超出"};
  constexpr std::size_t near = 48;
  for (const std::string_view memory : memories) {
    for (std::size_t at = folded.find(memory); at != std::string_view::npos;
         at = folded.find(memory, at + 4)) {
      const std::string_view window = folded.substr(at > near ? at - near : 0, std::min(at, near));
      const std::string_view rest = folded.substr(at, memory.size() + near);
      const std::string_view before = window.substr(window.rfind('\n') + 1);
      const std::string_view behind = rest.substr(0, rest.find('\n'));
      for (const std::string_view word : lacks) {
        if ((before.find(word) != std::string_view::npos || behind.find(word) != std::string_view::npos) &&
            !in_setting(folded, at))
          return at;
      }
    }
  }
  return std::string_view::npos;
}

// "Colab's RAM is used up", "RAM fills": the word alone, and what fills it close behind.
std::size_t ram_fills(std::string_view folded) {
  constexpr std::size_t near = 28;
  for (std::size_t at = folded.find("ram "); at != std::string_view::npos; at = folded.find("ram ", at + 4)) {
    if (at > 0 && ascii::is_lower(folded[at - 1])) continue;
    const std::string_view rest = folded.substr(at, near);
    if (says_any(rest.substr(0, rest.find_first_of(".\n,")),
                 {"used up", "is full", "gets full", "fills", "filled", "runs out", "ran out", "exhaust",
                  "eaten", "maxed", "maxes", "at 100%", "hits 100", "to 100%"}))
      return at;
  }
  return std::string_view::npos;
}

// "VRAM usage climbs until it is exhausted": the card's memory and its lack in one sentence.
std::size_t lack_of_card_memory(std::string_view folded) {
  const std::string said = said_together(
      folded,
      {"gpu memory", "vram", "gpu ram", "cuda memory", "video memory", "graphics memory", "card's memory"},
      {"exhaust", "runs out", "ran out", "run out", "not enough", "insufficient", "fills up", "filled up",
       "maxed out", "maxes out", "exceed", "blows", "overflow", "used up", "eaten up", "spills"},
      56, {"not exceed", "n't exceed", "without exceed"});
  return said.empty() ? std::string_view::npos : folded.find(said.substr(0, 40));
}

bool is_letter(char c) { return ascii::is_lower(c) || ascii::is_digit(c) || c == '_'; }

// "机器内存是1.9TB", "uses 1.2 TB of RAM", "内存1T": no card has a terabyte. Where it stands, or nothing.
std::size_t terabytes_of_memory(std::string_view folded) {
  for (std::size_t at = folded.find('t'); at != std::string_view::npos; at = folded.find('t', at + 1)) {
    const std::string_view behind = folded.substr(at + 1, 1);
    const bool unit = folded.substr(at, 2) == "tb" || folded.substr(at, 3) == "tib" || behind.empty() ||
                      !is_letter(behind.front());
    std::size_t digit = at;
    while (digit > 0 && folded[digit - 1] == ' ') --digit;
    if (!unit || digit == 0 || !ascii::is_digit(folded[digit - 1])) continue;
    constexpr std::size_t near = 40;
    const std::size_t begin = digit > near ? digit - near : 0;
    const std::string_view around = folded.substr(begin, at - begin + near);
    for (const std::string_view memory : {"内存", "ram", "memory"}) {
      if (around.find(memory) != std::string_view::npos) return begin + around.find(memory);
    }
  }
  return std::string_view::npos;
}

// "爆了内存", "内存一下就满了": the memory and its lack, in either order and at most four characters apart.
// Where it stands, or nothing.
std::size_t lack_in_chinese(std::string_view folded) {
  constexpr std::size_t near = 12;
  std::size_t first = std::string_view::npos;
  for (const std::string_view memory : {"显存", "内存"}) {
    for (std::size_t at = folded.find(memory); at < first; at = folded.find(memory, at + memory.size())) {
      if (says_any(sentence_around(folded, at, memory.size(), near),
                   {"爆", "不足", "不够", "溢出", "超出", "超了", "满了", "占满", "炸", "崩了", "放不下",
                    "装不下"}))
        first = at;
    }
  }
  return first;
}

// "只有64G内存，保存时爆内存": whoever counts the machine's memory means it.
bool counts_host_memory(std::string_view folded) {
  return says_any(folded, {"g内存", "gb内存", "g 内存", "gb 内存", "g的内存", "gb的内存"}) &&
         says_any(folded, {"爆内存", "爆了内存", "内存爆", "内存不足", "内存不够", "内存溢出", "内存满"});
}

// PyTorch's name of Apple's backend, as a word of its own.
bool speaks_of_metal(std::string_view folded) {
  for (std::size_t at = folded.find("mps"); at != std::string_view::npos; at = folded.find("mps", at + 3)) {
    const auto is_part = [](char c) {
      return ascii::is_lower(c) || ascii::is_digit(c) || c == '_' || c == '/';
    };
    if ((at == 0 || !is_part(folded[at - 1])) && (at + 3 >= folded.size() || !is_part(folded[at + 3])))
      return true;
  }
  return false;
}

// A heading speaks; a remark in a configuration ("# lower it when OOM") does not.
bool is_remark(std::string_view text, std::size_t at) {
  std::size_t line = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  line = line == std::string_view::npos ? 0 : line + 1;
  const std::string_view before = text.substr(line, at - line);
  const std::size_t hash = before.find('#');
  if (hash == std::string_view::npos) return false;
  const bool first = text.find_first_not_of(" \t\n") == line + hash;
  const bool heading = before.substr(0, hash).find_first_not_of(" \t") == std::string_view::npos &&
                       before.substr(hash, 2) == "##";
  const bool numbered = hash + 1 < before.size() && ascii::is_digit(before[hash + 1]);  // "as in #123"
  return !first && !heading && !numbered;
}

}  // namespace

std::vector<Message> spoken_messages(const Text& text, const std::vector<CaseShown>& cases) {
  const std::string_view folded = text.folded_lines;
  std::vector<std::string_view> words(std::begin(lacking), std::end(lacking));
  words.insert(words.end(), std::begin(ended), std::end(ended));
  words.insert(words.end(), std::begin(of_host), std::end(of_host));
  constexpr std::size_t most = 200;
  std::size_t lack = std::string_view::npos, end = lack, machine = lack;
  for (const Place& found : find_words(folded, words, most)) {
    if (in_setting(folded, found.at) || is_remark(folded, found.at)) continue;
    const bool of_card = found.word < std::size(lacking);
    const bool of_machine = found.word >= std::size(lacking) + std::size(ended);
    std::size_t& first = of_card ? lack : of_machine ? machine : end;
    first = std::min(first, found.at);
  }
  for (std::size_t at = folded.find(short_form); at < lack; at = folded.find(short_form, at + 1)) {
    const std::size_t behind = at + short_form.size();
    const bool alone = (at == 0 || !is_letter(folded[at - 1])) &&
                       (behind >= folded.size() || !is_letter(folded[behind]) || folded[behind] == 's' ||
                        folded.substr(behind, 2) == "ed" || folded.substr(behind, 3) == "ing");
    if (alone && !in_setting(folded, at) && !is_remark(folded, at)) lack = at;
  }
  lack = std::min({lack, lack_in_chinese(folded), lack_of_card_memory(folded)});
  machine = std::min({machine, lack_of_host_memory(folded), ram_fills(folded)});
  if (lack != std::string_view::npos) machine = std::min(machine, terabytes_of_memory(folded));
  if (machine == std::string_view::npos && counts_host_memory(folded)) machine = folded.find("内存");
  // That a process was ended is said of the machine's memory, unless the card's is spoken of as well.
  const bool of_a_card = says_any(folded, {"显存", "gpu", "cuda", "vram", "显卡"});
  const bool host = machine != std::string_view::npos || lack == std::string_view::npos ||
                    (end != std::string_view::npos && !of_a_card);
  std::size_t at = machine != std::string_view::npos ? machine : (host ? end : lack);
  Message message;
  message.family = host ? &host_family : speaks_of_metal(folded) ? &mps_family : &spoken_family;
  for (const CaseShown& one : cases) {
    if (!speaks_of_memory(one, folded) || (at != std::string_view::npos && one.what->cause != "host_ram"))
      continue;
    message.family = one.what->cause == "host_ram" ? &host_family : &spoken_family;
    at = std::min(at, one.at);
  }
  if (at == std::string_view::npos) return {};
  message.at = at;
  const std::size_t stop = std::min(folded.find('\n', at), folded.size());
  const std::size_t line = at == 0 ? std::string_view::npos : folded.rfind('\n', at - 1);
  const std::size_t start = line == std::string_view::npos ? 0 : line + 1;
  constexpr std::size_t longest = 400;
  const std::size_t from = at - start < longest / 2 ? start : at;
  message.quote = first_bytes(std::string_view(text.lines).substr(from, stop - from), longest);
  return {std::move(message)};
}

}  // namespace plimsoll::diagnosis
