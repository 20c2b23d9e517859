#include "core/exchange/shell/follow.h"

#include <algorithm>
#include <utility>

#include "core/exchange/shell/arithmetic.h"
#include "core/exchange/shell/interpreter.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::shell {

namespace {

constexpr size_t most_steps = 2'000'000;
constexpr int most_rounds = 50;

// Of several commands the one that trains is meant: by what starts it, by its name, and by how much it says. What stands
// behind a flag is its value, unless it is the module or the script that is started.
int weight_of(const std::vector<Word>& words) {
  static constexpr std::string_view starts[] = {
      "torchrun", "accelerate", "deepspeed", "llamafactory-cli",  "swift",     "axolotl",
      "tune",     "trl",        "litgpt",    "torch.distributed", "autotrain", "megatron"};
  static constexpr std::string_view trains[] = {"train", "tune", "sft",  "dpo", "grpo",
                                                "ppo",   "kto",  "lora", "rlhf"};
  static constexpr std::string_view others[] = {"eval",     "infer",    "merge",      "serve",   "rollout",
                                                "export",   "convert",  "preprocess", "prepare", "tokenize",
                                                "generate", "download", "predict",    "deploy"};
  int weight = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text.characters;
    if (is_flag(words[i]) || assignment(text)) {
      ++weight;
      continue;
    }
    const bool value =
        i > 0 && is_flag(words[i - 1]) && !words[i - 1].is("-m") && !words[i - 1].is("--module");
    if (value && !text.ends_with(".py")) continue;
    const std::string name = ascii::lower(text.substr(text.rfind('/') + 1));
    const auto begins = [&](std::string_view start) { return name.starts_with(start); };
    const auto says = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    if (std::any_of(std::begin(starts), std::end(starts), begins)) weight += 3;
    if (std::any_of(std::begin(trains), std::end(trains), says)) weight += 3;
    if (std::any_of(std::begin(others), std::end(others), says)) weight -= 6;
  }
  return weight;
}

// bash -c, /bin/sh -lc
bool runs_a_text(const Word& shell, const Word& flag) {
  const std::string& name = shell.text.characters;
  const std::string& option = flag.text.characters;
  return (name == "bash" || name == "sh" || name.ends_with("/bash") || name.ends_with("/sh")) &&
         option.size() > 1 && option[0] == '-' && option.back() == 'c';
}

// mpirun -np 8 -x NCCL_DEBUG python train.py: "-np 8 python train.py".
void keep_processes(std::vector<Word>& words) {
  const auto started = std::find_if(words.begin() + 1, words.end(), is_program);
  if (started == words.end()) return;
  std::vector<Word> kept;
  for (auto word = words.begin() + 1; word + 1 < started; ++word) {
    if (!word->is("-np") && !word->is("-n") && !word->is("--np")) continue;
    kept = {*word, *(word + 1)};
    kept.front().text = Text::made("-np", word->span);
  }
  kept.insert(kept.end(), started, words.end());
  words = std::move(kept);
}

}  // namespace

Interpreter::Interpreter(const std::vector<std::pair<std::string, std::string>>& given) {
  for (const auto& [name, value] : given) variables_[name].items = {{"0", Text::made(value, {})}};
}

bool Interpreter::spend(size_t steps) {
  steps_ += steps;
  if (steps_ > most_steps) flow_ = Flow::end;
  return steps_ <= most_steps;
}

void Interpreter::run_script(std::string_view script) {
  script_ = script;
  run(parse(Text::of(script, 0, script.size())));
}

std::vector<Assigned> Interpreter::assigned() const {
  std::vector<Assigned> all;
  for (const std::string& name : order_) {
    const auto found = variables_.find(name);
    if (found == variables_.end() || found->second.items.empty() || found->second.list) continue;
    const Variable& variable = found->second;
    Word value;
    value.text = variable.items.front().second;
    value.span = variable.span;
    value.quoted = variable.quoted;
    all.push_back({name, variable.name_span, std::move(value)});
  }
  return all;
}

Followed Interpreter::followed() const { return {best_.empty() ? assigned() : before_, best_, files_}; }

// bash -c, eval, $(...): a script in a script.
void Interpreter::run_text(const Text& script) {
  constexpr int deepest = 20;
  if (++depth_ < deepest) {
    run(parse(script));
  } else {
    lost_ = true;
  }
  --depth_;
}

void Interpreter::set_variable(const std::string& name, Variable made) {
  constexpr size_t most = 10000;
  if (variables_.count(name) == 0) {
    if (variables_.size() >= most) return;
    order_.push_back(name);
  }
  variables_[name] = std::move(made);
}

