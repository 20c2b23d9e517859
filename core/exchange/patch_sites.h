// Where in a file the changes of a patch belong: key changes by the map that holds them, and one writer of
// edits a language.
//
//     const Site site{&document.root, "", {{"bf16", true}}};
//     if (!write_yaml_site(site, context, edits)) return false;      // no place for it
#pragma once

#include "core/exchange/patch.h"

namespace plimsoll::exchange {

/// A map of the file and what changes among its members.
struct Site {
  const Node* map = nullptr;
  std::string path;  ///< of the map: "fsdp_config"; "" the top
  json::Json added = json::Json::object();
  std::vector<const Member*> removed;
  std::vector<std::pair<const Member*, json::Json>> replaced;

  bool is_removed(const Member& member) const;
};

struct PatchContext {
  std::string_view text;
  const Format& format;
  const Node& root;
  std::string newline;  ///< of the text: "\n" or "\r\n"
};

bool write_yaml_site(const Site& site, const PatchContext& context, std::vector<Edit>& edits);
bool write_json_site(const Site& site, const PatchContext& context, std::vector<Edit>& edits);
bool write_python_site(const Site& site, const PatchContext& context, std::vector<Edit>& edits);
/// Calls that the source does not make yet: LoraConfig and BitsAndBytesConfig beside the model they are for.
bool write_python_calls(const Site& site, const PatchContext& context, std::vector<Edit>& edits);
/// One more argument behind `beside`, on a line of its own where the others have one.
void add_python_argument(const Member& beside, const std::string& written, const PatchContext& context,
                         std::vector<Edit>& edits);
bool write_shell_site(const Site& site, const PatchContext& context, std::vector<Edit>& edits);

/// The member beside which readers expect a key: the nearest before it in the format's tables, else the
/// nearest behind, else the last. Null when the map has none that `usable` takes.
const Member* neighbour_of(const Site& site, const PatchContext& context, std::string_view key,
                           bool (*usable)(const Member&, const Site&, const PatchContext&));

size_t line_start(std::string_view text, size_t at);
size_t line_end(std::string_view text, size_t at);  ///< of the line feed, or the size
std::string_view indentation(std::string_view text, size_t at);
bool is_blank(std::string_view text, size_t from, size_t to);

/// In the quotes that the old value had.
std::string in_quotes(std::string_view old, std::string written, const json::Json& value);

}  // namespace plimsoll::exchange
