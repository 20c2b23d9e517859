#include "core/cli/hub_cache.h"

#include <cstdlib>
#include <filesystem>

#include "core/cli/input.h"
#include "core/json/ascii.h"

namespace plimsoll::cli {

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Source: huggingface/huggingface_hub src/huggingface_hub/constants.py HF_HUB_CACHE.
fs::path hub() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const std::string folder = variable(name); !folder.empty()) return folder;
  }
  if (const std::string home = variable("HF_HOME"); !home.empty()) return fs::path(home) / "hub";
  std::string cache = variable("XDG_CACHE_HOME");
  if (cache.empty()) cache = variable("HOME") + "/.cache";
  return fs::path(cache) / "huggingface" / "hub";
}

// A name is no path: nothing above the cache is looked into.
bool is_model_id(const std::string& id) {
  const std::size_t slash = id.find('/');
  return slash != 0 && slash != std::string::npos && slash + 1 < id.size() && id.rfind('/') == slash &&
         id.find("..") == std::string::npos;
}

std::string main_commit(const fs::path& model) {
  std::error_code none;
  const fs::path file = model / "refs" / "main";
  if (!fs::is_regular_file(file, none)) return "";
  Input input(file.string());
  return std::string(ascii::trim(input.rest()));
}

}  // namespace

std::string config_in(const std::string& folder) {
  std::error_code none;
  const fs::path file = fs::path(folder) / "config.json";
  return fs::is_regular_file(file, none) ? file.string() : "";
}

std::string cached_config(const std::string& model_id) {
  if (!is_model_id(model_id)) return "";
  std::string name = "models--" + model_id;
  name.replace(name.find('/'), 1, "--");
  const fs::path model = hub() / name, snapshots = model / "snapshots";
  if (const std::string commit = main_commit(model); !commit.empty()) {
    if (const std::string found = config_in((snapshots / commit).string()); !found.empty()) return found;
  }
  std::string first;
  std::error_code problem;
  for (fs::directory_iterator entry(snapshots, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string found = config_in(entry->path().string());
    if (!found.empty() && (first.empty() || found < first)) first = found;
  }
  return first;
}

}  // namespace plimsoll::cli
