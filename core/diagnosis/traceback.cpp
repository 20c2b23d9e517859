#include "core/diagnosis/traceback.h"

#include <algorithm>

#include "core/diagnosis/words.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_word;

constexpr std::size_t longest_traceback = 256U << 10U;

// `rank`: what decides when several frames are there; the higher is the outer reason or the more specific
// one.
struct FrameWords {
  std::string_view words;
  Phase phase;
  uint8_t rank;
  std::string_view sign;  ///< "" none
};

// Sources: huggingface/transformers modeling_utils.py, trainer.py, loss/loss_utils.py; pytorch
// torch/optim/adamw.py, torch/autograd, torch/utils/checkpoint.py, torch/distributed/fsdp; huggingface/peft
// tuners/lora; trl trainers.
constexpr FrameWords frames[] = {
    {"from_pretrained", Phase::load, 2, ""},
    {"loading checkpoint shards", Phase::load, 3, ""},
    {"_load_state_dict_into", Phase::load, 6, ""},
    {"_load_state_dict_into_meta", Phase::load, 6, ""},
    {"set_module_tensor_to_device", Phase::load, 6, ""},
    {"set_module_quantized_tensor", Phase::load, 6, ""},
    {"load_pretrained_model", Phase::load, 6, ""},
    {"load_checkpoint", Phase::load, 5, "resume"},
    {"create_quantized_param", Phase::load, 6, ""},
    {"mxfp4", Phase::load, 5, "dequantize_base"},
    {"init_train_state", Phase::load, 4, ""},
    {"load_and_format_params", Phase::load, 4, ""},
    {"loading the model", Phase::load, 4, ""},
    {"trainer init", Phase::load, 3, ""},
    {"_apply(convert", Phase::load, 3, ""},
    {"module._apply(fn)", Phase::load, 3, ""},
    {"model.to(", Phase::load, 3, ""},
    {"super().to(device=device", Phase::load, 4, ""},
    {"params4bit", Phase::load, 4, ""},
    {".to(device)", Phase::load, 2, ""},
    {"t.to(device", Phase::load, 4, ""},
    {"return t.to(", Phase::load, 4, ""},
    {"param_applied", Phase::load, 3, ""},
    {".cuda()", Phase::load, 2, ""},
    {"accelerator.prepare", Phase::load, 2, "prepare"},
    {"deepspeed.initialize", Phase::load, 4, "prepare"},
    {"deepspeedzerooptimizer", Phase::optimizer, 6, "prepare"},
    {"optimizer state initialization", Phase::optimizer, 8, "prepare"},
    {"optimizer states initialization", Phase::optimizer, 8, "prepare"},
    {"create_fp32_partitions", Phase::optimizer, 8, "prepare"},
    {"get_peft_model", Phase::load, 4, ""},
    {"load_peft_model", Phase::load, 5, ""},
    {"dispatch_model", Phase::load, 4, ""},
    {"_move_model_to_device", Phase::load, 5, ""},
    {"_configure_distributed_model", Phase::load, 5, ""},
    {"_sync_params_and_buffers", Phase::load, 5, ""},
    {"_sync_module_states", Phase::load, 5, ""},
    {"_broadcast_coalesced", Phase::load, 5, ""},
    {"distributeddataparallel(", Phase::load, 4, ""},
    {"flat_param", Phase::load, 4, "shard"},
    {"_init_param_handle", Phase::load, 5, "shard"},
    {"materialize_meta", Phase::load, 5, "shard"},
    {"resize_token_embeddings", Phase::load, 5, ""},
    {"model.half(", Phase::load, 4, ""},
    {"model.float(", Phase::load, 4, ""},
    {"model.bfloat16(", Phase::load, 4, ""},
    {"module.half(", Phase::load, 4, ""},
    {"module.bfloat16(", Phase::load, 4, ""},
    {"build_model", Phase::load, 3, ""},
    {"model_init", Phase::load, 3, ""},
    {"sync_module_states", Phase::load, 5, ""},
    {"initialize_optimizer_states", Phase::optimizer, 8, "prepare"},
    {"_configure_zero_optimizer", Phase::optimizer, 5, "prepare"},
    {"_prepare_deepspeed", Phase::load, 4, "prepare"},
    {"fullyshardeddataparallel", Phase::load, 2, "shard"},
    {"prepare_model_for_kbit", Phase::load, 7, "kbit"},
    {"prepare_model_for_int8", Phase::load, 7, "kbit"},
    {"prepare for int8", Phase::load, 7, "kbit"},
    // transformers modeling_utils.py (one block for the whole checkpoint before it is read), peft,
    // safetensors
    {"caching_allocator_warmup", Phase::load, 6, ""},
    {"load_model(", Phase::load, 4, ""},
    {"load_adapter", Phase::load, 5, ""},
    {"set_peft_model_state_dict", Phase::load, 5, ""},
    {"torch.load(", Phase::load, 4, ""},
    {"unpickler.load", Phase::load, 4, ""},
    {"safe_load_file", Phase::load, 4, ""},
    {"quantize_4bit(", Phase::load, 4, ""},
    {"deepspeedzerooffload", Phase::load, 5, "shard"},
    {"_convert_to_deepspeed_param", Phase::load, 5, "shard"},
    {"partition_all_parameters", Phase::load, 5, "shard"},
    {"create_fp16_partitions", Phase::optimizer, 7, "prepare"},
    {"fp32 partitions", Phase::optimizer, 8, "prepare"},
    {"_setup_for_real_optimizer", Phase::optimizer, 8, "prepare"},
    {"decoder_layer", Phase::forward, 3, ""},
    {"decoder layer", Phase::forward, 3, ""},
    {"training_step", Phase::forward, 1, ""},
    {"model(**", Phase::forward, 1, ""},
    {"compute_loss", Phase::forward, 1, ""},
    {"self_attn", Phase::forward, 3, "attention"},
    {"softmax", Phase::forward, 3, "attention"},
    {"attn_weights", Phase::forward, 3, "attention"},
    {"attn_weights = ", Phase::forward, 3, "scores"},
    {"attention_scores", Phase::forward, 3, "scores"},
    {"attn_scores", Phase::forward, 3, "scores"},
    {"torch.matmul(query", Phase::forward, 3, "scores"},
    {"eager_attention_forward", Phase::forward, 4, "scores"},
    {"scaled_dot_product", Phase::forward, 3, "attention"},
    {"baddbmm", Phase::forward, 3, "attention"},
    {"flash_attn", Phase::forward, 3, "flash"},
    {"varlen", Phase::forward, 3, "varlen"},
    {"self.mlp", Phase::forward, 3, ""},
    {"matmul_4bit", Phase::forward, 4, "dequantize"},
    {"matmul4bit", Phase::forward, 4, "dequantize"},
    {"dequantize_4bit", Phase::forward, 4, "dequantize"},
    {"dequantize_fp4", Phase::forward, 4, "dequantize"},
    {"dequantize_nf4", Phase::forward, 4, "dequantize"},
    {"dequantised", Phase::forward, 4, "dequantize"},
    {"f.linear", Phase::forward, 2, ""},
    {"self.act(", Phase::forward, 3, ""},
    {"act_fn(", Phase::forward, 3, ""},
    {"gate_proj(", Phase::forward, 3, ""},
    {"down_proj(", Phase::forward, 3, ""},
    {"up_proj(", Phase::forward, 3, ""},
    {"rotary_emb", Phase::forward, 3, ""},
    {"apply_rotary", Phase::forward, 3, ""},
    {"rmsnorm", Phase::forward, 3, ""},
    {"rms_norm", Phase::forward, 3, ""},
    {"layer_norm(", Phase::forward, 3, ""},
    {"embed_tokens(", Phase::forward, 3, ""},
    {"self.attention(", Phase::forward, 3, "attention"},
    {"model(*", Phase::forward, 1, ""},
    {"= model(", Phase::forward, 1, ""},
    {"= self.model(", Phase::forward, 1, ""},
    {"scores @ ", Phase::forward, 3, "scores"},
    {"model(input", Phase::forward, 1, ""},
    {"model(all_input", Phase::forward, 1, ""},
    {"model(batch", Phase::forward, 1, ""},
    {"dora", Phase::forward, 2, "dora"},
    {"visual", Phase::forward, 2, "vision"},
    {"vision_tower", Phase::forward, 3, "vision"},
    {"vision_model", Phase::forward, 3, "vision"},
    {"pixel_values", Phase::forward, 2, "vision"},
    {"get_image_features", Phase::forward, 4, "vision"},
    {"xrtexecute", Phase::forward, 2, ""},
    {"_loss_step(", Phase::loss, 4, ""},  // torchtune: forward and loss
    {"logits.float()", Phase::loss, 7, "logits"},
    // accelerate's mixed precision turns what a model returns to fp32: the logits (utils/operations.py).
    {"_convert_to_fp32", Phase::loss, 7, "logits"},
    {"_is_fp16_bf16_tensor", Phase::loss, 7, "logits"},
    {"lm_head", Phase::loss, 5, "logits"},
    {"cross_entropy", Phase::loss, 7, "logits"},
    {"crossentropy", Phase::loss, 7, "logits"},
    {"forcausallmloss", Phase::loss, 7, "logits"},
    {"log_softmax", Phase::loss, 7, "logits"},
    {"logsumexp", Phase::loss, 7, "logits"},
    {"entropy_from_logits", Phase::loss, 7, "logits"},
    {"probs_from_logits", Phase::loss, 7, "logits"},
    {"compute_log_prob(", Phase::loss, 5, "logits"},
    {"vocab_parallel", Phase::loss, 6, "logits"},
    {"shift_logits", Phase::loss, 7, "logits"},
    {"per_token_logps", Phase::loss, 7, "logits"},
    {"get_batch_logps", Phase::loss, 7, "logits"},
    {"compute_log_probs", Phase::loss, 7, "logits"},
    {"run_backward", Phase::backward, 8, ""},
    {"loss.backward", Phase::backward, 8, ""},
    {"accelerator.backward", Phase::backward, 8, ""},
    {".backward(", Phase::backward, 8, ""},
    {"backward", Phase::backward, 6, ""},
    {"varlen_bwd", Phase::backward, 8, "varlen"},
    {"reduceaddcoalesced", Phase::backward, 8, ""},
    {"checkpointfunction", Phase::forward, 1, "checkpoint"},
    {"optimizer.step", Phase::optimizer, 9, ""},
    {"optim.step", Phase::optimizer, 9, ""},
    {"torch.zeros_like(", Phase::optimizer, 5, "states"},
    {"exp_avg", Phase::optimizer, 9, "states"},
    {"_init_group", Phase::optimizer, 9, "states"},
    {"_foreach_", Phase::optimizer, 9, "foreach"},
    {"_multi_tensor_adam", Phase::optimizer, 9, "foreach"},
    {"_init_optimizer_state", Phase::optimizer, 9, "states"},
    {"get_state_buffer", Phase::optimizer, 9, "states"},  // bitsandbytes/optim/optimizer.py
    {"torch/optim/adam", Phase::optimizer, 9, ""},
    {"bitsandbytes/optim/", Phase::optimizer, 8, ""},
    {"fused_adam", Phase::optimizer, 8, ""},
    {"scaler.step(", Phase::optimizer, 9, ""},
    {"clip_grad_norm", Phase::optimizer, 8, ""},
    {"evaluation_loop", Phase::eval, 9, ""},
    {"prediction_loop", Phase::eval, 9, ""},
    {"prediction_step", Phase::eval, 9, ""},
    {"nested_concat", Phase::eval, 10, ""},
    {"pad_and_concatenate", Phase::eval, 10, ""},
    {"nested_gather", Phase::eval, 9, ""},
    {"pad_across_processes", Phase::eval, 9, ""},
    {"gather_for_metrics", Phase::eval, 9, ""},
    {"compute_metrics", Phase::eval, 8, ""},
    {"preprocess_logits_for_metrics", Phase::eval, 9, ""},
    {"evaluate_predictions", Phase::eval, 8, ""},
    {"run_validation", Phase::eval, 8, ""},
    {"validation_epoch", Phase::eval, 8, ""},
    {"eval_step", Phase::eval, 8, ""},
    {"trainer.predict", Phase::eval, 9, ""},
    {"trainer.evaluate", Phase::eval, 9, ""},
    {"self.evaluate(", Phase::eval, 9, ""},
    {"_maybe_log_save_evaluate", Phase::eval, 4, ""},
    {"validation_step", Phase::eval, 8, ""},
    {"validation_loop", Phase::eval, 8, ""},
    {"validation inside", Phase::eval, 5, ""},
    {"_save_checkpoint", Phase::save, 9, ""},
    {"save_model(", Phase::save, 9, ""},
    {"save_checkpoint", Phase::save, 9, ""},
    {"save_state_dict", Phase::save, 9, ""},
    {"state_dict_saver", Phase::save, 9, ""},
    {"save_model_and_optim", Phase::save, 9, ""},
    {"_init_optim_state", Phase::save, 10, ""},  // torch/distributed/checkpoint/state_dict.py
    {"trainer.save_", Phase::save, 9, ""},
    {"_load_best_model", Phase::load, 9, "resume"},
    {"load_sharded_checkpoint", Phase::load, 8, "resume"},
    {"_load_from_checkpoint", Phase::load, 9, "resume"},
    {"_load_optimizer_and_scheduler", Phase::load, 9, "resume"},
    {"full_state_dict", Phase::save, 9, ""},
    {"full state dict", Phase::save, 9, ""},
    {"fullstatedict", Phase::save, 9, ""},
    {"summon_full_params", Phase::save, 9, ""},
    {"_unshard_fsdp_state_params", Phase::save, 8, ""},
    {"fsdp_save_ckpt", Phase::save, 9, ""},
    {"_save_to_state_dict", Phase::save, 9, ""},
    {"undo_layout", Phase::save, 7, ""},  // bitsandbytes, only where an int8 state dict is made
    {"consolidate", Phase::save, 8, ""},
    {"torch.save(", Phase::save, 8, ""},
    {"save_pretrained(", Phase::save, 8, ""},
    {"get_model_state_dict", Phase::save, 8, ""},  // torch.distributed.checkpoint.state_dict
    {"get_optimizer_state_dict", Phase::save, 8, ""},
    {"optim_state_dict(", Phase::save, 8, ""},
    {"optim_state_dict_to_load", Phase::load, 9, "resume"},
    {"set_model_state_dict", Phase::load, 9, "resume"},
    {"set_optimizer_state_dict", Phase::load, 9, "resume"},
    {"failed to clone() tensor", Phase::save, 9, ""},  // torch/distributed/fsdp/_state_dict_utils.py
    {"optimizer state dict load", Phase::load, 9, "resume"},
    {"load_state_dict", Phase::load, 5, ""},
    {"optimizer.load_state_dict", Phase::load, 9, "resume"},
    {"load_optimizer", Phase::load, 9, "resume"},
    {".state_dict", Phase::save, 8, ""},
    {"_state_dict(model", Phase::save, 8, ""},
    {"resume", Phase::load, 7, "resume"},
    {"model.generate", Phase::generate, 9, ""},
    {".generate(", Phase::generate, 9, ""},
    {"generation/utils.py", Phase::generate, 8, ""},
    {"beam_search(", Phase::generate, 8, ""},
    {"greedy_search(", Phase::generate, 8, ""},
    {"_prefill", Phase::generate, 9, ""},
    {"sample_sequence", Phase::generate, 9, ""},
    {"rollout", Phase::generate, 8, ""},
    // The engine beside the trainer: vllm/engine, vllm/v1/worker, sglang's scheduler, TRL's own call.
    {"self.llm = llm(", Phase::generate, 8, "vllm"},
    {"initialize_kv_cache", Phase::generate, 9, "vllm"},
    {"determine_num_available_blocks", Phase::generate, 9, "vllm"},
    {"determine_available_memory", Phase::generate, 9, "vllm"},
    {"vllm/engine/", Phase::generate, 8, "vllm"},
    {"vllm/worker/", Phase::generate, 8, "vllm"},
    {"vllm/v1/", Phase::generate, 8, "vllm"},
    {"gpu_model_runner", Phase::generate, 8, "vllm"},
    {"vllmworker", Phase::generate, 8, "vllm"},
    {"sglang/srt/", Phase::generate, 8, "vllm"},
    {"resume_memory_occupation", Phase::generate, 9, "vllm"},
    {"wake_up(", Phase::generate, 9, "vllm"},
    {"wake_up", Phase::generate, 8, "vllm"},
    {"cumem", Phase::generate, 8, "vllm"},  // vLLM's own allocator, which sleeps and wakes
    {"vllm engine", Phase::generate, 8, "vllm"},
    {"llm_engine", Phase::generate, 8, "vllm"},
    {"llm(...)", Phase::generate, 8, "vllm"},
    {"llm.wake_up", Phase::generate, 9, "vllm"},
    {"cumem_allocator", Phase::generate, 9, "vllm"},
    {"backload_vllm", Phase::generate, 9, "vllm"},
    {"backload_to_gpu", Phase::generate, 9, "vllm"},
    {"generate_sequences", Phase::generate, 9, ""},
    {"generate_completions", Phase::generate, 9, ""},
    {"generate_experience", Phase::generate, 8, ""},
    {"merge_and_unload", Phase::merge, 10, "merge"},
    {"get_delta_weight", Phase::merge, 9, "merge"},
    {"unmerge", Phase::merge, 9, "merge"},
    {"export_model", Phase::merge, 10, "merge"},
    {"merge_lora", Phase::merge, 9, "merge"},
    {"save_pretrained_merged", Phase::merge, 10, "merge"},
    {"deepcopy", Phase::merge, 6, "copy"},
    {"dora_factor", Phase::merge, 6, "dora"},
};

