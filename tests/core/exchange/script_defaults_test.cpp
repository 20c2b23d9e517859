// What scripts of others set themselves, and what the names of files and models say.
#include <gtest/gtest.h>

#include "core/exchange/import.h"
#include "core/exchange/placeholder.h"

namespace plimsoll::exchange {
namespace {

using json::Json;

Import read_command(const std::string& text) { return import_document(read_text(text), text); }

Json said(const Import& import, const std::string& pointer) {
  const Json::json_pointer where(pointer);
  return import.request.contains(where) ? import.request[where] : Json();
}

// artidoro/qlora qlora.py: bits 4, double_quant, lora_r 64, paged_adamw_32bit, source 1,024 and target 256 tokens.
TEST(ScriptDefaults, QloraPyTrainsAdaptersOnFourBitsUnlessTold) {
  const Import plain = read_command("python qlora.py --model_name_or_path huggyllama/llama-7b");
  EXPECT_EQ(said(plain, "/quantization/load_in_4bit"), Json(true));
  EXPECT_EQ(said(plain, "/peft/r"), Json(64));
  EXPECT_EQ(said(plain, "/training/optim"), Json("paged_adamw_32bit"));
  EXPECT_EQ(said(plain, "/training/max_length"), Json(1280));
  const Import told = read_command(
      "python qlora.py --model_name_or_path huggyllama/llama-7b --bits 8 --lora_r 8 --optim adamw_torch "
      "--source_max_len 384 --target_max_len 128");
  EXPECT_EQ(said(told, "/quantization/load_in_8bit"), Json(true));
  EXPECT_EQ(said(told, "/quantization/load_in_4bit"), Json());
  EXPECT_EQ(said(told, "/peft/r"), Json(8));
  EXPECT_EQ(said(told, "/training/max_length"), Json(512));
  const Import full =
      read_command("python qlora.py --model_name_or_path huggyllama/llama-7b --full_finetune --bits 16");
  EXPECT_EQ(said(full, "/peft/r"), Json());
}

// get_accelerate_model of qlora.py casts what is not a norm to bf16 after prepare_model_for_kbit_training.
TEST(ScriptDefaults, QloraPyKeepsAdaptersAndHeadInBf16WhereItTrainsInBf16) {
  const std::string command = "python qlora.py --model_name_or_path huggyllama/llama-65b --bits 4";
  const Import sixteen = read_command(command + " --bf16");
  EXPECT_EQ(said(sixteen, "/peft/adapter_dtype"), Json("bfloat16"));
  EXPECT_EQ(said(sixteen, "/quantization/upcast"), Json("norms"));
  EXPECT_EQ(said(read_command(command), "/peft/adapter_dtype"), Json());
}

// tloen/alpaca-lora finetune.py: load_in_8bit and fp16 stand in the file, and prepare_model_for_int8_training checkpoints.
TEST(ScriptDefaults, AlpacaLoraLoadsEightBits) {
  const Import import = read_command(
      "python finetune.py --base_model 'decapoda-research/llama-7b-hf' --data_path 'yahma/alpaca-cleaned' "
      "--micro_batch_size 2");
  EXPECT_EQ(said(import, "/quantization/load_in_8bit"), Json(true));
  EXPECT_EQ(said(import, "/training/gradient_checkpointing"), Json(true));
  EXPECT_EQ(said(import, "/training/per_device_train_batch_size"), Json(2));
  EXPECT_EQ(said(import, "/training/max_length"), Json(256));
  EXPECT_EQ(said(import, "/peft/r"), Json(8));
}

TEST(ScriptDefaults, LlamaCookbookQuantisesByAWord) {
  const std::string command =
      "python -m finetuning.py --use_peft --peft_method lora --model_name meta-llama/Llama-3.1-8B --quantization ";
  EXPECT_EQ(said(read_command(command + "8bit"), "/quantization/load_in_8bit"), Json(true));
  EXPECT_EQ(said(read_command(command + "4bit"), "/quantization/load_in_4bit"), Json(true));
}

TEST(ScriptDefaults, LlamaCookbookShardsAndPacks) {
  const Import import = read_command(
      "torchrun --nnodes 1 --nproc_per_node 4 finetuning.py --enable_fsdp --model_name meta-llama/Llama-3.1-8B "
      "--use_peft --peft_method lora");
  EXPECT_EQ(said(import, "/parallel/strategy"), Json("fsdp"));
  EXPECT_EQ(said(import, "/training/packing"), Json(true));
  EXPECT_EQ(said(import, "/training/max_length"), Json(4096));
  EXPECT_EQ(said(import, "/peft/target_modules"), Json({"q_proj", "v_proj"}));
}

// QwenLM/Qwen finetune.py: adapters of rank 64, and without a chat model the embeddings and the head beside them.
TEST(ScriptDefaults, QwensFinetunePySavesEmbeddingsOfABaseModel) {
  const std::string command = "torchrun finetune.py --use_lora --bf16 True --model_name_or_path ";
  const Import base = read_command(command + "Qwen/Qwen-7B");
  EXPECT_EQ(said(base, "/peft/r"), Json(64));
  EXPECT_EQ(said(base, "/peft/modules_to_save"), Json({"wte", "lm_head"}));
  EXPECT_EQ(said(read_command(command + "Qwen/Qwen-7B-Chat"), "/peft/modules_to_save"), Json());
}

struct Named {
  const char* file;
  const char* strategy;
  bool optimizer, parameters;
};
const Named files[] = {
    {"ds_zero2_no_offload.json", "zero2", false, false},
    {"configs/stage3_no_offloading_accelerate.conf", "zero3", false, false},
    {"zero3_wo_offload.json", "zero3", false, false},
    {"zero3_offload.json", "zero3", true, true},
    {"zero3_offload_optimizer.json", "zero3", true, false},
    {"zero2_offload.json", "zero2", true, false},
    {"configs/default_offload_opt_param.json", "zero3", true, true},
};
TEST(DeepSpeedFile, SaysItsStageAndItsOffloadByName) {
  for (const Named& row : files) {
    const Import import = read_command(
        "deepspeed train.py --model_name_or_path Qwen/Qwen3-4B --bf16 --deepspeed " + std::string(row.file));
    EXPECT_EQ(said(import, "/parallel/strategy"), Json(row.strategy)) << row.file;
    const Json cpu("cpu");
    EXPECT_EQ(said(import, "/parallel/zero_optimization/offload_optimizer/device") == cpu, row.optimizer)
        << row.file;
    EXPECT_EQ(said(import, "/parallel/zero_optimization/offload_param/device") == cpu, row.parameters)
        << row.file;
  }
}

TEST(ImageTower, IsFrozenOrTrainedAsTheScriptsFlagsSay) {
  const std::string command =
      "torchrun train.py --model_name_or_path Qwen/Qwen2.5-VL-3B-Instruct --bf16 True ";
  for (const char* frozen :
       {"--tune_mm_vision False", "--fix_vit True", "--freeze_backbone True", "--tune_vision false"})
    EXPECT_EQ(said(read_command(command + frozen), "/vision/freeze_vision_tower"), Json(true)) << frozen;
  for (const char* trained : {"--tune_mm_vision True", "--fix_vit False", "--tune_vision true"})
    EXPECT_EQ(said(read_command(command + trained), "/vision/freeze_vision_tower"), Json(false)) << trained;
  const Import llava = read_command(
      "deepspeed llava/train/train_mem.py --deepspeed zero3.json --model_name_or_path lmsys/vicuna-13b-v1.5 "
      "--vision_tower openai/clip-vit-large-patch14-336 --bf16 True");
  EXPECT_EQ(said(llava, "/vision/freeze_vision_tower"), Json(true));
  const Import adapters = read_command(command + "--lora_enable True --lora_rank 16 --freeze_llm True");
  EXPECT_EQ(said(adapters, "/vision/freeze_language_model"), Json());
}

TEST(Placeholder, IsAskedForAndTakenForNoModel) {
  for (const char* name : {"path/to/hf/llama/dir", "<your_path_to_hf_converted_llama_ckpt_and_tokenizer>",
                           "./checkpoints/", "/path_of_model_folder/8B", "YOUR_MODEL", "out/checkpoint-500"})
    EXPECT_TRUE(is_placeholder(name)) << name;
  for (const char* name : {"/data/models/Llama-3.1-8B", "path/to/Qwen2.5-7B/", "gpt2",
                           "meta-llama/Llama-3.1-8B", "./Yi-6B", "EleutherAI/pythia-12b"})
    EXPECT_FALSE(is_placeholder(name)) << name;
  const Import import =
      read_command("torchrun train.py --model_name_or_path ./checkpoints/$VERSION --bf16 True");
  ASSERT_TRUE(import.errors.empty());
  EXPECT_TRUE(import.partial);
}

}  // namespace
}  // namespace plimsoll::exchange
