// JSON text written as it is found, without a tree in between: a report is some 20 kB, and building, copying
// and freeing its tree would take ten times as long as the replay it describes.
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
#include <memory>
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
  void value(bool flag);
  void value(uint64_t number);
  void value(int64_t number);
  void value(double number);  ///< shortest text that reads back as the same number
  void value(const Json& tree);
  void value(const std::vector<std::string>& texts);
  void null();
  void text(std::string_view json);  ///< JSON that is already written

  template <typename Value>
  void field(std::string_view name, const Value& member) {
    key(name);
    value(member);
  }

  std::string take() { return std::string(text_.get(), std::exchange(end_, 0)); }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void append(std::string_view json);
  /// Where at most `bytes` more may be written; `end_` is moved by whoever writes.
  char* room(std::size_t bytes) {
    if (room_ - end_ < bytes) grow(bytes);
    return text_.get() + end_;
  }
  [[gnu::noinline]] void grow(std::size_t bytes);  ///< apart, so that what calls it stays short
  std::unique_ptr<char[]> text_;
  std::size_t room_ = 0;  ///< of which so much is written:
  std::size_t end_ = 0;
  bool first_ = true;  ///< nothing stands yet at this level
};

}  // namespace plimsoll::json
