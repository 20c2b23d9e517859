#include "tests/drawn/value.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::drawn {

namespace {

using recipe::Field;
using recipe::FieldType;

// Usual sizes, and now and then the ends of the range. `usual` is where what people write ends.
struct UsualRange {
  std::string_view pointer;
  double usual;
};
constexpr UsualRange usual_ranges[] = {
    {"/training/per_device_train_batch_size", 16},
    {"/training/gradient_accumulation_steps", 32},
    {"/training/max_length", 8192},
    {"/training/per_device_eval_batch_size", 32},
    {"/training/eval_accumulation_steps", 16},
    {"/training/freeze_trainable_layers", 12},
    {"/training/lisa_activated_layers", 4},
    {"/training/llamapro_num_new_blocks", 8},
    {"/training/max_steps", 10000},
    {"/peft/r", 256},
    {"/peft/init_r", 64},
    {"/peft/num_virtual_tokens", 128},
    {"/peft/encoder_hidden_size", 4096},
    {"/peft/adapter_len", 64},
    {"/peft/adapter_layers", 30},
    {"/peft/oft_block_size", 64},
    {"/peft/boft_block_size", 16},
    {"/peft/boft_n_butterfly_factor", 4},
    {"/vision/images_per_sample", 6},
    {"/vision/image_size", 1344},
    {"/vision/image_height", 1344},
    {"/vision/max_tiles", 16},
    {"/data/eval_samples", 2000},
    {"/data/samples", 1e6},
    {"/parallel/num_gpus", 64},
    {"/rl/num_generations", 16},
    {"/rl/steps_per_generation", 16},
    {"/rl/num_iterations", 4},
};

double usual_end(const Field& field) {
  for (const UsualRange& row : usual_ranges) {
    if (row.pointer == field.pointer) return row.usual;
  }
  return std::min(field.high, 65536.0);
}

// As many small ones as large ones: evenly by their binary digits.
uint64_t drawn_count(double low, double high, Dice& dice) {
  const auto first = static_cast<uint64_t>(low), last = static_cast<uint64_t>(high);
  uint64_t digits = 0;
  while (digits < 53 && (uint64_t{1} << digits) <= last) ++digits;
  const uint64_t most = uint64_t{1} << dice.draw(digits + 1);
  const uint64_t value = dice.one_in(3) ? most : most - dice.draw(most / 2 + 1);
  return std::clamp(value, first, last);
}

Json drawn_number(const Field& field, Dice& dice) {
  if (dice.one_in(40)) return dice.one_in(2) ? field.low : std::min(field.high, 1e6);
  const double high = std::min(field.high, 64.0);
  // Eighths are exact in every notation.
  const double eighths = std::floor((high - field.low) * 8);
  return field.low + static_cast<double>(dice.draw(static_cast<uint64_t>(eighths) + 1)) / 8;
}

struct Texts {
  std::string_view pointer;
  std::vector<Json> values;
};

// What people write in fields of free text.
const std::vector<Texts>& texts() {
  static const std::vector<Texts> rows = {
      {"/versions/transformers",
       {"4.28",   "4.30", "4.31",   "4.33", "4.34",   "4.36", "4.38", "4.41", "4.43",   "4.45",
        "4.46.3", "4.47", "4.48.1", "4.49", "4.51.3", "4.53", "4.54", "4.55", "4.52.4", "4.56",
        "4.57",   "5.0",  "5.2",    "5.4",  "5.6",    "5.10", "5.13", "5.15", "5.22",   "5.23"}},
      {"/versions/trl", {"0.7.4", "0.7.11", "0.8",  "0.9.3", "0.10", "0.11", "0.12", "0.13", "0.14", "0.15",
                         "0.16",  "0.17",   "0.18", "0.19",  "0.20", "0.21", "0.22", "0.23", "0.24", "0.25",
                         "0.26",  "0.27",   "0.28", "0.29",  "1.0",  "1.6",  "1.7",  "1.9",  "1.14", "1.16"}},
      {"/versions/peft",
       {"0.3", "0.6", "0.10", "0.11", "0.12", "0.13.2", "0.15", "0.18", "0.19", "0.20", "0.21"}},
      {"/versions/torch",
       {"1.13", "2.0", "2.1", "2.1.1", "2.2", "2.4", "2.5.1", "2.6", "2.8", "2.9", "2.13"}},
      {"/versions/bitsandbytes", {"0.37", "0.41", "0.43.1", "0.43.2", "0.45", "0.48", "0.50"}},
      {"/versions/litgpt", {"0.0.20231016", "0.0.20231024", "0.0.20240101", "0.3", "0.5"}},
      {"/versions/unsloth",
       {"2024.1", "2024.4", "2024.8", "2024.11", "2025.3", "2025.8.5", "2026.8", "2026.10.9"}},
      {"/versions/axolotl", {"0.13.2", "0.15", "0.16", "0.18", "0.19"}},
      {"/versions/llamafactory", {"0.9.1", "0.9.2", "0.9.3", "0.9.4", "0.9.5"}},
      {"/rl/loss_type", {"sigmoid", "hinge", "ipo", "kto_pair", "grpo", "bnpo", "dr_grpo", "simpo", "dapo"}},
      {"/training/optim_args",
       {"rank=64, update_proj_gap=100, scale=0.10", "rank=128, update_proj_gap=200", "rank=8", "scale=0.25",
        "rank=1024, proj=channel"}},
      {"/hardware/PYTORCH_CUDA_ALLOC_CONF",
       {"expandable_segments:True", "expandable_segments:False", "max_split_size_mb:128",
        "max_split_size_mb:512,expandable_segments:True", "garbage_collection_threshold:0.8",
        "backend:cudaMallocAsync", "roundup_power2_divisions:4"}},
      {"/model_args/max_memory", {Json{{"0", "14GB"}, {"cpu", "50GB"}}, Json{{"0", "20GiB"}}}},
      {"/peft/modules_to_save",
       {Json::array({"lm_head"}), Json::array({"embed_tokens"}), Json::array({"embed_tokens", "lm_head"}),
        Json::array({"score"}), Json::array({"norm"}), Json::array()}},
      {"/peft/init_weights", {"bat", "mini"}},
      {"/peft/feedforward_modules", {Json::array({"down_proj"}), Json::array({"fc2"}), Json::array()}},
      {"/quantization/llm_int8_skip_modules",
       {Json::array({"lm_head"}), Json::array({"model.layers.0"}),
        Json::array({"model.layers.1.mlp", "lm_head"}), Json::array({"visual"}), Json::array()}},
      {"/training/optim_target_modules",
       {"all-linear", Json::array({"attn", "mlp"}), Json::array({"q_proj"}), Json::array({"mlp"})}},
      {"/want",
       {Json::array(), Json::array({"timeline"}), Json::array({"allocator"}), Json::array({"machines"}),
        Json::array({"limits"}), Json::array({"plans"}), Json::array({"timeline", "allocator"}),
        Json::array({"timeline", "machines"}), Json::array({"rent"}), Json::array({"gpu_only"}),
        Json::array({"gpu_only", "no_limits"})}},
  };
  return rows;
}

}  // namespace

