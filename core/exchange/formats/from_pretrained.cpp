// What from_pretrained takes, and the quantization_config among it. Keys: huggingface/transformers v4.46 and
// v5.23 src/transformers/modeling_utils.py, utils/quantization_config.py; huggingface/trl
// trl/trainer/model_config.py.
#include "core/exchange/formats/shared.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

constexpr Row model_rows[] = {
    {"model_name_or_path", "/model", ""},
    {"pretrained_model_name_or_path", "/model", ""},
    {"model_name", "/model", ""},
    {"model_id", "/model", ""},
    {"base_model", "/model", ""},
    {"dtype", "/model_args/dtype", "auto=auto"},
    {"torch_dtype", "/model_args/dtype", "auto=auto"},
    {"attn_implementation", "/model_args/attn_implementation", "", read_attention_name, Write::yes},
    {.key = "use_flash_attention_2",
     .pointer = "/model_args/attn_implementation",
     .values = "flash_attention_2",
     .is_switch = true},
    {.key = "use_flash_attn",
     .pointer = "/model_args/attn_implementation",
     .values = "flash_attention_2",
     .is_switch = true},
    {.key = "use_flash_attention",
     .pointer = "/model_args/attn_implementation",
     .values = "flash_attention_2",
     .is_switch = true},
    {"load_in_4bit", "/quantization/load_in_4bit", ""},
    {"load_in_8bit", "/quantization/load_in_8bit", ""},
    {"device_map", "/model_args/device_map", "", read_device_map, Write::yes},
    {"max_memory", "/model_args/max_memory", ""},
    {"use_cache", "/model_args/use_cache", ""},
    {"num_labels", "/model_args/num_labels", ""},
    {"max_seq_length", "/training/max_length", ""},
    {"gpu_memory_utilization", "/rl/vllm_gpu_memory_utilization", ""},
};
constexpr std::string_view model_irrelevant =
    "revision model_revision token use_auth_token cache_dir trust_remote_code low_cpu_mem_usage "
    "local_files_only force_download use_safetensors variant tokenizer_name padding_side random_state "
    "fix_tokenizer use_fast_tokenizer offload_folder offload_state_dict resume_download use_fast "
    "resize_model_vocab float32_mixed_precision id2label* label2id* ignore_mismatched_sizes "
    "max_lora_rank proxies subfolder tie_word_embeddings disable_log_stats attention_dropout "
    "hidden_dropout problem_type unsloth_force_compile use_exact_model_name quantization_config";
constexpr std::string_view model_implied =
    "model_type config config_name config_overrides model_class architecture full_finetuning "
    "torch_dtype_auto pretraining_tp max_lora_rank rope_scaling* rope_theta max_position_embeddings "
    "device_map.*";
constexpr std::string_view model_unpriced =
    "use_kernels tp_plan experts_implementation unsloth_tiled_mlp offload_embedding load_in_16bit "
    "load_in_fp8 qat_scheme";

constexpr Row quantization_rows[] = {
    {"load_in_4bit", "/quantization/load_in_4bit", ""},
    {"load_in_8bit", "/quantization/load_in_8bit", ""},
    {"bnb_4bit_quant_type", "/quantization/bnb_4bit_quant_type", ""},
    {"bnb_4bit_use_double_quant", "/quantization/bnb_4bit_use_double_quant", ""},
    {"bnb_4bit_compute_dtype", "/quantization/bnb_4bit_compute_dtype", ""},
    {"llm_int8_skip_modules", "/quantization/llm_int8_skip_modules", ""},
    {"modules_to_not_convert", "/quantization/llm_int8_skip_modules", ""},
    {"prepare_for_kbit_training", "/quantization/prepare_for_kbit_training", ""},
    {"quant_method", "/quantization/quant_method", ""},
    {"bits", "/quantization/bits", ""},
    {"nbits", "/quantization/bits", ""},
    {"group_size", "/quantization/group_size", ""},
};
constexpr std::string_view quantization_irrelevant =
    "llm_int8_threshold llm_int8_has_fp16_weight tokenizer dataset damp_percent desc_act act_group_aware "
    "sym true_sequential format meta backend model_seqlen block_name_to_quantize "
    "module_name_preceding_first_block batch_size pad_token_id max_input_length cache_block_outputs "
    "modules_in_block_to_quantize zero_point axis view_as_float dynamic_config* exllama_config* "
    "use_exllama use_cuda_fp16 disable_exllama version";
constexpr std::string_view quantization_implied = "bnb_4bit_quant_storage _load_in_4bit _load_in_8bit";
constexpr std::string_view quantization_unpriced = "llm_int8_enable_fp32_cpu_offload";

}  // namespace

const Table model_table{model_rows, model_irrelevant, model_implied, model_unpriced};
const Table quantization_table{quantization_rows, quantization_irrelevant, quantization_implied,
                               quantization_unpriced};

}  // namespace plimsoll::exchange
