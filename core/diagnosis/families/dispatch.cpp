// Transformers refuses a quantised model of which device_map has put a part elsewhere.
// Source: huggingface/transformers quantizers/quantizer_bnb_4bit.py validate_environment
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"some modules are dispatched on the cpu"};

}  // namespace

const Family dispatch_family = {
    .id = "dispatch",
    .kind = MessageKind::startup,
    .what =
        "device_map put a part of the model on the CPU or the disk, because the card had too little free for all of it.",
    .markers = markers,
    .row = 26};

}  // namespace plimsoll::diagnosis