Status Interpreter::run(const Block& block) {
  Status status = true;
  for (size_t i = 0; i < block.size(); ++i) {
    if (flow_ != Flow::on || !spend(10)) break;
    const Statement& statement = block[i];
    if (statement.join == Statement::Join::both && status == Status(false)) continue;
    if (statement.join == Statement::Join::either && status != Status(false)) continue;
    if (statement.join == Statement::Join::pipe) {
      piped_ = std::move(printed_);
      printed_ = {};
    }
    status = run(statement);
    if (statement.negated && status && statement.kind == Statement::Kind::simple) status = !*status;
  }
  return status;
}

Status Interpreter::run(const Statement& statement) {
  if (calls_ + depth_ > 100) return std::nullopt;
  switch (statement.kind) {
    case Statement::Kind::simple:
      return run_simple(statement);
    case Statement::Kind::group:
      return run(statement.blocks.front());
    case Statement::Kind::choice:
      return run_choice(statement);
    case Statement::Kind::loop:
      return run_loop(statement);
    case Statement::Kind::repeat:
      return run_repeat(statement);
    case Statement::Kind::select:
      return run_select(statement);
    case Statement::Kind::function:
      if (!statement.blocks.empty() && functions_.size() < 1000)
        functions_[statement.words.front().characters] =
            std::make_shared<const Block>(statement.blocks.front());
      return true;
  }
  return std::nullopt;
}

void Interpreter::run_uncertain(const Block& block) {
  ++uncertain_;
  run(block);
  --uncertain_;
}

Status Interpreter::run_choice(const Statement& statement) {
  bool open = false;  // whether a condition before was not settled
  size_t i = 0;
  for (; i + 1 < statement.blocks.size(); i += 2) {
    const Status holds = run(statement.blocks[i]);
    if (flow_ != Flow::on || holds == Status(false)) continue;
    if (holds && !open) return run(statement.blocks[i + 1]);
    run_uncertain(statement.blocks[i + 1]);
    if (holds) return std::nullopt;
    open = true;
  }
  if (i >= statement.blocks.size()) return open ? Status() : Status(true);
  if (!open) return run(statement.blocks[i]);
  run_uncertain(statement.blocks[i]);
  return std::nullopt;
}

// False when the loop ends with it.
bool Interpreter::round(const Block& body) {
  run(body);
  if (flow_ == Flow::next_round) flow_ = Flow::on;
  if (flow_ == Flow::out_of_loop) {
    flow_ = Flow::on;
    return false;
  }
  return flow_ == Flow::on;
}

Status Interpreter::run_loop(const Statement& statement) {
  if (statement.blocks.empty()) return std::nullopt;
  if (statement.words.empty()) {  // its first round
    std::string begins = statement.counts.characters.substr(0, statement.counts.characters.find(';'));
    std::erase(begins, ' ');
    assign(Text::made(std::move(begins), {}));
    round(statement.blocks[0]);
    return true;
  }
  const std::string name = statement.words[0].characters;
  int rounds = 0;
  bool goes_on = true;
  for (size_t i = 1; i < statement.words.size() && goes_on; ++i) {
    for (Word& word : words_of(statement.words[i])) {
      if (!goes_on || ++rounds > most_rounds) break;
      Variable made;
      made.span = word.span;
      made.quoted = word.quoted;
      const bool known = word.text.characters.find_first_of("$`") == std::string::npos;
      made.items.emplace_back("0", std::move(word.text));
      if (known) set_variable(name, std::move(made));
      goes_on = round(statement.blocks[0]);
    }
  }
  return true;
}

Status Interpreter::run_repeat(const Statement& statement) {
  if (statement.blocks.size() < 2) return std::nullopt;
  for (int rounds = 0; rounds < most_rounds; ++rounds) {
    const Status holds = run(statement.blocks[0]);
    if (!holds) {
      run_uncertain(statement.blocks[1]);
      if (flow_ == Flow::next_round || flow_ == Flow::out_of_loop) flow_ = Flow::on;
      return std::nullopt;
    }
    if (*holds == statement.negated || !round(statement.blocks[1])) break;
  }
  return true;
}

Status Interpreter::run_select(const Statement& statement) {
  const std::string word = value_of(statement.words.front()).characters;
  const bool known = word.find_first_of("$`") == std::string::npos;
  for (size_t i = 0; i < statement.blocks.size(); ++i) {
    if (!known) {
      run_uncertain(statement.blocks[i]);
      continue;
    }
    for (const Text& pattern : statement.patterns[i]) {
      if (matches(value_of(pattern).characters, word)) return run(statement.blocks[i]);
    }
  }
  return known ? Status(true) : Status();
}

