#include "core/memory/parameters/unfrozen.h"

#include <algorithm>

#include "core/recipe/pattern.h"

namespace plimsoll::memory {

namespace {

using model::LayerGroup;

constexpr const char* unfrozen_pointer = "/training/unfrozen_parameters";

// "^model.embed_tokens.weight$[:32000]": rows alone; the gradient is whole all the same.
std::string without_range(const std::string& pattern) {
  const std::size_t open = pattern.rfind('[');
  const bool range = open != std::string::npos && pattern.back() == ']' &&
                     pattern.find(':', open) != std::string::npos &&
                     pattern.find_first_not_of("0123456789:]", open + 1) == std::string::npos;
  return range ? pattern.substr(0, open) : pattern;
}

// re.match on a pattern whose dots are escaped unless a plus follows.
std::string whole_pattern(const std::string& given) {
  std::string escaped;
  const std::string name = without_range(given);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool before_plus = i + 1 < name.size() && name[i + 1] == '+';
    const bool escaped_already = i > 0 && name[i - 1] == '\\';
    if (name[i] == '.' && !before_plus && !escaped_already) escaped += '\\';
    escaped += name[i];
  }
  return "(?:" + escaped + ").*";
}

class Names {
 public:
  Names(const std::vector<std::string>& given, json::Errors& errors) {
    for (const std::string& pattern : given) {
      std::string why;
      auto read = recipe::read_pattern(whole_pattern(pattern), why);
      if (read) {
        patterns_.push_back(std::move(*read));
      } else {
        errors.push_back({"bad_pattern", unfrozen_pointer, pattern + ": " + why, ""});
      }
    }
  }
  bool has(const std::string& module) {
    const bool found = std::any_of(patterns_.begin(), patterns_.end(),
                                   [&](const recipe::Pattern& p) { return p.matches(module + ".weight"); });
    any_ = any_ || found;
    return found;
  }
  bool any() const { return any_; }

 private:
  std::vector<recipe::Pattern> patterns_;
  bool any_ = false;
};

// The name that Llama's family and its heirs give a norm; other families' norms are of no size.
std::string norm_name(const LayerGroup& group, const model::Norm& norm, uint64_t layer) {
  const std::string path = group.linears.empty() ? "" : group.linears.front().path;
  const std::string below = path.substr(0, path.find('#') == std::string::npos ? 0 : path.find('#') + 1);
  const char* name = norm.place == model::NormPlace::before_attention ? "input_layernorm"
                     : norm.place == model::NormPlace::q              ? "self_attn.q_norm"
                     : norm.place == model::NormPlace::k              ? "self_attn.k_norm"
                                                                      : "post_attention_layernorm";
  return model::in_layer(below + "." + name, layer);
}

// One layer of a group, with what is not named frozen.
LayerGroup named_layer(const LayerGroup& group, uint64_t layer, Names& names) {
  LayerGroup one = group;
  one.layers = 1;
  bool any = false;
  for (model::Linear& linear : one.linears) {
    linear.frozen = linear.frozen || !names.has(model::in_layer(linear.path, layer));
    any = any || !linear.frozen;
  }
  for (model::Norm& norm : one.norms) {
    norm.frozen = norm.frozen || !names.has(norm_name(group, norm, layer));
    any = any || !norm.frozen;
  }
  one.frozen = !any;
  return one;
}

bool freezes_alike(const LayerGroup& a, const LayerGroup& b) {
  const auto same = [](const auto& x, const auto& y) { return x.frozen == y.frozen; };
  return a.frozen == b.frozen &&
         std::equal(a.linears.begin(), a.linears.end(), b.linears.begin(), b.linears.end(), same) &&
         std::equal(a.norms.begin(), a.norms.end(), b.norms.begin(), b.norms.end(), same);
}

void freeze_stack(model::Stack& stack, uint64_t last, Names& names) {
  std::vector<LayerGroup> groups;
  uint64_t layer = 0, layers = 0;
  for (const LayerGroup& group : stack.groups) layers += group.layers;
  const bool language = stack.part == model::Part::text || stack.part == model::Part::decoder;
  const uint64_t first_whole = language ? layers - std::min(last, layers) : layers;
  for (const LayerGroup& group : stack.groups) {
    const std::size_t first = groups.size();
    for (uint64_t i = 0; i < group.layers; ++i, ++layer) {
      LayerGroup one = named_layer(group, layer, names);
      if (layer >= first_whole) {
        one = group;
        one.layers = 1;
      }
      if (groups.size() > first && freezes_alike(groups.back(), one)) {
        ++groups.back().layers;
      } else {
        groups.push_back(std::move(one));
      }
    }
  }
  stack.groups = std::move(groups);
  for (model::Linear& linear : stack.linears) linear.frozen = linear.frozen || !names.has(linear.path);
  for (model::Norm& norm : stack.norms) norm.frozen = norm.frozen || !names.has("model.norm");
  for (model::Table& table : stack.tables) table.trained = table.trained && names.has(table.path);
}

}  // namespace

model::Architecture with_unfrozen(model::Architecture network, const std::vector<std::string>& patterns,
                                  uint64_t last_layers, json::Errors& errors) {
  Names names(patterns, errors);
  for (model::Stack& stack : network.stacks) freeze_stack(stack, last_layers, names);
  if (!names.any() && errors.empty()) {
    errors.push_back({"unknown_parameters", unfrozen_pointer, "No parameter of this model has such a name.",
                      "names as model.named_parameters() gives them, \"model.layers.0.mlp.down_proj\""});
  }
  return network;
}

}  // namespace plimsoll::memory
