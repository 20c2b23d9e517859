// Keys by which TRL's configurations differ: trl v0.9 to v1.16 trl/trainer/*_config.py, trl/experimental/{orpo,cpo,ppo};
// princeton-nlp/SimPO scripts/simpo_config.py. SFTConfig has none of them, and of loss_type other words.
#include "core/exchange/formats/trl_tasks.h"

#include <algorithm>

#include "core/json/ascii.h"
#include "core/recipe/tasks.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

struct TaskKeys {
  std::string_view keys;
  std::string_view words = {};  ///< that the key holds then, joined by blanks; "" whatever it holds
  std::string_view task = {};
  std::string_view others = {};   ///< trainers that have the key too, in words; "" none has
  std::string_view without = {};  ///< keys beside which it says nothing
  bool in_files_only = false;     ///< a script of one's own may call something else so
};

// The first row that fits counts: what RLOO has alone stands before what it shares with GRPO.
constexpr TaskKeys own_keys[] = {
    {.keys = "desirable_weight undesirable_weight", .task = "kto"},
    {.keys = "loss_type", .words = "kto apo_zero_unpaired", .task = "kto"},
    {.keys = "gamma_beta_ratio", .task = "simpo"},
    {.keys = "cpo_alpha simpo_gamma", .task = "cpo"},
    {.keys = "loss_type", .words = "simpo alphapo", .task = "cpo"},
    {.keys = "center_rewards_coefficient", .task = "reward"},
    {.keys = "rloo_k normalize_advantages reward_clip_range", .task = "rloo"},
    {.keys = "vf_coef cliprange_value whiten_rewards num_ppo_epochs kl_estimator", .task = "ppo"},
    {.keys = "loss_type", .words = "grpo dapo dr_grpo bnpo cispo sapo luspo vespo", .task = "grpo"},
    {.keys =
         "num_generations num_samples_per_prompt_rollout steps_per_generation num_iterations scale_rewards "
         "importance_sampling_level top_entropy_quantile reward_funcs reward_weights log_completions "
         "mask_truncated_completions use_vllm vllm_mode",
     .task = "grpo"},
    {.keys = "loss_type",
     .words =
         "exo_pair nca_pair robust bco_pair sppo_hard aot aot_pair aot_unpaired discopop apo_zero apo_down",
     .task = "dpo"},
    {.keys = "reference_free rpo_alpha ld_alpha f_divergence_type f_alpha_divergence_coef use_weighting "
             "discopop_tau loss_weights force_use_ref_model",
     .task = "dpo"},
};
constexpr TaskKeys shared_keys[] = {
    {.keys = "precompute_ref_log_probs precompute_ref_batch_size", .task = "dpo", .others = "KTO has"},
    {.keys = "max_completion_length",
     .task = "grpo",
     .others = "RLOO, ORPO and CPO have",
     .without = "max_length",
     .in_files_only = true},
    {.keys = "loss_type", .words = "sigmoid hinge ipo", .task = "dpo", .others = "CPO has"},
    {.keys = "beta", .task = "dpo", .others = "KTO, ORPO, CPO and SimPO have"},
    {.keys = "max_prompt_length",
     .task = "dpo",
     .others = "KTO, ORPO, CPO and GRPO have",
     .in_files_only = true},
};

const Leaf* says(const Reading& reading, const TaskKeys& row) {
  if (row.in_files_only && reading.document.language == Language::shell) return nullptr;
  for (const Leaf& leaf : reading.all) {
    if (in_list(leaf.path, row.without)) return nullptr;
  }
  for (const Leaf& leaf : reading.all) {
    const bool given = leaf.node->is_list() || !leaf.node->value.is_null();
    if (given && in_list(leaf.path, row.keys) &&
        (row.words.empty() || in_list(reading.word(leaf.path), row.words)))
      return &leaf;
  }
  return nullptr;
}

// CPO without its term of plain text is SimPO: its authors say so with cpo_alpha (trl/experimental/cpo/cpo_config.py).
std::string task_of_row(const Reading& reading, const TaskKeys& row) {
  const Leaf* alpha = reading.leaf("cpo_alpha");
  const bool simple = row.task == "cpo" && reading.word("loss_type") == "simpo" && alpha != nullptr &&
                      alpha->node->value.is_number() && alpha->node->value == 0;
  return simple ? "simpo" : std::string(row.task);
}

