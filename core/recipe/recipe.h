// How a network is trained: every choice that changes memory, resolved to one value each.
//
// Example, from a request object to a recipe with nothing left open:
//
//     json::Errors errors;
//     recipe::Request given = recipe::read_request(request, errors);     // strict: what the user wrote
//     recipe::Resolved resolved = recipe::resolve(given, stack, model_traits, errors);
//     resolved.recipe.training.optim;                                    // "adamw_torch_fused"
//     resolved.assumptions;                                              // {"/training/optim", ..., "why"}
//
// Field names are those of Transformers TrainingArguments, PEFT LoraConfig, BitsAndBytesConfig and TRL. A
// field is declared once, in fields.cpp, with its range, its default and one sentence for the reader.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::recipe {

struct Versions {  // "4.51.3"; compare with version_at_least
  std::string transformers, trl, peft, torch, bitsandbytes, litgpt, unsloth, llamafactory, axolotl;
};

struct ModelArgs {
  std::string dtype;                ///< float32 | bfloat16 | float16: of the weights after from_pretrained
  std::string attn_implementation;  ///< eager | sdpa | flash_attention_2 | flash_attention_3
  bool attention_is_named = false;  ///< the request says it, and not the default of the stack
  uint64_t num_labels = 0;          ///< of a classification head
  std::string device_map;           ///< "" or "auto": where accelerate places the weights
  std::map<std::string, std::string> max_memory;  ///< of device_map: limits placement, never training
  std::string implementation;         ///< whose model code runs: transformers | litgpt | torchtune | unsloth
  bool use_cache = false;             ///< K and V of every layer are kept while the outputs live
  std::string kernels = "installed";  ///< installed, torch: of state-space layers and delta-nets
  bool linearized_experts = false;  ///< routed experts are linears even where Transformers has one parameter
  std::string keep_in_fp32;         ///< none | norms | all: with all, embeddings and head too
  bool value_head = false;          ///< the language model has a value head beside its own, which runs too
};

struct Quantization {
  bool load_in_4bit = false;
  bool load_in_8bit = false;
  bool bnb_4bit_use_double_quant = false;
  std::string bnb_4bit_compute_dtype;
  bool prepare_for_kbit_training = false;
  std::string upcast;  ///< none | norms | all: which 16-bit parameters that preparation leaves in fp32
  std::vector<std::string> llm_int8_skip_modules;
  bool quantize_lm_head = false;      ///< the output head is quantised too
  bool quantize_moe_experts = false;  ///< so are experts that are one parameter
  /// "": bitsandbytes or none; gptq | awq | hqq: a checkpoint packed by another library
  std::string quant_method;
  uint64_t bits = 0, group_size = 0;  ///< of quant_method
};

/// Of PEFT's methods besides LoRA, by the names of their own configurations.
struct TunerSettings {
  uint64_t num_virtual_tokens = 0;               ///< prompt, prefix and P-tuning
  uint64_t encoder_hidden_size = 0;              ///< P-tuning; 0: the width of the model
  uint64_t adapter_len = 0, adapter_layers = 0;  ///< adaption prompt; 0 layers: all
  uint64_t oft_block_size = 0, boft_block_size = 0, boft_n_butterfly_factor = 0;
  uint64_t n_frequency = 0;                      ///< FourierFT, WaveFT
  uint64_t num_vectors = 0, vector_length = 0;   ///< VB-LoRA
  uint64_t block_size = 0;                       ///< C3A
  uint64_t mini_r = 0;                           ///< MiSS
  uint64_t init_r = 0;                           ///< AdaLoRA: the rank before any is pruned
  double decompose_factor = -1;                  ///< LoKr
  double sparse_rate = 0;                        ///< FRoD
  bool para = false;                             ///< DEFT
  std::string init_weights;                      ///< MiSS: "", "bat", "mini"
  std::string variant;                           ///< RoAd: road_1 | road_2 | road_4
  std::vector<std::string> feedforward_modules;  ///< IA3: scaled at the input instead of the output
};

struct Peft {
  bool on = false;
  std::string peft_type;  ///< LORA, or another of PEFT's methods
  TunerSettings tuner;
  uint64_t r = 0;
  double lora_alpha = 0;
  std::vector<std::string> target_modules;  ///< one entry "all-linear" means every linear but the head
  std::string all_linear;                   ///< peft | names: who turns "all-linear" into modules
  std::string target_pattern;               ///< a regular expression over full names, in place of that list
  std::vector<std::string> target_parameters;  ///< experts that are 3-D parameters: "mlp.experts.down_proj"
  std::vector<std::string> exclude_modules;
  double lora_dropout = 0;
  bool use_dora = false;
  bool merge_and_unload = false;  ///< at the end, in the process that has trained
  std::string bias;               ///< none | all | lora_only
  bool lora_bias = false;
  std::vector<std::string> modules_to_save;
  bool ensure_weight_tying = false;
  uint64_t num_trainable_tokens = 0;   ///< of PEFT's trainable_token_indices
  std::string adapter_dtype;           ///< float32 | bfloat16 | float16
  bool finetune_vision_layers = true;  ///< Unsloth's names: which part of the network is searched for targets
  bool finetune_language_layers = true;
};

