// Reads a text of any language: YAML natively alone, as the page brings its own parser.
//
//     const Import import = import_any("micro_batch_size: 2\nbase_model: gpt2\n");
//     expect_request(text, "axolotl", R"({"model": "gpt2", "stack": "axolotl"})");
#pragma once

#include <gmock/gmock.h>

#include "core/exchange/import.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::exchange {

inline Document read_any(const std::string& text) {
#ifndef __EMSCRIPTEN__
  return cli::read_document(text);
#else
  return read_text(text);
#endif
}

inline Import import_any(const std::string& text) { return import_document(read_any(text), text); }

/// That the text is of that format and means that request, whatever the order of its keys, and that no key of it is
/// unknown.
inline void expect_request(const std::string& text, std::string_view format, const char* wanted) {
  const Import import = import_any(text);
  for (const json::Error& error : import.errors) ADD_FAILURE() << error.code << ": " << error.message;
  ASSERT_NE(import.format, nullptr);
  EXPECT_EQ(import.format->id, format);
  EXPECT_EQ(nlohmann::json::parse(import.request.dump()), nlohmann::json::parse(wanted));
  for (const Finding& found : import.findings) EXPECT_NE(found.use, Use::unknown) << found.path;
}

}  // namespace plimsoll::exchange
