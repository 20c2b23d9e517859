// Which parameters exist, which are trained, and the bytes of all of them.
//
//     Parameters p = count_parameters(network, recipe);
//     p.trainable;              // what print_trainable_parameters() prints
//     p.weight_bytes;           // what memory_allocated() shows after loading
//
// Sources: huggingface/peft src/peft/tuners/tuners_utils.py (matching), tuners/lora/layer.py (shapes);
// bitsandbytes functional.quantize_4bit, nn/modules.py (packing); huggingface/transformers
// integrations/bitsandbytes.py and quantizers/base.py (what is skipped).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/layers/linear.h"
#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

/// How one linear of the network is held and trained under a recipe.
LinearSpec specify(const model::Linear& linear, const model::Stack& stack, const recipe::Recipe& recipe);

/// The head of a network that has none of its own: its embedding, or under LitGPT a copy of it.
model::Linear tied_head(const model::Architecture& network);
/// True when the head is the input embedding in memory too. LitGPT gives every network a head of its own.
bool shares_head(const model::Architecture& network, const recipe::Recipe& recipe);
/// Whether that head multiplies by a copy with trained rows, whose gradient stays no longer than it takes to read
/// those from it.
bool copies_head(const model::Architecture& network, const recipe::Recipe& recipe);
/// Bytes of a linear's weight and bias as it is held, and the part of them that FSDP and ZeRO cannot share
/// out: scales and tables of a quantised weight are buffers, whole on every rank.
double linear_bytes(const LinearSpec& spec);
double quant_state_bytes(const LinearSpec& spec);

/// The tensors of a weight that bitsandbytes holds in 4 bits, in bytes.
struct FourBit {
  double packed = 0, scales = 0;
  double scales_of_scales = 0;  ///< with double quantisation
  double tables = 0;            ///< of the values that a code stands for
};
FourBit four_bit(double weights, bool double_quant);

/// False for what is a parameter: Transformers 5 holds routed experts as 3-D parameters, which neither PEFT
/// nor bitsandbytes replaces, and most routers as 2-D ones.
bool is_module(const model::Linear& linear, const recipe::Recipe& recipe);
/// True when full fine-tuning leaves this part of the network as it is.
bool is_frozen(const model::Stack& stack, const recipe::Recipe& recipe);

/// True when PEFT would give this module an adapter.
bool is_target(const model::Linear& linear, const model::Stack& stack, const recipe::Recipe& recipe);

/// True when PEFT would give this embedding an adapter.
bool is_table_target(const model::Table& table, const recipe::Recipe& recipe);

/// How many layers of `group`, its last ones, attend to an adaption prompt: the last adapter_layers of the
/// whole stack (PEFT src/peft/tuners/adaption_prompt/model.py add_adapter).
uint64_t prompted_layers(const model::Stack& stack, const model::LayerGroup& group,
                         const recipe::Recipe& recipe);

/// The text model and both halves of an encoder-decoder; not what reads images or sound.
bool is_language(const model::Stack& stack);

/// True when PEFT's LN tuning trains the norms of the frozen base.
bool trains_norms(const recipe::Recipe& recipe);

/// True when a module of that name is trained in full beside its frozen original.
bool is_saved_in_full(const std::string& path, const recipe::Recipe& recipe);
/// Whether PEFT trains some rows of it (peft/tuners/trainable_tokens/layer.py): each forward makes a copy with them.
bool trains_tokens(const model::Table& table, const model::Stack& stack, const recipe::Recipe& recipe);
bool saves_embedding(const model::Stack& stack, const recipe::Recipe& recipe);

/// Bytes an element of unquantised parameters: everything but norms, embeddings and head; norms.
int parameter_size(const recipe::Recipe& recipe);
int norm_size(const recipe::Recipe& recipe);
/// Of embeddings and head, and so of what runs from layer to layer, which begins as an embedding.
int table_size(const recipe::Recipe& recipe, const model::Stack& stack);
/// Of a trained parameter that would have `size` bytes: more where a stack casts up what it trains.
int trained_size(const recipe::Recipe& recipe, int size);
/// Bytes an element of a dtype's name.
int dtype_size(const std::string& dtype);

/// Where a module stands, and so when the optimizer's loop comes to it.
enum class Place : uint8_t { before_layers, in_layers, ends_layer, behind_layers };

/// A trained tensor: what the optimizer sees.
struct Trained {
  double rows = 0, columns = 0;  ///< columns == 0: one-dimensional
  int size = 4;
  double count = 1;
  double idle = 0;  ///< further ones, which get no gradient
  Place place = Place::in_layers;
  bool full_states = false;  ///< fp32 ones, where an optimizer in 8 bits leaves embeddings out
  double stacked = 1;        ///< matrices in one tensor: the experts of a layer
  /// Of the subspace that the optimizer's states of it live in; 0: they are of its own shape.
  double rank = 0;

  double elements() const { return rows * std::max(1.0, columns) * stacked; }  ///< of one tensor
};

struct Parameters {
  uint64_t base = 0;  ///< of the network
  uint64_t trainable = 0;
  uint64_t all = 0;                    ///< base, adapters and copies: what PEFT prints as "all params"
  uint64_t adapter = 0;                ///< in the adapter file
  double weight_bytes = 0;             ///< frozen and trained base, after preparation
  double loaded_bytes = 0;             ///< the same before preparation
  double buffer_bytes = 0;             ///< the part of both that is no parameter: it is never saved
  double replicated_bytes = 0;         ///< the part of weight_bytes that every rank must hold
  double adapter_bytes = 0;            ///< adapters and copies of modules_to_save
  double trained_bytes = 0;            ///< of the trained parameters, = of their gradients
  double outside_layer_gradients = 0;  ///< the part of these that lies outside the repeated layers
  double largest_linear = 0;           ///< elements
  double largest_trained = 0;          ///< bytes
  double largest_quantised = 0;        ///< elements of the largest linear in 8 or 4 bits
  double quantised = 0;                ///< parameters held in 8 or 4 bits
  std::vector<Trained> trained;
  std::vector<std::string> matched;    ///< leaf names that got an adapter
  std::vector<std::string> unmatched;  ///< target modules that no module of this network answers to
  std::vector<std::string> unmatched_parameters;  ///< target parameters that are no experts' of this network
};
Parameters count_parameters(const model::Architecture& network, const recipe::Recipe& recipe);

/// Whether `count_parameters` does not read the field at this pointer: a batch, a length or an image changes no
/// parameter.
bool weighs_nothing(std::string_view pointer);

}  // namespace plimsoll::memory
