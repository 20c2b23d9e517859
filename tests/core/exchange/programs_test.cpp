// Programs that are read or refused by their name, and variables of the environment before a command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exchange/import.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::exchange {
namespace {

using json::Json;
using testing::HasSubstr;

Import read_program(const std::string& text) {
#ifdef __EMSCRIPTEN__
  return import_document(read_text(text), text);
#else
  return import_document(cli::read_document(text), text);
#endif
}

Json field_of(const Import& import, const std::string& pointer) {
  const Json::json_pointer where(pointer);
  return import.request.contains(where) ? import.request[where] : Json();
}

TEST(Environment, BeforeACommandSetsTheFieldsItSpeaksOf) {
  const Import import = read_program(
      "MAX_PIXELS=1003520 CUDA_VISIBLE_DEVICES=0,1 NPROC_PER_NODE=2 swift rlhf --rlhf_type dpo "
      "--model Qwen/Qwen2.5-VL-7B-Instruct --train_type lora --max_length 4096");
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(import.format->id, "ms-swift");
  EXPECT_EQ(field_of(import, "/task"), Json("dpo"));
  EXPECT_EQ(field_of(import, "/parallel/num_gpus"), Json(2));
  EXPECT_EQ(field_of(import, "/vision/image_size"), Json(1001));
}

TEST(Environment, SaysTheAllocatorOfAnyLauncher) {
  for (const char* before : {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True ",
                             "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n",
                             "env PYTORCH_CUDA_ALLOC_CONF=\"expandable_segments:True\" ",
                             "PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True' \\\n  "}) {
    const Import import =
        read_program(std::string(before) +
                     "accelerate launch --num_processes 4 train.py --model_name_or_path Qwen/Qwen3-4B "
                     "--per_device_train_batch_size 2");
    ASSERT_TRUE(import.errors.empty()) << before;
    EXPECT_EQ(field_of(import, "/hardware/PYTORCH_CUDA_ALLOC_CONF"), Json("expandable_segments:True"))
        << before;
    EXPECT_EQ(field_of(import, "/parallel/num_gpus"), Json(4)) << before;
  }
}

TEST(Environment, TokensOfQwen3ImagesAreASquareToo) {
  const Import import = read_program(
      "IMAGE_MAX_TOKEN_NUM=1024 \\\nNPROC_PER_NODE=8 \\\nswift sft \\\n  --model Qwen/Qwen3-VL-8B-Instruct "
      "\\\n"
      "  --tuner_type lora --max_length 8192");
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(field_of(import, "/vision/image_size"), Json(1024));
}

TEST(Environment, PixelsAreReadFromFlagsAndFilesOfTrlToo) {
  const Import flags = read_program(
      "torchrun --nproc_per_node 2 train_qwen.py --model_name_or_path Qwen/Qwen2.5-VL-3B-Instruct "
      "--max_pixels=451584 --min_pixels 784 --bf16 --per_device_train_batch_size 1");
  EXPECT_EQ(field_of(flags, "/vision/image_size"), Json(672));
#ifndef __EMSCRIPTEN__
  const Import file = read_program(
      "model_name_or_path: Qwen/Qwen2.5-VL-3B-Instruct\nper_device_train_batch_size: 1\nlearning_rate: "
      "1.0e-5\n"
      "max_pixels: 200704\noutput_dir: out\n");
  EXPECT_EQ(file.format->id, "trl");
  EXPECT_EQ(field_of(file, "/vision/image_size"), Json(448));
#endif
}

const char* const flat_flags = R"(deepspeed --num_gpus 8 --module openrlhf.cli.train_dpo \
   --pretrain meta-llama/Meta-Llama-3-8B-Instruct \
   --micro_train_batch_size 2 --train_batch_size 64 \
   --max_len 4096 --zero_stage 3 --bf16 --flash_attn --adam_offload \
   --beta 0.2 --lora_rank 32 --lora_alpha 64 --packing_samples \
   --gradient_checkpointing --learning_rate 5e-6 --max_epochs 1)";

TEST(OpenRlhf, FlatFlagsAreRead) {
  const Import import = read_program(flat_flags);
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(import.format->id, "openrlhf");
  EXPECT_EQ(import.model, "meta-llama/Meta-Llama-3-8B-Instruct");
  EXPECT_EQ(field_of(import, "/task"), Json("dpo"));
  EXPECT_EQ(field_of(import, "/training/per_device_train_batch_size"), Json(2));
  EXPECT_EQ(field_of(import, "/training/gradient_accumulation_steps"), Json(4));
  EXPECT_EQ(field_of(import, "/training/max_length"), Json(4096));
  EXPECT_EQ(field_of(import, "/training/padded_batches"), Json(false));
  EXPECT_EQ(field_of(import, "/training/gradient_checkpointing"), Json(true));
  EXPECT_EQ(field_of(import, "/parallel/strategy"), Json("zero3"));
  EXPECT_EQ(field_of(import, "/parallel/num_gpus"), Json(8));
  EXPECT_EQ(field_of(import, "/parallel/zero_optimization/offload_optimizer/device"), Json("cpu"));
  EXPECT_EQ(field_of(import, "/peft/r"), Json(32));
  EXPECT_EQ(field_of(import, "/peft/target_modules"), Json("all-linear"));
  EXPECT_EQ(field_of(import, "/model_args/attn_implementation"), Json("flash_attention_2"));
  EXPECT_EQ(field_of(import, "/model_args/dtype"), Json("bfloat16"));
  for (const Finding& found : import.findings) EXPECT_NE(found.use, Use::unknown) << found.path;
}

// tuning/config/configs.py: an adapter's arguments say nothing until peft_method names it.
TEST(FmsTuning, ItsCommandIsKnownByItsScriptAndHasDefaultsOfItsOwn) {
  const std::string command =
      "python tuning/sft_trainer.py --model_name_or_path Qwen/Qwen3-8B --training_data_path d.jsonl --r 16 ";
  const Import full = read_program(command + "--peft_method none");
  ASSERT_TRUE(full.errors.empty()) << full.errors.front().message;
  EXPECT_EQ(full.format->id, "fms-hf-tuning");
  EXPECT_EQ(field_of(full, "/peft"), Json());
  EXPECT_EQ(field_of(full, "/training/max_length"), Json(4096));
  EXPECT_EQ(field_of(full, "/model_args/attn_implementation"), Json("flash_attention_2"));
  EXPECT_EQ(field_of(full, "/versions/trl"), Json("0.19.1"));
  const Import lora =
      read_program(command + "--peft_method lora --use_flash_attn false --padding_free huggingface");
  EXPECT_EQ(field_of(lora, "/peft/r"), Json(16));
  EXPECT_EQ(field_of(lora, "/peft/lora_alpha"), Json(32));
  EXPECT_EQ(field_of(lora, "/model_args/attn_implementation"), Json("sdpa"));
  EXPECT_EQ(field_of(lora, "/training/padded_batches"), Json(false));
}

// As its own example scripts write it, with the command in a here document.
TEST(OpenRlhf, DottedFlagsInAHereDocumentAreRead) {
  const Import import = read_program(
      "set -x\n\nread -r -d '' training_commands <<EOF\nopenrlhf.cli.train_sft \\\n   --data.max_len 8192 "
      "\\\n"
      "   --train.batch_size 256 \\\n   --train.micro_batch_size 4 \\\n"
      "   --model.model_name_or_path Qwen/Qwen3-8B \\\n   --ds.zero_stage 2 \\\n   --ds.param_dtype bf16 \\\n"
      "   --model.gradient_checkpointing_enable\nEOF\n\nif [[ ${1} != \"slurm\" ]]; then\n"
      "    deepspeed --module $training_commands\nfi\n");
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(import.format->id, "openrlhf");
  EXPECT_EQ(import.model, "Qwen/Qwen3-8B");
  EXPECT_EQ(field_of(import, "/training/max_length"), Json(8192));
  EXPECT_EQ(field_of(import, "/training/gradient_checkpointing"), Json(true));
  EXPECT_EQ(field_of(import, "/model_args/attn_implementation"), Json("flash_attention_2"));
  EXPECT_FALSE(import.request.contains("peft"));
}

struct Refused {
  const char* text;
  const char* format;
  const char* says;
};

class Refusals : public testing::TestWithParam<Refused> {};

TEST_P(Refusals, SayWhatItIsAndWhatCanBePasted) {
  const Import import = read_program(GetParam().text);
  ASSERT_NE(import.format, nullptr) << GetParam().text;
  EXPECT_EQ(import.format->id, GetParam().format);
  ASSERT_FALSE(import.errors.empty());
  EXPECT_EQ(import.errors.front().code, "unsupported");
  EXPECT_THAT(import.errors.front().message, HasSubstr(GetParam().says));
  EXPECT_FALSE(import.errors.front().allowed.empty());
  EXPECT_TRUE(import.request.is_null());
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Refusals,
    testing::Values(
        Refused{
            "mlx_lm.lora --model mistralai/Mistral-7B-v0.3 --train --data data --iters 600 --batch-size 2",
            "mlx-lm", "MLX"},
        Refused{"python -m mlx_lm lora --model Qwen/Qwen3-4B --train --num-layers 8", "mlx-lm", "MLX"},
        Refused{"python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=512 "
                "actor_rollout_ref.model.path=Qwen/Qwen3-8B trainer.n_gpus_per_node=8",
                "verl", "verl"},
        Refused{"uv run python examples/run_grpo_math.py policy.model_name=Qwen/Qwen3-1.7B "
                "cluster.gpus_per_node=8",
                "nemo-rl", "NeMo-RL"},
        Refused{"torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 32 "
                "--hidden-size 4096 --seq-length 4096 --micro-batch-size 1",
                "megatron-lm", "Megatron-LM"},
        Refused{"accelerate launch --use_megatron_lm --megatron_lm_tp_degree 2 --num_processes 8 run_clm.py "
                "--model_name_or_path meta-llama/Llama-3.1-8B",
                "cli", "Megatron-Core"},
        Refused{"accelerate launch train_dreambooth_lora_flux.py --pretrained_model_name_or_path "
                "black-forest-labs/FLUX.1-dev --rank 16 --train_batch_size 1",
                "diffusion", "diffusion model"},
        Refused{"python -m vllm.entrypoints.openai.api_server --model Qwen/Qwen2.5-7B-Instruct "
                "--gpu-memory-utilization 0.9 --max-model-len 8192",
                "serving", "trains nothing"},
        Refused{"vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 8192 --tensor-parallel-size 2",
                "serving", "trains nothing"},
        Refused{"ray job submit --address=http://127.0.0.1:8265 -- python3 -m openrlhf.cli.train_ppo_ray "
                "--pretrain OpenRLHF/Llama-3-8b-sft-mixture --zero_stage 3 --bf16",
                "openrlhf", "OpenRLHF's PPO"},
        Refused{
            "from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer\n"
            "model = SentenceTransformer('BAAI/bge-m3')\n"
            "args = SentenceTransformerTrainingArguments(output_dir='out', per_device_train_batch_size=64)\n"
            "SentenceTransformerTrainer(model=model, args=args, train_dataset=train, loss=loss).train()\n",
            "sentence-transformers", "Sentence Transformers"},
        Refused{"model = SentenceTransformer('all-MiniLM-L6-v2')\n"
                "model.fit(train_objectives=[(loader, loss)], epochs=1, warmup_steps=100)\n",
                "sentence-transformers", "Sentence Transformers"}));

// An embedding model may reward what another one writes.
TEST(Program, ThatOnlyAsksASentenceTransformerIsItsOwn) {
  const Import import = read_program(
      "ranker = SentenceTransformer('BAAI/bge-m3')\n"
      "trainer = GRPOTrainer(model='Qwen/Qwen2.5-7B-Instruct', args=GRPOConfig(num_generations=8), "
      "reward_funcs=reward)\n");
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(field_of(import, "/model"), Json("Qwen/Qwen2.5-7B-Instruct"));
}

#ifndef __EMSCRIPTEN__
INSTANTIATE_TEST_SUITE_P(
    Files, Refusals,
    testing::Values(
        Refused{"model: mlx-community/Qwen3-4B-bf16\ntrain: true\ndata: data/\nbatch_size: 4\niters: 900\n"
                "max_seq_length: 4096\nnum_layers: 16\nlora_parameters:\n  rank: 16\n  scale: 2.0\n",
                "mlx-lm", "MLX"},
        Refused{"data:\n  train_batch_size: 256\n  max_prompt_length: 512\nactor_rollout_ref:\n  model:\n"
                "    path: Qwen/Qwen3-8B\n  actor:\n    ppo_mini_batch_size: 64\ntrainer:\n  "
                "n_gpus_per_node: 8\n",
                "verl", "verl"},
        Refused{"grpo:\n  num_prompts_per_step: 32\npolicy:\n  model_name: Qwen/Qwen3-1.7B\n"
                "  train_micro_batch_size: 4\nloss_fn:\n  ratio_clip_min: 0.2\ncluster:\n  gpus_per_node: 8\n"
                "checkpointing:\n  enabled: true\n",
                "nemo-rl", "NeMo-RL"},
        Refused{"compute_environment: LOCAL_MACHINE\ndistributed_type: MEGATRON_LM\nmegatron_lm_config:\n"
                "  megatron_lm_tp_degree: 2\nmixed_precision: bf16\nnum_processes: 8\n",
                "accelerate", "Megatron-Core"},
        Refused{"model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: full\nuse_mca: true\n"
                "tensor_model_parallel_size: 2\ncutoff_len: 2048\n",
                "llamafactory", "Megatron-Core"},
        Refused{"INIT_HP:\n  ALGO: GRPO\n  BATCH_SIZE: 8\n  LR: 0.000005\nMUTATION_PARAMS:\n  NO_MUT: 0.1\n",
                "agilerl", "AgileRL"}));

// volcengine/verl v0.6.0 verl/trainer/fsdp_sft_trainer.py _normalize_config_bsz, _build_model_optimizer.
TEST(VerlsSftTrainer, SharesItsBatchAmongTheCardsAndTrainsFp32Weights) {
  const Import import = read_program(
      "torchrun --standalone --nproc_per_node=4 -m verl.trainer.fsdp_sft_trainer data.train_batch_size=64 "
      "data.micro_batch_size_per_gpu=2 data.max_length=2048 +data.prompt_dict_keys=['question'] "
      "model.partial_pretrain=Qwen/Qwen2.5-0.5B model.lora_rank=32 model.lora_alpha=16 "
      "ulysses_sequence_parallel_size=2 use_remove_padding=true");
  EXPECT_TRUE(import.errors.empty());
  EXPECT_EQ(import.model, "Qwen/Qwen2.5-0.5B");
  EXPECT_EQ(field_of(import, "/parallel/num_gpus"), Json(4));
  EXPECT_EQ(field_of(import, "/parallel/sequence_parallel_size"), Json(2));
  EXPECT_EQ(field_of(import, "/training/per_device_train_batch_size"), Json(2));
  EXPECT_EQ(field_of(import, "/training/gradient_accumulation_steps"), Json(16));
  EXPECT_EQ(field_of(import, "/training/max_length"), Json(2048));
  EXPECT_EQ(field_of(import, "/model_args/dtype"), Json("float32"));
  EXPECT_EQ(field_of(import, "/training/bf16"), Json(true));
  EXPECT_EQ(field_of(import, "/peft/r"), Json(32));
  EXPECT_EQ(field_of(import, "/peft/target_modules"), Json("all-linear"));
}

TEST(VerlsSftTrainer, IsToldByItsFileAndFillsWhatTheCommandLeavesOpen) {
  const Import import = read_program(
      "torchrun --nproc-per-node=1 /opt/verl/verl/trainer/fsdp_sft_trainer.py data.train_batch_size=32 "
      "data.micro_batch_size_per_gpu=16 model.partial_pretrain=google/gemma-2b");
  EXPECT_EQ(field_of(import, "/training/gradient_accumulation_steps"), Json(2));
  EXPECT_EQ(field_of(import, "/training/max_length"), Json(1024));
  EXPECT_EQ(field_of(import, "/parallel/strategy"), Json("fsdp2"));
  EXPECT_EQ(field_of(import, "/peft"), Json());
}

// Lightning-AI/litgpt 0.5.13 litgpt/finetune/lora.py setup: 16 sequences a step, bf16-mixed unless it is
// said.
TEST(LitgptsCommand, SaysModelPrecisionAndBatch) {
  const Import import = read_program(
      "litgpt finetune_lora mistralai/Mistral-7B-Instruct-v0.2 --data JSON --train.micro_batch_size 2 "
      "--train.max_seq_length 1024 --precision bf16-true --quantize bnb.nf4-dq --lora_r 16 --lora_key true");
  EXPECT_EQ(field_of(import, "/model"), Json("mistralai/Mistral-7B-Instruct-v0.2"));
  EXPECT_EQ(field_of(import, "/stack"), Json("litgpt"));
  EXPECT_EQ(field_of(import, "/model_args/dtype"), Json("bfloat16"));
  EXPECT_EQ(field_of(import, "/quantization/bnb_4bit_use_double_quant"), Json(true));
  EXPECT_EQ(field_of(import, "/training/gradient_accumulation_steps"), Json(8));
  EXPECT_EQ(field_of(import, "/peft/target_modules"), Json::array({"q_proj", "k_proj", "v_proj"}));
  const Import full = read_program("litgpt finetune_full checkpoints/EleutherAI/pythia-160m --devices 4");
  EXPECT_EQ(field_of(full, "/model"), Json("EleutherAI/pythia-160m"));
  EXPECT_EQ(field_of(full, "/model_args/dtype"), Json("float32"));
  EXPECT_EQ(field_of(full, "/training/bf16"), Json(true));
  EXPECT_EQ(field_of(full, "/training/gradient_accumulation_steps"), Json(4));
  EXPECT_FALSE(full.request.contains("peft"));
}

TEST(ScriptsOfTheirOwn, UseLoraTurnsAdaptersOn) {
  const std::string line =
      "deepspeed --num_gpus=4 finetune.py --model_name_or_path Qwen/Qwen-7B-Chat --bf16 True ";
  EXPECT_TRUE(read_program(line + "--use_lora").request.contains("peft"));
  EXPECT_FALSE(read_program(line + "--use_lora False").request.contains("peft"));
}

// unslothai/unsloth unsloth/models/rl.py vllm_setter.
TEST(UnslothsScript, FastInferenceIsVllmOnTheSameCard) {
  const Import import = read_program(
      "from unsloth import FastLanguageModel\n"
      "model, tokenizer = FastLanguageModel.from_pretrained(model_name='Qwen/Qwen2.5-3B-Instruct', "
      "max_seq_length=1024, fast_inference=True, gpu_memory_utilization=0.6)\n"
      "trainer = GRPOTrainer(model=model, args=GRPOConfig(num_generations=6))\n");
  EXPECT_EQ(field_of(import, "/rl/use_vllm"), Json(true));
  EXPECT_EQ(field_of(import, "/rl/vllm_mode"), Json("colocate"));
}

// meta-pytorch/torchtune torchtune/config/_parse.py: dotted keys behind --config.
TEST(TorchtunesCommand, SaysModelMethodAndKeys) {
  const Import import = read_program(
      "tune run --nproc_per_node 2 lora_finetune_distributed --config llama3_1/8B_lora batch_size=4 "
      "dataset.packed=True tokenizer.max_seq_len=4096");
  EXPECT_EQ(field_of(import, "/model"), Json("meta-llama/Llama-3.1-8B"));
  EXPECT_TRUE(import.request.contains("peft"));
  EXPECT_EQ(field_of(import, "/parallel/strategy"), Json("fsdp2"));
  EXPECT_EQ(field_of(import, "/training/per_device_train_batch_size"), Json(4));
  EXPECT_EQ(field_of(import, "/training/packing"), Json(true));
  EXPECT_EQ(field_of(import, "/training/max_length"), Json(4096));
  const Import full =
      read_program("tune run full_finetune_single_device --config qwen2_5/0.5B_full_single_device");
  EXPECT_EQ(field_of(full, "/model"), Json("Qwen/Qwen2.5-0.5B"));
  EXPECT_FALSE(full.request.contains("peft"));
}

TEST(TorchtunesCommand, ARecipeForOneDeviceAsksForNoNumberOfCards) {
  const Import import = read_program(
      "tune run lora_finetune_single_device --config llama3_2/3B_qlora_single_device batch_size=2 "
      "tokenizer.max_seq_len=4096");
  EXPECT_EQ(import.request["parallel"]["num_gpus"], 1);
}

// huggingface/peft examples/sft/run_peft_qlora_fsdp.sh
TEST(PeftsExample, ItsOwnSwitchesAreRead) {
  const Import import = read_program(
      "accelerate launch --config_file configs/fsdp_config_qlora.yaml train.py --model_name_or_path "
      "meta-llama/Llama-2-70b-hf --use_peft_lora True --lora_r 8 --use_4bit_quantization True "
      "--use_reentrant True --use_flash_attn True --gradient_checkpointing True --max_length 2048");
  EXPECT_EQ(import.request["parallel"]["strategy"], "fsdp");
  EXPECT_EQ(import.request["quantization"]["load_in_4bit"], true);
  EXPECT_EQ(import.request["peft"]["r"], 8);
  EXPECT_EQ(import.request["model_args"]["attn_implementation"], "flash_attention_2");
  EXPECT_EQ(import.request["training"]["gradient_checkpointing_kwargs"]["use_reentrant"], true);
}

TEST(PythonLoop, OfItsOwnSaysBatchOptimizerAndPrecision) {
  const Import import = read_program(
      "model = AutoModelForCausalLM.from_pretrained('facebook/opt-1.3b').to('cuda')\n"
      "BATCH_SIZE = 4\n"
      "loader = DataLoader(ds, batch_size=BATCH_SIZE, shuffle=True)\n"
      "held_out = DataLoader(test, batch_size=64)\n"
      "opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)\n"
      "def collate(batch):\n"
      "    return tokenizer([b['text'] for b in batch], truncation=True, max_length=512)\n"
      "for b in loader:\n"
      "    with torch.autocast('cuda', dtype=torch.bfloat16):\n"
      "        loss = model(**b).loss\n"
      "    loss.backward()\n");
  EXPECT_EQ(field_of(import, "/stack"), Json("loop"));
  EXPECT_EQ(field_of(import, "/training/per_device_train_batch_size"), Json(4));
  EXPECT_EQ(field_of(import, "/training/optim"), Json("sgd_momentum"));
  EXPECT_EQ(field_of(import, "/training/bf16"), Json(true));
  EXPECT_EQ(field_of(import, "/training/max_length"), Json(512));
}

TEST(PythonLoop, ABatchThatIsNotKnownIsNotThatOfAnotherLoader) {
  const Import import = read_program(
      "accelerator = Accelerator(mixed_precision='bf16', gradient_accumulation_steps=4)\n"
      "model = AutoModelForCausalLM.from_pretrained('gpt2-xl')\n"
      "optimizer = torch.optim.AdamW(model.parameters(), fused=True)\n"
      "train = DataLoader(ds, batch_size=args.batch_size)\n"
      "held_out = DataLoader(test, batch_size=64)\n"
      "accelerator.backward(loss)\n");
  EXPECT_EQ(field_of(import, "/training/per_device_train_batch_size"), Json());
  EXPECT_EQ(field_of(import, "/training/gradient_accumulation_steps"), Json(4));
  EXPECT_EQ(field_of(import, "/training/optim"), Json("adamw_torch_fused"));
}

TEST(PythonSource, AnAttributeOfTorchByItsNameIsThatAttribute) {
  const Import import = read_program(
      "name = 'float16'\nmodel = AutoModelForCausalLM.from_pretrained('gpt2', torch_dtype=getattr(torch, "
      "name))\n"
      "trainer = Trainer(model=model, args=TrainingArguments(output_dir='o', max_steps=3))\n");
  EXPECT_EQ(field_of(import, "/model_args/dtype"), Json("float16"));
}

// transformers trainer_seq2seq.py prediction_step gathers the generated tokens.
TEST(PythonTrainer, MetricsOfGeneratedTextGatherNoLogits) {
  const Import import = read_program(
      "model = WhisperForConditionalGeneration.from_pretrained('openai/whisper-small')\n"
      "args = Seq2SeqTrainingArguments(output_dir='o', eval_strategy='steps', predict_with_generate=True)\n"
      "trainer = Seq2SeqTrainer(model=model, args=args, compute_metrics=compute_metrics)\n");
  EXPECT_EQ(field_of(import, "/training/compute_metrics"), Json());
}

// transformers Trainer.evaluation_loop: prediction_loss_only is set where compute_metrics is None.
TEST(PythonTrainer, AFunctionThatComputesMetricsIsASetting) {
  const auto script = [](const std::string& rest) {
    return "model = AutoModelForCausalLM.from_pretrained('gpt2')\n"
           "args = TrainingArguments(output_dir='o', eval_strategy='steps')\n"
           "trainer = Trainer(model=model, args=args, eval_dataset=ev" +
           rest + ")\n";
  };
  const Import named = read_program(script(", compute_metrics=compute_metrics"));
  EXPECT_EQ(field_of(named, "/training/compute_metrics"), Json(true));
  const Import made = read_program(
      script(", compute_metrics=make(tok), preprocess_logits_for_metrics=lambda l, y: l.argmax(-1)"));
  EXPECT_EQ(field_of(made, "/training/compute_metrics"), Json(true));
  EXPECT_EQ(field_of(made, "/training/preprocess_logits_for_metrics"), Json(true));
  const Import none = read_program(script(", compute_metrics=None"));
  EXPECT_EQ(field_of(none, "/training/compute_metrics"), Json());
}

TEST(LomosFile, ItsOwnFileTrainsWithLomo) {
  const std::string text =
      "model_name_or_path: huggyllama/llama-7b\ndataset_name: boolq\nrefresh: false\ndata_tag: base\n"
      "data_max_length: 512\ntag: lomo\noutput_dir: outputs\ndeepspeed: config/ds_config.json\n"
      "per_device_train_batch_size: 8\nclip_grad_norm: 1.0\ngradient_checkpointing: true\n";
  const Import import = read_program(text);
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(import.format->id, "lomo");
  EXPECT_EQ(field_of(import, "/training/optim"), Json("lomo"));
  EXPECT_EQ(field_of(import, "/training/max_length"), Json(512));
  EXPECT_EQ(field_of(import, "/parallel/strategy"), Json("zero3"));
  EXPECT_EQ(read_program(text + "peft_type: lora\nlora_only: false\n").errors.front().code, "unsupported");
}
#endif

}  // namespace
}  // namespace plimsoll::exchange
