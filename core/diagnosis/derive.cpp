#include <algorithm>

#include "core/diagnosis/message.h"

namespace plimsoll::diagnosis {

namespace {

// 17179869184.00 GiB is 2^64 bytes: "unknown" of a driver that cannot attribute memory (WSL, some
// containers).
constexpr double sentinel_bytes = 1e17;

bool is_sentinel(const Size& size) { return size.bytes > sentinel_bytes; }

std::optional<double> bytes(const std::optional<Size>& size) {
  if (!size) return std::nullopt;
  return size->bytes;
}

// What other programs hold, by the lines of the message.
std::optional<double> other_processes(const Numbers& n, Derived& d) {
  bool own_known = n.this_process.has_value();
  double sum = 0;
  for (const Process& process : n.processes) {
    if (process.own) {
      own_known = true;
    } else if (is_sentinel(process.size)) {
      d.sentinel = true;
    } else {
      sum += process.size.bytes;
    }
  }
  if (n.this_process && is_sentinel(*n.this_process)) d.sentinel = true;
  if (!own_known) return std::nullopt;
  const bool hidden = n.this_process && n.this_process->bytes == 0;
  if (hidden && n.capacity && n.free && d.reserved) {
    // In a container this process shows nothing, and a listed process may be this one under another number:
    // others and the own context cannot be told apart.
    d.other_is_a_bound = true;
    return std::max(0.0, n.capacity->bytes - n.free->bytes - *d.reserved);
  }
  return sum;
}

}  // namespace

Derived derive(const Numbers& n) {
  Derived d;
  d.reserved = bytes(n.reserved);
  if (n.allocated && n.unallocated) d.reserved = n.allocated->bytes + n.unallocated->bytes;
  if (n.allocated && n.cached) d.reserved = n.allocated->bytes + n.cached->bytes;
  if (d.reserved && n.allocated) d.slack = *d.reserved - n.allocated->bytes;
  d.other = other_processes(n, d);
  if (n.tried && n.free) d.shortfall = n.tried->bytes - n.free->bytes;
  if (n.capacity && n.free && d.reserved) {
    const double others = d.other.value_or(0);
    d.residual = n.capacity->bytes - *d.reserved - n.free->bytes - (d.other_is_a_bound ? 0 : others);
  }
  return d;
}

}  // namespace plimsoll::diagnosis