/// A linear whose gradient GaLore or APOLLO projects, by its path, # for any layer.
struct Projected {
  std::string path;
  double share = 1;  ///< of the layers that have it
};

struct Training {
  uint64_t per_device_train_batch_size = 0;
  uint64_t gradient_accumulation_steps = 0;
  uint64_t max_length = 0;
  std::string truncation_strategy;  ///< truncate | drop | none: samples longer than max_length
  bool packing = false;
  bool disable_dropout = false;     ///< TRL: every dropout module of model and adapters is switched off
  bool padded_batches = false;      ///< a batch holds padding, so an attention mask is built
  bool bf16 = false, fp16 = false;  ///< autocast
  bool gradient_checkpointing = false;
  bool use_reentrant = false;            ///< of gradient_checkpointing_kwargs
  bool selective_checkpointing = false;  ///< every second matrix product and the attention are kept
  uint64_t freeze_trainable_layers = 0;  ///< full fine-tuning of the last layers alone, 0: of all
  uint64_t llamapro_num_new_blocks = 0;  ///< LLaMA-Pro: copies of layers that are added and alone trained
  std::vector<std::string> unfrozen_parameters;  ///< patterns of the names that are trained; empty: all
  bool upcast_trainable = false;                 ///< with either of these: what is trained is fp32
  uint64_t lisa_activated_layers = 0;  ///< of that many layers at a time, and of embeddings and head
  bool offload_checkpoints = false;    ///< layer inputs wait in host memory
  bool activation_offloading = false;  ///< saved tensors wait in host memory
  bool torch_compile = false;
  bool optimizer_in_backward = false;  ///< each parameter steps as soon as its gradient is there
  std::string optimizer_offload;       ///< none | states | states_and_gradients: in host memory
  std::string optim;
  std::string optim_args;                         ///< "rank=128, update_proj_gap=200": of GaLore and APOLLO
  std::vector<std::string> optim_target_modules;  ///< what they project; empty, "all-linear": all linears
  std::string optim_target_pattern;               ///< a regular expression over full names, in place of it
  std::vector<Projected> projected;               ///< the linears that these mean in the network
  std::string loss_kernel;                        ///< an id of the loss table: stock, liger, chunked_nll, ...
  bool use_liger_kernel = false;
  bool liger_rms_norm = false, liger_swiglu = false, liger_rope = false;  ///< of liger_kernel_config
  bool fused_lora = false;               ///< adapters run as one kernel (Unsloth, FOAK)
  bool keep_outputs = false;             ///< the logits are still referenced while backward runs
  bool keep_gradients = false;           ///< gradients are cleared before the forward, not after the step
  uint64_t torch_empty_cache_steps = 0;  ///< 0: never
  uint64_t max_steps = 0;                ///< optimizer steps of the run, 0: as many as the data has
  std::string eval_strategy;             ///< no | steps | epoch
  std::string save_strategy;             ///< no | steps | epoch | best
  bool save_only_model = false;          ///< no optimizer states, with which a run could go on
  bool load_best_model_at_end = false;
  bool compute_metrics = false, preprocess_logits_for_metrics = false;
  std::string eval_loss_kernel;  ///< the loss_kernel of evaluation
  bool eval_packing = false;
  uint64_t per_device_eval_batch_size = 0;
  uint64_t eval_accumulation_steps = 0;
  bool prediction_loss_only = false;
  uint64_t save_steps = 500;
  uint64_t save_total_limit = 0;  ///< 0: every checkpoint is kept
};

struct Vision {
  uint64_t images_per_sample = 0;
  uint64_t image_size = 0;    ///< pixels of the wider side
  uint64_t image_height = 0;  ///< of the other; 0: square
  uint64_t max_tiles = 0;     ///< that a processor cuts one image into; 1: none does, 0: as it is set up
  bool freeze_vision_tower = true;
  bool freeze_multi_modal_projector = false;
  bool freeze_language_model = false;
};

