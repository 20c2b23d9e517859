// Plimsoll's own request, as JSON or as a share link.
#include "core/exchange/formats.h"
#include "core/recipe/fields.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

std::string pointer_of(std::string_view path) {
  std::string pointer = "/";
  for (const char c : path) pointer += c == '.' ? '/' : c;
  return pointer;
}

Json plain(const Node& node) {
  if (node.is_scalar()) return node.value;
  Json made = node.is_list() ? Json::array() : Json::object();
  for (const Node& item : node.items) made.push_back(plain(item));
  for (const Member& member : node.members) made[member.key] = plain(member.value);
  return made;
}

void read_field(Reading& reading, const Leaf& leaf) {
  const std::string pointer = pointer_of(leaf.path);
  Json value;
  if (leaf.node->is_list()) {
    value = Json::array();
    for (const Node& item : leaf.node->items) value.push_back(item.value);
  } else if (leaf.node->is_map()) {
    value = leaf.node->members.empty() ? Json(true) : plain(*leaf.node);  // true: a section without members
  } else {
    value = leaf.node->value;
  }
  if (pointer == "/peft" && value.is_null()) {
    reading.all_trained = true;
    return reading.mark(leaf, Use::implied, "all parameters are trained");
  }
  if (recipe::find_field(pointer) == nullptr && pointer != "/model" && !leaf.node->is_map()) return;
  if (value.is_null()) return reading.mark(leaf, Use::implied, "left to the default");
  reading.set(pointer, std::move(value), &leaf);
  const size_t slash = pointer.find('/', 1);
  if (slash != std::string::npos) reading.values.emplace(pointer.substr(0, slash), true);
}

// A model given by its config is one value.
void read_whole(Reading& reading, const Leaf& leaf) {
  reading.mark(leaf, Use::used);
  reading.finding(leaf).pointer = "/model";
  if (reading.has("/model")) return;
  if (const Node* node = reading.document.root.find("model")) reading.values["/model"] = plain(*node);
}

constexpr Row rows[] = {{"model.*", "/model", "", read_whole}, {"*", "", "", read_field}};
constexpr Table table{rows, "schema want", "", ""};
constexpr Section sections[] = {{"", &table}};

bool write(Writing& out, const std::string& pointer, const Json& value) {
  std::string key;
  for (const char c : pointer.substr(1)) key += c == '/' ? '.' : c;
  const bool section = recipe::is_section_mark(pointer, value);
  if (!section) out.put(key, value, pointer);
  if (pointer == "/peft") out.put("peft", Json::object(), pointer);
  return !section || pointer == "/peft";
}

}  // namespace

const Format request{
    .id = "request",
    .name = "Plimsoll request",
    .written = Language::json,
    .of_fields = true,
    .sections = sections,
    .marks =
        "!schema model stack task training peft quantization model_args parallel hardware data vision rl "
        "locks",
    .write = write,
    .needed = "",
};

}  // namespace plimsoll::exchange
