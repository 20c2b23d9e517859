#include "core/exchange/versions.h"

#include <algorithm>
#include <array>

#include "core/exchange/formats.h"
#include "core/exchange/import.h"
#include "core/exchange/notebook.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

using ascii::is_alnum;
using ascii::is_digit;

constexpr size_t most_bytes = size_t{1} << 20;  // a list of everything that is installed has some 30 kB

struct Library {
  std::string_view name;     // in lower case
  std::string_view pointer;  // of the request
};
constexpr Library libraries[] = {
    {"transformers", "/versions/transformers"},
    {"trl", "/versions/trl"},
    {"peft", "/versions/peft"},
    {"pytorch", "/versions/torch"},
    {"torch", "/versions/torch"},
    {"bitsandbytes", "/versions/bitsandbytes"},
    {"litgpt", "/versions/litgpt"},
    {"unsloth", "/versions/unsloth"},
    {"llamafactory", "/versions/llamafactory"},
};

// How much a form is worth; the higher one counts.
enum class Strength : uint8_t { none, sentence, pinned, listed, printed };

struct Said {
  Strength strength = Strength::none;
  std::string version;
};

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool begins(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

// A place in the text that moves on over what it is asked for.
struct Cursor {
  std::string_view text;  // in lower case
  size_t at = 0;

  std::string_view rest() const { return text.substr(at); }
  bool ended() const { return at >= text.size(); }
  bool take(std::string_view word) {
    if (!begins(rest(), word)) return false;
    at += word.size();
    return true;
  }
  size_t take_all(std::string_view characters) {
    const size_t from = at;
    while (!ended() && characters.find(text[at]) != std::string_view::npos) ++at;
    return at - from;
  }
};

// "4.51.3", "0.41.3.post2", "2025.8.2", "0.12.0.dev0+14ef1ab"; nothing when it is a size or a factor.
std::string take_version(Cursor& cursor) {
  const size_t from = cursor.at;
  size_t end = from, dots = 0;
  while (end < cursor.text.size() && (is_digit(cursor.text[end]) || cursor.text[end] == '.')) {
    if (cursor.text[end] == '.' && (end + 1 >= cursor.text.size() || !is_alnum(cursor.text[end + 1]))) break;
    dots += cursor.text[end] == '.' ? 1 : 0;
    ++end;
  }
  if (end == from || !is_digit(cursor.text[from]) || dots == 0) return "";
  for (const std::string_view tail : {"post", "dev", "rc", "a", "b"}) {  // PEP 440
    if (!begins(cursor.text.substr(end), tail)) continue;
    size_t after = end + tail.size();
    if (after >= cursor.text.size() || !is_digit(cursor.text[after])) continue;
    while (after < cursor.text.size() && is_digit(cursor.text[after])) ++after;
    end = after;
    break;
  }
  const char next = end < cursor.text.size() ? cursor.text[end] : '\n';
  if (is_alnum(next) || next == '_' || next == '%') return "";
  std::string_view behind = cursor.text.substr(end);
  while (!behind.empty() && behind.front() == ' ') behind.remove_prefix(1);
  for (const std::string_view unit : {"gib", "gb", "mib", "mb", "kib", "%"}) {
    if (begins(behind, unit)) return "";
  }
  cursor.at = end;
  return std::string(cursor.text.substr(from, end - from));
}

// As much of the line at `at` as anybody writes on one: a text without line ends costs no more.
std::string_view line_around(std::string_view text, size_t at) {
  constexpr size_t longest = 300;
  const size_t from = at < longest ? 0 : at - longest;
  const std::string_view near = text.substr(from, 2 * longest);
  const size_t before = near.substr(0, at - from).rfind('\n');
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return near.substr(begin, std::min(near.find('\n', at - from), near.size()) - begin);
}

// "peft 0.14" in "from peft 0.14 on" or "will be removed in Transformers 5.2" is not what is installed.
bool speaks_of_another(std::string_view text, size_t name_at, size_t version_end) {
  const std::string_view line = line_around(text, name_at);
  for (const std::string_view word : {"deprecat", "will be removed", "will raise", "required", "requires"}) {
    if (line.find(word) != std::string_view::npos) return true;
  }
  std::string_view before = line.substr(0, static_cast<size_t>(text.data() + name_at - line.data()));
  while (!before.empty() && (is_space(before.back()) || before.back() == '`')) before.remove_suffix(1);
  const size_t blank = before.find_last_of(" \t\n(");
  const std::string_view last = before.substr(blank == std::string_view::npos ? 0 : blank + 1);
  static constexpr std::string_view words[] = {"in",    "from",  "since", "until", "before", "after", "than",
                                               "needs", "least", "to",    "of",    "for",    "upto",  "till"};
  if (std::find(std::begin(words), std::end(words), last) != std::end(words)) return true;
  std::string_view behind = text.substr(version_end, 20);
  while (!behind.empty() && is_space(behind.front())) behind.remove_prefix(1);
  for (const std::string_view tail : {"or ", "and later", "and newer", "and above", "+"}) {
    if (begins(behind, tail)) return true;
  }
  return false;
}

// The version behind a library's name that ends at `cursor`, in one of the forms:
//   transformers==4.51.3   torch=2.2.2=py3.10_0   transformers[torch]==4.51.3       pinned
//   transformers    4.51.3      "trl": "0.15.1"     | peft | 0.14.0 |               a list's column or key
//   - `transformers` version: 4.51.3    PyTorch version (GPU?): 2.5.1+cu124         an environment's line
//   torch.__version__ 2.1.2     torch (on a line, and the next) 2.1.1
//   Transformers: 4.55.0. in Unsloth's banner                                       the same
//   transformers version 4.47.1    peft v0.10                                       a sentence
Said read_behind(Cursor cursor, size_t name_at) {
  constexpr std::string_view blanks = " \t", marks = "`*'\"";
  if (cursor.take("[")) {  // extras of pip
    const size_t close = cursor.rest().substr(0, 80).find(']');
    if (close == std::string_view::npos) return {};
    cursor.at += close + 1;
  }
  Strength strength = Strength::sentence;
  if (cursor.take(".__version__")) strength = Strength::listed;
  const char next = cursor.ended() ? '\n' : cursor.text[cursor.at];
  if (is_alnum(next) || next == '_' || next == '-' || next == '/' || next == '.' || next == '@') return {};
  cursor.take_all(marks);
  size_t apart = cursor.take_all(blanks);
  if (cursor.take("\r\n") || cursor.take("\n")) {
    // The name stands alone on its line; the value, or "Version: 4.51.3", on the next.
    std::string_view line = line_around(cursor.text, name_at);
    while (!line.empty() && !is_alnum(line.front())) line.remove_prefix(1);
    const bool alone = line.size() <= cursor.at - name_at + 1 || begins(line, "name");
    if (!alone) return {};
    strength = Strength::listed;
    cursor.take_all(blanks);
  }
  const bool word = cursor.take("version") || cursor.take("release");
  if (word) {
    cursor.take_all(marks);
    apart = cursor.take_all(blanks);
    if (cursor.take("(gpu?)") || cursor.take("(cpu?)")) apart = cursor.take_all(blanks);
  }
  const bool in_columns = apart > 1 || (apart == 1 && cursor.text[cursor.at - 1] == '\t');
  if (cursor.take("==")) {
    strength = std::max(strength, Strength::pinned);
  } else if (cursor.take("=")) {
    strength = std::max(strength, word ? Strength::listed : Strength::pinned);
  } else if (cursor.take(":") || cursor.take("\xEF\xBC\x9A") || cursor.take("|") || in_columns) {
    strength = Strength::listed;
  } else if (apart == 0 && strength != Strength::listed) {
    return {};
  } else if (word) {
    cursor.take("is ");
  }
  cursor.take_all(blanks);
  cursor.take_all(marks);
  cursor.take("v");
  std::string version = take_version(cursor);
  if (version.empty()) return {};
  if (strength == Strength::sentence && speaks_of_another(cursor.text, name_at, cursor.at)) return {};
  return {strength, std::move(version)};
}

// "Unsloth 2025.8.2: Fast Llama patching.", "Unsloth 2024.5 patched 32 layers", and before mid 2024
// "Unsloth: Fast Llama patching release 2024.5".
Said read_banner(std::string_view text, size_t name_end) {
  std::string_view line = line_around(text, name_end);
  line.remove_prefix(static_cast<size_t>(text.data() + name_end - line.data()));
  if (line.find("patch") == std::string_view::npos) return {};
  const size_t release = line.find(" release ");
  Cursor cursor{text, name_end + (release == std::string_view::npos ? 1 : release + 9)};
  std::string version = take_version(cursor);
  if (version.empty()) return {};
  return {Strength::printed, std::move(version)};
}

}  // namespace

