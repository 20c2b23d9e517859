#include "core/exchange/placeholder.h"

#include <algorithm>
#include <string>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

// Names of folders and of variables, none of which is a model's.
constexpr std::string_view folders[] = {"",
                                        "model",
                                        "models",
                                        "model_path",
                                        "model-path",
                                        "model_dir",
                                        "base_model",
                                        "base",
                                        "base-model",
                                        "checkpoint",
                                        "checkpoints",
                                        "ckpt",
                                        "ckpts",
                                        "dir",
                                        "folder",
                                        "output",
                                        "outputs",
                                        "path",
                                        "hf",
                                        "pretrained_model",
                                        "model_name",
                                        "llm",
                                        "weights",
                                        "final",
                                        "merged",
                                        "local_model",
                                        "pretrained",
                                        "model_id",
                                        "pretrained_models",
                                        "model_name_or_path",
                                        "huggingface_model",
                                        "hf_model"};
constexpr std::string_view parts[] = {"your",        "path_to", "path-to", "path_of", "xxx",
                                      "placeholder", "<",       ">",       "$"};

// "8B", "70b": a size alone.
bool is_size(std::string_view name) {
  if (name.size() < 2 || ascii::lower(name).back() != 'b') return false;
  name.remove_suffix(1);
  return std::all_of(name.begin(), name.end(), [](char c) { return ascii::is_digit(c) || c == '.'; });
}

}  // namespace

bool is_placeholder(std::string_view model) {
  const std::string lower = ascii::lower(ascii::trim(model));
  std::string_view name = lower;
  const bool folder = !name.empty() && name.back() == '/';
  while (!name.empty() && name.back() == '/') name.remove_suffix(1);
  const std::size_t slash = name.rfind('/');
  const bool below = slash != std::string_view::npos;
  name = name.substr(below ? slash + 1 : 0);
  const auto holds = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (std::any_of(std::begin(parts), std::end(parts), holds)) return true;
  if (std::find(std::begin(folders), std::end(folders), name) != std::end(folders)) return true;
  // "./out/checkpoint-500": of a path what is last names nothing.
  return (below || folder) && (is_size(name) || name.rfind("checkpoint-", 0) == 0);
}

}  // namespace plimsoll::exchange