constexpr std::string_view phases[] = {"other",     "load", "forward", "loss",     "backward",
                                       "optimizer", "eval", "save",    "generate", "merge"};

// "resume_from_checkpoint: null", "use_vllm=False": a setting that is off is no frame.
bool is_switched_off(std::string_view folded, std::size_t at) {
  while (at < folded.size() && is_word(folded[at])) ++at;
  while (at < folded.size() && (folded[at] == '"' || folded[at] == '\'' || folded[at] == ' ')) ++at;
  if (at >= folded.size() || (folded[at] != ':' && folded[at] != '=')) return false;
  ++at;
  while (at < folded.size() && folded[at] == ' ') ++at;
  const std::string_view value = folded.substr(at, 5);
  return value.substr(0, 4) == "null" || value.substr(0, 4) == "none" || value == "false" ||
         value.substr(0, 1) == "\n" || value.empty();
}

// "Loading checkpoint shards: 100%" says that loading is over; "lm_head.weight" is a parameter's name.
bool is_done_or_a_name(std::string_view folded, const FrameWords& frame, std::size_t at) {
  const std::string_view behind = folded.substr(std::min(at + frame.words.size(), folded.size()), 12);
  if (frame.words == "loading checkpoint shards") return behind.substr(0, 6) == ": 100%";
  return frame.words == "lm_head" && behind.substr(0, 7) == ".weight";
}

