// JSON text written as it is found, without a tree in between: a report is some 20 kB, and nlohmann's tree of
// it, built, copied and freed, takes longer than the replay it describes.
//
//     json::Writer out;
//     out.open_object();
//     out.field("schema", uint64_t{1});
//     out.key("tiers");
//     out.open_array();  ...  out.close_array();
//     out.close_object();
//     return out.take();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::json {

class Writer {
 public:
  void open_object() { open('{'); }
  void close_object() { close('}'); }
  void open_array() { open('['); }
  void close_array() { close(']'); }
  void key(std::string_view name);  ///< one of the contract's own: nothing in it has to be escaped

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool flag) { text(flag ? "true" : "false"); }
  void value(uint64_t number);
  void value(int64_t number);
  void value(double number) { value(Json(number)); }  ///< shortest text that reads back as the same number
  void value(const Json& tree) { text(write(tree)); }
  void value(const std::vector<std::string>& texts);
  void null() { text("null"); }
  void text(std::string_view json);  ///< JSON that is already written

  template <typename Value>
  void field(std::string_view name, const Value& member) {
    key(name);
    value(member);
  }

  std::string take() { return std::exchange(text_, {}); }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();

  std::string text_;
  bool first_ = true;  ///< nothing stands yet at this level
};

}  // namespace plimsoll::json
