// A pasted YAML file with changes comes back as its owner wrote it, but for the lines of those changes.
#include "core/exchange/parts.h"
#include "tests/core/exchange/patched.h"

#ifndef __EMSCRIPTEN__

namespace plimsoll::exchange {
namespace {

using json::Json;

constexpr const char* axolotl_file = R"(# Mistral on our own data
base_model: mistralai/Mistral-7B-v0.3
load_in_8bit: true   # saves half
adapter: lora

datasets:
  - path: data.jsonl  # 12k samples
    type: alpaca
sequence_len: 4096  # the longest is 3900
sample_packing: True
lora_r: 32
lora_target_modules:
  - q_proj
  - v_proj  # attention only
gradient_accumulation_steps: 1
micro_batch_size: 4
optimizer: adamw_torch
bf16: auto
wandb_project:
flash_attention: true

# the end
)";

TEST(ExchangePatch, YamlKeepsCommentsAndOrder) {
  EXPECT_EQ(changed(axolotl_file, {{"/training/max_length", 2048},
                                   {"/training/per_device_train_batch_size", 1},
                                   {"/training/gradient_accumulation_steps", 4},
                                   {"/training/packing", false},
                                   {"/training/gradient_checkpointing", true}}),
            "-sequence_len: 4096  # the longest is 3900\n"
            "-sample_packing: True\n"
            "+sequence_len: 2048  # the longest is 3900\n"
            "+sample_packing: False\n"
            "-gradient_accumulation_steps: 1\n"
            "-micro_batch_size: 4\n"
            "+gradient_accumulation_steps: 4\n"
            "+micro_batch_size: 1\n"
            "+gradient_checkpointing: true\n");
}

TEST(ExchangePatch, ItemsOfAYamlListComeAndGoByTheLine) {
  EXPECT_EQ(changed(axolotl_file, {{"/peft/target_modules", {"q_proj", "k_proj", "o_proj"}}}),
            "-  - v_proj  # attention only\n"
            "+  - k_proj\n"
            "+  - o_proj\n");
}

// Axolotl quantises to 4 bits with adapter: qlora alone, which no key of the quantisation says.
TEST(ExchangePatch, FromEightBitsToFourNeedsAnotherAdapterInAxolotl) {
  const Patch patch =
      patch_document(read_any(axolotl_file), axolotl_file,
                     {{"/quantization/load_in_8bit", nullptr}, {"/quantization/load_in_4bit", true}});
  EXPECT_FALSE(patch.left_out.empty());
}

// Found by writing every plan back into every golden of LLaMA-Factory.
TEST(ExchangePatch, TheNameOfADeepSpeedFileIsNotReplacedByHalfAFile) {
  const std::string text =
      R"({"model_name_or_path": "Qwen/Qwen2.5-7B", "stage": "sft", "finetuning_type": "full",
 "cutoff_len": 1024, "deepspeed": "examples/deepspeed/ds_z2_config.json"})";
  const Patch patch = patch_document(read_text(text), text,
                                     {{"/parallel/zero_optimization/offload_optimizer/device", "cpu"}});
  EXPECT_EQ(patch.text, text);
  ASSERT_EQ(patch.left_out.size(), 1u);
  EXPECT_EQ(patch.left_out[0].why,
            "\"examples/deepspeed/ds_z2_config.json\" says this: change it there, or name another file");
}

// Pasted in one, they were one YAML file of which an error was the last key, and were handed back as that.
TEST(ExchangePatch, AFileWithItsErrorBelowItIsNoFile) {
  const std::string text =
      "base_model: a/b\nadapter: qlora\nsequence_len: 4096\nmicro_batch_size: 4\n\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB.\n";
  const Patch patch = patch_document(read_any(text), text, {{"/training/max_length", 2048}});
  ASSERT_FALSE(patch.errors.empty());
  EXPECT_EQ(patch.errors[0].code, read_any(text).language == Language::yaml ? "unknown_format" : "");
  ASSERT_EQ(settings_parts(text).size(), 1u);
  EXPECT_EQ(settings_parts(text)[0].substr(0, 15), "base_model: a/b");
  EXPECT_EQ(settings_parts(text)[0].find("Error"), std::string_view::npos);
}

