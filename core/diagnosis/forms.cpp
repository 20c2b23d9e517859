// The list of forms that messages come in, and what gives each of the allocator's away. The others are those
// of their family.
#include <algorithm>

#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr Form all_forms[] = {
    {1, "PyTorch up to 1.3: \"cached\" is what is reserved beyond the allocated memory"},
    {2, "PyTorch 1.4 to 1.9: \"reserved in total by PyTorch\""},
    {3, "PyTorch 1.10 to 2.0: with the hint about max_split_size_mb"},
    {4, "PyTorch 2.1: sentences, \"capacity\" misspelt"},
    {5, "PyTorch 2.2 to 2.4: the hint names PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
    {6, "PyTorch 2.5 and later: torch.OutOfMemoryError"},
    {7, "the newest PyTorch: PYTORCH_ALLOC_CONF, or a limit set for the process"},
    {8, "in a container: this process is not named, or shown with 0 bytes"},
    {9, "WSL or Windows: figures that the driver cannot know, or more allocated than the card has"},
    {10, "the number of the device is missing"},
    {11, "cut off: the message ends before its figures do"},
    {12, "several ranks print at once"},
    {13, "the sentence was broken over lines or marked up"},
    {14, "translated by a machine"},
    {15, "ROCm: HIP in place of CUDA"},
    {16, "Intel XPU"},
    {17, "Apple Metal (MPS)"},
    {18, "MLX"},
    {19, "JAX or XLA"},
    {20, "the driver itself, without figures"},
    {21, "a library that asks the driver: cuBLAS, cuDNN, NCCL"},
    {22, "bitsandbytes' managed memory"},
    {23, "RAM of the machine"},
    {24, "vLLM at its start"},
    {25, "a table of nvidia-smi"},
    {26, "Transformers, which loads no quantised model in parts"},
};

bool has(CountedText text, std::string_view words) { return text.find(words) != std::string_view::npos; }

void find_allocator_forms(CountedText before, CountedText segment, Message& message) {
  const Numbers& n = message.numbers;
  auto& rows = message.forms;
  const bool sentences = has(segment, "is free") || has(segment, "of which") || has(segment, "has a total");
  if (n.cached) rows.push_back(1);
  if (n.reserved && !has(segment, ">>")) rows.push_back(2);
  if (n.reserved && has(segment, ">>")) rows.push_back(3);
  if (has(segment, "capacty")) rows.push_back(4);
  if (sentences && has(segment, "expandable_segments") && !has(before, "torch.outofmemoryerror") &&
      !has(segment, "pytorch_alloc_conf")) {
    rows.push_back(5);
  }
  if (has(before, "torch.outofmemoryerror") || n.pools) rows.push_back(6);
  if (has(segment, "pytorch_alloc_conf") || n.limit) rows.push_back(7);
  const bool hidden = n.this_process ? n.this_process->bytes == 0 : !n.processes.empty();
  if (hidden) rows.push_back(8);
  const bool more_than_there_is = n.allocated && n.capacity && n.allocated->bytes > n.capacity->bytes;
  if (derive(n).sentinel || more_than_there_is) rows.push_back(9);
  if (has(segment, "gpu has a total")) rows.push_back(10);
  if (message.cut_off) rows.push_back(11);
  if (message.rank >= 0) rows.push_back(12);
  const std::string_view said = segment.all();
  const bool foreign = std::any_of(said.begin(), said.end(),
                                   [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; });
  if (foreign && !has(segment, "total capac")) rows.push_back(14);
  if (has(segment, "hip out of memory")) rows.push_back(15);
  if (has(segment, "xpu out of memory")) rows.push_back(16);
}

}  // namespace

std::span<const Form> forms() { return all_forms; }

void find_forms(CountedText folded, CountedText segment, Message& message) {
  const std::size_t from = message.at < 60 ? 0 : message.at - 60;
  const CountedText before = folded.substr(from, message.at - from);
  if (message.family == &allocator_family) find_allocator_forms(before, segment, message);
  if (message.family->row > 0) message.forms.push_back(message.family->row);
}

}  // namespace plimsoll::diagnosis
