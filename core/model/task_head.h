// Networks as the AutoModelFor... classes make them.
//
//     Architecture classifier = with_classification_head(network, 2);   // AutoModelForSequenceClassification
#pragma once

#include "core/model/architecture.h"

namespace plimsoll::model {

/// Takes the language-model head away and puts `labels` outputs in its place: `score` without bias on a
/// decoder, `classifier` with bias on an encoder (huggingface/transformers modeling_layers.py
/// GenericForSequenceClassification, models/bert/modeling_bert.py BertForSequenceClassification).
Architecture with_classification_head(Architecture network, uint64_t labels);

/// Puts a value head (`v_head.summary`) beside the language head, which runs on although no loss reads it
/// (huggingface/trl v0.24.0 trl/models/modeling_value_head.py AutoModelForCausalLMWithValueHead).
Architecture with_value_head(Architecture network);

/// Leaves the last `layers` layers of the language model to be trained and freezes the others; embeddings,
/// final norm and head with them unless `rest`.
Architecture with_trained_layers(Architecture network, uint64_t layers, bool rest);

/// LLaMA-Pro: `blocks` copies of layers, spread evenly over the language model, are all that is trained
/// (TencentARC/LLaMA-Pro scripts/block_expansion.py; modelscope/ms-swift swift/tuners/llamapro.py).
Architecture with_new_blocks(Architecture network, uint64_t blocks);

}  // namespace plimsoll::model
