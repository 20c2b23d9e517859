// One out-of-memory message, read: which program wrote it, in which form, and the numbers in it.
//
//     std::vector<Message> messages = read_messages(clean(pasted));
//     const Message& first = messages[primary(messages)];
//     first.numbers.tried->bytes;        // 234881024 for "Tried to allocate 224.00 MiB"
//     derive(first.numbers).residual;    // what is neither PyTorch's, nor another process's, nor free
//
// Forms, traps and the own-process rule were read off public issue threads and PyTorch's own source
// (c10/cuda/CUDACachingAllocator.cpp, aten/src/ATen/mps/MPSAllocator.mm).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/cases.h"
#include "core/diagnosis/size.h"
#include "core/diagnosis/text.h"

namespace plimsoll::diagnosis {

/// Who ran out. The class decides by words alone whether a figure of the GPU's memory can be expected.
enum class MessageKind {
  allocator,  ///< PyTorch's caching allocator: figures
  unified,    ///< Apple: Metal under PyTorch or MLX
  xla,        ///< JAX, TPU
  driver,     ///< CUDA or HIP itself: no figures
  library,    ///< cuBLAS, cuDNN, NCCL: they ask the driver directly
  paged,      ///< bitsandbytes: managed memory
  host,       ///< RAM of the machine, not of the GPU
  startup,    ///< vLLM's budget when it starts
  kernel,     ///< a kernel's on-chip memory, not the GPU's
  spoken      ///< a person's words: no line of a program
};
std::string_view name(MessageKind kind);

struct Process {
  uint64_t id = 0;
  Size size;
  bool own = false;
};

struct Numbers {
  std::optional<Size> tried, capacity, free, allocated;
  std::optional<Size> reserved;     ///< in total by PyTorch
  std::optional<Size> unallocated;  ///< reserved but unallocated
  std::optional<Size> cached;       ///< PyTorch up to 1.3 prints reserved minus allocated under this word
  std::optional<Size> pools;        ///< allocated in private pools
  std::optional<Size> limit;        ///< allowed to this process
  std::optional<Size> this_process;
  std::optional<Size> other;       ///< Metal: other allocations
  std::vector<Process> processes;  ///< "Process 123 has"
  bool at_least = false;           ///< "more than 1EB"
};

/// A size is that number when the text before it ends with `before` and the text behind it begins with
/// `after` (blanks aside).
struct Clause {
  std::optional<Size> Numbers::*number;
  std::string_view before, after;
};

/// A form of message: the words it is recognised by and the clauses its numbers stand in. All in lower case.
struct Family {
  std::string_view id;
  MessageKind kind;
  std::string_view what;  ///< one sentence: who says this, and what it means
  std::span<const std::string_view> markers = {};
  /// Open a message only where no other one has just begun.
  std::span<const std::string_view> weak_markers = {};
  std::span<const Clause> clauses = {};
  uint8_t row = 0;  ///< of the list of forms (forms.cpp); 0: none, or its figures decide
};

struct Message {
  const Family* family = nullptr;
  std::vector<uint8_t> forms;  ///< rows of the list of forms (forms.cpp) that apply, ascending
  Numbers numbers;
  int rank = -1;  ///< of the stream it stands in
  int gpu = -1;   ///< index of the device; -1: not printed
  bool cut_off = false;
  bool weak = false;     ///< only a weak marker opened it
  uint64_t repeats = 1;  ///< how often the same message of this rank stands in the text
  std::string quote;     ///< its first words as written, at most 400 bytes
  std::size_t at = 0;    ///< in the stream
};

/// In order of rank and place; the first of each rank and form, the rest counted. At most 64.
std::vector<Message> read_messages(const Text& text, Work* work = nullptr);
/// What a person says in words, for a text in which no program says it; at most one. `cases`: those that the
/// text shows, which may be a failure of memory without being called one.
std::vector<Message> spoken_messages(const Text& text, const Prose& prose,
                                     const std::vector<CaseShown>& cases = {});
/// What a person says was asked for, where no program does: "it was asking for about 9.3 GB".
std::optional<Size> size_in_words(std::string_view folded);
/// The one to explain: the first that prints figures of the GPU, else the first. 0 when there are none.
std::size_t primary(const std::vector<Message>& messages);

/// A form of the list that people call "variants": what it looks like, and the trap in it.
struct Form {
  uint8_t row;
  std::string_view what;
};
std::span<const Form> forms();

/// What the figures say together. Absent where the line does not print what it takes.
struct Derived {
  std::optional<double> reserved;   ///< printed, or allocated + unallocated
  std::optional<double> slack;      ///< reserved - allocated: cached but free
  std::optional<double> other;      ///< processes but this one
  std::optional<double> residual;   ///< capacity - reserved - free - other
  std::optional<double> shortfall;  ///< tried - free
  bool sentinel = false;            ///< a process figure that the driver cannot give (WSL)
  bool other_is_a_bound = false;    ///< "0 bytes" for this process: context is inside `other`
};
Derived derive(const Numbers& numbers);

}  // namespace plimsoll::diagnosis
