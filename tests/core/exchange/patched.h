// A patch of a text, and what it must hold.
//
//     EXPECT_EQ(changed(text, {{"/training/max_length", 1024}}), "-sequence_len: 4096\n+sequence_len: 1024\n");
#pragma once

#include "core/exchange/patch.h"
#include "tests/core/exchange/any_text.h"

namespace plimsoll::exchange {

/// The changed lines of a patch, and that the patched text says what the patch claims.
inline std::string changed(const std::string& text, const std::vector<Change>& changes, size_t left_out = 0) {
  const Patch patch = patch_document(read_any(text), text, changes);
  EXPECT_TRUE(patch.errors.empty());
  EXPECT_EQ(patch.left_out.size(), left_out);
  const Import again = import_any(patch.text);
  EXPECT_TRUE(again.errors.empty());
  EXPECT_EQ(again.request, patch.request) << patch.text;
  for (const Change& change : changes) {
    const json::Json::json_pointer place(change.pointer);
    if (left_out > 0) continue;
    EXPECT_EQ(again.request.contains(place) ? again.request.at(place) : json::Json(), change.to)
        << change.pointer << "\n"
        << patch.text;
  }
  std::string lines;
  size_t at = 0;
  while (at < patch.diff.size()) {
    const size_t end = patch.diff.find('\n', at) + 1;
    if (patch.diff[at] == '-' || patch.diff[at] == '+') lines += patch.diff.substr(at, end - at);
    at = end;
  }
  return lines;
}

}  // namespace plimsoll::exchange
