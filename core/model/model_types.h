// What the libraries do for one model type and not for another: a row a model type in model_types.cpp.
//
//     model_type("gpt2").lora_targets.front();               // "c_attn"
//     model_type("mistral").repeats_key_heads;               // true
//
// A model type without a row has the values below. What its experts are called is the network's own
// (core/model/expert_traits.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll::model {

/// Which package knows the model: apple/ml-cross-entropy, or only axolotl-ai-cloud's fork of it.
enum class CutCrossEntropy : uint8_t { none, apple, fork };

/// What a class of Transformers does with its logits before they meet CrossEntropyLoss.
enum class LogitsUpcast : uint8_t {
  by_release,      ///< as its release does for most
  never,           ///< unshifted and as they are, in every release: encoders and encoder-decoders
  never_shifted,   ///< of the checkpoint's own class, in every release
  none_until_4_46  ///< shifted as they are, until the losses moved out of the model classes
};

/// Releases of Transformers, `from` among them and `until` no more; "": from the first, to the last. Null: no
/// such gap.
struct Releases {
  const char *from = nullptr, *until = nullptr;
};

/// What stands before the labels of a sequence classifier.
enum class Classifier : uint8_t {
  labels_alone,
  dense_of_its_own,   ///< RobertaClassificationHead, where the base model may have a pooler
  dense_before,       ///< DistilBertForSequenceClassification's pre_classifier
  pooler_of_its_own,  ///< DeBERTa's ContextPooler, Nomic's pooler: their base models have none
  dense_and_norm      ///< ModernBertPredictionHead, without a bias
};

struct ModelType {
  std::string_view id;

  /// PEFT src/peft/utils/constants.py TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING. Types that are
  /// missing there make PEFT raise, and so do we.
  std::array<const char*, 4> lora_targets = {};
  /// TRANSFORMERS_MODELS_TO_IA3_TARGET_MODULES_MAPPING there: linears of the attention and, last, the
  /// feed-forward module, which is scaled at its input.
  std::array<const char*, 3> ia3_targets = {};
  /// PEFT src/peft/tuners/adaption_prompt/config.py TRANSFORMERS_MODEL_CONFIG.
  bool adaption_prompt = false;

  /// `_supports_sdpa` in transformers src/transformers/models/*/modeling_*.py, read in the last patch of each
  /// minor release from 4.36 to 5.23: releases without it.
  std::array<Releases, 2> without_sdpa = {};
  /// `_supports_flash_attn_2` and `_supports_flash_attn` there, read in 4.46, 4.48, 4.51, 4.52, 4.53, 4.57, 5.0, 5.1,
  /// 5.5, 5.9, 5.13, 5.17 and from 5.20 to 5.23: releases without them.
  std::array<Releases, 2> without_flash_attention = {};
  /// `_compatible_flash_implementations` there: what is asked for as flash attention becomes a kernel of the hub.
  bool own_flash_kernel = false;
  /// Until the attention interface of 4.48 these called repeat_kv before the kernel of flash-attn.
  bool repeats_key_heads = false;
  /// Hands its one key head to SDPA as it is.
  bool bare_key_head = false;

  /// The first release without tables of cosines (rotary_tables.h); null: there were none.
  const char* rotary_tables_until = nullptr;
  bool rotary_tables_in_fp32 = false;  ///< never cast to the type of the model

  /// linkedin/Liger-Kernel src/liger_kernel/transformers/monkey_patch.py MODEL_TYPE_TO_APPLY_LIGER_FN.
  bool liger = false;
  /// apple/ml-cross-entropy cut_cross_entropy/transformers/patch.py, and the same of the fork.
  CutCrossEntropy cut_cross_entropy = CutCrossEntropy::none;
  /// Modeling files of the types; modeling_qwen.py QWenLMHeadModel.forward on the hub.
  LogitsUpcast logits = LogitsUpcast::by_release;

  /// A buffer in the type of the weights is added to the logits.
  bool final_logits_bias = false;
  /// The decoder has a configuration of its own, which no trainer tells to go without a cache.
  bool own_decoder_cache = false;

  /// Transformers 5 hooks the input embedding of every model class that names one (modeling_utils.py
  /// enable_input_require_grads). The towers of these do not, as 5.23 lists them.
  bool tower_without_hook = false;
  /// Before Transformers 5 the embedded tokens are scaled before the first layer has them.
  bool scales_embedding = false;
  /// The tower hands all its hidden states to the projector.
  bool tower_keeps_hidden_states = false;

  Classifier classifier = Classifier::labels_alone;

  /// Nobody has published a measured run of anything like it.
  bool unmeasured = false;
  /// Where the card has no bfloat16, Unsloth runs norms, MLP and attention of these in fp32: unslothai/unsloth-zoo
  /// unsloth_zoo/model_lists.py FORCE_FLOAT32.
  bool fp32_in_unsloth = false;
  /// Several streams run through every layer, of which the replay has one.
  bool parallel_streams = false;
};

/// Ids of the rows that say so, joined by ", ".
std::string types_with_adaption_prompt();
const ModelType& model_type(std::string_view id);

}  // namespace plimsoll::model
