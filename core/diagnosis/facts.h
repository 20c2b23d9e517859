// What is known of the run besides its message: from a request, even half a one, and from words in the text.
//
//     Facts facts = read_facts(situation, reading, numbers);
//     facts.parameters;          // 7.2e9, of the network or of a name like "llama-7b"
//     facts.whole;               // bytes of weights, gradients and states on one card when nothing is sharded
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/gpu_table.h"
#include "core/diagnosis/message.h"
#include "core/diagnosis/traceback.h"
#include "core/hardware/gpu.h"
#include "core/memory/step/replay.h"
#include "core/model/architecture.h"
#include "core/recipe/recipe.h"
#include "core/recipe/tasks.h"

namespace plimsoll::diagnosis {

/// A network that may explain a size when no model is given.
struct KnownModel {
  std::string id;
  const model::Architecture* network = nullptr;
  std::size_t copies = 0;  ///< checkpoints of the same shapes: a measure of how often such a model is trained
};

/// All that a diagnosis is made from. Only `text` is required.
struct Situation {
  std::string_view text;
  bool is_source = false;    ///< of a program: only what one printed says that anything failed
  bool is_plan = false;      ///< a line that says a run to come, and nothing that failed
  std::string_view answers;  ///< to the questions of an earlier diagnosis, "when=save" (questions.h)
  FailurePhase phase = FailurePhase::unknown;  ///< as the person says, where the text does not show it
  recipe::Values values;                       ///< of the request, as far as it could be read
  std::string model;                           ///< name in the request
  recipe::Values said;  ///< what the text says of the run in words, where the request is silent
  const model::Architecture* network = nullptr;
  const recipe::Recipe* recipe = nullptr;    ///< resolved; null when the request is incomplete
  const memory::Replay* replay = nullptr;    ///< of the whole run on one card
  const memory::Machine* machine = nullptr;  ///< that it was replayed on
  const hardware::Gpu* gpu = nullptr;        ///< that the request names
  std::string_view
      upgrade_case;     ///< what the replay says of two releases that the text tells apart; "": none
  std::string upgrade;  ///< the same in words
  std::vector<KnownModel> models;          ///< to propose from, those most often trained first
  std::vector<const hardware::Gpu*> gpus;  ///< to identify a card by what it reports
};

struct TextReading;

/// Part of a card that weights, gradients and states may take at most: context, kernels and one short sample take
/// the rest.
constexpr double most_at_rest = 0.93;

enum class Method { unknown, full, adapters, inference };

struct Facts {
  /// `strategy` is the request's, or what the text names; "deepspeed" where no stage of ZeRO is said.
  std::string model, task, strategy, attention, quantization;
  double parameters = 0;  ///< 0: unknown
  bool mixture = false, sees = false;
  bool images_alone = false;  ///< its frames are those of networks that read no text
  bool can_see = false;       ///< the network has a vision tower, whatever it is given
  bool fixed_images = false;  ///< the model takes as many tokens for every image, as LLaVA 1.5 does
  Method method = Method::unknown;
  bool method_assumed = false;  ///< "fine-tuning" was said and no more: all of it, most likely
  bool dora = false, saves_modules = false, fp32 = false, offload = false, whole_on_each = false;
  bool layered = false;         ///< device_map spreads the layers: each card holds some of them
  bool model_parallel = false;  ///< tensor or pipeline parallelism: each card holds a part of the model
  bool sharing_unsaid = false;  ///< several cards in words alone, and not how they share the work
  bool gpus_in_words = false;   ///< `gpus` is what the text speaks of, not a setting
  bool pure_16bit = false;     ///< the text says that full fine-tuning holds 16 bits alone, as torchtune does
  bool untyped = false;        ///< a script in the text loads a model without saying a type
  bool fits_in_16bit = false;  ///< nothing is trained, and the weights in 16 bits leave a third of the card
  std::optional<bool> checkpointing, packing;
  std::optional<double> gpus, batch, length, rank;
  std::optional<double> vllm_share;  ///< of the card that a colocated vLLM may take
  double capacity = 0;               ///< of the line, the table or the named card; 0: unknown
  double nominal = 0;                ///< of the card by name; 0: unknown
  double weights16 = 0;              ///< parameters in 16 bits
  double whole = 0;                  ///< needed on one card before any activation, unsharded; 0: unknown
  double share = 0;                  ///< the same after sharding over the cards
  double at_most = 0;                ///< `whole` where full fine-tuning does not say its types; 0: not known

  bool several() const { return gpus.value_or(1) > 1; }
  bool sharded() const { return strategy == "fsdp" || strategy == "zero3"; }
  bool shared_by_unknown() const { return sharded() && !gpus && quantization.empty(); }
};

/// The row of the run's task; plain training where none is said.
const recipe::Task& task_of(const Facts& facts);
/// Weights, gradients and both states of AdamW in fp32, 16 bytes a parameter, divided as they were.
void hold_in_fp32(Facts& facts);

Facts read_facts(const Situation& situation, const TextReading& reading, const Numbers& numbers);

/// The parameters that a model's name speaks of: "llama-7b" 7e9, "Mixtral-8x7B" 46.7e9, "Qwen2.5-0.5B",
/// "bert-large" 340e6; 0: none (name_sizes.cpp).
double parameters_in_name(std::string_view name);

}  // namespace plimsoll::diagnosis
