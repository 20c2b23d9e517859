#include "core/diagnosis/traceback.h"

#include <algorithm>
#include <optional>

#include "core/diagnosis/settings_lines.h"
#include "core/diagnosis/traceback_frames.h"
#include "core/diagnosis/words.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_word;

constexpr std::size_t longest_traceback = 256U << 10U;

constexpr std::string_view phases[] = {"other",     "load", "forward", "loss",     "backward",
                                       "optimizer", "eval", "save",    "generate", "merge"};

// No name is longer; words of frames in one word of megabytes are each asked for its end.
std::size_t end_of_word(CountedText folded, std::size_t at) {
  constexpr std::size_t longest = 200;
  const std::size_t most = std::min(folded.size(), at + longest);
  while (at < most && is_word(folded[at])) ++at;
  return at;
}

// "resume_from_checkpoint: null", "use_vllm=False": a setting that is off is no frame.
bool is_switched_off(CountedText folded, std::size_t at) {
  at = end_of_word(folded, at);
  while (at < folded.size() && (folded[at] == '"' || folded[at] == '\'' || folded[at] == ' ')) ++at;
  if (at >= folded.size() || (folded[at] != ':' && folded[at] != '=')) return false;
  ++at;
  while (at < folded.size() && folded[at] == ' ') ++at;
  const std::string_view value = folded.substr(at, 5).all();
  return value.substr(0, 4) == "null" || value.substr(0, 4) == "none" || value == "false" ||
         value.substr(0, 1) == "\n" || value.empty();
}

// "train(resume_from_checkpoint=args.resume)": in the code of a traceback, a parameter that is passed on. The frame below
// it would be of a function that resumes.
bool is_passed_on(CountedText folded, const FrameWords& frame, std::size_t at) {
  if (frame.words != "resume") return false;
  const std::size_t end = end_of_word(folded, at);
  while (at > 0 && (is_word(folded[at - 1]) || folded[at - 1] == '.')) --at;
  return (end < folded.size() && folded[end] == '=') || (at > 0 && folded[at - 1] == '=');
}

// "Loading checkpoint shards: 100%" says that loading is over; "lm_head.weight" is a parameter's name.
bool is_done_or_a_name(CountedText folded, const FrameWords& frame, std::size_t at) {
  const std::string_view behind = folded.substr(std::min(at + frame.words.size(), folded.size()), 12).all();
  if (frame.words == "loading checkpoint shards") return behind.substr(0, 6) == ": 100%";
  const bool quoted = at > 0 && (folded[at - 1] == '"' || folded[at - 1] == '\'') && !behind.empty() &&
                      behind.front() == folded[at - 1];
  return frame.words == "lm_head" && (quoted || behind.substr(0, 7) == ".weight");
}

// "merge_lora(path)" and "loss.backward" are code; "the rollout stage" is prose.
bool is_code(CountedText folded, std::size_t end) {
  end = end_of_word(folded, end);
  return end < folded.size() && std::string_view("(.=[").find(folded[end]) != std::string_view::npos &&
         (end + 1 >= folded.size() || folded[end] != '.' || is_word(folded[end + 1]));
}

// Lines that a traceback consists of, in the forms of Python, rich and IPython, and of pybind's "At:".
bool names_a_place(CountedText line) {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  if (line.starts_with("[rank")) line.remove_prefix(std::min(line.find(':') + 1, line.size()));
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return line.starts_with("file \"") || line.starts_with("file ~") || line.starts_with("file /") ||
         line.starts_with("-->") || line.starts_with("--->") ||
         (line.starts_with("-> ") && line.size() > 3 && line[3] >= '0' && line[3] <= '9') ||
         line.find("\xE2\x9D\xB1") != std::string_view::npos ||  // the arrow of rich
         line.find(".py in ") != std::string_view::npos ||
         (line.find(".py:") != std::string_view::npos && line.find(" in ") != std::string_view::npos) ||
         (line.find(".py(") != std::string_view::npos && line.find("): ") != std::string_view::npos);
}

