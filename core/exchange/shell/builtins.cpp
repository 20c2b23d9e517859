// Commands that change what follows, or whose output a script uses.
#include <algorithm>
#include <utility>

#include "core/exchange/shell/arithmetic.h"
#include "core/exchange/shell/interpreter.h"

namespace plimsoll::exchange::shell {

namespace {

// Those behind the first that are no options.
std::vector<const Word*> operands(const std::vector<Word>& words) {
  std::vector<const Word*> out;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].text.empty() || words[i].text.characters[0] != '-') out.push_back(&words[i]);
  }
  return out;
}

std::optional<size_t> number(std::string_view text) {
  const auto value = whole_number(text, [](std::string_view) { return std::nullopt; });
  return value && *value >= 0 && *value <= 10000 ? std::optional<size_t>(static_cast<size_t>(*value))
                                                 : std::nullopt;
}

}  // namespace

Interpreter::Builtin Interpreter::builtin(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    Builtin run;
  } rows[] = {
      {"export", &Interpreter::declare},
      {"declare", &Interpreter::declare},
      {"local", &Interpreter::declare},
      {"readonly", &Interpreter::declare},
      {"typeset", &Interpreter::declare},
      {"unset", &Interpreter::unset},
      {"shift", &Interpreter::shift},
      {"set", &Interpreter::set},
      {"echo", &Interpreter::echo},
      {"printf", &Interpreter::echo},
      {"eval", &Interpreter::evaluate},
      {"exit", &Interpreter::leave},
      {"return", &Interpreter::leave},
      {"break", &Interpreter::leave},
      {"continue", &Interpreter::leave},
      {"true", &Interpreter::yes},
      {":", &Interpreter::yes},
      {"false", &Interpreter::no},
      {"basename", &Interpreter::base_name},
      {"dirname", &Interpreter::folder},
      {"expr", &Interpreter::sum},
      {"seq", &Interpreter::sequence},
      {"tr", &Interpreter::translate},
      {"wc", &Interpreter::count},
      {"cat", &Interpreter::show},
      {"read", &Interpreter::read},
      {"awk", &Interpreter::fields},
  };
  for (const auto& row : rows) {
    if (row.name == name) return row.run;
  }
  return nullptr;
}

void Interpreter::say(const Text& text) {
  if (uncertain_ > 0) lost_ = true;
  if (capturing_ && printed_.size() + text.size() < 65536) printed_ += text;
}

Status Interpreter::declare(const std::vector<Word>& words) {
  for (const Word* word : operands(words)) {
    // Its value has its quotes no more, and needs none.
    const auto equals = assignment(word->text.characters);
    if (!equals) continue;
    Variable made;
    const std::string name = word->text.characters.substr(0, *equals);
    made.items.emplace_back("0", word->text.part(*equals + 1));
    made.name_span = word->text.part(0, *equals).origin().value_or(Span{});
    made.span = span_of(made.items.front().second, {});
    made.quoted = word->quoted;
    set_variable(name, std::move(made));
  }
  return true;
}

Status Interpreter::unset(const std::vector<Word>& words) {
  for (const Word* word : operands(words)) variables_.erase(word->text.characters);
  return true;
}

Status Interpreter::shift(const std::vector<Word>& words) {
  const size_t by = words.size() > 1 ? number(words[1].text.characters).value_or(1) : 1;
  arguments_.erase(arguments_.begin(),
                   arguments_.begin() + static_cast<std::ptrdiff_t>(std::min(by, arguments_.size())));
  return true;
}

Status Interpreter::set(const std::vector<Word>& words) {
  const auto dashes =
      std::find_if(words.begin(), words.end(), [](const Word& word) { return word.is("--"); });
  if (dashes == words.end()) return true;
  arguments_.clear();
  has_arguments_ = true;
  for (auto word = dashes + 1; word != words.end(); ++word) arguments_.push_back(word->text);
  return true;
}

Status Interpreter::echo(const std::vector<Word>& words) {
  const bool formats = words.front().is("printf") && words.size() > 2;
  if (formats && words[1].text.characters != "%s" && words[1].text.characters != "%s\\n") lost_ = true;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& text = words[i].text.characters;
    if (formats && i == 1) continue;
    if (i == 1 && !formats && (text == "-n" || text == "-e")) continue;
    if (text.find_first_of("$`") != std::string::npos) lost_ = true;
    say(words[i].text);
    if (i + 1 < words.size()) say(Text::made(" ", {}));
  }
  say(Text::made("\n", {}));
  return true;
}

Status Interpreter::evaluate(const std::vector<Word>& words) {
  Text script;
  for (size_t i = 1; i < words.size(); ++i) {
    script += words[i].text;
    script.push(' ', {});
  }
  run_text(script);
  return std::nullopt;
}

