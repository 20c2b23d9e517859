// Which checkpoint a model builder of torchtune was made for, and the other way.
//
//     model_of_builder("llama3_1_8b");                           // "meta-llama/Llama-3.1-8B"; "" none known
//     builder_of_model("meta-llama/Llama-3.1-8B", "lora_");      // "torchtune.models.llama3_1.lora_llama3_1_8b"
#pragma once

#include <string>
#include <string_view>

#include "core/exchange/format.h"

namespace plimsoll::exchange {

std::string_view model_of_builder(std::string_view name);
std::string builder_of_model(std::string_view model, std::string_view method);

/// torchtune.models.llama2.llama2 with its numbers: sets "/model" to the shapes of a LLaMA checkpoint.
void read_builder_shapes(Reading& reading);

}  // namespace plimsoll::exchange