// "max_seq_length=2048": a line of a script, where a traceback's lines pass names on.
bool states_a_number(CountedText line) {
  for (std::size_t at = line.find('='); at != CountedText::npos; at = line.find('=', at + 1)) {
    std::size_t value = at + 1;
    while (value < line.size() && line[value] == ' ') ++value;
    const bool named = at > 0 && (is_word(line[at - 1]) || line[at - 1] == ' ');
    if (named && value < line.size() && line[value] >= '1' && line[value] <= '9') return true;
  }
  return false;
}

// "model = AutoModelForCausalLM.from_pretrained(": what a script does before it fails, and what it does behind that.
bool assigns_a_call(CountedText line) {
  const auto past = [&](std::size_t at, std::string_view others) {
    while (at < line.size() && (is_word(line[at]) || others.find(line[at]) != std::string_view::npos)) ++at;
    return at;
  };
  const std::size_t name = past(0, "");
  const bool assigns = name > 0 && line.substr(std::min(name, line.size()), 3).all() == " = ";
  if (!assigns) return false;
  const std::size_t called = past(name + 3, ".");
  return called > name + 3 && called < line.size() && line[called] == '(';
}

// Where a text holds a traceback or a script, only the traceback says where it died. Settings below a message are
// what the person runs.
class Places {
 public:
  // `folded` without its settings, `written` with them.
  Places(CountedText folded, CountedText written) {
    bool named = false, died = false;
    std::size_t calls = 0;
    for (std::size_t at = 0; at < folded.size();) {
      const std::size_t end = std::min(folded.find('\n', at), folded.size());
      const CountedText line = folded.substr(at, end - at);
      const bool names = names_a_place(line);
      // The line above the message is the code that failed, also where the frames above it were cut off.
      const bool dies = line.find("out of memory") != CountedText::npos;
      if (!lines_.empty() && dies) lines_.back().quoted = true;
      const std::string_view said = line.all();
      const auto blanks = static_cast<uint32_t>(std::count(said.begin(), said.end(), ' '));
      const bool quoted = names || named;  // the place, and the line of code below it
      count_ += names ? 1 : 0;
      lines_.push_back({at, blanks + 1, count_, quoted, !quoted && died && states_a_number(line)});
      died = died || dies;
      calls += !quoted && assigns_a_call(written.substr(at, end - at)) ? 1 : 0;
      script_ = script_ || line.starts_with("import ") || line.starts_with("from ") || calls > 1;
      named = names;
      at = end + 1;
    }
  }
  bool quotes(std::size_t at) const { return line_of(at).quoted; }
  bool counts(std::size_t at) const {
    const Line& line = line_of(at);
    return line.quoted || (count_ < 2 && !script_ && !line.of_a_script);
  }
  // Python's tracebacks go inwards: the later place was called by the earlier.
  bool calls(std::size_t outer, std::size_t inner) const {
    return line_of(outer).quoted && line_of(inner).quoted && line_of(outer).place < line_of(inner).place;
  }
  // A long line of words that is no part of the traceback.
  bool is_prose_beside_a_frame(std::size_t at) const {
    constexpr uint32_t least_words = 9;
    return count_ > 0 && !line_of(at).quoted && line_of(at).words >= least_words;
  }

 private:
  struct Line {
    std::size_t begin;
    uint32_t words;
    std::size_t place;  // how many of a traceback's places stand above it or in it
    bool quoted;        // by a traceback
    bool of_a_script;   // below the message, of which it says nothing
  };
  // Each word of a line asks for it, so it is not looked for in the text.
  const Line& line_of(std::size_t at) const {
    const auto behind =
        std::upper_bound(lines_.begin(), lines_.end(), at,
                         [](std::size_t place, const Line& line) { return place < line.begin; });
    return *(behind - 1);
  }

