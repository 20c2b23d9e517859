#include "core/exchange/formats/shared.h"

#include <algorithm>
#include <cmath>

#include "core/json/ascii.h"
#include "core/recipe/fields.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

bool is_module_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "(up|down|gate)_proj" to three names; nothing when something else than letters and groups stands there.
std::vector<std::string> expand(std::string_view tail) {
  std::vector<std::string> names{""};
  for (size_t i = 0; i < tail.size();) {
    if (is_module_char(tail[i])) {
      for (std::string& name : names) name += tail[i];
      ++i;
      continue;
    }
    if (tail[i] == '$' && i + 1 == tail.size()) break;
    if (tail[i] != '(') return {};
    const size_t close = tail.find(')', i);
    if (close == std::string_view::npos) return {};
    std::string_view group = tail.substr(i + 1, close - i - 1);
    if (group.substr(0, 2) == "?:") group.remove_prefix(2);
    if (group.empty() || group.find_first_of("()[]*+?\\") != std::string_view::npos) return {};
    std::vector<std::string> grown;
    for (const std::string& name : names) {
      for (std::string_view rest = group;;) {
        const size_t bar = rest.find('|');
        grown.push_back(name + std::string(rest.substr(0, bar)));
        if (bar == std::string_view::npos) break;
        rest.remove_prefix(bar + 1);
      }
    }
    if (grown.size() > 256) return {};
    names = std::move(grown);
    i = close + 1;
  }
  return names;
}

}  // namespace

std::vector<std::string> expand_pattern(std::string_view pattern) {
  size_t level = 0, tail = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '(' || pattern[i] == '[') ++level;
    if ((pattern[i] == ')' || pattern[i] == ']') && level > 0) --level;
    if (pattern[i] == '.' && level == 0) tail = i + 1;
  }
  // ".*" and ".+" before a name: "(.*)(q_proj|v_proj)".
  while (tail < pattern.size() && (pattern[tail] == '*' || pattern[tail] == '+')) ++tail;
  std::vector<std::string> names = expand(pattern.substr(tail));
  names.erase(std::remove(names.begin(), names.end(), ""), names.end());
  return names;
}

namespace {

// "a\.q_proj|b\.fc1": a bar outside of all groups.
bool has_alternatives(std::string_view pattern) {
  int level = 0;
  for (const char c : pattern) {
    level += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == '|' && level == 0) return true;
  }
  return false;
}

}  // namespace

void read_token_indices(Reading& reading, const Leaf& leaf) {
  if (!leaf.node->is_list()) return reading.mark(leaf, Use::unsupported);
  reading.set("/peft/num_trainable_tokens", Json(leaf.node->items.size()), &leaf);
}

void read_targets(Reading& reading, const Leaf& leaf) {
  const Node& node = *leaf.node;
  const auto value = value_for("/peft/target_modules", node, "");
  const bool is_pattern = value && value->is_string() && *value != "all-linear";
  if (!is_pattern) {
    reading.set("/peft/target_modules", leaf);
    return;
  }
  const std::string pattern = value->get<std::string>();
  const std::vector<std::string> names = expand_pattern(pattern);
  // Alternatives of whole names have more than one end.
  if (names.empty() || has_alternatives(pattern)) return reading.set("/peft/target_modules", leaf);
  reading.set("/peft/target_modules", Json(names), &leaf);
  reading.finding(leaf).message = "a pattern over module names; the names at its end were taken";
  if (pattern.find("language_model") != std::string::npos || pattern.find("text_model") != std::string::npos)
    reading.set("/peft/finetune_vision_layers", false);
}

namespace {

void set_square(Reading& reading, const Leaf& leaf, double pixels_of_one) {
  const auto count = value_for("/vision/image_size", *leaf.node, "");
  if (!count || !count->is_number_unsigned()) return reading.set("/vision/image_size", leaf);
  const double side = std::floor(std::sqrt(count->get<double>() * pixels_of_one));
  reading.set("/vision/image_size", static_cast<uint64_t>(side), &leaf);
  reading.finding(leaf).message = "the side of the largest square";
}

}  // namespace

