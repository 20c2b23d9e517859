// What a network is: every module that owns parameters, grouped the way the forward pass walks them.
//
// Example: how many parameters does this config.json have, and how many would LoRA train?
//
//     json::Errors errors;
//     std::optional<model::Architecture> network = model::read_config(config, "mine", "/model/config",
//     errors); uint64_t all     = model::parameter_count(*network); uint64_t on_q_v  = 0; for (const
//     model::PlacedLinear& at : model::linears(*network))
//       if (at.linear->role == model::Role::q || at.linear->role == model::Role::v)
//         on_q_v += 16 * (at.linear->in + at.linear->out) * at.total;     // rank 16
//
// Counts are those of the modules that Transformers instantiates (what `sum(p.numel())` prints), not of the
// files on the hub, which may add buffers or untied copies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::model {

/// Which part of the network a stack of layers is.
enum class Part { text, vision, projector, encoder, decoder, audio };

/// How a module holds its weight. PEFT and bitsandbytes replace linear and conv1d; the rest stays as it is.
/// linear_until_5: a router, in Transformers 5 a class of its own.
enum class Module { linear, conv1d, parameter, linear_until_5 };

/// What a linear does in its layer. The replay finds a linear by role, PEFT by path.
enum class Role {
  q,
  k,
  v,
  o,
  qkv,  // attention; qkv: one fused projection
  q_a,
  q_b,
  kv_a,
  kv_b,  // multi-head latent attention
  cross_q,
  cross_k,
  cross_v,
  cross_o,
  gate,
  up,
  gate_up,
  down,  // gated MLP; a plain MLP has up and down
  shared_gate,
  shared_up,
  shared_down,
  shared_switch,  // hidden to 1: how much the shared expert counts
  router,
  latent_in,
  latent_out,  // experts that work on fewer features than the layer (Nemotron 3 Super)
  ssm_in,
  ssm_x,
  ssm_step,
  ssm_out,         // state-space mixer; x and step: Mamba-1's projections of its inputs' parameters
  attention_gate,  // of what attention found: a sigmoid, in a delta-net a gated norm
  delta_beta,
  delta_decay,  // a delta-net's step and decay, one of each a head; Qwen3-Next has both in delta_beta
  head,
  other
};

struct Linear {
  std::string path;  ///< "model.layers.#.self_attn.q_proj"; # stands for the layer, * for the expert number
  uint64_t in = 0;
  uint64_t out = 0;
  bool bias = false;
  uint64_t count = 1;  ///< modules of this kind in ONE layer (experts), or in the stack when outside layers
  Role role = Role::other;
  Module module = Module::linear;
  bool expert = false;  ///< one of the routed experts
  bool frozen = false;  ///< full fine-tuning leaves it as it is
  bool unread = false;  ///< a language head that no loss reads: it runs, and gets no gradient
};

/// layer_in_fp32: F.layer_norm on x.float(), cast back (OLMo). layer_written_out: (x - mean) *
/// rsqrt(variance) in fp32, statement by statement (Cohere). layer_in_autocast_type: in the 16-bit type of
/// autocast, which is off inside (Nemotron).
/// rms_of_input: the product is with x itself, not with its fp32 copy (T5).
enum class NormKind { rms, rms_of_input, layer, layer_in_fp32, layer_written_out, layer_in_autocast_type };
/// Where in the layer a norm acts. q and k: on the heads, after the projection.
enum class NormPlace {
  before_attention,
  after_attention,
  before_cross,
  after_cross,
  before_mlp,
  after_mlp,
  q,
  k,
  kv_a,
  q_a,
  other
};

struct Norm {
  NormKind kind = NormKind::rms;
  NormPlace place = NormPlace::other;
  uint64_t width = 0;  ///< elements normalised over, = parameters of its weight
  bool weight = true;  ///< false: OLMo-1, which normalises without parameters
  bool bias = false;
  bool fp32_weight_product = false;  ///< Gemma: (1 + weight) multiplied in fp32, then cast back
  bool frozen = false;               ///< full fine-tuning leaves it as it is
};

struct Table {       ///< an embedding, or any other plain parameter
  std::string path;  ///< "model.embed_tokens"
  uint64_t rows = 0;
  uint64_t width = 0;
  bool positions = false;  ///< learned positions
  bool trained = true;     ///< false: stored but never trained (Whisper encoder positions)
};

