// A key that bears the name of a field of the contract says something about memory: no format may wave it
// through.
#include <gtest/gtest.h>

#include <string>

#include "core/exchange/format.h"
#include "core/recipe/fields.h"

namespace plimsoll::exchange {
namespace {

// Keys that bear a field's name and mean something else, by format.
struct Other {
  std::string_view format, key;
};
constexpr Other others[] = {
    {"", "stack"},
    {"", "variant"},                        // of a checkpoint's files
    {"", "init_weights"},                   // of adapters: PEFT's name in LoRA
    {"", "compute_metrics"},                // read where it is a function; None says that there is none
    {"", "preprocess_logits_for_metrics"},  // likewise
    {"autotrain", "unsloth"},               // whether it is used
    {"axolotl", "device"},                  // of a process, not of offloaded states
    {"axolotl", "gpu"},                     // that Modal is to rent
    {"openrlhf", "save_steps"},             // -1 where nothing is said: never
    {"torchtune", "device"},                // the processor it runs on
    {"llamafactory", "task"},               // of the evaluation on MMLU
    {"llamafactory", "temperature"},        // of inference
    {"llamafactory", "device_map"},         // of its own making, one card a process
};

bool is_other(std::string_view format, std::string_view key) {
  for (const Other& other : others) {
    if (other.key == key && (other.format.empty() || other.format == format)) return true;
  }
  return false;
}

// A row anywhere below the same key of the file goes before every list.
bool has_row(const Format& format, std::string_view below, std::string_view key) {
  for (const Section& section : format.sections) {
    for (const Row& row : section.table->rows) {
      if (section.below == below && in_list(key, row.key)) return true;
    }
  }
  return false;
}

// Whether a list names the key; "save_*" may stand for others that begin so.
bool names(std::string_view list, std::string_view key) {
  return in_list(key, list) &&
         (std::string(" ").append(list) + " ").find(" " + std::string(key) + " ") != std::string::npos;
}

TEST(ContractFields, NoFormatCallsOneIrrelevantOrImplied) {
  for (const Format* format : formats()) {
    for (const recipe::Field& field : recipe::field_table()) {
      const std::string_view key = field.pointer.substr(field.pointer.rfind('/') + 1);
      for (const Section& section : format->sections) {
        if (is_other(format->id, key) || has_row(*format, section.below, key)) continue;
        EXPECT_FALSE(names(section.table->irrelevant, key)) << format->id << " waves " << key << " through";
        EXPECT_FALSE(names(section.table->implied, key)) << format->id << " implies " << key;
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll::exchange