recipe::Values versions_in(std::string_view given) {
  const std::string text = ascii::lower(given.substr(0, most_bytes));
  std::array<Said, std::size(libraries)> best;
  for (size_t i = 0; i < std::size(libraries); ++i) {
    const std::string_view name = libraries[i].name;
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + name.size())) {
      const char before = at == 0 ? '\n' : text[at - 1];
      if (is_alnum(before) || std::string_view("_-./@").find(before) != std::string_view::npos) continue;
      const Cursor behind{text, at + name.size()};
      Said said = read_behind(behind, at);
      if (name == "unsloth") {
        if (Said banner = read_banner(text, behind.at); banner.strength > said.strength) said = banner;
      }
      if (said.strength > best[i].strength) best[i] = std::move(said);
    }
  }
  recipe::Values values;
  std::array<Strength, std::size(libraries)> taken{};
  for (size_t i = 0; i < std::size(libraries); ++i) {
    if (best[i].strength == Strength::none) continue;
    const std::string pointer(libraries[i].pointer);
    // Two names of one library: the stronger form again.
    const bool other = i > 0 && libraries[i - 1].pointer == libraries[i].pointer;
    if (other && taken[i - 1] >= best[i].strength) continue;
    taken[i] = best[i].strength;
    values[pointer] = best[i].version;
  }
  return values;
}

