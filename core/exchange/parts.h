// The settings in a longer paste: an issue with its command, its file and its traceback in one.
//
//     for (const std::string_view part : exchange::settings_parts(paste)) {
//       Document document = read_text(part);          // YAML goes to the parser at the edge, as ever
//       Import import = import_document(document, part);
//     }
#pragma once

#include <string_view>
#include <vector>

namespace plimsoll::exchange {

/// Fenced blocks, command lines, objects and calls whose brackets close, and runs of at least three "key:
/// value" lines, in order of place and none inside another. A command that spans lines is joined when it is
/// read. At most 16; nothing when the text has no such part or is one as a whole. Linear in the text.
std::vector<std::string_view> settings_parts(std::string_view text);

/// Whether what stands before a colon begins a line of a log and no setting: "torch.OutOfMemoryError",
/// "INFO".
bool begins_a_log_line(std::string_view key);

}  // namespace plimsoll::exchange