// Lines that a traceback consists of, in the forms of Python, rich and IPython, and of pybind's "At:".
bool names_a_place(std::string_view line) {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  if (line.substr(0, 5) == "[rank") line.remove_prefix(std::min(line.find(':') + 1, line.size()));
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return line.substr(0, 6) == "file \"" || line.substr(0, 6) == "file ~" || line.substr(0, 6) == "file /" ||
         line.substr(0, 3) == "-->" || line.substr(0, 4) == "--->" ||
         (line.substr(0, 3) == "-> " && line.size() > 3 && line[3] >= '0' && line[3] <= '9') ||
         line.find("\xE2\x9D\xB1") != std::string_view::npos ||  // the arrow of rich
         line.find(".py in ") != std::string_view::npos ||
         (line.find(".py:") != std::string_view::npos && line.find(" in ") != std::string_view::npos) ||
         (line.find(".py(") != std::string_view::npos && line.find("): ") != std::string_view::npos);
}

// Where a text holds a traceback or a script, only the traceback says where it died.
class Places {
 public:
  explicit Places(std::string_view folded) : folded_(folded) {
    bool named = false;
    std::size_t above = 0;
    for (std::size_t at = 0; at < folded.size();) {
      const std::size_t end = std::min(folded.find('\n', at), folded.size());
      const std::string_view line = folded.substr(at, end - at);
      const bool names = names_a_place(line);
      // The line above the message is the code that failed, also where the frames above it were cut off.
      const bool fails = line.find("out of memory") != std::string_view::npos && at > 0;
      if (fails && (quoted_.empty() || quoted_.back() < above)) quoted_.push_back(above);
      if (names || named) quoted_.push_back(at);  // the place, and the line of code below it
      above = at;
      count_ += names ? 1 : 0;
      script_ = script_ || line.substr(0, 7) == "import " || line.substr(0, 5) == "from ";
      named = names;
      at = end + 1;
    }
  }
  bool counts(std::size_t at) const {
    if (count_ < 2 && !script_) return true;
    const std::size_t before = at == 0 ? std::string_view::npos : folded_.rfind('\n', at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return std::binary_search(quoted_.begin(), quoted_.end(), begin);
  }

 private:
  std::string_view folded_;
  std::vector<std::size_t> quoted_;
  std::size_t count_ = 0;
  bool script_ = false;
};

// Words of a message itself are no frame: "out of memory ... see documentation for memory management".
std::string line_around(const Text& text, std::size_t at) {
  const std::size_t before = text.lines.rfind('\n', at);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.lines.find('\n', at), text.lines.size());
  std::size_t first = begin;
  while (first < end && text.lines[first] == ' ') ++first;
  return first_bytes(std::string_view(text.lines).substr(first, end - first), 160);
}

}  // namespace