namespace {

// "2024-05-08" of a log, as "2024.5"; "" none.
std::string month_in(std::string_view text) {
  constexpr std::string_view form = "20##-##-##";
  for (size_t at = text.find("20"); at != std::string_view::npos; at = text.find("20", at + 1)) {
    const std::string_view date = text.substr(at, form.size());
    const char before = at == 0 ? ' ' : text[at - 1];
    if (date.size() < form.size() || is_alnum(before) || before == '-') continue;
    const bool is_date = std::equal(form.begin(), form.end(), date.begin(), [](char wanted, char given) {
      return wanted == '#' ? is_digit(given) : wanted == given;
    });
    const size_t month = date[5] == '0' ? 6 : 5;
    if (is_date) return std::string(date.substr(0, 4)) + "." + std::string(date.substr(month, 7 - month));
  }
  return "";
}

}  // namespace

std::string unsloth_release(std::string_view text) {
  // Releases of Transformers on PyPI, and their months.
  constexpr std::pair<std::string_view, const char*> months[] = {
      {"4.57", "2025.10"}, {"4.55", "2025.8"}, {"4.52", "2025.5"}, {"4.49", "2025.2"}, {"4.47", "2024.12"},
      {"4.46", "2024.10"}, {"4.43", "2024.7"}, {"4.40", "2024.4"}, {"4.38", "2024.2"}};
  const recipe::Values said = versions_in(text);
  const auto version = [&said](const char* pointer) {
    const auto found = said.find(pointer);
    return found == said.end() ? std::string() : found->second.get<std::string>();
  };
  if (std::string unsloth = version("/versions/unsloth"); !unsloth.empty()) return unsloth;
  const std::string transformers = version("/versions/transformers");
  for (const auto& [release, month] : months) {
    if (transformers.empty() || recipe::version_at_least(transformers, "5")) break;
    if (recipe::version_at_least(transformers, release)) return month;
  }
  return month_in(text.substr(0, most_bytes));
}

