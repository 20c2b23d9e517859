#include "core/exchange/shell/words.h"

#include "core/exchange/format.h"
#include "core/exchange/scalar.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::shell {

namespace {

// What starts another command and leaves it as it is: "conda run -n x python train.py".
struct Wrapper {
  std::string_view program, command;  // "" none: the program alone
  std::string_view valued;            // its options that a word follows
  size_t operands = 0;                // its own words before the other command
};
constexpr std::string_view of_conda = "-n --name -p --prefix --cwd";
constexpr std::string_view of_uv =
    "--with --with-editable --with-requirements --extra --no-extra --group --no-group --only-group --package --python "
    "-p --project --directory --env-file --index --default-index --index-url -i --extra-index-url --find-links -f "
    "--config-file --from --index-strategy";
constexpr Wrapper wrappers[] = {{"env", "", "-u --unset -C --chdir -S"},
                                {"nohup", "", ""},
                                {"time", "", "-f --format -o --output"},
                                {"sudo", "", "-u --user -g --group -h --host -p --prompt -D --chdir"},
                                {"exec", "", "-a"},
                                {"command", "", ""},
                                {"nice", "", "-n --adjustment"},
                                {"timeout", "", "-s --signal -k --kill-after", 1},
                                {"stdbuf", "", "-i -o -e"},
                                {"poetry", "run", ""},
                                {"pdm", "run", ""},
                                {"pipenv", "run", ""},
                                {"pixi", "run", "-e --environment --manifest-path"},
                                {"conda", "run", of_conda},
                                {"mamba", "run", of_conda},
                                {"micromamba", "run", of_conda},
                                {"uv", "run", of_uv},
                                {"uvx", "", of_uv}};
constexpr std::string_view containers = "docker podman nerdctl apptainer singularity";
constexpr std::string_view mpi_launchers = "mpirun mpiexec orterun horovodrun";

}  // namespace

bool is_flag(const Word& word) {
  const std::string& text = word.text.characters;
  return !word.opens_quoted && text.size() > 1 && text[0] == '-' && !meant_number(text).has_value();
}

bool is_tool(const Word& word) {
  constexpr std::string_view tools =
      "apt apt-get cd chmod conda cp curl date du find git grep head kill ln ls make mkdir module mv nl "
      "nvidia-smi pip pip3 pkill ps pytest rm rsync scp sed sleep sort source . tail tar tee trap ulimit unzip "
      "wait wandb wget xargs huggingface-cli";
  return !word.quoted && in_list(word.text.characters, tools);
}

bool is_launcher(const Word& word) {
  return !word.quoted && in_list(word.text.characters, "python python3 torchrun accelerate deepspeed");
}

bool is_program(const Word& word) {
  return is_launcher(word) || word.text.characters.ends_with(".py") ||
         (!word.quoted && in_list(word.text.characters,
                                  "llamafactory-cli trl axolotl swift tune litgpt autotrain uv poetry"));
}

bool is_container(const Word& word) { return !word.quoted && in_list(word.text.characters, containers); }

bool is_mpi(const Word& word) { return !word.quoted && in_list(word.text.characters, mpi_launchers); }

bool starts_another(std::string_view program) {
  return in_list(program, containers) || in_list(program, mpi_launchers) ||
         std::any_of(std::begin(wrappers), std::end(wrappers),
                     [program](const Wrapper& row) { return row.program == program; });
}

size_t wrapper_at_front(const std::vector<Word>& words) {
  if (words.empty() || words[0].quoted) return 0;
  for (const Wrapper& row : wrappers) {
    size_t at = row.command.empty() ? 1 : 2;
    if (words[0].text.characters != row.program || words.size() <= at) continue;
    if (!row.command.empty() && !words[1].is(row.command)) continue;
    while (at < words.size() && is_flag(words[at]))
      at += in_list(words[at].text.characters, row.valued) ? 2 : 1;
    at += row.operands;
    return at < words.size() ? at : 0;
  }
  return 0;
}

bool takes_one_value(const Word& flag) {
  return in_list(
      flag.text.characters,
      "--nproc_per_node --nproc-per-node --nnodes --node_rank --node-rank --master_port --master-port "
      "--master_addr --master-addr --num_processes --num_machines --machine_rank --main_process_port "
      "--num_gpus --num_nodes -np");
}

bool is_prefix(const Word& word) {
  return !word.quoted && (in_list(word.text.characters, "$ % !") ||
                          std::any_of(std::begin(wrappers), std::end(wrappers), [&word](const Wrapper& row) {
                            return row.command.empty() && row.operands == 0 &&
                                   row.program == word.text.characters;
                          }));
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
