#include "core/cli/manual.h"

#include "core/report/report.h"

namespace plimsoll::cli {

namespace {

// A dash that can be copied, and no line that begins like a request of troff.
std::string roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else {
      out += c == '-' ? "\\-" : std::string(1, c);
    }
    begins = c == '\n';
  }
  return out;
}

std::string option_lines(const CLI::Option& option) {
  std::string name = option.get_name(false, true);
  if (option.get_expected_max() != 0) name += " " + option.get_type_name();
  return ".TP\n.B " + roff(name) + "\n" + roff(option.get_description()) + "\n";
}

std::string command_lines(const CLI::App& command) {
  std::string out =
      ".SS plimsoll " + roff(command.get_name()) + "\n" + roff(command.get_description()) + "\n";
  for (const CLI::Option* option : command.get_options()) out += option_lines(*option);
  return out + ".PP\n.nf\n" + roff(command.get_footer()) + "\n.fi\n";
}

}  // namespace

std::string manual(const CLI::App& app) {
  std::string out =
      ".TH PLIMSOLL 1 \"\" \"plimsoll " + std::string(report::version()) + "\" \"User Commands\"\n";
  out += ".SH NAME\nplimsoll \\- memory of a fine\\-tuning run on a GPU\n";
  out += ".SH SYNOPSIS\n.B plimsoll\n.I command\n[\n.I options\n]\n";
  out += ".SH DESCRIPTION\n" + roff(app.get_description()) + "\n.SH COMMANDS\n";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    out += command_lines(*command);
  out += R"(.SH EXIT STATUS
0 for an answer; check also gives 1 where it is tight and 2 where it does not fit; 3 for bad input.
.SH ENVIRONMENT
.TP
.B NO_COLOR
No colour, whatever the terminal can.
.TP
.B COLUMNS
The width of tables, before that of the terminal.
.TP
.B HF_HUB_CACHE, HF_HOME
Where the local Hugging Face cache is; a model that is not known by name is looked for there.
.SH FILES
.TP
.I ~/.cache/huggingface/hub
The cache where no variable names one. Nothing is fetched.
)";
  return out;
}

}  // namespace plimsoll::cli