const Format installed{
    .id = "versions",
    .name = "List of installed libraries",
    .written = Language::none,
    .marks = "",
};

namespace {

// "transformers 4.51.3, trl 0.19.1"
std::string listed(const recipe::Values& versions) {
  std::string out;
  for (const auto& [pointer, version] : versions)
    out +=
        (out.empty() ? "" : ", ") + pointer.substr(pointer.rfind('/') + 1) + " " + version.get<std::string>();
  return out;
}

std::string_view next_line(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

// "# !pip install transformers==4.30" installs nothing.
std::string without_idle_installs(std::string_view code) {
  std::string out;
  while (!code.empty()) {
    const std::string_view line = next_line(code), inner = ascii::trim(line);
    const bool comment = !inner.empty() && inner.front() == '#';
    if (!comment || inner.find("install ") == std::string_view::npos) out.append(line).append("\n");
  }
  return out;
}

// "pip install -q transformers peft" of a cell brings the newest, and its saved output is of another day.
void drop_what_cells_renew(std::string_view code, recipe::Values& printed) {
  while (!code.empty()) {
    const std::string line = ascii::lower(next_line(code));
    const size_t install = line.find("pip install");
    if (install == std::string::npos) continue;
    for (const Library& library : libraries) {
      for (size_t at = line.find(library.name, install); at != std::string::npos;
           at = line.find(library.name, at + 1)) {
        const size_t end = at + library.name.size();
        const bool alone = (line[at - 1] == ' ' || line[at - 1] == '"' || line[at - 1] == '\'') &&
                           (end == line.size() || line[end] == ' ' || line[end] == '"' || line[end] == '\'');
        if (alone) printed.erase(std::string(library.pointer));
      }
    }
  }
}

// Outputs of a notebook that deny what its cells install were saved by an older run.
bool denies(const recipe::Values& printed, const recipe::Values& installed) {
  return std::any_of(installed.begin(), installed.end(), [&printed](const auto& pin) {
    const auto found = printed.find(pin.first);
    return found == printed.end() || found->second != pin.second;
  });
}

}  // namespace

void add_versions(Import& import, const Document& document, std::string_view text) {
  const bool source = document.language == Language::python || document.language == Language::shell;
  const std::string code = without_idle_installs(document.code.empty() && source ? text : document.code);
  recipe::Values printed = versions_in(is_notebook(text) ? code + "\n" + notebook_outputs(text)
                                       : source          ? code
                                                         : std::string(text));
  const recipe::Values installed_by_cells = versions_in(document.code.empty() ? document.code : code);
  if (is_notebook(text)) drop_what_cells_renew(code, printed);
  const bool older = denies(printed, installed_by_cells);
  const recipe::Values& versions = older ? installed_by_cells : printed;
  if (versions.empty()) return;
  if (!import.errors.empty()) {
    const std::string& code = import.errors.front().code;
    const bool settings = text.find_first_not_of(" \t\r\n") == text.find('{');  // of something unknown
    if (settings || (code != "unknown_format" && code != "not_yaml" && code != "needs_tree")) return;
    import = {};
    import.format = &installed;
    import.partial = true;
    import.request = json::Json::object();
  }
  recipe::Values taken;
  for (const auto& [pointer, version] : versions) {
    const std::string library = pointer.substr(pointer.rfind('/') + 1);
    json::Json& said = import.request["versions"];
    if (!said.is_null() && !said.is_object()) return;
    if (said.contains(library)) continue;
    said[library] = version;
    taken[pointer] = version;
  }
  if (taken.empty()) return;
  import.notes.push_back("Versions, as the text says them: " + listed(taken) + ".");
  if (older)
    import.notes.push_back("Its outputs are of an older run, with " + listed(printed) +
                           ": what its cells install is taken.");
}

}  // namespace plimsoll::exchange
