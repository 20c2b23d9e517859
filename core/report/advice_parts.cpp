#include "core/report/advice_parts.h"

#include <cmath>

#include "core/advice/fix.h"
#include "core/report/size_fields.h"

namespace plimsoll::report {

using json::whole;
using json::Writer;

double factor(double now, double before) { return before > 0 ? std::round(1000 * now / before) / 1000 : 1; }

const char* quality_word(int cost) {
  if (cost == advice::quality::none) return "none";
  if (cost < advice::quality::small) return "parity";
  return cost < advice::quality::visible ? "small" : "visible";
}
void write_sizes(Writer& out, const memory::Sizes& s) {
  out.open_object();
  write_size_fields(out, s);
  out.close_object();
}

}  // namespace plimsoll::report
