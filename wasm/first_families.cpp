// The model types of the documented cases, which is all that the first module has to read: it takes the place
// of core/model/family_table.cpp there. Every other model is answered by the second module.
#include "core/model/family_table.h"

namespace plimsoll::model {

namespace {

using namespace families;

constexpr Family table[] = {
    {"llama", Kind::decoder, read_llama},
    {"Yi", Kind::decoder, read_llama},
    {"mistral", Kind::decoder, read_mistral},
    {"mixtral", Kind::decoder, read_mixtral},
    {"qwen2", Kind::decoder, read_qwen2},
    {"qwen3", Kind::decoder, read_qwen3},
    {"qwen3_moe", Kind::decoder, read_qwen3_moe},
    {"gemma2", Kind::decoder, read_gemma2},
    {"gemma3_text", Kind::decoder, read_gemma3_text},
    {"phi3", Kind::decoder, read_phi3},
    {"llava", Kind::vlm, read_llava},
};

}  // namespace

std::span<const Family> family_table() { return table; }

}  // namespace plimsoll::model
