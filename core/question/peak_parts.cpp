#include "core/question/peak_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/diagnosis/signs.h"
#include "core/run/components.h"

namespace plimsoll::question {

using diagnosis::size_text;

namespace {

std::string_view words_of(memory::Component component) {
  using memory::Component;
  constexpr std::pair<Component, std::string_view> words[] = {
      {Component::optimizer, "optimizer states"},   {Component::boundaries, "layer inputs kept"},
      {Component::transient, "working memory"},     {Component::logits, "logits and loss"},
      {Component::autocast, "autocast copies"},     {Component::kv_cache, "key-value cache"},
      {Component::frozen_models, "frozen models"},  {Component::engine, "inference engine"},
      {Component::gathered, "gathered parameters"}, {Component::buckets, "exchange buffers"},
      {Component::workspace, "kernel workspace"}};
  for (const auto& [each, name] : words) {
    if (each == component) return name;
  }
  return run::component_id(component);
}

}  // namespace

std::string parts_of(const memory::Snapshot& live) {
  constexpr std::size_t most = 4;
  std::vector<std::pair<double, std::size_t>> parts;
  for (std::size_t i = 0; i < memory::component_count; ++i) {
    if (live.bytes[i] > 0.05 * live.total()) parts.emplace_back(live.bytes[i], i);
  }
  std::sort(parts.rbegin(), parts.rend());
  std::string out;
  for (std::size_t i = 0; i < std::min(most, parts.size()); ++i) {
    out += (out.empty() ? "" : ", ") +
           std::string(words_of(static_cast<memory::Component>(parts[i].second))) + " " +
           size_text(parts[i].first);
  }
  return out;
}

std::string growth(const memory::Snapshot& one, const memory::Snapshot& other) {
  const bool less = one.total() <= other.total();
  const memory::Snapshot &small = less ? one : other, &large = less ? other : one;
  std::size_t most = 0;
  for (std::size_t i = 1; i < memory::component_count; ++i) {
    if (large.bytes[i] - small.bytes[i] > large.bytes[most] - small.bytes[most]) most = i;
  }
  const double grown = large.bytes[most] - small.bytes[most], all = large.total() - small.total();
  if (std::abs(all) < 0.005 * large.total()) return " Between them there is no difference at the peak.";
  if (grown <= 0) return "";
  return " What grows most between them is " + std::string(words_of(static_cast<memory::Component>(most))) +
         ": from " + size_text(small.bytes[most]) + " to " + size_text(large.bytes[most]) +
         "; the whole is " + size_text(all) + " more.";
}

}  // namespace plimsoll::question
