#include "core/diagnosis/message.h"

#include <algorithm>
#include <tuple>

#include "core/diagnosis/families.h"
#include "core/diagnosis/words.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;
using ascii::is_lower;

constexpr std::size_t most_messages = 64;
constexpr std::size_t most_hits = 400;  // of one marker
constexpr std::size_t longest_message = 1600;
constexpr std::size_t same_message = 300;  // a second marker of the same family this near belongs to it
constexpr std::size_t longest_quote = 400;

const Family* const all_families[] = {
    &allocator_family, &async_pool_family, &mps_family,    &mlx_family,          &xla_family,
    &driver_family,    &handle_family,     &nccl_family,   &bitsandbytes_family, &host_family,
    &vllm_family,      &vllm_share_family, &kernel_family, &dispatch_family};

CountedText without_blanks_behind(CountedText text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}
CountedText without_blanks_before(CountedText text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

struct Hit {
  std::size_t at;
  const Family* family;
  bool weak;
  std::size_t end;  ///< of its words
};

// "memoryerror" is not to be found in "outofmemoryerror".
bool stands_alone(CountedText folded, std::size_t at) {
  return at == 0 || !is_lower(folded[at]) || !is_lower(folded[at - 1]);
}

// The shell's word "Killed" is a line of its own or follows a process number or a bar; prose is not meant.
bool is_shells_killed(CountedText flow, std::size_t at) {
  if (flow[at] != 'K') return false;
  const CountedText before = without_blanks_behind(flow.substr(0, at));
  return before.empty() || is_digit(before.back()) || before.back() == ')' || before.back() == ']' ||
         without_blanks_before(flow.substr(at + 6)).empty();
}

// "(GPU 0; 15.75 GiB total capacity;" says its size before its words.
std::size_t begin_of_figures(CountedText folded, std::size_t at) {
  constexpr std::size_t longest = 32;  // "(gpu 0; 1234.56 mib "
  std::size_t begin = at;
  while (begin > 0 && at - begin < longest && folded[begin] != '\n' && folded[begin] != '(') --begin;
  return begin;
}

// Where messages begin: the marker nearest to the front of each.
std::vector<Hit> openings(CountedText flow, CountedText folded) {
  std::vector<std::string_view> words;
  std::vector<Hit> kinds;  // of the words, place still open
  for (const Family* family : all_families) {
    for (const std::string_view marker : family->markers) {
      words.push_back(marker);
      kinds.push_back({0, family, false, 0});
    }
    for (const std::string_view marker : family->weak_markers) {
      words.push_back(marker);
      kinds.push_back({0, family, true, 0});
    }
  }
  std::vector<Hit> hits;
  for (const Place& found : find_words(folded, words, most_hits)) {
    if (!stands_alone(folded, found.at)) continue;
    if (words[found.word] == "killed" && !is_shells_killed(flow, found.at)) continue;
    const Hit& kind = kinds[found.word];
    const bool behind = words[found.word].starts_with("total capac");
    hits.push_back({behind ? begin_of_figures(folded, found.at) : found.at, kind.family, kind.weak,
                    found.at + words[found.word].size()});
  }
  std::vector<Hit> out;
  for (const Hit& hit : hits) {
    bool inside = false;
    for (auto open = out.rbegin(); open != out.rend() && !inside; ++open) {
      if (hit.at - open->at > same_message) break;
      // "Your notebook tried to allocate more memory": words within another's are a part of them.
      inside = hit.weak || open->family == hit.family || hit.at < open->end;
      // The same words again are another rank's message in the same line, not a part of this one.
      if (open->family == hit.family && !hit.weak && hit.at - open->at > 40 &&
          folded.substr(open->at, 20) == folded.substr(hit.at, 20).all()) {
        inside = false;
        break;
      }
    }
    if (!inside) out.push_back(hit);
  }
  return out;
}

// "process 19066 has" before a size, or the same in Chinese.
std::optional<uint64_t> process_before(CountedText before) {
  struct Words {
    std::string_view noun, verb;
  };
  for (const Words& words : {Words{"process", "has"}, Words{"进程", "有"}, Words{"进程", "使用了"}}) {
    if (!before.ends_with(words.verb)) continue;
    const CountedText rest = without_blanks_behind(before.substr(0, before.size() - words.verb.size()));
    std::size_t begin = rest.size();
    while (begin > 0 && is_digit(rest[begin - 1]) && rest.size() - begin < 12) --begin;
    if (begin == rest.size()) continue;
    uint64_t id = 0;
    for (const char c : rest.substr(begin).all()) id = id * 10 + static_cast<uint64_t>(c - '0');
    if (without_blanks_behind(rest.substr(0, begin)).ends_with(words.noun)) return id;
  }
  return std::nullopt;
}

const Clause* clause_of(std::span<const Clause> clauses, CountedText before, CountedText after) {
  const auto found = std::find_if(clauses.begin(), clauses.end(), [&](const Clause& clause) {
    return before.ends_with(clause.before) && after.starts_with(clause.after);
  });
  return found == clauses.end() ? nullptr : &*found;
}

void read_numbers(CountedText segment, Message& message) {
  for (const Size& size : sizes_in(segment)) {
    const CountedText before = without_blanks_behind(segment.substr(0, size.begin));
    const CountedText after = without_blanks_before(segment.substr(size.end));
    if (const auto id = process_before(before)) {
      message.numbers.processes.push_back({*id, size, false});
      continue;
    }
    const Clause* clause = clause_of(message.family->clauses, before, after);
    if (clause == nullptr) continue;
    std::optional<Size>& number = message.numbers.*clause->number;
    if (number) continue;
    number = size;
    if (clause->number == &Numbers::tried && before.ends_with("more than")) message.numbers.at_least = true;
  }
  // 2^64 bytes are printed where nobody has set a limit (CUDAMallocAsyncAllocator.cpp pytorch_memory_limits), and
  // by ROCm for less than nothing.
  constexpr double nothing_has = 1e17;
  for (std::optional<Size>* number : {&message.numbers.limit, &message.numbers.free}) {
    if (*number && (*number)->bytes > nothing_has) number->reset();
  }
}

// A translation nobody has listed: the numbers keep their order. Only when the words gave nothing but the
// request.
void read_by_order(CountedText segment, Message& message) {
  Numbers& n = message.numbers;
  if (message.family != &allocator_family || n.capacity || n.allocated) return;
  std::vector<Size> sizes;
  // PyTorch prints binary units, one figure soon after the other: "7B" and "94 GB of memory" are prose.
  constexpr std::size_t near = 100;
  std::size_t last = 0;
  for (Size& size : sizes_in(segment, 8)) {
    const bool printed = size.unit == "bytes" || (size.unit.size() == 3 && size.unit[1] == 'i');
    if (!printed || size.begin > last + near) break;
    last = size.end;
    sizes.push_back(std::move(size));
  }
  if (sizes.size() < 3) return;
  const bool bracket =
      segment.find("(gpu") != std::string_view::npos || segment.find("（gpu") != std::string_view::npos;
  n.tried = sizes[0];
  n.capacity = sizes[1];
  if (bracket && sizes.size() >= 5) {
    n.allocated = sizes[2];
    n.free = sizes[3];
    n.reserved = sizes[4];
    return;
  }
  n.free = sizes[2];
  if (sizes.size() == 5) {
    n.allocated = sizes[3];
    n.unallocated = sizes[4];
  } else if (sizes.size() >= 6) {
    n.this_process = sizes[3];
    n.allocated = sizes[4];
    n.unallocated = sizes[5];
  }
}

// TensorFlow says the size as a shape: "OOM when allocating tensor with shape[16,12,512,512] and type float".
void read_shape(CountedText segment, Message& message) {
  constexpr std::string_view opening = "allocating tensor with shape[";
  const std::size_t at = segment.find(opening);
  if (message.numbers.tried || at == std::string_view::npos) return;
  const std::size_t first = at + opening.size(), end = segment.find(']', first);
  if (end == std::string_view::npos || end - first > 80) return;
  double elements = 1, dimension = 0;
  for (std::size_t i = first; i <= end; ++i) {
    const char c = segment[i];
    if (is_digit(c)) {
      dimension = dimension * 10 + (c - '0');
    } else if (c == ',' || c == ']') {
      elements *= dimension;
      dimension = 0;
    } else {
      return;
    }
  }
  const std::string_view type = segment.substr(end, 24).all();
  const bool half =
      type.find("half") != std::string_view::npos || type.find("float16") != std::string_view::npos;
  Size size;
  size.bytes = elements * (half ? 2 : type.find("double") != std::string_view::npos ? 8 : 4);
  size.begin = first;
  size.end = end;
  if (size.bytes > 0 && size.bytes < 1e15) message.numbers.tried = size;
}

// Of "(GPU 3;", "GPU 3 has", "on device 3".
int gpu_index(CountedText segment) {
  for (const std::string_view word :
       {std::string_view("gpu "), std::string_view("on device "), std::string_view("npu ")}) {
    for (std::size_t at = segment.find(word); at != std::string_view::npos; at = segment.find(word, at + 1)) {
      std::size_t end = at + word.size();
      int index = 0;
      while (end < segment.size() && is_digit(segment[end]) && end < at + word.size() + 3) {
        index = index * 10 + (segment[end] - '0');
        ++end;
      }
      const bool digits = end > at + word.size();
      if (digits && (end >= segment.size() || segment[end] == ' ' || segment[end] == ';')) return index;
    }
  }
  return -1;
}

// One "Process N" line is this process when the message does not say which one it is: the one that holds at
// least what PyTorch has reserved and is nearest to it.
void mark_own_process(Numbers& numbers) {
  if (numbers.this_process || numbers.processes.empty()) return;
  const auto reserved = derive(numbers).reserved;
  if (!reserved) return;
  Process* own = nullptr;
  for (Process& process : numbers.processes) {
    const bool holds_it = process.size.bytes + process.size.half >= *reserved * 0.995;
    if (holds_it && (own == nullptr || process.size.bytes < own->size.bytes)) own = &process;
  }
  if (own != nullptr) own->own = true;
}

bool prints_all(const Numbers& n) { return n.unallocated || n.reserved || n.cached; }

bool same(const Message& a, const Message& b) {
  const auto bytes = [](const std::optional<Size>& size) { return size ? size->bytes : -1.0; };
  return a.family == b.family && a.rank == b.rank && a.gpu == b.gpu &&
         bytes(a.numbers.tried) == bytes(b.numbers.tried) &&
         bytes(a.numbers.allocated) == bytes(b.numbers.allocated);
}

bool tells_figures(const Message& message) {
  return message.family->kind == MessageKind::allocator ||
         (message.family->kind == MessageKind::unified && message.numbers.capacity.has_value());
}

}  // namespace