enum class AttentionKind {
  full,
  sliding,
  latent,
  linear_delta,
  short_convolution,
  cross,
  bidirectional,
  none
};
/// Whether every token is held against others; a running state and a convolution do not.
constexpr bool has_scores(AttentionKind kind) {
  return kind != AttentionKind::none && kind != AttentionKind::linear_delta &&
         kind != AttentionKind::short_convolution;
}
/// clamped_glu: gpt-oss, which clamps gate and up and adds one to up. bloom_gelu: an autograd function of
/// BLOOM's own.
enum class Activation {
  silu,
  gelu,
  gelu_tanh,
  gelu_new,
  quick_gelu,
  relu,
  squared_relu,
  xielu,
  clamped_glu,
  bloom_gelu
};

/// In what eager attention computes its scores: the softmax alone in fp32, all in the type of q and k, or all
/// in fp32 (GPT-J). Autocast runs a softmax in fp32; what it makes is cast back at once (GPT-2), or by the
/// product behind the dropout (BERT, BART, T5). With sinks (gpt-oss) the softmax keeps the type that its scores have
/// with the mask.
enum class Scores { fp32_softmax, own_type, own_type_cast_late, with_sinks, fp32 };

/// In what type the router says how much an expert counts: that of x, fp32, or that of its logits, which
/// autocast makes in 16 bits.
enum class RoutedType { own, fp32, of_logits };

/// A state-space mixer (Mamba): a short convolution, a scan over the sequence, a gate. It stands where
/// attention stands, or beside it (Falcon-H1). `inner` 0: the layer has none.
struct StateSpace {
  uint64_t inner = 0;          ///< channels that are scanned
  uint64_t heads = 0;          ///< Mamba-2; 0: Mamba-1, where every channel has a step size of its own
  uint64_t state = 0;          ///< numbers a channel remembers
  uint64_t groups = 1;         ///< Mamba-2: heads that share B and C
  uint64_t kernel = 4;         ///< of the convolution
  uint64_t step_rank = 0;      ///< Mamba-1: width from which the step sizes are projected
  uint64_t chunk = 256;        ///< Mamba-2: positions that are scanned at once
  bool gated_norm = true;      ///< Mamba-2: the gate ends in an RMSNorm
  bool normed_inputs = false;  ///< Jamba: step, B and C are normalised, and the fused kernel is not used
};