void read_max_pixels(Reading& reading, const Leaf& leaf) { set_square(reading, leaf, 1); }
void read_max_image_tokens(Reading& reading, const Leaf& leaf) { set_square(reading, leaf, 32.0 * 32.0); }

void read_checkpointing(Reading& reading, const Leaf& leaf) {
  const Node& node = *leaf.node;
  std::string word = node.value.is_string() ? node.value.get<std::string>() : "";
  if (word == "offload" || word == "offload_disk" || word == "unsloth") {
    reading.set("/training/gradient_checkpointing", true, &leaf);
    if (word == "unsloth") {
      // Unsloth's own checkpointing writes each layer's input to host memory.
      reading.set("/training/activation_offloading", true);
    } else {
      reading.set("/training/activation_offloading", true);
      reading.finding(leaf).message = "checkpointing, with what it keeps in host memory";
    }
    return;
  }
  reading.set("/training/gradient_checkpointing", leaf);
}

void read_fsdp(Reading& reading, const Leaf& leaf) {
  const Node& node = *leaf.node;
  if (node.is_scalar() &&
      (node.value.is_null() || node.value == Json(false) || node.raw.empty() || node.raw == "''"))
    return reading.mark(leaf, Use::implied, "no FSDP");
  if ((node.is_list() && node.items.empty()) || (node.is_map() && node.members.empty()))
    return reading.mark(leaf, Use::implied, "no FSDP");
  if (!reading.has("/parallel/strategy")) reading.values["/parallel/strategy"] = "fsdp";
  reading.finding(leaf).pointer = "/parallel/strategy";
  reading.mark(leaf, Use::used);
  std::string words = node.raw;
  for (const Node& item : node.items) words += " " + item.raw;
  if (words.find("offload") != std::string::npos) reading.set("/parallel/fsdp_config/offload_params", true);
  if (words.find("shard_grad_op") != std::string::npos)
    reading.set("/parallel/fsdp_config/reshard_after_forward", false);
}

void read_zero_stage(Reading& reading, const Leaf& leaf) {
  const std::string stage = leaf.node->raw;
  if (stage == "0" || stage == "1" || stage == "2" || stage == "3") {
    reading.set("/parallel/strategy", "zero" + stage, &leaf);
  } else {
    reading.mark(leaf, Use::unsupported, "ZeRO has stages 0 to 3");
  }
}

void read_sharding_strategy(Reading& reading, const Leaf& leaf) {
  std::string word = leaf.node->raw;
  for (char& c : word) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  if (leaf.node->value.is_null()) return reading.mark(leaf, Use::implied, "left to the default");
  if (word == "NO_SHARD" || word == "3") {
    reading.set("/parallel/strategy", "ddp", &leaf);
    return;
  }
  if (!reading.has("/parallel/strategy")) reading.values["/parallel/strategy"] = "fsdp";
  if (word == "FULL_SHARD" || word == "1") {
    reading.finding(leaf).pointer = "/parallel/strategy";
    reading.mark(leaf, Use::used);
  } else if (word == "SHARD_GRAD_OP" || word == "2") {
    reading.set("/parallel/fsdp_config/reshard_after_forward", false, &leaf);
  } else {
    reading.mark(leaf, Use::unsupported,
                 "sharding within a node and copies between nodes cannot be said yet");
  }
}

void read_fsdp_version(Reading& reading, const Leaf& leaf) {
  if (leaf.node->raw != "2") return reading.mark(leaf, Use::implied, "the first version, or none");
  reading.set("/parallel/strategy", "fsdp2", &leaf);
}

void read_reshard(Reading& reading, const Leaf& leaf) {
  if (leaf.node->value.is_string()) return read_sharding_strategy(reading, leaf);
  reading.set("/parallel/fsdp_config/reshard_after_forward", leaf);
}

