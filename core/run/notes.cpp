#include "core/run/notes.h"

#include <algorithm>

#include "core/json/rounding.h"
#include "core/memory/layers/image_tiles.h"
#include "core/memory/layers/images.h"
#include "core/recipe/implementations.h"
#include "core/run/components.h"
#include "core/run/growth_notes.h"
#include "core/run/note_rows.h"
#include "core/run/phrases.h"

namespace plimsoll::run {

namespace {

using json::grouped;

using R = const Replayed&;
using G = const hardware::Gpu*;
using memory::Component;

bool old_gpu(const hardware::Gpu* gpu) {
  return gpu != nullptr && gpu->compute_capability > 0 && gpu->compute_capability < 8;
}
bool has(std::string_view text, const char* part) { return text.find(part) != std::string::npos; }

constexpr NoteRow run_notes[] = {
    {.code = "max_memory_is_no_training_limit",
     .applies = [](R f, G) { return !f.recipe.model_args.max_memory.empty(); },
     .message = [](R, G) -> std::string {
       return "max_memory only decides where accelerate places the weights when it loads them; it does not "
              "limit training: activations, gradients and optimizer states are not in it, and layers placed "
              "on the CPU come back to the GPU to run.";
     },
     .source = "huggingface/accelerate utils/modeling.py get_max_memory, hooks.py AlignDevicesHook"},
    {.code = "optimizer_copies",
     .applies =
         [](R f, G) {
           // Near the peak counts too: the optimizer gets there in the very first step.
           return f.recipe.training.optim == "adamw_torch" &&
                  f.replay.instants.back().live.total() > 0.97 * peak(f).total() &&
                  f.replay.parameters.trained_bytes > 1e8;
         },
     .message = [](R f, G) -> std::string {
       const double bytes = f.replay.instants.back().live.total();
       std::string first = "The optimizer step reaches " + gib(bytes) + ", already in the first step: ";
       if (memory::first_step(f.replay, f.recipe).phase == memory::Phase::optimizer_step)
         first = "The optimizer step is the peak of the first step, " + gib(bytes) + ": ";
       return first + "adamw_torch (foreach) makes a copy of all trained parameters at once, " +
              gib(f.replay.parameters.trained_bytes) + ". adamw_torch_fused makes none.";
     },
     .source = "pytorch/pytorch torch/optim/adam.py _multi_tensor_adam"},
    {.code = "accumulation_carries_gradients",
     .applies =
         [](R f, G) {
           return f.recipe.training.gradient_accumulation_steps > 1 &&
                  f.replay.at_peak().phase == memory::Phase::forward &&
                  f.replay.parameters.trained_bytes > 0.02 * peak(f).total();
         },
     .message = [](R f, G) -> std::string {
       return "With gradient accumulation every forward pass after the first carries all gradients, " +
              gib(f.replay.parameters.trained_bytes) + " here, beside the optimizer states.";
     },
     .source = "huggingface/transformers trainer.py: zero_grad only after the optimizer step"},
    {.code = "rank_costs",
     .applies =
         [](R f, G) {
           return f.recipe.peft.on && f.replay.parameters.adapter_bytes * 4 > 2.0 * 1073741824.0;
         },
     .message = [](R f, G) -> std::string {
       return "At rank " + std::to_string(f.recipe.peft.r) +
              " adapters, their gradients and optimizer states together take " +
              gib(f.replay.parameters.adapter_bytes + f.replay.parameters.trained_bytes +
                  f.replay.sharding.optimizer) +
              ".";
     },
     .source = "huggingface/peft tuners/lora/layer.py; pytorch torch/optim/adam.py"},
    {.code = "targets_not_found",
     .applies = [](R f, G) { return !f.replay.parameters.unmatched.empty(); },
     .message = [](R f, G) -> std::string {
       const std::string names = joined(f.replay.parameters.unmatched);
       return "This model has no module called " + names + "; PEFT adapts the other targets without a word.";
     },
     .source = "huggingface/peft tuners/tuners_utils.py inject_adapter"},
    {.code = "parameters_not_found",
     .applies = [](R f, G) { return !f.replay.parameters.unmatched_parameters.empty(); },
     .message = [](R f, G) -> std::string {
       return "Nothing is priced for " + joined(f.replay.parameters.unmatched_parameters) +
              " of target_parameters: stacked experts alone are replayed.";
     },
     .source = "huggingface/peft tuners/tuners_utils.py _inject_parameters"},
    {.code = "weights_in_fp32",
     .applies =
         [](R f, G) {
           return f.recipe.peft.on && !f.recipe.quantized() && memory::parameter_size(f.recipe) == 4;
         },
     .message = [](R f, G) -> std::string {
       return "The frozen base is held in fp32, twice the size of 16 bits: " +
              gib(peak(f)[Component::weights]) + ". Load it with dtype=bfloat16 or float16.";
     },
     .source = "huggingface/transformers modeling_utils.py from_pretrained"},
    {.code = "kbit_preparation_upcasts",
     .applies = [](R f, G) { return f.recipe.quantized() && f.recipe.quantization.upcast == "all"; },
     .message = [](R, G) -> std::string {
       return "prepare_model_for_kbit_training leaves embeddings, head and norms in fp32, and with them "
              "every layer boundary: long batches pay for it twice.";
     },
     .source = "huggingface/peft utils/other.py prepare_model_for_kbit_training"},
    {.code = "eight_bit_keeps_inputs",
     .applies =
         [](R f, G) {
           return f.recipe.quantization.load_in_8bit && f.recipe.training.gradient_checkpointing &&
                  !f.recipe.training.use_reentrant && recipe::implementation_of(f.recipe).transformers;
         },
     .message = [](R, G) -> std::string {
       return "bitsandbytes' 8-bit product keeps what it reads out of reach of non-reentrant checkpoints, so that every "
              "layer holds its inputs: gradient_checkpointing_kwargs use_reentrant true frees them.";
     },
     .source =
         "bitsandbytes-foundation/bitsandbytes autograd/_functions.py MatMul8bitLt.forward, ctx.tensors"},
    {.code = "kept_in_fp32",
     .applies = [](R f, G) { return f.recipe.model_args.keep_in_fp32 == "all"; },
     .message = [](R, G) -> std::string {
       return "This stack holds norms, embeddings and head in fp32, and with them every layer boundary, "
              "unless flash attention or cut cross-entropy asks for 16 bits.";
     },
     .source = "axolotl-ai-cloud/axolotl loaders/model.py _configure_embedding_dtypes"},
    {.code = "not_replayed",
     .applies = [](R, G gpu) { return gpu != nullptr && !gpu->replayed(); },
     .message = [](R, G gpu) -> std::string {
       return gpu->name +
              " gets no verdict: CUDA's kernels are counted here, and Metal has others. macOS leaves the GPU "
              "about three quarters of the machine's memory, up to 32 GB two thirds.";
     },
     .source = "ml-explore/mlx mlx/backend/metal/allocator.cpp max_recommended_working_set_size"},
    {.code = "no_bf16",
     .applies =
         [](R f, G gpu) {
           return gpu != nullptr && !gpu->bf16 &&
                  (f.recipe.training.bf16 || f.recipe.model_args.dtype == "bfloat16");
         },
     .message = [](R, G gpu) -> std::string {
       return gpu->name + " has no bfloat16 units; use fp16=true with dtype float16 for the frozen base.";
     },
     .source = "NVIDIA: bfloat16 from compute capability 8.0"},
    {.code = "no_flash_attention",
     .applies =
         [](R f, G gpu) {
           return gpu != nullptr && !gpu->flash_attention_2 &&
                  has(f.recipe.model_args.attn_implementation, "flash");
         },
     .message = [](R, G gpu) -> std::string {
       return gpu->name + " cannot run the flash-attn package; use attn_implementation=\"sdpa\".";
     },
     .source = "Dao-AILab/flash-attention README"},
    {.code = "sdpa_without_flash",
     .applies =
         [](R f, G gpu) {
           const bool sdpa = f.recipe.model_args.attn_implementation == "sdpa";
           return sdpa && (old_gpu(gpu) || has(f.replay.attention, "math kernel"));
         },
     .message = [](R f, G) -> std::string {
       std::string said = "Attention: ";
       said += f.replay.attention;
       said += '.';
       if (has(said, "math kernel") && f.recipe.training.per_device_train_batch_size == 1) {
         said +=
             " Two samples of different length in a batch need a mask, and with it the memory-efficient "
             "kernel runs: a batch of two can take less than one of one.";
       }
       return said;
     },
     .source = "pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp"},
    {.code = "max_split_size_is_no_cure",
     .applies = [](R f, G) { return has(f.recipe.hardware.cuda_alloc_conf, "max_split_size_mb"); },
     .message = [](R, G) -> std::string {
       return "max_split_size_mb only helps against fragmentation; it makes no tensor smaller.";
     },
     .source = "pytorch docs: notes/cuda, PYTORCH_CUDA_ALLOC_CONF"},
    {.code = "chunked_loss_costs",
     .applies =
         [](R f, G) {
           const auto tokens = static_cast<double>(f.recipe.training.per_device_train_batch_size *
                                                   f.recipe.training.max_length);
           return f.recipe.training.loss_kernel == "chunked_nll" &&
                  tokens * (f.recipe.autocast() ? 2 : 3) <
                      static_cast<double>(f.network.stacks.front().hidden);
         },
     .message = [](R, G) -> std::string {
       return "With so few tokens the chunked loss costs memory instead of saving it: it holds the whole "
              "head in fp32. Use loss_type=\"nll\".";
     },
     .source = "huggingface/trl trainer/sft_trainer.py"},
    {.code = "images_are_cut",
     .applies =
         [](R f, G) {
           return f.recipe.vision.images_per_sample > 0 &&
                  memory::tiles_of(f.network.image, f.recipe.vision).pieces > 1;
         },
     .message = [](R f, G) -> std::string {
       const recipe::Vision& v = f.recipe.vision;
       const auto height = static_cast<double>(v.image_height > 0 ? v.image_height : v.image_size);
       const memory::Tiles tiles = memory::tiles_of(f.network.image, v);
       const bool apart = f.network.image.rule == model::ImageTokens::Rule::cross;
       return "The processor makes " + grouped(tiles.pieces) + " tiles of an image of " +
              grouped(static_cast<double>(v.image_size)) + " x " + grouped(height) + " pixels, " +
              grouped(tiles.text_tokens) +
              (apart ? " tokens that cross-attention reads." : " tokens of the sample.");
     },
     .source = "huggingface/transformers image processors; tests/measured/image_tiles.py"},
    {.code = "image_tokens_fill_the_length",
     .applies =
         [](R f, G) {
           const double image = memory::image_load(f.network, f.recipe).text_tokens;
           return image > static_cast<double>(f.recipe.training.max_length);
         },
     .message = [](R f, G) -> std::string {
       return "The images of one sample alone are " +
              grouped(memory::image_load(f.network, f.recipe).text_tokens) +
              " tokens, more than max_length: the sample would be cut inside an image.";
     },
     .source = "huggingface/transformers processors"},
    {.code = "paged_states",
     .applies = [](R f, G) { return f.replay.sharding.paged > 0; },
     .message = [](R f, G) -> std::string {
       return gib(f.replay.sharding.paged) +
              " of optimizer states lie in managed memory: PyTorch does not count them, and they move to the "
              "GPU when there is room.";
     },
     .source = "bitsandbytes optim/optimizer.py get_state_buffer"},
    {.code = "dora_is_approximate",
     .applies = [](R f, G) { return f.recipe.peft.on && f.recipe.peft.use_dora; },
     .message = [](R, G) -> std::string {
       return "DoRA builds the merged weight on every forward; its temporaries are replayed from the source "
              "but not yet checked against a measured run.";
     },
     .source = "huggingface/peft tuners/lora/dora.py"},
};

// Of the model's context and of the card.
constexpr NoteRow limit_notes[] = {
    {.code = "beyond_context",
     .applies =
         [](R f, G) {
           const uint64_t positions = f.network.max_position_embeddings;
           return positions > 0 && static_cast<uint64_t>(f.recipe.training.max_length) > positions;
         },
     .message = [](R f, G) -> std::string {
       return "This model's context ends at " +
              grouped(static_cast<double>(f.network.max_position_embeddings)) +
              " tokens (max_position_embeddings); longer samples need its positions to be extended.";
     },
     .source = "the model's config.json"},
    {.code = "unified_memory",
     .applies = [](R, G gpu) { return hardware::judged(gpu) != nullptr && gpu->unified_memory; },
     .message = [](R, G gpu) -> std::string {
       return gpu->name +
              " shares its memory with the system: what that and other programs hold is missing to the run, and "
              "offloading to CPU frees nothing.";
     },
     .source = "the maker's description of the machine"},
};

}  // namespace

bool decides(std::string_view code) {
  constexpr std::string_view codes[] = {"not_replayed",
                                        "beyond_context",
                                        "no_bf16",
                                        "refused",
                                        "image_tokens_fill_the_length",
                                        "packed_checkpoint",
                                        "experts_not_quantised",
                                        "shared_over_one_gpu"};
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

std::vector<model::Note> notes_of(const Replayed& replayed, const hardware::Gpu* gpu) {
  std::vector<model::Note> told = replayed.network.notes;
  for (const std::span<const NoteRow> rows : {std::span<const NoteRow>(run_notes), network_notes(),
                                              sharing_notes(), std::span<const NoteRow>(limit_notes)}) {
    for (const NoteRow& row : rows) {
      if (row.applies(replayed, gpu)) told.push_back({row.code, row.message(replayed, gpu), row.source});
    }
  }
  for (model::Note& note : growth_notes(replayed)) told.push_back(std::move(note));
  return told;
}

}  // namespace plimsoll::run
