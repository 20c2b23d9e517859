// The end of the network: final norm, head, loss, and the way back to the last hidden state.
//
//     HeadReplay head = replay_head(program);
//     head.forward_peak.total();     // logits and everything made of them until the loss is a number
//     head.backward_peak.total();    // until the gradient of the last hidden state exists
//
// Sources by kernel: huggingface/transformers src/transformers/loss/loss_utils.py and the modeling files of
// the version; huggingface/accelerate utils/operations.py convert_to_fp32; huggingface/trl
// trainer/sft_trainer.py (chunked loss); linkedin/Liger-Kernel ops/fused_linear_cross_entropy.py;
// apple/ml-cross-entropy; pytorch/torchtune chunked loss.
#pragma once

#include <string>
#include <string_view>

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

/// How the model's own loss treats the logits; decided by the Transformers version.
struct StockLoss {
  bool upcast = true;            ///< logits.float()
  bool upcast_replaces = false;  ///< the 16-bit logits are gone once the fp32 copy exists (4.31 - 4.45)
  bool shift_copy = false;       ///< logits[..., :-1, :].contiguous(): a copy unless the batch is one sample
  bool operator==(const StockLoss&) const = default;
};
StockLoss stock_loss(const std::string& stack, const std::string& transformers,
                     const std::string& model_type);

/// The events of the head and the loss, numbered as on its own tape.
struct HeadTrace {
  Trace events;
  std::size_t forward_end = 0, scope_end = 0, backward_begin = 0, backward_end = 0;
  uint32_t input = 0, kv = 0, input_gradient = 0;
  bool has_input_gradient = false;
};

/// How log-probabilities are taken from the logits (core/memory/head/log_probs.h).
enum class Division { none, copy, in_place };
struct Scoring {
  double tokens = 0;                   ///< of each sequence, counted from its end, whose logits exist; 0: all
  Division division = Division::none;  ///< by the sampling temperature
  bool entropy = false;                ///< measured for the logs
  bool chosen_nll = false;             ///< cross-entropy of the first half besides
  bool paired = false;                 ///< chosen and rejected
  bool reference = false;              ///< scored in the same kernel
  bool operator==(const Scoring&) const = default;
};

struct HeadProgram {
  LayerProgram layer;  ///< mode, batch, length, hidden, norm settings
  const model::Norm* final_norm = nullptr;
  LinearSpec head;         ///< out == 0: no head (an encoder's hidden states are the end)
  LinearSpec unread_head;  ///< runs before it, for nothing; out == 0: there is none
  StockLoss stock;
  std::string kernel = "stock";
  Scoring scoring;
  double output_dropout = 0;       ///< behind the last norm
  double encoder_states = 0;       ///< numbers among the outputs beside the logits
  bool wide_states = false;        ///< they are fp32 already
  bool outputs_to_fp32 = false;    ///< accelerate copies 16-bit outputs to fp32 under mixed precision
  bool keep_outputs = false;       ///< logits are still referenced while backward runs
  bool finds_last_logits = false;  ///< those of the micro-batch before are, until these are there
  bool gathered = false;           ///< under FSDP
  double softcap = 0;
  double chunks = 1;             ///< that Unsloth's fused loss cuts the tokens into
  bool wide_bias = false;        ///< BART: an fp32 buffer, final_logits_bias, is added to the logits
  int input_size = 2;            ///< dtype of the stream that enters
  bool input_needs_grad = true;  ///< false: nothing before it is trained
  bool accumulating = false;
  bool copied = false;         ///< its weight is a copy of a tied embedding some of whose rows are trained
  bool compiled = false;       ///< the loss runs under torch.compile
  bool returns_logits = true;  ///< in one graph with the model, which gives its logits to the caller
  double kv_bytes = 0;         ///< a cache that lives as long as the outputs
  HeadTrace* trace = nullptr;  ///< where it is written down, or null
  bool operator==(const HeadProgram&) const = default;
};

struct HeadReplay {
  Snapshot forward_peak;    ///< incl. the last hidden state
  Snapshot converted_peak;  ///< while accelerate makes fp32 copies of the outputs, autocast's cache gone
  Snapshot held;            ///< after the loss is known
  Snapshot backward_peak;
  double weight_gradients = 0;
  double cached = 0;
  double incoming_gradient = 0;  ///< gradient of the last hidden state
  Snapshot with_outputs;         ///< after the loss is known, while the caller still holds the outputs
  Snapshot kept;                 ///< outputs that are still referenced while the layers go backward
};

/// Whether a kernel of this id is replayed; one that is not counts as "stock".
bool is_replayed(std::string_view kernel);

HeadReplay replay_head(const HeadProgram& program);

/// Highest bytes of the same forward without a graph, the last hidden state included.
Snapshot replay_head_without_grad(const HeadProgram& program);

}  // namespace plimsoll::memory