std::string_view name(Phase phase) { return phases[static_cast<std::size_t>(phase)]; }

Phase phase_named(std::string_view wanted) {
  const auto* found = std::find(std::begin(phases), std::end(phases), wanted);
  return found == std::end(phases) ? Phase::unknown : static_cast<Phase>(found - std::begin(phases));
}

bool Frames::shows(std::string_view sign) const {
  return std::find(signs.begin(), signs.end(), sign) != signs.end();
}

Frames read_frames(const Text& text) {
  std::vector<std::string_view> words;
  for (const FrameWords& frame : frames) words.push_back(frame.words);
  const std::size_t from =
      text.folded_lines.size() > longest_traceback ? text.folded_lines.size() - longest_traceback : 0;
  Frames out;
  uint8_t best = 0;
  const std::string_view folded = std::string_view(text.folded_lines).substr(from);
  const Places places(folded);
  for (const Place& found : find_words(folded, words, 1000)) {
    const FrameWords& frame = frames[found.word];
    const bool code = frame.words.find(' ') == std::string_view::npos;
    if ((code && !places.counts(found.at)) || is_done_or_a_name(folded, frame, found.at)) continue;
    // "resume" is no part of "presume"; "backward" is one of "_backward_hook".
    if (found.at > 0 && is_word(frame.words.front()) && folded[found.at - 1] >= 'a' &&
        folded[found.at - 1] <= 'z') {
      continue;
    }
    if (is_switched_off(folded, found.at) || in_setting(folded, found.at)) continue;
    if (!frame.sign.empty() && !out.shows(frame.sign)) out.signs.emplace_back(frame.sign);
    if (frame.rank < best) continue;
    best = frame.rank;
    out.phase = frame.phase;
    out.words = line_around(text, from + found.at);
  }
  return out;
}

}  // namespace plimsoll::diagnosis
