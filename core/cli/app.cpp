#include "core/cli/app.h"

#include <cstdio>
#include <memory>

#include "core/cli/answer.h"
#include "core/cli/commands.h"
#include "core/cli/completion.h"
#include "core/cli/flags.h"
#include "core/cli/input.h"
#include "core/cli/layout.h"
#include "core/cli/manual.h"
#include "core/cli/start.h"
#include "core/json/near.h"
#include "core/recipe/recipe.h"
#include "core/report/report.h"

namespace plimsoll::cli {

namespace {

constexpr const char* run_group = "The run, also on top of a request";

constexpr const char* about_errors =
    "A request that cannot be read gives exit code 3 and an empty standard output. What is wrong stands on "
    "standard error, as {\"ok\":false,\"errors\":[...]} when that is not a terminal.";

constexpr const char* about_lines =
    "With --lines the error object takes the line of its request on standard output, so that lines keep "
    "their order. The other lines are still answered, and the exit code is 3 at the end.";

constexpr const char* about_flags =
    "Names are found by their parts: 4090 is rtx-4090. A length of 4k is 4096 tokens; 8,192 and 1e4 are "
    "numbers. A flag goes before what the request says, and the answer tells so. Without a request and "
    "without --stack, bf16 (where the card has it), adapters on all linear layers and micro-batch 1 are "
    "taken, and said.";

std::string sentence_of(const std::string& pointer) {
  if (pointer == "/model") return "A preset, a Hugging Face id, or parts of its name.";
  for (const recipe::FieldInfo& field : recipe::fields()) {
    if (field.pointer == pointer) return field.what;
  }
  return "";
}

void add_format(CLI::App* command, Options& options) {
  auto* json = command->add_flag("--json", options.json, "JSON also on a terminal");
  command->add_flag("--table", options.table, "Tables also into a pipe or a file")->excludes(json);
}

// CLI::IsMember, and what was probably meant.
CLI::Validator one_of(const std::string& words) {
  std::string set = "{";
  for (char c : words) {
    if (c != ' ') set += c;
  }
  set += "}";
  return {[words, set](std::string& word) {
            const bool known = (", " + words + ",").find(", " + word + ",") != std::string::npos;
            return known ? "" : word + " not in " + set + "." + json::did_you_mean(word, words);
          },
          set};
}

void add_method(CLI::App* command, Options& options) {
  auto* method = command->add_option("--method", options.wishes.method, "What is trained")
                     ->check(one_of("lora, qlora, full"))
                     ->group(run_group);
  std::vector<CLI::Option*> short_forms = {method};
  for (const char* name : {"lora", "qlora", "full"}) {
    auto* flag = command->add_flag_callback(
        std::string("--") + name, [&options, name] { options.wishes.method = name; },
        std::string("--method ") + name);
    flag->group(run_group);
    for (CLI::Option* other : short_forms) flag->excludes(other);
    short_forms.push_back(flag);
  }
}

// Those of core/cli/wishes.cpp; what a flag means is its field's own sentence.
void add_run(CLI::App* command, Options& options) {
  add_method(command, options);
  for (const Flag& flag : flags()) {
    const std::string what = sentence_of(flag.pointer);
    CLI::Option* option =
        *flag.value == '\0'
            ? command->add_flag(flag.name, options.wishes.on[flag.pointer], what)
            : command->add_option(flag.name, options.wishes.given[flag.pointer], what)->type_name(flag.value);
    option->group(run_group);
  }
  command->add_option("--set", options.wishes.set, "Any field of a request, such as training.packing=true")
      ->type_name("FIELD=VALUE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(run_group);
}

void add_request(CLI::App* command, Options& options) {
  command->add_option(
      "FILE", options.file,
      "A model's name, or a file: a request, or any configuration; standard input when it is - or "
      "nothing names a model");
  command
      ->add_option("--with", options.wishes.beside,
                   "Another file of the same run: the accelerate YAML, the DeepSpeed JSON, the command that "
                   "starts it")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_run(command, options);
}

void add_report(CLI::App* command, Options& options) {
  add_request(command, options);
  add_format(command, options);
  command->add_flag("--all", options.all, "Every table: instants, sizes, notes, assumptions");
  command->add_flag("--lines", options.lines, "One request a line in, one report a line out")
      ->excludes("--table");
  command->add_flag("--quick", options.quick, "Leave out plans, limits and machines; --lines always does");
}

void add_check(CLI::App* command, Options& options) {
  add_request(command, options);
  add_format(command, options);
}

void add_advise(CLI::App* command, Options& options) {
  add_request(command, options);
  command
      ->add_option("--plan", options.plan,
                   "Print the configuration with this plan in it: usually tried first, nothing learned "
                   "changes, fewest changes, fastest")
      ->check(one_of("usual, same, fewest, fastest"));
  command->add_flag("--diff", options.diff, "The changed lines of the configuration only");
  add_format(command, options);
}

void add_compare(CLI::App* command, Options& options) {
  command->add_option("FILES", options.files, "Two models or files; or one, and flags that change it")
      ->required()
      ->expected(1, 2);
  add_run(command, options);
  add_format(command, options);
}

void add_export(CLI::App* command, Options& options) {
  command->add_option("--as", options.format,
                      "axolotl, llamafactory, torchtune, trl, hf, trl-python, unsloth, "
                      "ms-swift, cli, peft, deepspeed, accelerate, sagemaker, nested, request; "
                      "or environment, shell, checklist, markdown, csv, json");
  add_request(command, options);
  command->add_option("--before", options.request, "With --as markdown: what it is compared with");
  command->add_flag("--json", options.json, "What was left out as well");
}

void add_import(CLI::App* command, Options& options) {
  command->add_option("FILE", options.files, "Configurations, or folders of them; - for standard input")
      ->required();
  command->add_flag("--summary", options.summary, "How many were read, and what became of their keys");
  add_format(command, options);
}

void add_patch(CLI::App* command, Options& options) {
  command
      ->add_option("FILES", options.files,
                   "The configuration, and the changes: a plan's list, or the request it is to say")
      ->required()
      ->expected(2);
  command->add_flag("--diff", options.diff, "The changed lines only");
  command->add_flag("--json", options.json, "The keys that changed, and what has no place in such a file");
}

void add_diagnose(CLI::App* command, Options& options) {
  command->add_option("FILE", options.file, "The pasted text; standard input when it is - or left out");
  command->add_option("--request", options.request, "The run's request or configuration, even half of it");
  command->add_option("--phase", options.phase, "When it happened, where the text does not show it")
      ->check(CLI::IsMember(
          {"load", "forward", "loss", "backward", "optimizer", "eval", "save", "generate", "merge"}));
  command->add_option("--answer", options.answers, "An answer to the question of a diagnosis, as ID=CHOICE")
      ->expected(1)
      ->take_all();
  add_format(command, options);
}

void add_list(CLI::App* command, Options& options) {
  command->add_option("WORD", options.files, "A part of a name; of several, each must be in it");
  add_format(command, options);
}

void add_completion(CLI::App* command, Options& options) {
  command->add_option("SHELL", options.shell, "The shell that is to complete")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

void add_nothing(CLI::App*, Options&) {}

struct Command {
  const char* name;
  const char* what;
  const char* examples;
  void (*add)(CLI::App*, Options&);
  int (*run)(const Options&);  ///< null: made from the description of the command line itself
};

constexpr Command all_commands[] = {
    {"report", "Will it fit, and what fills the memory?",
     R"(  plimsoll report llama-3.1-8b --gpu 4090 --qlora --rank 16 --batch 2 --length 4k
  plimsoll report request.json --gpu a10g    a request, on another card
  plimsoll report --all request.json         every table
  plimsoll report --lines < requests.jsonl   one request a line in, one report a line out, in order)",
     add_report, command_report},
    {"check", "Does it fit? Exit code 0 fits, 1 tight, 2 no, 3 bad input",
     R"(  plimsoll check axolotl.yaml --gpu a10g
  plimsoll check qwen3-8b --gpu h100-sxm --gpus 8 --full --strategy zero3)",
     add_check, command_check},
    {"advise", "The smallest change that makes it fit, on every size; with --plan the exit code of check",
     R"(  plimsoll advise llama-3.1-8b --gpu 4090 --lora --length 8k
  plimsoll advise axolotl.yaml --gpu l4 --plan same > fixed.yaml   the same file, and now it fits)",
     add_advise, command_advise},
    {"compare", "Two requests: what each difference is worth",
     R"(  plimsoll compare before.json after.json
  plimsoll compare request.json --checkpointing --optim paged_adamw_8bit   without and with the flags)",
     add_compare, command_compare},
    {"export", "A request as a configuration of another tool",
     R"(  plimsoll export llama-3.1-8b --qlora --rank 16 --length 4k --as axolotl > qlora.yaml
  plimsoll export request.json --as deepspeed)",
     add_export, command_export},
    {"import", "A configuration of another tool to a request",
     R"(  plimsoll import axolotl.yaml
  plimsoll import configs/ --summary         what becomes of every key of a folder)",
     add_import, command_import},
    {"patch", "A configuration with changes written back into it",
     R"(  plimsoll patch axolotl.yaml changes.json   a plan's changes in it, comments kept)", add_patch,
     command_patch},
    {"diagnose", "An error of lacking memory, explained",
     R"(  plimsoll diagnose error.txt --request axolotl.yaml)", add_diagnose, command_diagnose},
    {"models", "The models that are known by name", R"(  plimsoll models
  plimsoll models qwen 7b                    whose names have both)",
     add_list, command_models},
    {"gpus", "The GPUs that are known by name", R"(  plimsoll gpus
  plimsoll gpus 3090)",
     add_list, command_gpus},
    {"fields", "What a request can say", R"(  plimsoll fields
  plimsoll fields offload)",
     add_list, command_fields},
    {"completion", "Completion for a shell",
     R"(  source <(plimsoll completion bash)         also in ~/.bashrc
  source <(plimsoll completion zsh)          also in ~/.zshrc
  plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish)",
     add_completion, nullptr},
    {"man", "This command's manual page", R"(  plimsoll man | man -l -)", add_nothing, nullptr},
};

