#include "core/question/said_config.h"

#include "core/json/ascii.h"

namespace plimsoll::question {

namespace {

constexpr std::size_t longest_config = 64U << 10U;

// Behind the brace that closes the one at `from`; npos: none does.
std::size_t end_of_object(std::string_view text, std::size_t from) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = from; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\') ++at;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

std::string word_at(const json::Json& config, const char* key) {
  return config.contains(key) && config.at(key).is_string() ? config.at(key).get<std::string>() : "";
}

}  // namespace

std::optional<SaidConfig> config_in(std::string_view text) {
  const std::size_t from = text.find('{');
  if (from == std::string_view::npos || text.size() > longest_config) return std::nullopt;
  const std::size_t end = end_of_object(text, from);
  if (end == std::string_view::npos) return std::nullopt;
  std::string rest = std::string(text.substr(0, from)) + "\n" + std::string(text.substr(end));
  if (ascii::trim(rest).empty()) return std::nullopt;
  json::Errors errors;
  const std::optional<json::Json> config = json::parse(text.substr(from, end - from), errors);
  if (!config || !config->is_object() || word_at(*config, "model_type").empty()) return std::nullopt;
  std::string name = word_at(*config, "_name_or_path");
  if (name.empty()) name = word_at(*config, "model_type");
  return SaidConfig{*config, std::move(name), std::move(rest)};
}

}  // namespace plimsoll::question