  std::vector<Line> lines_;
  std::size_t count_ = 0;
  bool script_ = false;
};

// Words of a message itself are no frame: "out of memory ... see documentation for memory management".
std::string line_around(CountedText lines, std::size_t at) {
  const std::size_t before = lines.rfind('\n', at);
  const std::size_t begin = before == CountedText::npos ? 0 : before + 1;
  const std::size_t end = std::min(lines.find('\n', at), lines.size());
  std::size_t first = begin;
  while (first < end && lines[first] == ' ') ++first;
  return first_bytes(lines.substr(first, end - first).all(), 160);
}

}  // namespace

std::string_view name(FailurePhase phase) { return phases[static_cast<std::size_t>(phase)]; }

bool in_a_pass(FailurePhase phase) {
  return phase == FailurePhase::forward || phase == FailurePhase::loss || phase == FailurePhase::backward;
}

bool in_a_step(FailurePhase phase) { return in_a_pass(phase) || phase == FailurePhase::optimizer; }

FailurePhase phase_named(std::string_view wanted) {
  const auto* found = std::find(std::begin(phases), std::end(phases), wanted);
  return found == std::end(phases) ? FailurePhase::unknown
                                   : static_cast<FailurePhase>(found - std::begin(phases));
}

bool Frames::shows(std::string_view sign) const {
  return std::find(signs.begin(), signs.end(), sign) != signs.end();
}

Frames read_frames(const Text& text, Work* work) {
  std::vector<std::string_view> words;
  const std::span<const FrameWords> frames = frame_words();
  for (const FrameWords& frame : frames) words.push_back(frame.words);
  const std::size_t from =
      text.folded_lines.size() > longest_traceback ? text.folded_lines.size() - longest_traceback : 0;
  Frames out;
  std::optional<std::size_t> decides;
  uint8_t best = 0;
  bool best_is_code = false;
  const CountedText folded = CountedText(text.folded_lines, work).substr(from);
  const Places places(folded, CountedText(text.lines, work).substr(from));
  for (const Place& found : find_words(folded, words, 1000)) {
    const FrameWords& frame = frames[found.word];
    const bool code = frame.words.find(' ') == std::string_view::npos;
    if ((code && !places.counts(found.at)) || is_done_or_a_name(folded, frame, found.at)) continue;
    // "resume" is no part of "presume"; "backward" is one of "_backward_hook".
    if (found.at > 0 && is_word(frame.words.front()) && folded[found.at - 1] >= 'a' &&
        folded[found.at - 1] <= 'z') {
      continue;
    }
    if (places.quotes(found.at) && is_passed_on(folded, frame, found.at)) continue;
    if (is_switched_off(folded, found.at) || in_setting(folded, found.at)) continue;
    if (!frame.sign.empty() && !out.shows(frame.sign)) out.signs.emplace_back(frame.sign);
    // Of one quoted frame and prose about other moments, the frame says where it died.
    const bool code_here =
        !places.is_prose_beside_a_frame(found.at) || is_code(folded, found.at + frame.words.size());
    // What works out the log-probabilities runs the model first: a layer inside it died before any logits were made.
    const bool within = decides && out.phase == FailurePhase::loss && frame.of_layer &&
                        places.calls(*decides - from, found.at);
    const bool wins = within || (code_here == best_is_code ? frame.rank >= best
                                 : code_here               ? frame.rank >= 2 || frame.rank >= best
                                                           : best < 2 && frame.rank > best);
    // Of one phase the innermost frame is shown: a backward pass goes through a layer's own.
    if (decides && frame.phase == out.phase && places.calls(*decides - from, found.at))
      decides = from + found.at;
    if (!wins) continue;
    if (within) std::erase(out.signs, "logits");
    best = frame.rank;
    best_is_code = code_here;
    out.phase = frame.phase;
    decides = from + found.at;
  }
  if (decides) out.words = line_around({text.lines, work}, *decides);
  return out;
}

}  // namespace plimsoll::diagnosis
