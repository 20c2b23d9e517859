// Keys and values as text, one function a language.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

std::string render_yaml(const std::vector<Entry>& entries);
std::string render_json(const std::vector<Entry>& entries);
std::string render_python(const Format& format, const std::vector<Entry>& entries);
/// A value as it stands in Python; `key` decides whether a word is torch's ("dtype").
std::string python_literal(std::string_view key, const json::Json& value);
std::string render_shell(const Format& format, const std::vector<Entry>& entries);

/// Keys with dots to a tree: {"fsdp_config.offload_params": true} to {"fsdp_config": {"offload_params":
/// true}}.
json::Json tree_of(const std::vector<Entry>& entries);

/// Flags of accelerate launch that take no word: a word behind one would be the script.
constexpr std::string_view bare_launcher_flags = "multi_gpu use_fsdp use_deepspeed";

/// Whether a row can say a value at all.
bool can_write(const Row& row, const json::Json& value);

}  // namespace plimsoll::exchange