std::string_view name(MessageKind kind) {
  constexpr std::string_view names[] = {"allocator", "unified", "xla",     "driver", "library",
                                        "paged",     "host",    "startup", "kernel", "spoken"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

std::vector<Message> messages_in(const std::vector<Stream>& streams, Work* work) {
  std::vector<Message> out;
  for (const Stream& stream : streams) {
    const CountedText flow(stream.flow, work), folded(stream.folded, work);
    const std::vector<Hit> opened = openings(flow, folded);
    for (std::size_t i = 0; i < opened.size() && out.size() < most_messages; ++i) {
      const std::size_t begin = opened[i].at;
      std::size_t end = std::min(begin + longest_message, folded.size());
      if (i + 1 < opened.size()) end = std::min(end, opened[i + 1].at);
      const CountedText segment = folded.substr(begin, end - begin);
      Message message;
      message.family = opened[i].family;
      message.weak = opened[i].weak;
      message.rank = stream.rank;
      message.at = begin;
      message.gpu = gpu_index(segment.substr(0, 400));
      read_numbers(segment, message);
      read_by_order(segment, message);
      if (message.family == &xla_family) read_shape(segment, message);
      mark_own_process(message.numbers);
      message.cut_off =
          message.family == &allocator_family && !prints_all(message.numbers) && !message.numbers.at_least;
      message.quote = first_bytes(flow.substr(begin, end - begin).all(), longest_quote);
      find_forms(folded, segment, message);
      const auto known =
          std::find_if(out.begin(), out.end(), [&](const Message& other) { return same(other, message); });
      if (known != out.end()) {
        ++known->repeats;
      } else {
        out.push_back(std::move(message));
      }
    }
  }
  return out;
}

// A message of the allocator that ends before its figures do, or whose words were broken ("has a to|tal
// capacity").
bool lacks_figures(const std::vector<Message>& messages) {
  const auto of_allocator = [](const Message& one) {
    return one.family == &allocator_family && one.numbers.tried;
  };
  return std::any_of(messages.begin(), messages.end(), of_allocator) &&
         std::none_of(messages.begin(), messages.end(), [&](const Message& one) {
           return of_allocator(one) && !one.cut_off && one.numbers.allocated;
         });
}

}  // namespace

std::vector<Message> read_messages(const Text& text, Work* work) {
  std::vector<Message> out = messages_in(text.streams, work);
  for (const Joining joining : {Joining::unbroken, Joining::continued}) {
    if (!lacks_figures(out)) break;
    std::vector<Message> again = messages_in(streams_of({text.lines, work}, joining), work);
    if (!lacks_figures(again)) out = std::move(again);
  }
  // A title that says "CUDA out of memory" is no message where the message itself stands below it.
  const auto figures = [](const Message& one) {
    return one.family->kind == MessageKind::allocator && one.numbers.tried;
  };
  const auto title = [](const Message& one) {
    return one.family == &allocator_family && !one.numbers.tried && !one.numbers.capacity;
  };
  if (std::any_of(out.begin(), out.end(), figures))
    out.erase(std::remove_if(out.begin(), out.end(), title), out.end());
  // "内存不足" without a figure is a person's word; another message says more.
  const auto prose = [](const Message& one) {
    return one.family == &allocator_family && !one.numbers.tried && !one.numbers.capacity &&
           !one.quote.empty() && (static_cast<unsigned char>(one.quote.front()) & 0x80U) != 0;
  };
  if (!std::all_of(out.begin(), out.end(), prose))
    out.erase(std::remove_if(out.begin(), out.end(), prose), out.end());
  // A launcher that ends the other ranks after a failure says nothing of the machine's memory.
  const bool explained =
      std::any_of(out.begin(), out.end(), [](const Message& one) { return one.family != &host_family; });
  const auto aftermath = [&](const Message& one) { return one.weak && one.family == &host_family; };
  if (explained) out.erase(std::remove_if(out.begin(), out.end(), aftermath), out.end());
  return out;
}

std::size_t primary(const std::vector<Message>& messages) {
  // More figures say more; of equals, the first.
  std::size_t best = 0;
  const auto worth = [](const Message& message) {
    return std::make_tuple(tells_figures(message) && message.numbers.tried.has_value(),
                           tells_figures(message), message.numbers.allocated.has_value(),
                           message.family->kind != MessageKind::host);
  };
  for (std::size_t i = 1; i < messages.size(); ++i) {
    if (worth(messages[i]) > worth(messages[best])) best = i;
  }
  return best;
}

}  // namespace plimsoll::diagnosis
