// YAML to the tree of core/exchange, with the place of every scalar. The only file that knows yaml-cpp.
//
//     exchange::Document document = cli::read_document(text);   // every language, YAML included
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::cli {

/// Anchors are followed and << is merged, up to 100,000 nodes in all; a second document is an error.
exchange::Document read_yaml(const std::string& text);

/// exchange::read_text, and read_yaml where the text is YAML.
exchange::Document read_document(const std::string& text, const std::string& command = "");

}  // namespace plimsoll::cli