std::string adapter_type(std::string_view word) {
  const auto plain = [](std::string_view text) {
    std::string out = ascii::lower(text);
    std::erase(out, '_');
    return out;
  };
  // PEFT's classes of these are not called as their type.
  constexpr std::pair<std::string_view, const char*> others[] = {{"promptencoder", "P_TUNING"},
                                                                 {"adaptionprompt", "ADAPTION_PROMPT"}};
  for (const auto& [name, type] : others) {
    if (plain(word) == name) return type;
  }
  std::string_view all = recipe::find_field("/peft/peft_type")->words;
  while (!all.empty()) {
    const std::string_view type = all.substr(0, all.find(", "));
    all.remove_prefix(std::min(all.size(), type.size() + 2));
    if (plain(type) == plain(word)) return std::string(type);
  }
  return "";
}

void read_attention_name(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  if (word.find("flash") == std::string::npos || word.find('/') == std::string::npos)
    return reading.set("/model_args/attn_implementation", leaf);
  const bool third = word.find("attn3") != std::string::npos;
  reading.set("/model_args/attn_implementation", third ? "flash_attention_3" : "flash_attention_2", &leaf);
}

void read_device_map(Reading& reading, const Leaf& leaf) {
  if (!leaf.node->value.is_string()) return reading.mark(leaf, Use::implied, "everything on one device");
  reading.set("/model_args/device_map", leaf.node->value, &leaf);
}

void read_optimizer_args(Reading& reading, const Leaf& leaf) {
  if (!leaf.node->is_scalar()) return reading.mark(leaf, Use::implied);
  reading.set("/training/optim_args", leaf);
}

void read_optimizer_arg(Reading& reading, const Leaf& leaf) {
  if (!leaf.node->is_scalar() || leaf.node->raw.empty()) return reading.mark(leaf, Use::implied);
  std::string text;
  if (reading.has("/training/optim_args"))
    text = reading.values["/training/optim_args"].get<std::string>() + ", ";
  text += leaf.path.substr(leaf.path.rfind('.') + 1);
  text += '=';
  text += leaf.node->raw;
  reading.values["/training/optim_args"] = std::move(text);
  reading.finding(leaf).pointer = "/training/optim_args";
  reading.mark(leaf, Use::used);
}

void read_optimizer_targets(Reading& reading, const Leaf& leaf) {
  reading.set("/training/optim_target_modules", leaf, "all_linear=all-linear");
}

void finish_projection(Reading& reading, const ProjectionKeys& keys) {
  if (!reading.is_on(keys.on)) return;
  const Json given = reading.has("/training/optim") ? reading.values["/training/optim"] : Json("adamw_torch");
  const std::string below = given.is_string() ? given.get<std::string>() : "";
  std::string optim = keys.name;
  optim += below == "adafactor" ? "_adafactor" : "_adamw";
  if (below.find("8bit") != std::string::npos) optim += "_8bit";
  if (reading.is_on(keys.layerwise)) {
    optim += "_layerwise";
    if (const Leaf* leaf = reading.leaf(keys.layerwise)) reading.mark(*leaf, Use::used);
  }
  reading.set("/training/optim", optim, reading.leaf(keys.on));
  const Leaf* rank = reading.leaf(keys.rank);
  const bool said = rank != nullptr && rank->node->value.is_number_unsigned();
  std::string args = "rank=";
  args += said ? rank->node->raw : std::to_string(keys.usual_rank);
  reading.set("/training/optim_args", args, said ? rank : nullptr);
  const Leaf* targets = reading.leaf(keys.targets);
  const auto names = targets == nullptr
                         ? std::nullopt
                         : value_for("/training/optim_target_modules", *targets->node, "all=all-linear");
  reading.set("/training/optim_target_modules", names.value_or("all-linear"), names ? targets : nullptr);
}

