#include "core/exchange/shell_words.h"

#include <algorithm>
#include <string_view>

namespace plimsoll::exchange {

bool is_tool(const Word& word) {
  static constexpr std::string_view tools[] = {
      "[",      "[[",         "apt",    "apt-get", "awk",    "case",
      "cat",    "cd",         "chmod",  "conda",   "cp",     "curl",
      "date",   "declare",    "docker", "du",      "echo",   "elif",
      "esac",   "exit",       "fi",     "find",    "for",    "function",
      "git",    "grep",       "head",   "if",      "kill",   "ln",
      "local",  "ls",         "make",   "mkdir",   "module", "mv",
      "nl",     "nvidia-smi", "pip",    "pip3",    "pkill",  "ps",
      "pytest", "read",       "return", "rm",      "rsync",  "scp",
      "sed",    "set",        "shift",  "sleep",   "sort",   "source",
      "tail",   "tar",        "tee",    "trap",    "ulimit", "unzip",
      "wait",   "wandb",      "wget",   "while",   "xargs",  "huggingface-cli"};
  return !word.quoted && std::find(std::begin(tools), std::end(tools), word.text) != std::end(tools);
}

bool is_launcher(const Word& word) {
  for (const std::string_view launcher : {"python", "python3", "torchrun", "accelerate", "deepspeed"}) {
    if (!word.quoted && word.text == launcher) return true;
  }
  return false;
}

bool is_separator(const Word& word) {
  for (const std::string_view end : {"&&", "||", ";", "|", "&", "then", "do", "else"}) {
    if (!word.quoted && word.text == end) return true;
  }
  return false;
}

bool is_redirection(const Word& word) {
  if (word.quoted || word.text.empty()) return false;
  const std::string_view text = word.text;
  const size_t sign = text.find_first_not_of("0123456789&");
  return (sign <= 1 && text[sign] == '>') || text == "<";
}

bool takes_one_value(const Word& flag) {
  static constexpr std::string_view names[] = {"--nproc_per_node",    "--nproc-per-node", "--nnodes",
                                               "--node_rank",         "--node-rank",      "--master_port",
                                               "--master-port",       "--master_addr",    "--master-addr",
                                               "--num_processes",     "--num_machines",   "--machine_rank",
                                               "--main_process_port", "--num_gpus",       "--num_nodes"};
  return std::find(std::begin(names), std::end(names), flag.text) != std::end(names);
}

bool is_prefix(const Word& word) {
  for (const std::string_view prefix :
       {"export", "env", "nohup", "time", "sudo", "exec", "$", "&&", ";", "!"}) {
    if (word.text == prefix) return true;
  }
  return false;
}

}  // namespace plimsoll::exchange
