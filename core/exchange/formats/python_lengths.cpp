#include "core/exchange/formats/python_lengths.h"

#include <algorithm>

#include "core/exchange/formats/python_loop.h"
#include "core/exchange/python/tokens.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

bool is_length(std::string_view name) {
  for (std::string_view known :
       {"max_length", "max_seq_length", "max_seq_len", "MAX_LENGTH", "MAX_SEQ_LENGTH", "CUTOFF_LEN",
        "cutoff_len", "block_size", "BLOCK_SIZE", "chunk_size"}) {
    if (name == known) return true;
  }
  return false;
}

// Null when the call is none of a tokenizer, or its length is no number. One of any name is told by its
// truncation: tok(x["text"], truncation=True, max_length=2048). TRL's SFTTrainer takes 1,024 tokens unless it is
// told another length; of the tokenizer's own only a shorter one counted, in its older releases.
const Node* tokenized_length(const Member& member, bool of_trl) {
  if (!member.value.is_map() || member.value.call.empty()) return nullptr;
  const std::string_view call = member.key;
  const bool loads =
      name_ends_with(call, "Tokenizer.from_pretrained") || name_ends_with(call, "Processor.from_pretrained");
  const std::string_view name = last_part(call);
  const bool applies =
      name_ends_with(name, "tokenizer") || name_ends_with(name, "processor") || name == "encode_plus" ||
      name == "apply_chat_template" ||
      (member.value.find("truncation") != nullptr && member.value.find("truncation")->raw != "False");
  const Node* length = name == "TextDataset" ? member.value.find("block_size")
                       : loads               ? member.value.find("model_max_length")
                       : applies             ? member.value.find("max_length")
                                             : nullptr;
  const bool known = length != nullptr && !length->opaque && length->value.is_number_unsigned();
  return known && !(of_trl && loads && length->value > 1024) ? length : nullptr;
}

void put_length(Node& root, Span key_span, const Node& length) {
  Node section;
  section.kind = Node::Kind::map;
  section.members.push_back({"max_length", key_span, length});
  root.members.push_back({"length", {}, std::move(section)});
}

// build_datasets(tokenizer, max_length=512): of another file, but not what is generated.
const Node* handed_length(const Member& call) {
  if (!is_call(call)) return nullptr;
  const std::string name = ascii::lower(last_part(call.key));
  constexpr std::string_view words[] = {"data", "token", "prepare", "process", "collat", "loader"};
  if (std::none_of(std::begin(words), std::end(words),
                   [&name](std::string_view word) { return name.find(word) != std::string::npos; }))
    return nullptr;
  for (const std::string_view key : {"max_length", "max_seq_length", "max_seq_len", "block_size"}) {
    const Node* length = call.value.find(key);
    if (length != nullptr && !length->opaque && length->value.is_number_unsigned()) return length;
  }
  return nullptr;
}

}  // namespace

// A length that no call takes is used in a call of the tokenizer, or by the reader of the data:
// tokenizer(texts, truncation=True, max_length=512), or AutoTokenizer.from_pretrained(...,
// model_max_length=512).
void add_length(const Node& python, Node& root) {
  for (const Member& section : root.members) {
    if (section.key[0] == '$') continue;  // the flags of a command line are no section
    if (section.value.find("max_length") != nullptr || section.value.find("max_seq_length") != nullptr)
      return;
  }
  const Node* task = root.find("$task");
  const bool of_trl = root.find("$trl") != nullptr && root.find("$unsloth") == nullptr;
  const bool cuts = task == nullptr || task->raw == "sft";  // others have lengths of their own
  for (const Member& member : python.members) {
    const Node* length = cuts ? tokenized_length(member, of_trl) : nullptr;
    if (length == nullptr) continue;
    return put_length(root, member.key_span, *length);
  }
  for (const Member& member : python.members) {
    const Node* length = cuts ? handed_length(member) : nullptr;
    if (length != nullptr) return put_length(root, member.key_span, *length);
  }
  // The length of what is generated may have the same name.
  const auto generates = [](const Member& call) {
    const std::string_view name = last_part(call.key);
    return (name == "generate" || name == "GenerationConfig") && call.value.find("max_length") != nullptr;
  };
  if (std::any_of(python.members.begin(), python.members.end(), generates)) return;
  for (const Member& member : python.members) {
    if (!is_length(member.key) || !member.value.value.is_number()) continue;
    return put_length(root, member.key_span, member.value);
  }
}

}  // namespace plimsoll::exchange
