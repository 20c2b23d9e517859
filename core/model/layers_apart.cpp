#include "core/model/layers_apart.h"

#include <algorithm>
#include <map>

#include "core/json/ascii.h"

namespace plimsoll::model {

namespace {

using Parts = std::vector<std::string>;

// Components of a dotted path, without those that say where the language model stands.
Parts parts_of(const std::string& path) {
  Parts parts;
  std::string::size_type begin = 0;
  while (begin <= path.size()) {
    const std::string::size_type end = std::min(path.find('.', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    if (!part.empty() && part != "model" && part != "language_model") parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

bool contains(const Parts& path, const Parts& name) {
  return !name.empty() && std::search(path.begin(), path.end(), name.begin(), name.end()) != path.end();
}

// The number in a name, which becomes '#' there; -1: it has none.
int64_t take_number(Parts& name) {
  for (std::string& part : name) {
    if (part.size() > 6 || !std::all_of(part.begin(), part.end(), ascii::is_digit)) continue;
    int64_t number = 0;
    for (const char digit : part) number = 10 * number + (digit - '0');
    part = "#";
    return number;
  }
  return -1;
}

bool has_module(const Stack& stack, const Parts& name) {
  for (const LayerGroup& group : stack.groups) {
    for (const Linear& linear : group.linears) {
      if (contains(parts_of(linear.path), name)) return true;
    }
  }
  return false;
}

// What is said of each layer, by its number.
using Said = std::map<uint64_t, std::vector<std::string>>;

Said said_of(const Stack& stack, const std::vector<std::string>& names,
             const std::vector<std::string>& parameters) {
  Said said;
  const auto say = [&](const std::string& name, bool is_parameter) {
    Parts hashed = parts_of(name);
    const int64_t number = take_number(hashed);
    if (number < 0 || !(is_parameter || has_module(stack, hashed))) return;
    std::string what;
    for (const std::string& part : hashed) what.append(part).append(".");
    said[static_cast<uint64_t>(number)].push_back(std::move(what));
  };
  for (const std::string& name : names) say(name, false);
  if (stack.part == Part::text) {
    for (const std::string& name : parameters) say(name, true);
  }
  for (auto& [number, what] : said) std::sort(what.begin(), what.end());
  return said;
}

struct Apart {
  uint64_t first = 0;
  LayerGroup group;
};

// The layers of one group, `begin` the number of its first where they follow each other: those of which
// nothing is said, and those of which the same is said.
std::vector<Apart> parted(const LayerGroup& group, uint64_t begin, const Said& said) {
  std::map<std::vector<std::string>, std::vector<uint64_t>> alike;
  for (uint64_t i = 0; i < group.layers; ++i) {
    const uint64_t layer = group.indices.size() == group.layers ? group.indices[i] : begin + i;
    const auto found = said.find(layer);
    alike[found == said.end() ? std::vector<std::string>() : found->second].push_back(layer);
  }
  std::vector<Apart> result;
  for (const auto& [what, layers] : alike) {
    Apart part{layers.front(), group};
    part.group.layers = layers.size();
    part.group.indices = layers;
    const std::string number = std::to_string(layers.front());
    for (Linear& linear : part.group.linears) {
      const std::string::size_type at = what.empty() ? std::string::npos : linear.path.find('#');
      if (at != std::string::npos) linear.path.replace(at, 1, number);
    }
    result.push_back(std::move(part));
  }
  std::sort(result.begin(), result.end(), [](const Apart& a, const Apart& b) { return a.first < b.first; });
  return result;
}

}  // namespace

bool is_skipped(const std::string& path, const std::vector<std::string>& names) {
  if (names.empty()) return false;
  const Parts parts = parts_of(path);
  return std::any_of(names.begin(), names.end(),
                     [&parts](const std::string& name) { return contains(parts, parts_of(name)); });
}

Architecture with_layers_apart(Architecture network, const std::vector<std::string>& names,
                               const std::vector<std::string>& parameters) {
  if (names.empty() && parameters.empty()) return network;
  for (Stack& stack : network.stacks) {
    const Said said = said_of(stack, names, parameters);
    if (said.empty()) continue;
    std::vector<LayerGroup> groups;
    uint64_t begin = 0;
    for (const LayerGroup& group : stack.groups) {
      for (Apart& part : parted(group, begin, said)) groups.push_back(std::move(part.group));
      begin += group.layers;
    }
    stack.groups = std::move(groups);
  }
  return network;
}

}  // namespace plimsoll::model