/// accelerate's FullyShardedDataParallelPlugin, Trainer's fsdp_config.
struct FsdpConfig {
  bool reshard_after_forward = true;               ///< false: SHARD_GRAD_OP
  bool offload_params = false;                     ///< shards, gradients and states lie in RAM
  std::string backward_prefetch = "backward_pre";  ///< backward_pre | backward_post | none
  bool forward_prefetch = false;
  bool limit_all_gathers = true;
  bool auto_wrap = true;                  ///< one unit a layer; false: the whole network is one unit
  std::string own_units;                  ///< none | embedding | embedding_and_head
  bool activation_checkpointing = false;  ///< checkpoint wrappers lie inside the units, not around them
  bool upcast_trainable = false;          ///< trained parameters are sharded in fp32
  std::string reduce_dtype;               ///< of gradients on their way between ranks
  std::string state_dict_type;            ///< FULL_STATE_DICT | SHARDED_STATE_DICT
};

/// zero_optimization of a DeepSpeed configuration.
struct ZeroConfig {
  std::string library = "deepspeed";                               ///< deepspeed | colossalai
  std::string offload_optimizer = "none", offload_param = "none";  ///< none | cpu | nvme
  uint64_t reduce_bucket_size = 500000000;                         ///< elements; 0: hidden size squared
  uint64_t stage3_prefetch_bucket_size = 50000000;
  uint64_t stage3_max_live_parameters = 1000000000;
  uint64_t sub_group_size = 1000000000;
  bool overlap_comm = false;
  bool stage3_gather_16bit_weights_on_model_save = false;
  bool contiguous_gradients = true;
};

/// Of tasks that learn from log-probabilities: preference and reinforcement learning.
struct Rl {
  double beta = 0;  ///< weight of the distance to the reference
  std::string loss_type;
  std::string reference_model;  ///< none | copy | adapter_off | adapter_copy
  bool precompute_ref_log_probs = false;
  double cpo_alpha = 0;  ///< weight of the chosen half's cross-entropy
  uint64_t num_generations = 1, max_completion_length = 0, max_prompt_length = 0;
  uint64_t steps_per_generation = 1, num_iterations = 1;
  bool use_vllm = false, vllm_enable_sleep_mode = false;
  std::string vllm_mode;  ///< colocate | server
  double vllm_gpu_memory_utilization = 0;
  uint64_t vllm_tensor_parallel_size = 1;

  bool colocates_vllm() const { return use_vllm && vllm_mode == "colocate"; }
};

struct Parallel {
  uint64_t num_gpus = 1;
  std::string strategy;                  ///< an id of the strategy table
  uint64_t sequence_parallel_size = 1;   ///< GPUs that share the tokens of one sequence
  bool gradient_as_bucket_view = false;  ///< DDP: gradients are views into the buckets
  bool sync_each_batch = false;          ///< FSDP: gradients are reduced after every micro-batch
  FsdpConfig fsdp;
  ZeroConfig zero;
};

struct Data {
  uint64_t samples = 0, eval_samples = 0;
  double epochs = 0;
  double mean_length = 0;
  uint64_t longest_length = 0;  ///< tokens in the longest sample, 0: as many as max_length allows
};

struct Cloud {  ///< what a rented machine costs, where the snapshots of presets/clouds are not wanted
  double usd_per_hour = 0;  ///< of the machine with the chosen GPU; 0: as in the snapshots
  double mean_hours_between_interruptions = 41;
  double restart_minutes = 10;
};

struct Hardware {
  std::string gpu;  ///< "" none chosen
  double in_use_gib = 0;
  double context_gib = 0;       ///< outside PyTorch's count; 0: as measured on such a GPU
  std::string cuda_alloc_conf;  ///< PYTORCH_CUDA_ALLOC_CONF
};

struct Recipe {
  std::string stack, task;
  Versions versions;
  ModelArgs model_args;
  Quantization quantization;
  Peft peft;
  Training training;
  Vision vision;
  Rl rl;
  Parallel parallel;
  Hardware hardware;
  Data data;
  Cloud cloud;
  std::vector<std::string> locks;
  std::vector<std::string> want;  ///< optional parts of the report

