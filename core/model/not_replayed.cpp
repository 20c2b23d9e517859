#include "core/model/not_replayed.h"

#include <algorithm>
#include <string>

#include "core/json/ascii.h"
#include "core/json/words.h"

namespace plimsoll::model {

namespace {

// model_types of Transformers 5.23, and how the names of their checkpoints begin, behind the owner. The types of the
// last row have the fields of a Llama and other layers: Transformers' own classes count up to three times as many
// parameters, or a third.
struct Row {
  std::string_view types, names, what;
};
constexpr Row rows[] = {
    {"vit deit beit swin swinv2 dinov2 dinov3_vit convnext convnextv2 resnet vit_mae segformer detr rt_detr sam "
     "yolos",
     "vit- deit- beit- swin- swinv2- dinov2- dinov3- convnext- resnet- segformer- mit-b detr- rtdetr sam- yolos-",
     "a network for images alone"},
    {"clip siglip siglip2", "clip-vit siglip", "a network that holds images against texts"},
    {"wav2vec2 wav2vec2-bert wav2vec2-conformer hubert wavlm unispeech sew data2vec-audio speecht5 seamless_m4t_v2 "
     "bark",
     "wav2vec2- hubert- wavlm- w2v-bert- mms- speecht5 seamless-m4t", "a network for raw sound"},
    {"deberta", "deberta-base deberta-large deberta-xlarge deberta-v2-", "an older DeBERTa"},
    {"albert", "albert-", "a network whose layers share one set of weights"},
    {"longformer led big_bird bigbird_pegasus longt5", "longformer- led- bigbird- long-t5-",
     "a network that attends in blocks"},
    {"layoutlm layoutlmv2 layoutlmv3 vision-encoder-decoder florence2 pix2struct",
     "layoutlm trocr- donut- florence-2- pix2struct-", "a network for pages"},
    {"bitnet diffllama granite_swa hrm_text hyperclovax nanochat olmo_hybrid recurrent_gemma cohere_asr esmc "
     "eurobert neomme ultrabert dots1 jetmoe qwen2_5_omni phi4mm phi4_multimodal "
     "chameleon evolla moonshine moonshine_streaming",
     "recurrentgemma- qwen2.5-omni- phi-4-multimodal- chameleon-", "a network with layers of its own"},
};

}  // namespace

std::string_view not_replayed(std::string_view model_type) {
  for (const Row& row : rows) {
    if (json::is_listed(model_type, row.types)) return row.what;
  }
  return "";
}

std::string_view not_replayed_by_name(std::string_view name) {
  const std::string small = ascii::lower(name.substr(name.rfind('/') + 1));
  for (const Row& row : rows) {
    std::string_view names = row.names;
    while (!names.empty()) {
      const std::string_view begin = names.substr(0, names.find(' '));
      if (small.starts_with(begin)) return row.what;
      names.remove_prefix(std::min(names.size(), begin.size() + 1));
    }
  }
  return "";
}

}  // namespace plimsoll::model
