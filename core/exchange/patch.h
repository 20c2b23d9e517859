// A pasted file with a few settings changed: the same format, order and comments, and only the lines of
// those settings different.
//
//     Patch patch = exchange::patch_document(document, text, {{"/training/max_length", 1024}});
//     patch.text;       // the file again
//     patch.diff;       // "-sequence_len: 4096  # tokens\n+sequence_len: 1024  # tokens\n" and its neighbours
//     patch.left_out;   // what such a file has no words for: {"/hardware/PYTORCH_CUDA_ALLOC_CONF", "..."}
//
// Which keys say a change is found by trying: the ways in which the format writes a field are tried on the
// tree of the file, and the first after which its import says what is asked is taken.
#pragma once

#include "core/exchange/import.h"

namespace plimsoll::exchange {

/// A field and what it is to be; null: not stated.
struct Change {
  std::string pointer;
  json::Json to;
};

/// Bytes of the old text that give way to others.
struct Edit {
  uint64_t at = 0, length = 0;
  std::string text;
};

struct Patch {
  const Format* format = nullptr;
  std::string text, diff;
  std::vector<Edit> edits;  ///< in the order of the text, not overlapping
  struct Key {
    std::string pointer, key;
    enum class How : uint8_t { replaced, added, removed } how = How::replaced;
  };
  std::vector<Key> keys;
  struct Left {
    std::string pointer, why;
    json::Json value;
  };
  std::vector<Left> left_out;
  json::Json request;   ///< what the patched file says
  json::Errors errors;  ///< those of import.h, and not_writable
};

/// What is said where a file, read again with its changes, does not say them.
json::Error unreadable_with_changes();

Patch patch_document(const Document& document, std::string_view text, const std::vector<Change>& changes);

/// A patch of a notebook's code (`document.code`, see notebook.h) as one of the notebook itself: text, diff
/// and edits. It stays as it is where the cells do not read back as the patched code.
void put_in_notebook(const Document& document, std::string_view notebook, Patch& patch);

/// The fields in which two requests differ, as changes of the first.
std::vector<Change> changes_between(const json::Json& before, const json::Json& after);

/// A key of the file and its value there; nothing: the key goes.
struct KeyChange {
  std::string key;
  std::optional<json::Json> value;
  std::string pointer;
};

/// Key changes as edits of the text. False when one of them has no place in it.
bool write_keys(const Document& document, const Format& format, std::string_view text,
                const std::vector<KeyChange>& changes, std::vector<Edit>& edits);

std::string edited(std::string_view text, const std::vector<Edit>& edits);
/// The changed lines with up to two neighbours on each side, as `diff -u` shows them; no file names.
std::string line_diff(std::string_view before, std::string_view after);

}  // namespace plimsoll::exchange
