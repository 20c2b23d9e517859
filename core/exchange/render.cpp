#include "core/exchange/render.h"

#include <algorithm>

#include "core/exchange/export.h"
#include "core/exchange/formats.h"
#include "core/exchange/scalar.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// PyYAML reads a number with an exponent only where it also has a point and a sign: 1.0e-05.
std::string yaml_number(const Json& value) {
  std::string text = value.dump();
  const size_t exponent = text.find('e');
  if (exponent == std::string::npos) return text;
  if (text.find('.') == std::string::npos) text.insert(exponent, ".0");
  const size_t behind = text.find('e') + 1;
  if (text[behind] != '-' && text[behind] != '+') text.insert(behind, "+");
  return text;
}

bool plain_in_yaml(const std::string& text) {
  if (text.empty() || !plain_scalar(text).is_string() || text.front() == ' ' || text.back() == ' ')
    return false;
  if (std::string_view("-?:,[]{}#&*!|>'\"%@`~").find(text.front()) != std::string_view::npos) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 32) return false;
  }
  return text.find(": ") == std::string::npos && text.find(" #") == std::string::npos && text.back() != ':' &&
         text.find_first_of(",[]{}") == std::string::npos;
}

std::string yaml_scalar_text(const Json& value) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    return plain_in_yaml(text) ? text : json::write(value);
  }
  if (value.is_number_float()) return yaml_number(value);
  return json::write(value);
}

std::string yaml_flow(const Json& value) {
  if (value.is_array()) {
    std::string text = "[";
    for (const Json& item : value) text += (text.size() > 1 ? ", " : "") + yaml_flow(item);
    return text + "]";
  }
  if (value.is_object()) {
    std::string text = "{";
    for (const auto& [key, item] : value.items())
      text += (text.size() > 1 ? ", " : "") + yaml_scalar_text(key) + ": " + yaml_flow(item);
    return text + "}";
  }
  return yaml_scalar_text(value);
}

void yaml_block(const Json& map, size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (const auto& [key, value] : map.items()) {
    out += margin + yaml_scalar_text(key) + ":";
    if (value.is_object() && !value.empty()) {
      out += "\n";
      yaml_block(value, indent + 2, out);
    } else if (value.is_array() && !value.empty()) {
      out += "\n";
      for (const Json& item : value) out += margin + "  - " + yaml_flow(item) + "\n";
    } else {
      out += " " + yaml_flow(value) + "\n";
    }
  }
}

std::string shell_word(const std::string& text) {
  const auto safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=,@%+").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), safe)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
  return out + "'";
}

std::string shell_literal(const Json& value) {
  if (value.is_array()) {
    std::string text;
    for (const Json& item : value) text += (text.empty() ? "" : " ") + shell_literal(item);
    return text;
  }
  if (value.is_string()) return shell_word(value.get<std::string>());
  return shell_word(json::write(value));
}

}  // namespace

Json tree_of(const std::vector<Entry>& entries) {
  Json tree = Json::object();
  for (const Entry& entry : entries) {
    Json* place = &tree;
    size_t at = 0;
    while (true) {
      const size_t dot = entry.key.find('.', at);
      const std::string key = entry.key.substr(at, dot == std::string::npos ? dot : dot - at);
      Json& inner = (*place)[key];
      if (dot == std::string::npos) {
        inner = entry.value;
        break;
      }
      if (!inner.is_object()) inner = Json::object();
      place = &inner;
      at = dot + 1;
    }
  }
  return tree;
}

std::string literal(Language language, std::string_view key, const Json& value) {
  switch (language) {
    case Language::yaml:
      return yaml_flow(value);
    case Language::python:
      return python_literal(key, value);
    case Language::shell:
      return shell_literal(value);
    case Language::json:
    case Language::link:
    case Language::none:
      break;
  }
  return json::write(value);
}

std::string render_yaml(const std::vector<Entry>& entries) {
  std::string out;
  yaml_block(tree_of(entries), 0, out);
  return out;
}

std::string render_json(const std::vector<Entry>& entries) {
  return json::write(tree_of(entries), true) + "\n";
}

std::string render_shell(const Format& format, const std::vector<Entry>& entries) {
  static constexpr std::string_view launch[] = {"num_processes",
                                                "multi_gpu",
                                                "use_fsdp",
                                                "use_deepspeed",
                                                "zero_stage",
                                                "fsdp_auto_wrap_policy",
                                                "fsdp_version",
                                                "fsdp_offload_params",
                                                "fsdp_reshard_after_forward",
                                                "fsdp_use_orig_params",
                                                "fsdp_backward_prefetch",
                                                "fsdp_forward_prefetch",
                                                "offload_optimizer_device",
                                                "offload_param_device"};
  std::string variables, launcher, flags, stack = "hf", task = "sft";
  std::vector<Entry> nested;
  for (const Entry& entry : entries) {
    if (entry.key == "$stack") {
      stack = entry.value.get<std::string>();
    } else if (entry.key == "$task") {
      task = entry.value.get<std::string>();
    } else if (entry.key[0] == '$') {
      variables += entry.key.substr(1) + "=" + shell_literal(entry.value) + " \\\n";
    } else if (entry.key.find('.') != std::string::npos) {
      nested.push_back(entry);
    } else if (std::find(std::begin(launch), std::end(launch), entry.key) != std::end(launch)) {
      const bool bare = in_list(entry.key, bare_launcher_flags);
      if (bare && entry.value != Json(true)) continue;
      launcher += " --" + entry.key;
      if (!bare) launcher += " " + shell_literal(entry.value);
    } else {
      flags += " \\\n  --" + entry.key + " " + shell_literal(entry.value);
    }
  }
  const Json inner = tree_of(nested);
  for (const auto& [key, value] : inner.items()) flags += " \\\n  --" + key + " " + shell_literal(value);
  if (&format == &ms_swift) {
    const bool rlhf = flags.find("--rlhf_type") != std::string::npos;
    return variables + (rlhf ? "swift rlhf" : "swift sft") + flags + "\n";
  }
  if (stack == "trl") return variables + "trl " + task + launcher + flags + "\n";
  return variables + "accelerate launch" + launcher + " train.py" + flags + "\n";
}

}  // namespace plimsoll::exchange