// CLI11 breaks no lines.
class WithinWidth : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return broken(Formatter::make_option_desc(option));
  }

 private:
  std::string broken(const std::string& text) const {
    const std::size_t width = output_style().width;
    std::string out;
    for (const std::string& line :
         wrap(text, width > 2 * column_width_ ? width - column_width_ : column_width_))
      out += (out.empty() ? "" : "\n") + line;
    return out;
  }
};

std::string wrapped(const char* text) {
  std::string out = "\n";
  for (const std::string& line : wrap(text, output_style().width)) out += "\n" + line;
  return out;
}

bool takes_flags(const CLI::App* command) { return command->get_option_no_throw("--set") != nullptr; }

}  // namespace

void describe(CLI::App& app, Options& options) {
  app.name("plimsoll");
  app.description("Will this fine-tuning run fit on this GPU, and what fills its memory?");
  app.set_version_flag("--version", std::string(report::version()));
  app.require_subcommand(1);
  app.formatter(std::make_shared<WithinWidth>());
  std::string examples = "Examples:\n";
  for (const Command& row : all_commands) {
    CLI::App* command = app.add_subcommand(row.name, row.what);
    row.add(command, options);
    const std::string own = row.examples;
    examples += own.substr(0, own.find('\n')) + "\n";
    std::string footer = "Examples:\n" + own;
    if (takes_flags(command)) footer += wrapped(about_flags) + wrapped(about_errors);
    if (command->get_option_no_throw("--lines") != nullptr) footer += wrapped(about_lines);
    command->footer(footer);
  }
  app.footer(examples + "\nThe smallest request is {\"model\": \"mistralai/Mistral-7B-v0.3\"}.");
}

