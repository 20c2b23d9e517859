// Statements of the shell: POSIX.1-2017, Shell Command Language, and what bash adds to it.
#include <algorithm>

#include "core/exchange/shell/program.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::shell {

namespace {

class Parser {
 public:
  explicit Parser(const Text& script) : script_(script), text_(script.characters) {}

  Block program() {
    Block all;
    while (at_ < text_.size()) {
      for (Statement& statement : block({})) all.push_back(std::move(statement));
      if (at_ < text_.size()) skip_stray();
    }
    return all;
  }

 private:
  static constexpr int deepest = 60;
  using Kind = Statement::Kind;
  using Join = Statement::Join;

  void skip_blanks() {
    while (at_ < text_.size()) {
      const bool escape = text_[at_] == '\\';
      if (escape && ends_line(at_ + 1)) {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
      } else if (is_blank(text_[at_]) || (escape && at_ + 1 < text_.size() && is_blank(text_[at_ + 1]))) {
        ++at_;
      } else if (text_[at_] == '#' && (at_ == 0 || is_blank(text_[at_ - 1]) || is_sign(text_[at_ - 1]))) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        break;
      }
    }
  }
  bool ends_line(size_t at) const {
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at >= text_.size() || text_[at] == '\n';
  }
  // The documents that the line asked for stand behind it.
  void end_line() {
    ++at_;
    for (const Pending& pending : documents_) {
      const size_t begin = at_;
      while (at_ < text_.size()) {
        const size_t line_at = at_;
        const size_t stop = std::min(text_.find('\n', at_), text_.size());
        std::string_view line(text_.data() + at_, stop - at_);
        at_ = std::min(stop + 1, text_.size());
        while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
        while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
        if (line == pending.end) {
          *pending.document = script_.part(begin, line_at - begin);
          break;
        }
      }
    }
    documents_.clear();
  }
  void skip_lines() {
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      if (text_[at_] == '\n') {
        end_line();
      } else if (text_[at_] == ';' && text_.compare(at_, 2, ";;") != 0) {
        ++at_;
      } else {
        break;
      }
    }
  }
  void skip_stray() { at_ += std::max<size_t>(1, peek().size()); }

  // The next word, if it is written plainly.
  std::string peek() const {
    size_t end = at_;
    while (end < text_.size() && !is_blank(text_[end]) && !is_sign(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take(std::string_view word) {
    skip_lines();
    if (peek() != word) return false;
    at_ += word.size();
    return true;
  }

  static bool closes(const std::string& word) {
    static constexpr std::string_view words[] = {"then", "elif", "else", "fi", "do", "done", "esac", "}"};
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
  }

  // Up to a word that closes, a ")" or ";;".
  Block block(std::initializer_list<std::string_view> ends) {
    Block all;
    if (depth_ >= deepest) {
      at_ = text_.size();
      return all;
    }
    ++depth_;
    Join join = Join::next;
    for (skip_lines(); at_ < text_.size(); skip_lines()) {
      const std::string word = peek();
      const bool mine = std::find(ends.begin(), ends.end(), word) != ends.end();
      if (mine || text_[at_] == ')' || text_.compare(at_, 2, ";;") == 0) break;
      if (closes(word)) {
        if (depth_ > 1) break;
        at_ += word.size();
        continue;
      }
      const size_t before = at_;
      Statement next = statement();
      next.join = join;
      join = take_join();
      all.push_back(std::move(next));
      if (at_ == before) ++at_;
    }
    --depth_;
    return all;
  }

  Join take_join() {
    skip_blanks();
    const auto sign = [this](std::string_view wanted) {
      if (text_.compare(at_, wanted.size(), wanted) != 0) return false;
      at_ += wanted.size();
      return true;
    };
    if (sign("&&")) return Join::both;
    if (sign("||")) return Join::either;
    if (sign("|&") || sign("|")) return Join::pipe;
    sign("&");
    return Join::next;
  }

  Statement statement() {
    if (text_[at_] == '(' && text_.compare(at_, 2, "((") != 0) return group(")");
    const std::string word = peek();
    if (word == "{") return group("}");
    if (word == "if") return choice();
    if (word == "for" || word == "select") return loop();
    if (word == "while" || word == "until") return repeat();
    if (word == "case") return select();
    if (word == "function") {
      at_ += word.size();
      skip_blanks();
    }
    if (word == "function" || is_function()) return function();
    return simple();
  }

  Statement group(std::string_view end) {
    Statement made;
    made.kind = Kind::group;
    ++at_;
    made.blocks.push_back(block({end}));
    if (at_ < text_.size() && text_.compare(at_, end.size(), end) == 0) ++at_;
    return made;
  }

  Statement choice() {
    Statement made;
    made.kind = Kind::choice;
    at_ += 2;
    do {
      made.blocks.push_back(block({"then"}));
      if (!take("then")) break;
      made.blocks.push_back(block({"elif", "else", "fi"}));
    } while (take("elif"));
    if (take("else")) made.blocks.push_back(block({"fi"}));
    take("fi");
    return made;
  }

  Statement loop() {
    Statement made;
    made.kind = Kind::loop;
    at_ += peek().size();
    skip_blanks();
    if (text_.compare(at_, 2, "((") == 0) {
      const size_t end = behind_brackets(text_, at_ + 1);
      made.counts = script_.part(at_ + 2, end - at_ - 4);
      at_ = end;
    } else {
      made.words.push_back(take_word(script_, at_));
      skip_blanks();
      if (peek() == "in") {
        at_ += 2;
        take_words(made.words);
      }
    }
    if (take("do")) made.blocks.push_back(block({"done"}));
    take("done");
    return made;
  }

  Statement repeat() {
    Statement made;
    made.kind = Kind::repeat;
    made.negated = peek() == "until";
    at_ += 5;
    made.blocks.push_back(block({"do"}));
    if (take("do")) made.blocks.push_back(block({"done"}));
    take("done");
    return made;
  }

  Statement select() {
    Statement made;
    made.kind = Kind::select;
    at_ += 4;
    skip_blanks();
    made.words.push_back(take_word(script_, at_));
    take("in");
    for (skip_lines(); at_ < text_.size() && peek() != "esac"; skip_lines()) {
      std::vector<Text> patterns;
      if (text_[at_] == '(') ++at_;
      while (at_ < text_.size() && text_[at_] != ')') {
        const size_t before = at_;
        patterns.push_back(take_word(script_, at_));
        skip_blanks();
        if (at_ < text_.size() && (text_[at_] == '|' || at_ == before)) ++at_;
        skip_blanks();
      }
      if (at_ >= text_.size()) break;
      ++at_;
      made.blocks.push_back(block({"esac"}));
      made.patterns.push_back(std::move(patterns));
      skip_lines();
      if (text_.compare(at_, 2, ";;") == 0)
        at_ += text_.compare(at_, 3, ";;&") == 0 ? 3 : 2;
      else if (at_ < text_.size() && peek() != "esac")
        skip_stray();
    }
    take("esac");
    return made;
  }

  // name() { ... }
  bool is_function() const {
    size_t end = at_;
    while (end < text_.size() && (ascii::is_word(text_[end]) || text_[end] == '-')) ++end;
    if (end == at_) return false;
    while (end < text_.size() && is_blank(text_[end])) ++end;
    if (end >= text_.size() || text_[end] != '(') return false;
    do ++end;
    while (end < text_.size() && is_blank(text_[end]));
    return end < text_.size() && text_[end] == ')';
  }
  Statement function() {
    Statement made;
    made.kind = Kind::function;
    made.words.push_back(take_word(script_, at_));
    skip_blanks();
    while (at_ < text_.size() && (text_[at_] == '(' || text_[at_] == ')' || is_blank(text_[at_]))) ++at_;
    skip_lines();
    if (at_ < text_.size()) made.blocks.push_back({statement()});
    return made;
  }

  Statement simple() {
    Statement made;
    while (peek() == "!") {
      made.negated = !made.negated;
      ++at_;
      skip_blanks();
    }
    if (text_.compare(at_, 2, "((") == 0) {
      const size_t end = behind_brackets(text_, at_ + 1);
      made.words.push_back(script_.part(at_, end - at_));
      at_ = end;
      return made;
    }
    const bool test = peek() == "[[";
    const size_t pending = documents_.size();
    target_ = {};
    take_words(made.words, test ? "]]" : "");
    if (documents_.size() > pending) {
      made.document = documents_.back().document;
      made.literal = documents_.back().literal;
    }
    made.target = std::move(target_);
    return made;
  }

  // Whether the next line begins with a flag, comments and empty lines aside.
  bool flag_follows() const {
    size_t at = at_;
    while (at < text_.size() && text_[at] == '\n') {
      ++at;
      while (at < text_.size() && is_blank(text_[at])) ++at;
      if (at < text_.size() && text_[at] == '#') at = std::min(text_.find('\n', at), text_.size());
    }
    return at + 2 < text_.size() && text_[at] == '-' &&
           (text_[at + 1] == '-' || ascii::is_letter(text_[at + 1]));
  }

  // Up to the end of a command; of a test in double brackets, up to those.
  void take_words(std::vector<Text>& words, std::string_view last = "") {
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      const char c = text_[at_];
      if (!last.empty() && is_sign(c) && c != '\n' && c != ';') {
        const size_t length = text_.compare(at_, 2, "&&") == 0 || text_.compare(at_, 2, "||") == 0 ? 2 : 1;
        words.push_back(script_.part(at_, length));
        at_ += length;
        continue;
      }
      if (c == '\n' && !words.empty() && documents_.empty() && flag_follows()) {
        while (at_ < text_.size() && text_[at_] != '-') {
          at_ = text_[at_] == '#' ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;
        }
        continue;
      }
      if (take_redirection()) continue;
      if (is_sign(c) && behind_placeholder(text_, at_) == at_) break;
      words.push_back(take_word(script_, at_));
      if (!last.empty() && words.back().characters == last) break;
    }
  }

  // 2>&1, >> log, <<EOF: where input comes from and output goes is no setting.
  bool take_redirection() {
    size_t at = at_;
    while (at < text_.size() && ascii::is_digit(text_[at])) ++at;
    if (at < text_.size() && text_[at] == '&' && at == at_) ++at;
    if (at >= text_.size() || (text_[at] != '>' && text_[at] != '<')) return false;
    const bool outputs = text_[at] == '>' && at == at_;
    const bool document = text_.compare(at, 2, "<<") == 0 && text_.compare(at, 3, "<<<") != 0;
    if (!document && (behind_placeholder(text_, at) != at || text_.compare(at, 2, "<(") == 0)) return false;
    while (at < text_.size() && std::string_view("<>&-|").find(text_[at]) != std::string_view::npos) ++at;
    at_ = at;
    skip_blanks();
    Text target = take_word(script_, at_);
    if (document) {
      Pending pending{target.characters, std::make_shared<Text>()};
      const auto marks =
          std::erase_if(pending.end, [](char c) { return c == '\'' || c == '"' || c == '\\'; });
      pending.literal = marks > 0;
      documents_.push_back(std::move(pending));
    } else if (outputs) {
      target_ = std::move(target);
    }
    return true;
  }

  const Text& script_;
  const std::string& text_;
  size_t at_ = 0;
  int depth_ = 0;
  // A document that the line asked for.
  struct Pending {
    std::string end;
    std::shared_ptr<Text> document;
    bool literal = false;
  };
  std::vector<Pending> documents_;
  Text target_;  // of the command that is read
};

}  // namespace

Block parse(const Text& script) { return Parser(script).program(); }

}  // namespace plimsoll::exchange::shell