namespace {

// Of a mesh of devices the axes; all together are the processes (axolotl src/axolotl/utils/distributed.py
// _get_parallel_config_kwargs, accelerate src/accelerate/parallelism_config.py).
struct Mesh {
  std::string_view replicate, shard, tensor, context;
};
constexpr Mesh meshes[] = {
    {"dp_replicate_size", "dp_shard_size", "tensor_parallel_size", "context_parallel_size"},
    {"parallelism_config_dp_replicate_size", "parallelism_config_dp_shard_size", "parallelism_config_tp_size",
     "parallelism_config_cp_size"}};

uint64_t axis(const Reading& reading, std::string_view key) {
  for (const Leaf& leaf : reading.all) {
    const std::string& path = leaf.path;
    const bool below = path.starts_with("parallelism_config.") && path.substr(path.rfind('.') + 1) == key;
    const Json& size = leaf.node->value;
    if ((path == key || below) && size.is_number_unsigned() && size >= 1 && size <= 4096)
      return size.get<uint64_t>();
  }
  return 1;
}

// Sharding over some of the processes, the groups of which repeat each other, has no field.
void finish_mesh(Reading& reading) {
  for (const Mesh& mesh : meshes) {
    const uint64_t replicas = axis(reading, mesh.replicate), shards = axis(reading, mesh.shard);
    if (replicas * shards == 1) continue;
    const uint64_t count = replicas * shards * axis(reading, mesh.tensor) * axis(reading, mesh.context);
    if (!reading.has("/parallel/num_gpus")) {
      reading.values["/parallel/num_gpus"] = count;
      reading.notes.push_back("The number of GPUs is not said here; " + std::string(mesh.shard) +
                              " and its neighbours need " + std::to_string(count) +
                              ", and as many are taken.");
    }
    // FSDP's mesh is that of the sequences, too.
    const uint64_t sharing = shards * axis(reading, mesh.tensor) * axis(reading, mesh.context);
    const bool all = reading.values["/parallel/num_gpus"] == Json(sharing);
    if (const Leaf* leaf = reading.leaf(mesh.shard); leaf != nullptr && all)
      reading.mark(*leaf, Use::implied, "all GPUs share the weights");
    if (shards > 1 && !all)
      reading.notes.push_back(
          "The weights are shared by groups of " + std::to_string(sharing) +
          " GPUs that repeat each other (hybrid sharding); priced is sharding over all GPUs, which "
          "needs less of each.");
  }
}

}  // namespace

void finish_sequence_parallel(Reading& reading) {
  if (!reading.format.of_fields) finish_mesh(reading);
  const auto size = reading.values.find("/parallel/sequence_parallel_size");
  if (size == reading.values.end() || !size->second.is_number_unsigned() || size->second == Json(1)) return;
  if (reading.has("/parallel/num_gpus") || reading.format.of_fields) return;
  reading.values["/parallel/num_gpus"] = size->second;
  reading.notes.emplace_back("The number of GPUs is not said here; as many are taken as share one sequence.");
}

void read_evaluation(Reading& reading, const Leaf& leaf) {
  reading.set("/training/eval_strategy", leaf,
              "no=no, false=no, IntervalStrategy.NO=no, IntervalStrategy.STEPS=steps, "
              "IntervalStrategy.EPOCH=epoch");
}

void read_implied(Reading& reading, const Leaf& leaf) { reading.mark(leaf, Use::implied); }

void read_visible_devices(Reading& reading, const Leaf& leaf) {
  uint64_t count = leaf.node->raw.empty() ? 0 : 1;
  for (const char c : leaf.node->raw) count += c == ',' ? 1 : 0;
  if (count == 0 || leaf.node->is_list()) return reading.mark(leaf, Use::implied);
  if (reading.has("/parallel/num_gpus"))
    return reading.mark(leaf, Use::implied, "the launcher says how many");
  reading.set("/parallel/num_gpus", count, &leaf);
}

}  // namespace plimsoll::exchange