  bool autocast() const { return training.bf16 || training.fp16; }
  bool quantized() const {
    return quantization.load_in_4bit || quantization.load_in_8bit || !quantization.quant_method.empty();
  }
  bool full() const { return !peft.on; }
  /// Between its training steps.
  bool evaluates() const { return training.eval_strategy != "no"; }
  /// Samples behind one optimizer step. Processes that share a row out read one batch together.
  uint64_t effective_batch() const;
  /// Rank of the optimizer's projection: 0 for those that have none.
  double projection_rank() const;
  /// Tokens of each row in the longest batch of the run: max_length, unless no sample is that long. Batches
  /// are padded to their longest sample; without padding the others add their mean.
  double longest_row() const;
  /// The same where a batch is padded whatever the training does, as generation is.
  double longest_sample() const;
  /// The part of it that one GPU holds: sequence parallelism shares a row out.
  double row_length() const;
  /// Samples of a batch follow each other in one row, unpadded, as FlashAttention alone can tell them apart.
  bool joined_rows() const;
  /// The same of samples that packing has not put together before: a row is as long as all of the batch.
  bool joined_samples() const { return joined_rows() && !training.packing; }
  /// Gradients are there when the forward begins: from the second micro-batch on, when the loop clears them
  /// late, or when zero_grad() fills them with zeros instead of freeing them (its default before
  /// PyTorch 2.0).
  bool gradients_outlive_step() const;
  /// And the optimizer's step besides: nothing clears them before the next forward, an evaluation's too.
  bool gradients_outlive_optimizer() const;
  /// FSDP reduces them after every micro-batch: Transformers' Trainer read that from its accumulate() until
  /// 4.46.1 and reads it again from 5.2 on.
  bool syncs_each_batch() const;
  /// Used up or sent away as soon as they are made.
  bool gradients_leave_at_once() const {
    return training.optimizer_in_backward || training.optimizer_offload == "states_and_gradients";
  }
  /// A new gradient is added to the whole one that exists.
  bool gradients_add_up() const { return gradients_outlive_step() && !syncs_each_batch(); }
  /// A new gradient never stays: it is added to the one that exists, or leaves at once.
  bool gradients_pass_through() const { return gradients_add_up() || gradients_leave_at_once(); }
};

/// Fields by pointer ("/training/optim"), as they were written or defaulted.
using Values = std::map<std::string, json::Json>;

struct Request {
  Values values;            ///< what the user wrote, field by field, checked
  std::string model_id;     ///< "" when a config was given
  json::Json model_config;  ///< the config.json, or null
  std::string model_name;   ///< of the config
};

/// Reads a request. Reports every unknown key, wrong type, impossible number and unknown word at once.
Request read_request(const json::Json& request, json::Errors& errors);

struct Assumption {
  std::string pointer;
  json::Json value;
  std::string why;     ///< names the stack or the library that sets it
  bool asked = false;  ///< none does: the person is asked for it
};

/// One default of a stack preset; `when` holds version conditions such as {"transformers", ">=4.46"}.
struct StackDefault {
  std::string pointer;
  json::Json value;
  std::vector<std::pair<std::string, std::string>> when;
  std::string why;
  std::string source;
  bool asked = false;  ///< assumed for want of a default of the stack
};

/// Checkpoints in 4 bits that a stack loads in the place of the model that was asked for, and that leave the
/// same share of the linears' elements in 16 bits.
struct DynamicCheckpoints {
  double in_16_bits = 0;   ///< of the language model
  bool vision = false;     ///< the vision tower is in 16 bits as well
  std::string names = {};  ///< of the models, in lower case, apart by spaces
};

/// A training stack: a named list of defaults, presets/stacks/<id>.json.
struct StackPreset {
  std::string id, name, summary;
  std::vector<StackDefault> defaults;
  std::vector<DynamicCheckpoints> dynamic_4bit;
};
std::optional<StackPreset> read_stack(const json::Json& preset, json::Errors& errors);

/// What defaults may depend on besides other fields: of the model, and whether the card has bfloat16.
struct ModelTraits {
  std::string model_type;
  std::string checkpoint_dtype;  ///< "" unknown
  uint64_t max_position_embeddings = 0;
  bool hears = false;  ///< reads sound of one length; its texts are transcripts
  bool sees_images = false;
  uint64_t default_image_size = 0;           ///< 0: images of any size, or none
  bool gpu_bf16 = true;                      ///< the chosen card computes in bfloat16
  bool linearized_experts = false;           ///< the checkpoint's name says so
  std::vector<std::string> dynamic_modules;  ///< in 16 bits in the 4-bit checkpoint that the stack loads
};

struct Resolved {
  Recipe recipe;
  Values values;  ///< every field, given or defaulted
  std::vector<Assumption> assumptions;
};

/// Fills every field that was not given: the stack's defaults first, then the rules of fields.cpp. Adds
/// `conflict` errors for values that contradict each other.
Resolved resolve(const Request& given, const StackPreset& stack, const ModelTraits& traits,
                 json::Errors& errors);

/// Whether values of a resolved recipe rule each other out: what resolve() refuses as a `conflict`, for a
/// recipe whose members were set one by one.
bool contradicts_itself(const Recipe& recipe);

/// True when version `have` is at least `want`; "4.9" < "4.46". Missing parts count as 0.
bool version_at_least(std::string_view have, std::string_view want);
/// ">=4.46", "<5", "4.51" (exactly that prefix), several joined by a comma.
bool version_matches(std::string_view have, std::string_view conditions);

/// One row of the field table, for documentation and forms.
struct FieldInfo {
  std::string pointer, type, allowed, what;
};
std::vector<FieldInfo> fields();

}  // namespace plimsoll::recipe
