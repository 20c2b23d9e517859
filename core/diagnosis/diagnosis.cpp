#include "core/diagnosis/diagnosis.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::diagnosis {

namespace {

// Cards whose reported memory is the printed one: by nvidia-smi's total, or by PyTorch's capacity. Drivers
// differ by some tens of MiB.
std::vector<std::string> cards_of(const Situation& situation, const Reading& reading) {
  constexpr double gibibyte = 1073741824.0;
  constexpr std::size_t most = 8;
  double total = 0;
  bool smi = false;
  if (const Message* message = reading.message(); message != nullptr && message->numbers.capacity) {
    if (message->family->kind == Kind::allocator) total = message->numbers.capacity->bytes;
  } else if (!reading.table.cards.empty()) {
    total = reading.table.cards.front().total;
    smi = true;
  }
  std::vector<std::string> out;
  if (total == 0) return out;
  for (const hardware::Gpu* gpu : situation.gpus) {
    const double known = static_cast<double>(smi ? gpu->nvidia_smi_total_bytes : gpu->usable_bytes);
    const double window = smi ? 0.002 * total : 0.06 * gibibyte;
    if (known > 0 && std::fabs(known - total) <= window && out.size() < most) out.push_back(gpu->id);
  }
  return out;
}

}  // namespace

Diagnosis diagnose(const Situation& situation) {
  Diagnosis d;
  Reading& r = d.reading;
  r.text = clean(situation.text);
  r.messages = read_messages(r.text);
  r.first = primary(r.messages);
  Numbers numbers;
  if (const Message* message = r.message()) numbers = message->numbers;
  r.derived = derive(numbers);
  r.table = read_gpu_table(r.text);
  r.frames = read_frames(r.text);
  r.phase = r.frames.phase == Phase::unknown ? situation.phase : r.frames.phase;
  r.facts = read_facts(situation, r.text, numbers, r.table);
  if (numbers.tried) r.matches = tensors_of_size(*numbers.tried, situation, r);
  d.cards = cards_of(situation, r);
  if (r.messages.empty() && r.table.cards.empty()) return d;
  d.evidence = collect(r, situation);
  d.causes = rank(d.evidence);
  return d;
}

}  // namespace plimsoll::diagnosis
