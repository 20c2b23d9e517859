// What a few sentences say of how a run trains: method, task, optimizer, types, and who shares the work.
//
//     read_method(text, words, out);      // "DoRA on a GPTQ base": adapters, use_dora, quant_method
//     read_optimizer(text, words, out);   // "paged 8-bit Lion": paged_lion_8bit
//
// The names are those of the contract's own tables, found by their parts. What is named and has no field goes to
// `unread`, for the answer to say so.
#pragma once

#include "core/diagnosis/text.h"
#include "core/question/said_request.h"
#include "core/question/said_words.h"

namespace plimsoll::question {

/// "8-bit" belongs to what stands beside it: "AdamW 8bit" or "8-bit LoRA".
struct EightBits {
  bool optimizer = false, base = false;
};
/// Whether the number at `at` is one of so many bits: "8-bit", "8 bits".
bool is_of_bits(const SaidWords& words, std::size_t at, double bits);
EightBits eight_bits(const SaidWords& words);

/// Whether the word at `at` is meant, and not denied.
bool affirms_at(const SaidWords& words, std::size_t at);

/// A word as it was typed: "Sophia" of "sophia".
std::string_view as_written(const diagnosis::Text& text, const SaidWord& word);

void read_method(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out);
void read_task(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out);
void read_strategy(const SaidWords& words, SaidRequest& out);

/// "bf16", "fp32 master weights". Of a log or a file such words are about anything.
void read_precision(const SaidWords& words, SaidRequest& out);
void read_optimizer(const diagnosis::Text& text, const SaidWords& words, SaidRequest& out);
/// After the strategy, which decides what is moved to the host.
void read_offload(const SaidWords& words, SaidRequest& out);
/// "packing=False": fields of the contract by their names, each with a value that it takes. They outweigh what other
/// words say; a field with two values is left to those.
void read_settings(std::string_view text, SaidRequest& out);

}  // namespace plimsoll::question