TEST(ExchangePatch, AnEnvironmentVariableIsNoKeyOfAJsonFile) {
  const std::string text =
      R"({"model_name_or_path": "Qwen/Qwen2.5-7B", "stage": "sft", "finetuning_type": "lora",
 "cutoff_len": 1024})";
  const Patch patch = patch_document(read_text(text), text,
                                     {{"/hardware/PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}});
  EXPECT_EQ(patch.text, text);
  EXPECT_EQ(patch.left_out.size(), 1u);
}

TEST(ExchangePatch, NestedYamlGetsItsKeysInTheRightBlock) {
  const std::string text =
      "model:\n"
      "  model_name_or_path: Qwen/Qwen2.5-7B\n"
      "peft:\n"
      "  r: 64\n"
      "training:\n"
      "    per_device_train_batch_size: 8\n"
      "    max_length: 4096\n"
      "    bf16: true\n";
  EXPECT_EQ(changed(text, {{"/training/gradient_checkpointing", true}, {"/peft/lora_alpha", 128}}),
            "+  lora_alpha: 128\n"
            "+    gradient_checkpointing: true\n");
}

TEST(ExchangePatch, LlamaFactoryAndTorchtuneChangeTheirOwnKeys) {
  const std::string factory =
      "### model\nmodel_name_or_path: Qwen/Qwen2.5-7B-Instruct\n\n### method\nstage: sft\ndo_train: true\n"
      "finetuning_type: lora\nlora_rank: 8\nlora_target: all\n\n### dataset\ncutoff_len: 8192\n\n### train\n"
      "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\nbf16: true\n";
  EXPECT_EQ(changed(factory, {{"/training/max_length", 2048}, {"/peft/r", 4}}),
            "-lora_rank: 8\n+lora_rank: 4\n-cutoff_len: 8192\n+cutoff_len: 2048\n");
  const std::string tune =
      "model:\n  _component_: torchtune.models.llama3_1.lora_llama3_1_8b\n  lora_attn_modules: ['q_proj', "
      "'v_proj']\n  lora_rank: 8\n  lora_alpha: 16\ntokenizer:\n  max_seq_len: 8192\nbatch_size: 2\n"
      "gradient_accumulation_steps: 8\ndtype: bf16\nenable_activation_checkpointing: False\n";
  EXPECT_EQ(changed(tune, {{"/training/gradient_checkpointing", true}, {"/training/max_length", 2048}}),
            "-  max_seq_len: 8192\n+  max_seq_len: 2048\n"
            "-enable_activation_checkpointing: False\n+enable_activation_checkpointing: True\n");
}

TEST(ExchangePatch, WindowsLineEndsStay) {
  const std::string text = "base_model: gpt2\r\nsequence_len: 512\r\nmicro_batch_size: 4\r\nadapter:\r\n";
  const Patch patch = patch_document(
      read_any(text), text, {{"/training/max_length", 256}, {"/training/gradient_accumulation_steps", 4}});
  EXPECT_EQ(patch.text,
            "base_model: gpt2\r\nsequence_len: 256\r\nmicro_batch_size: 4\r\ngradient_accumulation_steps: "
            "4\r\nadapter:\r\n");
}

TEST(ExchangePatch, AnAnchorThatServesTwiceIsChangedForBothOrNotAtAll) {
  const std::string text =
      "base_model: gpt2\nsequence_len: &n 4\nmicro_batch_size: *n\ngradient_accumulation_steps: 1\n";
  const Patch one = patch_document(read_any(text), text, {{"/training/per_device_train_batch_size", 2}});
  EXPECT_EQ(one.text, text);
  ASSERT_EQ(one.left_out.size(), 1U);
}

}  // namespace
}  // namespace plimsoll::exchange

#endif