std::string near_words(const CLI::App& app, int argc, const char* const* argv) {
  std::string commands, names, lines;
  for (const Command& row : all_commands) commands += std::string(commands.empty() ? "" : ", ") + row.name;
  const std::string first = argc > 1 ? argv[1] : "";
  const auto named = app.get_subcommands([&](const CLI::App* one) { return one->get_name() == first; });
  if (named.empty()) {
    const std::string meant = json::did_you_mean(first, commands);
    return meant.empty() ? "" : "There is no command " + first + "." + meant + "\n";
  }
  for (const CLI::Option* option : named.front()->get_options()) {
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  }
  for (int i = 2; i < argc; ++i) {
    std::string word = argv[i];
    word = word.substr(0, word.find('='));
    if (word.substr(0, 2) != "--" || (", " + names + ",").find(", " + word + ",") != std::string::npos)
      continue;
    const std::string value = std::string(argv[i]).size() > word.size()
                                  ? std::string(argv[i]).substr(word.size() + 1)
                              : i + 1 < argc ? argv[i + 1]
                                             : "";
    const std::string known = takes_flags(named.front()) ? flag_called(word, value) : "";
    const std::string meant =
        known.empty() ? json::did_you_mean(word, names) : " Did you mean " + known + "?";
    if (!meant.empty()) lines += "There is no flag " + word + "." + meant + "\n";
  }
  return lines;
}

int run(const CLI::App& app, const Options& options) {
  const std::string name = app.get_subcommands().front()->get_name();
  for (const Command& row : all_commands) {
    if (row.name != name || row.run == nullptr) continue;
    return row.run(options);
  }
  print(name == "man" ? manual(app) : completion(app, options.shell));
  return finish(fits);
}

int start(int argc, const char* const* argv) {
  Options options;
  CLI::App app;
  describe(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (app.exit(problem) == 0) return fits;
    std::fputs(near_words(app, argc, argv).c_str(), stderr);
    return bad_input;
  }
  return run(app, options);
}

}  // namespace plimsoll::cli