void take_task(Reading& reading, const TaskKeys& row, const Leaf& leaf) {
  const std::string task = task_of_row(reading, row);
  reading.values["/task"] = task;
  // What is TRL's word for SimPO among CPO's losses is the task itself.
  if (task == "simpo") reading.drop("/rl/cpo_alpha", "the task says it");
  if (task == "simpo") reading.drop("/rl/loss_type", "the task says it");
  if (reading.finding(leaf).use != Use::used) reading.mark(leaf, Use::implied, "says the task, " + task);
  std::string note = "The task, " + task + ", is taken from \"" + leaf.path + "\", which ";
  note += row.others.empty() ? "no other trainer of TRL's has in this way."
                             : std::string(row.others) + " too: say the task if it is another.";
  if (!row.others.empty())
    reading.unsaid.push_back({"/task", "No command and no comment names it; " + task + " is taken, as \"" +
                                           leaf.path + "\" is given."});
  reading.notes.push_back(std::move(note));
}

void read_task_of(Reading& reading, std::span<const TaskKeys> table) {
  for (const TaskKeys& row : table) {
    if (const Leaf* leaf = says(reading, row)) return take_task(reading, row, *leaf);
  }
}

// "trl dpo", "scripts/dpo.py", "run_orpo.py", "DPOTrainer", "DPOConfig"; "" says nothing.
std::string task_of_word(std::string_view word, std::string_view before) {
  std::string name =
      ascii::lower(word.substr(word.rfind('/') == std::string_view::npos ? 0 : word.rfind('/') + 1));
  const bool command = before == "trl";
  const auto cut = [&name](std::string_view end) {
    const bool ends =
        name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
    if (ends) name.resize(name.size() - end.size());
    return ends;
  };
  const bool named = cut(".py") || cut("trainer") || cut("config");
  if (named && name.compare(0, 4, "run_") == 0) name.erase(0, 4);
  const bool known = name == "simpo" || recipe::trained_by(name) != nullptr;
  return (command || named) && known ? name : "";
}

bool is_of_word(char c) { return ascii::is_word(c) || c == '.' || c == '/' || c == '-'; }

// The tasks that the words of a comment name.
void add_tasks(std::string_view comment, std::vector<std::string>& tasks) {
  std::string_view before;
  for (size_t at = 0; at < comment.size();) {
    size_t end = at;
    while (end < comment.size() && is_of_word(comment[end])) ++end;
    if (end > at) {
      const std::string_view word = comment.substr(at, end - at);
      std::string task = task_of_word(word, before);
      if (!task.empty() && std::find(tasks.begin(), tasks.end(), task) == tasks.end()) tasks.push_back(task);
      before = word;
    }
    at = end + 1;
  }
}

// What tells a task of TRL's in a file of its own, at the value that it has anyway.
void put_key(Writing& out, const char* key, uint64_t value) {
  if (!out.wrote(key)) out.put(key, value);
}

}  // namespace

void read_commented_task(Reading& reading) {
  std::vector<std::string> tasks;
  for (size_t at = 0; at < reading.text.size();) {
    const size_t end = std::min(reading.text.find('\n', at), reading.text.size());
    const std::string_view line = ascii::trim(reading.text.substr(at, end - at));
    if (!line.empty() && line[0] == '#') add_tasks(line.substr(1), tasks);
    at = end + 1;
  }
  if (tasks.size() != 1) return;  // of two neither is the file's
  reading.values["/task"] = tasks[0];
  if (tasks[0] != "sft")
    reading.notes.push_back("The task, " + tasks[0] + ", is taken from a comment of the file.");
}

void read_task_of_own_keys(Reading& reading) { read_task_of(reading, own_keys); }
void read_task_of_shared_keys(Reading& reading) { read_task_of(reading, shared_keys); }

bool write_simpo(Writing& out, std::string_view below, const std::string& pointer) {
  if (!out.is("/task", "simpo")) return false;
  if (pointer == "/rl/loss_type" || pointer == "/rl/cpo_alpha") {
    out.left_out.push_back(pointer);
    return true;
  }
  if (pointer != "/task") return false;
  const std::string section = below.empty() ? "" : std::string(below) + ".";
  out.put(section + "loss_type", "simpo", pointer);
  out.put(section + "cpo_alpha", 0.0, pointer);
  return true;
}

// trl/cli has commands for what is not experimental; of the rest the trainer's name says it.
std::string task_comment(const Writing& out) {
  const std::string name = out.word("/task");
  if (in_list(name, "dpo kto grpo rloo reward")) return "# trl " + name + " --config FILE\n";
  const recipe::Task* task = recipe::find_task(name);
  if (task == nullptr || !task->experimental || name == "simpo") return "";
  return "# For " + std::string(task->trainer) + "Trainer of trl.experimental." + name + "\n";
}

void put_task_key(Writing& out) {
  const recipe::Task* task = recipe::find_task(out.word("/task"));
  if (task == nullptr) return;
  if (task->num_generations > 1)
    put_key(out, "num_generations", static_cast<uint64_t>(task->num_generations));
  if (task->unpaired) put_key(out, "desirable_weight", 1);
}

}  // namespace plimsoll::exchange