// An end before anything was started is that of a check, which this run passes.
Status Interpreter::leave(const std::vector<Word>& words) {
  if (uncertain_ > 0) return true;
  if (words.front().is("break")) flow_ = Flow::out_of_loop;
  if (words.front().is("continue")) flow_ = Flow::next_round;
  if (words.front().is("return") && calls_ > 0) flow_ = Flow::out_of_function;
  if (words.front().is("exit") && best_weight_ >= trains) flow_ = Flow::end;
  return true;
}

Status Interpreter::yes(const std::vector<Word>&) { return true; }
Status Interpreter::no(const std::vector<Word>&) { return false; }

Status Interpreter::base_name(const std::vector<Word>& words) {
  const auto given = operands(words);
  if (given.empty() || given[0]->text.characters.find_first_of("$`") != std::string::npos) lost_ = true;
  if (given.empty()) return std::nullopt;
  Text text = given[0]->text;
  while (text.size() > 1 && text.characters.back() == '/') text = text.part(0, text.size() - 1);
  const size_t slash = text.characters.rfind('/');
  if (slash != std::string::npos) text = text.part(slash + 1);
  if (given.size() > 1 && text.characters.ends_with(given[1]->text.characters))
    text = text.part(0, text.size() - given[1]->text.size());
  say(text);
  return true;
}

Status Interpreter::folder(const std::vector<Word>& words) {
  const auto given = operands(words);
  if (given.empty() || given[0]->text.characters.find_first_of("$`") != std::string::npos) lost_ = true;
  if (given.empty()) return std::nullopt;
  const size_t slash = given[0]->text.characters.rfind('/');
  say(slash == std::string::npos ? Text::made(".", {}) : given[0]->text.part(0, slash));
  return true;
}

Status Interpreter::sum(const std::vector<Word>& words) {
  std::string text;
  for (size_t i = 1; i < words.size(); ++i) text += words[i].text.characters + " ";
  const auto value = whole_number(text, [this](std::string_view name) { return number_of(name); });
  if (value) {
    say(Text::made(std::to_string(*value), words.front().span));
  } else {
    lost_ = true;
  }
  return true;
}

Status Interpreter::sequence(const std::vector<Word>& words) {
  const auto given = operands(words);
  constexpr size_t none = 20000;
  const size_t last = given.empty() ? none : number(given.back()->text.characters).value_or(none);
  const size_t first = given.size() > 1 ? number(given[0]->text.characters).value_or(none) : 1;
  if (first == none || last == none || given.size() > 2) {
    lost_ = true;
    return std::nullopt;
  }
  for (size_t i = first; i <= last && i < first + 100; ++i) say(Text::made(std::to_string(i) + "\n", {}));
  return true;
}

// tr ',' '\n' of what a pipe hands on.
Status Interpreter::translate(const std::vector<Word>& words) {
  const auto plain = [](std::string text) {
    if (text == "\\n") text = "\n";
    return text;
  };
  if (words.size() != 3 || plain(words[1].text.characters).size() != 1 ||
      plain(words[2].text.characters).size() != 1) {
    lost_ = true;
    return std::nullopt;
  }
  Text text = piped_;
  std::replace(text.characters.begin(), text.characters.end(), plain(words[1].text.characters)[0],
               plain(words[2].text.characters)[0]);
  say(text);
  return true;
}

// wc -l
Status Interpreter::count(const std::vector<Word>& words) {
  const std::string& text = piped_.characters;
  if (words.size() != 2 || !words[1].is("-l") || text.empty()) {
    lost_ = true;
    return std::nullopt;
  }
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  say(Text::made(std::to_string(lines), piped_.origin().value_or(Span{})));
  return true;
}

// cat <<EOF
Status Interpreter::show(const std::vector<Word>& words) {
  if (words.size() > 1 || piped_.empty()) lost_ = true;
  say(std::exchange(piped_, {}));
  return true;
}

// read -r -d '' NAME <<EOF
Status Interpreter::read(const std::vector<Word>& words) {
  if (words.size() < 2 || piped_.empty() || !assignment(words.back().text.characters + "="))
    return std::nullopt;
  Variable made;
  made.items.emplace_back("0", std::exchange(piped_, {}));
  set_variable(words.back().text.characters, std::move(made));
  return true;
}

// awk -F, '{print NF}'
Status Interpreter::fields(const std::vector<Word>& words) {
  std::string text;
  for (size_t i = 1; i < words.size(); ++i) text += words[i].text.characters;
  std::erase(text, ' ');
  if (text != "-F,{printNF}" || piped_.empty()) {
    lost_ = true;
    return std::nullopt;
  }
  const auto commas =
      static_cast<size_t>(std::count(piped_.characters.begin(), piped_.characters.end(), ','));
  say(Text::made(std::to_string(commas + 1), piped_.origin().value_or(Span{})));
  return true;
}

}  // namespace plimsoll::exchange::shell