std::vector<std::string> words_in(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(", "), list.size());
    words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 2, list.size()));
  }
  return words;
}

std::vector<std::string> drawn_linears(const model::Architecture& network, std::size_t most, Dice& dice) {
  std::vector<std::string> names;
  for (const model::PlacedLinear& at : model::linears(network)) {
    if (at.stack != &network.stacks.front())
      continue;  // a tower may be frozen, and its linears without adapters
    const std::string path(at.linear->path);
    std::string name = path.substr(path.rfind('.') + 1);
    const bool numbered = name.find('#') != std::string::npos || name.find('*') != std::string::npos;
    // Experts are modules in some releases of Transformers and parameters in others.
    const bool always =
        at.group != nullptr && !at.linear->expert && at.linear->module == model::Module::linear;
    if (!numbered && always && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  std::vector<std::string> chosen;
  while (!names.empty() && chosen.size() < most) {
    const auto at = static_cast<std::ptrdiff_t>(dice.draw(names.size()));
    chosen.push_back(names[static_cast<std::size_t>(at)]);
    names.erase(names.begin() + at);
  }
  return chosen;
}

Json drawn_value(const Field& field, Dice& dice) {
  for (const Texts& row : texts()) {
    if (row.pointer == field.pointer) return dice.one_of(row.values);
  }
  switch (field.type) {
    case FieldType::count:
      // The ends of the range are what nobody tries: one in forty.
      if (dice.one_in(40)) return static_cast<uint64_t>(dice.one_in(2) ? field.low : field.high);
      return drawn_count(field.low, std::min(field.high, usual_end(field)), dice);
    case FieldType::number:
      return drawn_number(field, dice);
    case FieldType::flag:
      return dice.one_in(2);
    case FieldType::word:
    case FieldType::optimizer: {
      std::vector<std::string> words = words_in(recipe::words_of(field));
      words.erase(std::remove_if(words.begin(), words.end(),
                                 [&](const std::string& word) { return never_valid(field.pointer, word); }),
                  words.end());
      return dice.one_of(words);
    }
    case FieldType::text:
    case FieldType::version:
    case FieldType::texts:
    case FieldType::texts_or_text:
    case FieldType::text_map:
      break;
  }
  return nullptr;
}

}  // namespace plimsoll::drawn
