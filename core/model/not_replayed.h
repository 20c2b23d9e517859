// Networks whose training is not replayed, so that nobody gets a figure for another one.
//
//     not_replayed("vit");                            // "images alone", of a model_type
//     not_replayed_by_name("google/vit-base-patch16-224");
#pragma once

#include <string_view>

namespace plimsoll::model {

/// What stands in the way, for a person; "" of all other types.
std::string_view not_replayed(std::string_view model_type);
/// The same of a checkpoint, by how its name begins.
std::string_view not_replayed_by_name(std::string_view name);

}  // namespace plimsoll::model
