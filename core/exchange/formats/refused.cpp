// Trainers that are known by name and not replayed: what they are is said, and what can be pasted instead.
// They are told apart so that none of them is taken for another tool's configuration.
#include "core/exchange/formats/refused.h"

#include "core/exchange/formats.h"

namespace plimsoll::exchange {

namespace {

struct Unplayed {
  const Format* format;
  std::string_view programs = {};  // parts of what a command starts, joined by blanks
  std::string_view settings = {};  // how its overrides begin: key=value
  std::string_view classes = {};   // without their Trainer or Config, joined by blanks
  const char* what;
  const char* instead;
};

const Unplayed refusals[] = {
    {.format = &mlx_lm,
     .programs = "mlx_lm mlx-lm",
     .what =
         "This is MLX's trainer (mlx_lm.lora): it trains in the memory of an Apple chip, by other kernels than "
         "those that are replayed here.",
     .instead = "the same model, rank, batch and length as a command of trl sft, or as a request"},
    {.format = &verl,
     .programs = "verl.trainer verl/trainer main_ppo main_dapo",
     .settings = "actor_rollout_ref. critic.model.",
     .what =
         "This starts verl, whose workers of FSDP or Megatron and of vLLM share the GPUs in turns, which is not "
         "replayed.",
     .instead =
         "the policy alone as a request: task grpo or ppo, actor_rollout_ref.model.path as model, "
         "ppo_micro_batch_size_per_gpu, max_prompt_length and max_response_length; or a command of its SFT "
         "trainer"},
    {.format = &nemo_rl,
     .programs = "nemo_rl nemo-rl run_grpo_ run_grpo.py",
     .settings = "policy. cluster.gpus_per_node grpo.num_",
     .what =
         "This starts NeMo-RL, whose DTensor or Megatron workers and vLLM share the GPUs in turns, which is not "
         "replayed.",
     .instead = "the policy alone as a request: task grpo or dpo, policy.model_name as model, "
                "policy.train_micro_batch_size and "
                "policy.max_total_sequence_length"},
    {.format = &megatron_lm,
     .programs = "pretrain_gpt pretrain_bert pretrain_t5 pretrain_mamba pretrain_vlm finetune_gpt",
     .what =
         "This starts Megatron-LM, which keeps its tensors otherwise than what is replayed here, and divides a model over "
         "GPUs by tensors and by layers.",
     .instead =
         "the same model, batch and length as a request, with a strategy of fsdp or zero3, for a first idea"},
    {.format = &sentence_transformers,
     .what =
         "This is a trainer of Sentence Transformers: its losses compare the texts of a batch with each other and keep "
         "what each of them left, which is not replayed.",
     .instead =
         "the encoder as a request of the task classification, for a first idea: one text is a sample, so that 64 pairs "
         "are a micro-batch of 128"},
    // trl v1.16 trl/experimental; v0.24 trl/trainer
    {.format = &trl_other,
     .programs = "online_dpo nash_md xpo.py prm.py bco.py tpo.py a2po.py async_grpo",
     .classes = "OnlineDPO NashMD XPO PRM BCO TPO A2PO AsyncGRPO",
     .what =
         "This is a trainer of TRL's that is not replayed: online DPO, Nash-MD and XPO write their pairs while they train, a "
         "PRM labels each step of an answer, BCO tells wanted from unwanted answers, TPO compares three, and A2PO and "
         "asynchronous GRPO are not GRPO's step.",
     .instead =
         "the nearest that is replayed as a request: task dpo (with max_length for prompt and answer), reward, or kto"},
    // The same: SDFT, SDPO and SSD hold a model against itself.
    {.format = &distillation,
     .programs = "gkd.py minillm.py gold.py /distillation.py sdft.py sdpo.py ssd.py iw_opd.py",
     .classes = "GKD MiniLLM Distillation ServerDistillation AsyncDistillation IWOPD GOLD SDFT SDPO SSD",
     .what =
         "This trains by distillation: a teacher writes or scores what its student learns, and its weights and the logits "
         "of both stand beside each other, which is not replayed.",
     .instead =
         "the student alone as a request of the task sft, for a first idea: the teacher's weights and the logits of both "
         "come on top"},
    {.format = &agilerl,
     .programs = "agilerl",
     .what =
         "This is a configuration of AgileRL, whose evolutionary settings say no memory; its files are not read.",
     .instead =
         "a request with \"stack\": \"agilerl\", the model, peft.r, training.per_device_train_batch_size and "
         "the lengths under rl"},
    {.format = &mistral_finetune,
     .what =
         "This is a configuration of mistral-finetune, which trains Mistral's own model class on rows packed to seq_len, "
         "with master weights of its own: its kernels are not those that are replayed here.",
     .instead =
         "the same as a request or for axolotl or trl: model_id_or_path as model, lora.rank with all-linear targets, "
         "seq_len as length with packing, batch_size a GPU, num_microbatches as accumulation, and checkpointing"},
    {.format = &diffusion,
     .programs =
         "train_dreambooth train_text_to_image train_controlnet train_lcm_distill train_instruct_pix2pix "
         "train_unconditional textual_inversion",
     .what =
         "This trains a diffusion model, whose U-Net or transformer over latent images has kernels and a loss of its own: "
         "it is not replayed.",
     .instead = "a run that trains a language or vision-language model"},
    {.format = &serving,
     .programs = "vllm.entrypoints vllm/entrypoints sglang.launch_server text-generation-launcher",
     .what =
         "This serves a model and trains nothing: its memory is the weights and a cache of keys and values that the server "
         "sizes by itself.",
     .instead = "a training run of the same model; vLLM beside GRPO is rl.use_vllm"},
    {.format = &xtuner,
     .programs = "xtuner",
     .what = "This is a configuration of XTuner, whose dicts its own runner builds: they are not read.",
     .instead =
         "the same as a request or for axolotl or llamafactory: pretrained_model_name_or_path as model, r and the 4 bits "
         "of its LoraConfig and BitsAndBytesConfig, max_length, batch_size a GPU and accumulative_counts"},
};

bool holds_any(std::string_view word, std::string_view parts) {
  while (!parts.empty()) {
    const size_t blank = std::min(parts.find(' '), parts.size());
    if (word.find(parts.substr(0, blank)) != std::string_view::npos) return true;
    parts.remove_prefix(std::min(blank + 1, parts.size()));
  }
  return false;
}

bool begins_with_any(std::string_view word, std::string_view parts) {
  while (!parts.empty()) {
    const size_t blank = std::min(parts.find(' '), parts.size());
    if (word.substr(0, blank) == parts.substr(0, blank)) return true;
    parts.remove_prefix(std::min(blank + 1, parts.size()));
  }
  return false;
}

void refuse(Reading& reading) {
  for (const Unplayed& row : refusals) {
    if (row.format == &reading.format) reading.errors.push_back({"unsupported", "", row.what, row.instead});
  }
}

}  // namespace

json::Error megatron_error(const char* instead) {
  return {"unsupported", "",
          "This starts Megatron-Core, which keeps its tensors otherwise than what is replayed here.",
          instead};
}

void refuse_megatron(Reading& reading, const Leaf& leaf) {
  if (!reading.is_on(leaf.path)) return reading.mark(leaf, Use::implied, "off, as it is anyway");
  reading.mark(leaf, Use::unsupported);
  reading.errors.push_back(megatron_error("the same run without Megatron: FSDP or DeepSpeed"));
}

const Format megatron_lm{
    .id = "megatron-lm",
    .name = "Megatron-LM",
    .written = Language::none,
    .marks = "!$megatron_lm",
    .finish = refuse,
};
const Format diffusion{
    .id = "diffusion",
    .name = "Diffusers",
    .written = Language::none,
    .marks = "!$diffusion",
    .finish = refuse,
};
const Format serving{
    .id = "serving",
    .name = "A server of models",
    .written = Language::none,
    .marks = "!$serving",
    .finish = refuse,
};
const Format mlx_lm{
    .id = "mlx-lm",
    .name = "MLX LM",
    .written = Language::none,
    .marks = "!lora_parameters !steps_per_report model adapter_path val_batches iters",
    .finish = refuse,
};
const Format verl{
    .id = "verl",
    .name = "verl",
    .written = Language::none,
    .marks = "!actor_rollout_ref algorithm data critic trainer",
    .finish = refuse,
};
const Format nemo_rl{
    .id = "nemo-rl",
    .name = "NeMo-RL",
    .written = Language::none,
    .marks = "policy cluster loss_fn checkpointing logger grpo dpo",
    .finish = refuse,
};
const Format sentence_transformers{
    .id = "sentence-transformers",
    .name = "Sentence Transformers",
    .written = Language::none,
    .in_python = true,
    .marks = "!$sentence_transformers",
    .finish = refuse,
};
const Format trl_other{
    .id = "trl-other",
    .name = "TRL, another trainer",
    .written = Language::none,
    .in_python = true,
    .marks = "!$trl_other",
    .finish = refuse,
};
const Format distillation{
    .id = "distillation",
    .name = "TRL, distillation",
    .written = Language::none,
    .in_python = true,
    .marks = "!$distillation",
    .finish = refuse,
};
const Format agilerl{
    .id = "agilerl",
    .name = "AgileRL",
    .written = Language::none,
    .marks = "!INIT_HP !MUTATION_PARAMS",
    .finish = refuse,
};
const Format mistral_finetune{
    .id = "mistral-finetune",
    .name = "mistral-finetune",
    .written = Language::none,
    .marks = "!save_adapters !num_microbatches model_id_or_path seq_len ckpt_freq run_dir",
    .finish = refuse,
};
const Format xtuner{
    .id = "xtuner",
    .name = "XTuner",
    .written = Language::none,
    .in_python = true,
    .marks = "!$xtuner",
    .finish = refuse,
};

const Format* refused_program(const std::vector<std::string_view>& started, const Node& root) {
  for (const Unplayed& row : refusals) {
    for (const std::string_view word : started) {
      if (holds_any(word, row.programs)) return row.format;
    }
    for (const Member& member : root.members) {
      if (begins_with_any(member.key, row.settings)) return row.format;
    }
  }
  return nullptr;
}

const Format* refused_class(std::string_view name) {
  for (const std::string_view tail : {"Trainer", "Config"}) {
    if (!name_ends_with(name, tail)) continue;
    const std::string_view stem = name.substr(0, name.size() - tail.size());
    for (const Unplayed& row : refusals) {
      if (!stem.empty() && in_list(stem, row.classes)) return row.format;
    }
  }
  return nullptr;
}

}  // namespace plimsoll::exchange
