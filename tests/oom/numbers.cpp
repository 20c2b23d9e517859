#include "tests/oom/numbers.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace plimsoll::oom {

namespace {

constexpr double mib = 1048576.0, gib = 1073741824.0;

// The records take Metal's "MB" and "GB" for powers of 1000. PyTorch's source divides by 1024, and so does
// the diagnosis; here only the digits are compared.
double as_recorded(const diagnosis::Size& size) {
  if (size.unit == "mb") return size.value * 1e6;
  if (size.unit == "gb") return size.value * 1e9;
  return size.bytes;
}

std::optional<double> as_recorded(const std::optional<diagnosis::Size>& size) {
  if (!size) return std::nullopt;
  return as_recorded(*size);
}

struct Field {
  const char* name;
  std::optional<double> stated;
  double unit;
  std::optional<double> read;
};

// Records have four decimals.
bool agrees(const Field& field) {
  if (!field.stated) return true;
  return field.read && std::fabs(*field.read / field.unit - *field.stated) <= 6e-5 + 1e-9 * *field.stated;
}

}  // namespace

std::string wrong_numbers(const Record& record, const std::vector<diagnosis::Message>& messages) {
  diagnosis::Numbers n;
  if (!messages.empty()) n = messages[diagnosis::primary(messages)].numbers;
  const diagnosis::Derived d = diagnosis::derive(n);
  // Under "reserved" the records have the figure behind "cached", which is what is reserved beyond the
  // allocated.
  const auto reserved = n.cached ? as_recorded(n.cached) : d.reserved;
  const std::array<Field, 6> fields = {
      {{"tried_mib", record.tried_mib, mib, as_recorded(n.tried)},
       {"total_gib", record.total_gib, gib, as_recorded(n.capacity)},
       {"allocated_gib", record.allocated_gib, gib, as_recorded(n.allocated)},
       {"reserved_gib", record.reserved_gib, gib, reserved},
       {"free_mib", record.free_mib, mib, as_recorded(n.free)},
       {"other_process_gib", record.other_process_gib, gib, d.other}}};
  std::string out;
  for (const Field& field : fields) {
    if (agrees(field)) continue;
    std::array<char, 96> words{};
    std::snprintf(words.data(), words.size(), "%s %.4f not %.4f ", field.name,
                  field.read ? *field.read / field.unit : -1.0, *field.stated);
    out += words.data();
  }
  return out;
}

}  // namespace plimsoll::oom
