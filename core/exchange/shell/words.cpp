#include "core/exchange/shell/words.h"

#include "core/exchange/format.h"
#include "core/exchange/scalar.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::shell {

bool is_flag(const Word& word) {
  const std::string& text = word.text.characters;
  return !word.opens_quoted && text.size() > 1 && text[0] == '-' && !meant_number(text).has_value();
}

bool is_tool(const Word& word) {
  constexpr std::string_view tools =
      "apt apt-get cd chmod conda cp curl date docker du find git grep head kill ln ls make mkdir module mv nl "
      "nvidia-smi pip pip3 pkill ps pytest rm rsync scp sed sleep sort source . tail tar tee trap ulimit unzip "
      "wait wandb wget xargs huggingface-cli";
  return !word.quoted && in_list(word.text.characters, tools);
}

bool is_launcher(const Word& word) {
  return !word.quoted && in_list(word.text.characters, "python python3 torchrun accelerate deepspeed");
}

bool takes_one_value(const Word& flag) {
  return in_list(
      flag.text.characters,
      "--nproc_per_node --nproc-per-node --nnodes --node_rank --node-rank --master_port --master-port "
      "--master_addr --master-addr --num_processes --num_machines --machine_rank --main_process_port "
      "--num_gpus --num_nodes");
}

bool is_prefix(const Word& word) {
  return !word.quoted && in_list(word.text.characters, "env nohup time sudo exec command $ % !");
}

std::optional<size_t> assignment(std::string_view text) {
  size_t at = 0;
  if (text.empty() || ascii::is_digit(text[0])) return std::nullopt;
  while (at < text.size() && ascii::is_word(text[at])) ++at;
  if (at == 0) return std::nullopt;
  if (at < text.size() && text[at] == '[') {
    const size_t close = text.find(']', at);
    if (close == std::string_view::npos) return std::nullopt;
    at = close + 1;
  }
  if (at < text.size() && text[at] == '+') ++at;
  return at < text.size() && text[at] == '=' ? std::optional<size_t>(at) : std::nullopt;
}

}  // namespace plimsoll::exchange::shell