/// One or more layers of the same shape. A network with alternating layers has several groups; their order in
/// the network is lost here, because memory does not depend on it.
struct LayerGroup {
  std::string name;  ///< "decoder layers", "dense layers", "expert layers", ...
  uint64_t layers = 0;
  /// Numbers of its layers in the network, where kinds alternate. As many as `layers`, or they say nothing: its
  /// layers then follow those of the group before.
  std::vector<uint64_t> indices;
  AttentionKind attention = AttentionKind::full;
  uint64_t heads = 0;
  uint64_t kv_heads = 0;
  uint64_t head_dim = 0;            ///< of q and k
  uint64_t value_head_dim = 0;      ///< of v; equals head_dim except in latent attention
  uint64_t window = 0;              ///< sliding window in tokens; 0: none
  double rotary_share = 1.0;        ///< part of head_dim that is rotated; 0: no rotary positions
  bool rotary_in_fp32 = false;      ///< q and k are turned in fp32 and cast back (Cohere, OLMo)
  bool rotary_casts_first = false;  ///< q and k are fp32 copies before they are turned (Qwen's towers)
  Scores scores = Scores::fp32_softmax;
  bool scaled_branches = false;  ///< times residual_multiplier before they are added (Granite)
  bool soft_capped = false;      ///< eager attention keeps the tanh of its scores (Gemma 2)
  bool parallel = false;         ///< attention and MLP read the same residual (Phi, GPT-J, NeoX, Falcon)
  bool gated = true;             ///< gated MLP (gate * up) or plain (up, activation, down)
  Activation activation = Activation::silu;
  uint64_t intermediate = 0;  ///< MLP width (of one expert when experts > 0)
  uint64_t experts = 0;
  uint64_t experts_per_token = 0;
  uint64_t shared_intermediate = 0;                    ///< width of the always-on expert, 0: none
  bool experts_at_once = true;                         ///< by one grouped product, from Transformers 5 on
  bool experts_read_all = false;                       ///< every expert runs on every row (Llama 4)
  bool router_in_fp32 = false;                         ///< x and the router's weight are cast to fp32 first
  bool shared_first = false;                           ///< the always-on expert runs before the routed ones
  RoutedType routed_type = RoutedType::own;            ///< of the router's shares and of what they weigh
  double attention_dropout = 0, residual_dropout = 0;  ///< of the config, active in training
  double activation_dropout = 0;                       ///< before the last linear of the MLP
  bool dropout_modules = false;  ///< all of them nn.Dropout, which a trainer can switch off
  bool attention_output_gate = false;
  bool copied_heads = false;  ///< BLOOM: q, k and v are copied out of their fused tensor, and its scores kept
  bool returns_weights = false;  ///< a layer gives what its eager attention weighed to the loop over layers
  bool heads_first = false;      ///< Whisper: the kernel gets q head by head, and gives its result so
  bool keeps_names = false;      ///< StableLM: what attention read and gave is there until the layer returns
  bool images_in_mask = false;  ///< Gemma 3, PaliGemma: tokens of an image see each other, which takes a mask
  bool position_bias = false;   ///< T5: a number for each distance and head is added to the scores
  bool post_norm = false;       ///< BERT, BART: a norm acts on the sum of residual and branch
  bool keeps_activation = false;   ///< BERT: what the activation gave is there until the layer returns
  bool attends_undropped = false;  ///< DistilBERT: no dropout behind its attention
  uint64_t relative_rows = 0;  ///< DeBERTa: queries and keys are held against so many learned distances too
  StateSpace state_space;
  std::vector<Linear> linears;    ///< of one layer
  std::vector<Norm> norms;        ///< of one layer
  uint64_t other_parameters = 0;  ///< of one layer: sinks, gates, layer scales, convolutions
  bool frozen = false;            ///< full fine-tuning leaves these layers as they are
};

/// Expert and router names of Transformers 4 that PEFT understands as the stacked parameters of Transformers
/// 5 (huggingface/peft src/peft/utils/transformers_weight_conversion.py _MOE_TARGET_MODULE_MAPPING).
enum class ExpertNames { own, mixtral, qwen2_moe };

struct Stack {
  ExpertNames expert_names = ExpertNames::own;
  Part part = Part::text;
  std::string name;  ///< "text", "vision tower", "projector", ...
  uint64_t hidden = 0;
  std::vector<LayerGroup> groups;
  std::vector<Table> tables;
  std::vector<Norm> norms;        ///< outside the layers (final norm)
  std::vector<Linear> linears;    ///< outside the layers (head, projector, patch embedding as linear)
  uint64_t other_parameters = 0;  ///< convolutions, class tokens, newline vectors
  bool embedding_norm = false;    ///< the first of `norms` stands between the embedding and the layers
  double embedding_dropout = 0;   ///< on the embedded tokens, active in training
  double output_dropout = 0;      ///< behind the last norm
  uint64_t unread_layers = 0;     ///< the last ones, of which nobody reads what they give (LLaVA's tower)
  bool read_behind_norm = false;  ///< a tower's last norm stands before what reads it (SigLIP)
  bool averaged = false;          ///< and neighbouring patches are averaged behind it (Gemma 3)
  uint64_t patch_pixels = 0;      ///< numbers that a tower's patch embedding reads for each patch
  uint64_t frames = 0;            ///< Whisper's encoder: what it reads, however long the text; 0: the row
  uint64_t frame_features = 0;    ///< fp32 numbers that come in for each
  uint64_t frame_width = 0;       ///< elements that its convolutions keep for each when they are trained
};

/// What makes tokens of images or sound for the stacks that speak.
inline bool is_tower(const Stack& stack) {
  return stack.part == Part::vision || stack.part == Part::projector || stack.part == Part::audio;
}

/// Tiles that an image is cut into.
struct TileGrid {
  uint64_t rows = 1, columns = 1;
};

