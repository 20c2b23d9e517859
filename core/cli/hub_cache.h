// A model's config.json on this computer: in a folder, or in the cache that Hugging Face's libraries keep.
//
//     std::string path = cached_config("meta-llama/Llama-3.1-8B");     // "" when it is not there
//
// Nothing is fetched.
#pragma once

#include <string>

namespace plimsoll::cli {

/// .../models--org--name/snapshots/COMMIT/config.json: the commit of refs/main, else the first there is.
std::string cached_config(const std::string& model_id);

/// FOLDER/config.json; "" when there is none.
std::string config_in(const std::string& folder);

}  // namespace plimsoll::cli
