#include "core/question/said_asked.h"

#include <algorithm>
#include <cstdio>

#include "core/diagnosis/signs.h"

namespace plimsoll::question {

namespace {

using diagnosis::size_text;

bool says_within(const SaidWords& words, std::size_t from, std::size_t to, Means means) {
  for (std::size_t at = from; at < std::min(to, words.size()); ++at) {
    if (phrase_at(words, at, means) > 0) return true;
  }
  return false;
}

// "I measured 31 GB, is that right?", "45 GiB peak, normal?": what was seen, and a doubt about it.
void read_measured(const SaidWords& words, SaidRequest& out) {
  constexpr std::size_t before = 4, after = 2;
  if (!says(words, Means::doubts)) return;
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::size_t behind = 0;
    const double size = gibibytes_at(words, at, behind);
    const bool told = says_within(words, at > before ? at - before : 0, at, Means::seen) ||
                      says_within(words, behind, behind + after, Means::in_use);
    if (size == 0 || !told) continue;
    out.measured_bytes = size * 1024 * 1024 * 1024;
    // It is no size of a card then.
    if (out.card_bytes == out.measured_bytes) out.card_bytes = 0;
    return;
  }
}

std::string dollars(double amount) {
  char text[32];
  std::snprintf(text, sizeof text, "$%.2f", amount);
  return text;
}

std::string plainly(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

std::string price_of(const SaidRequest& said, const Way& way) {
  std::string out;
  if (way.usd_per_hour == 0) {
    out = " A price needs a card with an offer that is known.";
  } else {
    out = " The lowest price that is known for it is " + dollars(way.usd_per_hour) + " an hour";
    if (said.hours > 0)
      out += ", " + dollars(said.hours * way.usd_per_hour) + " for " + plainly(said.hours) + " hours";
    out += ".";
  }
  return out;
}

std::string whole_run(const Way& way) {
  char hours[32];
  std::snprintf(hours, sizeof hours, way.hours < 10 ? "%.1f" : "%.0f", way.hours);
  std::string out = " The whole run takes about " + std::string(hours) + " hours, if all samples are as long";
  if (way.usd_per_hour > 0) out += ": about " + dollars(way.hours * way.usd_per_hour);
  return out + ".";
}

std::string held_against(double seen, const Way& way) {
  const std::string said = " You saw " + size_text(seen) + ": ";
  const std::string most = size_text(way.device);
  if (seen < 0.95 * way.needed)
    return said + "that is below what this run needs, so it is not the same run as is taken here.";
  if (seen <= 1.05 * way.device)
    return said + "that is in keeping with it. With what PyTorch keeps in its cache nvidia-smi shows about " +
           most + ".";
  return said + "more than this run accounts for, of which nvidia-smi shows about " + most +
         ". Longer samples, a larger micro-batch, checkpointing that is off, a cache in pieces or another process "
         "make up such a difference.";
}

}  // namespace

void read_asked(const SaidWords& words, SaidRequest& out) {
  if (!is_brief(words)) return;
  read_measured(words, out);
  // "What would DoRA cost me in memory" asks for no money.
  out.asks_price = says(words, Means::price) && !says(words, Means::memory);
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at].is_number() && (words[at].unit == "h" || phrase_at(words, at + 1, Means::hours) > 0))
      out.hours = words[at].number;
    // "How long a context fits" asks for no time.
    const std::size_t next = at + phrase_at(words, at, Means::how_long);
    out.asks_time = out.asks_time || (next > at && phrase_at(words, next, Means::long_things) == 0);
  }
}

std::string told_beside(const SaidRequest& said, const Way& way) {
  std::string out;
  if (said.measured_bytes > 0) out += held_against(said.measured_bytes, way);
  if (said.asks_price) out += price_of(said, way);
  if (way.hours > 0) {
    out += whole_run(way);
  } else if (said.asks_time || (said.asks_price && said.hours == 0)) {
    out +=
        " How long the run takes is not answered here: it depends on how many samples there are and how long they "
        "are, which a report of the request takes into account.";
  }
  return out;
}

}  // namespace plimsoll::question