/// How many tokens an image becomes in the text sequence and in the tower.
struct ImageTokens {
  enum class Rule {
    none,
    fixed,  ///< `tokens` per image or tile, whatever its size
    grid,   ///< (size / patch)^2, optionally / merge^2; grows with the image
    cross   ///< read by cross-attention: nothing in the text sequence
  } rule = Rule::none;
  uint64_t tokens = 0;        ///< fixed, cross: text tokens (cross: tokens the cross layers read)
  uint64_t tower_tokens = 0;  ///< patches in the tower per image or tile at the default size
  uint64_t patch = 0, merge = 1;
  uint64_t frames = 1;        ///< of a patch: Qwen's and GLM's processors hand a still image over twice
  uint64_t default_size = 0;  ///< pixels of a side
  /// How the processor cuts an image into tiles of default_size (core/memory/layers/image_tiles.h).
  enum class Cut {
    never,          ///< the whole image is resized
    closest_ratio,  ///< the grid nearest to its shape: InternVL, LFM2-VL
    listed,         ///< the best of `grids`, and the whole image besides: LLaVA-NeXT
    canvas,         ///< the smallest grid that holds it: Llama 4
    longest_side,   ///< its longer side becomes so many tiles, however small it is: Idefics3
    sliced,         ///< by its area: MiniCPM-V
    padded,         ///< always most_tiles, the overview among them: Idefics2, Phi-3.5
    joined          ///< the same, read by the tower as one sequence: Llama 3.2
  } cut = Cut::never;
  uint64_t least_tiles = 1, most_tiles = 1;  ///< the overview apart
  uint64_t whole_tokens = 0;                 ///< an image of up to twice these is not cut; 0: all are
  std::span<const TileGrid> grids;           ///< a table of the family

  /// Whether a larger image is more tokens without end.
  bool grows() const { return rule == Rule::grid && cut == Cut::never; }
  /// Whether it matters how large an image is.
  bool size_matters() const {
    return grows() || (cut != Cut::never && cut != Cut::padded && cut != Cut::joined);
  }
};

enum class NetworkKind { decoder, encoder, encoder_decoder, vlm };

struct Note {
  std::string code, message, source;
};

struct Architecture {
  std::string name;
  std::string model_type;
  NetworkKind kind = NetworkKind::decoder;
  std::vector<Stack> stacks;             ///< text (or encoder, decoder) first
  uint64_t vocab_size = 0;               ///< rows of the output
  bool tied_head = false;                ///< the head is the input embedding
  Linear unread_head;                    ///< the language head beside a value head; out == 0: there is none
  uint64_t max_position_embeddings = 0;  ///< 0: unknown
  ImageTokens image;
  std::string checkpoint_dtype;  ///< torch_dtype of the config; "" unknown
  double logit_softcap = 0;      ///< Gemma-2: tanh on the logits; 0: none
  std::vector<Note> notes;       ///< what had to be assumed
};

/// Reads a config.json as published, text or nested multimodal (text_config / vision_config / audio_config).
/// Errors: unreadable_config with the pointer (below `pointer`) of the field that is missing or impossible.
std::optional<Architecture> read_config(const json::Json& config, const std::string& name,
                                        const std::string& pointer, json::Errors& errors);

/// All trainable and stored parameters, saturating at 2^64-1.
uint64_t parameter_count(const Architecture& network);
uint64_t parameter_count(const Stack& stack);
/// Of one layer of the group.
uint64_t parameter_count(const LayerGroup& group);

/// One linear with everything that is needed to place it; `total` = modules of this kind in the whole
/// network.
struct PlacedLinear {
  const Linear* linear;
  const Stack* stack;
  const LayerGroup* group;  ///< null outside the layers
  uint64_t total;
};
std::vector<PlacedLinear> linears(const Architecture& network);
/// Its path in one layer, of the first of its experts.
std::string in_layer(std::string path, uint64_t layer);

/// "text" linear of that role in a group, or null.
const Linear* find(const LayerGroup& group, Role role);

const Stack* find(const Architecture& network, Part part);

/// The most tokens that a table of learned positions has rows for; 0: there is no such table, and no end.
uint64_t learned_positions(const Architecture& network);

/// Whether any layer has a state-space mixer.
bool has_state_space(const Architecture& network);
/// Whether layers of it are gated delta-nets (Qwen3-Next, Qwen3.5).
bool has_delta_net(const Architecture& network);

}  // namespace plimsoll::model