Status Interpreter::run_simple(const Statement& statement) {
  if (statement.words.empty()) return true;
  const std::string& first = statement.words[0].characters;
  if (first == "[" || first == "[[" || first == "test")
    return test({statement.words.begin() + 1, statement.words.end()});
  if (first.starts_with("((") && first.size() > 4)
    return holds(std::string_view(first).substr(2, first.size() - 4),
                 [this](std::string_view name) { return number_of(name); });
  std::vector<Word> words;
  const bool declares = builtin(first) == &Interpreter::declare;
  bool leads = true;
  for (Text written : statement.words) {
    // "!accelerate launch" in a cell of a notebook.
    if (words.empty() && written.size() > 1 && written.characters[0] == '!' &&
        ascii::is_letter(written.characters[1]))
      written = written.part(1);
    const bool sets = leads || declares;
    if (sets && assignment(written.characters) && assign(written)) continue;
    std::vector<Word> more = words_of(written);
    words.insert(words.end(), more.begin(), more.end());
    leads = !words.empty() && is_prefix(words.back());
  }
  if (statement.document) hand_document(statement, words);
  return words.empty() ? Status(true) : run_words(std::move(words));
}

// What stands behind <<EOF goes into the command, or into the file that it writes.
void Interpreter::hand_document(const Statement& statement, const std::vector<Word>& words) {
  std::vector<Field> fields(1);
  if (!statement.literal) put(*statement.document, true, false, fields);
  piped_ = statement.literal ? *statement.document : std::move(fields.front().text);
  const bool written = !statement.target.empty() && !words.empty() && words[0].is("cat");
  const bool copied = words.size() > 1 && words[0].is("tee");
  if ((!written && !copied) || files_.size() >= 100) return;
  files_.emplace_back(written ? value_of(statement.target).characters : words.back().text.characters, piped_);
}

Status Interpreter::run_words(std::vector<Word> words) {
  const auto drop = [&words](size_t count) {
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  };
  for (size_t count = 1; count > 0;) {
    count = wrapper_at_front(words);
    if (count == 0 && words.size() > 1 && is_prefix(words.front())) count = 1;
    drop(count);
  }
  const std::string& name = words.front().text.characters;
  if (const auto function = functions_.find(name); function != functions_.end()) {
    std::vector<Text> arguments;
    for (size_t i = 1; i < words.size(); ++i) arguments.push_back(words[i].text);
    const std::shared_ptr<const Block> body = function->second;
    return call(*body, std::move(arguments));
  }
  if (const Builtin known = builtin(name); known != nullptr) return (this->*known)(words);
  if ((name == "bash" || name == "sh") && !piped_.empty() && (words.size() == 1 || words[1].is("-s"))) {
    run_text(std::exchange(piped_, {}));
    return std::nullopt;
  }
  for (size_t i = 0; i + 2 < words.size(); ++i) {
    if (!runs_a_text(words[i], words[i + 1])) continue;
    const std::vector<Word> outer = prefix_;
    prefix_.insert(prefix_.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i));
    run_text(words[i + 2].text);
    prefix_ = outer;
    return std::nullopt;
  }
  if (is_mpi(words.front())) keep_processes(words);
  if (is_tool(words.front()) || is_container(words.front())) {
    const auto launcher =
        std::find_if(words.begin() + 1, words.end(), is_container(words.front()) ? is_program : is_launcher);
    if (launcher == words.end()) {
      lost_ = true;
      return std::nullopt;
    }
    words.erase(words.begin(), launcher);
  }
  keep(std::move(words));
  return true;
}

Status Interpreter::call(const Block& body, std::vector<Text> arguments) {
  if (calls_ >= 20) return std::nullopt;
  ++calls_;
  std::swap(arguments_, arguments);
  const bool had = has_arguments_;
  has_arguments_ = true;
  const Status status = run(body);
  if (flow_ == Flow::out_of_function) flow_ = Flow::on;
  has_arguments_ = had;
  std::swap(arguments_, arguments);
  --calls_;
  return status;
}

void Interpreter::keep(std::vector<Word> words) {
  lost_ = true;  // whatever it prints
  if (capturing_) return;
  words.insert(words.begin(), prefix_.begin(), prefix_.end());
  const int weight = weight_of(words);
  if ((!best_.empty() && weight <= best_weight_) || !spend(order_.size())) return;
  best_weight_ = weight;
  best_ = std::move(words);
  before_ = assigned();
}

Followed follow(std::string_view script, const std::vector<std::pair<std::string, std::string>>& given) {
  Interpreter interpreter(given);
  interpreter.run_script(script);
  return interpreter.followed();
}

}  // namespace plimsoll::exchange::shell
