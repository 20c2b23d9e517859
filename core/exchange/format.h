// One foreign format: its keys as data, and what a table cannot say as two small functions.
//
//     constexpr Row rows[] = {
//         {"micro_batch_size", "/training/per_device_train_batch_size"},
//         {"optimizer", "/training/optim", "adamw_bnb_8bit=adamw_8bit"},
//     };
//     constexpr Table table{rows, "wandb_* output_dir", "model_type", "lisa_n_layers"};
//     const Format axolotl{"axolotl", "Axolotl", "axolotl", Language::yaml, ...};
//
// A new format is one file in formats/ and one line in formats.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exchange/tree.h"
#include "core/recipe/recipe.h"

namespace plimsoll::exchange {

class Reading;
class Writing;

/// Whether an export may use a row: `unless_read` where the field's plain value is what the key holds.
enum class Write : uint8_t { unless_read, yes, no };

/// One key. Without `read` and `is_switch` a value is converted to the type of the field at `pointer`; the
/// first such row of a pointer is also how the field is written.
struct Row {
  std::string_view key;          ///< the path in the file: "fsdp_config.offload_params"
  std::string_view pointer;      ///< of the request: "/parallel/fsdp_config/offload_params"
  std::string_view values = {};  ///< "theirs=ours, theirs=ours"; words that are not listed pass as they are
  void (*read)(Reading&, const Leaf&) = nullptr;
  Write write = Write::unless_read;
  bool is_switch = false;  ///< on, it sets `values`; off, it says nothing
};

/// Keys of one name space. The lists are joined by blanks; a key that ends in * stands for all that begin so.
struct Table {
  std::span<const Row> rows;
  std::string_view irrelevant;  ///< does not change GPU memory
  std::string_view implied;     ///< says what another key or the model says already
  std::string_view unpriced;    ///< changes memory, and a request has no field for it
};

/// A table below a key of the file; "" for the top.
struct Section {
  std::string_view below;
  const Table* table;
};

/// Keys of shared tables at which a format's own parser stops. "!a b" is anything but a and b, "" anything.
struct Refusal {
  std::string_view keys;        ///< in a script without their section
  std::string_view words = {};  ///< that the parser does not take
  std::string_view tasks = {};  ///< in whose files
};

struct Format {
  std::string_view id;          ///< as `plimsoll export --as` takes it
  std::string_view name;        ///< for a person
  std::string_view stack = {};  ///< that a file of this format runs on; empty: it does not say
  Language written;             ///< the language of an export; none: it is only read
  bool of_fields = false;       ///< its keys are the contract's own: it says all, and is read from a link too
  bool in_python = false;       ///< read from Python as well
  bool in_files = false;        ///< arguments of a command that may lie in a YAML or JSON file
  std::span<const Section> sections = {};
  /// Top-level keys by which a file is recognised, joined by blanks; "!key" settles it alone.
  std::string_view marks;
  void (*finish)(Reading&) = nullptr;  ///< what several keys say together, when all have been read
  /// Writes a field that no row can; false: this format cannot say it.
  bool (*write)(Writing&, const std::string& pointer, const json::Json& value) = nullptr;
  void (*close)(Writing&) = nullptr;  ///< what such a file needs besides
  std::span<const Refusal> refused = {};
  /// What a file stands on, joined by blanks: an export that could not say one of these would be of another training.
  std::string_view needed = "/model /task";
  std::string (*head)(const Writing&) = nullptr;  ///< comment lines before the keys
};

/// Every format, in the order in which equal claims are settled.
std::span<const Format* const> formats();
const Format* find_format(std::string_view id);

enum class Use : uint8_t { used, implied, irrelevant, unsupported, unknown };
std::string_view use_name(Use use);

/// Of a finding: the value is one of code.
constexpr std::string_view expression_message = "an expression: it is not evaluated";

/// What became of one key.
struct Finding {
  std::string path;
  Use use = Use::unknown;
  std::string pointer;  ///< the field it set
  std::string message;  ///< why, when it is not plain
  Span at;
  bool quoted = false;
};

/// A file being read. Formats add to it; import.h runs it.
class Reading {
 public:
  Reading(const Document& document, const Format& format, std::string_view text);

  const Document& document;
  const Format& format;
  std::string_view text;
  std::vector<Leaf> all;
  std::vector<Finding> findings;   ///< parallel to `all`
  recipe::Values values;           ///< fields by pointer, "/model" and "/stack" among them
  std::vector<std::string> notes;  ///< for the reader, in words
  json::Errors errors;             ///< why there is no request
  struct Unsaid {
    std::string pointer, message;
  };
  std::vector<Unsaid> unsaid;  ///< fields that a file says which is not here, and what to ask for
  bool all_trained = false;    ///< the file says so: not only that no adapter is named

  const Leaf* leaf(std::string_view path) const;
  /// The scalar at `path`, null when there is none.
  json::Json value(std::string_view path) const;
  std::string word(std::string_view path) const;  ///< its text in lower case; "" when there is none
  bool is_on(std::string_view path) const;        ///< true, yes, 1, "true"
  Finding& finding(const Leaf& leaf);

  /// Sets a field from a key; the field's own type decides how the value is read.
  void set(std::string_view pointer, const Leaf& leaf, std::string_view values = "");
  /// Sets a field to a value that the format implies.
  void set(std::string_view pointer, json::Json value, const Leaf* from = nullptr);
  void mark(const Leaf& leaf, Use use, std::string message = "");
  bool has(std::string_view pointer) const { return values.count(std::string(pointer)) != 0; }
  /// The whole number that a field has so far, 1 for 0; `otherwise` where it has none.
  uint64_t count(std::string_view pointer, uint64_t otherwise) const;
  /// Removes a section; its keys become implied.
  void drop(std::string_view section, const std::string& why);
};

struct Entry {
  std::string key;
  json::Json value;
  std::string pointer;
};

/// A request being written.
class Writing {
 public:
  recipe::Values values;  ///< what is to be written, by pointer
  std::string model;      ///< hub id; "" for a model given by its config
  std::vector<Entry> entries;
  std::vector<std::string> left_out;  ///< pointers this format cannot say

  const json::Json* find(std::string_view pointer) const;
  bool is(std::string_view pointer, const json::Json& value) const;
  std::string word(std::string_view pointer) const;
  bool wrote(std::string_view key) const;
  /// The task that the file says: a script without one trains as its trainer does by itself.
  std::string said_task(const Format& format) const;
  /// Replaces an entry of the same key.
  void put(std::string_view key, json::Json value, std::string_view pointer = "");
};

/// The value of a node as the field at `pointer` takes it; nothing when it cannot be understood as such.
std::optional<json::Json> value_for(std::string_view pointer, const Node& node, std::string_view values);
/// The other way: how a row writes a field's value.
json::Json foreign_value(const Row& row, const json::Json& value);

/// Whether `key` is in a list joined by blanks, where a trailing * stands for anything.
bool in_list(std::string_view key, std::string_view list);

/// "torch.bfloat16", "bf16", "BFloat16": bfloat16. Other words in lower case.
std::string dtype_word(std::string_view text);

/// What the name of a DeepSpeed file says: strategy zero1..zero3 and offloading, as in "ds_z3_offload.json".
void read_deepspeed_name(Reading& reading, const Leaf& leaf);

}  // namespace plimsoll::exchange
