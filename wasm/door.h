// How text crosses the border to JavaScript without any library for it: JavaScript asks for room for each
// argument, writes UTF-8 there, calls a function by its exported name, and reads the answer.
// wasm/module.js.in is the other side.
//
//     extern "C" EMSCRIPTEN_KEEPALIVE void plimsoll_twice() { answer() = argument(0) + argument(0); }
#pragma once

#include <emscripten/emscripten.h>

#include <array>
#include <cstdint>
#include <string>

inline std::string& argument(uint32_t index) {
  static std::array<std::string, 3> arguments;
  return arguments[index];
}

inline std::string& answer() {
  static std::string text;
  return text;
}

extern "C" {

/// Where argument `index` goes, with room for `bytes`.
EMSCRIPTEN_KEEPALIVE inline char* argument_at(uint32_t index, uint32_t bytes) {
  argument(index).resize(bytes);
  return argument(index).data();
}
EMSCRIPTEN_KEEPALIVE inline const char* answer_at() { return answer().data(); }
EMSCRIPTEN_KEEPALIVE inline uint32_t answer_bytes() { return static_cast<uint32_t>(answer().size()); }

}  // extern "C"
