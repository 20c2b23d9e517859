#include "core/exchange/request_fields.h"

#include "core/recipe/fields.h"

namespace plimsoll::exchange {

using json::Json;

void flatten(const Json& node, const std::string& pointer, recipe::Values& out) {
  const bool section = node.is_object() && recipe::find_field(pointer) == nullptr && pointer != "/model";
  if (!section) {
    out[pointer] = node;
    return;
  }
  if (!pointer.empty() && node.empty()) out[pointer] = true;
  for (const auto& [key, value] : node.items()) flatten(value, pointer + "/" + key, out);
}

recipe::Values fields_of(const Json& request) {
  recipe::Values values;
  if (request.is_object()) flatten(request, "", values);
  for (auto field = values.begin(); field != values.end();)
    field = field->second.is_null() ? values.erase(field) : std::next(field);
  return values;
}

bool same(const Json& one, const Json& other) {
  const auto plain = [](const Json& value) {
    return value == Json::array({"all-linear"}) ? Json("all-linear") : value;
  };
  return plain(one) == plain(other);
}

bool says(const recipe::Values& values, const std::string& pointer, const Json* wanted) {
  const auto found = values.find(pointer);
  if (wanted == nullptr || wanted->is_null()) return found == values.end();
  return found != values.end() && same(found->second, *wanted);
}

bool inside(const recipe::Values& values, const std::string& section) {
  const std::string below = section + "/";
  const auto found = values.lower_bound(below);
  return values.count(section) != 0 ||
         (found != values.end() && found->first.compare(0, below.size(), below) == 0);
}

size_t distance(const recipe::Values& from, const recipe::Values& to) {
  const auto one_way = [](const recipe::Values& a, const recipe::Values& b, bool values) {
    size_t count = 0;
    for (const auto& [pointer, value] : a) {
      const bool section = recipe::is_section_mark(pointer, value);
      if (section ? !inside(b, pointer) : (b.count(pointer) == 0 || (values && !says(b, pointer, &value))))
        ++count;
    }
    return count;
  };
  return one_way(from, to, true) + one_way(to, from, false);
}

}  // namespace plimsoll::exchange
